"""What m answers to one and the same configuration would give: the floor of IQ(m).

Source: S3. The same ratio as IQ(m) (`nongrata.stats.iq_rarefaction`), per persona:

    1 - sum_c sum_q theta^m / sum_c sum_q [1 - (1 - theta)^m],

with C(x,m)/C(R,m) and 1 - C(R-x,m)/C(R,m) in their place where theta is not known but x of R >= m
answers were right. IQ(m) above it is what configurations add to asking again.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nongrata.stats.accuracy import Array, Floats
from nongrata.stats.iq_rarefaction import Sizes
from nongrata.stats.units import Units


def same_configuration_sizes(
    theta: Array | None,
    right: Array | None,
    replicates: Array | None,
    units: Units,
    groups: Sequence[NDArray[np.intp]],
    at: Sequence[int],
) -> Sizes:
    """What m answers to one and the same configuration give, summed over the group's.

    Parameters
    ----------
    theta
        Probability of a right answer where known, shape (P, K, Q); ``nan`` elsewhere.
    right, replicates
        Where theta is not known: right answers x among R, same shape; R >= m, or nothing is
        counted for the question.
    units, groups, at
        As in `sizes_at`.

    Examples
    --------
    >>> s = same_configuration_sizes(
    ...     np.full((1, 1, 2), 0.5), None, None, Units.of(2), [np.arange(1)], [2]
    ... )
    >>> s.both[0, 0].tolist(), s.either[0, 0].tolist()
    ([0.25, 0.25], [0.75, 0.75])
    """
    given = theta if theta is not None else right
    if given is None:
        raise ValueError("neither theta nor replicates")
    shape = given.shape
    P, G = shape[0], len(units)
    both = np.empty((len(at), P * len(groups), G))
    either = np.empty_like(both)
    for i, m in enumerate(at):
        for p in range(P):
            a, e = np.zeros(shape[1:]), np.zeros(shape[1:])
            if theta is not None:
                known = ~np.isnan(theta[p])
                t = np.where(known, theta[p], 0.0).astype(np.float64)
                a, e = t**m, (1.0 - (1.0 - t) ** m) * known
                a *= known
            if right is not None and replicates is not None:
                use = replicates[p] >= m
                if theta is not None:
                    use = use & np.isnan(theta[p])
                x, R = right[p].astype(np.float64), np.maximum(replicates[p], m)
                a, e = a + use * _chosen(x, R, m), e + use * (1.0 - _chosen(R - x, R, m))
            for s, group in enumerate(groups):
                both[i, p * len(groups) + s] = units.totals(a[group].sum(axis=0))
                either[i, p * len(groups) + s] = units.totals(e[group].sum(axis=0))
    return Sizes(both, either)


def same_configuration_curve(theta: Array, right: Array, replicates: Array, most: int) -> Floats:
    """IQ(1) ... IQ(most) of answers to one and the same configuration, over all of them.

    The floor of `same_configuration_sizes`, summed over configurations and questions, at every m.

    Parameters
    ----------
    theta, right, replicates
        As in `same_configuration_sizes`, shape (P, K, Q).
    most
        Largest m.

    Returns
    -------
    array
        Shares, mean over personas, shape (most,); ``nan`` where none has a question right. Answers
        without theta of which there are fewer than m count for nothing at m.

    Examples
    --------
    >>> none = np.zeros((1, 1, 2), dtype=np.int16)
    >>> same_configuration_curve(np.full((1, 1, 2), 0.5), none, none, 3).round(4).tolist()
    [0.0, 0.6667, 0.8571]
    """
    both, either = np.zeros((2, most, len(theta)))
    if most <= 1:  # a single answer is its own union
        some = bool((theta > 0).any() or (right > 0).any())
        return np.full(most, 0.0 if some else np.nan)
    for p in range(len(theta)):
        known = ~np.isnan(theta[p])
        chance = theta[p][known]
        # what is certain stays so at any m
        sure = int((chance == 1).sum())
        chance = chance[(chance > 0) & (chance < 1)]
        other = 1 - chance
        all_right, all_wrong = np.ones_like(chance), np.ones_like(chance)
        kinds, count = _tally(right[p][~known], replicates[p][~known])
        for m in range(1, most + 1):
            all_right *= chance
            all_wrong *= other
            both[m - 1, p] = sure + all_right.sum(dtype=np.float64)
            either[m - 1, p] = sure + len(chance) - all_wrong.sum(dtype=np.float64)
            use = kinds[1] >= m
            x, R, n = kinds[0, use].astype(np.float64), kinds[1, use], count[use]
            both[m - 1, p] += (n * _chosen(x, R, m)).sum()
            either[m - 1, p] += (n * (1.0 - _chosen(R - x, R, m))).sum()
    out = np.full(most, np.nan)
    for m in range(most):
        used = either[m] > 0
        if used.any():
            out[m] = 1.0 - (both[m, used] / either[m, used]).mean() if m else 0.0
    return out


def _tally(right: Array, replicates: Array) -> tuple[Array, Array]:
    """Distinct pairs of right answers and answers, shape (2, pairs), and how often each occurs."""
    width = int(replicates.max(initial=0)) + 1
    count = np.bincount(right.astype(np.intp) * width + replicates.astype(np.intp))
    pairs = np.flatnonzero(count)
    return np.stack(np.divmod(pairs, width)), count[pairs]


def _chosen(x: Floats, R: Array, m: int) -> Floats:
    """C(x, m) / C(R, m)."""
    out = np.ones(np.shape(x))
    for i in range(m):
        out = out * np.maximum(x - i, 0.0) / (R - i)
    return out
