"""The answer to the research question in three parts: order of labels, accuracy, questions."""

from __future__ import annotations

from collections.abc import Sequence

from nongrata.conclusions.answered import AnswerAbout, Answered, AnswerNumbers, AnswerVerdict
from nongrata.conclusions.effects import CONFIGURATION, INTERACTION, LABELS, QUESTIONS
from nongrata.conclusions.headline import established, moving_factors
from nongrata.conclusions.model import Conclusion
from nongrata.conclusions.number_sentences import at_all, said_of
from nongrata.wording import as_said, say, together

NOTHING_VARIED = "One configuration was run, so nothing was varied."
EQUAL = 0.005
"""Accuracies that differ by less, in points, are the same."""
NEARLY_ALL = 0.9
"""Of IQ(2), so much or more is from repetition alone: even the upper end of the excess says so."""
Effects = dict[str, Conclusion]


def answer(
    conclusions: Sequence[Conclusion], numbers: AnswerNumbers, rankable: bool
) -> tuple[Answered, ...]:
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
    effects = {c.subject: c for c in conclusions if c.family == "effects"}
    return (
        _order(effects, numbers, rankable),
        _accuracy(effects, numbers),
        _questions(effects, numbers),
    )


def _answered(about: AnswerAbout, verdict: AnswerVerdict, *sentences: str) -> Answered:
    return Answered(about, verdict, together(*sentences))


def _accuracy(effects: Effects, numbers: AnswerNumbers) -> Answered:
    found = effects.get(CONFIGURATION)
    if found is None:
        return _answered("accuracy", "undecided", NOTHING_VARIED)
    if numbers.highest.value - numbers.lowest.value < EQUAL:
        same = said_of(numbers, "It is {lowest}% in all {configurations} configurations.")
        return _answered("accuracy", "the same in all configurations", same)
    factors = moving_factors(effects)
    if factors or established(effects, CONFIGURATION):
        size = (
            "Two configurations typically differ by {typical} points [{typical_low}, "
            "{typical_high}], root mean square (observed: {lowest}% to {highest}%)."
        )
        moving = [say("It moves with {factors}.", factors=factors)] if factors else []
        return _answered(
            "accuracy", "depends on the configuration", said_of(numbers, size), *moving
        )
    span = said_of(numbers, "Observed: {lowest}% to {highest}%.")
    if not found.p.defined:
        why = say("No test of the configurations is possible: {why}.", why=as_said(found.because))
        return _answered("accuracy", "undecided", why, span)
    if not at_all(numbers.typical_high):
        return _answered("accuracy", "undecided", span)
    possible = (
        "Differences of typically up to {typical_high} points between two configurations cannot be "
        "excluded (observed: {lowest}% to {highest}%)."
    )
    return _answered("accuracy", "undecided", said_of(numbers, possible))


def _order(effects: Effects, numbers: AnswerNumbers, rankable: bool) -> Answered:
    if LABELS not in effects:
        return _answered("order", "undecided", "It takes two labels.")
    if not rankable:
        why = (
            "Accuracy is not shown to be above guessing and above always choosing the same place, "
            "so differences between labels may be chance."
        )
        return _answered("order", "not rankable", why)
    out = [_pairs(numbers)]
    if established(effects, LABELS):
        typical = (
            "Two labels typically differ by {labels_typical} points [{labels_typical_low}, "
            "{labels_typical_high}] (root mean square)."
        )
        out.append(said_of(numbers, typical))
    elif not numbers.pairs_robust and at_all(numbers.labels_typical_high):
        possible = (
            "Differences of typically up to {labels_typical_high} points between two labels "
            "cannot be excluded."
        )
        out.append(said_of(numbers, possible))
    if established(effects, INTERACTION) and not numbers.pairs_fragile:
        out.append("By how much they differ depends on the configuration.")
    return _answered("order", _order_verdict(numbers), *out)


def _order_verdict(numbers: AnswerNumbers) -> AnswerVerdict:
    """What the pairs of labels amount to."""
    robust, fragile, total = numbers.pairs_robust, numbers.pairs_fragile, numbers.pairs
    if not robust and not fragile:
        return "undecided"
    if not fragile:
        return "robust" if robust == total else "partly robust"
    if not robust:
        return "fragile" if fragile == total else "partly fragile"
    return "part robust, part fragile"


def _pairs(numbers: AnswerNumbers) -> str:
    """How many pairs of labels keep their order."""
    robust, fragile = numbers.pairs_robust, numbers.pairs_fragile
    if numbers.pairs == 1:
        if robust:
            return "It holds for the one pair of labels."
        if fragile:
            return "It changes for the one pair of labels."
        return "For the one pair of labels it is neither established to hold nor to change."
    if not robust and not fragile:
        return said_of(
            numbers, "For none of {pairs} pairs of labels is it established to hold or to change."
        )
    if robust == numbers.pairs:
        return said_of(numbers, "It holds for all {pairs} pairs of labels.")
    return said_of(
        numbers,
        "It holds for {pairs_robust} of {pairs} pairs of labels, changes for {pairs_fragile}, and "
        "is undecided for {pairs_undecided}.",
    )


def _questions(effects: Effects, numbers: AnswerNumbers) -> Answered:
    if numbers.configurations < 2:
        return _answered("questions", "undecided", NOTHING_VARIED)
    if QUESTIONS not in effects or not numbers.iq.defined:
        why = as_said(numbers.iq.reason or "there is nothing to compare")
        return _answered("questions", "undecided", say("Not comparable: {why}.", why=why))
    depends = established(effects, QUESTIONS)
    if depends:
        sets = (
            "{iq_excess} points [{iq_excess_low}, {iq_excess_high}] more than when one "
            "configuration is asked twice: of the questions right in at least one of two "
            "configurations, {iq}% are right in only one, against {iq_floor}%."
        )
    elif at_all(numbers.iq_excess_high):
        sets = (
            "Up to {iq_excess_high} points more than when one configuration is asked twice cannot "
            "be excluded: of the questions right in at least one of two configurations, {iq}% are "
            "right in only one, against {iq_floor}%."
        )
    else:
        sets = (
            "Of the questions right in at least one of two configurations, {iq}% are right in only "
            "one; one configuration asked twice gives {iq_floor}%."
        )
    out: list[str] = [said_of(numbers, sets)]
    if depends and _mostly_repetition(numbers):
        out.append("Nearly all of it is noise.")
    if numbers.known < numbers.configurations:
        rests = "This rests on {known} of {configurations} configurations, whose noise is known."
        out.append(said_of(numbers, rests))
    return _answered("questions", "depends on the configuration" if depends else "undecided", *out)


def _mostly_repetition(numbers: AnswerNumbers) -> bool:
    """Whether the excess, even the upper end of its interval, is a small part of IQ(2)."""
    high = numbers.iq_excess_high
    return high.defined and high.value <= (1 - NEARLY_ALL) * numbers.iq.value
