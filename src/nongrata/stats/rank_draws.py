"""IO and changes of the extreme labels for many draws of one study at once.

The definitions are those of `nongrata.stats.io`; what is different is that all draws of a study
rest on the same questions, so that ranks follow from whole numbers of right answers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nongrata.stats.accuracy import Array, Bools, Floats

_AT_ONCE = 2**20


@dataclass(frozen=True, slots=True)
class RankDraws:
    """By draw; ``nan`` where fewer than two configurations have ranks.

    Parameters
    ----------
    io, rank_shift, spread
        IO and its two parts.
    best_flips, worst_flips
        Share of pairs of configurations that have no best (worst) label in common, per cent.
    """

    io: Floats
    rank_shift: Floats
    spread: Floats
    best_flips: Floats
    worst_flips: Floats


def rank_draws(right: Array, questions: Array) -> RankDraws:
    """Figures of ranks, draw by draw.

    Parameters
    ----------
    right
        Right answers among the questions that all personas share, shape (draws, P, K).
    questions
        Number of these questions, shape (K,); configurations without any have no ranks.

    Examples
    --------
    >>> found = rank_draws(np.array([[[6, 4], [4, 6]]]), np.array([10, 10]))
    >>> found.io.round(6).tolist(), found.rank_shift.tolist(), found.best_flips.tolist()
    ([10.0], [1.0], [100.0])
    """
    right, n = right[:, :, questions > 0], questions[questions > 0]
    draws, P, K = right.shape
    out = np.full((5, draws), np.nan)
    if P and K > 1:
        size = max(1, _AT_ONCE // (P * K * max(P, K)))
        for start in range(0, draws, size):
            batch = slice(start, start + size)
            out[:, batch] = _batch(right[batch], n)
    return RankDraws(*out)


def _batch(right: Array, n: Array) -> Floats:
    _, P, K = right.shape
    less = (right[:, None] < right[:, :, None]).sum(axis=2)  # of those with fewer right answers
    equal = (right[:, None] == right[:, :, None]).sum(axis=2)
    doubled = 2 * (P - less) - equal + 1  # twice the rank, 1 for the most, ties shared
    shift = np.abs(doubled[:, :, :, None] - doubled[:, :, None]).sum(axis=(1, 3))
    d = shift / (2 * P * (K - 1))
    w = 100.0 * (right / n).std(axis=1)
    best, worst = (
        (right == right.max(axis=1, keepdims=True)),
        (right == right.min(axis=1, keepdims=True)),
    )
    return np.stack(
        [(w * d).mean(axis=1), d.mean(axis=1), w.mean(axis=1), _flips(best), _flips(worst)]
    )


def _flips(extreme: Bools) -> Floats:
    K = extreme.shape[2]
    each = extreme.astype(np.float32)
    common = np.matmul(each.transpose(0, 2, 1), each)
    first, second = np.triu_indices(K, 1)
    return np.asarray(100.0 * (common[:, first, second] == 0).mean(axis=1))
