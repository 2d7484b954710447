"""Confidence sets for ranks, and for which is best and worst.

Source: S5, after Mogstad, Romano, Shaikh & Wilhelm (2024), "Inference for Ranks with Applications
to Mobility across Neighborhoods and Academic Achievement across Countries", Review of Economic
Studies. The rank of j is 1 + the number of k with theta_k > theta_j: equal ones share the best of
their ranks. If `above` of the others are shown to be higher and `below` to be lower, then

    rank of j is in {above + 1, ..., P - below}

* marginal: right for any one j with the stated confidence. Family: theta_j <= theta_k and
  theta_k <= theta_j for this j and all k.
* simultaneous: right for all j together. Family: all ordered pairs; these are the rejections of
  `pairwise_order.ordered_by_steps`, so sets and ordered pairs never disagree.
* possibly best: those of which "nobody is above it" is not rejected. It holds any one best label
  with the stated confidence, the best one if there is only one; where several are equally best,
  all of them together are those whose simultaneous set begins at 1.

All by step-down (but possibly best and worst, which test one hypothesis each). Critical values come
from Gaussian draws with the covariance of the means, not from resamples: one P x P covariance is
all that a ranking needs. Ties (differences without a standard error) are never ordered.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nongrata.stats.accuracy import Bools
from nongrata.stats.pairwise_order import (
    Differences,
    Noise,
    critical_value,
    inverse,
    ordered_by_steps,
)

Ints = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class RankSets:
    """Confidence sets for the ranks of P means; 1 is the highest.

    Parameters
    ----------
    low, high
        Marginal: first and last rank of each one's set, shape (P,).
    all_low, all_high
        The same, simultaneous.
    possibly_best, possibly_worst
        Shape (P,).
    above
        [j, k]: j is above k, all such statements holding together; shape (P, P).
    """

    low: Ints
    high: Ints
    all_low: Ints
    all_high: Ints
    possibly_best: Bools
    possibly_worst: Bools
    above: Bools


def rank_sets(found: Differences, noise: Noise, alpha: float = 0.05) -> RankSets:
    """Confidence sets for ranks.

    Parameters
    ----------
    found
        From `pairwise_order.differences`.
    noise
        From `pairwise_order.multiplier_noise`, shape (P, B).
    alpha
        One minus the confidence.

    Examples
    --------
    >>> from nongrata.stats.pairwise_order import differences, multiplier_noise
    >>> covariance = np.eye(3) * 1e-4
    >>> found = differences(np.array([0.7, 0.5, 0.49]), covariance, 1000)
    >>> normals = np.random.default_rng(0).standard_normal((3, 999))
    >>> sets = rank_sets(found, multiplier_noise(covariance, normals))
    >>> list(zip(sets.low.tolist(), sets.high.tolist()))
    [(1, 1), (2, 3), (2, 3)]
    >>> sets.possibly_best.tolist(), sets.possibly_worst.tolist()
    ([True, False, False], [False, True, True])
    """
    P = len(found.estimate)
    low, high = np.ones(P, dtype=np.intp), np.full(P, P, dtype=np.intp)
    best, worst = np.ones(P, dtype=np.bool_), np.ones(P, dtype=np.bool_)
    for j in range(P):
        k = np.flatnonzero(found.comparable[j])
        if len(k) == 0:
            continue
        z = found.z[j, k]
        deviate = (noise[j] - noise[k]) * inverse(found.se[j, k])[:, None]
        up, down = deviate.max(axis=0), -deviate.min(axis=0)
        best[j] = not (-z > critical_value(down, alpha)).any()
        worst[j] = not (z > critical_value(up, alpha)).any()
        below, above = _against_all(z, deviate, np.maximum(up, down), alpha)
        low[j], high[j] = 1 + np.count_nonzero(above), P - np.count_nonzero(below)
    order = ordered_by_steps(found, noise, alpha)
    all_low, all_high = 1 + order.sum(axis=0), P - order.sum(axis=1)
    return RankSets(low, high, all_low, all_high, best, worst, order)


def _against_all(z: NDArray[np.float64], deviate: Noise, largest: Noise, alpha: float) -> Bools:
    """Step-down for one label: which of the others are below it, and which above; shape (2, n)."""
    shown = np.zeros((2, len(z)), dtype=np.bool_)
    directed = np.stack([z, -z])
    while True:
        new = ~shown & (directed > critical_value(largest, alpha))
        if not new.any():
            return shown
        shown |= new
        largest = np.full(deviate.shape[1], -np.inf, dtype=np.float32)
        if not shown[0].all():
            largest = deviate[~shown[0]].max(axis=0)
        if not shown[1].all():
            largest = np.maximum(largest, -deviate[~shown[1]].min(axis=0))
