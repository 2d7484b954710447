"""The answer to the research question in one or two sentences.

Whether conclusions about labels survive a change of configuration follows from the verdicts:

    pairs of labels                                       headline
    one configuration                                     cannot be told
    one label                                             nothing to rank
    no test possible                                      cannot be told
    accuracy not above guessing                           labels must not be ranked
    no pair and no best or worst label decided            none could survive or fail
    all pairs robust                                      yes; a full ranking is supported
    nothing robust, something fragile                     no
    anything else                                         partly; a full ranking is not supported
"""

from __future__ import annotations

from collections.abc import Sequence

from nongrata.conclusions.answered import AnswerNumbers
from nongrata.conclusions.effects import CONFIGURATION, INTERACTION, LABELS, QUESTIONS
from nongrata.conclusions.model import Conclusion
from nongrata.conclusions.number_sentences import said_of
from nongrata.wording import as_said, say, together

NOTHING_VARIED = (
    "It cannot be told: one configuration was run, so nothing was varied, and no conclusion could "
    "survive or fail."
)
NOTHING = (
    "Nothing is established: the data show neither that labels differ nor that configurations do, "
    "nor that they do not. A ranking of labels is not supported."
)
NOT_ABOUT_LABELS = (
    "No conclusion about labels is established, so none could survive or fail, and a ranking is "
    "not supported."
)
ONE_LABEL = "There is one label, so there is no order of labels that could survive or fail."
NOT_RANKABLE = (
    "Labels must not be ranked: accuracy is not shown to be above chance and above the best "
    "constant answer."
)


def headline(conclusions: Sequence[Conclusion], numbers: AnswerNumbers, rankable: bool) -> str:
    """Answer the research question for one model.

    Parameters
    ----------
    conclusions
        About the model; not none.
    numbers
        From `answer_numbers`.
    rankable
        Whether labels may be ranked.
    """
    effects = {c.subject: c for c in conclusions if c.family == "effects"}
    extremes = [c for c in conclusions if c.family == "extremes"]
    if numbers.configurations < 2:
        return NOTHING_VARIED
    if LABELS not in effects:
        return together(ONE_LABEL, *_moves(effects, numbers))
    if not any(c.p.defined for c in effects.values()):
        return say("It cannot be told: {why}.", why=as_said(effects[LABELS].because))
    if not rankable:
        return together(NOT_RANKABLE, *_moves(effects, numbers))
    if numbers.pairs_robust or numbers.pairs_fragile or any(c.decided for c in extremes):
        return _survival(extremes, numbers)
    moves = _moves(effects, numbers)
    return together(_no_order(conclusions, effects, numbers, bool(moves)), *moves)


def established(effects: dict[str, Conclusion], subject: str) -> bool:
    """Whether something makes a difference."""
    return subject in effects and effects[subject].verdict == "established"


def moving_factors(effects: dict[str, Conclusion]) -> tuple[str, ...]:
    """Which factors move accuracy, the strongest first.

    Parameters
    ----------
    effects
        What may make a difference, by subject.
    """
    apart = (CONFIGURATION, LABELS, INTERACTION, QUESTIONS)
    moving = [c for name, c in effects.items() if name not in apart and established(effects, name)]
    return tuple(c.subject for c in sorted(moving, key=lambda c: -c.estimate.value))


def _moves(effects: dict[str, Conclusion], numbers: AnswerNumbers) -> list[str]:
    """That accuracy depends on the configuration, and by how much; nothing where it is open."""
    factors = moving_factors(effects)
    if established(effects, CONFIGURATION):
        by = "two configurations typically differ by {typical} points."
        if factors:
            return [said_of(numbers, "Accuracy moves with {factors}: " + by, factors=factors)]
        return [said_of(numbers, "Accuracy depends on the configuration: " + by)]
    if factors:
        return [say("Accuracy moves with {factors}.", factors=factors)]
    if established(effects, QUESTIONS):
        return ["Which questions are right depends on the configuration."]
    return []


