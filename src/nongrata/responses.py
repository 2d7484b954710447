"""The labelled tensor of a run: persona x factors x replicate x question.

Built by identity, never by position: a stored row names its skeleton and its question by hash,
the run's own study says which cells send that skeleton.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nongrata.engine_check import stored_checks
from nongrata.integrity import side_file_damage
from nongrata.manifest import Manifest
from nongrata.plan import Plan
from nongrata.response_tensors import Filled, Filler, ModelTensors
from nongrata.run_folder import RunContent, duplicates, read_content
from nongrata.run_path import run_path
from nongrata.store import Damage, Store

if TYPE_CHECKING:
    import xarray as xr

_MOST_THREADS = 4
"""Threads that read shards: beyond this the tensors' memory is the limit, not the processor."""


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
        probability that the answer is right, ``nan`` where only draws are known. ``theta_read``:
        the probability that it can be read, that is, that a label is drawn. ``duplicate``:
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
) -> _Loaded:
    record = manifest.models.get(model)
    vocabulary = None if record is None else record.identity.get("vocabulary_size")
    filler, cell_of = Filler.of(content.plan(), vocabulary)
    found = _fill(filler, store.paths(model), watch)
    return _Loaded(filler.into, cell_of, found)


@dataclass(frozen=True)
class _Loaded:
    """One model's answers by distinct cell, and the distinct cell of each cell of the design."""

    tensors: ModelTensors
    cell_of: NDArray[np.int32]
    found: Filled


def _fill(filler: Filler, paths: Sequence[Path], watch: _Watch) -> Filled:
    """Put all shards' rows into their places, a shard in each thread.

    Shards hold different answers, so their order is of no matter; where some are stored twice,
    for a shard was copied by hand, they are read again in order, so that the last one stands.
    """
    found = Filled()
    with ThreadPoolExecutor(max_workers=min(os.cpu_count() or 1, _MOST_THREADS)) as pool:
        for part in pool.map(filler.add, paths):
            found.add(part)
            watch.add(part.rows)
    if found.twice:
        for path in paths:
            filler.add(path)
    return found


def _assemble(
    plan: Plan,
    content: RunContent,
    manifest: Manifest,
    damage: Iterable[Damage],
    built: Sequence[_Loaded],
) -> xr.Dataset:
    import xarray as xr

    study, questions = content.study, content.questions
    factors = [factor.name for factor in study.factors]
    cells = ("model", "persona", *factors)
    personas = len(content.personas)
    shape = (personas, *study.shape)

    def gather(pick: Any) -> NDArray[Any]:
        arrays = [pick(part.tensors)[part.cell_of] for part in built]
        return np.stack([array.reshape(*shape, *array.shape[2:]) for array in arrays])

    recorded = manifest.models
    further = {}
    if all(part.tensors.final is not None for part in built):
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
            "theta_read": ((*cells, "question"), gather(lambda t: t.theta_read)),
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
            "stored_twice": sum(part.found.twice for part in built),
            "stored_rows": sum(part.found.rows for part in built),
            "largest_theta_error": max((part.found.largest_error for part in built), default=0.0),
        },
    )
    return dataset
