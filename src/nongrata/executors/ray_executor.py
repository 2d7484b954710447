"""Engines on the machines of a Ray cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self, cast

from nongrata.asking import Asking, Watcher
from nongrata.engines import Engine
from nongrata.executors.options import RayOptions
from nongrata.executors.ray_asking import RayAsking
from nongrata.executors.ray_cluster import connect, disconnect
from nongrata.executors.ray_pool import RayPool
from nongrata.executors.ray_worker import Job
from nongrata.missing import Missing
from nongrata.model_specs import ModelSpec
from nongrata.plan import Plan
from nongrata.run_folder import RunContent, prompts_digest
from nongrata.store import Store


class RayExecutor:
    """One engine a worker, on the machines of a Ray cluster.

    Parameters
    ----------
    options
        Which cluster, how many workers and what each needs.
    """

    def __init__(self, options: RayOptions) -> None:
        self.options = options
        self._own = False
        self._connected = False

    def open(
        self, spec: ModelSpec, content: RunContent, plan: Plan, base: Path, watcher: Watcher
    ) -> AbstractContextManager[Engine]:
        """Open a model's engine on every worker; ready as soon as one of them is."""
        return self._opened(spec, content, plan, base, watcher)

    @contextmanager
    def _opened(
        self, spec: ModelSpec, content: RunContent, plan: Plan, base: Path, watcher: Watcher
    ) -> Iterator[Engine]:
        if not self._connected:  # not before there is something to ask
            self._own = connect(self.options, watcher.note)
            self._connected = True
        cores = int(self.options.cpus_per_worker)
        job = Job(spec, content, base.absolute(), cores)
        with RayPool(job, prompts_digest(plan.prompts), self.options, watcher.note) as pool:
            # what asks it is made by `asking`; of the engine only its facts are used
            yield cast("Engine", pool)

    def asking(
        self,
        engine: Engine,
        plan: Plan,
        missing: Missing,
        store: Store,
        watcher: Watcher,
        model: str,
    ) -> Asking:
        """Ask the workers, and commit here."""
        return RayAsking(cast("RayPool", engine), plan, missing, store, watcher, model)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._own:
            disconnect()
        self._own = self._connected = False
