"""What each factor does to accuracy, and factors that change several things taken apart."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from nongrata.analysis.cube import Cube, read_cube
from nongrata.analysis.model_data import ModelData, Resampling, each_model
from nongrata.analysis.one_blas_thread import one_blas_thread
from nongrata.analysis.result import Result
from nongrata.analysis.selection import LeftOut
from nongrata.analysis.task_format_rows import (
    Difference,
    FactorApart,
    FactorEffect,
    LabelEffect,
    LevelEffect,
    ModelTaskFormat,
    SameWording,
    SubEffect,
    Variance,
    Wording,
)
from nongrata.stats.accuracy import Floats
from nongrata.stats.contrasts import Means, linear_totals, means_with_intervals
from nongrata.stats.random_levels import SampledMean
from nongrata.stats.task_format import (
    Component,
    Effect,
    effect_over_wordings,
    effects,
    level_weights,
    variance_between,
    wordings,
)

if TYPE_CHECKING:
    import polars as pl
    import xarray as xr

READ_IT = (
    "Effects are differences of accuracy in points, averaged over labels and over the settings of "
    "all other factors, paired by question. They hold for the levels of this study."
)
_SEED = 43


@dataclass(frozen=True, slots=True)
class TaskFormat(Result):
    """The effects of factors and of what they consist of.

    Parameters
    ----------
    draws, seed
        How simultaneous intervals drew at random.
    models
        One entry a model.
    """

    draws: int
    seed: int
    models: tuple[ModelTaskFormat, ...]
    read_it: str = READ_IT
    kind: Literal["task_format"] = "task_format"

    def of(self, model: str) -> ModelTaskFormat:
        """The effects of one model."""
        return next(each for each in self.models if each.model == model)

    def __str__(self) -> str:
        parts = []
        for model in self.models:
            ranges = [(f.range, f.factor) for f in model.factors if not math.isnan(f.range)]
            largest = max(ranges, default=None)
            parts.append(
                f"{model.model}: {model.reason or 'no factor has two levels to compare'}"
                if largest is None
                else f"{model.model}: levels differ most by {largest[1]} ({largest[0]:.2f} points)"
            )
        return "; ".join(parts)

    def to_dataframe(self) -> pl.DataFrame:
        """One row per model and effect: levels against their mean, sub-factors, interactions."""
        import polars as pl

        first = ("model", "scope", "factor", "name", "levels")
        rows = [
            {**dict(zip(first, names, strict=True)), **{n: getattr(effect, n) for n in _NUMBERS}}
            for model in self.models
            for names, effect in _named(model)
        ]
        types: dict[str, Any] = {n: pl.Float64 for n in _NUMBERS if n != "reason"}
        schema = {**dict.fromkeys(first, pl.String), **types, "reason": pl.String}
        return pl.DataFrame(rows, schema=schema).with_columns(pl.col(list(types)).fill_nan(None))


_NUMBERS = list(Difference.__dataclass_fields__)


def _named(model: ModelTaskFormat) -> list[tuple[tuple[str, ...], Difference]]:
    out: list[tuple[tuple[str, ...], Difference]] = [
        ((model.model, "level", f.factor, f.factor, str(row.level)), row.effect)
        for f in model.factors
        for row in f.levels
    ]
    out += [
        (
            (
                model.model, e.kind, apart.factor, " x ".join(e.sub_factors),
                " x ".join(f"{up} - {down}" for up, down in e.levels),
            ),
            e.average,
        )
        for apart in model.apart
        for e in apart.effects
    ]  # fmt: skip
    return out


@one_blas_thread()
def task_format(responses: xr.Dataset, *, resampling: Resampling | None = None) -> TaskFormat:
    """Measure the effect of every level of every factor, and take factors apart.

    A factor is taken apart if the Dataset has coordinates on its dimension, the sub-factors: such
    as ``elicitation`` and ``reminder`` on ``task_format``. Levels that agree in all sub-factors
    are wordings of one another.

    Parameters
    ----------
    responses
        A Dataset of responses.
    resampling
        Numbers of draws, and the seed.

    Returns
    -------
    TaskFormat
        Differences in points.
    """
    cube, how = read_cube(responses), resampling or Resampling()
    models = tuple(task_format_of(data) for data in each_model(cube, how))
    return TaskFormat(how.draws, how.seed, models)


def task_format_of(data: ModelData) -> ModelTaskFormat:
    """The effects of one model's factors."""
    cube, selection, units = data.cube, data.selection("labels"), data.units
    kept = selection.configurations
    answered = data.present[np.ix_(selection.personas, kept)].sum(axis=2)
    whole = (answered > 0).all(axis=1)
    gone = tuple(cube.personas[p] for p in selection.personas[~whole])
    left_out = tuple(x for x in selection.left_out if x.why != "a control, not a label")
    if gone:
        left_out += (LeftOut("persona", gone, "a configuration without any answer"),)
    labels = selection.personas[whole]
    reason = "" if len(labels) else "no label has answers in all configurations"
    study = _Study(data, labels, kept)
    return ModelTaskFormat(
        model=data.model,
        factors=() if reason else tuple(_factor(study, f) for f in range(len(cube.factors))),
        apart=()
        if reason
        else tuple(
            _apart(study, f, names, codes, texts)
            for f in range(len(cube.factors))
            for names, codes, texts in [_sub_factors(cube, f)]
            if names and len(study.levels(f)[0]) > 1 and study.levels(f)[2]
        ),
        labels=len(labels),
        configurations=len(kept),
        questions=units.questions,
        clusters=len(units),
        df=units.degrees_of_freedom,
        fewest_questions=int(answered[whole].min(initial=units.questions)) if len(labels) else 0,
        design_effect=study.design_effect() if not reason else math.nan,
        left_out=left_out,
        reason=reason,
    )


