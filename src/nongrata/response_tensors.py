"""Rows of a run's shards, put into their places in the tensors of one model."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nongrata.answers import Outcome
from nongrata.plan import Plan
from nongrata.rows import OUTCOMES
from nongrata.run_files import read_table
from nongrata.stored_passes import COLUMNS as PASS_COLUMNS
from nongrata.stored_passes import StoredPasses
from nongrata.temperature import AnswerDistribution, Sampling

MISSING = 255
ERROR = OUTCOMES.index(Outcome.ERROR)
UNPARSED = OUTCOMES.index(Outcome.UNPARSED)
COLUMNS = (
    *("skeleton", "question", "temperature", "replicate", "outcome", "option"),
    *PASS_COLUMNS,
)
"""Columns of a shard that `Filler` needs."""


@dataclass
class ModelTensors:
    """One model's answers by distinct cell (`Plan.cells`), replicate and question."""

    outcome: NDArray[np.uint8]
    option: NDArray[np.int8]
    theta: NDArray[np.float32]
    theta_read: NDArray[np.float32]
    final: NDArray[np.float32] | None
    final_mass: NDArray[np.float32] | None


@dataclass
class Filled:
    """What was found while rows were put into their places.

    Parameters
    ----------
    rows, unknown_rows
        Rows read, and those that belong to no cell or question of this study.
    twice
        Answers whose place was filled already.
    largest_error
        Of any probability, as far as unseen tokens can change it.
    """

    rows: int = 0
    unknown_rows: int = 0
    twice: int = 0
    largest_error: float = 0.0

    def add(self, other: Filled) -> None:
        """Add what was found in another part."""
        self.rows += other.rows
        self.unknown_rows += other.unknown_rows
        self.twice += other.twice
        self.largest_error = max(self.largest_error, other.largest_error)


