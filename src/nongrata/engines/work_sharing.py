"""Dividing an ordered list of work among lanes, so that neighbours stay together and none idles."""

from __future__ import annotations

import threading
from collections.abc import Sequence

_WORTH_DIVIDING = 8


class SharedWork:
    """Items 0 .. n-1, dealt to lanes as contiguous runs; a lane that runs dry takes from another.

    A lane keeps what it computed for the item before (a prompt's prefix), so each lane works
    through neighbours. An idle lane takes the further half of the longest run that is left, which
    costs one lost prefix, and lets a slow core delay nobody. The last few requests of one prompt
    are not divided: computing the prompt again would cost more than waiting.

    Parameters
    ----------
    same
        Whether each item belongs with the one before it (the same prompt at another temperature);
        runs are not cut there if another cut is near.
    lanes
        Number of lanes.

    Examples
    --------
    >>> work = SharedWork([False] * 6, lanes=2)
    >>> [work.take(0) for _ in range(4)], [work.take(1) for _ in range(3)]
    ([0, 1, 2, 4], [3, 5, None])
    """

    def __init__(self, same: Sequence[bool], lanes: int) -> None:
        self._same = same
        self._lock = threading.Lock()
        cuts = [self._cut(0, len(same), len(same) * lane // lanes) for lane in range(lanes)]
        self._runs = [list(run) for run in zip(cuts, [*cuts[1:], len(same)], strict=True)]

    def take(self, lane: int) -> int | None:
        """The next item of a lane; None when no work is left that is worth taking over."""
        with self._lock:
            run = self._runs[lane]
            if run[0] >= run[1] and not self._take_over(run):
                return None
            run[0] += 1
            return run[0] - 1

    def _take_over(self, run: list[int]) -> bool:
        """Give an empty run the further half of the longest one that is worth dividing."""
        for other in sorted(self._runs, key=lambda other: other[0] - other[1]):
            left = other[1] - other[0]
            if left <= 0:
                break
            middle = self._cut(other[0], other[1], other[0] + left // 2)
            if middle < other[1] and (left >= _WORTH_DIVIDING or not self._same[middle]):
                run[0], run[1] = middle, other[1]
                other[1] = middle
                return True
        return False

    def _cut(self, low: int, high: int, wanted: int) -> int:
        """The place nearest before `wanted` (or else just after it) where a run may be cut."""
        if wanted <= low:
            return low
        for place in range(wanted, low, -1):
            if place == high or not self._same[place]:
                return place
        for place in range(wanted + 1, high):
            if not self._same[place]:
                return place
        return wanted
