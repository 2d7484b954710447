"""The same study again: how far its figures would differ, had it been run another time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from nongrata.analysis.answer_chances import CellsOfBasis, answer_chances
from nongrata.analysis.chance import ChanceCheck, chance_check
from nongrata.analysis.cube import Cube, read_cube
from nongrata.analysis.rerun_draws import METRICS, Metric, draw_study, observed_study
from nongrata.analysis.result import Result
from nongrata.analysis.selection import LeftOut, Personas, select
from nongrata.errors import NongrataError
from nongrata.stats.accuracy import Floats
from nongrata.stats.ranks import TIE_DECIMALS
from nongrata.stats.rerun import extreme_shares

if TYPE_CHECKING:
    import polars as pl
    import xarray as xr

READ_IT = (
    "This is the sampling noise of the same study, questions, labels and configurations as they "
    "are; it is no uncertainty about other questions, other formats or other labels."
)


@dataclass(frozen=True, slots=True)
class RerunFigure:
    """One figure over the re-runs of one model's answers.

    Parameters
    ----------
    metric, unit
        Which.
    expected, sd
        Mean and standard deviation over re-runs.
    low, high
        The 2.5th and the 97.5th percentile.
    error
        Standard error of `expected`, which more draws make smaller.
    observed
        The figure of the run itself, from its answers.
    below
        Per cent of re-runs below the observed figure, half of those equal to it counted.
    defined
        Re-runs in which there is such a figure; all others are left out.
    reason
        Why there is none, else empty; the numbers are then ``nan``.
    """

    metric: Metric
    unit: str
    expected: float
    sd: float
    low: float
    high: float
    error: float
    observed: float
    below: float
    defined: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class RerunLabel:
    """One label over the re-runs: a property of a prompt and a model, never of people.

    Parameters
    ----------
    expected, sd, low, high
        Of its accuracy, mean over the configurations compared, in per cent.
    observed
        That of the run itself.
    best, worst
        Per cent of re-runs in which it has the highest (lowest) accuracy; ties shared.
    observed_best, observed_worst
        The same in the run itself.
    at_chance
        Whether its answers are not shown to be above chance and the best constant answer.
    """

    persona: str
    expected: float
    sd: float
    low: float
    high: float
    observed: float
    best: float
    worst: float
    observed_best: float
    observed_worst: float
    at_chance: bool


@dataclass(frozen=True, slots=True)
class ModelRerun:
    """The re-runs of one model.

    Parameters
    ----------
    figures, labels
        The results.
    personas, configurations, questions, replicates
        What they rest on.
    at_chance
        How many of these configurations are not shown to be above chance.
    rankable
        Whether the model's labels may be ranked at all.
    bases
        How the answers' probabilities are known.
    left_out
        Personas and configurations that are not in them, and why.
    """

    model: str
    figures: tuple[RerunFigure, ...]
    labels: tuple[RerunLabel, ...]
    personas: int
    configurations: int
    questions: int
    replicates: int
    at_chance: int
    rankable: bool
    bases: tuple[CellsOfBasis, ...]
    left_out: tuple[LeftOut, ...]

    def figure(self, metric: Metric) -> RerunFigure:
        """One figure."""
        return next(each for each in self.figures if each.metric == metric)


@dataclass(frozen=True, slots=True)
class Rerun(Result):
    """How the figures of a study vary over re-runs of the same study.

    Parameters
    ----------
    persona_set
        As in `Instability`.
    draws, seed
        How many re-runs, and the seed of their random numbers.
    models
        One entry a model.
    """

    persona_set: Personas
    draws: int
    seed: int
    models: tuple[ModelRerun, ...]
    read_it: str = READ_IT
    kind: Literal["rerun"] = "rerun"

    def of(self, model: str) -> ModelRerun:
        """The re-runs of one model."""
        return next(each for each in self.models if each.model == model)

    def __str__(self) -> str:
        parts = []
        for each in self.models:
            ia = each.figure("ia")
            said = (
                f"IA {ia.observed:.2f}, over re-runs {ia.expected:.2f} ({ia.low:.2f} to "
                f"{ia.high:.2f}) points"
            )
            parts.append(f"{each.model}: {ia.reason or said}")
        return f"{self.draws} re-runs of the same study: " + "; ".join(parts)

    def to_dataframe(self) -> pl.DataFrame:
        """One row per model and figure."""
        import polars as pl

        names = list(RerunFigure.__dataclass_fields__)
        rows = [
            {"model": each.model, **{name: getattr(figure, name) for name in names}}
            for each in self.models
            for figure in each.figures
        ]
        numbers = ["expected", "sd", "low", "high", "error", "observed", "below"]
        types: dict[str, Any] = dict.fromkeys(numbers, pl.Float64)
        frame = pl.DataFrame(rows, schema_overrides=types, infer_schema_length=None)
        return frame.with_columns(pl.col(numbers).fill_nan(None))

    def labels_to_dataframe(self) -> pl.DataFrame:
        """One row per model and label."""
        import polars as pl

        names = list(RerunLabel.__dataclass_fields__)
        rows = [
            {"model": each.model, **{name: getattr(label, name) for name in names}}
            for each in self.models
            for label in each.labels
        ]
        types = dict.fromkeys(
            [name for name in names if name not in ("persona", "at_chance")], pl.Float64
        )
        schema = {"model": pl.String, "persona": pl.String, **types, "at_chance": pl.Boolean}
        frame = pl.DataFrame(rows, schema=schema)
        return frame.with_columns(pl.col(list(types)).fill_nan(None))


def rerun(
    responses: xr.Dataset,
    personas: Personas = "labels",
    *,
    draws: int = 500,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Rerun:
    """Draw the whole study again from the probabilities of its answers.

    Each re-run draws every answer of the study anew, as many replicates as the study has, and the
    figures are computed from it as from the run itself. Answers at temperature 0 stay as they
    are; a structural duplicate repeats the draw of the cell it repeats; missing answers stay
    missing. A configuration with answers whose probabilities are not known is left out.

    Random numbers follow the order of models, personas and configurations, not their names.

    Parameters
    ----------
    responses
        A Dataset of responses.
    personas
        As in `instability`.
    draws
        How many re-runs.
    seed
        Seed of the random numbers.
    progress
        Told how many of how many steps are done.
    """
    if draws < 2 or seed < 0:
        raise NongrataError(
            f"{draws} draws with seed {seed} cannot be made",
            where="draws" if draws < 2 else "seed",
            fix="ask for at least 2 draws, and a seed of 0 or more",
        )
    cube = read_cube(responses)
    chance = chance_check(responses, by=())
    models = []
    for m in range(len(cube.models)):

        def tell(done: int, total: int, before: int = m) -> None:
            if progress is not None:
                progress(before * total + done, len(cube.models) * total)

        models.append(_one_model(cube, m, personas, chance, draws, seed, tell))
    return Rerun(personas, draws, seed, tuple(models))


def _one_model(
    cube: Cube,
    m: int,
    personas: Personas,
    chance: ChanceCheck,
    draws: int,
    seed: int,
    tell: Callable[[int, int], None],
) -> ModelRerun:
    model, answers = cube.models[m], cube.answers(m)
    selection = select(cube, np.asarray(answers.present.any(axis=(2, 3))), personas)
    chances = answer_chances(cube, m, answers, selection)
    kept = chances.selection
    names = [cube.personas[p] for p in kept.personas]
    at_chance = chance.at_chance(model)
    weak = {row.name for row in chance.rows_of(model, "persona") if not row.rankable}
    again = draw_study(chances, draws, (seed, m), tell)
    run = observed_study(chances, answers)
    return ModelRerun(
        model=model,
        figures=tuple(
            _figure(metric, again.figures[metric], float(run.figures[metric][0]))
            for metric in METRICS
        ),
        labels=_labels(names, again.accuracy, run.accuracy, weak),
        personas=len(kept.personas),
        configurations=len(kept.configurations),
        questions=len(cube.questions),
        replicates=cube.replicates,
        at_chance=sum(cube.configuration(int(c)) in at_chance for c in kept.configurations),
        rankable=chance.rankable(model),
        bases=chances.bases,
        left_out=kept.left_out,
    )


def _figure(metric: Metric, values: Floats, observed: float) -> RerunFigure:
    unit, there = METRICS[metric], values[~np.isnan(values)]
    if not len(there):
        nothing = (np.nan,) * 5
        why = "no re-run has such a figure: too few labels, configurations or answers are left"
        return RerunFigure(metric, unit, *nothing, observed, np.nan, 0, why)
    same = there.min() == there.max()  # then the mean may still be off in its last bit
    mean, sd = (float(there[0]), 0.0) if same else (float(there.mean()), float(there.std()))
    low, high = np.quantile(there, [0.025, 0.975])
    return RerunFigure(
        metric, unit, mean, sd, float(low), float(high),
        sd / float(np.sqrt(len(there))), observed, _below(there, observed), len(there),
    )  # fmt: skip


def _below(values: Floats, observed: float) -> float:
    """Per cent below, half of the equal ones counted; sums in another order are equal."""
    if np.isnan(observed):
        return float("nan")
    apart = np.round(values - observed, TIE_DECIMALS)
    return 100.0 * float(((apart < 0) + 0.5 * (apart == 0)).mean())


def _labels(
    names: list[str], accuracy: Floats, run: Floats, weak: set[str]
) -> tuple[RerunLabel, ...]:
    there = accuracy[~np.isnan(accuracy).any(axis=1)]
    if not there.size:
        return ()
    low, high = np.quantile(there, [0.025, 0.975], axis=0)
    mean, sd = there.mean(axis=0), there.std(axis=0)
    (best, worst), (run_best, run_worst) = extreme_shares(there), extreme_shares(run)
    return tuple(
        RerunLabel(
            name, float(mean[p]), float(sd[p]), float(low[p]), float(high[p]), float(run[0, p]),
            100.0 * float(best[p]), 100.0 * float(worst[p]),
            100.0 * float(run_best[p]), 100.0 * float(run_worst[p]), name in weak,
        )
        for p, name in enumerate(names)
    )  # fmt: skip
