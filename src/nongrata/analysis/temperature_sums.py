"""Stored passes -> probabilities of a right answer at many temperatures, summed as they are read.

A shard at a time: of each answer's distribution only the probabilities of the right label and of
any label are kept, summed by prompt frame and by question, so memory does not grow with the number
of answers. Sums are exact, and so the same in whatever order threads finish.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nongrata.analysis.temperature_points import (
    Personas,
    Setting,
    Sums,
    curve_of,
    shares_of_labels,
)
from nongrata.analysis.temperature_rows import SettingWithout, TemperatureCurve
from nongrata.answers import Outcome
from nongrata.plan import Plan
from nongrata.run_files import read_table
from nongrata.stats.accuracy import Bools, Floats
from nongrata.stats.tempered_letters import LetterAt, TemperedLetters
from nongrata.stats.units import Units
from nongrata.stored_passes import COLUMNS, StoredPasses
from nongrata.temperature import AnswerDistribution, Sampling

_MOST_THREADS = 4
_ROWS_AT_ONCE = 16_384
_STEPS = 2.0**32
"""Probabilities are added as whole numbers of steps, which double precision adds exactly."""

Places = NDArray[np.intp]


def curves_of_model(
    plan: Plan,
    settings: Sequence[Setting],
    grid: Sequence[float],
    paths: Sequence[Path],
    vocabulary: int | None,
    told: Callable[[int], None],
) -> list[TemperatureCurve | SettingWithout]:
    """Every setting's curve for one model.

    Parameters
    ----------
    plan, settings, grid
        The study's passes, the settings wanted, and the temperatures.
    paths
        The model's shards, in order.
    vocabulary
        Number of its tokens, if known.
    told
        Told how many rows more have been read.
    """
    reading = _Reading.of(plan)
    with ThreadPoolExecutor(max_workers=min(os.cpu_count() or 1, _MOST_THREADS)) as pool:
        found = _Found(len(plan.prompts.skeletons), len(plan.prompts.questions))
        for shard, rows in enumerate(pool.map(reading.find, paths)):
            if not found.enter(shard, rows):
                told(rows.read)
        adding = _Adding(reading, settings, grid, found, vocabulary)
        shards = found.shards
        for rows_read in pool.map(adding.add, shards, [paths[shard] for shard in shards]):
            told(rows_read)
    return adding.curves()


@dataclass(frozen=True)
class _Rows:
    """Where the rows of a shard belong that hold distributions.

    Parameters
    ----------
    read
        Rows of the shard.
    which
        Those that hold distributions and belong to the study.
    frame, question, failed
        Their prompt frame and question, and whether asking failed.
    """

    read: int
    which: Places
    frame: Places
    question: Places
    failed: Bools


@dataclass(frozen=True)
class _Reading:
    """What is needed to know where a row belongs and how it is read."""

    plan: Plan
    exact: Bools
    scores: tuple[str, ...]
    score: Places
    answer: Places
    options: Places

    @classmethod
    def of(cls, plan: Plan) -> _Reading:
        frames, questions = plan.prompts.skeletons, plan.prompts.questions
        scores = tuple(sorted({frame.cloze_score for frame in frames}))
        return cls(
            plan,
            np.array([frame.reading != "free" for frame in frames]),
            scores,
            np.array([scores.index(frame.cloze_score) for frame in frames]),
            np.array([q.answer for q in questions], dtype=np.intp),
            np.array([len(q.choices) for q in questions], dtype=np.intp),
        )

    def find(self, path: Path) -> _Rows:
        """Where the rows of a shard belong; most shards of generated texts cost one column."""
        prompts = self.plan.prompts
        frame = _places(prompts.skeleton_digests[:, 0], read_table(path, ["skeleton"])["skeleton"])
        which = np.flatnonzero((frame >= 0) & self.exact[frame])
        if not len(which):
            return _Rows(len(frame), which, which, which, which.astype(np.bool_))
        data = read_table(path, ["question", "outcome"])
        question = _places(prompts.question_hashes, data["question"])
        which = which[question[which] >= 0]
        failed = _failed(data["outcome"])
        return _Rows(len(frame), which, frame[which], question[which], failed[which])


class _Found:
    """Which answers there are, and in which shard; of one stored twice the last one stands."""

    def __init__(self, frames: int, questions: int) -> None:
        self._shard = np.full((frames, questions), -1, dtype=np.int32)
        self._failed = np.zeros((frames, questions), dtype=np.bool_)
        self._rows: dict[int, _Rows] = {}

    def enter(self, shard: int, rows: _Rows) -> bool:
        """Take note of a shard's answers; whether there are any."""
        if not len(rows.which):
            return False
        self._shard[rows.frame, rows.question] = shard
        self._failed[rows.frame, rows.question] = rows.failed
        self._rows[shard] = rows
        return True

    @property
    def shards(self) -> list[int]:
        """Shards that hold answers."""
        return sorted(self._rows)

    @property
    def present(self) -> Bools:
        """Answers there are, shape (prompt frames, questions)."""
        return np.asarray((self._shard >= 0) & ~self._failed)

    def take(self, shard: int) -> _Rows:
        """The rows of a shard that count, once."""
        rows = self._rows.pop(shard)
        at = rows.frame, rows.question
        use = (self._shard[at] == shard) & ~self._failed[at]
        return replace(
            rows, which=rows.which[use], frame=rows.frame[use], question=rows.question[use]
        )


