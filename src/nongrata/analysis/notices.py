"""What to know before any figure of an analysis is read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from nongrata.analysis.chance import ChanceCheck
from nongrata.analysis.cube import Cube
from nongrata.analysis.outcomes import OutcomeRates, OutcomeRow
from nongrata.wording import say

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


def notices_of(cube: Cube, outcomes: OutcomeRates, chance: ChanceCheck) -> tuple[Notice, ...]:
    """All notices, in the order in which they are shown.

    Parameters
    ----------
    cube
        The study.
    outcomes, chance
        Its outcomes, and accuracy against chance.
    """
    notices: list[Notice] = []
    if cube.limited:
        notices.append(Notice("limited", "this run was limited: its figures are not a result"))
    notices.extend(
        Notice("damage", say("damaged: {item}; run the same study again to repair it", item=item))
        for item in cube.damage
    )
    notices.extend(
        Notice("simulated", say("{model} is simulated: no language model was asked", model=model))
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
                say(
                    "answers are read in {ways} ways ({readings}), and figures over all "
                    "configurations pool them; compare levels of the factor that says how before "
                    "you read anything out of the whole",
                    ways=len(cube.readings),
                    readings=cube.readings,
                ),
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
                    say(
                        "{model}: {weak} of {configurations} configurations are not shown to be "
                        "above chance and above the best constant answer; which label comes first "
                        "there says nothing",
                        model=model,
                        weak=weak,
                        configurations=len(configurations),
                    ),
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
                say(
                    "{model}: {missing} of {wanted} answers are missing ({errors} errors, "
                    "{not_obtained} not obtained); they count neither as right nor as wrong",
                    model=row.model,
                    missing=f"{row.missing:,}",
                    wanted=f"{row.wanted:,}",
                    errors=f"{row.error:,}",
                    not_obtained=f"{row.not_obtained:,}",
                ),
            )
        )
    there = row.answered + row.unread
    if there and 100 * row.unread / there >= MANY_UNREAD:
        notices.append(
            Notice(
                "unread",
                say(
                    "{model}: {share}% of the answers could not be read and count as not correct; "
                    "see the bounds of accuracy",
                    model=row.model,
                    share=f"{100 * row.unread / there:.0f}",
                ),
            )
        )
    return notices
