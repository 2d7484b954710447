"""The letter of many next-token distributions at many temperatures, without truncation.

What `nongrata.temperature.answer_distribution` computes in general and in double precision, for
the case in which every label's probability is known, at a tenth of the time: all that does not
depend on the temperature is done once, powers of the other tokens are taken in single precision
(a weight is off by less than 2e-7 of the largest), and of the options only their sum and the right
one are looked at.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nongrata.stats.accuracy import Floats

Singles = NDArray[np.float32]

_TOKENS_AT_ONCE = 8
"""So that what is worked on stays in the processor's cache."""
_NOTHING = -30.0
"""Logarithm of a weight, relative to the largest, that adds nothing in single precision."""


@dataclass(frozen=True)
class LetterAt:
    """What n requests' letters are at one temperature.

    Parameters
    ----------
    right
        Probability of the right label, shape (n,).
    read
        Probability of any label, shape (n,).
    error
        Largest error of any label's probability that unseen tokens allow, shape (n,).
    """

    right: Floats
    read: Floats
    error: Floats


@dataclass(frozen=True)
class TemperedLetters:
    """n next-token distributions, ready to be read at any positive temperature.

    Parameters
    ----------
    right, labels, others
        Log-probabilities at temperature 1 less `top`: of the spellings of the right label, of
        those of all labels, and of the most probable other tokens; tokens along the first axis.
    top
        Largest log-probability of each request, shape (n,).
    tail, least
        Log-probability of all unseen tokens together, and of the most probable of them at most.
    unseen
        Number of unseen tokens, shape (n,); None if the model's number of tokens is not known.
    """

    right: Singles
    labels: Singles
    others: Singles
    top: Floats
    tail: Floats
    least: Floats
    unseen: NDArray[np.int64] | None

    @classmethod
    def of(
        cls,
        labels: Singles,
        others: Singles,
        tail: Floats,
        answer: NDArray[np.integer],
        vocabulary: int | None = None,
    ) -> TemperedLetters:
        """Prepare requests.

        Parameters
        ----------
        labels
            Log-probabilities of each option's spellings, shape (n, options, spellings); ``-inf``
            where there is no such token, none ``nan``.
        others
            Of the most probable other tokens, shape (n, k), ``nan`` padded.
        tail
            Probability of all remaining tokens together, shape (n,).
        answer
            The right option, shape (n,).
        vocabulary
            Number of the model's tokens, if known.

        Examples
        --------
        >>> labels = np.log(np.array([[[0.5], [0.25]]], dtype=np.float32))
        >>> others = np.log(np.array([[0.25]], dtype=np.float32))
        >>> letters = TemperedLetters.of(labels, others, np.zeros(1), np.array([0]))
        >>> at_half = letters.at(0.5)
        >>> at_half.right.round(4).tolist(), at_half.read.round(4).tolist()
        ([0.6667], [0.8333])
        """
        n = len(labels)
        of_right = np.ascontiguousarray(labels[np.arange(n), answer].T)
        of_labels = np.ascontiguousarray(labels.reshape(n, -1).T)
        of_others = np.ascontiguousarray(others.T)
        given = ~np.isnan(of_others)
        with np.errstate(divide="ignore"):
            tail_log = np.log(tail)
        lowest = np.where(given, of_others, np.float32(np.inf)).min(axis=0, initial=np.inf)
        of_others[~given] = -np.inf
        top = np.maximum(
            of_labels.max(axis=0, initial=-np.inf), of_others.max(axis=0, initial=-np.inf)
        )
        top = np.where(np.isfinite(top), top, np.float32(0)).astype(np.float32)
        least = np.minimum(np.where(np.isfinite(lowest), lowest, tail_log), tail_log)
        unseen = None
        if vocabulary is not None:
            known = (of_labels > -np.inf).sum(axis=0) + (of_others > -np.inf).sum(axis=0)
            unseen = np.maximum(vocabulary - known, 1)
        of_others -= top
        return cls(
            of_right - top,
            of_labels - top,
            of_others,
            top.astype(np.float64),
            tail_log,
            least.astype(np.float64),
            unseen,
        )

    def at(self, temperature: float, logsum: Floats | None = None) -> LetterAt:
        """The letters at one temperature.

        Parameters
        ----------
        temperature
            Above 0.
        logsum
            ``log(sum of p^(1/T))`` over the unseen tokens where it is known, ``nan`` where not.

        Raises
        ------
        ValueError
            Above temperature 1, if some unseen tokens can be bounded only by their number and that
            is not known.
        """
        power = 1.0 / temperature
        right, labels = _powers(self.right, power), _powers(self.labels, power)
        low, high = self._unseen(power, logsum)
        seen = labels + _powers(self.others, power)
        few, many = (1.0 / np.maximum(seen + bound, 1e-300) for bound in (low, high))
        middle, half = (few + many) / 2, (few - many) / 2
        return LetterAt(right * middle, labels * middle, np.minimum(labels * half, 1.0))

    def _unseen(self, power: float, logsum: Floats | None) -> tuple[Floats, Floats]:
        """Bounds of the sum over unseen tokens of p^(1/T), in units of the largest p^(1/T)."""
        tail, least = self.tail - self.top, self.least - self.top
        empty = np.isneginf(self.tail)
        if power == 1 or empty.all():
            mass = np.exp(tail)
            return mass, mass
        told = np.zeros(len(tail), bool) if logsum is None else ~np.isnan(logsum)
        settled = told | empty
        with np.errstate(invalid="ignore"):
            by_fewest = np.where(empty, 0.0, np.exp(tail + least * (power - 1)))
        if self.unseen is not None:
            by_all = np.exp(np.log(self.unseen) * (1 - power) + tail * power)
        elif power > 1:
            by_all = np.zeros_like(by_fewest)
        elif settled.all():
            by_all = by_fewest
        else:
            raise ValueError(
                "above temperature 1 the unseen tokens can be bounded only if their number is known"
            )
        low, high = np.minimum(by_fewest, by_all), np.maximum(by_fewest, by_all)
        if logsum is None:
            return low, high
        exact = np.exp(np.where(told, logsum, -np.inf) - self.top * power)
        return np.where(told, exact, low), np.where(told, exact, high)


def _powers(logs: Singles, power: float) -> Floats:
    """Sum over tokens of exp(power * log), shape (n,)."""
    total = np.zeros(logs.shape[1])
    for start in range(0, len(logs), _TOKENS_AT_ONCE):
        scaled = logs[start : start + _TOKENS_AT_ONCE] * np.float32(power)
        if scaled.max(initial=-np.inf) > _NOTHING:
            total += np.exp(scaled, out=scaled).sum(axis=0)
    return total
