"""The answer to the research question in three texts: accuracy, order of labels, questions.

A number in a sentence stands in a field that is called as the field of `AnswerNumbers` that holds
it, so that a report can show the number itself, and where it comes from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nongrata.conclusions.cells import Cells
from nongrata.conclusions.effects import CONFIGURATION, INTERACTION, LABELS, QUESTIONS
from nongrata.conclusions.model import AnswerNumbers, Conclusion, Tally
from nongrata.conclusions.question_sets import QuestionSets
from nongrata.stats.figure import Figure
from nongrata.templates import fields_of
from nongrata.wording import Said, say

NOTHING_SHOWN = (
    "Nothing is shown beyond what sampling noise can make: no difference is established here, and "
    "none is excluded."
)
NOTHING_ABOUT_LABELS = (
    "Nothing about labels and configurations is shown beyond what sampling noise can make: no "
    "difference between them is established here, and none is excluded."
)
NO_CONCLUSION = Figure.undefined("there is no such conclusion")
EQUAL = 0.005
"""Accuracies that differ by less, in points, are the same."""


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
    effects = _effects(conclusions)
    moved, differ = effects.get(CONFIGURATION), effects.get(LABELS)
    pairs = next((t for t in tallies if t.family == "pairs"), None)
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
        iq=Figure.undefined(no_sets) if no_sets else Figure(sets.iq),
        iq_floor=Figure.undefined(no_sets) if no_sets else Figure(sets.floor),
        known=sets.configurations,
    )


def answer(
    conclusions: Sequence[Conclusion], numbers: AnswerNumbers, rankable: bool
) -> tuple[str, ...]:
    """Say what a change of prompt and temperature does to each of the three.

    Parameters
    ----------
    conclusions
        About one model.
    numbers
        From `answer_numbers`.
    rankable
        Whether labels may be ranked.
    """
    effects = _effects(conclusions)
    shown = _as_shown(numbers)
    out: list[str] = [
        _accuracy(effects, numbers, shown),
        _order(effects, conclusions, numbers, shown, rankable),
        _questions(effects.get(QUESTIONS), numbers, shown),
    ]
    if not any(c.decided for c in conclusions if c.family != "orders") and any(
        c.p.defined for c in effects.values()
    ):
        others = any(c.decided for c in conclusions)
        out.append(NOTHING_ABOUT_LABELS if others else NOTHING_SHOWN)
    return tuple(out)


def _effects(conclusions: Sequence[Conclusion]) -> dict[str, Conclusion]:
    return {c.subject: c for c in conclusions if c.family == "effects"}


def _as_shown(numbers: AnswerNumbers) -> dict[str, str]:
    """Every number as the sentences show it."""
    out = {}
    for name in AnswerNumbers.__dataclass_fields__:
        value = getattr(numbers, name)
        if isinstance(value, Figure):
            out[name] = f"{value.value:.2g}" if name == "p" else f"{value.value:.1f}"
        else:
            out[name] = f"{value:,}"
    return out


def _said(template: str, shown: Mapping[str, str], **others: object) -> Said:
    """A sentence, with those numbers that it names."""
    wanted = set(fields_of(template))
    return say(template, **{n: v for n, v in {**shown, **others}.items() if n in wanted})


def as_said(text: str) -> Said:
    """A text of ours that shall be said in other languages too, to stand in a field.

    Examples
    --------
    >>> as_said("too few questions").template
    'too few questions'
    """
    return text if isinstance(text, Said) else say(text.replace("{", "{{").replace("}", "}}"))


def together(sentences: Sequence[str]) -> str:
    """Sentences one after the other, as one text.

    Examples
    --------
    >>> together([say("{n} of 3.", n=2), "It is so."])
    '2 of 3. It is so.'
    """
    if len(sentences) == 1:
        return sentences[0]
    first, *rest = sentences
    return say("{first} {rest}", first=as_said(first), rest=as_said(together(rest)))


def _accuracy(
    effects: Mapping[str, Conclusion], numbers: AnswerNumbers, shown: Mapping[str, str]
) -> str:
    found = effects.get(CONFIGURATION)
    if found is None:
        return "Accuracy: one configuration was run, so nothing was varied."
    if numbers.highest.value - numbers.lowest.value < EQUAL:
        return _said(
            "Accuracy: it is the same in all {configurations} configurations ({lowest}%, labels "
            "averaged).",
            shown,
        )
    if not found.p.defined:
        return _said(
            "Accuracy: no test of the configurations is possible, for {why}. It runs from "
            "{lowest}% to {highest}% over {configurations} configurations (labels averaged).",
            shown,
            why=as_said(found.because),
        )
    if found.verdict != "shown":
        return _said(
            "Accuracy: no dependence on the configuration is shown, and none is excluded. It runs "
            "from {lowest}% to {highest}% over {configurations} configurations (labels averaged), "
            "which noise alone may make (p = {p} after adjustment).",
            shown,
        )
    out: list[str] = [
        _said(
            "Accuracy: it depends on the configuration. It runs from {lowest}% to {highest}% over "
            "{configurations} configurations, and two of them typically differ by {typical} points "
            "(labels averaged, noise taken off).",
            shown,
        )
    ]
    apart = (CONFIGURATION, LABELS, INTERACTION, QUESTIONS)
    factors = [c for name, c in effects.items() if name not in apart]
    moving = sorted((c for c in factors if c.verdict == "shown"), key=lambda c: -c.estimate.value)
    if moving:
        out.append(say("It moves with {factors}.", factors=tuple(c.subject for c in moving)))
    elif factors:
        out.append("No single factor is shown to move it.")
    return together(out)


def _order(
    effects: Mapping[str, Conclusion],
    conclusions: Sequence[Conclusion],
    numbers: AnswerNumbers,
    shown: Mapping[str, str],
    rankable: bool,
) -> str:
    if LABELS not in effects:
        return "Order of labels: it takes two labels."
    if not rankable:
        return (
            "Order of labels: not rankable, for accuracy is not shown to be above chance and "
            "above the best constant answer."
        )
    out: list[str] = [_pairs(numbers, shown)]
    out += _extremes([c for c in conclusions if c.family == "extremes"])
    if effects[LABELS].verdict == "shown":
        out.append(
            _said(
                "Two labels typically differ by {labels_typical} points (configurations averaged, "
                "noise taken off).",
                shown,
            )
        )
    elif not numbers.pairs_robust:
        out.append("That labels differ at all is not shown.")
    moved = effects.get(INTERACTION)
    if moved is not None and moved.verdict == "shown":
        out.append("By how much they differ depends on the configuration.")
    return together(out)


def _pairs(numbers: AnswerNumbers, shown: Mapping[str, str]) -> str:
    """How many pairs of labels keep their order; the verdict's word comes first."""
    robust, fragile, total = numbers.pairs_robust, numbers.pairs_fragile, numbers.pairs
    if not robust and not fragile:
        return _said(
            "Order of labels: undecided. Of {pairs} pairs of labels, none is shown to keep its "
            "order in nearly all configurations, and none is shown to change it."
            if total > 1
            else "Order of labels: undecided. The one pair of labels is neither shown to keep its "
            "order in nearly all configurations nor shown to change it.",
            shown,
        )
    if robust == total:
        return _said(
            "Order of labels: robust. All {pairs} pairs of labels keep their order in nearly all "
            "configurations."
            if total > 1
            else "Order of labels: robust. The one pair of labels keeps its order in nearly all "
            "configurations.",
            shown,
        )
    if fragile == total == 1:
        return (
            "Order of labels: fragile. The one pair of labels has one order in some configurations "
            "and the other order in others."
        )
    if not fragile:
        return _said(
            "Order of labels: robust in part. Of {pairs} pairs of labels, {pairs_robust} keep "
            "their order in nearly all configurations (robust), none is shown to change it, and "
            "{pairs_undecided} are undecided.",
            shown,
        )
    if not robust:
        return _said(
            "Order of labels: fragile where anything is shown. Of {pairs} pairs of labels, none is "
            "shown to keep its order in nearly all configurations, {pairs_fragile} are shown to "
            "change it (fragile), and {pairs_undecided} are undecided.",
            shown,
        )
    return _said(
        "Order of labels: part robust, part fragile. Of {pairs} pairs of labels, {pairs_robust} "
        "keep their order in nearly all configurations (robust), {pairs_fragile} are shown to "
        "change it (fragile), and {pairs_undecided} are undecided.",
        shown,
    )


