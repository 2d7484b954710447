"""Top-k, top-p and min-p on a distribution of which only the most probable tokens are known.

What is known of each token is whether it is *certainly* kept and whether it is *possibly* kept; of
the unseen tokens together, between which bounds the weight lies that is kept of them. Where all
tokens are known, or where the cut falls among those that are, both agree and the result is exact.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Known:
    """Tokens of n distributions, in any unit of weight.

    Parameters
    ----------
    weights
        Of the known tokens, in any order, 0 where there is none; shape (n, tokens).
    certain, possible
        Whether each of them is kept for certain, and at all; shape (n, tokens).
    most
        No unseen token weighs more than this, shape (n,).
    low, high
        Bounds of what is kept of the unseen tokens together, shape (n,).
    """

    weights: Floats
    certain: Bools
    possible: Bools
    most: Floats
    low: Floats
    high: Floats


def truncate(known: Known, top_k: int, top_p: float, min_p: float) -> Known:
    """Keep what top-k, then top-p, then min-p keep.

    Parameters
    ----------
    known
        Before, all tokens being kept.
    top_k, top_p, min_p
        0, 1 and 0 keep everything.

    Examples
    --------
    >>> weights = np.array([[0.5, 0.3, 0.2]])
    >>> every, none = weights > 0, np.zeros(1)
    >>> kept = truncate(Known(weights, every, every, none, none, none), 0, 0.8, 0.0)
    >>> kept.certain.tolist()
    [[True, True, False]]
    """
    if top_k:
        known = _top_k(known, top_k)
    if top_p < 1:
        known = _top_p(known, top_p)
    if min_p:
        known = _min_p(known, min_p)
    return known


def _order(weights: Floats) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Places from the heaviest to the lightest, and the rank of each place."""
    order = np.argsort(-weights, axis=1, kind="stable")
    rank = np.empty_like(order)
    np.put_along_axis(rank, order, np.arange(order.shape[1])[None, :], axis=1)
    return order, rank


def _top_k(known: Known, k: int) -> Known:
    weights = known.weights
    _, rank = _order(weights)
    hidden = known.high[:, None] > 0
    above = weights >= known.most[:, None]  # no unseen token comes before it
    with np.errstate(divide="ignore", invalid="ignore"):
        before = np.where(above | ~hidden, 0.0, np.floor(known.high[:, None] / weights))
    before = np.nan_to_num(before, nan=0.0)
    left = np.maximum(k - (known.certain & above).sum(axis=1), 0)
    high = np.minimum(known.high, left * known.most)
    return replace(
        known,
        possible=known.possible & (rank < k),
        certain=known.certain & (rank + before < k),
        # how many unseen tokens there are is not known, so perhaps none of them finds a place
        low=np.zeros_like(known.low),
        high=high,
    )


def _top_p(known: Known, p: float) -> Known:
    weights = known.weights
    order, rank = _order(weights)
    surely, perhaps = known.certain * weights, known.possible * weights
    least_total = surely.sum(axis=1) + known.low
    most_total = perhaps.sum(axis=1) + known.high

    def ahead(part: Floats) -> Floats:
        falling = np.take_along_axis(part, order, axis=1)
        before: Floats = np.take_along_axis(falling.cumsum(axis=1) - falling, rank, axis=1)
        return before

    above = weights >= known.most[:, None]
    most_before = ahead(perhaps) + np.where(above, 0.0, known.high[:, None])
    covered = (surely * above).sum(axis=1)
    high = np.clip(p * most_total - covered + known.most, 0.0, known.high)
    high = np.where(covered >= p * most_total, 0.0, high)
    low = np.clip(p * least_total - perhaps.sum(axis=1), 0.0, known.low)
    return replace(
        known,
        certain=known.certain & (most_before < p * least_total[:, None]),
        possible=known.possible & (ahead(surely) < p * most_total[:, None]),
        low=np.minimum(low, high),
        high=high,
    )


def _min_p(known: Known, share: float) -> Known:
    threshold = share * known.weights.max(axis=1, initial=0.0)
    kept = known.weights >= threshold[:, None]
    hidden = known.most >= threshold
    return replace(
        known,
        certain=known.certain & kept,
        possible=known.possible & kept,
        low=np.zeros_like(known.low),
        high=np.where(hidden, known.high, 0.0),
    )
