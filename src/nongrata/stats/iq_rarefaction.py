"""IQ(m) with its uncertainty, and what one configuration asked m times would give.

Source: S3. Per persona, IQ(m) = 1 - I(m) / U(m), where I and U are sums over questions of the
chance to be right in all, in any, of m of the K configurations drawn without replacement. It is a
ratio of means, linearised; its interval is symmetrical in log(IQ / (1 - IQ)). Percentile intervals
over resampled clusters (`bootstrap_curve`) hold the truth too seldom where few questions are right
in all m configurations: simulated, .86-.91 at m = 12 where this one has .94-.95.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nongrata.stats.accuracy import Array, Bools, Floats
from nongrata.stats.iq import inclusion
from nongrata.stats.units import Units, Weights


def right_count_chances(x: Array, present: Bools | None = None) -> NDArray[np.float32]:
    """Chance of each question to be right in exactly k of the K configurations.

    Parameters
    ----------
    x
        Right or not, or theta; shape (K, Q).
    present
        Same shape; a question missing anywhere has no chances: its column is 0.

    Returns
    -------
    array
        Shape (K + 1, Q).

    Examples
    --------
    >>> right_count_chances(np.array([[0.5, 1.0], [0.5, 1.0]])).tolist()
    [[0.25, 0.0], [0.5, 0.0], [0.25, 1.0]]
    """
    K, Q = x.shape
    if np.issubdtype(x.dtype, np.floating):
        out = np.zeros((K + 1, Q))
        out[0] = 1.0
        for j, theta in enumerate(x.astype(np.float64)):
            right = out[: j + 1] * theta
            out[: j + 1] *= 1.0 - theta
            out[1 : j + 2] += right
        chances = out.astype(np.float32)
    else:
        k = (x != 0).sum(axis=0)
        chances = (k == np.arange(K + 1)[:, None]).astype(np.float32)
    if present is not None:
        chances *= present.all(axis=0)
    return chances


@dataclass(frozen=True)
class Sizes:
    """Intersections and unions of some m, summed over each cluster.

    Parameters
    ----------
    both, either
        Cluster totals of the chances to be right in all, in any, of m; shape (M, rows, G), one row
        for each persona and setting.
    """

    both: Floats
    either: Floats


def sizes_at(
    x: Array,
    present: Bools | None,
    units: Units,
    groups: Sequence[NDArray[np.intp]],
    at: Sequence[int],
) -> Sizes:
    """Intersections and unions of m of the configurations of each group.

    Parameters
    ----------
    x
        Right or not, or theta; shape (P, K, Q).
    present
        Same shape, or None; questions complete over a group count for it.
    units
        Clusters.
    groups
        Configurations compared with one another.
    at
        Values of m, none above the size of any group.

    Examples
    --------
    >>> s = sizes_at(np.array([[[1, 1, 0], [1, 0, 0]]]), None, Units.of(3), [np.arange(2)], [2])
    >>> s.both.tolist(), s.either.tolist()
    ([[[1.0, 0.0, 0.0]]], [[[1.0, 1.0, 0.0]]])
    """
    groups_n, columns = len(groups), [m - 1 for m in at]
    both = np.empty((len(at), len(x) * groups_n, len(units)))
    either = np.empty_like(both)
    shape = (len(at), groups_n, x.shape[2])
    of_all, of_any = np.empty(shape), np.empty(shape)
    for p in range(len(x)):
        for s, group in enumerate(groups):
            inside = inclusion(len(group))[:, columns]
            outside = 1.0 - inside[::-1]
            there = None if present is None else present[p][group]
            if np.issubdtype(x.dtype, np.floating):
                chances = right_count_chances(x[p][group], there)
                of_all[:, s], of_any[:, s] = inside.T @ chances, outside.T @ chances
                continue
            k = np.count_nonzero(x[p][group], axis=0)
            of_all[:, s], of_any[:, s] = inside.T[:, k], outside.T[:, k]
            if there is not None:
                complete = there.all(axis=0)
                of_all[:, s] *= complete
                of_any[:, s] *= complete
        rows = slice(p * groups_n, (p + 1) * groups_n)
        both[:, rows], either[:, rows] = units.totals(of_all), units.totals(of_any)
    return Sizes(both, either)


@dataclass(frozen=True)
class Ratio:
    """IQ at some m, with what each cluster moves in it.

    Parameters
    ----------
    value
        IQ(m), a share, shape (M,); ``nan`` where no row has a union.
    influence
        Change of `value` with each cluster's weight, shape (M, G), per question: its mean over
        questions has the variance of `value`.
    rows
        Rows (personas and settings) that it is a mean of.
    """

    value: Floats
    influence: Floats
    rows: int


def instability(sizes: Sizes, questions: int) -> Ratio:
    """IQ(m): the mean over rows of 1 - I/U, and its linearisation.

    Rows without a union at any of the sizes are left out of all.

    Examples
    --------
    >>> x = np.array([[[1, 1, 0], [1, 0, 0]]])
    >>> r = instability(sizes_at(x, None, Units.of(3), [np.arange(2)], [2]), 3)
    >>> r.value.tolist()
    [0.5]
    """
    both, either = sizes.both.sum(axis=2), sizes.either.sum(axis=2)
    used = (either > 0).all(axis=0)
    n = int(used.sum())
    M, G = len(both), sizes.both.shape[2]
    if n == 0:
        return Ratio(np.full(M, np.nan), np.full((M, G), np.nan), 0)
    share = both[:, used] / either[:, used]
    weight = questions / (n * either[:, used])
    influence = np.einsum("mrg,mr->mg", sizes.either[:, used], weight * share)
    influence -= np.einsum("mrg,mr->mg", sizes.both[:, used], weight)
    return Ratio(1.0 - share.mean(axis=1), influence, n)


def iq_curve(x: Array, present: Bools | None, units: Units) -> Ratio:
    """IQ(1) ... IQ(K) over all configurations, persona by persona.

    Parameters
    ----------
    x
        Right or not, or theta; shape (P, K, Q).
    present, units
        As in `sizes_at`.

    Examples
    --------
    >>> iq_curve(np.array([[[1, 1, 0], [1, 0, 0]]]), None, Units.of(3)).value.tolist()
    [0.0, 0.5]
    """
    K = x.shape[1]
    groups, at = [np.arange(K)], range(1, K + 1)
    value, influence, rows = np.zeros(K), np.zeros((K, len(units))), 0
    for p in range(len(x)):
        there = None if present is None else present[p : p + 1]
        sizes = sizes_at(x[p : p + 1], there, units, groups, at)
        if not sizes.either[-1].sum() > 0:
            continue
        one = instability(sizes, x.shape[2])
        value, influence, rows = value + one.value, influence + one.influence, rows + 1
    if rows == 0:
        return Ratio(np.full(K, np.nan), np.full((K, len(units)), np.nan), 0)
    value[0] = 0.0
    return Ratio(value / rows, influence / rows, rows)


def interval(value: float, se: float, width: float) -> tuple[float, float]:
    """Interval of a share, +- width x se in log(value / (1 - value)); ``nan`` at 0 and 1.

    Examples
    --------
    >>> [round(end, 3) for end in interval(0.9, 0.05, 1.96)]
    [0.752, 0.964]
    """
    if not 0.0 < value < 1.0:
        return float("nan"), float("nan")
    odds = value / (1.0 - value)
    # beyond e^50 the ends are 0 and 1 to the last bit
    step = float(np.exp(min(width * se / (value * (1.0 - value)), 50.0)))
    return odds / step / (1.0 + odds / step), odds * step / (1.0 + odds * step)


def bootstrap_curve(
    x: Array, present: Bools | None, units: Units, weights: Weights
) -> tuple[Floats, NDArray[np.float32]]:
    """IQ(1) ... IQ(K) over all configurations, of the study and of its resamples.

    Parameters
    ----------
    x
        Right or not, or theta; shape (P, K, Q).
    present
        Same shape, or None.
    units
        Clusters.
    weights
        From `Units.bootstrap_weights`, shape (B, G).

    Returns
    -------
    curve, resampled
        Shares, shapes (K,) and (B, K); ``nan`` where no persona has a question right.

    Examples
    --------
    >>> x = np.array([[[1, 1, 0], [1, 0, 0]]])
    >>> units = Units.of(3)
    >>> bootstrap_curve(x, None, units, units.bootstrap_weights(5))[0].tolist()
    [0.0, 0.5]
    """
    P, K, _ = x.shape
    inside = inclusion(K)
    outside = 1.0 - inside[::-1]
    # one configuration is its own union: at m = 1 the ratio is 1 to the last bit
    outside[:, 0] = inside[:, 0]
    curve, n = np.zeros(K), 0
    sums = np.zeros((len(weights), K), dtype=np.float32)
    counts = np.zeros((len(weights), 1), dtype=np.float32)
    for p in range(P):
        chances = right_count_chances(x[p], None if present is None else present[p])
        chances = np.asarray(units.totals(chances), dtype=np.float32)
        whole = chances.sum(axis=1, dtype=np.float64)
        if (whole @ outside)[-1] <= 0:
            continue
        curve += 1.0 - (whole @ inside) / (whole @ outside)
        n += 1
        drawn = weights @ chances.T
        both, either = drawn @ inside.astype(np.float32), drawn @ outside.astype(np.float32)
        some = either[:, -1:] > 0
        sums += np.where(some, 1.0 - both / np.where(some, either, 1.0), 0.0)
        counts += some
    if n == 0:
        return np.full(K, np.nan), np.full((len(weights), K), np.nan, dtype=np.float32)
    return curve / n, np.where(counts > 0, sums / np.maximum(counts, 1.0), np.nan)


def size_sds(correct: Array) -> tuple[Floats, Floats]:
    """Exact standard deviations of intersection and union over subsets of m configurations.

    Over equally likely subsets of the K configurations; the questions are as they are. With the
    number of questions right in all of one subset as sum_q a_q, its variance is the sum over pairs
    of questions of Cov(a_q, a_q'), E a_q a_q' = C(k_qq', m) / C(K, m), where k_qq' counts the
    configurations in which both are right (for unions, both are wrong).

    Parameters
    ----------
    correct
        Of one persona, shape (K, Q).

    Returns
    -------
    intersection, union
        In questions, shape (K,); column m - 1 is m configurations.

    Examples
    --------
    >>> both, either = size_sds(np.array([[1, 1, 0], [1, 0, 0]]))
    >>> both.round(3).tolist(), either.round(3).tolist()
    ([0.5, 0.0], [0.5, 0.0])
    """
    K = len(correct)
    right = np.asarray(correct != 0, dtype=np.float32)
    return _size_sd(right, K), _size_sd(1.0 - right, K)


def _size_sd(right: NDArray[np.float32], K: int) -> Floats:
    inside = inclusion(K)
    mean = inside[right.sum(axis=0).astype(np.intp)].sum(axis=0)
    together = np.zeros(K + 1)
    for start in range(0, right.shape[1], 512):
        k = (right[:, start : start + 512].T @ right).astype(np.intp)
        together += np.bincount(k.ravel(), minlength=K + 1)
    return np.asarray(np.sqrt(np.maximum(together @ inside - mean**2, 0.0)))
