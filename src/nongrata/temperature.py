"""Next-token probabilities at temperature 1 -> the answer's distribution under any sampling.

At temperature T a token's probability is proportional to p^(1/T), p being its probability at 1;
top-k, top-p and min-p then keep some of the tokens. Where every token is known this is exact. Where
only the most probable ones are, all that is not known is kept as an interval: nothing is
renormalised silently, and the half-width of the interval is returned.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from nongrata.truncation import Known, truncate

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, order=True)
class Sampling:
    """How a token is drawn: the temperature first, then top-k, top-p and min-p, in this order.

    Parameters
    ----------
    temperature
        0 takes the most probable token.
    top_k
        Keep the k most probable tokens; 0: all.
    top_p
        Keep the fewest most probable tokens that together have this probability; 1: all.
    min_p
        Keep tokens with at least this share of the largest probability; 0: all.

    Examples
    --------
    >>> Sampling(0.0, top_k=5, top_p=0.9).resolved()
    Sampling(temperature=0.0, top_k=0, top_p=1.0, min_p=0.0)
    """

    temperature: float
    top_k: int = 0
    top_p: float = 1.0
    min_p: float = 0.0

    @property
    def truncates(self) -> bool:
        """Whether any token may be left out."""
        return bool(self.top_k) or self.top_p < 1 or self.min_p > 0

    def resolved(self) -> Sampling:
        """The same without what cannot matter: nothing is left out at temperature 0."""
        if self.temperature == 0:
            return replace(self, top_k=0, top_p=1.0, min_p=0.0)
        return self


@dataclass(frozen=True, slots=True)
class AnswerDistribution:
    """What one next token says, under one sampling, for n requests.

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
    sampling: Sampling | float,
    *,
    tail_logsum: Floats | None = None,
    vocabulary: int | None = None,
    least_returned: Floats | None = None,
) -> AnswerDistribution:
    """Distribution over the options under one sampling.

    With w_i = p_i^(1/T), known tokens have a known w. The sum U of w over the unseen tokens, whose
    p sum to `tail` and are each at most the least of `others`, lies between bounds: p^(1/T) is
    convex in p for T < 1 and concave for T > 1, so that one of them is reached by the fewest
    tokens, ``tail * least^(1/T - 1)``, the other by all of them, ``m * (tail / m)^(1/T)`` with m
    unseen tokens. A label that was not returned is one of them.

    Parameters
    ----------
    labels
        Log-probability at temperature 1 of each variant of each option's label, shape
        (n, options, variants); ``-inf`` where there is no such token, ``nan`` where it was not
        returned.
    others
        Log-probabilities of the most probable other tokens, shape (n, k), ``nan`` padded.
    tail
        Probability of all remaining tokens together, shape (n,).
    sampling
        Temperature and truncation; a number is a temperature without truncation.
    tail_logsum
        ``log(sum of p^(1/T))`` over the remaining tokens, where it is known; ``nan`` where not.
    vocabulary
        Number of the model's tokens. Needed for temperatures above 1 where `tail_logsum` is not
        known.
    least_returned
        Log-probability that no label exceeds that was not returned, shape (n,); ``nan`` or None:
        that of the least of `others`.

    Examples
    --------
    >>> labels = np.log(np.array([[[0.5], [0.25]]], dtype=np.float32))
    >>> others = np.log(np.array([[0.25]], dtype=np.float32))
    >>> at_half = answer_distribution(labels, others, np.zeros(1), 0.5)
    >>> at_half.options.round(4).tolist(), at_half.outside.round(4).tolist()
    ([[0.6667, 0.1667]], [0.1667])
    >>> nucleus = answer_distribution(labels, others, np.zeros(1), Sampling(1.0, top_p=0.7))
    >>> nucleus.options.round(4).tolist(), nucleus.outside.round(4).tolist()
    ([[0.6667, 0.3333]], [0.0])
    """
    if not isinstance(sampling, Sampling):
        sampling = Sampling(float(sampling))
    label_logs = np.where(np.isnan(labels), -np.inf, labels).astype(np.float64)
    other_logs = np.where(np.isnan(others), -np.inf, others).astype(np.float64)
    if sampling.temperature == 0:
        return _greedy(label_logs, other_logs)
    power = 1.0 / sampling.temperature
    top = np.maximum(
        label_logs.max(axis=(1, 2), initial=-np.inf), other_logs.max(axis=1, initial=-np.inf)
    )
    top = np.where(np.isfinite(top), top, 0.0)  # a request that failed has no probability at all
    label_weights = np.exp((label_logs - top[:, None, None]) * power)
    other_weights = np.exp((other_logs - top[:, None]) * power)
    with np.errstate(divide="ignore"):
        tail_log = np.log(tail)
    least = (
        np.where(np.isnan(others), np.inf, others).astype(np.float64).min(axis=1, initial=np.inf)
    )
    least = np.minimum(np.where(np.isfinite(least), least, tail_log), tail_log)
    known = (label_logs > -np.inf).sum(axis=(1, 2)) + (other_logs > -np.inf).sum(axis=1)
    low, high = _unseen(tail_log, least, power, top, known, tail_logsum, vocabulary)
    missing = np.isnan(labels).sum(axis=2)
    most = np.minimum(np.exp((least - top) * power), high)  # of one unseen token
    hidden = most
    if least_returned is not None:
        told = np.where(np.isnan(least_returned), least, np.minimum(least, least_returned))
        hidden = np.minimum(np.exp((told - top) * power), high)
    label_of_these = missing * hidden[:, None]
    if sampling.truncates:
        return _truncated(label_weights, other_weights, most, low, high, label_of_these, sampling)
    return _whole(label_weights.sum(axis=2), other_weights.sum(axis=1), low, high, label_of_these)


