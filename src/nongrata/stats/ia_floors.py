"""What IA would be if nothing but noise moved accuracy: three floors, never confused.

Source: S2. IA is a mean of absolute values, so it is above 0 even where no configuration differs
from another. How far depends on what is meant by "noise":

    re-run             the same configuration asked again: (2/sqrt(pi)) sqrt(sum theta(1-theta)) / Q
                       for each cell, averaged; 0 where answers are not drawn
    exchangeability    the configurations could change places within any question:
                       2 sqrt(K v / (pi (K-1))), v = Q^-2 sum_g (1/K) sum_c (S_gc - mean_c S_gc)^2
    equal accuracy     all configurations have the same accuracy, however differently they answer
                       single questions: mean over pairs of sqrt(2/pi) se(D)

All are means of |D| for normal D of mean 0 and the variance that the floor's name says.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nongrata.stats.accuracy import Array, Bools, Floats
from nongrata.stats.figure import Figure
from nongrata.stats.ia_pairs import Pairs, exchangeable_variance
from nongrata.stats.units import Units
from nongrata.wording import say

_FOLD = math.sqrt(2.0 / math.pi)
"""E|z| of a standard normal z."""


def pairs_within(K: int, groups: Sequence[NDArray[np.intp]] | None) -> Floats:
    """Weights of pairs of configurations in a figure, shape (K, K), summing to 1.

    Pairs within a group count alike and every group counts alike. None: all pairs.

    Examples
    --------
    >>> pairs_within(4, [np.array([0, 1]), np.array([2, 3])])[[0, 2], [1, 3]].tolist()
    [0.5, 0.5]
    """
    out = np.zeros((K, K))
    used = [g for g in ([np.arange(K)] if groups is None else groups) if len(g) > 1]
    for group in used:
        i, j = np.triu_indices(len(group), 1)
        out[group[i], group[j]] += 1.0 / len(i) / len(used)
    return out


def mean_over_pairs(values: Floats, weights: Floats) -> float:
    """Weighted mean over personas and pairs, leaving out those that are ``nan``; ``nan`` if all.

    Examples
    --------
    >>> mean_over_pairs(np.array([[[0.0, 3.0], [0.0, 0.0]]]), pairs_within(2, None))
    3.0
    """
    there = ~np.isnan(values) & (weights > 0)
    total = float((there * weights).sum())
    if not total:
        return math.nan
    return float((np.where(there, values, 0.0) * weights).sum()) / total


def exchangeability_floor(
    x: Array,
    present: Bools | None,
    units: Units,
    groups: Sequence[NDArray[np.intp]] | None = None,
) -> Figure:
    """Mean |D| if the configurations compared could change places within every question; points.

    Parameters
    ----------
    x
        Right or not, or theta; shape (P, K, Q).
    present
        Same shape; None: everything.
    units
        Clusters.
    groups
        Configurations compared with one another, as in `instability_of_accuracy`.

    Examples
    --------
    >>> x = np.random.default_rng(0).random((1, 4, 400)) < 0.5
    >>> round(exchangeability_floor(x, None, Units.of(400)).value, 1)
    2.8
    """
    used = [g for g in ([np.arange(x.shape[1])] if groups is None else groups) if len(g) > 1]
    means = []
    for g in used:
        there = None if present is None else present[:, g]
        sd = np.sqrt(exchangeable_variance(x[:, g], there, units))
        if there is not None:
            seen = there.astype(np.float32)
            sd = np.where(seen @ seen.transpose(0, 2, 1) > 0, sd, np.nan)
        means.append(mean_over_pairs(sd, pairs_within(len(g), None)))
    known = [m for m in means if not math.isnan(m)]
    if not known:
        return Figure.undefined("no question is present in two configurations")
    return Figure(100.0 * _FOLD * math.fsum(known) / len(known))


def exchangeability_floor_of(variance: Floats, questions: int) -> Figure:
    """The same where nothing is missing, from the diagonal of `exchange_covariance`; points.

    Parameters
    ----------
    variance
        sum_g sum_c r^2 / (K - 1) of each persona and setting, shape (M,).
    questions
        Q.

    Examples
    --------
    >>> round(exchangeability_floor_of(np.array([100.0]), 400).value, 1)
    2.8
    """
    return Figure(100.0 * math.sqrt(2.0) * _FOLD * float(np.sqrt(variance).mean()) / questions)


def equal_accuracy_floor(pairs: Pairs, weights: Floats) -> Figure:
    """Mean |D| if all true accuracies were equal, questions free to differ; points.

    Examples
    --------
    >>> from nongrata.stats.ia_pairs import pair_differences
    >>> x = np.random.default_rng(0).random((1, 4, 400)) < 0.5
    >>> pairs = pair_differences(x, None, Units.of(400))
    >>> round(equal_accuracy_floor(pairs, pairs_within(4, None)).value, 1)
    2.8
    """
    if np.isnan(pairs.variance[(pairs.shared > 0) & (weights > 0)]).all() and pairs.shared.any():
        return Figure.undefined("fewer than two clusters of questions")
    known = np.where(np.isnan(pairs.difference), np.nan, pairs.variance)
    value = mean_over_pairs(np.sqrt(known), weights)
    if math.isnan(value):
        return Figure.undefined("no question is present in two configurations")
    return Figure(100.0 * _FOLD * value)


def rerun_floor(noise: Array, present: Bools) -> Figure:
    """Mean |D| between two runs of one configuration, one answer drawn a cell; points.

    Parameters
    ----------
    noise
        Variance of one answer, theta (1 - theta) or its estimate; 0 where answers are not drawn;
        ``nan`` where it is not known; shape (P, K, Q).
    present
        Where there is an answer, same shape.

    Examples
    --------
    >>> rerun_floor(np.full((1, 1, 100), 0.25), np.ones((1, 1, 100), bool)).value.__round__(3)
    5.642
    """
    n = present.sum(axis=2)
    with np.errstate(invalid="ignore"):
        total = np.where(present, noise, 0.0).sum(axis=2, dtype=np.float64)
    cells = n > 0
    if not cells.any():
        return Figure.undefined("no question is left")
    unknown = int(np.isnan(total[cells]).sum())
    if unknown:
        return Figure.undefined(
            say(
                "not estimable: {unknown} of {cells} cells were drawn once, without probabilities",
                unknown=unknown,
                cells=int(cells.sum()),
            )
        )
    sd = np.sqrt(np.maximum(total[cells], 0.0)) / n[cells]
    return Figure(100.0 * math.sqrt(2.0) * _FOLD * float(sd.mean()))
