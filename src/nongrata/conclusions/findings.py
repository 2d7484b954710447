"""From responses to findings: every conclusion of a study with its verdict."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import numpy as np

from nongrata.analysis.chance import ChanceCheck, chance_check
from nongrata.analysis.cube import read_cube
from nongrata.analysis.model_data import ModelData, Resampling, each_model
from nongrata.analysis.one_blas_thread import one_blas_thread
from nongrata.analysis.selection import Selection
from nongrata.conclusions.answer import answer
from nongrata.conclusions.answer_numbers import answer_numbers
from nongrata.conclusions.between_models import Summary, between_models, summary_of
from nongrata.conclusions.cells import Cells, cells_of
from nongrata.conclusions.claims import claims
from nongrata.conclusions.draft import Basis, Draft, concluded
from nongrata.conclusions.effects import effect_drafts
from nongrata.conclusions.headline import headline
from nongrata.conclusions.labels import control_drafts, label_drafts
from nongrata.conclusions.model import (
    FAMILIES,
    Conclusion,
    Counts,
    Findings,
    ModelFindings,
    Tally,
)
from nongrata.conclusions.orders import domain_drafts, factor_drafts
from nongrata.conclusions.question_sets import question_sets
from nongrata.stats.figure import Figure
from nongrata.wording import say

if TYPE_CHECKING:
    import xarray as xr


NAMED = 4
"""Configurations left out that are named."""


@one_blas_thread()
def findings(
    responses: xr.Dataset,
    resampling: Resampling | None = None,
    *,
    chance: ChanceCheck | None = None,
) -> Findings:
    """Which conclusions survive a change of configuration, and which do not.

    Parameters
    ----------
    responses
        A Dataset of responses.
    resampling
        Numbers of draws, and the seed.
    chance
        From `nongrata.analysis.chance_check`, if it is at hand; None: it is computed.

    Returns
    -------
    Findings
        Conclusions about labels, controls, factors, domains and models, with a verdict each.
    """
    chance = chance_check(responses) if chance is None else chance
    parts, summaries = [], []
    for data in each_model(read_cube(responses), resampling):
        part, summary = findings_of(data, chance.rankable(data.model))
        parts.append(part)
        summaries.append(summary)
    return Findings(tuple(parts), between_models(summaries))


def findings_of(data: ModelData, rankable: bool) -> tuple[ModelFindings, Summary | None]:
    """The findings about one model, and what comparing it with other models takes.

    Parameters
    ----------
    data
        The model.
    rankable
        Whether its accuracy is above chance and above the best constant answer.
    """
    chosen = data.selection("labels")
    together = None
    if data.complete:
        everybody = np.append(chosen.personas, data.controls)
        together = cells_of(data, everybody, chosen.configurations)
        cells = together.first(len(chosen.personas))
    else:
        cells = cells_of(data, chosen.personas, chosen.configurations)
    sets = question_sets(data, cells.personas, cells.configurations)
    drafts: list[Draft] = []
    if len(cells.personas) and len(cells.configurations):
        drafts += effect_drafts(cells, sets)
        drafts += label_drafts(cells, rankable)
        drafts += control_drafts(data, together, cells, rankable)
        drafts += factor_drafts(cells) if len(cells.configurations) > 1 else []
        drafts += domain_drafts(cells, rankable)
    units = data.units
    found = concluded(drafts, Basis(data.model, units.questions, units.degrees_of_freedom))
    order = list(FAMILIES)
    found.sort(key=lambda c: order.index(c.family))
    tallies = _tallies(found)
    numbers = answer_numbers(found, tallies, cells, sets)
    kept = tuple(c for c in found if c.family != "pairs" or c.decided)
    answers = answer(found, numbers, rankable) if found else ()
    remarks = _left_out(cells, chosen)
    part = ModelFindings(
        model=data.model,
        rankable=rankable,
        labels=len(cells.personas),
        configurations=len(cells.configurations),
        questions=units.questions,
        clusters=len(units),
        design_effect=_design_effect(cells),
        headline=headline(found, numbers, rankable) if found else _nothing(cells, chosen),
        answer=(*(part.sentence for part in answers), *remarks),
        answers=answers,
        remarks=remarks,
        numbers=numbers,
        conclusions=kept,
        tallies=tallies,
        total=Counts.of([c.verdict for c in found]),
        claims=claims(found, data.cube.factors, data.cube.domains),
    )  # fmt: skip
    return part, summary_of(cells, sets, rankable)


def _nothing(cells: Cells, chosen: Selection) -> str:
    """Why there is no conclusion."""
    why = "no label has answers"
    if len(cells.personas) and len(chosen.configurations) > len(cells.configurations):
        why = "no question was answered under all labels in any configuration"
    return say("Nothing can be concluded: {why}.", why=say(why))


def _left_out(cells: Cells, chosen: Selection) -> tuple[str, ...]:
    """Which configurations are not compared although some label has answers in them."""
    gone = np.setdiff1d(chosen.configurations, cells.configurations)
    if not len(gone) or not len(cells.configurations):
        return ()
    names = tuple(cells.data.cube.label(int(c)) for c in gone[:NAMED])
    if len(gone) > NAMED:
        template = (
            "Left out: {names} and {more} more, for no question was answered there under all "
            "labels."
        )
        return (say(template, names=names, more=len(gone) - NAMED),)
    template = "Left out: {names}, for no question was answered there under all labels."
    return (say(template, names=names),)


def _tallies(found: list[Conclusion]) -> tuple[Tally, ...]:
    out = []
    for family in FAMILIES:
        verdicts = [c.verdict for c in found if c.family == family]
        if verdicts:
            out.append(Tally(**asdict(Counts.of(verdicts)), family=family))
    return tuple(out)


def _design_effect(cells: Cells) -> Figure:
    """Of the mean over labels and configurations."""
    units = cells.units
    if units.singletons and units.strata == 1:
        return Figure(1.0)
    if not len(cells.personas) or not len(cells.configurations) or units.degrees_of_freedom < 1:
        return Figure.undefined("nothing varies")
    mean = np.zeros(units.questions)
    for p in cells.personas:
        mean += cells.data.value[p, cells.configurations].mean(axis=0)
    effect = float(units.design_effect(mean / len(cells.personas)))
    return Figure.undefined("nothing varies") if np.isnan(effect) else Figure(effect)
