"""Where the variance of answers comes from: labels, factors, questions and their interactions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from nongrata.analysis.components_inputs import PERSONA, grid_of
from nongrata.analysis.components_reliability import GOAL, Reliability, reliability_of
from nongrata.analysis.cube import read_cube
from nongrata.analysis.model_data import ModelData, Resampling, each_model
from nongrata.analysis.one_blas_thread import one_blas_thread
from nongrata.analysis.result import Result
from nongrata.analysis.selection import LeftOut, Personas
from nongrata.analysis.temperature_factors import temperature_factors
from nongrata.errors import NongrataError
from nongrata.stats.figure import Figure
from nongrata.stats.question_components import (
    QUESTION,
    QuestionComponents,
    question_components,
)
from nongrata.stats.sums_of_squares import Effect

if TYPE_CHECKING:
    import polars as pl
    import xarray as xr

FEWEST_CLUSTERS = 10
"""Clusters of questions from which on an interval is given."""
_Z = 1.959963984540054


@dataclass(frozen=True, slots=True)
class ComponentRow:
    """One effect of the design. All variances are in squared points (accuracy in per cent).

    Parameters
    ----------
    effect
        Its facets; ``("persona", "question")`` is how differently labels find the same questions.
    degrees_of_freedom, mean_square
        Of the analysis of variance.
    variance, se, low, high
        Component with every facet read as drawn from more of its kind, its standard error over
        samples of questions, and a 95% interval for the levels as given. Can be negative. The
        standard error and the ends are ``nan`` where there are none (`ModelComponents.no_interval`,
        or nothing varies).
    given, given_se, given_low, given_high
        The same with `VarianceComponents.fixed` held at the levels of this study: the variance
        among these levels, what they interact with averaged over. In effects with ``"question"``
        it holds, over the number of cells, what the last effect holds. With all of them held, the
        interval of an effect without ``"question"`` is not symmetric (`stats.squared_effects`).
    per_cent
        `variance` in per cent of the sum over all effects; ``nan`` where that is not above 0.
    points, points_low, points_high
        Typical size among the levels as given, in points: roots of `given`, `given_low` and
        `given_high`, 0 where they are negative.
    """

    effect: Effect
    degrees_of_freedom: int
    mean_square: float
    variance: float
    se: float
    low: float
    high: float
    given: float
    given_se: float
    given_low: float
    given_high: float
    per_cent: float
    points: float
    points_low: float
    points_high: float


@dataclass(frozen=True, slots=True)
class ModelComponents:
    """Variance components of one model.

    Parameters
    ----------
    model
        Which.
    reason
        Why there are none; empty where there are.
    personas, configurations, questions, clusters, sources, replicates
        What they rest on; ``"question"`` in an effect means a cluster where there are any, and
        questions within their source where there are several sources.
    missing
        Answers of these cells that are missing, per cent.
    design_effect
        Variance of the mean accuracy over what it would be, were every question on its own;
        ``nan`` where nothing varies.
    noise
        Sampling variance of one observation, in squared points: 0 where answers are exact;
        undefined where each was drawn once.
    confounded
        Whether the last effect holds the noise of single answers as well.
    no_interval
        Why there are no intervals; empty where there are.
    rows
        One for each effect, main effects first, the interaction of all facets last.
    reliability
        How dependable a comparison of the labels is.
    left_out
        Personas and configurations that are not in it.
    """

    model: str
    reason: str
    personas: int
    configurations: int
    questions: int
    clusters: int
    sources: int
    replicates: int
    missing: float
    design_effect: float
    noise: Figure
    confounded: bool
    no_interval: str
    rows: tuple[ComponentRow, ...]
    reliability: tuple[Reliability, ...]
    left_out: tuple[LeftOut, ...]

    def of(self, *effect: str) -> ComponentRow:
        """The row of an effect, its facets in any order."""
        for row in self.rows:
            if set(row.effect) == set(effect):
                return row
        raise KeyError(effect)

    @property
    def about_noise(self) -> str:
        """What the interaction of all facets holds, as a sentence without a final full stop."""
        if self.confounded:
            return (
                "each answer was drawn once, so the last effect holds the noise of single answers "
                "as well: the two cannot be told apart without replicates or exact probabilities"
            )
        if self.noise.value == 0:
            return "answers are exact, so no effect holds noise of single answers"
        return "the noise of single answers, known from replicates, is taken off the last effect"


@dataclass(frozen=True, slots=True)
class VarianceComponents(Result):
    """Variance components of every model.

    Parameters
    ----------
    persona_set
        ``"labels"``, ``"with_controls"`` or ``"as_preprint"``.
    draws, seed
        Of the bootstrap.
    goal
        The coefficient that "how many are needed" is about.
    fixed
        Facets whose levels are as given in the columns ``given``.
    models
        One for each model.
    """

    persona_set: Personas
    draws: int
    seed: int
    goal: float
    fixed: tuple[str, ...]
    models: tuple[ModelComponents, ...]
    kind: Literal["variance_components"] = "variance_components"

    def of(self, model: str) -> ModelComponents:
        """The components of one model."""
        return next(part for part in self.models if part.model == model)

    def __str__(self) -> str:
        return "variance components: " + "; ".join(map(_in_short, self.models))

    def to_dataframe(self) -> pl.DataFrame:
        """One row per model and effect; what is undefined is null."""
        import polars as pl

        names = [f for f in ComponentRow.__dataclass_fields__ if f != "effect"]
        rows = [
            {
                "persona_set": self.persona_set,
                "model": part.model,
                "effect": " x ".join(row.effect),
                "facets": len(row.effect),
                **{name: _or_none(getattr(row, name)) for name in names},
                "interval_reason": _without_interval(part, row),
            }
            for part in self.models
            for row in part.rows
        ]
        kinds = {
            "persona_set": pl.String,
            "model": pl.String,
            "effect": pl.String,
            "facets": pl.Int64,
            **dict.fromkeys(names, pl.Float64),
            "degrees_of_freedom": pl.Int64,
            "interval_reason": pl.String,
        }
        return pl.DataFrame(rows, schema=kinds)


@one_blas_thread()
def variance_components(
    responses: xr.Dataset,
    personas: Personas = "labels",
    *,
    resampling: Resampling | None = None,
    fixed: Sequence[str] | None = None,
    goal: float = GOAL,
) -> VarianceComponents:
    """Variance components of personas, factors and questions, G and D study, for each model.

    Parameters
    ----------
    responses
        A Dataset of responses.
    personas
        ``"labels"``: without controls and structural duplicates; ``"with_controls"``: without
        duplicates; ``"as_preprint"``: every persona and configuration.
    resampling
        Numbers of draws, and the seed.
    fixed
        Facets held at the levels of the study in the columns ``given``: ``"persona"`` and names
        of factors. None: all of them, so that questions alone are drawn.
    goal
        The coefficient that "how many are needed" is about, between 0 and 1.

    Raises
    ------
    NongrataError
        If `fixed` names what is no facet of the cells, or `goal` can be no coefficient.
    """
    how = resampling or Resampling()
    cube = read_cube(responses)
    if not 0 < goal < 1:
        raise NongrataError(
            f"no coefficient can be {goal:g}", where="goal", fix="use a number between 0 and 1"
        )
    known = (PERSONA, *cube.factors)
    held = known if fixed is None else tuple(fixed)
    strange = [name for name in held if name not in known]
    if strange:
        raise NongrataError(
            f"{strange[0]!r} is no facet of the cells",
            where="fixed",
            fix=f"use some of {', '.join(known)}",
        )
    parts = tuple(components_of(data, personas, held, goal) for data in each_model(cube, how))
    return VarianceComponents(personas, how.draws, how.seed, goal, held, parts)


def components_of(
    data: ModelData,
    personas: Personas = "labels",
    fixed: Sequence[str] | None = None,
    goal: float = GOAL,
) -> ModelComponents:
    """Variance components of one model.

    Parameters
    ----------
    data
        The model's answers.
    personas
        Which personas.
    fixed
        Facets held at the levels of the study in the columns ``given``; None: all but questions.
    goal
        The coefficient that "how many are needed" is about.
    """
    selection = data.selection(personas)
    grid = grid_of(data, selection)
    personas_left, configurations = len(selection.personas), len(selection.configurations)
    if isinstance(grid, str):
        unknown = Figure.undefined(grid)
        return ModelComponents(
            data.model, grid, personas_left, configurations, data.units.questions, len(data.units),
            data.units.strata, data.cube.replicates, math.nan, math.nan, unknown, False, grid,
            (), (), selection.left_out,
        )  # fmt: skip
    found = question_components(
        grid.contributions,
        grid.units,
        grid.facets,
        grid.sizes,
        grid.weights,
        noise=grid.noise,
        noise_of_one=grid.noise_of_one,
        lost=grid.lost,
    )
    no_interval = ""
    if len(grid.units) < FEWEST_CLUSTERS:
        no_interval = f"fewer than {FEWEST_CLUSTERS} clusters of questions"
    elif len(grid.weights) < 2:
        no_interval = "no resamples were asked for"
    reliability: tuple[Reliability, ...] = ()
    if PERSONA in grid.facets:
        cube = data.cube
        chosen = temperature_factors(cube.factors, cube.levels, cube.temperature)
        reliability = reliability_of(found, chosen, data.cube.replicates, not no_interval, goal)
    noise = found.components.noise
    names = grid.facets if fixed is None else [name for name in grid.facets if name in fixed]
    held = found.given(*names)
    return ModelComponents(
        model=data.model,
        reason="",
        personas=personas_left,
        configurations=configurations,
        questions=grid.units.questions,
        clusters=len(grid.units),
        sources=grid.units.strata,
        replicates=data.cube.replicates,
        missing=grid.missing,
        design_effect=grid.design_effect,
        noise=Figure.undefined("each answer was drawn once")
        if math.isnan(noise)
        else Figure(1e4 * noise),
        confounded=math.isnan(noise),
        no_interval=no_interval,
        rows=_rows(
            found,
            held,
            with_interval=not no_interval,
            everything_held=set(names) == set(grid.facets),
        ),
        reliability=reliability,
        left_out=selection.left_out,
    )


def _rows(
    found: QuestionComponents,
    held: QuestionComponents,
    *,
    with_interval: bool,
    everything_held: bool,
) -> tuple[ComponentRow, ...]:
    components = found.components
    random = _estimates(found, with_interval)
    given = _estimates(held, with_interval)
    if with_interval and everything_held:
        for effect in components.effects:
            s = components.number(*effect)
            if QUESTION not in effect and not math.isnan(given[s][1]):
                low, high = found.as_given_interval(*effect)
                given[s] = (*given[s][:2], 1e4 * low, 1e4 * high)
    total = float(components.variances[1:].sum())
    rows = []
    for effect in components.effects:
        s = components.number(*effect)
        rows.append(
            ComponentRow(
                effect,
                int(components.degrees_of_freedom[s]),
                1e4 * float(components.mean_squares[s]),
                *random[s],
                *given[s],
                100 * float(components.variances[s]) / total if total > 0 else math.nan,
                *(_root(given[s][i]) for i in (0, 2, 3)),
            )
        )
    return tuple(rows)


def _without_interval(part: ModelComponents, row: ComponentRow) -> str | None:
    """Why an end of one of a row's intervals is null."""
    if not any(math.isnan(end) for end in (row.low, row.given_low)):
        return None
    if part.no_interval:
        return part.no_interval
    if math.isnan(row.given_se):
        return "resamples of the questions do not change it"
    return "the means of its levels are equal, so that no direction is known for an interval"


def _root(variance: float) -> float:
    return variance if math.isnan(variance) else math.sqrt(max(variance, 0.0))


def _estimates(
    found: QuestionComponents, with_interval: bool
) -> list[tuple[float, float, float, float]]:
    """Estimate, standard error and the ends of its interval, in squared points."""
    out = []
    for variance, se in zip(found.components.variances, found.standard_errors, strict=True):
        point, error = 1e4 * float(variance), 1e4 * float(se) if with_interval else math.nan
        out.append((point, error, point - _Z * error, point + _Z * error))
    return out


def _in_short(part: ModelComponents) -> str:
    if part.reason:
        return f"{part.model}: none, {part.reason}"
    largest = sorted(part.rows, key=lambda row: -row.variance)[:3]
    listed = ", ".join(f"{' x '.join(row.effect)} {row.per_cent:.1f}%" for row in largest)
    return f"{part.model}: {listed}"


def _or_none(value: float) -> float | None:
    return value if math.isfinite(value) else None
