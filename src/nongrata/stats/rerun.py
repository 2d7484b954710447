"""The same study again: figures of many re-runs, drawn from the probabilities of its answers.

Source: S1. A re-run draws x[p,c,q] ~ Bernoulli(theta[p,c,q]) for every cell and question; from it
follow IA, IO, IQ(m), accuracies and the best and worst labels by the definitions of
`nongrata.stats.ia`, `.io` and `.iq`, and their spread over re-runs is the part of each figure that
is sampling noise of this very study. Questions, labels and configurations stay as they are.

Persona by persona, and for each a batch of re-runs at a time: what is kept of a cell is the number
of right answers and, for IQ, the number of configurations in which each question is right. So
memory does not grow with the number of draws but by one number for each cell and draw.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nongrata.stats.accuracy import Array, Bools, Floats
from nongrata.stats.bernoulli_streams import CellStream, batches, padded, row_sums
from nongrata.stats.iq import inclusion
from nongrata.stats.rank_draws import rank_draws
from nongrata.stats.ranks import TIE_DECIMALS

_AT_ONCE = 2**18
"""Answers drawn at once, so that they stay in the processor's cache."""


@dataclass(frozen=True, slots=True)
class Redrawn:
    """Figures of re-runs; one entry a draw, ``nan`` where a figure is undefined.

    Parameters
    ----------
    ia, io, rank_shift, spread, iq, iq_of_two
        As in `nongrata.stats.ia`, `.io` and `.iq`: points, ranks times points, ranks, points, per
        cent, per cent (IQ(2)).
    best_flips, worst_flips
        Share of pairs of configurations that have no best (worst) label in common, per cent.
    accuracy
        Mean over configurations of each label's accuracy on the questions that all labels share,
        in per cent, shape (draws, P).
    """

    ia: Floats
    io: Floats
    rank_shift: Floats
    spread: Floats
    iq: Floats
    iq_of_two: Floats
    best_flips: Floats
    worst_flips: Floats
    accuracy: Floats


