"""What an executor is: it opens a model's engine somewhere, and has it asked."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

from nongrata.asking import Asking, Watcher
from nongrata.engines import Engine
from nongrata.missing import Missing
from nongrata.model_specs import ModelSpec
from nongrata.plan import Plan
from nongrata.run_folder import RunContent
from nongrata.store import Store


class Executor(Protocol):
    """Opens engines and has them asked. A context manager; leaving it frees what it holds."""

    def open(
        self, spec: ModelSpec, content: RunContent, plan: Plan, base: Path, watcher: Watcher
    ) -> AbstractContextManager[Engine]:
        """Open a model's engine, or several that are one and the same.

        Parameters
        ----------
        spec
            The model.
        content, plan
            What the run asks, and the passes that takes.
        base
            Folder that relative paths in the description start from.
        watcher
            Told what takes long.
        """
        ...

    def asking(
        self,
        engine: Engine,
        plan: Plan,
        missing: Missing,
        store: Store,
        watcher: Watcher,
        model: str,
    ) -> Asking:
        """What asks the engine for what is missing."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...
