"""Engines of one model on a Ray cluster: opened, fed, replaced when they are lost.

Workers that are still starting, or wait for a machine that the cluster has yet to add, join when
they are ready. A worker that dies, with its machine or alone, is replaced, and its blocks are given
to others. The driver keeps what was asked; nothing a worker knew is needed to go on.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

from nongrata.engines import Capabilities
from nongrata.errors import NongrataError
from nongrata.executors.options import RayOptions
from nongrata.executors.ray_blocks import Block, Member, Returned, reason_of
from nongrata.executors.ray_cluster import cluster_errors, describe, room
from nongrata.executors.ray_worker import Answered, Job, Opened, Refused, Ticker, Worker

_AHEAD = 2
"""Blocks a worker is given at once: one to answer, and one so that it need not wait."""
_TRIES = 3
_POLL_SECONDS = 0.5
_PATIENCE_SECONDS = 15.0
_CLOSE_SECONDS = 10.0


class RayPool:
    """Several engines that are one and the same; has an engine's facts.

    Parameters
    ----------
    job
        What each worker opens.
    prompts
        Hash of the prompts as the driver has built them.
    options
        How many, and what each needs.
    note
        Told what is worth a line.
    """

    def __init__(
        self, job: Job, prompts: str, options: RayOptions, note: Callable[[str], None]
    ) -> None:
        import ray

        self._note = note
        self._options = options
        self._prompts = prompts
        self.wanted = options.workers or max(1, room(options))
        self._job = ray.put(job)
        self._worker = ray.remote(Worker).options(
            num_cpus=options.cpus_per_worker,
            num_gpus=options.gpus_per_worker,
            max_restarts=0,
            scheduling_strategy="SPREAD",
        )
        self._ticker: Any = ray.remote(Ticker).options(num_cpus=0, max_restarts=-1).remote()
        self._progress: Any = None
        self._looked = 0.0
        self._members: list[Member] = []
        self._calls: dict[Any, tuple[Member, int]] = {}  # attempt -1: it is opening
        self._blocks: dict[int, Block] = {}
        self._again: deque[Block] = deque()
        self._attempts = 0
        self._deaths = 0  # since a worker has last done something
        self._lost = 0
        self._seen: list[Opened] = []

    # --- what an engine has

    @property
    def first(self) -> Opened:
        """The worker that was ready first; all others are as it is."""
        return self._seen[0]

    @property
    def kind(self) -> str:
        """Name of the engine."""
        return self.first.kind

    @property
    def capabilities(self) -> Capabilities:
        """What the engine can do."""
        return self.first.capabilities

    @property
    def identity(self) -> Mapping[str, Any]:
        """What can change an answer: the same on all workers."""
        return self.first.identity

    @property
    def block(self) -> int:
        """How many requests an engine likes to be given at once."""
        return self.first.block

    @property
    def provenance(self) -> Mapping[str, Any]:
        """Every worker that took part."""
        import ray

        return {
            "executor": "ray",
            "ray": ray.__version__,
            "per_worker": self._options.needs(),
            "workers_lost": self._lost,
            "workers": [opened.as_provenance() for opened in self._seen],
        }

    @property
    def ready(self) -> int:
        """How many workers can be given blocks."""
        return sum(member.opened is not None for member in self._members)

    def __enter__(self) -> Self:
        try:
            with cluster_errors():
                for _ in range(self.wanted):
                    self._hire()
                self._wait_for_one()
        except BaseException:
            self._dismiss()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        import ray

        if kind is None:
            idle = [m.actor.close.remote() for m in self._members if m.opened is not None]
            with suppress(Exception):
                ray.wait(idle, num_returns=len(idle), timeout=_CLOSE_SECONDS)
        self._dismiss()

    def _dismiss(self) -> None:
        import ray

        for member in self._members:
            with suppress(Exception):
                ray.kill(member.actor)
        with suppress(Exception):
            ray.kill(self._ticker)
        self._members.clear()
        self._calls.clear()

    def _hire(self) -> None:
        member = Member(self._worker.remote(self._job, self._ticker))
        self._members.append(member)
        self._calls[member.actor.open.remote()] = (member, -1)

    def _wait_for_one(self) -> None:
        began = time.monotonic()
        told = began
        while not self.ready:
            for _ in self._settled(_POLL_SECONDS):
                pass
            now = time.monotonic()
            if now - told > _PATIENCE_SECONDS and not self.ready:
                told = now
                self._note(
                    f"Ray: waiting for the first of {self.wanted} workers "
                    f"({self._options.needs()} each); the cluster has {describe()}"
                )

    # --- blocks

    def answers(
        self,
        take: Callable[[Member], Block | None],
        advance: Callable[[Block, int], None],
    ) -> Iterator[Returned]:
        """Have blocks answered; yield them as they come, in any order.

        No more than two blocks a worker are on their way at once, and none is fetched before the
        one before it was taken.

        Parameters
        ----------
        take
            Gives the next block for a worker; None when there is none left.
        advance
            Told how many more requests of a block were answered; fewer than none if an attempt came
            to nothing.
        """
        while True:
            with cluster_errors():
                self._feed(take)
            if not self._blocks and not self._again:
                return
            with cluster_errors():
                self._look(advance)
            yield from self._settled(_POLL_SECONDS, advance)
            if not self.ready and time.monotonic() - self._looked > _PATIENCE_SECONDS:
                self._look(advance)
                self._note(f"Ray: no worker is left; waiting for room, {describe()}")

    def _feed(self, take: Callable[[Member], Block | None]) -> None:
        # one each before anybody gets a second
        for depth in range(1, _AHEAD + 1):
            for member in self._members:
                if member.opened is None or len(member.flying) >= depth:
                    continue
                block = self._again.popleft() if self._again else take(member)
                if block is None:
                    return
                self._attempts += 1
                number = self._attempts
                self._blocks[number] = block
                member.flying.add(number)
                call = member.actor.answer.remote(number, block.keys, block.requests)
                self._calls[call] = (member, number)

    def _look(self, advance: Callable[[Block, int], None]) -> None:
        import ray

        now = time.monotonic()
        if self._progress is None:
            if now - self._looked >= _POLL_SECONDS:
                self._progress, self._looked = self._ticker.take.remote(), now
            return
        if not ray.wait([self._progress], timeout=0)[0]:
            return
        with suppress(ray.exceptions.RayError):  # it is only progress
            for number, count in ray.get(self._progress).items():
                block = self._blocks.get(number)
                if block is not None:
                    block.shown += count
                    advance(block, count)
        self._progress = None

    def _settled(
        self, timeout: float, advance: Callable[[Block, int], None] = lambda *_: None
    ) -> Iterator[Returned]:
        """Deal with calls that have ended; yield those that were blocks."""
        import ray

        with cluster_errors():
            done, _ = ray.wait(list(self._calls), num_returns=1, timeout=timeout)
        for call in done:
            member, number = self._calls.pop(call, (None, 0))
            if member is None:  # it went with its worker
                continue
            with cluster_errors():
                value = self._value(call, member, number, advance)
            del call
            if isinstance(value, Opened):
                self._join(member, value)
            elif isinstance(value, Answered):
                self._deaths = 0
                member.flying.discard(number)
                block = self._blocks.pop(number)
                yield Returned(block, value.rows, member, value.seconds)

    def _value(
        self, call: Any, member: Member, number: int, advance: Callable[[Block, int], None]
    ) -> Opened | Answered | None:
        import ray
        from ray import exceptions as gone

        try:
            value = ray.get(call)
        except gone.RayTaskError as error:
            cause = error.cause
            raise (cause if isinstance(cause, Exception) else error) from None
        except gone.ObjectStoreFullError:
            raise NongrataError(
                "Ray's object store is full", fix="give it more memory, or use fewer workers"
            ) from None
        except (
            gone.RayActorError,
            gone.ObjectLostError,
            gone.NodeDiedError,
            gone.WorkerCrashedError,
            gone.OutOfMemoryError,
            gone.TaskCancelledError,
        ) as error:
            self._bury(member, advance, reason_of(error))
            return None
        except (gone.ActorUnschedulableError, gone.TaskUnschedulableError) as error:
            raise NongrataError(
                f"no machine of the Ray cluster can hold a worker ({reason_of(error)})",
                fix=f"each needs {self._options.needs()}: ask for less, or add a machine",
            ) from None
        if not isinstance(value, Refused):
            return value  # type: ignore[no-any-return]
        if number < 0:
            raise value.error()
        # the engine stopped working: another one may do better
        if self._blocks[number].tries + 1 >= _TRIES:
            raise value.error()
        self._bury(member, advance, value.what)
        return None

    def _join(self, member: Member, opened: Opened) -> None:
        self._refuse_other(opened)
        member.opened, member.length = opened, opened.block
        self._deaths = 0
        self._seen.append(opened)

    def _refuse_other(self, opened: Opened) -> None:
        """Refuse to mix workers that are not one and the same."""
        from nongrata._version import __version__

        if opened.version != __version__:
            raise NongrataError(
                f"{opened.host} has nongrata {opened.version}, this process {__version__}",
                fix="install the same version on every machine",
            )
        if opened.prompts != self._prompts:
            raise NongrataError(
                f"{opened.host} builds other prompts of this study than this process",
                fix="install the same versions on every machine",
            )
        if self._seen and opened.digest != self.first.digest:
            one, two = self.first.identity, opened.identity
            key = next(k for k in sorted(one.keys() | two.keys()) if one.get(k) != two.get(k))
            raise NongrataError(
                f"the workers are not one model: {key} is {one.get(key)!r} on {self.first.host} "
                f"and {two.get(key)!r} on {opened.host}",
                fix="let all machines have the same model, hardware and versions",
            )

    def _bury(self, member: Member, advance: Callable[[Block, int], None], reason: str) -> None:
        """Replace a worker that is gone, and ask its blocks again."""
        import ray

        if member not in self._members:
            return
        self._members.remove(member)
        self._calls = {call: at for call, at in self._calls.items() if at[0] is not member}
        with suppress(Exception):
            ray.kill(member.actor)
        self._lost += 1
        self._deaths += 1
        where = (
            "a starting worker" if member.opened is None else f"a worker on {member.opened.host}"
        )
        for attempt in sorted(member.flying):
            block = self._blocks.pop(attempt)
            # only the one it was at can be to blame
            block.tries += attempt == min(member.flying)
            advance(block, -block.shown)
            block.shown = 0
            if block.tries >= _TRIES:
                raise NongrataError(
                    f"{_TRIES} workers were lost over the same {len(block.requests):,} requests, "
                    f"the last with: {reason}",
                    fix="give a worker more memory, or see Ray's logs of that machine",
                )
            self._again.append(block)
        if self._deaths > 2 * self.wanted + _TRIES:
            raise NongrataError(
                f"worker after worker is lost, the last with: {reason}",
                fix="see Ray's logs; the same command goes on from what is committed",
            )
        again = f"; {len(member.flying)} blocks are asked again" if member.flying else ""
        self._note(f"Ray: {where} was lost ({reason}){again}")
        self._hire()
