"""The requests of a plan that are not committed yet: found by key, never by counting."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from nongrata.factors import Reading
from nongrata.keys import U64, request_keys
from nongrata.plan import READINGS, Plan, Requests
from nongrata.prompts import as_words
from nongrata.store import DoneKeys

LARGEST_BLOCK = 65_536


@dataclass
class Missing:
    """The requests of a plan that are not committed, slice by slice.

    Parameters
    ----------
    plan
        The plan.
    digest
        Hash of the model's identity, part of every key.
    done
        Keys of what is committed.

    Attributes
    ----------
    requests
        All requests of the plan.
    by_reading
        Those that are missing, by reading.
    """

    plan: Plan
    digest: bytes
    done: DoneKeys
    requests: int = field(init=False)
    by_reading: dict[Reading, int] = field(init=False)

    def __post_init__(self) -> None:
        self.requests = sum(self.plan.size(reading) for reading in READINGS)
        self.by_reading = {reading: self.plan.size(reading) for reading in READINGS}
        # counting what is missing needs every key only if something was done before
        if len(self.done):
            self.by_reading = {
                reading: sum(len(part) for _, part in self._of(reading, LARGEST_BLOCK))
                for reading in READINGS
            }

    @property
    def total(self) -> int:
        """Number of requests that are missing."""
        return sum(self.by_reading.values())

    def keys(self, requests: Requests) -> U64:
        """Keys of requests, uint64, shape (n, 2)."""
        prompts = self.plan.prompts
        shown = prompts.presentation_of[requests.skeleton]
        return request_keys(
            as_words([self.digest])[0],
            prompts.skeleton_digests[requests.skeleton],
            prompts.block_digests[shown, requests.question],
            requests.temperature,
            requests.replicate,
            self.plan.study.seed,
        )

    def blocks(self, length: Callable[[], int]) -> Iterator[tuple[U64, Requests]]:
        """Missing requests with their keys, about ``length()`` at a time, never two readings."""
        for reading in READINGS:
            position, size = 0, self.plan.size(reading)
            while position < size:
                step = max(1, length())
                yield from self._slice(reading, position, position + step)
                position += step

    def _of(self, reading: Reading, length: int) -> Iterator[tuple[U64, Requests]]:
        for start in range(0, self.plan.size(reading), length):
            yield from self._slice(reading, start, start + length)

    def _slice(self, reading: Reading, start: int, stop: int) -> Iterator[tuple[U64, Requests]]:
        requests = self.plan.slice(reading, start, stop)
        keys = self.keys(requests)
        if len(self.done):
            wanted = ~self.done.contains(keys)
            if not wanted.all():
                requests, keys = requests.take(wanted), keys[wanted]
        if len(requests):
            yield keys, requests
