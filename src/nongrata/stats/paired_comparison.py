"""Differences between estimates: all pairs, each against the others, and a count of directions.

Source: S6, S9 (last sentence) and S11. Estimates come with the influence of every cluster of
questions (`nongrata.stats.influence`), so a difference has the standard error that belongs to it:
paired where the same questions are behind both, as for models and factors; that of independent
estimates where they are not, as for domains. P values are from t and adjusted by Holm (1979)
within the family of differences.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nongrata.stats.accuracy import Floats
from nongrata.stats.influence import Estimates
from nongrata.stats.max_t import gaussian_max_t
from nongrata.stats.multiplicity import holm

OTHERS = -1
"""In `Differences.second`: the mean of all other estimates, each counting once."""


@dataclass(frozen=True)
class Differences:
    """First minus second; all arrays of shape (N,), ``nan`` where either is undefined.

    Parameters
    ----------
    first, second
        Rows compared; `OTHERS` is the mean of the others.
    difference, se
        In the unit of the estimates.
    low, high
        95% interval of this difference alone, from t.
    joint_low, joint_high
        Intervals that hold all their targets together with probability .95 (max-t); ``nan`` unless
        asked for.
    p, p_holm
        Two-sided p value, and adjusted for the family; ``nan`` where the standard error is 0.
    """

    first: NDArray[np.intp]
    second: NDArray[np.intp]
    difference: Floats
    se: Floats
    low: Floats
    high: Floats
    joint_low: Floats
    joint_high: Floats
    p: Floats
    p_holm: Floats

    def __len__(self) -> int:
        return len(self.first)


def all_pairs(
    given: Estimates, *, joint: bool = False, seed: int | tuple[int, ...] = 0
) -> Differences:
    """Every row minus every later one.

    Parameters
    ----------
    given
        The estimates; rows without a value take no part.
    joint
        Whether to make intervals that hold together.
    seed
        Of the draws behind `joint`.

    Examples
    --------
    >>> from nongrata.stats.influence import means
    >>> from nongrata.stats.units import Units
    >>> x = np.array([[1.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 0.0]])
    >>> found = all_pairs(means(x, Units.of(4)))
    >>> found.difference.tolist(), found.se.round(4).tolist()
    ([0.25], [0.25])
    """
    first, second = np.triu_indices(len(given), 1)
    covariance = given.covariance
    v = np.diag(covariance)
    variance = v[first] + v[second] - 2.0 * covariance[first, second]
    df = _df(given, v[first], v[second], given.df[first], given.df[second])
    out = _finish(
        first, second, given.value[first] - given.value[second], variance, df, v[first] + v[second]
    )
    if joint:
        sign = np.zeros((len(first), len(given)))
        sign[np.arange(len(first)), first] = 1.0
        sign[np.arange(len(first)), second] = -1.0
        _joint_intervals(out, sign @ covariance @ sign.T, df, seed)
    return out


def paired(
    first: Estimates, second: Estimates, models: int, *, seed: int | tuple[int, ...] = 0
) -> Differences:
    """Differences between two lists of estimates, row by row: one row for each pair of models.

    Where models lack answers, each pair is compared on what both have, so a model has a row of its
    own for each pair.

    Parameters
    ----------
    first, second
        N = M (M - 1) / 2 rows each, in the order of ``np.triu_indices(M, 1)``.
    models
        M.
    seed
        Of the draws behind the joint intervals.

    Examples
    --------
    >>> from nongrata.stats.influence import means
    >>> from nongrata.stats.units import Units
    >>> one = means(np.array([[1.0, 0.0, 0.0, 1.0]]), Units.of(4))
    >>> other = means(np.array([[1.0, 0.0, 0.0, 0.0]]), Units.of(4))
    >>> paired(one, other, 2).se.round(4).tolist()
    [0.25]
    """
    i, j = np.triu_indices(models, 1)
    apart = first.influence - second.influence
    covariance = apart @ apart.T
    scale = (first.influence**2 + second.influence**2).sum(axis=1)
    df = np.minimum(first.df, second.df)
    out = _finish(i, j, first.value - second.value, np.diag(covariance), df, scale)
    _joint_intervals(out, covariance, df, seed)
    return out


def _joint_intervals(
    out: Differences, covariance: Floats, df: Floats, seed: int | tuple[int, ...]
) -> None:
    """Fill in the intervals that hold together."""
    known = np.flatnonzero(out.se > 0)
    if not len(known):
        return
    least = max(int(df[known].min()), 1)
    critical = gaussian_max_t(covariance[np.ix_(known, known)], seed=seed, df=least)
    reach = critical * out.se[known]
    out.joint_low[known] = out.difference[known] - reach
    out.joint_high[known] = out.difference[known] + reach


def against_others(given: Estimates) -> Differences:
    """Every row minus the mean of the other rows that have a value.

    Examples
    --------
    >>> from nongrata.stats.influence import means
    >>> from nongrata.stats.units import Units
    >>> x = np.array([[1.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
    >>> against_others(means(x, Units.of(4))).difference.tolist()
    [0.25, -0.125, -0.125]
    """
    M = len(given)
    known = ~np.isnan(given.value)
    n = int(known.sum())
    rows = np.arange(M)
    others = np.full(M, OTHERS)
    if n < 2:
        nothing = np.full(M, np.nan)
        return _finish(rows, others, nothing, nothing, nothing, nothing)
    value = np.where(known, given.value, 0.0)
    covariance = given.covariance * known * known[:, None]
    v = np.diag(covariance)
    rest = (value.sum() - value) / (n - 1)
    with_all = covariance.sum(axis=1)
    with_rest = (with_all - v) / (n - 1)
    of_rest = (covariance.sum() - 2.0 * with_all + v) / (n - 1) ** 2
    difference = np.where(known, value - rest, np.nan)
    parts = np.divide(v**2, given.df, out=np.zeros(M), where=known & (given.df > 0))
    rest_df = np.divide(
        of_rest**2 * (n - 1) ** 4,
        parts.sum() - parts,
        out=np.full(M, np.inf),
        where=parts.sum() - parts > 0,
    )
    df = _df(given, v, of_rest, given.df, rest_df)
    return _finish(rows, others, difference, v + of_rest - 2.0 * with_rest, df, v + of_rest)


def sign_test(agree: int, models: int) -> float:
    """Two-sided p of `agree` of `models` independent models pointing one way by chance.

    Examples
    --------
    >>> sign_test(4, 5), sign_test(5, 5), sign_test(1, 2)
    (0.375, 0.0625, 1.0)
    """
    from scipy.special import bdtrc

    if models == 0:
        return float("nan")
    more = max(agree, models - agree)
    return min(1.0, 2.0 * float(bdtrc(more - 1, models, 0.5)) if more else 1.0)


def _df(given: Estimates, va: Floats, vb: Floats, da: Floats, db: Floats) -> Floats:
    """Satterthwaite's degrees of freedom where the rows share no cluster, else the smaller ones."""
    if ((given.influence != 0).sum(axis=0) > 1).any():
        return np.minimum(da, db)
    with np.errstate(divide="ignore", invalid="ignore"):
        both = (va + vb) ** 2 / (va**2 / da + vb**2 / db)
    return np.where(np.isfinite(both), both, np.minimum(da, db))


def _finish(
    first: NDArray[np.intp],
    second: NDArray[np.intp],
    difference: Floats,
    variance: Floats,
    df: Floats,
    scale: Floats,
) -> Differences:
    from scipy.special import stdtr, stdtrit

    usable = ~np.isnan(difference) & (df >= 1)
    kept = np.where(usable, np.maximum(variance, 0.0), np.nan)
    kept = np.where(kept <= 1e-12 * scale, np.where(usable, 0.0, np.nan), kept)  # rounding
    se = np.sqrt(kept)
    df = np.where(usable, df, np.nan)
    reach = stdtrit(df, 0.975) * se
    t = np.divide(difference, se, out=np.full(len(se), np.nan), where=se > 0)
    p = np.asarray(2.0 * stdtr(df, -np.abs(t)))
    nothing = np.full(len(first), np.nan)
    return Differences(
        np.asarray(first), np.asarray(second), difference, se, difference - reach,
        difference + reach, nothing.copy(), nothing.copy(), p, holm(p),
    )  # fmt: skip
