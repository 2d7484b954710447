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
from nongrata.integrity import side_file_damage
from nongrata.keys import uniforms
from nongrata.manifest import Manifest
from nongrata.plan import Plan
from nongrata.rows import OUTCOMES
from nongrata.run_folder import RunContent, duplicates, read_content
from nongrata.store import Damage, Store
from nongrata.temperature import answer_distribution, draw_options

if TYPE_CHECKING:
    import xarray as xr

MISSING = 255
ERROR = OUTCOMES.index(Outcome.ERROR)
UNPARSED = OUTCOMES.index(Outcome.UNPARSED)
_COLUMNS = [
    "key_high", "key_low", "skeleton", "question", "temperature", "replicate", "outcome", "option",
    "label_logprobs", "other_logprobs", "tail_mass",
]  # fmt: skip


@dataclass
class _ModelTensors:
    """One model's answers by pass (skeleton at a temperature), replicate and question."""

    outcome: NDArray[np.uint8]
    option: NDArray[np.int8]
    theta: NDArray[np.float32]
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
        of a deterministic engine repeat its one answer.
    """
    folder = Path(folder)
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
    plan = content.plan(
        deterministic_at_zero=record.deterministic_at_zero if record is not None else True
    )
    heats, level = np.unique(plan.temperature, return_inverse=True)
    code = plan.skeleton_of.astype(np.int64) * len(heats) + level[None, :]
    used, pass_of = np.unique(code, return_inverse=True)
    table = np.full(len(plan.prompts.skeletons) * len(heats), -1, dtype=np.int32)
    table[used] = np.arange(len(used))
    shape = (len(used), plan.replicates, len(content.questions))
    tensors = _ModelTensors(
        outcome=np.full(shape, MISSING, dtype=np.uint8),
        option=np.full(shape, -1, dtype=np.int8),
        theta=np.full((shape[0], shape[2]), np.nan, dtype=np.float32),
    )
    filler = _Filler(plan, heats, table.reshape(-1, len(heats)), tensors)
    for path in store.paths(model):
        before = tensors.rows
        filler.add(path)
        watch.add(tensors.rows - before)
    return tensors, pass_of.reshape(plan.skeleton_of.shape).astype(np.int32)


class _Filler:
    """Puts the rows of shards into their places."""

    def __init__(
        self, plan: Plan, heats: NDArray[np.float64], table: NDArray[np.int32], into: _ModelTensors
    ) -> None:
        self.plan = plan
        self.heats = heats
        self.table = table
        self.into = into
        self.skeletons = _Lookup(plan.prompts.skeleton_digests[:, 0])
        self.questions = _Lookup(plan.prompts.question_hashes)
        self.answer = np.array([q.answer for q in plan.prompts.questions], dtype=np.int8)
        self.options = np.array([len(q.choices) for q in plan.prompts.questions], dtype=np.int64)
        self.repeats_zero = plan.answers_at(0.0) == 1

    def add(self, path: Path) -> None:
        import pyarrow.parquet as pq

        data = pq.read_table(path, columns=_COLUMNS)
        skeleton = self.skeletons.find(data["skeleton"].to_numpy())
        question = self.questions.find(data["question"].to_numpy())
        known = (skeleton >= 0) & (question >= 0)
        self.into.rows += len(known)
        self.into.unknown_rows += int((~known).sum())
        exact = data["temperature"].is_null().to_numpy() if len(known) else known
        outcome = _codes(data["outcome"])
        self._add_free(data, known & ~exact, skeleton, question, outcome)
        for count in np.unique(self.options[question[known & exact]]):
            which = known & exact
            which[which] = self.options[question[which]] == count
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
        row = self.table[skeleton[which], np.searchsorted(self.heats, heat)]
        replicate = data["replicate"].to_numpy()[which]
        option = data["option"].fill_null(-1).to_numpy()[which]
        asked = question[which]
        inside = (row >= 0) & (replicate < self.into.outcome.shape[1])
        row, replicate, option, asked = (part[inside] for part in (row, replicate, option, asked))
        codes = outcome[which][inside]
        place = (row, replicate, asked)
        self.into.twice += int((self.into.outcome[place] != MISSING).sum())
        self.into.outcome[place] = codes
        self.into.option[place] = option
        if self.repeats_zero and self.into.outcome.shape[1] > 1:
            cold = heat[inside] == 0
            self.into.outcome[row[cold], 1:, asked[cold]] = codes[cold, None]
            self.into.option[row[cold], 1:, asked[cold]] = option[cold, None]

    def _add_exact(
        self,
        data: Any,
        which: NDArray[np.bool_],
        skeleton: NDArray[np.int64],
        question: NDArray[np.int64],
        outcome: NDArray[np.uint8],
        options: int,
    ) -> None:
        failed = outcome[which] == ERROR
        labels = _matrix(data["label_logprobs"], which)
        labels = labels.reshape(len(labels), options, -1)
        others = _matrix(data["other_logprobs"], which)
        tail = data["tail_mass"].to_numpy()[which]
        keys = np.stack([data["key_high"].to_numpy(), data["key_low"].to_numpy()], axis=1)[which]
        asked = question[which]
        right = self.answer[asked]
        for position, heat in enumerate(self.heats):
            row = self.table[skeleton[which], position]
            here = row >= 0
            if not here.any():
                continue
            result = answer_distribution(labels[here], others[here], tail[here], float(heat))
            if not failed.all():
                self.into.largest_error = max(
                    self.into.largest_error, float(result.error[~failed[here]].max(initial=0.0))
                )
            theta = result.options[np.arange(len(result.options)), right[here]]
            theta[failed[here]] = np.nan
            self.into.theta[row[here], asked[here]] = theta
            for replicate in range(self.into.outcome.shape[1]):
                self.into.twice += int(
                    (self.into.outcome[row[here], replicate, asked[here]] != MISSING).sum()
                )
                turn = 0 if heat == 0 and self.repeats_zero else replicate
                luck = uniforms(keys[here], float(heat), turn, self.plan.study.seed)
                option = draw_options(result, luck)
                codes = np.where(option < 0, UNPARSED, 0).astype(np.uint8)
                codes[failed[here]] = ERROR
                option[failed[here]] = -1
                self.into.outcome[row[here], replicate, asked[here]] = codes
                self.into.option[row[here], replicate, asked[here]] = option


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


def _matrix(column: Any, which: NDArray[np.bool_]) -> NDArray[np.float32]:
    """Lists of the rows wanted, padded with nan to the longest."""
    import pyarrow as pa

    lists = column.combine_chunks().filter(pa.array(which))
    lengths = lists.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
    flat = lists.flatten().to_numpy(zero_copy_only=False).astype(np.float32)
    width = int(lengths.max(initial=1))
    result = np.full((len(lengths), max(width, 1)), np.nan, dtype=np.float32)
    result[np.arange(result.shape[1]) < lengths[:, None]] = flat
    return result


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
    dataset: xr.Dataset = xr.Dataset(
        data_vars={
            "option": ((*cells, "replicate", "question"), gather(lambda t: t.option)),
            "outcome": ((*cells, "replicate", "question"), gather(lambda t: t.outcome)),
            "theta": ((*cells, "question"), gather(lambda t: t.theta)),
            "duplicate": (cells[1:], duplicates(plan).reshape(shape)),
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
            "simulated_models": [key for key, record in recorded.items() if not record.is_model],
            "damage": [f"{damaged.name}: {damaged.what}" for damaged in damage],
            "stored_twice": sum(tensors.twice for tensors, _ in built),
            "stored_rows": sum(tensors.rows for tensors, _ in built),
            "largest_theta_error": max((t.largest_error for t, _ in built), default=0.0),
        },
    )
    return dataset