def _no_order(
    conclusions: Sequence[Conclusion],
    effects: dict[str, Conclusion],
    numbers: AnswerNumbers,
    moves: bool,
) -> str:
    """Where no order of two labels is decided."""
    if numbers.controls_robust or numbers.controls_fragile:
        return said_of(
            numbers,
            "No order of labels is established, so a ranking is not supported. The direction holds "
            "for {controls_robust} of {controls} comparisons of a label with a control and changes "
            "for {controls_fragile}.",
        )
    if established(effects, LABELS) or established(effects, INTERACTION):
        return said_of(
            numbers,
            "Labels differ, but no order of two of them is established in at least {required} of "
            "{configurations} configurations, nor a change of order: a ranking is not supported.",
        )
    return NOT_ABOUT_LABELS if moves or any(c.decided for c in conclusions) else NOTHING


def _survival(extremes: Sequence[Conclusion], numbers: AnswerNumbers) -> str:
    """Where some order of labels is decided."""
    robust, fragile = numbers.pairs_robust, numbers.pairs_fragile
    if numbers.pairs == 1:
        return _of_two(extremes, numbers)
    if robust == numbers.pairs:
        holds = (
            "Yes. The order of all {pairs} pairs of labels holds in at least {required} of "
            "{configurations} configurations: a full ranking is supported."
        )
        return said_of(numbers, holds)
    firm = robust or any(c.verdict == "robust" for c in extremes)
    word = "Partly." if firm or not fragile else "No."
    return together(word, *_extremes(extremes, numbers), said_of(numbers, _pairs(numbers)))


def _pairs(numbers: AnswerNumbers) -> str:
    """How many pairs of labels keep their order, of several of which not all do."""
    if numbers.pairs_robust and numbers.pairs_fragile:
        return (
            "The order holds for {pairs_robust} of {pairs} pairs of labels and changes for "
            "{pairs_fragile}: a full ranking is not supported."
        )
    if numbers.pairs_robust:
        return (
            "The order holds for {pairs_robust} of {pairs} pairs of labels and is undecided for "
            "the others: a full ranking is not supported."
        )
    if numbers.pairs_fragile:
        return (
            "The order changes for {pairs_fragile} of {pairs} pairs of labels and holds for none: "
            "a ranking is not supported."
        )
    return "The order of all pairs of labels is undecided: a ranking is not supported."


def _of_two(extremes: Sequence[Conclusion], numbers: AnswerNumbers) -> str:
    best, worst = (c.subject for c in extremes)
    if numbers.pairs_fragile:
        changes = "No. {best} is ahead of {worst} in some configurations and behind in others."
        return said_of(numbers, changes, best=best, worst=worst)
    stays = (
        "Yes. {best} is ahead of {worst} in at least {required} of {configurations} configurations."
    )
    return said_of(numbers, stays, best=best, worst=worst)


def _extremes(extremes: Sequence[Conclusion], numbers: AnswerNumbers) -> list[str]:
    """Whether the best and the worst label stay the same."""
    if len(extremes) < 2:
        return []
    best, worst = extremes
    verdicts = (best.verdict, worst.verdict)
    names = {"best": best.subject, "worst": worst.subject}
    if verdicts == ("robust", "robust"):
        both = (
            "The best label ({best}) and the worst ({worst}) are the same in at least {required} "
            "of {configurations} configurations."
        )
        return [said_of(numbers, both, **names)]
    if verdicts == ("fragile", "fragile"):
        return ["Which label is best and which is worst changes with the configuration."]
    out: list[str] = []
    if best.verdict == "robust":
        same = (
            "The best label ({best}) is the same in at least {required} of {configurations} "
            "configurations."
        )
        out.append(said_of(numbers, same, best=best.subject))
    if worst.verdict == "robust":
        same = (
            "The worst label ({worst}) is the same in at least {required} of {configurations} "
            "configurations."
        )
        out.append(said_of(numbers, same, worst=worst.subject))
    if best.verdict == "fragile":
        out.append("Which label is best changes with the configuration.")
    if worst.verdict == "fragile":
        out.append("Which label is worst changes with the configuration.")
    return out
