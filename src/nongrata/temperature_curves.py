"""Exact accuracy over a fine grid of temperatures, from passes that hold whole distributions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nongrata.analysis.temperature_factors import temperature_factors
from nongrata.analysis.temperature_points import Setting
from nongrata.analysis.temperature_rows import (
    ModelTemperatures,
    SettingWithout,
    TemperatureCurve,
    TemperatureCurves,
)
from nongrata.analysis.temperature_sums import curves_of_model
from nongrata.errors import NongrataError
from nongrata.interop.imported import is_import
from nongrata.manifest import Manifest
from nongrata.plan import Plan
from nongrata.run_folder import read_content
from nongrata.run_path import run_path
from nongrata.store import Store
from nongrata.temperature import Sampling

__all__ = ["TemperatureCurves", "temperature_curves"]

STEPS = 20
"""Steps from temperature 0 to the highest one of the study."""


def temperature_curves(
    folder: str | Path,
    *,
    temperatures: Sequence[float] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> TemperatureCurves:
    """Exact accuracy of every model, setting and label over temperature.

    Parameters
    ----------
    folder
        A run directory. It may be unfinished; an imported table has no curves.
    temperatures
        At which, beside the study's own; None: in 20 steps from 0 to the study's highest.
    progress
        Told how many of how many rows have been read.

    Raises
    ------
    NongrataError
        If a temperature is negative or no number.

    See Also
    --------
    nongrata.temperature.answer_distribution : one answer's distribution
    """
    folder = run_path(folder)
    if is_import(folder):
        return TemperatureCurves("an imported table holds answers, not their distributions")
    content = read_content(folder)
    plan = content.plan()
    names, set_by = [factor.name for factor in plan.study.factors], _set_by(plan)
    if not set_by:
        return TemperatureCurves("no factor of the study sets the temperature alone")
    others = tuple(name for name in names if name not in set_by)
    settings, without = _settings(plan, [names.index(name) for name in others])
    if not settings:
        return TemperatureCurves(without[0].reason, set_by, others)
    studied = sorted({heat for setting in settings for heat in setting.heats})
    grid = _grid(studied, temperatures)
    manifest, store = Manifest.read(folder), Store(folder)
    total, done = store.rows(), 0

    def told(rows: int) -> None:
        nonlocal done
        done += rows
        if progress is not None:
            progress(done, total)

    parts = []
    for spec in plan.study.models:
        record = manifest.models.get(spec.id)
        vocabulary = None if record is None else record.identity.get("vocabulary_size")
        found = curves_of_model(plan, settings, grid, store.paths(spec.id), vocabulary, told)
        curves = tuple(curve for curve in found if isinstance(curve, TemperatureCurve))
        unasked = tuple(one for one in found if isinstance(one, SettingWithout))
        parts.append(ModelTemperatures(spec.id, curves, (*without, *unasked)))
    reason = "" if any(part.curves for part in parts) else "no answers yet"
    return TemperatureCurves(reason, set_by, others, grid, tuple(studied), tuple(parts))


def _grid(studied: Sequence[float], given: Sequence[float] | None) -> tuple[float, ...]:
    if given is None:
        given = [round(studied[-1] * step / STEPS, 12) for step in range(STEPS + 1)]
    for heat in given:
        if not math.isfinite(heat) or heat < 0:
            raise NongrataError(
                f"{heat!r} is no temperature", where="temperatures", fix="use numbers from 0 on"
            )
    further = (float(h) for h in given if all(abs(h - own) > 1e-9 for own in studied))
    return tuple(sorted({*studied, *further}))


def _set_by(plan: Plan) -> tuple[str, ...]:
    """Factors that set the temperature and leave every prompt as it is."""
    shape = plan.study.shape
    levels = np.stack(np.unravel_index(np.arange(len(plan.temperature)), shape), axis=1)
    names = [factor.name for factor in plan.study.factors]
    prompts = plan.skeleton_of.reshape(-1, *shape)
    return tuple(
        name
        for name in temperature_factors(names, levels, plan.temperature)
        for axis in [names.index(name) + 1]
        if not any(_changes_letters(plan, prompts, axis))
    )


def _changes_letters(plan: Plan, prompts: NDArray[np.int32], axis: int) -> Iterator[bool]:
    """For each level of a factor, whether other prompts are read from distributions there."""
    exact = np.array([frame.reading != "free" for frame in plan.prompts.skeletons])
    first = prompts.take(0, axis=axis)
    for level in range(1, prompts.shape[axis]):
        here = prompts.take(level, axis=axis)
        yield bool(((first != here) & (exact[first] | exact[here])).any())


def _settings(
    plan: Plan, factors: Sequence[int]
) -> tuple[tuple[Setting, ...], tuple[SettingWithout, ...]]:
    """Settings of the given factors, in order: those with distributions, and the others."""
    groups: dict[tuple[str, ...], list[int]] = {}
    for c, configuration in enumerate(plan.study.configurations()):
        groups.setdefault(tuple(configuration[f].id for f in factors), []).append(c)
    settings: list[Setting] = []
    without: list[SettingWithout] = []
    seen: list[set[tuple[int, Sampling]]] = [set() for _ in plan.personas]
    for levels, columns in groups.items():
        frames = plan.skeleton_of[:, columns[0]].astype(np.intp)
        readings = sorted({plan.prompts.skeletons[frame].reading for frame in frames.tolist()})
        if "free" in readings:
            why = "its answers are read from generated text, so only what was asked is known"
            without.append(SettingWithout(levels, why))
            continue
        drawn = [plan.sampling[c] for c in columns]
        kinds = {replace(s, temperature=1.0) for s in drawn if s.temperature > 0}
        for kind in sorted(kinds or {Sampling(1.0)}):
            heats = {s.temperature for s in drawn if replace(s, temperature=1.0) == kind}
            heats |= {0.0} & {s.temperature for s in drawn}
            sent = [(int(frame), kind) for frame in frames]
            earlier = np.array([one in before for one, before in zip(sent, seen, strict=True)])
            for one, before in zip(sent, seen, strict=True):
                before.add(one)
            settings.append(
                Setting(levels, " and ".join(readings), kind, frozenset(heats), frames, earlier)
            )
    return tuple(settings), tuple(without)
