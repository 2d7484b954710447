"""The labelled tensor of a run: persona x factors x replicate x question.

Built by identity, never by position: a stored row names its skeleton and its question by hash,
the run's own study says which cells send that skeleton.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nongrata.answers import Outcome
from nongrata.engine_check import stored_checks
from nongrata.integrity import side_file_damage
from nongrata.manifest import Manifest
from nongrata.plan import Plan
from nongrata.rows import OUTCOMES
from nongrata.run_files import read_table
from nongrata.run_folder import RunContent, duplicates, read_content
from nongrata.run_path import run_path
from nongrata.store import Damage, Store
from nongrata.stored_passes import COLUMNS as PASS_COLUMNS
from nongrata.stored_passes import StoredPasses
from nongrata.temperature import AnswerDistribution, Sampling

if TYPE_CHECKING:
    import xarray as xr

MISSING = 255
ERROR = OUTCOMES.index(Outcome.ERROR)
UNPARSED = OUTCOMES.index(Outcome.UNPARSED)
_COLUMNS = [
    *("skeleton", "question", "temperature", "replicate", "outcome", "option"),
    *PASS_COLUMNS,
]


@dataclass
class _ModelTensors:
    """One model's answers by distinct cell (`Plan.cells`), replicate and question."""

    outcome: NDArray[np.uint8]
    option: NDArray[np.int8]
    theta: NDArray[np.float32]
    final: NDArray[np.float32] | None
    final_mass: NDArray[np.float32] | None
    rows: int = 0
    unknown_rows: int = 0
    twice: int = 0
    largest_error: float = 0.0


def load_run(folder: str | Path, progress: Callable[[int, int], None] | None = None) -> xr.Dataset:
    """Load a run's answers as a labelled dataset.

    Parameters
    ----------
    folder
        The run directory. It may be unfinished: what was not asked yet is missing.
    progress
        Told how many of how many rows have been read.

    Returns
    -------
    xarray.Dataset
        Dimensions ``model``, ``persona``, the study's factors, ``replicate``, ``question``.
        ``option`` (int8): identity of the chosen option, -1 if none. ``outcome`` (uint8): code of
        the outcome, 255 if not obtained. ``theta`` (float32, without ``replicate``): the exact
        probability that the answer is right, ``nan`` where only draws are known. ``duplicate``:
        cells that send what an earlier cell sends. In cells with a theta, ``option`` is one draw
        per replicate, from the request's own random number. Replicates of a cell at temperature 0
        repeat its one answer, unless the study repeats them. ``final`` (float32, only in studies
        with ``final_letter: distribution``): the probability that the letter of a generated text
        is right, given the text before it; ``nan`` where no letter decided. ``final_mass``: the
        probability that any label stands there, so that ``final / final_mass`` is that of right
        given a label. ``sampling_temperature``: of each configuration. ``shown_option`` (only
        where options are permuted): the option at each place, -1 where there is none.
    """
    folder = run_path(folder)
    manifest = Manifest.read(folder)
    content = read_content(folder)
    store = Store(folder)
    plan = content.plan()
    watch = _Watch(store.rows(), progress)
    parts = [_load_model(store, manifest, content, spec.id, watch) for spec in content.study.models]
    damage = [*store.damage, *side_file_damage(folder, manifest)]
    return _assemble(plan, content, manifest, damage, parts)


@dataclass
class _Watch:
    """How many rows have been read."""

    total: int
    tell: Callable[[int, int], None] | None
    read: int = 0

    def add(self, rows: int) -> None:
        self.read += rows
        if self.tell is not None:
            self.tell(self.read, self.total)


def _load_model(
    store: Store, manifest: Manifest, content: RunContent, model: str, watch: _Watch
) -> tuple[_ModelTensors, NDArray[np.int32]]:
    record = manifest.models.get(model)
    vocabulary = None if record is None else record.identity.get("vocabulary_size")
    plan = content.plan()
    used, cell_of = np.unique(plan.cells, return_inverse=True)
    table = np.full(len(plan.prompts.skeletons) * len(plan.samplings), -1, dtype=np.int32)
    table[used] = np.arange(len(used))
    shape = (len(used), plan.replicates, len(content.questions))
    reads_letters = any(skeleton.final_letter for skeleton in plan.prompts.skeletons)
    tensors = _ModelTensors(
        outcome=np.full(shape, MISSING, dtype=np.uint8),
        option=np.full(shape, -1, dtype=np.int8),
        theta=np.full((shape[0], shape[2]), np.nan, dtype=np.float32),
        final=np.full(shape, np.nan, dtype=np.float32) if reads_letters else None,
        final_mass=np.full(shape, np.nan, dtype=np.float32) if reads_letters else None,
    )
    filler = _Filler(plan, table.reshape(-1, len(plan.samplings)), vocabulary, tensors)
    for path in store.paths(model):
        before = tensors.rows
        filler.add(path)
        watch.add(tensors.rows - before)
    return tensors, cell_of.reshape(plan.skeleton_of.shape).astype(np.int32)


