r"""Selection without double dipping: chosen on one half of the questions, judged on the other.

Source: S9. Whatever is picked because it looks extreme looks more extreme than it is on the answers
that it was picked by. Here the questions (clusters, within strata) are split into two halves; on
each half a choice is made, and its figure is computed on the *other* half. A figure is a contrast
of cell accuracies, sum over p, c of w[p,c] A[p,c], with weights w that the choice gives.

    held out = mean of the two folds,      se = mean of the two folds' standard errors

The two folds share their answers crosswise (each half chooses once and judges once), so their
errors are not independent and the standard error is not divided by sqrt(2): it is on the safe side.
More folds make it too small. Its target is the true figure of what the two halves chose.

How unstable a configuration is, over persona p and the other configurations c':

    u(c) = mean over p and c' != c of |A[p,c] - A[p,c']|

Ties at the border of a choice share the places left, so that no order of names decides.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import comb

import numpy as np
from numpy.typing import NDArray

from nongrata.stats.accuracy import Array, Bools, Floats, ratio
from nongrata.stats.ranks import TIE_DECIMALS
from nongrata.stats.units import Units

Choice = Callable[[Floats], Floats]
"""Accuracies (P, K) to the weights of a contrast (P, K)."""


def mean_difference_to_others(accuracy: Floats, among: NDArray[np.integer] | None = None) -> Floats:
    """u(c): how far a configuration's accuracies lie from those of the others, a share.

    Parameters
    ----------
    accuracy
        A[p,c], shape (P, K).
    among
        Configurations to which c is compared and for which u is wanted; None: all.

    Returns
    -------
    array
        Shape (K,); ``nan`` for configurations not among them, and where there is no other.

    Examples
    --------
    >>> mean_difference_to_others(np.array([[0.5, 0.6, 0.9]])).round(3).tolist()
    [0.25, 0.2, 0.35]
    """
    chosen = np.arange(accuracy.shape[1]) if among is None else np.asarray(among)
    out = np.full(accuracy.shape[1], np.nan)
    if len(chosen) < 2 or not len(accuracy):
        return out
    a = accuracy[:, chosen]
    distance = np.abs(a[:, :, None] - a[:, None, :]).mean(axis=0)
    out[chosen] = distance.sum(axis=1) / (len(chosen) - 1)
    return out


def extreme(values: Floats, number: int, *, largest: bool = False) -> Floats:
    """Weights, adding up to 1, of the `number` smallest (or largest) values; ties share.

    Parameters
    ----------
    values
        Shape (K,); ``nan`` is never chosen.
    number
        How many.
    largest
        Largest instead of smallest.

    Examples
    --------
    >>> extreme(np.array([3.0, 1.0, 2.0, 2.0]), 2).tolist()
    [0.0, 0.5, 0.25, 0.25]
    """
    there = np.flatnonzero(~np.isnan(values))
    if not 1 <= number <= len(there):
        raise ValueError(f"{number} of {len(there)} values cannot be chosen")
    out = np.zeros(len(values))
    keys = np.round(-values[there] if largest else values[there], TIE_DECIMALS)
    border = np.sort(keys)[number - 1]
    below, at = there[keys < border], there[keys == border]
    out[below] = 1 / number
    out[at] = (number - len(below)) / (number * len(at))
    return out


def best_of_each(accuracy: Floats, *, worst: bool = False) -> Floats:
    """Each configuration's best label, less the mean label: weights (P, K) of the mean lead.

    Examples
    --------
    >>> best_of_each(np.array([[0.5, 0.7], [0.6, 0.6]])).tolist()
    [[-0.25, 0.25], [0.25, -0.25]]
    """
    P, K = accuracy.shape
    picked = [extreme(accuracy[:, c], 1, largest=not worst) for c in range(K)]
    return np.asarray((np.column_stack(picked) - 1 / P) / K)


def best_of_all(accuracy: Floats, *, worst: bool = False) -> Floats:
    """The label best on average over configurations, less the mean label: weights (P, K).

    Examples
    --------
    >>> best_of_all(np.array([[0.5, 0.7], [0.4, 0.6]])).tolist()
    [[0.25, 0.25], [-0.25, -0.25]]
    """
    P, K = accuracy.shape
    picked = extreme(accuracy.mean(axis=1), 1, largest=not worst)
    return np.asarray(np.repeat((picked - 1 / P)[:, None], K, axis=1) / K)


@dataclass(frozen=True, slots=True)
class Contrast:
    """A contrast of accuracies on some questions; shares.

    Parameters
    ----------
    value, se
        Estimate and its standard error, clustered and within strata; linearised where answers
        are missing.
    degrees_of_freedom
        Clusters less strata.
    """

    value: float
    se: float
    degrees_of_freedom: int


@dataclass(frozen=True, slots=True)
class Selected:
    """What was chosen, judged on the answers that chose it and on others; shares.

    Parameters
    ----------
    in_sample
        Chosen and judged on all questions. Its standard error ignores the choice.
    held_out
        Mean of the two folds, with the mean of their standard errors.
    folds
        The two estimates held out.
    weights
        Of the two folds' contrasts and of the one in sample, shape (3, P, K).
    """

    in_sample: Contrast
    held_out: Contrast
    folds: tuple[float, float]
    weights: Floats


@dataclass(frozen=True)
class Halves:
    """Accuracies on two halves of the questions and on all of them.

    Parameters
    ----------
    totals, counts
        Sums of x and numbers of answers of each cluster, shape (P, K, G); `counts` None: all.
    units
        Clusters and strata.
    first
        Clusters of the first half, shape (G,).
    accuracy
        On the first half, the second half, all: shape (3, P, K).
    """

    totals: Array
    counts: Array | None
    units: Units
    first: Bools
    accuracy: Floats

    @classmethod
    def of(cls, totals: Array, counts: Array | None, units: Units, first: Bools) -> Halves:
        """Add up the halves.

        Examples
        --------
        >>> x = np.array([[[1.0, 0.0, 1.0, 1.0]]])
        >>> first = np.array([True, True, False, False])
        >>> Halves.of(x, None, Units.of(4), first).accuracy.ravel().tolist()
        [0.5, 1.0, 0.75]
        """
        masks = np.column_stack([first, ~first, np.ones(len(first), bool)]).astype(np.float64)
        right = _sums(totals, masks)
        if counts is None:
            n = np.broadcast_to((units.sizes @ masks)[:, None, None], right.shape)
        else:
            n = _sums(counts, masks)
        return cls(totals, counts, units, first, ratio(right, n))

    @property
    def usable(self) -> Bools:
        """Configurations in which every persona has answers in both halves, shape (K,)."""
        return np.asarray(~np.isnan(self.accuracy).any(axis=(0, 1)))

    def contrast(self, weights: Floats, part: int) -> Contrast:
        """A contrast on the first half (`part` 0), the second (1), or all questions (2).

        Examples
        --------
        >>> x = np.array([[[1.0, 0.0, 1.0, 1.0], [0.0, 0.0, 1.0, 0.0]]])
        >>> halves = Halves.of(x, None, Units.of(4), np.array([True, True, False, False]))
        >>> halves.contrast(np.array([[1.0, -1.0]]), 2).value
        0.5
        """
        mask = (self.first, ~self.first, np.ones(len(self.first), bool))[part]
        some = weights.ravel() != 0
        w, a = weights.ravel()[some], self.accuracy[part].ravel()[some]
        G = len(mask)
        z = w @ self.totals.reshape(-1, G)[some][:, mask].astype(np.float64)
        units = self.units.on(mask[self.units.cluster])
        if self.counts is not None:
            n = self.counts.reshape(-1, G)[some][:, mask].astype(np.float64)
            scale = units.questions / n.sum(axis=1)
            x = self.totals.reshape(-1, G)[some][:, mask]
            z = (w * scale) @ (x - a[:, None] * n)
        variance = float(units.variance_of_total_mean(z))
        return Contrast(float(w @ a), variance**0.5, units.degrees_of_freedom)


def _sums(totals: Array, masks: Floats) -> Floats:
    """Sums over clusters of each part, shape (3, P, K), in double precision."""
    out = np.empty((*totals.shape[:2], masks.shape[1]))
    for p, row in enumerate(totals):
        out[p] = row.astype(np.float64) @ masks
    return out.transpose(2, 0, 1)


def select_and_judge(halves: Halves, choose: Choice) -> Selected:
    """Choose on each half and judge on the other; choose and judge on everything.

    Parameters
    ----------
    halves
        Accuracies of personas and configurations all of which have answers in both halves.
    choose
        From accuracies to a contrast; it sees nothing else.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = (rng.random((6, 2, 400)) < 0.5).astype(float)  # labels do not differ
    >>> units = Units.of(400)
    >>> halves = Halves.of(x, None, units, units.halves(1, seed=9)[0])
    >>> found = select_and_judge(halves, best_of_each)
    >>> round(100 * found.in_sample.value, 1), round(100 * found.held_out.value, 1)
    (5.4, 1.9)
    """
    weights = np.stack([choose(halves.accuracy[part]) for part in range(3)])
    folds = [halves.contrast(weights[part], 1 - part) for part in range(2)]
    held_out = Contrast(
        (folds[0].value + folds[1].value) / 2,
        (folds[0].se + folds[1].se) / 2,
        min(folds[0].degrees_of_freedom, folds[1].degrees_of_freedom),
    )
    in_sample = halves.contrast(weights[2], 2)
    return Selected(in_sample, held_out, (folds[0].value, folds[1].value), weights)


def half_width(contrast: Contrast) -> float:
    """Half of a 95% interval, by Student's t; ``nan`` without a degree of freedom.

    Examples
    --------
    >>> round(half_width(Contrast(0.0, 1.0, 10)), 3)
    2.228
    """
    from scipy.special import stdtrit

    if contrast.degrees_of_freedom < 1:
        return float("nan")
    return float(stdtrit(contrast.degrees_of_freedom, 0.975)) * contrast.se


def sign_test(positive: int, trials: int) -> float:
    """Two-sided exact p value of `positive` of `trials` when both signs are equally likely.

    Examples
    --------
    >>> sign_test(4, 5), sign_test(5, 5)
    (0.375, 0.0625)
    """
    tail = min(positive, trials - positive)
    return float(min(1.0, 2 * sum(comb(trials, k) for k in range(tail + 1)) / 2**trials))