def _unseen(
    tail_log: Floats,
    least: Floats,
    power: float,
    top: Floats,
    known: NDArray[np.int64],
    tail_logsum: Floats | None,
    vocabulary: int | None,
) -> tuple[Floats, Floats]:
    """Bounds of the sum over unseen tokens of p^(1/T), in units of the largest p^(1/T)."""
    if power == 1:
        mass = np.exp(tail_log - top)
        return mass, mass
    exact = np.isnan(tail_log) if tail_logsum is None else ~np.isnan(tail_logsum)
    empty = np.isneginf(tail_log)
    with np.errstate(invalid="ignore"):
        by_fewest = np.where(empty, 0.0, np.exp(tail_log - top + (least - top) * (power - 1)))
    if vocabulary is not None:
        unseen = np.maximum(vocabulary - known, 1)
        by_all = np.exp(np.log(unseen) * (1 - power) + (tail_log - top) * power)
    elif power > 1:
        by_all = np.zeros_like(by_fewest)
    elif (exact | empty).all():
        by_all = by_fewest
    else:
        raise ValueError(
            "above temperature 1 the unseen tokens can be bounded only if their number is known"
        )
    # few tokens left may make the two cross by a rounding error
    low, high = np.minimum(by_fewest, by_all), np.maximum(by_fewest, by_all)
    if tail_logsum is None:
        return low, high
    told = np.exp(np.where(exact, tail_logsum, -np.inf) - top * power)
    return np.where(exact, told, low), np.where(exact, told, high)


def _whole(
    labels: Floats, others: Floats, low: Floats, high: Floats, missing: Floats
) -> AnswerDistribution:
    """Nothing is left out: intervals of w / (all known w + U), U in [low, high].

    `missing` is the most that the spellings of each label can weigh that were not returned.
    """
    seen = labels.sum(axis=1) + others
    hidden = np.minimum(missing, high[:, None])
    floor = np.maximum(seen[:, None] + np.maximum(low[:, None], hidden), 1e-300)
    least = labels / np.maximum(seen + high, 1e-300)[:, None]
    return _middle(least, (labels + hidden) / floor)


def _truncated(
    labels: Floats,
    others: Floats,
    most: Floats,
    low: Floats,
    high: Floats,
    missing: Floats,
    sampling: Sampling,
) -> AnswerDistribution:
    n, options, variants = labels.shape
    weights = np.concatenate([labels.reshape(n, -1), others], axis=1)
    start = Known(weights, weights > 0, weights > 0, most, low, high)
    kept = truncate(start, sampling.top_k, sampling.top_p, sampling.min_p)
    surely, perhaps = (kept.certain * weights), (kept.possible * weights)
    floor = surely.sum(axis=1) + kept.low
    ceiling = np.maximum(perhaps.sum(axis=1) + kept.high, 1e-300)
    # a token that is only perhaps kept adds itself to what is surely kept
    at_most = perhaps / np.maximum(floor[:, None] + perhaps - surely, 1e-300)
    at_least = surely / ceiling[:, None]
    hidden = np.minimum(missing, kept.high[:, None])
    hidden = hidden / np.maximum(floor[:, None] + np.maximum(hidden - kept.low[:, None], 0), 1e-300)
    shape = (n, options, variants)
    most_of = at_most[:, : options * variants].reshape(shape).sum(axis=2) + hidden
    least_of = at_least[:, : options * variants].reshape(shape).sum(axis=2)
    return _middle(least_of, most_of)


def _middle(least: Floats, most: Floats) -> AnswerDistribution:
    """The middle of intervals, scaled to leave no less than nothing to other tokens."""
    most = np.minimum(most, 1.0)
    options = (least + most) / 2
    inside = options.sum(axis=1)
    excess = np.maximum(inside, 1.0)
    error = ((most - least) / 2).max(axis=1, initial=0.0) + (excess - 1)
    # the mass outside is the sum of all errors away from the truth at worst
    outside_error = np.minimum(((most - least) / 2).sum(axis=1), 1.0)
    return AnswerDistribution(
        options / excess[:, None],
        np.maximum(1.0 - inside, 0.0),
        np.maximum(error, outside_error),
    )


def _greedy(label_logs: Floats, other_logs: Floats) -> AnswerDistribution:
    best = label_logs.max(axis=2)
    winner = best.argmax(axis=1)
    rows = np.arange(len(best))
    is_label = best[rows, winner] >= other_logs.max(axis=1, initial=-np.inf)
    is_label &= best[rows, winner] > -np.inf
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
