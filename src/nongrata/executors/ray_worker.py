"""What runs on the machines of a cluster: one engine, and blocks of requests for it.

Whatever goes wrong for a reason that a user can mend comes back as a value, since an exception
would lose its sentence on the way.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nongrata._version import __version__
from nongrata.asking import answer_block
from nongrata.engines import Capabilities, open_engine
from nongrata.errors import NongrataError
from nongrata.keys import U64, model_digest
from nongrata.model_specs import LlamaCppSpec, ModelSpec
from nongrata.plan import Requests
from nongrata.rows import AnswerReader
from nongrata.run_folder import RunContent, prompts_digest

_TICK_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Job:
    """What a worker is to open.

    Parameters
    ----------
    spec
        The model.
    content
        What the run asks.
    base
        Folder that relative paths in the description start from, on every machine.
    cores
        How many cores the worker was given.
    """

    spec: ModelSpec
    content: RunContent
    base: Path
    cores: int


@dataclass(frozen=True, slots=True)
class Opened:
    """A worker whose engine is ready.

    Parameters
    ----------
    host, process, gpus
        Where it is.
    version, prompts
        This package's version there, and the hash of the prompts that it has built.
    kind, capabilities, identity, provenance, block
        The engine's.
    seconds
        How long opening took.
    """

    host: str
    process: int
    gpus: tuple[str, ...]
    version: str
    prompts: str
    kind: str
    capabilities: Capabilities
    identity: Mapping[str, Any]
    provenance: Mapping[str, Any]
    block: int
    seconds: float

    @property
    def digest(self) -> bytes:
        """Hash of the engine's identity."""
        return model_digest(self.identity)

    def as_provenance(self) -> dict[str, Any]:
        """What is recorded of it."""
        return {
            "host": self.host,
            "process": self.process,
            "gpus": list(self.gpus),
            "seconds_to_open": round(self.seconds, 3),
            **self.provenance,
        }


@dataclass(frozen=True, slots=True)
class Refused:
    """What a worker could not do, as a `NongrataError` says it.

    Parameters
    ----------
    what, where, fix
        The error's.
    host
        On which machine.
    """

    what: str
    where: str | None
    fix: str | None
    host: str

    @classmethod
    def of(cls, error: NongrataError) -> Refused:
        """The value of an error."""
        return cls(error.what, error.where, error.fix, socket.gethostname())

    def error(self) -> NongrataError:
        """The error again, with the machine's name."""
        return NongrataError(f"on {self.host}: {self.what}", where=self.where, fix=self.fix)


@dataclass(frozen=True, slots=True)
class Answered:
    """A block's rows, and how long they took."""

    rows: Any
    seconds: float


class Worker:
    """One engine; a Ray actor.

    Parameters
    ----------
    job
        What to open.
    tell
        A handle of a `Ticker`, told of progress.
    """

    def __init__(self, job: Job, tell: Any) -> None:
        self._job = job
        self._tell = tell

    def open(self) -> Opened | Refused:
        """Open the engine."""
        started = time.perf_counter()
        job = self._job
        try:
            self._plan = job.content.plan()
            self._reader = AnswerReader(self._plan.prompts)
            engine = open_engine(fitted(job.spec, job.cores), self._plan, job.base)
            self._engine = engine.__enter__()
        except NongrataError as error:
            return Refused.of(error)
        return Opened(
            host=socket.gethostname(),
            process=os.getpid(),
            gpus=_gpus(),
            version=__version__,
            prompts=prompts_digest(self._plan.prompts),
            kind=self._engine.kind,
            capabilities=self._engine.capabilities,
            identity=dict(self._engine.identity),
            provenance=dict(self._engine.provenance),
            block=self._engine.block,
            seconds=time.perf_counter() - started,
        )

    def answer(self, attempt: int, keys: U64, requests: Requests) -> Answered | Refused:
        """Answer a block."""
        started = time.perf_counter()
        ticks = _Ticks(lambda count: self._tell.add.remote(attempt, count))
        model = self._job.spec.id
        try:
            rows = answer_block(
                self._engine, self._plan, self._reader, model, keys, requests, ticks
            )
        except NongrataError as error:
            return Refused.of(error)
        return Answered(rows, time.perf_counter() - started)

    def close(self) -> None:
        """Close the engine."""
        self._engine.__exit__(None, None, None)


class Ticker:
    """Collects the progress of all workers; a Ray actor beside the driver."""

    def __init__(self) -> None:
        self._counts: dict[int, int] = {}

    def add(self, attempt: int, count: int) -> None:
        """Some requests of an attempt at a block were answered."""
        self._counts[attempt] = self._counts.get(attempt, 0) + count

    def take(self) -> dict[int, int]:
        """What came since the last time."""
        counts, self._counts = self._counts, {}
        return counts


class _Ticks:
    """Gathers an engine's ticks, so that only a few messages a second are sent."""

    def __init__(self, send: Callable[[int], Any]) -> None:
        self._send = send
        self._count = 0
        self._lock = threading.Lock()  # engines tick from several threads
        self._next = time.monotonic() + _TICK_SECONDS

    def __call__(self, count: int) -> None:
        with self._lock:
            self._count += count
            now = time.monotonic()
            if now < self._next:
                return
            self._next = now + _TICK_SECONDS
            count, self._count = self._count, 0
        self._send(count)


def fitted(spec: ModelSpec, cores: int) -> ModelSpec:
    """The description with no more parallel servers than the worker has cores.

    Examples
    --------
    >>> spec = LlamaCppSpec(id="m", engine="llamacpp", builtin="smollm2-135m-instruct")
    >>> fitted(spec, 2).workers
    2
    """
    if isinstance(spec, LlamaCppSpec) and spec.workers is None:
        return spec.model_copy(update={"workers": max(1, cores)})
    return spec


def _gpus() -> tuple[str, ...]:
    """Numbers of the GPUs that the worker was given."""
    import ray

    if not ray.is_initialized():  # asking would start a cluster
        return ()
    return tuple(str(number) for number in ray.get_gpu_ids())
