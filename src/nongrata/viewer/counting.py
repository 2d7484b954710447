"""Figures of all questions, counted beside the serving of pages, a shard at a time.

What is read for it (two bytes a distinct answer) is kept where it is small: then a question's
answers need not be looked for in the shards again.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nongrata.errors import NongrataError
from nongrata.question_answers import QuestionAnswers, plan_of
from nongrata.response_tensors import Filler
from nongrata.viewer.flips import QuestionCounts, count_questions
from nongrata.viewer.run_on_disk import RunOnDisk, RunState

_MOST_BYTES = 96 * 2**20
"""Of the tensors at one time; a larger run is counted a range of questions at a time."""
_MOST_KEPT = 128 * 2**20
"""Of the answers that are kept, all models together."""
_PATIENCE = 0.5
_QUIET = 0.3
"""Seconds without a request before counting begins: a reader's first pages come first."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a count is.

    Parameters
    ----------
    done
        Share of the rows that have been read, 0 to 1.
    counts
        The newest figures there are; None before the first count is complete.
    current
        Whether they hold all that is committed.
    trouble
        Why the last count ended early, if it did.
    """

    done: float
    counts: QuestionCounts | None
    current: bool
    trouble: str | None = None


@dataclass
class _Count:
    """What one model's counting has come to."""

    state: RunState | None = None
    counts: QuestionCounts | None = None
    of: RunState | None = None
    kept: _Kept | None = None
    done: float = 0.0
    trouble: str | None = None


@dataclass(frozen=True, slots=True)
class _Kept:
    """One model's answers by distinct cell, replicate and question."""

    outcome: NDArray[np.uint8]
    option: NDArray[np.int8]
    cell_of: NDArray[np.int32]


class Counting:
    """Counts each model's questions in a thread of its own, when somebody wants to know.

    Parameters
    ----------
    run
        The run.
    """

    def __init__(self, run: RunOnDisk) -> None:
        self._run = run
        self._by_model: dict[str, _Count] = {}
        self._wanted: list[str] = []
        self._wake = threading.Condition()
        self._asked = 0
        self._last = 0.0
        self._thread: threading.Thread | None = None
        self._ended = False

    def of(self, model: str, state: RunState) -> Progress:
        """How far the figures of a model are; starts counting if they are not those of `state`."""
        with self._wake:
            count = self._by_model.setdefault(model, _Count())
            current = _same(count.of, state)
            if not current and model not in self._wanted and count.state is not state:
                self._wanted.append(model)
                self._begin()
                self._wake.notify_all()
            same = count.of is not None and len(count.of.content.questions) == len(
                state.content.questions
            )
            counts = count.counts if same else None
            return Progress(1.0 if current else count.done, counts, current, count.trouble)

    def answers(self, model: str, state: RunState, place: int) -> QuestionAnswers | None:
        """A question's answers, if they are at hand."""
        with self._wake:
            count = self._by_model.get(model)
            if count is None or count.kept is None or not _same(count.of, state):
                return None
            kept = count.kept
        return QuestionAnswers(
            outcome=kept.outcome[:, :, place][kept.cell_of],
            option=kept.option[:, :, place][kept.cell_of],
            shards=tuple(state.paths(model)),
        )

    @contextmanager
    def interrupted(self) -> Iterator[None]:
        """While somebody waits for a page, counting does not take up a further shard."""
        with self._wake:
            self._asked += 1
        try:
            yield
        finally:
            with self._wake:
                self._asked -= 1
                self._last = time.monotonic()
                self._wake.notify_all()

    def wait(self, model: str, seconds: float = 60.0) -> Progress:
        """Wait until a model's figures hold all that is committed now."""
        state = self._run.now()
        self.of(model, state)
        with self._wake:
            self._wake.wait_for(lambda: self._settled(model, state), seconds)
        return self.of(model, state)

    def end(self) -> None:
        """Count no more."""
        with self._wake:
            self._ended = True
            self._wake.notify_all()

    def _settled(self, model: str, state: RunState) -> bool:
        count = self._by_model[model]
        return _same(count.of, state) or count.trouble is not None or self._ended

    def _begin(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="counting", daemon=True)
            self._thread.start()

    def _work(self) -> None:
        _load_libraries()
        verified = False
        while True:
            with self._wake:
                self._wake.wait_for(lambda: self._wanted or self._ended)
                if self._ended:
                    return
                model = self._wanted.pop(0)
            trouble = None
            try:
                self._count(model)
            except (NongrataError, OSError, ValueError) as error:
                trouble = str(error)
            with self._wake:
                self._by_model[model].trouble = trouble
                self._wake.notify_all()
            if not verified:  # after the first count: it reads every byte of every shard
                verified = True
                with suppress(NongrataError, OSError):
                    self._run.verify()

    def _count(self, model: str) -> None:
        state = self._run.now()
        with self._wake:
            count = self._by_model[model]
            count.state, count.done = state, 0.0
        self._wait_for_quiet()
        paths, questions = state.paths(model), state.content.questions
        parts = []
        ranges = _ranges(state)
        for number, (start, stop) in enumerate(ranges):
            plan = plan_of(state.plan, questions[start:stop])
            filler, cell_of = Filler.of(plan, state.vocabulary(model))
            filler.into.final = filler.into.final_mass = None
            for read, path in enumerate(paths):
                self._let_others_go_first()
                if self._ended:
                    return
                filler.add(path)
                count.done = (number + (read + 1) / len(paths)) / len(ranges)
            parts.append(count_questions(plan, cell_of, filler.into))
        kept = None
        if len(ranges) == 1:
            kept = _Kept(filler.into.outcome, filler.into.option, cell_of)
        with self._wake:
            count.counts, count.of, count.kept = QuestionCounts.joined(parts), state, kept
            self._forget(model)
            self._wake.notify_all()

    def _forget(self, newest: str) -> None:
        """Let go of the answers of other models where all together are too many."""
        room = _MOST_KEPT
        for model in (newest, *(name for name in self._by_model if name != newest)):
            count = self._by_model[model]
            room -= 0 if count.kept is None else 2 * count.kept.outcome.size
            if room < 0:
                count.kept = None

    def _wait_for_quiet(self) -> None:
        begun = time.monotonic()
        while not self._ended and time.monotonic() - begun < 4 * _PATIENCE:
            with self._wake:
                quiet = not self._asked and time.monotonic() - self._last >= _QUIET
            if quiet:
                return
            time.sleep(_QUIET / 6)

    def _let_others_go_first(self) -> None:
        with self._wake:
            self._wake.wait_for(lambda: not self._asked or self._ended, _PATIENCE)


def _load_libraries() -> None:
    """Load what reads shards, while the reader looks at the first page."""
    import polars as pl
    import pyarrow.parquet

    pl.LazyFrame({"started": [pyarrow.parquet is not None]}).collect()


def _same(counted: RunState | None, state: RunState) -> bool:
    """Whether nothing has been added or changed since a count."""
    if counted is None:
        return False
    return counted is state or (counted.shards == state.shards and counted.content is state.content)


def _ranges(state: RunState) -> list[tuple[int, int]]:
    """Ranges of questions whose tensors fit into the memory allowed."""
    cells = len(state.plan.prompts.skeletons) * len(state.plan.samplings)
    a_question = cells * (2 * state.plan.replicates + 8)
    total = len(state.content.questions)
    step = max(1, _MOST_BYTES // a_question)
    return [(start, min(start + step, total)) for start in range(0, total, step)]
