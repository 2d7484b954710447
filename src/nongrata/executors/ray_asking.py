"""Ask the workers of a cluster for what is missing, and commit it as it comes."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import cast

from nongrata.asking import BLOCK_SECONDS, Asking, Watcher, cost_of
from nongrata.engines import Engine
from nongrata.executors.ray_blocks import Block, Member, Returned
from nongrata.executors.ray_pool import RayPool
from nongrata.keys import U64
from nongrata.missing import LARGEST_BLOCK, Missing
from nongrata.plan import READINGS, Plan, Requests
from nongrata.store import Store

_QUEUE = 2
_SMALLEST = 1024


class RayAsking(Asking):
    """One model's missing requests, asked on a cluster and committed here.

    Blocks are cut here and committed here, in whatever order they come back; a block is cut for
    the worker that gets it, for about ten seconds of its time, and smaller towards the end, so that
    no worker is left alone with a long one.
    """

    def __init__(
        self,
        pool: RayPool,
        plan: Plan,
        missing: Missing,
        store: Store,
        watcher: Watcher,
        model: str,
    ) -> None:
        super().__init__(cast("Engine", pool), plan, missing, store, watcher, model)
        self.pool = pool
        self._left = missing.total
        self._cut = 1
        self._blocks: Iterator[tuple[U64, Requests]] = missing.blocks(lambda: self._cut)
        self._costs = {reading: cost_of(plan, reading) for reading in READINGS}

    def run(self) -> None:
        """Ask until nothing is missing."""
        missing, costs = self.missing, self._costs
        total = sum(costs[reading] * self.plan.size(reading) for reading in READINGS)
        left = sum(costs[reading] * count for reading, count in missing.by_reading.items())
        done = missing.requests - missing.total
        self.watcher.begin(self.model, missing.requests, done, total, total - left)
        started = time.perf_counter()
        waiting: deque[Future[None]] = deque()
        try:
            with ThreadPoolExecutor(1, "commit") as writer:
                for returned in self.pool.answers(self._take, self._advance):
                    block = returned.block
                    self._advance(block, len(block.requests) - block.shown)
                    self._fit(returned)
                    waiting.append(writer.submit(self._commit, block.requests, returned.rows))
                    while len(waiting) >= _QUEUE:
                        waiting.popleft().result()
                while waiting:
                    waiting.popleft().result()
        finally:
            self.seconds = time.perf_counter() - started
            self.watcher.finish()

    def _take(self, member: Member) -> Block | None:
        # also for those that are still starting: the first to be ready must not get it all
        share = -(-self._left // (2 * max(self.pool.ready, self.pool.wanted)))
        least = min(self.pool.block, _SMALLEST)
        self._cut = max(1, min(member.length, LARGEST_BLOCK, max(share, least)))
        found = next(self._blocks, None)
        if found is None:
            return None
        keys, requests = found
        self._left -= len(requests)
        return Block(keys, requests)

    def _advance(self, block: Block, count: int) -> None:
        self.watcher.advance(count, count * self._costs[block.requests.reading])

    def _fit(self, returned: Returned) -> None:
        """Fit the worker's next blocks to its speed."""
        member, n = returned.member, len(returned.block.requests)
        if self.pool.block >= LARGEST_BLOCK or returned.seconds <= 0:
            return
        wanted = n / returned.seconds * BLOCK_SECONDS
        step = min(max(wanted, member.length / 2), member.length * 2)
        member.length = int(min(max(step, self.pool.block), LARGEST_BLOCK))
