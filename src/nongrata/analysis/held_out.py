"""Stable and unstable configurations, best and worst labels: chosen on other questions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from nongrata.analysis.cube import Cube, read_cube
from nongrata.analysis.estimated import Estimated
from nongrata.analysis.held_out_rows import Choosing, HeldOutRow, ModelHeldOut, SignTest
from nongrata.analysis.model_data import ModelData, Resampling, each_model
from nongrata.analysis.one_blas_thread import one_blas_thread
from nongrata.analysis.result import Result, number
from nongrata.analysis.selection import LeftOut
from nongrata.errors import NongrataError
from nongrata.stats.accuracy import Floats
from nongrata.stats.figure import Figure
from nongrata.stats.held_out import (
    Choice,
    Contrast,
    Halves,
    best_of_all,
    best_of_each,
    extreme,
    half_width,
    mean_difference_to_others,
    select_and_judge,
    sign_test,
)

if TYPE_CHECKING:
    import polars as pl
    import xarray as xr

POINTS = 100.0
READ_IT = (
    "Stable and unstable configurations are chosen by how far their accuracies lie from those of "
    "the others, which does not favour high accuracy. So little optimism is expected, and its "
    "absence validates nothing. Between the lowest and the highest temperature it is temperature "
    "that is compared: read the rows within a temperature. Picking the best label does favour "
    "high accuracy: there the optimism is real."
)
"""What must be said beside these figures."""


@dataclass(frozen=True, slots=True)
class HeldOut(Result):
    """Choices judged in sample and held out, for every model.

    Parameters
    ----------
    stable
        Configurations asked for on either side.
    seed
        Of the split.
    models
        One each.
    signs
        Over models, where there are at least two.
    read_it
        What must be said beside the figures.
    """

    stable: int
    seed: int
    models: tuple[ModelHeldOut, ...]
    signs: tuple[SignTest, ...]
    read_it: str = READ_IT
    kind: Literal["held_out"] = "held_out"

    def of(self, model: str) -> ModelHeldOut:
        """The choices of one model."""
        return next(m for m in self.models if m.model == model)

    def __str__(self) -> str:
        parts = []
        for m in self.models:
            row = m.rows[0]
            both = f"{number(row.in_sample.estimate)} in sample, {number(row.held_out.estimate)}"
            parts.append(f"{m.model}: stable less unstable {both} held out (points)")
        return "selection: " + "; ".join(parts)

    def to_dataframe(self) -> pl.DataFrame:
        """One row per model and choice."""
        import polars as pl

        rows = []
        for m in self.models:
            for row in m.rows:
                record: dict[str, Any] = {"model": m.model}
                for field in HeldOutRow.__dataclass_fields__:
                    value = getattr(row, field)
                    if isinstance(value, Estimated):
                        record |= value.record(field)
                    elif isinstance(value, Figure):
                        record[field] = value.value if value.defined else None
                    else:
                        record[field] = list(value) if isinstance(value, tuple) else value
                rows.append(record)
        ends = {"": pl.Float64, "_se": pl.Float64, "_low": pl.Float64, "_high": pl.Float64}
        types: dict[str, Any] = {
            name + end: kind
            for name in ("in_sample", "held_out")
            for end, kind in {**ends, "_reason": pl.String}.items()
        }
        types |= {"optimism": pl.Float64, "chosen": pl.List(pl.String)}
        types["against"] = pl.List(pl.String)
        return pl.DataFrame(rows, schema_overrides=types, infer_schema_length=None)


@one_blas_thread()
def held_out(
    responses: xr.Dataset, *, stable: int = 4, resampling: Resampling | None = None
) -> HeldOut:
    """Judge what is chosen for being extreme on questions that did not choose it.

    Parameters
    ----------
    responses
        A Dataset of responses.
    stable
        How many of the most (and least) stable configurations are chosen.
    resampling
        Its seed names the split of the questions.

    Raises
    ------
    NongrataError
        If `stable` is below 1.
    """
    used = resampling or Resampling()
    parts = [held_out_of(data, stable) for data in each_model(read_cube(responses), used)]
    return held_out_over_models(parts, stable, used.seed)


def held_out_over_models(parts: Sequence[ModelHeldOut], stable: int, seed: int) -> HeldOut:
    """The choices of every model together, with a sign test over models."""
    return HeldOut(stable, seed, tuple(parts), tuple(_signs(parts)))


def held_out_of(data: ModelData, stable: int = 4) -> ModelHeldOut:
    """The choices of one model.

    Parameters
    ----------
    data
        The model.
    stable
        As in `held_out`.
    """
    if stable < 1:
        raise NongrataError(
            f"{stable} configurations cannot be chosen", where="stable", fix="give at least 1"
        )
    found = data.selection("labels")
    left_out = list(found.left_out)
    own = _halves(data, found.personas, found.configurations, complete=False)
    usable = np.flatnonzero(own.usable) if len(found.personas) else np.empty(0, np.intp)
    gone = np.setdiff1d(np.arange(len(found.configurations)), usable)
    if len(gone):
        names = tuple(data.cube.label(int(found.configurations[c])) for c in gone)
        left_out.append(LeftOut("configuration", names, "a label has no answer in a half"))
    own = _on(own, usable)
    configurations = found.configurations[usable]
    heat = temperatures(data.cube)
    heat = None if heat is None else heat[configurations]
    rows = list(_stable_rows(data.cube, configurations, heat, own, stable))
    rows += _label_rows(data, found.personas, configurations, own)
    known = np.unique(heat[~np.isnan(heat)]) if heat is not None else np.empty(0)
    several = len(known) > 1
    return ModelHeldOut(
        data.model,
        tuple(rows),
        _gap(own, heat, known),
        float(known[0]) if several else float("nan"),
        float(known[-1]) if several else float("nan"),
        len(found.personas),
        len(configurations),
        data.units.questions,
        len(data.units),
        tuple(left_out),
    )


def temperatures(cube: Cube) -> Floats | None:
    """Temperature of each configuration: as the run says, else from a factor of that name."""
    known = cube.temperature
    if known is not None:
        return known
    if "temperature" not in cube.factors:
        return None
    f = cube.factors.index("temperature")
    levels = cube.factor_levels[f]
    if not all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in levels):
        return None
    return np.asarray(levels, dtype=np.float64)[cube.levels[:, f]]


def _halves(
    data: ModelData,
    personas: NDArray[np.intp],
    configurations: NDArray[np.intp],
    *,
    complete: bool,
) -> Halves:
    first = data.units.halves(1, (data.resampling.seed, 9))[0]
    cells = np.ix_(personas, configurations)
    if data.counts is None:
        return Halves.of(data.totals[cells], None, data.units, first)
    if not complete:
        return Halves.of(data.totals[cells], data.counts[cells], data.units, first)
    there = np.ones((len(configurations), data.units.questions), bool)
    for p in personas:
        there &= data.present[p][configurations]
    totals = [data.units.totals(data.value[p][configurations] * there) for p in personas]
    counts = data.units.totals(there.astype(np.float32))
    shape = (len(personas), *counts.shape)
    stacked = np.asarray(totals, dtype=np.float32).reshape(shape)
    return Halves.of(stacked, np.broadcast_to(counts, shape), data.units, first)


def _on(halves: Halves, kept: NDArray[np.intp]) -> Halves:
    """Some of the configurations."""
    if len(kept) == halves.totals.shape[1]:
        return halves
    counts = None if halves.counts is None else halves.counts[:, kept]
    return Halves(
        halves.totals[:, kept], counts, halves.units, halves.first, halves.accuracy[:, :, kept]
    )


def _stable_rows(
    cube: Cube, configurations: NDArray[np.intp], heat: Floats | None, halves: Halves, wanted: int
) -> Iterator[HeldOutRow]:
    K = halves.totals.shape[1]
    everything = np.arange(K)
    names = [cube.label(int(c)) for c in configurations]
    kind: Choosing
    pools: list[tuple[Choosing, str, NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]] = []
    known = np.unique(heat[~np.isnan(heat)]) if heat is not None else np.empty(0)
    if heat is None or not len(known):
        pools.append(("all_configurations", "", everything, everything, everything))
    else:
        at = [np.flatnonzero(heat == t) for t in known]
        if len(known) > 1:
            pools.append(("across_temperatures", "", everything, at[0], at[-1]))
        for t, here in zip(known.tolist(), at, strict=True):
            pools.append(("within_temperature", f"{t:g}", here, here, here))
    for kind, name, among, low, high in pools:
        n = min(wanted, len(low) // 2, len(high) // 2)
        if not len(halves.totals):
            yield _no_row(kind, name, wanted, "no label is left")
        elif n < 1:
            few = min(len(low), len(high))
            there = "no configuration" if few == 0 else "one configuration"
            yield _no_row(kind, name, wanted, f"{there} to choose from")
        else:
            choose = partial(_stable_less_unstable, among=among, low=low, high=high, n=n)
            yield _row(kind, name, (n, wanted), halves, choose, names, axis=0)


def _stable_less_unstable(
    accuracy: Floats,
    *,
    among: NDArray[np.intp],
    low: NDArray[np.intp],
    high: NDArray[np.intp],
    n: int,
) -> Floats:
    """Weights of the n smallest u among `low` less the n largest among `high`."""
    u = mean_difference_to_others(accuracy, among)
    w = np.zeros(len(u))
    w[low] += extreme(u[low], n)
    w[high] -= extreme(u[high], n, largest=True)
    return np.tile(w / len(accuracy), (len(accuracy), 1))


def _label_rows(
    data: ModelData, personas: NDArray[np.intp], configurations: NDArray[np.intp], own: Halves
) -> Iterator[HeldOutRow]:
    halves = own
    if data.counts is not None:  # labels are compared on the same questions
        halves = _halves(data, personas, configurations, complete=True)
        halves = _on(halves, np.flatnonzero(halves.usable))
    P, K = halves.totals.shape[:2]
    names = [data.cube.personas[int(p)] for p in personas]
    choices: list[tuple[Choosing, Choice]] = [
        ("best_label", best_of_all),
        ("worst_label", partial(best_of_all, worst=True)),
        ("best_label_of_each_configuration", best_of_each),
        ("worst_label_of_each_configuration", partial(best_of_each, worst=True)),
    ]
    for kind, choose in choices:
        if P < 2:
            yield _no_row(kind, "", 1, "fewer than two labels")
        elif K < 1:
            yield _no_row(kind, "", 1, "no question is complete for all labels in both halves")
        else:
            alone = names if "each" not in kind else None
            yield _row(kind, "", (1, 1), halves, choose, alone, axis=1)


def _row(
    kind: Choosing,
    name: str,
    chosen: tuple[int, int],
    halves: Halves,
    choose: Choice,
    names: list[str] | None,
    axis: int,
) -> HeldOutRow:
    found = select_and_judge(halves, choose)
    weight = found.weights[2].mean(axis=axis)
    picked: tuple[str, ...] = ()
    against: tuple[str, ...] = ()
    if names is not None:
        picked = tuple(n for n, w in zip(names, weight, strict=True) if w > 0)
        if axis == 0:
            against = tuple(n for n, w in zip(names, weight, strict=True) if w < 0)
    gap = POINTS * (found.in_sample.value - found.held_out.value)
    return HeldOutRow(
        kind,
        name,
        *chosen,
        _estimated(found.in_sample),
        _estimated(found.held_out),
        Figure(gap),
        POINTS * found.folds[0],
        POINTS * found.folds[1],
        picked,
        against,
    )


def _no_row(kind: Choosing, name: str, wanted: int, why: str) -> HeldOutRow:
    nothing, nan = Estimated.undefined(why), float("nan")
    gap = Figure.undefined(why)
    return HeldOutRow(kind, name, 0, wanted, nothing, nothing, gap, nan, nan, (), ())


def _gap(halves: Halves, heat: Floats | None, known: Floats) -> Estimated:
    if heat is None or len(known) < 2 or not len(halves.totals):
        return Estimated.undefined("there are not two temperatures")
    w = np.zeros(halves.totals.shape[:2])
    for sign, t in ((1, known[0]), (-1, known[-1])):
        here = heat == t
        w[:, here] = sign / (len(w) * here.sum())
    return _estimated(halves.contrast(w, 2))


def _estimated(found: Contrast) -> Estimated:
    return Estimated.around(found.value, found.se, half_width(found), POINTS)


def _signs(parts: Sequence[ModelHeldOut]) -> Iterator[SignTest]:
    if len(parts) < 2:
        return
    by_choice: dict[tuple[Choosing, str], list[HeldOutRow]] = {}
    for part in parts:
        for row in part.rows:
            if row.choosing not in ("best_label", "worst_label") and "each" not in row.choosing:
                by_choice.setdefault((row.choosing, row.name), []).append(row)
    for (choosing, name), rows in by_choice.items():
        both = [
            (row.in_sample.estimate.value, row.held_out.estimate.value)
            for row in rows
            if row.held_out.estimate.defined and row.in_sample.estimate.value != 0
        ]
        both = [pair for pair in both if pair[1] != 0]
        n = len(both)
        if n:
            inside, outside = (sum(pair[i] > 0 for pair in both) for i in range(2))
            p = sign_test(inside, n), sign_test(outside, n)
            yield SignTest(choosing, name, n, inside, outside, *p)