def redraw(
    theta: Array,
    present: Bools | None = None,
    *,
    draws: int,
    seed: tuple[int, ...],
    cells: NDArray[np.integer] | None = None,
    at_once: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Redrawn:
    """Draw the whole study again and again.

    Parameters
    ----------
    theta
        Probability that the answer is right, shape (P, K, Q). What stands at missing places is
        ignored.
    present
        Where there is an answer, in the study and so in every re-run; None: everywhere.
    draws
        How many re-runs.
    seed
        Numbers that name the random numbers.
    cells
        Number of each cell, shape (P, K), which names its own random numbers; cells with the same
        number (structural duplicates) are drawn once. None: all different, in order.
    at_once
        Re-runs drawn at a time, which changes nothing but the time it takes.
    progress
        Told how many of how many personas are done.

    Examples
    --------
    >>> again = redraw(np.full((1, 2, 100), 0.5), draws=2000, seed=(0,))
    >>> round(float(again.ia.mean()), 1)  # sqrt(2 / pi) sqrt(2 x 100 x .25) = 5.6
    5.6
    """
    P, K, Q = theta.shape
    numbers = np.arange(P * K).reshape(P, K) if cells is None else cells
    there = np.ones(theta.shape, dtype=bool) if present is None else present
    shared: Bools = np.asarray(there.all(axis=0)) if P else np.zeros((K, Q), dtype=bool)
    totals = np.zeros((draws, P, K), dtype=np.int32)
    apart, pairs = np.zeros(draws), 0
    inside: list[Floats] = []
    size = at_once or max(1, min(draws, _AT_ONCE // max(padded(Q), 1)))
    for p in range(P):
        persona = _Persona(theta[p], there[p], shared, numbers[p], seed)
        for batch in batches(draws, size):
            persona.draw(batch.stop - batch.start)
            totals[batch, p] = persona.totals
            apart[batch] += persona.apart()
            inside.append(persona.sizes())
        pairs += persona.pairs
        if progress is not None:
            progress(p + 1, P)
    questions = shared.sum(axis=1)
    ranks = rank_draws(totals, questions)
    ranked = questions > 0
    accuracy = np.full((draws, P), np.nan)
    if ranked.any():
        accuracy = 100.0 * (totals[:, :, ranked] / questions[ranked]).mean(axis=2)
    sizes = np.concatenate(inside).reshape(P, draws, 4) if inside else np.zeros((0, draws, 4))
    nothing = np.full(draws, np.nan)
    return Redrawn(
        ia=100.0 * apart / pairs if pairs else nothing,
        io=ranks.io,
        rank_shift=ranks.rank_shift,
        spread=ranks.spread,
        iq=_iq(sizes[:, :, 0], sizes[:, :, 1]) if K else nothing,
        iq_of_two=_iq(sizes[:, :, 2], sizes[:, :, 3]) if K > 1 else nothing,
        best_flips=ranks.best_flips,
        worst_flips=ranks.worst_flips,
        accuracy=accuracy,
    )


class _Persona:
    """One persona's draws, a batch at a time."""

    def __init__(
        self,
        theta: Array,
        there: Bools,
        shared: Bools,
        numbers: NDArray[np.integer],
        seed: tuple[int, ...],
    ) -> None:
        K, Q = theta.shape
        self._streams = [
            CellStream(np.where(there[c], theta[c], 0.0), (*seed, int(numbers[c])))
            for c in range(K)
        ]
        first = {int(number): c for c, number in reversed(list(enumerate(numbers.tolist())))}
        self._source = [first[int(number)] for number in numbers]
        self._questions = Q
        self._complete = there.all(axis=0)
        self._all_there = bool(there.all())
        self._all_shared = bool(shared.all())
        wide = ((0, 0), (0, padded(Q) - Q))
        self._shared = np.pad(shared, wide)
        self._there = np.pad(there, wide)
        both = self._there.astype(np.float32)
        self._common = np.rint(both @ both.T).astype(np.int64) if not self._all_there else None
        self.pairs = (
            K * (K - 1) // 2 * bool(Q)
            if self._common is None
            else int((self._common[np.triu_indices(K, 1)] > 0).sum())
        )
        self._both = inclusion(K)[:, [K - 1, min(1, K - 1)]] if K else np.zeros((1, 2))

    def draw(self, draws: int) -> None:
        """Draw the next re-runs of all cells."""
        K = len(self._streams)
        width = padded(self._questions)
        self.totals, self._whole = np.zeros((2, draws, K), dtype=np.int64)
        self._counts = np.zeros((draws, width), dtype=np.uint8 if K < 256 else np.uint16)
        self._packed: list[NDArray[np.uint64]] = []
        drawn: dict[int, Bools] = {}
        repeated = {c for c in self._source if self._source.count(c) > 1}
        for c, stream in enumerate(self._streams):
            source = self._source[c]
            right = drawn[source] if source in drawn else stream.draw(draws)
            if c in repeated:
                drawn[c] = right
            self._counts += right.view(np.uint8) if right.flags.c_contiguous else right
            if self._common is None:
                self._whole[:, c] = _sums(right, stream.fixed)
            else:
                self._packed.append(_packed(right))
            if not self._all_shared:
                self.totals[:, c] = _sums(right & self._shared[c], stream.fixed)
        if self._all_shared:
            self.totals = self._whole

    def apart(self) -> Floats:
        """Sum over pairs of configurations of |A[c] - A[c']|, by draw."""
        K = len(self._streams)
        if self._common is None:
            ordered = np.sort(self._whole, axis=1)
            weights = 2 * np.arange(K) - K + 1
            return np.asarray((ordered * weights).sum(axis=1) / max(self._questions, 1))
        there = _packed(self._there)
        right = np.zeros((len(self.totals), K, K))
        for c, bits in enumerate(self._packed):
            common = np.bitwise_count(bits[:, None, :] & there[None, :, :])
            right[:, c] = common.sum(axis=2, dtype=np.int64)
        difference = np.abs(right - right.transpose(0, 2, 1)) / np.maximum(self._common, 1)
        first, second = np.triu_indices(K, 1)
        total: Floats = difference[:, first, second].sum(axis=1)
        return total

    def sizes(self) -> Floats:
        """Intersection and union of all configurations, then of two, by draw: shape (draws, 4)."""
        K = len(self._streams)
        counts = self._counts[:, : self._questions]
        if not self._complete.all():
            counts = counts[:, self._complete]
        places = counts + (np.arange(len(counts)) * (K + 1))[:, None]
        histogram = np.bincount(places.ravel(), minlength=len(counts) * (K + 1))
        histogram = histogram.reshape(len(counts), K + 1).astype(np.float64)
        out = np.empty((len(counts), 4))
        for place, inside in enumerate(self._both.T):
            out[:, 2 * place] = (histogram * inside).sum(axis=1)
            out[:, 2 * place + 1] = (histogram * (1.0 - inside[::-1])).sum(axis=1)
        return out


def _packed(rows: Bools) -> NDArray[np.uint64]:
    """Rows of bits as 64-bit words."""
    octets = np.packbits(rows, axis=1)
    return np.pad(octets, ((0, 0), (0, -octets.shape[1] % 8))).view(np.uint64)


def _sums(right: Bools, fixed: bool) -> Any:
    """Right answers by draw; one number where every draw is the same."""
    return np.count_nonzero(right[0]) if fixed else row_sums(right)


def _iq(both: Floats, either: Floats) -> Floats:
    """Per cent, by draw, over the personas whose union is not empty; both (P, draws)."""
    some = either > 0
    n = some.sum(axis=0)
    share = np.divide(both, either, out=np.ones_like(both), where=some)
    out = np.full(both.shape[1], np.nan)
    np.divide(100.0 * (1.0 - share).sum(axis=0), n, out=out, where=n > 0)
    return out


def extreme_shares(accuracy: Floats) -> tuple[Floats, Floats]:
    """Share of draws in which each label is best, and worst; ties shared.

    Parameters
    ----------
    accuracy
        Shape (draws, P); draws with a ``nan`` are left out.

    Examples
    --------
    >>> best, worst = extreme_shares(np.array([[1.0, 0.0, 0.0], [1.0, 1.0, 0.0]]))
    >>> best.tolist(), worst.tolist()
    ([0.75, 0.25, 0.0], [0.0, 0.25, 0.75])
    """
    good = accuracy[~np.isnan(accuracy).any(axis=1)]
    if not good.size:
        nothing = np.full(accuracy.shape[1], np.nan)
        return nothing, nothing
    rounded = np.round(good, TIE_DECIMALS)
    best, worst = (
        (extreme / extreme.sum(axis=1, keepdims=True)).mean(axis=0)
        for extreme in (
            rounded == rounded.max(axis=1, keepdims=True),
            rounded == rounded.min(axis=1, keepdims=True),
        )
    )
    return best, worst