class _Study:
    """Cluster totals of one model, by label, averaged over configurations as asked."""

    def __init__(self, data: ModelData, labels: NDArray[np.intp], kept: NDArray[np.intp]) -> None:
        self.data, self.labels, self.kept = data, labels, kept
        self.units = data.units
        self.average = np.zeros((len(kept), len(data.units)))
        for p in labels.tolist():
            self.average += self.totals(p) / len(labels)

    def totals(self, p: int) -> Any:
        """Cluster totals of one label in each configuration, shape (K, G)."""
        counts = None if self.data.counts is None else self.data.counts[p, self.kept]
        return linear_totals(self.data.totals[p, self.kept], counts, self.units.sizes)

    def levels(self, factor: int) -> tuple[NDArray[np.intp], Floats, int]:
        """Levels that occur, the weights that average by level, and how many settings."""
        levels = self.data.cube.levels[self.kept]
        weights, settings = level_weights(levels, factor)
        occurring = np.unique(levels[:, factor])
        return occurring, weights[occurring], settings

    def means(self, totals: Floats) -> Means:
        """Intervals of means, in shares."""
        how = self.data.resampling
        return means_with_intervals(totals, self.units, (how.seed, _SEED), 10 * how.draws)

    def design_effect(self) -> float:
        """Of the mean accuracy."""
        if self.units.singletons and self.units.strata == 1:
            return 1.0
        value, there = np.zeros(self.units.questions), np.zeros(self.units.questions)
        for p in self.labels.tolist():
            value += self.data.value[p, self.kept].sum(axis=0, dtype=np.float64)
            there += self.data.present[p, self.kept].sum(axis=0)
        seen = there > 0
        return float(self.units.on(seen).design_effect(value[seen] / there[seen]))


def _sub_factors(
    cube: Cube, factor: int
) -> tuple[tuple[str, ...], NDArray[np.intp], list[list[str]]]:
    """Names of a factor's sub-factors, levels' codes (L, S), and the levels' names."""
    dim = cube.factors[factor]
    found = [
        (str(name), [str(value) for value in coordinate.to_numpy().tolist()])
        for name, coordinate in cube.dataset.coords.items()
        if coordinate.dims == (dim,) and str(name) != dim
    ]
    found = [(name, values) for name, values in found if len(set(values)) > 1]
    names = [list(dict.fromkeys(values)) for _, values in found]
    codes = [[n.index(v) for v in values] for n, (_, values) in zip(names, found, strict=True)]
    table = np.array(codes, dtype=np.intp).T if found else np.zeros((0, 0), dtype=np.intp)
    return tuple(name for name, _ in found), table, names


def _factor(study: _Study, factor: int) -> FactorEffect:
    cube = study.data.cube
    levels, weights, settings = study.levels(factor)
    name, nothing = cube.factors[factor], Variance(*(math.nan,) * 5, "nothing to compare")
    reason = ""
    if len(levels) < 2:
        reason = "one level"
    elif not settings:
        reason = "no setting of the other factors was asked with every level"
    if reason:
        return FactorEffect(name, settings, (), nothing, math.nan, reason)
    totals = weights @ study.average
    means = study.means(totals - totals.mean(axis=0))
    accuracy = totals.sum(axis=1) / study.units.questions
    covariance = study.units.covariance_of_total_means(totals)
    between = variance_between(accuracy, covariance, [np.arange(len(levels))])
    return FactorEffect(
        name, settings,
        tuple(
            LevelEffect(cube.factor_levels[factor][level], 100 * float(accuracy[i]), _at(means, i))
            for i, level in enumerate(levels.tolist())
        ),
        _variance(between, study.units.degrees_of_freedom),
        100 * float(np.ptp(accuracy)),
    )  # fmt: skip


