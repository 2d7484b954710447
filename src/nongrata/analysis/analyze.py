"""All questions asked of a study, in one object."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from nongrata.analysis.accuracy import AccuracyTable, accuracy_table
from nongrata.analysis.accuracy_intervals import AccuracyIntervals
from nongrata.analysis.agreement import Agreement
from nongrata.analysis.chance import ChanceCheck, chance_check
from nongrata.analysis.compare_models import compare_models
from nongrata.analysis.comparisons import Comparisons, gathered
from nongrata.analysis.components import VarianceComponents
from nongrata.analysis.components_inputs import PERSONA
from nongrata.analysis.components_reliability import GOAL
from nongrata.analysis.contrasts import Contrasts
from nongrata.analysis.cube import Cube, read_cube
from nongrata.analysis.extremes import BestAndWorst, best_and_worst
from nongrata.analysis.held_out import HeldOut, held_out_over_models
from nongrata.analysis.instability import Instability, ModelLeftOut, Value, instability
from nongrata.analysis.model_data import ModelData, Resampling, each_model
from nongrata.analysis.model_parts import MOST_THREADS, ModelParts, model_parts
from nongrata.analysis.noise_rows import Noise
from nongrata.analysis.notices import Notice, notices_of
from nongrata.analysis.one_blas_thread import one_blas_thread
from nongrata.analysis.outcomes import OutcomeRates, outcome_rates
from nongrata.analysis.ranking import Ranking
from nongrata.analysis.result import Result
from nongrata.analysis.selection import PERSONA_SETS
from nongrata.analysis.task_format import TaskFormat
from nongrata.analysis.unread import Unread, UnreadBounds, take_unread, unread_bounds

if TYPE_CHECKING:
    import xarray as xr

STABLE = 4
"""Configurations on either side of the comparison of stable and unstable ones (S9)."""


@dataclass(frozen=True, slots=True)
class Analysis(Result):
    """Everything that is computed about a study, model by model.

    Parameters
    ----------
    models, personas, controls, factors
        Names.
    configurations, replicates, questions, clusters
        Numbers.
    unread
        How answers that could not be read are taken.
    draws, splits, seed
        Of all resamples.
    notices
        What to know before any figure is read.
    chance
        Accuracy against chance and the best constant answer.
    instability
        IA, IO and IQ as the preprint defines them, once for each set of personas.
    noise
        The same beside what noise alone gives, with tests and intervals.
    best_and_worst, outcomes, accuracy
        Extremes, outcomes and accuracy of every cell.
    accuracy_intervals
        Accuracies with intervals.
    unread_bounds
        The main figures with unread answers wrong, right, and left out.
    ranking, contrasts, task_format, components, agreement, held_out, comparisons
        One result for each question asked; see the page of its name in docs/statistics.
    """

    models: tuple[str, ...]
    personas: tuple[str, ...]
    controls: tuple[str, ...]
    factors: tuple[str, ...]
    configurations: int
    replicates: int
    questions: int
    clusters: int
    unread: Unread
    draws: int
    splits: int
    seed: int
    notices: tuple[Notice, ...]
    chance: ChanceCheck
    instability: tuple[Instability, ...]
    noise: Noise
    accuracy_intervals: AccuracyIntervals
    unread_bounds: UnreadBounds
    ranking: Ranking
    contrasts: Contrasts
    task_format: TaskFormat
    components: VarianceComponents
    agreement: Agreement
    held_out: HeldOut
    comparisons: Comparisons
    best_and_worst: BestAndWorst
    outcomes: OutcomeRates
    accuracy: AccuracyTable
    kind: Literal["analysis"] = "analysis"
    format: int = 3

    def __str__(self) -> str:
        return str(self.instability[0])


@one_blas_thread()
def analyze(
    responses: xr.Dataset,
    *,
    value: Value = "draws",
    unread: Unread = "wrong",
    smallest_effect: float = 1.0,
    resampling: Resampling | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Analysis:
    """Everything that is computed about a study.

    The same answers and seed always give the same result, to the last bit of its JSON form.

    Parameters
    ----------
    responses
        A Dataset of responses.
    value
        What the instability figures are computed from: ``"draws"`` or ``"theta"``.
    unread
        How answers that could not be read are taken: ``"wrong"``, ``"right"`` or ``"left_out"``.
    smallest_effect
        The smallest difference of accuracy that matters, in points.
    resampling
        Numbers of draws and splits, and the seed.
    progress
        Told how many of how many analyses are done.
    """
    how = resampling or Resampling()
    given, responses = responses, take_unread(responses, unread)
    cube = read_cube(responses)
    with ThreadPoolExecutor(MOST_THREADS) as pool:
        checking = pool.submit(chance_check, responses)
        bounding = pool.submit(unread_bounds, given)
        varying = [pool.submit(instability, responses, s, value=value) for s in PERSONA_SETS]
        counting = pool.submit(outcome_rates, given)
        tabulating = pool.submit(accuracy_table, responses)
    chance, outcomes = checking.result(), counting.result()
    models = list(each_model(cube, how))
    parts = [
        _of_model(data, value, smallest_effect, i, len(models), progress)
        for i, data in enumerate(models)
    ]
    return Analysis(
        models=cube.models,
        personas=cube.personas,
        controls=tuple(
            name for name, control in zip(cube.personas, cube.is_control, strict=True) if control
        ),
        factors=cube.factors,
        configurations=len(cube.levels),
        replicates=cube.replicates,
        questions=len(cube.questions),
        clusters=len(set(cube.cluster.tolist())),
        unread=unread,
        draws=how.draws,
        splits=how.splits,
        seed=how.seed,
        notices=notices_of(cube, outcomes, chance),
        chance=chance,
        instability=tuple(each.result() for each in varying),
        unread_bounds=bounding.result(),
        best_and_worst=best_and_worst(responses, chance=chance),
        outcomes=outcomes,
        accuracy=tabulating.result(),
        **_together(cube, how, value, smallest_effect, models, parts),
    )


def _of_model(
    data: ModelData,
    value: Value,
    smallest_effect: float,
    place: int,
    models: int,
    progress: Callable[[int, int], None] | None,
) -> ModelParts:
    def tell(done: int, total: int) -> None:
        if progress is not None:
            progress(place * total + done, models * total)

    found = model_parts(data, value, smallest_effect, tell)
    data.forget()
    return found


def _together(
    cube: Cube,
    how: Resampling,
    value: Value,
    smallest_effect: float,
    models: Sequence[ModelData],
    parts: Sequence[ModelParts],
) -> dict[str, Any]:
    """The results that hold every model's part, by the field of `Analysis`."""
    left_out = tuple(ModelLeftOut(d.model, d.selection("labels").left_out) for d in models)
    rows = tuple(row for part in parts for row in part.accuracy_intervals)
    return {
        "noise": Noise(
            "labels", value, how.draws, how.seed, tuple(p.noise for p in parts), left_out
        ),
        "accuracy_intervals": AccuracyIntervals(rows, how.draws, how.seed),
        "ranking": Ranking("labels", tuple(p.ranking for p in parts)),
        "contrasts": Contrasts(
            smallest_effect, cube.factors, how.draws, how.seed, tuple(p.contrasts for p in parts)
        ),
        "task_format": TaskFormat(how.draws, how.seed, tuple(p.task_format for p in parts)),
        "components": VarianceComponents(
            "labels", how.draws, how.seed, GOAL, (PERSONA, *cube.factors),
            tuple(p.components for p in parts),
        ),
        "agreement": Agreement("labels", "left_out", tuple(p.agreement for p in parts)),
        "held_out": held_out_over_models([p.held_out for p in parts], STABLE, how.seed),
        "comparisons": gathered(
            "labels", compare_models(models), tuple(p.domains for p in parts),
            tuple(p.factors for p in parts), how,
        ),
    }  # fmt: skip
