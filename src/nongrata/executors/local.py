"""Engines in this process."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from types import TracebackType
from typing import Self

from nongrata.asking import Asking, Watcher
from nongrata.engines import Engine, open_engine
from nongrata.missing import Missing
from nongrata.model_specs import ModelSpec
from nongrata.plan import Plan
from nongrata.run_folder import RunContent
from nongrata.store import Store


class LocalExecutor:
    """One engine at a time, in this process."""

    def open(
        self,
        spec: ModelSpec,
        content: RunContent,  # noqa: ARG002
        plan: Plan,
        base: Path,
        watcher: Watcher,
    ) -> AbstractContextManager[Engine]:
        """Open a model's engine."""
        return open_engine(spec, plan, base, notify=watcher.note)

    def asking(
        self,
        engine: Engine,
        plan: Plan,
        missing: Missing,
        store: Store,
        watcher: Watcher,
        model: str,
    ) -> Asking:
        """Ask it block by block."""
        return Asking(engine, plan, missing, store, watcher, model)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        return None