class _Adding:
    """Sums over one model's answers."""

    def __init__(
        self,
        reading: _Reading,
        settings: Sequence[Setting],
        grid: Sequence[float],
        found: _Found,
        vocabulary: int | None,
    ) -> None:
        people = reading.plan.personas
        self.reading, self.settings, self.grid = reading, settings, grid
        self.found, self.present, self.vocabulary = found, found.present, vocabulary
        self.personas = Personas(
            tuple(p.id for p in people), np.array([p.control for p in people], dtype=np.bool_)
        )
        self.weights = [shares_of_labels(s, self.personas, self.present) for s in settings]
        self.kinds = tuple(dict.fromkeys(setting.truncation for setting in settings))
        (S, Q), T = self.present.shape, len(grid)
        self._sums = np.zeros((len(self.kinds), 3, T, S))
        self._worst = np.zeros((len(self.kinds), T, S))
        self._by_question = np.zeros((len(settings), T, Q))
        self._lock = threading.Lock()

    def add(self, shard: int, path: Path) -> int:
        """Add one shard; several threads may. Returns how many rows it holds."""
        rows = self.found.take(shard)
        data = read_table(path, COLUMNS)
        options, scores = self.reading.options[rows.question], self.reading.score[rows.frame]
        for start in range(0, rows.read, _ROWS_AT_ONCE):
            first, last = np.searchsorted(rows.which, [start, start + _ROWS_AT_ONCE])
            here = slice(first, last)
            table = data.slice(start, _ROWS_AT_ONCE)
            alike = options[here] * len(self.reading.scores) + scores[here]
            for one in np.unique(alike):
                some = np.flatnonzero(alike == one) + first
                wanted = np.zeros(table.num_rows, dtype=np.bool_)
                wanted[rows.which[some] - start] = True
                count, score = divmod(int(one), len(self.reading.scores))
                passes = StoredPasses.read(table, wanted, count, self.vocabulary)
                self._add(
                    _Answers(
                        self.reading,
                        passes,
                        rows.frame[some],
                        rows.question[some],
                        self.reading.scores[score],
                    )
                )
        return rows.read

    def _add(self, answers: _Answers) -> None:
        S, Q = self.present.shape
        frame, question = answers.frame, answers.question
        for k, kind in enumerate(self.kinds):
            parts = []
            for s, setting in enumerate(self.settings):
                if setting.truncation == kind:
                    weight = self.weights[s][frame]
                    rows = np.flatnonzero(weight)
                    if len(rows):
                        parts.append((s, rows, question[rows], weight[rows]))
            for t, heat in enumerate(self.grid):
                found = answers.at(replace(kind, temperature=heat).resolved())
                sums = [_sum(frame, x, S) for x in (found.right, found.read, found.error)]
                worst = np.zeros(S)
                if found.error.any():
                    np.maximum.at(worst, frame, found.error)
                several = [(s, _sum(q, found.right[i] * w, Q)) for s, i, q, w in parts]
                with self._lock:
                    self._sums[k, :, t] += sums
                    self._worst[k, t] = np.maximum(self._worst[k, t], worst)
                    for s, by_question in several:
                        self._by_question[s, t] += by_question

    def curves(self) -> list[TemperatureCurve | SettingWithout]:
        """All settings' curves."""
        questions = self.reading.plan.prompts.questions
        cluster, source = (
            np.unique([getattr(q, name) for q in questions], return_inverse=True)[1]
            for name in ("cluster", "source")
        )
        units = Units.of(len(questions), cluster, source)
        sums = {
            kind: Sums(self.present, right, read, error, self._worst[k])
            for k, kind in enumerate(self.kinds)
            for right, read, error in [self._sums[k]]
        }
        return [
            curve_of(
                setting,
                self.personas,
                sums[setting.truncation],
                self._by_question[s],
                units,
                self.grid,
            )
            for s, setting in enumerate(self.settings)
        ]


