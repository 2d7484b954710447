"""How many requests are under way at once: as many as the server bears, found out by trying."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections import deque
from collections.abc import Callable

_STRETCH = 2.0
_GAIN = 1.05


class InFlight:
    """A limit that grows while the server keeps up, and is halved when it says no.

    It doubles after every full round of answers until that stops paying, then grows by one a
    round. A round pays if its answers took at most twice as long as in the quickest round, or if
    more of them came a second than in any round before.

    Parameters
    ----------
    most
        Never more than this.
    first
        To begin with.

    Examples
    --------
    >>> limit = InFlight(most=64)
    >>> for i in range(8):
    ...     limit.answered(seconds=1.0, now=float(i))
    >>> limit.now
    8
    >>> limit.refused(sent=8.0, now=9.0)
    >>> limit.now
    4
    """

    def __init__(self, most: int, first: int = 4) -> None:
        self.most = most
        self.now = min(first, most)
        self.highest = self.now
        self._doubling = True
        self._round: list[float] = []
        self._round_began: float | None = None
        self._quickest = float("inf")
        self._best_rate = 0.0
        self._last_cut = float("-inf")

    def answered(self, seconds: float, now: float) -> None:
        """An answer came, so many seconds after it was asked for."""
        if self._round_began is None:
            self._round_began = now - seconds
        self._round.append(seconds)
        if len(self._round) < self.now:
            return
        typical = statistics.median(self._round)
        rate = len(self._round) / max(now - self._round_began, 1e-9)
        pays = typical <= _STRETCH * self._quickest or rate >= _GAIN * self._best_rate
        self._quickest = min(self._quickest, typical)
        self._best_rate = max(self._best_rate, rate)
        self._round, self._round_began = [], now
        if not pays:
            self._doubling = False
            return
        self.now = min(self.now * 2 if self._doubling else self.now + 1, self.most)
        self.highest = max(self.highest, self.now)

    def refused(self, sent: float, now: float) -> None:
        """The server was too busy for a request sent at a time.

        Requests that were already under way at the last halving do not count again.
        """
        if sent < self._last_cut:
            return
        self._doubling = False
        self._last_cut = now
        self._round, self._round_began = [], None
        self.now = max(1, self.now // 2)


class Lanes:
    """Lets as many requests through as the limit allows, in the order in which they came.

    To be used from one event loop.

    Parameters
    ----------
    limit
        The limit.
    clock
        The time in seconds.
    """

    def __init__(self, limit: InFlight, clock: Callable[[], float] = time.monotonic) -> None:
        self.limit = limit
        self.busy = 0
        self._clock = clock
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._closed_until = float("-inf")

    async def enter(self) -> None:
        """Wait for a free lane."""
        while True:
            while (pause := self._closed_until - self._clock()) > 0:
                await asyncio.sleep(pause)
            if self.busy < self.limit.now:
                break
            turn = asyncio.get_running_loop().create_future()
            self._waiting.append(turn)
            try:
                await turn
            except asyncio.CancelledError:
                if turn.done() and not turn.cancelled():
                    self._wake()  # the turn was given, and is passed on
                raise
        self.busy += 1

    def leave(self) -> None:
        """Give a lane back."""
        self.busy -= 1
        for _ in range(self.limit.now - self.busy):
            self._wake()

    def close_for(self, seconds: float) -> None:
        """Let nobody in for some seconds, because the server asked for it."""
        self._closed_until = max(self._closed_until, self._clock() + seconds)

    def _wake(self) -> None:
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return
