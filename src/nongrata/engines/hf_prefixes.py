"""Which texts share a beginning, and what was computed for beginnings before."""

from __future__ import annotations

import itertools
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nongrata.engines.hf_forward import KvRows

Tokens = tuple[int, ...]
_LONGEST_GROUP = 1024


@dataclass(frozen=True, slots=True)
class Group:
    """Texts that are computed behind one beginning.

    Parameters
    ----------
    members
        Their places in the list that was grouped.
    shared
        Length of the beginning.
    """

    members: tuple[int, ...]
    shared: int


def common_length(a: Sequence[int], b: Sequence[int]) -> int:
    """How many first tokens two texts share.

    Examples
    --------
    >>> common_length((1, 2, 3), (1, 2, 4, 5))
    2
    """
    return next(
        (i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b))
    )


def grouped(texts: Sequence[Tokens], overhead: int) -> list[Group]:
    """Divide texts into groups with a common beginning, so that the fewest tokens are computed.

    Texts are sorted by their tokens, so that those with a long common beginning are neighbours;
    where to cut is found exactly, by dynamic programming. At least the last token of each text
    stands outside the beginning.

    Parameters
    ----------
    texts
        The texts.
    overhead
        What one more group costs, in tokens.

    Examples
    --------
    >>> texts = [(1, 2, 3, 4), (9, 9, 9, 8), (1, 2, 3, 5), (9, 9, 9, 7)]
    >>> [(group.members, group.shared) for group in grouped(texts, overhead=0)]
    [((0, 2), 3), ((3, 1), 3)]
    >>> [(group.members, group.shared) for group in grouped(texts, overhead=100)]
    [((0, 2, 3, 1), 0)]
    """
    order = sorted(range(len(texts)), key=lambda i: (texts[i], i))
    n = len(order)
    if n == 0:
        return []
    lengths = np.array([len(texts[i]) for i in order], dtype=np.int64)
    # what text j shares with the one before; what it could share with anybody
    near = np.array([0, *(common_length(texts[a], texts[b]) for a, b in itertools.pairwise(order))])
    total = np.concatenate([[0], lengths.cumsum()])
    best = np.zeros(n + 1, dtype=np.int64)
    cut: NDArray[np.int64] = np.zeros(n + 1, dtype=np.int64)
    kept = np.zeros(n + 1, dtype=np.int64)
    for end in range(1, n + 1):
        first = max(0, end - _LONGEST_GROUP)
        starts = np.arange(first, end)
        # shared by texts start..end-1: the least of the lengths and of the neighbours' common ones
        shared = np.minimum.accumulate((lengths[first:end] - 1)[::-1])[::-1].copy()
        if end - first > 1:
            between = np.minimum.accumulate(near[first + 1 : end][::-1])[::-1]
            shared[:-1] = np.minimum(shared[:-1], between)
        shared[-1] = 0  # alone: nothing is computed apart
        cost = total[end] - total[starts] - (end - starts - 1) * shared + overhead
        cost += np.where(shared > 0, overhead, 0)
        whole = best[starts] + cost
        k = int(whole.argmin())
        best[end], cut[end], kept[end] = whole[k], starts[k], shared[k]
    groups = []
    end = n
    while end > 0:
        start = int(cut[end])
        groups.append(Group(tuple(order[start:end]), int(kept[end])))
        end = start
    return groups[::-1]


class PrefixCache:
    """Beginnings that were computed, the least recently used ones dropped first.

    Parameters
    ----------
    compute
        Given what is known of a text, how many of its tokens that are, and the text: its rows.
    limit
        Most bytes that are kept.
    """

    def __init__(self, compute: Callable[[KvRows | None, int, Tokens], KvRows], limit: int) -> None:
        self._compute, self._limit = compute, limit
        self._known: OrderedDict[Tokens, KvRows] = OrderedDict()

    def get(self, text: Tokens) -> tuple[KvRows, int]:
        """The rows of a text, and how many of its tokens had been computed before."""
        found, shared = self.longest(text)
        if found is not None and shared == len(text):
            return self._known[found], shared
        known = None if found is None else self._known[found]
        rows = self._compute(known, shared, text)
        if found is not None and shared == len(found):
            del self._known[found]  # the longer text holds it
        self._known[text] = rows
        self._drop()
        return rows, shared

    def longest(self, text: Tokens) -> tuple[Tokens | None, int]:
        """The known text that shares the most tokens with this one, and how many."""
        best: Tokens | None = None
        most = 0
        for known in self._known:
            shared = common_length(known, text)
            if shared > most:
                best, most = known, shared
        if best is not None:
            self._known.move_to_end(best)
        return best, most

    def clear(self) -> None:
        """Forget all."""
        self._known.clear()

    def _drop(self) -> None:
        while len(self._known) > 1 and sum(kv.nbytes for kv in self._known.values()) > self._limit:
            self._known.popitem(last=False)