@dataclass(frozen=True)
class _Answers:
    """Stored passes of questions with as many options, all read in one way."""

    reading: _Reading
    passes: StoredPasses
    frame: Places
    question: Places
    score: str

    def at(self, sampling: Sampling) -> LetterAt:
        """The right answer under one sampling; ``nan`` where unseen tokens have no bound."""
        right, read, error = np.empty((3, len(self.frame)))
        for rows, found in self._parts(sampling):
            right[rows], read[rows], error[rows] = found.right, found.read, found.error
        return LetterAt(right, read, error)

    def _parts(self, sampling: Sampling) -> Iterator[tuple[Bools | slice, LetterAt]]:
        if self.score:
            found = self.passes.texts(sampling, self.score, self._option_bytes)
            yield slice(None), _right_of(found, self._answer)
        elif sampling.temperature == 0 or sampling.truncates:
            yield slice(None), self._general(self.passes, sampling, self._answer)
        else:
            known, quick = self._quick
            if known.any():
                passes = self.passes.take(known)
                try:
                    yield known, quick.at(sampling.temperature, _logsum(passes, sampling))
                except ValueError:
                    yield known, _unbounded(len(passes.tail))
            if not known.all():
                rest = self.passes.take(~known)
                yield ~known, self._general(rest, sampling, self._answer[~known])

    @staticmethod
    def _general(passes: StoredPasses, sampling: Sampling, answer: Places) -> LetterAt:
        try:
            return _right_of(passes.letters(sampling), answer)
        except ValueError:
            return _unbounded(len(answer))

    @cached_property
    def _answer(self) -> Places:
        return self.reading.answer[self.question]

    @cached_property
    def _quick(self) -> tuple[Bools, TemperedLetters]:
        """Rows in which every label was returned, ready for any temperature."""
        known = np.asarray(~np.isnan(self.passes.labels).any(axis=(1, 2)))
        passes = self.passes.take(known)
        return known, TemperedLetters.of(
            passes.labels, passes.others, passes.tail, self._answer[known], passes.vocabulary
        )

    @cached_property
    def _option_bytes(self) -> Floats:
        prompts = self.reading.plan.prompts
        return np.array(
            [
                [len(text.encode("utf-8", "surrogatepass")) for text in prompts.by_identity(s, q)]
                for s, q in zip(self.frame.tolist(), self.question.tolist(), strict=True)
            ],
            dtype=np.float64,
        )


def _right_of(found: AnswerDistribution, answer: Places) -> LetterAt:
    rows = np.arange(len(answer))
    return LetterAt(found.options[rows, answer], found.options.sum(axis=1), found.error)


def _unbounded(n: int) -> LetterAt:
    nothing = np.full(n, np.nan)
    return LetterAt(nothing, nothing, nothing)


def _logsum(passes: StoredPasses, sampling: Sampling) -> Floats | None:
    """What an engine that sees every token said of the unseen ones at this temperature."""
    told = passes.heats == sampling.temperature
    if not told.any():
        return None
    at = told.argmax(axis=1)
    return np.where(told.any(axis=1), passes.logsums[np.arange(len(at)), at], np.nan)


def _sum(places: Places, values: Floats, size: int) -> Floats:
    """Exact sums by place."""
    whole = np.bincount(places, weights=np.rint(values * _STEPS), minlength=size)
    return np.asarray(whole / _STEPS)


def _places(hashes: NDArray[np.uint64], column: Any) -> Places:
    """Where a column's hashes stand among the given ones; -1 where they do not."""
    wanted, order = column.to_numpy(), np.argsort(hashes)
    place = np.minimum(np.searchsorted(hashes, wanted, sorter=order), len(hashes) - 1)
    found = order[place]
    return np.where(hashes[found] == wanted, found, -1)


def _failed(column: Any) -> Bools:
    """Whether asking failed, from outcomes; those of distributions are null."""
    import pyarrow.compute as pc

    named = pc.equal(pc.cast(column, "string"), Outcome.ERROR.value)
    return np.asarray(pc.fill_null(named, False).to_numpy())