class Filler:
    """Puts the rows of shards into their places."""

    def __init__(
        self, plan: Plan, table: NDArray[np.int32], vocabulary: int | None, into: ModelTensors
    ) -> None:
        self.plan = plan
        self.table = table  # row of `into` by skeleton and sampling, -1 where there is none
        self.vocabulary = vocabulary
        self.into = into
        frames, questions = plan.prompts.skeletons, plan.prompts.questions
        self.skeletons = _Lookup(plan.prompts.skeleton_digests[:, 0])
        self.questions = _Lookup(plan.prompts.question_hashes)
        self.answer = np.array([q.answer for q in questions], dtype=np.int8)
        self.options = np.array([len(q.choices) for q in questions], dtype=np.int64)
        self.is_free = np.array([frame.reading == "free" for frame in frames], dtype=np.bool_)
        self.score = np.array([frame.cloze_score for frame in frames])
        self.repeats_zero = plan.answers_at(0.0) == 1
        # a generated text's skeleton holds its truncation, so its temperature names its sampling
        heats = np.array([sampling.temperature for sampling in plan.samplings])
        self.heats, level = np.unique(heats, return_inverse=True)
        self.by_heat = np.full((len(table), len(self.heats)), -1, dtype=np.int32)
        for position, place in enumerate(level):
            found = table[:, position] >= 0
            self.by_heat[found, place] = table[found, position]

    @classmethod
    def of(cls, plan: Plan, vocabulary: int | None) -> tuple[Filler, NDArray[np.int32]]:
        """A filler of empty tensors, and the row of the tensors that holds each cell's answers.

        The second has shape (personas, configurations); cells that send the same share a row.
        """
        used, cell_of = np.unique(plan.cells, return_inverse=True)
        table = np.full(len(plan.prompts.skeletons) * len(plan.samplings), -1, dtype=np.int32)
        table[used] = np.arange(len(used))
        shape = (len(used), plan.replicates, len(plan.prompts.questions))
        reads_letters = any(skeleton.final_letter for skeleton in plan.prompts.skeletons)
        into = ModelTensors(
            outcome=np.full(shape, MISSING, dtype=np.uint8),
            option=np.full(shape, -1, dtype=np.int8),
            theta=np.full((shape[0], shape[2]), np.nan, dtype=np.float32),
            theta_read=np.full((shape[0], shape[2]), np.nan, dtype=np.float32),
            final=np.full(shape, np.nan, dtype=np.float32) if reads_letters else None,
            final_mass=np.full(shape, np.nan, dtype=np.float32) if reads_letters else None,
        )
        filler = cls(plan, table.reshape(-1, len(plan.samplings)), vocabulary, into)
        return filler, cell_of.reshape(plan.skeleton_of.shape).astype(np.int32)

    def add(self, path: Path) -> Filled:
        """Put one shard's rows into their places; shards may be added from several threads."""
        return self.add_rows(read_table(path, COLUMNS))

    def add_rows(self, data: Any) -> Filled:
        """Put the rows of a table with `COLUMNS` into their places."""
        found = Filled()
        skeleton = self.skeletons.find(data["skeleton"].to_numpy())
        question = self.questions.find(data["question"].to_numpy())
        known = (skeleton >= 0) & (question >= 0)
        found.rows = len(known)
        found.unknown_rows = int((~known).sum())
        outcome = _codes(data["outcome"])
        free, exact = known & self.is_free[skeleton], known & ~self.is_free[skeleton]
        self._add_free(data, free, skeleton, question, outcome, found)
        for count in np.unique(self.options[question[exact]]):
            for score in np.unique(self.score[skeleton[exact]]):
                which = exact & (self.options[question] == count) & (self.score[skeleton] == score)
                if which.any():
                    self._add_exact(data, which, skeleton, question, outcome, int(count), found)
        return found

    def _add_free(
        self,
        data: Any,
        which: NDArray[np.bool_],
        skeleton: NDArray[np.int64],
        question: NDArray[np.int64],
        outcome: NDArray[np.uint8],
        found: Filled,
    ) -> None:
        if not which.any():
            return
        heat = data["temperature"].to_numpy()[which]
        place = np.minimum(np.searchsorted(self.heats, heat), len(self.heats) - 1)
        row = np.where(self.heats[place] == heat, self.by_heat[skeleton[which], place], -1)
        replicate = data["replicate"].to_numpy()[which]
        option = data["option"].fill_null(-1).to_numpy()[which]
        inside = (row >= 0) & (replicate < self.into.outcome.shape[1])
        which = which.copy()
        which[which] = inside
        row, replicate, option, heat = (part[inside] for part in (row, replicate, option, heat))
        asked, codes = question[which], outcome[which]
        at = (row, replicate, asked)
        found.twice += int((self.into.outcome[at] != MISSING).sum())
        self.into.outcome[at] = codes
        self.into.option[at] = option
        self._add_final(data, which, row, replicate, asked)
        if self.repeats_zero and self.into.outcome.shape[1] > 1:
            cold = heat == 0
            self.into.outcome[row[cold], 1:, asked[cold]] = codes[cold, None]
            self.into.option[row[cold], 1:, asked[cold]] = option[cold, None]
            for read in (self.into.final, self.into.final_mass):
                if read is not None:
                    read[row[cold], 1:, asked[cold]] = read[row[cold], 0, asked[cold]][:, None]

    def _add_final(
        self,
        data: Any,
        which: NDArray[np.bool_],
        row: NDArray[np.int32],
        replicate: NDArray[np.int16],
        asked: NDArray[np.int64],
    ) -> None:
        """The probability that a generated text's letter is right, where it was read."""
        if self.into.final is None or self.into.final_mass is None:
            return
        has = data["label_logprobs"].is_valid().to_numpy()[which]
        sampling_of = np.full(len(self.into.outcome), -1)
        for position in range(self.table.shape[1]):
            used = self.table[:, position]
            sampling_of[used[used >= 0]] = position
        for count in np.unique(self.options[asked[has]]):
            for position in np.unique(sampling_of[row[has]]):
                part = has & (self.options[asked] == count) & (sampling_of[row] == position)
                if not part.any():
                    continue
                rows = np.zeros(len(which), dtype=np.bool_)
                rows[np.flatnonzero(which)[part]] = True
                passes = StoredPasses.read(data, rows, int(count), self.vocabulary)
                found = passes.letters(self.plan.samplings[position])
                right = found.options[np.arange(len(found.options)), self.answer[asked[part]]]
                at = (row[part], replicate[part], asked[part])
                self.into.final[at] = right
                self.into.final_mass[at] = found.options.sum(axis=1)

    def _add_exact(
        self,
        data: Any,
        which: NDArray[np.bool_],
        skeleton: NDArray[np.int64],
        question: NDArray[np.int64],
        outcome: NDArray[np.uint8],
        options: int,
        found: Filled,
    ) -> None:
        passes = StoredPasses.read(data, which, options, self.vocabulary)
        frames, asked, failed = skeleton[which], question[which], outcome[which] == ERROR
        for position, sampling in enumerate(self.plan.samplings):
            row = self.table[frames, position]
            here = row >= 0
            if here.any():
                part = passes.take(here)
                answers = self._distribution(part, sampling, frames[here], asked[here])
                places = Places(row[here], asked[here], failed[here])
                self._put(part, answers, sampling, places, found)

    def _distribution(
        self,
        passes: StoredPasses,
        sampling: Sampling,
        skeleton: NDArray[np.int64],
        asked: NDArray[np.int64],
    ) -> AnswerDistribution:
        score = str(self.score[skeleton[0]])
        if not score:
            return passes.letters(sampling)
        prompts = self.plan.prompts
        size = [
            [len(text.encode("utf-8", "surrogatepass")) for text in prompts.by_identity(s, q)]
            for s, q in zip(skeleton.tolist(), asked.tolist(), strict=True)
        ]
        return passes.texts(sampling, score, np.array(size, dtype=np.float64))

    def _put(
        self,
        passes: StoredPasses,
        answers: AnswerDistribution,
        sampling: Sampling,
        places: Places,
        found: Filled,
    ) -> None:
        into, row, asked, failed = self.into, places.row, places.question, places.failed
        error = float(answers.error[~failed].max(initial=0.0))
        found.largest_error = max(found.largest_error, error)
        theta = answers.options[np.arange(len(answers.options)), self.answer[asked]]
        theta_read = answers.options.sum(axis=1)
        theta[failed] = theta_read[failed] = np.nan
        into.theta[row, asked] = theta
        into.theta_read[row, asked] = theta_read
        for replicate in range(into.outcome.shape[1]):
            found.twice += int((into.outcome[row, replicate, asked] != MISSING).sum())
            option = passes.draw(answers, sampling, replicate, self.plan.study.seed)
            codes = np.where(option < 0, UNPARSED, 0).astype(np.uint8)
            codes[failed] = ERROR
            option[failed] = -1
            into.outcome[row, replicate, asked] = codes
            into.option[row, replicate, asked] = option


