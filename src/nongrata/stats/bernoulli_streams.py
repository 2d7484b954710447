"""Right or wrong, drawn cell by cell from probabilities: many draws of the same cell at once.

Each cell has its own stream of random numbers, named by the seed and the cell's number. A stream
is read draw by draw, so neither the number of draws made at a time nor the other cells can change
what is drawn; cells with the same number are drawn alike.

A draw needs one comparison: 16 random bits, of which a 64-bit word holds four, against the first 16
bits of the probability. Only where these are equal, once in 65,536 times, further bits are drawn
and compared with the rest of the probability, so the chance of "right" is theta to 2^-53: 0 is
never right and 1 always.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from nongrata.stats.accuracy import Array, Bools

_STEPS = 65_536.0
_MOST_ONES = 255
"""Bytes of 0 or 1 that can be added in a byte."""


def padded(questions: int) -> int:
    """Questions rounded up to whole 64-bit words of bytes.

    Examples
    --------
    >>> padded(16), padded(17)
    (16, 24)
    """
    return -(-questions // 8) * 8


class CellStream:
    """Draws of one cell.

    Parameters
    ----------
    theta
        Probability that the answer is right, by question, shape (Q,).
    seed
        Numbers that name the stream: the seed first, the cell's number last.

    Attributes
    ----------
    sure
        Questions that are always right, shape (padded(Q),).
    fixed
        Whether nothing is drawn, for every question is always or never right.

    Examples
    --------
    >>> stream = CellStream(np.array([0.0, 1.0, 0.5], np.float32), (1, 0))
    >>> drawn = stream.draw(400)
    >>> drawn.shape, drawn[:, 0].any(), drawn[:, 1].all(), 150 < drawn[:, 2].sum() < 250
    ((400, 8), np.False_, np.True_, np.True_)
    """

    def __init__(self, theta: Array, seed: tuple[int, ...]) -> None:
        chances = np.zeros(padded(len(theta)))
        chances[: len(theta)] = theta
        scaled = chances * _STEPS
        first = np.minimum(scaled, _STEPS - 1).astype(np.uint16)
        self._first = first
        self._rest = scaled - first  # in [0, 1]; 1 where theta is 1
        self.sure = chances == 1
        self.fixed = bool((self.sure | (chances == 0)).all())
        many, few = np.random.SeedSequence(seed).spawn(2)
        self._bits = np.random.SFC64(many)
        self._further = np.random.SFC64(few)

    def draw(self, draws: int) -> Bools:
        """The next draws, shape (draws, padded(Q)); False beyond the questions."""
        width = len(self._first)
        if self.fixed:
            return np.broadcast_to(self.sure, (draws, width))
        words = self._bits.random_raw(draws * width // 4)
        bits = np.asarray(words, dtype="<u8").view("<u2").reshape(draws, width)
        right = np.less(bits, self._first)
        equal = np.flatnonzero(bits == self._first)
        if len(equal):
            more = self._further.random_raw(len(equal)) >> np.uint64(11)
            right.ravel()[equal] = more * 2.0**-53 < self._rest[equal % width]
        return np.asarray(right)


def batches(draws: int, at_once: int) -> Iterator[slice]:
    """Draws in pieces.

    Examples
    --------
    >>> list(batches(5, 2))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    for start in range(0, draws, at_once):
        yield slice(start, min(start + at_once, draws))


def row_sums(right: Bools) -> NDArray[np.int64]:
    """Number of True in each row, whose length is a multiple of 8.

    Bytes of 0 and 1 are added eight at a time, as 64-bit words, while no byte can overflow.

    Examples
    --------
    >>> row_sums(np.ones((2, 4096), bool)).tolist()
    [4096, 4096]
    """
    words = np.ascontiguousarray(right).view(np.uint64)
    total = np.zeros(len(words), dtype=np.int64)
    for start in range(0, words.shape[1], _MOST_ONES):
        part = np.add.reduce(words[:, start : start + _MOST_ONES], axis=1)
        total += part.view(np.uint8).reshape(-1, 8).sum(axis=1, dtype=np.int64)
    return total
