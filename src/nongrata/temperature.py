"""Next-token probabilities at temperature 1 -> the answer's distribution at any temperature.

At temperature T a token's probability is proportional to p^(1/T), p being its probability at 1.
Where every token is known this is exact. Where only the most probable ones are, the rest enters as
a sum whose contribution is bounded, and the bound is returned: nothing is renormalised silently.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class AnswerDistribution:
    """What one next token says, at one temperature, for n requests.

    Parameters
    ----------
    options
        Probability of each option, shape (n, options).
    outside
        Probability that the token is no label, shape (n,).
    error
        Largest error of any of these probabilities that the unseen tokens can cause, shape (n,).
    """

    options: Floats
    outside: Floats
    error: Floats


def answer_distribution(
    labels: NDArray[np.float32],
    others: NDArray[np.float32],
    tail: Floats,
    temperature: float,
) -> AnswerDistribution:
    """Distribution over the options at a temperature of at most 1.

    Parameters
    ----------
    labels
        Log-probability at temperature 1 of each variant of each option's label, shape
        (n, options, variants); ``nan`` where there is no such token among those returned.
    others
        Log-probabilities of the most probable other tokens, shape (n, k), ``nan`` padded.
    tail
        Probability of all remaining tokens together, shape (n,). Each of them is at most as
        probable as the least probable one in `others`.
    temperature
        0 (the most probable token) to 1.

    Examples
    --------
    >>> labels = np.log(np.array([[[0.5], [0.25]]], dtype=np.float32))
    >>> others = np.log(np.array([[0.25]], dtype=np.float32))
    >>> at_half = answer_distribution(labels, others, np.zeros(1), 0.5)
    >>> at_half.options.round(4).tolist(), at_half.outside.round(4).tolist()
    ([[0.6667, 0.1667]], [0.1667])
    """
    if temperature > 1:
        raise ValueError("above temperature 1 the unseen tokens cannot be bounded")
    label_logs = np.where(np.isnan(labels), -np.inf, labels).astype(np.float64)
    other_logs = np.where(np.isnan(others), -np.inf, others).astype(np.float64)
    if temperature == 0:
        return _greedy(label_logs, other_logs)
    top = np.maximum(
        label_logs.max(axis=(1, 2), initial=-np.inf), other_logs.max(axis=1, initial=-np.inf)
    )
    top = np.where(np.isfinite(top), top, 0.0)  # a request that failed has no probability at all
    power = 1.0 / temperature
    weights = np.exp((label_logs - top[:, None, None]) * power).sum(axis=2)
    known_outside = np.exp((other_logs - top[:, None]) * power).sum(axis=1)
    # sum of p^power over unseen tokens, each at most `least`: between 0 and tail * least^(power-1)
    least = np.where(np.isnan(others), np.inf, others).astype(np.float64)
    least = least.min(axis=1, initial=np.inf)
    least = np.where(np.isfinite(least), least, np.log(np.maximum(tail, 1e-300)))
    with np.errstate(divide="ignore"):
        unseen = np.exp(np.log(tail) - top + (least - top) * (power - 1))
    certain = temperature == 1
    outside = known_outside + (unseen if certain else unseen / 2)
    total = weights.sum(axis=1) + outside
    error = np.zeros_like(total) if certain else unseen / 2 / total
    return AnswerDistribution(weights / total[:, None], outside / total, error)


def _greedy(label_logs: Floats, other_logs: Floats) -> AnswerDistribution:
    best = label_logs.max(axis=2)
    winner = best.argmax(axis=1)
    rows = np.arange(len(best))
    is_label = best[rows, winner] >= other_logs.max(axis=1, initial=-np.inf)
    options = np.zeros_like(best)
    options[rows[is_label], winner[is_label]] = 1.0
    return AnswerDistribution(options, (~is_label).astype(np.float64), np.zeros(len(best)))


def draw_options(distribution: AnswerDistribution, luck: Floats) -> NDArray[np.int8]:
    """One option per request, -1 for a token that is no label.

    Parameters
    ----------
    distribution
        Of n requests.
    luck
        Uniform numbers in [0, 1), shape (n,).
    """
    cumulative = distribution.options.cumsum(axis=1)
    drawn = (luck[:, None] >= cumulative).sum(axis=1)
    return np.where(drawn == distribution.options.shape[1], -1, drawn).astype(np.int8)
