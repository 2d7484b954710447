"""Accuracy of labels, configurations, levels, domains and models, with intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from nongrata.analysis.cube import configuration_label, read_cube
from nongrata.analysis.model_data import ModelData, Resampling, each_model
from nongrata.analysis.one_blas_thread import one_blas_thread
from nongrata.analysis.result import Result
from nongrata.stats.accuracy import ANSWERED, Array, Floats, is_present
from nongrata.stats.accuracy_intervals import average_accuracies, rare_rate_interval
from nongrata.stats.figure import Figure
from nongrata.stats.influence import Estimates, scattered
from nongrata.stats.units import Units

if TYPE_CHECKING:
    import polars as pl
    import xarray as xr

Scope = Literal["model", "label", "control", "configuration", "level", "domain"]

FEW_CLUSTERS = 10.0
"""Degrees of freedom below which an interval is called doubtful."""


@dataclass(frozen=True, slots=True)
class IntervalRow:
    """Accuracy of one thing, averaged over all others, in per cent.

    Parameters
    ----------
    model, scope, name
        Which; `name` is empty for the model itself.
    factor
        For a level, its factor; else empty.
    accuracy
        Mean over cells; unread answers counted as wrong.
    se
        Standard error from clusters of questions, in points.
    low, high
        95% interval: percentiles of resamples of the clusters, widened for few clusters as t is.
    questions, clusters
        What it rests on.
    design_effect
        Variance over what it would be, were every question on its own; ``nan`` if nothing varies.
    df
        Degrees of freedom: clusters less strata, fewer if clusters differ much in size.
    doubtful
        Whether there are too few clusters for the interval to be trusted.
    no_interval
        Why there is no interval, else empty.
    unread, unread_low, unread_high
        Per cent of answers that could not be read, with its 95% interval; ``nan`` unless a label,
        a control or the model.
    """

    model: str
    scope: Scope
    name: str
    factor: str
    accuracy: Figure
    se: float
    low: float
    high: float
    questions: int
    clusters: int
    design_effect: float
    df: float
    doubtful: bool
    no_interval: str
    unread: float = math.nan
    unread_low: float = math.nan
    unread_high: float = math.nan


@dataclass(frozen=True, slots=True)
class AccuracyIntervals(Result):
    """Accuracies with intervals. Properties of prompts and models, never of people.

    Parameters
    ----------
    rows
        By model, then scope, then in the study's order.
    draws, seed
        Resamples of the questions, and the seed.
    """

    rows: tuple[IntervalRow, ...]
    draws: int
    seed: int
    level: float = 0.95
    kind: Literal["accuracy_intervals"] = "accuracy_intervals"

    def of(self, model: str, scope: Scope | None = None) -> tuple[IntervalRow, ...]:
        """The rows of one model."""
        return tuple(r for r in self.rows if r.model == model and scope in (None, r.scope))

    def __str__(self) -> str:
        parts = []
        for row in self.rows:
            if row.scope == "model":
                said = "undefined"
                if row.accuracy.defined:
                    said = f"{row.accuracy.value:.1f}% ({row.low:.1f} to {row.high:.1f})"
                parts.append(f"{row.model} {said}")
        return "accuracy with 95% intervals: " + "; ".join(parts)

    def to_dataframe(self) -> pl.DataFrame:
        """One row for each row here."""
        import polars as pl

        texts = ("model", "scope", "name", "factor")
        floats = ("accuracy", "se", "low", "high", "design_effect", "df")
        unread = ("unread", "unread_low", "unread_high")
        columns: dict[str, list[Any]] = {
            name: [getattr(row, name) for row in self.rows]
            for name in (
                *texts,
                *floats,
                "questions",
                "clusters",
                "doubtful",
                "no_interval",
                *unread,
            )
        }
        columns["accuracy"] = [row.accuracy.value for row in self.rows]
        kinds: dict[str, Any] = dict.fromkeys(texts, pl.String)
        kinds |= dict.fromkeys((*floats, *unread), pl.Float64)
        kinds |= {"questions": pl.Int64, "clusters": pl.Int64, "doubtful": pl.Boolean}
        kinds |= {"no_interval": pl.String}
        frame = pl.DataFrame(columns, schema_overrides=kinds)
        return frame.with_columns(pl.col(*floats, *unread).fill_nan(None))


@one_blas_thread()
def accuracy_intervals(
    responses: xr.Dataset, *, resampling: Resampling | None = None
) -> AccuracyIntervals:
    """Accuracy with 95% intervals over questions.

    Parameters
    ----------
    responses
        A Dataset of responses.
    resampling
        Numbers of draws, and the seed.
    """
    asked = resampling or Resampling()
    rows: list[IntervalRow] = []
    for data in each_model(read_cube(responses), asked):
        rows.extend(accuracy_intervals_of(data))
    return AccuracyIntervals(tuple(rows), asked.draws, asked.seed)


def accuracy_intervals_of(data: ModelData) -> tuple[IntervalRow, ...]:
    """Accuracy with 95% intervals over questions, of one model.

    Labels, controls and the model are means over distinct cells: a structural duplicate counts
    once. Configurations, levels, domains and the model are means over labels, controls left out if
    there are labels.

    Parameters
    ----------
    data
        The model.
    """
    cube = data.cube
    P, K = len(cube.personas), len(cube.levels)
    labels = ~cube.is_control if (~cube.is_control).any() else np.ones(P, dtype=bool)
    obtained = data.present.any(axis=2)
    by_persona = (obtained & ~cube.duplicate).astype(np.float64)
    by_persona /= np.maximum(by_persona.sum(axis=1, keepdims=True), 1.0)
    used = labels & by_persona.any(axis=1)
    model = np.where(used[:, None], by_persona, 0.0) / max(int(used.sum()), 1)
    in_configuration = np.where(labels[:, None], obtained, False).astype(np.float64)
    in_configuration /= np.maximum(in_configuration.sum(axis=0), 1.0)

    which: list[tuple[Scope, str, str]] = [("model", "", "")]
    coefficients = [model]
    for p, name in enumerate(cube.personas):
        which.append(("control" if cube.is_control[p] else "label", name, ""))
        coefficients.append(np.where(np.arange(P)[:, None] == p, by_persona, 0.0))
    for c in range(K):
        which.append(("configuration", configuration_label(cube.configuration(c)), ""))
        coefficients.append(np.where(np.arange(K) == c, in_configuration, 0.0))
    for f, factor in enumerate(cube.factors):
        for i, level in enumerate(cube.factor_levels[f]):
            here = in_configuration * (cube.levels[:, f] == i)
            which.append(("level", str(level), factor))
            coefficients.append(here / max(int(here.any(axis=0).sum()), 1))
    everything = np.stack(coefficients)
    present = None if data.complete else data.present
    found, effect = average_accuracies(data.value, present, data.units, everything)
    unread = _unread_rows(data, everything[: P + 1])
    rows = _rows(data, which, found, effect, data.units, unread)
    for domain in cube.domains:
        where = np.flatnonzero(cube.domain == domain)
        units = data.units.on(where)
        own, own_effect = average_accuracies(
            data.value[:, :, where],
            None if present is None else present[:, :, where],
            units,
            model[None],
        )
        placed = scattered(own, data.units, where)
        rows.extend(_rows(data, [("domain", domain, "")], placed, own_effect, units, []))
    return tuple(rows)


def _rows(
    data: ModelData,
    which: list[tuple[Scope, str, str]],
    found: Estimates,
    effect: Floats,
    units: Units,
    unread: list[tuple[float, float, float]],
) -> list[IntervalRow]:
    low, high = found.percentile_interval(data.weights)
    se = found.se
    rows = []
    for j, (scope, name, factor) in enumerate(which):
        value = float(found.value[j])
        figure = Figure.undefined("no answers yet") if math.isnan(value) else Figure(100.0 * value)
        three = tuple(100.0 * x for x in unread[j]) if j < len(unread) else (math.nan,) * 3
        reason = _no_interval(figure, float(se[j]), len(units))
        ends = (math.nan, math.nan) if reason else (100 * float(low[j]), 100 * float(high[j]))
        rows.append(
            IntervalRow(
                data.model, scope, name, factor, figure, 100.0 * float(se[j]),
                *ends, units.questions, len(units), float(effect[j]), float(found.df[j]),
                bool(found.df[j] < FEW_CLUSTERS), reason, *three,
            )
        )  # fmt: skip
    return rows


def _no_interval(accuracy: Figure, se: float, clusters: int) -> str:
    if not accuracy.defined:
        return accuracy.reason
    if clusters < 2:
        return "one cluster of questions has no spread"
    if math.isnan(se):
        return "too much of the data is one cluster of questions"
    return "" if se > 0 else "nothing varies over questions"


def _unread_rows(data: ModelData, coefficients: Floats) -> list[tuple[float, float, float]]:
    """Share of answers that could not be read, with an interval, for each average of cells."""
    outcome = data.answers.outcome
    there = is_present(outcome)
    lost = there & (outcome != ANSWERED)
    if not lost.any():
        drawn = np.asarray(there.any(axis=(2, 3)))
        nothing = np.where(_mean_over(coefficients, drawn), 0.0, np.nan)
        se = np.zeros(len(nothing))
    else:
        n = there.sum(axis=2)
        share = (lost.sum(axis=2) / np.maximum(n, 1)).astype(np.float32)
        found, _ = average_accuracies(share, n > 0, data.units, coefficients)
        nothing, se = found.value, found.se
    return [
        (float(rate), *rare_rate_interval(float(rate), float(s), len(data.units)))
        for rate, s in zip(nothing, se, strict=True)
    ]


def _mean_over(coefficients: Floats, drawn: Array) -> Array:
    """Whether an average has any cell that was drawn."""
    return np.asarray(((coefficients > 0) & drawn).any(axis=(1, 2)))