def _apart(
    study: _Study,
    factor: int,
    names: tuple[str, ...],
    codes: NDArray[np.intp],
    texts: list[list[str]],
) -> FactorApart:
    occurring, weights, _ = study.levels(factor)
    sub = codes[occurring]
    average = weights @ study.average
    by_label = np.stack([weights @ study.totals(p) for p in study.labels.tolist()])
    found = effects(sub)
    known = [e for e in found if e.contexts]
    accuracy = average.sum(axis=1) / study.units.questions
    covariance = study.units.covariance_of_total_means(average)
    groups = wordings(sub)
    family = study.means(np.array([e.coefficients @ average for e in known])) if known else None
    rows, place = [], 0
    for effect in found:
        levels = tuple(
            (texts[s][up], texts[s][down])
            for s, (up, down) in zip(effect.sub_factors, effect.levels, strict=True)
        )
        which = tuple(names[s] for s in effect.sub_factors)
        if not effect.contexts or family is None:
            rows.append(_confounded(effect, which, levels))
            continue
        totals = np.tensordot(by_label, effect.coefficients, axes=(1, 0))
        rows.append(
            SubEffect(
                effect.kind, which, levels, effect.contexts, _at(family, place),
                effect_over_wordings(
                    effect.coefficients, accuracy, covariance, groups, family.df
                ).times(100.0),
                *_by_label(study, totals),
            )
        )  # fmt: skip
        place += 1
    wording = _wording(study, factor, occurring, sub, texts, average, by_label)
    return FactorApart(study.data.cube.factors[factor], names, tuple(rows), wording)


def _confounded(
    effect: Effect, which: tuple[str, ...], levels: tuple[tuple[str, str], ...]
) -> SubEffect:
    why = (
        "no two levels of the factor differ in this alone"
        if effect.kind == "effect"
        else "not all four combinations occur"
    )
    nothing = Difference(*(math.nan,) * 8, why)
    unknown = SampledMean.undefined(why)
    no_variance = Variance(*(math.nan,) * 5, why)
    return SubEffect(effect.kind, which, levels, 0, nothing, unknown, (), no_variance)


def _by_label(study: _Study, totals: Floats) -> tuple[tuple[LabelEffect, ...], Variance]:
    means = study.means(totals)
    covariance = study.units.covariance_of_total_means(totals)
    between = variance_between(means.estimate, covariance, [np.arange(len(totals))])
    names = study.data.cube.personas
    rows = tuple(LabelEffect(names[p], _at(means, i)) for i, p in enumerate(study.labels.tolist()))
    return rows, _variance(between, means.df, "one label")


def _wording(
    study: _Study,
    factor: int,
    occurring: NDArray[np.intp],
    sub: NDArray[np.intp],
    texts: list[list[str]],
    average: Floats,
    by_label: Floats,
) -> Wording:
    groups, units = wordings(sub), study.units
    accuracy = 100 * average.sum(axis=1) / units.questions
    levels = study.data.cube.factor_levels[factor]
    combinations = tuple(
        SameWording(
            tuple(texts[s][code] for s, code in enumerate(sub[group[0]].tolist())),
            tuple(levels[level] for level in occurring[group].tolist()),
            tuple(accuracy[group].tolist()),
            float(np.ptp(accuracy[group])),
        )
        for group in groups
    )
    reason = ""
    if all(len(group) == 1 for group in groups):
        reason = (
            "each combination has one wording: the design cannot tell an effect of its sub-factors "
            "from an effect of the words that were chosen"
        )
    P, L = len(by_label), len(average)
    flat = by_label.reshape(P * L, -1)
    of_label = (
        variance_between(
            flat.sum(axis=1) / units.questions,
            units.covariance_of_total_means(flat),
            [p * L + group for p in range(P) for group in groups],
        )
        if not reason
        else None
    )
    of_average = variance_between(accuracy / 100, units.covariance_of_total_means(average), groups)
    df = units.degrees_of_freedom
    return Wording(
        combinations, _variance(of_average, df, reason), _variance(of_label, df, reason), reason
    )


def _at(means: Means, i: int) -> Difference:
    points = ("estimate", "se", "low", "high", "low_together", "high_together")
    numbers = {name: 100 * float(getattr(means, name)[i]) for name in points}
    reason = "" if means.se[i] > 0 else "nothing varies from question to question"
    return Difference(
        **numbers, p=float(means.p[i]), p_together=float(means.p_together[i]), reason=reason
    )


def _variance(found: Component | None, df: int, reason: str = "") -> Variance:
    if found is None or df < 1:
        return Variance(*(math.nan,) * 5, reason or "one cluster of questions has no spread")
    variance = 1e4 * found.variance
    return Variance(
        variance, 1e4 * found.se, 1e4 * found.low, 1e4 * found.high, math.sqrt(max(variance, 0.0))
    )