@dataclass(frozen=True)
class Places:
    """Where rows belong: a row of the tensors and a question each; and whether asking failed."""

    row: NDArray[np.int32]
    question: NDArray[np.int64]
    failed: NDArray[np.bool_]


class _Lookup:
    """Rows of 64-bit hashes in a table of distinct ones; -1 where there is none."""

    def __init__(self, hashes: NDArray[np.uint64]) -> None:
        self._order = np.argsort(hashes)
        self._sorted = hashes[self._order]

    def find(self, wanted: NDArray[np.uint64]) -> NDArray[np.int64]:
        place = np.searchsorted(self._sorted, wanted)
        place = np.minimum(place, len(self._sorted) - 1)
        found = self._sorted[place] == wanted
        return np.where(found, self._order[place], -1).astype(np.int64)


def _codes(column: Any) -> NDArray[np.uint8]:
    """Outcome codes of a column of outcome names; nulls (exact rows) are 0."""
    if not len(column):
        return np.zeros(0, dtype=np.uint8)
    encoded = column.combine_chunks().dictionary_encode()
    names = encoded.dictionary.to_pylist()
    table = np.array([OUTCOMES.index(name) for name in names] or [0], dtype=np.uint8)
    indices = encoded.indices.fill_null(0).to_numpy(zero_copy_only=False)
    return np.where(encoded.is_null().to_numpy(zero_copy_only=False), 0, table[indices]).astype(
        np.uint8
    )
