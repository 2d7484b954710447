"""The answer to the research question in three parts: accuracy, order of labels, questions.

A number in a sentence stands in a field that is called as the field of `AnswerNumbers` that holds
it, so that a report can show the number itself, and where it comes from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nongrata.conclusions.answered import AnswerAbout, Answered, AnswerNumbers, AnswerVerdict
from nongrata.conclusions.effects import CONFIGURATION, INTERACTION, LABELS, QUESTIONS
from nongrata.conclusions.model import Conclusion
from nongrata.conclusions.sentences import as_said, together
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
NOTHING_VARIED = "One configuration was run, so nothing was varied."
EQUAL = 0.005
"""Accuracies that differ by less, in points, are the same."""
Shown = Mapping[str, str]
Effects = Mapping[str, Conclusion]


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
    effects = _effects(conclusions)
    shown = _as_shown(numbers)
    extremes = [c for c in conclusions if c.family == "extremes"]
    return (
        _accuracy(effects, numbers, shown),
        _order(effects, extremes, numbers, shown, rankable),
        _questions(effects.get(QUESTIONS), numbers, shown),
    )


def nothing_shown(conclusions: Sequence[Conclusion]) -> tuple[str, ...]:
    """That nothing is shown, where that is so; nothing where nothing could be tested."""
    tested = any(c.p.defined for c in _effects(conclusions).values())
    if not tested or any(c.decided for c in conclusions if c.family != "orders"):
        return ()
    others = any(c.decided for c in conclusions)
    return (NOTHING_ABOUT_LABELS if others else NOTHING_SHOWN,)


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


def _said(template: str, shown: Shown) -> Said:
    """A sentence, with those numbers that it names."""
    return say(template, **{name: shown[name] for name in fields_of(template)})


def _answered(about: AnswerAbout, verdict: AnswerVerdict, *sentences: str) -> Answered:
    return Answered(about, verdict, together(*sentences))


def _accuracy(effects: Effects, numbers: AnswerNumbers, shown: Shown) -> Answered:
    found = effects.get(CONFIGURATION)
    if found is None:
        return _answered("accuracy", "undecided", NOTHING_VARIED)
    span = _said(
        "It runs from {lowest}% to {highest}% over {configurations} configurations, labels "
        "averaged.",
        shown,
    )
    if numbers.highest.value - numbers.lowest.value < EQUAL:
        same = _said("It is {lowest}% in all {configurations} configurations.", shown)
        return _answered("accuracy", "the same in all configurations", same)
    if not found.p.defined:
        why = say("No test of the configurations is possible: {why}.", why=as_said(found.because))
        return _answered("accuracy", "undecided", why, span)
    if found.verdict != "shown":
        return _answered(
            "accuracy",
            "undecided",
            "No dependence on the configuration is shown, and none is excluded.",
            span,
            _said("Noise alone may make that (p = {p} after adjustment).", shown),
        )
    typical = _said("Two of them typically differ by {typical} points, noise taken off.", shown)
    return _answered(
        "accuracy", "depends on the configuration", span, typical, *_moving_factors(effects)
    )


def _moving_factors(effects: Effects) -> list[str]:
    """Which factors are shown to move accuracy, the strongest first."""
    apart = (CONFIGURATION, LABELS, INTERACTION, QUESTIONS)
    factors = [c for name, c in effects.items() if name not in apart]
    moving = sorted((c for c in factors if c.verdict == "shown"), key=lambda c: -c.estimate.value)
    if moving:
        return [say("It moves with {factors}.", factors=tuple(c.subject for c in moving))]
    return ["No single factor is shown to move it."] if factors else []


def _order(
    effects: Effects,
    extremes: Sequence[Conclusion],
    numbers: AnswerNumbers,
    shown: Shown,
    rankable: bool,
) -> Answered:
    if LABELS not in effects:
        return _answered("order", "undecided", "It takes two labels.")
    if not rankable:
        why = "Accuracy is not shown to be above chance and above the best constant answer."
        return _answered("order", "not rankable", why)
    out: list[str] = [_pairs(numbers, shown), *_extremes(extremes)]
    if effects[LABELS].verdict == "shown":
        typical = "Two labels typically differ by {labels_typical} points, noise taken off."
        out.append(_said(typical, shown))
    elif not numbers.pairs_robust:
        out.append("That labels differ at all is not shown.")
    moved = effects.get(INTERACTION)
    if moved is not None and moved.verdict == "shown" and not numbers.pairs_fragile:
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


def _pairs(numbers: AnswerNumbers, shown: Shown) -> str:
    """How many pairs of labels keep their order."""
    robust, fragile = numbers.pairs_robust, numbers.pairs_fragile
    if numbers.pairs == 1:
        if robust:
            return "The one pair of labels keeps its order in nearly all configurations."
        if fragile:
            return "The one pair of labels has one order in some configurations, another in others."
        return "The one pair of labels is neither shown to keep its order nor to change it."
    if not robust and not fragile:
        return _said(
            "Of {pairs} pairs of labels, none is shown to keep its order in nearly all "
            "configurations, and none to change it.",
            shown,
        )
    if robust == numbers.pairs:
        return _said(
            "All {pairs} pairs of labels keep their order in nearly all configurations.", shown
        )
    return _said(
        "Of {pairs} pairs of labels, {pairs_robust} keep their order in nearly all configurations "
        "(robust), {pairs_fragile} change it (fragile), {pairs_undecided} are undecided.",
        shown,
    )


def _extremes(extremes: Sequence[Conclusion]) -> list[str]:
    """Best and worst label on average, with a verdict each."""
    if len(extremes) < 2:
        return []
    best, worst = extremes[:2]
    if not best.decided and not worst.decided:
        return ["Which label is best and which is worst is undecided."]
    if best.verdict == worst.verdict:
        both = "Best on average: {best}, worst: {worst} (both {verdict})."
        verdict = say(best.verdict)
        return [say(both, best=best.subject, worst=worst.subject, verdict=verdict)]
    return [
        say("Best on average: {label} ({verdict}).", label=best.subject, verdict=say(best.verdict))
        if best.decided
        else "Which label is best is undecided.",
        say(
            "Worst on average: {label} ({verdict}).",
            label=worst.subject,
            verdict=say(worst.verdict),
        )
        if worst.decided
        else "Which label is worst is undecided.",
    ]


def _questions(found: Conclusion | None, numbers: AnswerNumbers, shown: Shown) -> Answered:
    if numbers.configurations < 2:
        return _answered("questions", "undecided", NOTHING_VARIED)
    if found is None or not numbers.iq.defined:
        why = as_said(numbers.iq.reason or "there is nothing to compare")
        return _answered("questions", "undecided", say("Not comparable: {why}.", why=why))
    figures = _said(
        "Of the questions right in either of two configurations (of those {known} whose noise is "
        "known), {iq}% are right in only one of them; one configuration asked twice gives "
        "{iq_floor}%."
        if numbers.known < numbers.configurations
        else "Of the questions right in either of two configurations, {iq}% are right in only one "
        "of them; one configuration asked twice gives {iq_floor}%.",
        shown,
    )
    if found.verdict == "shown":
        return _answered("questions", "depends on the configuration", figures)
    none = "No dependence on the configuration is shown, and none is excluded."
    return _answered("questions", "undecided", none, figures)
