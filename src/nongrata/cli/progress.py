"""How a run's progress is shown: a live bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskID, TextColumn
from rich.text import Text

from nongrata.terminal import visible

_FIRST_LINE = 2.0
_LINE_EVERY = 10.0


class RunProgress:
    """A `nongrata.runner.Watcher` for people.

    Parameters
    ----------
    console
        Where to draw; standard error, so that results can be piped.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._lock = threading.Lock()
        self._progress: Progress | None = None
        self._task: TaskID | None = None
        self._reset("", 0, 0, 0.0, 0.0)

    def _reset(self, model: str, requests: int, done: int, cost: float, cost_done: float) -> None:
        self._model = model
        self._requests, self._done, self._done_before = requests, done, done
        self._cost, self._cost_done, self._cost_before = cost, cost_done, cost_done
        self._answers = 0
        self._outcomes: Counter[str] = Counter()
        self._started = time.monotonic()
        self._next_line = self._started + _FIRST_LINE

    def note(self, text: str) -> None:
        """Print a line."""
        self._console.print(visible(text), soft_wrap=True)

    def begin(self, model: str, requests: int, done: int, cost: float, cost_done: float) -> None:
        """Start a model's bar."""
        self._reset(model, requests, done, cost, cost_done)
        if done:
            self.note(f"{model}: going on, {done:,} of {requests:,} requests are done")
        if self._console.is_terminal:
            self._progress = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                _Report(self),
                console=self._console,
                transient=True,
            )
            self._progress.start()
            self._task = self._progress.add_task(visible(model), total=cost)
            self._progress.update(self._task, completed=cost_done)

    def advance(self, requests: int, cost: float) -> None:
        """Some requests were answered; may be called from several threads."""
        with self._lock:
            self._done += requests
            self._cost_done += cost
            if self._progress is not None and self._task is not None:
                self._progress.update(self._task, completed=self._cost_done)
            elif time.monotonic() >= self._next_line:
                elapsed = time.monotonic() - self._started
                self._next_line = time.monotonic() + min(_LINE_EVERY, elapsed)
                self.note(f"{self._model}: {self.report()}")

    def committed(self, answers: int, outcomes: dict[str, int]) -> None:
        """A block was committed."""
        with self._lock:
            self._answers += answers
            self._outcomes.update(outcomes)

    def finish(self) -> None:
        """Remove the bar."""
        if self._progress is not None:
            self._progress.stop()
            self._progress, self._task = None, None

    def report(self) -> str:
        """Done, rate, time left and outcomes, on one line."""
        seconds = max(time.monotonic() - self._started, 1e-9)
        rate = (self._done - self._done_before) / seconds
        spent = self._cost_done - self._cost_before
        left = max(self._cost - self._cost_done, 0.0) / spent * seconds if spent > 0 else None
        parts = [
            f"{self._done:,}/{self._requests:,} requests",
            f"{rate:,.1f}/s",
            f"{_duration(left)} left" if left is not None else "time left unknown",
            f"{self._answers:,} answers stored",
        ]
        read = sum(self._outcomes.values())
        if read:
            share = self._outcomes.get("unparsed", 0) / read
            parts.append(f"{share:.0%} of texts unparsed")
        if self._outcomes.get("error"):
            parts.append(f"{self._outcomes['error']:,} errors")
        return ", ".join(parts)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.finish()


class _Report(ProgressColumn):
    """The progress line, beside the bar."""

    def __init__(self, progress: RunProgress) -> None:
        super().__init__()
        self._source = progress

    def render(self, task: Task) -> Text:  # noqa: ARG002
        return Text(self._source.report())


class StepProgress:
    """Steps that may take long: a bar on a terminal, a line after two seconds elsewhere.

    Parameters
    ----------
    console
        Where to draw.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._progress: Progress | None = None
        self._started = time.monotonic()

    def step(self, name: str) -> Callable[[int, int], None]:
        """Begin a step; what is returned is told how many of how many items are done."""
        self._started = time.monotonic()
        if self._progress is None:
            next_line = self._started + _FIRST_LINE

            def say(done: int, total: int) -> None:
                nonlocal next_line
                now = time.monotonic()
                if now >= next_line and done:
                    next_line = now + _LINE_EVERY
                    left = (total - done) / done * (now - self._started)
                    self._console.print(
                        f"{name}: {done:,}/{total:,}, {_duration(left)} left", soft_wrap=True
                    )

            return say
        for task in self._progress.task_ids:
            self._progress.remove_task(task)
        progress, task = self._progress, self._progress.add_task(name, total=None)

        def update(done: int, total: int) -> None:
            progress.update(task, completed=done, total=total)

        return update

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._progress = Progress(console=self._console, transient=True)
            self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._progress is not None:
            self._progress.stop()


def _duration(seconds: float) -> str:
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
