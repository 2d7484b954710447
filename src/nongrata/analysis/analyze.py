"""All questions of the first part of the analysis, in one object."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from nongrata.analysis.accuracy import AccuracyTable, accuracy_table
from nongrata.analysis.chance import ChanceCheck, chance_check
from nongrata.analysis.cube import Cube, read_cube
from nongrata.analysis.extremes import BestAndWorst, best_and_worst
from nongrata.analysis.instability import Instability, Value, instability
from nongrata.analysis.outcomes import OutcomeRates, OutcomeRow, outcome_rates
from nongrata.analysis.result import Result
from nongrata.analysis.selection import PERSONA_SETS

if TYPE_CHECKING:
    import xarray as xr

MANY_UNREAD = 5.0
"""Per cent of answers that could not be read from which on a notice says so."""


About = Literal[
    "damage",
    "limited",
    "simulated",
    "missing",
    "unread",
    "chance",
    "position",
    "readings",
    "numerical_floor",
]


@dataclass(frozen=True, slots=True)
class Notice:
    """Something to know before any figure is read.

    Parameters
    ----------
    about
        What kind of thing it is.
    text
        One sentence without a final full stop.
    """

    about: About
    text: str


@dataclass(frozen=True, slots=True)
class Analysis(Result):
    """The first part of the analysis of a study.

    Parameters
    ----------
    models, personas, controls, factors
        Names.
    configurations, replicates, questions
        Numbers.
    notices
        What to know before any figure is read.
    accuracy, outcomes, instability, best_and_worst, chance
        The results; `instability` once for each set of personas.
    """

    models: tuple[str, ...]
    personas: tuple[str, ...]
    controls: tuple[str, ...]
    factors: tuple[str, ...]
    configurations: int
    replicates: int
    questions: int
    notices: tuple[Notice, ...]
    chance: ChanceCheck
    instability: tuple[Instability, ...]
    best_and_worst: BestAndWorst
    outcomes: OutcomeRates
    accuracy: AccuracyTable
    kind: Literal["analysis"] = "analysis"
    format: int = 1

    def __str__(self) -> str:
        return str(self.instability[0])


def analyze(responses: xr.Dataset, *, value: Value = "draws") -> Analysis:
    """Accuracy, outcomes, instability, best and worst labels, and whether they can be ranked.

    The same answers always give the same result, to the last bit of its JSON form.

    Parameters
    ----------
    responses
        A Dataset of responses.
    value
        What the instability figures are computed from: ``"draws"`` or ``"theta"``.
    """
    cube = read_cube(responses)
    outcomes = outcome_rates(responses)
    chance = chance_check(responses)
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
        notices=_notices(cube, outcomes, chance),
        chance=chance,
        instability=tuple(instability(responses, s, value=value) for s in PERSONA_SETS),
        best_and_worst=best_and_worst(responses, chance=chance),
        outcomes=outcomes,
        accuracy=accuracy_table(responses),
    )


def _notices(cube: Cube, outcomes: OutcomeRates, chance: ChanceCheck) -> tuple[Notice, ...]:
    notices: list[Notice] = []
    if cube.limited:
        notices.append(Notice("limited", "this run was limited: its figures are not a result"))
    notices.extend(
        Notice("damage", f"damaged: {item}; run the same study again to repair it")
        for item in cube.damage
    )
    notices.extend(
        Notice("simulated", f"{model} is simulated: no language model was asked")
        for model in cube.simulated
    )
    for row in outcomes.of("model"):
        notices.extend(_about_answers(row))
    for model in cube.models:
        notices.extend(_about_chance(chance, model))
    if len(cube.readings) > 1:
        notices.append(
            Notice(
                "readings",
                f"answers are read in {len(cube.readings)} ways ({', '.join(cube.readings)}), and "
                "figures over all configurations pool them; compare levels of the factor that says "
                "how before you read anything out of the whole",
            )
        )
    notices.extend(Notice("numerical_floor", said) for said in cube.floor)
    return tuple(notices)


def _about_chance(chance: ChanceCheck, model: str) -> list[Notice]:
    notices = []
    overall = chance.of(model)
    if not overall.rankable:
        notices.append(Notice("chance", overall.sentence()))
    else:
        configurations = chance.rows_of(model, "configuration")
        weak = sum(not row.rankable for row in configurations)
        if weak:
            notices.append(
                Notice(
                    "chance",
                    f"{model}: {weak} of {len(configurations)} configurations are not shown to be "
                    "above chance and above the best constant answer; which label comes first "
                    "there says nothing",
                )
            )
    if overall.position_dominates:
        notices.append(Notice("position", overall.position_sentence()))
    return notices


def _about_answers(row: OutcomeRow) -> list[Notice]:
    notices = []
    if row.missing:
        notices.append(
            Notice(
                "missing",
                f"{row.model}: {row.missing:,} of {row.wanted:,} answers are missing "
                f"({row.error:,} errors, {row.not_obtained:,} not obtained); "
                "they count neither as right nor as wrong",
            )
        )
    there = row.answered + row.unread
    if there and 100 * row.unread / there >= MANY_UNREAD:
        notices.append(
            Notice(
                "unread",
                f"{row.model}: {100 * row.unread / there:.0f}% of the answers could not be read "
                "and count as not correct; see the bounds of accuracy",
            )
        )
    return notices
