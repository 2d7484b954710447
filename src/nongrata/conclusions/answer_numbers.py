"""The numbers that the answer to the research question rests on."""

from __future__ import annotations

from collections.abc import Sequence

from nongrata.conclusions.answered import AnswerNumbers
from nongrata.conclusions.cells import Cells
from nongrata.conclusions.effects import CONFIGURATION, LABELS, QUESTIONS
from nongrata.conclusions.model import Conclusion, Tally
from nongrata.conclusions.question_sets import QuestionSets
from nongrata.stats.figure import Figure
from nongrata.stats.partial_conjunction import required

NO_CONCLUSION = Figure.undefined("there is no such conclusion")


def answer_numbers(
    conclusions: Sequence[Conclusion], tallies: Sequence[Tally], cells: Cells, sets: QuestionSets
) -> AnswerNumbers:
    """The numbers that the answer rests on.

    Parameters
    ----------
    conclusions, tallies
        About one model.
    cells, sets
        What they rest on.
    """
    effects = {c.subject: c for c in conclusions if c.family == "effects"}
    moved, differ = effects.get(CONFIGURATION), effects.get(LABELS)
    excess = effects.get(QUESTIONS)
    by_family = {t.family: t for t in tallies}
    pairs, controls = by_family.get("pairs"), by_family.get("controls")
    lowest = highest = Figure.undefined("no configuration is compared")
    if cells.accuracy.size:
        by_configuration = 100 * cells.accuracy.mean(axis=0)
        lowest, highest = (
            Figure(float(by_configuration.min())),
            Figure(float(by_configuration.max())),
        )
    no_sets = sets.reason
    return AnswerNumbers(
        configurations=len(cells.configurations),
        required=required(len(cells.configurations)) if len(cells.configurations) else 0,
        lowest=lowest,
        highest=highest,
        typical=moved.typical if moved else NO_CONCLUSION,
        typical_low=moved.typical_low if moved else NO_CONCLUSION,
        typical_high=moved.typical_high if moved else NO_CONCLUSION,
        p=moved.p if moved else NO_CONCLUSION,
        labels_typical=differ.typical if differ else NO_CONCLUSION,
        labels_typical_low=differ.typical_low if differ else NO_CONCLUSION,
        labels_typical_high=differ.typical_high if differ else NO_CONCLUSION,
        pairs=pairs.total if pairs else 0,
        pairs_robust=pairs.robust if pairs else 0,
        pairs_fragile=pairs.fragile if pairs else 0,
        pairs_undecided=pairs.undecided if pairs else 0,
        controls=controls.total if controls else 0,
        controls_robust=controls.robust if controls else 0,
        controls_fragile=controls.fragile if controls else 0,
        iq=Figure.undefined(no_sets) if no_sets else Figure(sets.iq),
        iq_floor=Figure.undefined(no_sets) if no_sets else Figure(sets.floor),
        known=sets.configurations,
        iq_excess=excess.estimate if excess else NO_CONCLUSION,
        iq_excess_low=excess.low if excess else NO_CONCLUSION,
        iq_excess_high=excess.high if excess else NO_CONCLUSION,
    )