class _Filler:
    """Puts the rows of shards into their places."""

    def __init__(
        self, plan: Plan, table: NDArray[np.int32], vocabulary: int | None, into: _ModelTensors
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

    def add(self, path: Path) -> None:
        data = read_table(path, _COLUMNS)
        skeleton = self.skeletons.find(data["skeleton"].to_numpy())
        question = self.questions.find(data["question"].to_numpy())
        known = (skeleton >= 0) & (question >= 0)
        self.into.rows += len(known)
        self.into.unknown_rows += int((~known).sum())
        outcome = _codes(data["outcome"])
        free, exact = known & self.is_free[skeleton], known & ~self.is_free[skeleton]
        self._add_free(data, free, skeleton, question, outcome)
        for count in np.unique(self.options[question[exact]]):
            for score in np.unique(self.score[skeleton[exact]]):
                which = exact & (self.options[question] == count) & (self.score[skeleton] == score)
                if which.any():
                    self._add_exact(data, which, skeleton, question, outcome, int(count))

    def _add_free(
        self,
        data: Any,
        which: NDArray[np.bool_],
        skeleton: NDArray[np.int64],
        question: NDArray[np.int64],
        outcome: NDArray[np.uint8],
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
        self.into.twice += int((self.into.outcome[at] != MISSING).sum())
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
    ) -> None:
        passes = StoredPasses.read(data, which, options, self.vocabulary)
        frames, asked, failed = skeleton[which], question[which], outcome[which] == ERROR
        for position, sampling in enumerate(self.plan.samplings):
            row = self.table[frames, position]
            here = row >= 0
            if here.any():
                part = passes.take(here)
                found = self._distribution(part, sampling, frames[here], asked[here])
                self._put(part, found, sampling, row[here], asked[here], failed[here])

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
        found: AnswerDistribution,
        sampling: Sampling,
        row: NDArray[np.int32],
        asked: NDArray[np.int64],
        failed: NDArray[np.bool_],
    ) -> None:
        into = self.into
        error = float(found.error[~failed].max(initial=0.0))
        into.largest_error = max(into.largest_error, error)
        theta = found.options[np.arange(len(found.options)), self.answer[asked]]
        theta[failed] = np.nan
        into.theta[row, asked] = theta
        for replicate in range(into.outcome.shape[1]):
            into.twice += int((into.outcome[row, replicate, asked] != MISSING).sum())
            option = passes.draw(found, sampling, replicate, self.plan.study.seed)
            codes = np.where(option < 0, UNPARSED, 0).astype(np.uint8)
            codes[failed] = ERROR
            option[failed] = -1
            into.outcome[row, replicate, asked] = codes
            into.option[row, replicate, asked] = option


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


def _assemble(
    plan: Plan,
    content: RunContent,
    manifest: Manifest,
    damage: Iterable[Damage],
    parts: Iterable[tuple[_ModelTensors, NDArray[np.int32]]],
) -> xr.Dataset:
    import xarray as xr

    study, questions = content.study, content.questions
    factors = [factor.name for factor in study.factors]
    cells = ("model", "persona", *factors)
    personas = len(content.personas)
    shape = (personas, *study.shape)
    built = list(parts)

    def gather(pick: Any) -> NDArray[Any]:
        arrays = [pick(tensors)[pass_of] for tensors, pass_of in built]
        return np.stack([array.reshape(*shape, *array.shape[2:]) for array in arrays])

    recorded = manifest.models
    further = {}
    if all(tensors.final is not None for tensors, _ in built):
        further["final"] = ((*cells, "replicate", "question"), gather(lambda t: t.final))
        further["final_mass"] = ((*cells, "replicate", "question"), gather(lambda t: t.final_mass))
    # how options are shown is a matter of the factors, the same for every persona
    shown = plan.prompts.orders[plan.prompts.presentation_of[plan.skeleton_of[0]]]
    permuted = bool(((shown >= 0) & (shown != np.arange(shown.shape[2]))).any())
    if permuted:
        places = shown.reshape(*study.shape, *shown.shape[1:])
        further["shown_option"] = ((*factors, "question", "shown_place"), places)
    dataset: xr.Dataset = xr.Dataset(
        data_vars={
            **further,
            "option": ((*cells, "replicate", "question"), gather(lambda t: t.option)),
            "outcome": ((*cells, "replicate", "question"), gather(lambda t: t.outcome)),
            "theta": ((*cells, "question"), gather(lambda t: t.theta)),
            "duplicate": (cells[1:], duplicates(plan).reshape(shape)),
            "sampling_temperature": (factors, plan.temperature.reshape(study.shape)),
        },
        coords={
            "model": [spec.id for spec in study.models],
            "persona": [persona.id for persona in content.personas],
            "is_control": ("persona", [persona.control for persona in content.personas]),
            "persona_group": ("persona", [persona.group for persona in content.personas]),
            **{factor.name: [level.id for level in factor.levels] for factor in study.factors},
            **{
                sub: (factor.name, list(levels))
                for factor in study.factors
                for sub, levels in factor.sub_factors.items()
            },
            "replicate": np.arange(study.replicates),
            "question": [question.id for question in questions],
            "answer": ("question", np.array([q.answer for q in questions], dtype=np.int8)),
            "n_options": ("question", np.array([len(q.choices) for q in questions], np.int8)),
            "domain": ("question", [question.domain or "other" for question in questions]),
            "cluster": ("question", [question.cluster for question in questions]),
            "source": ("question", [question.source for question in questions]),
        },
        attrs={
            "study": study.name,
            "title": study.title,
            "factors": factors,
            "limited": manifest.limit is not None,
            "limit": manifest.limit,
            "options_permuted": permuted,
            "simulated_models": [key for key, record in recorded.items() if not record.is_model],
            "readings": sorted({skeleton.reading for skeleton in plan.prompts.skeletons}),
            "numerical_floor": [
                f"{check.model}: when only batch, order and caches change: {check.sentence()}"
                for check in stored_checks(manifest)
            ],
            "damage": [f"{damaged.name}: {damaged.what}" for damaged in damage],
            "stored_twice": sum(tensors.twice for tensors, _ in built),
            "stored_rows": sum(tensors.rows for tensors, _ in built),
            "largest_theta_error": max((t.largest_error for t, _ in built), default=0.0),
        },
    )
    return dataset