def _extremes(extremes: Sequence[Conclusion]) -> list[str]:
    """Best and worst label on average, with a verdict each."""
    if len(extremes) < 2:
        return []
    best, worst = extremes[:2]
    if not best.decided and not worst.decided:
        return ["Which label is best and which is worst is undecided."]
    out: list[str] = []
    for found, is_best in ((best, True), (worst, False)):
        if found.decided:
            template = (
                "Best label on average: {label} ({verdict})."
                if is_best
                else "Worst label on average: {label} ({verdict})."
            )
            out.append(say(template, label=found.subject, verdict=say(found.verdict)))
        else:
            out.append(
                "Which label is best is undecided."
                if is_best
                else "Which label is worst is undecided."
            )
    return out


def _questions(found: Conclusion | None, numbers: AnswerNumbers, shown: Mapping[str, str]) -> str:
    if found is None or not numbers.iq.defined:
        why = numbers.iq.reason or "nothing to compare"
        return say("Set of right questions: undecided, for {why}.", why=as_said(why))
    head = (
        "Set of right questions: it depends on the configuration."
        if found.verdict == "shown"
        else "Set of right questions: no dependence on the configuration is shown."
    )
    figures = _said(
        "Of the questions right in either of two configurations (of those {known} whose noise is "
        "known), {iq}% are right in only one of them; one configuration asked twice gives "
        "{iq_floor}%."
        if numbers.known < numbers.configurations
        else "Of the questions right in either of two configurations, {iq}% are right in only one "
        "of them; one configuration asked twice gives {iq_floor}%.",
        shown,
    )
    return together([head, figures])
