"""The answer to the research question in three sentences: accuracy, order of labels, questions."""

from __future__ import annotations

import math
from collections.abc import Sequence

from nongrata.conclusions.cells import Cells
from nongrata.conclusions.effects import CONFIGURATION, INTERACTION, LABELS, QUESTIONS
from nongrata.conclusions.model import Conclusion, Tally
from nongrata.conclusions.question_sets import QuestionSets


def answer(
    conclusions: Sequence[Conclusion],
    tallies: Sequence[Tally],
    cells: Cells,
    sets: QuestionSets,
    rankable: bool,
) -> tuple[str, ...]:
    """Say what a change of prompt and temperature does to each of the three.

    Parameters
    ----------
    conclusions, tallies
        About one model.
    cells, sets
        What they rest on.
    rankable
        Whether labels may be ranked.
    """
    effects = {c.subject: c for c in conclusions if c.family == "effects"}
    out = [
        _accuracy(effects, cells),
        _order(effects, conclusions, tallies, rankable),
        _questions(effects.get(QUESTIONS), sets),
    ]
    shown = [c for c in effects.values() if c.verdict == "shown"]
    decided = any(t.robust or t.fragile for t in tallies if t.family != "orders")
    tested = any(c.p.defined for c in effects.values())
    if not shown and not decided and tested:
        out.append(
            "Nothing is shown beyond what sampling noise can make: no difference is established "
            "here, and none is excluded."
        )
    return tuple(out)


def root(squared: float) -> float:
    """A squared difference in points; 0 where the noise taken off is larger than it.

    Examples
    --------
    >>> root(4.0), root(-1.0)
    (2.0, 0.0)
    """
    return math.sqrt(max(squared, 0.0))


def _accuracy(effects: dict[str, Conclusion], cells: Cells) -> str:
    found = effects.get(CONFIGURATION)
    if found is None:
        return "Accuracy: one configuration was run, so nothing was varied."
    by_configuration = 100 * cells.accuracy.mean(axis=0)
    span = (
        f"{by_configuration.min():.1f}% to {by_configuration.max():.1f}% over "
        f"{len(by_configuration)} configurations"
    )
    if found.verdict != "shown":
        if float(by_configuration.max() - by_configuration.min()) < 0.005:
            return f"Accuracy: it is the same in all configurations ({span}, labels averaged)."
        if not found.p.defined:
            return f"Accuracy: no test of the configurations is possible, {found.because} ({span})."
        return (
            f"Accuracy: no dependence on the configuration is shown ({span}, labels averaged; "
            f"p = {found.p.value:.2g} after adjustment), and none is excluded."
        )
    factors = [
        (c.estimate.value, c.subject)
        for c in effects.values()
        if c.subject not in (CONFIGURATION, LABELS, INTERACTION, QUESTIONS) and c.verdict == "shown"
    ]
    size = root(found.estimate.value)
    text = (
        f"Accuracy: it depends on the configuration ({span}, labels averaged; two of them differ "
        f"by {size:.1f} points, root mean square, noise taken off)"
    )
    if factors:
        names = ", ".join(name for _, name in sorted(factors, reverse=True))
        text += f"; shown for {names}"
    return f"{text}."


def _order(
    effects: dict[str, Conclusion],
    conclusions: Sequence[Conclusion],
    tallies: Sequence[Tally],
    rankable: bool,
) -> str:
    if LABELS not in effects:
        return "Order of labels: it takes two labels."
    if not rankable:
        return (
            "Order of labels: not rankable, for accuracy is not shown to be above chance and "
            "above the best constant answer."
        )
    pairs = next((t for t in tallies if t.family == "pairs"), None)
    text = "Order of labels: "
    if pairs is not None:
        one = pairs.total == 1
        text += (
            f"of {pairs.total} pair{'' if one else 's'}, {pairs.robust} keep their order in "
            f"nearly all configurations, {pairs.fragile} change it, {pairs.undecided} are undecided"
        )
    extremes = [c for c in conclusions if c.family == "extremes"]
    for which, c in zip(("best", "worst"), extremes, strict=False):
        text += f"; {which} label: " + (f"{c.subject}, {c.verdict}" if c.decided else "undecided")
    moved = effects.get(INTERACTION)
    if moved is not None and moved.verdict == "shown":
        text += "; differences between labels do depend on the configuration"
    if effects[LABELS].verdict != "shown" and pairs is not None and not pairs.robust:
        text += "; that labels differ at all is not shown"
    return f"{text}."


def _questions(found: Conclusion | None, sets: QuestionSets) -> str:
    if found is None or sets.reason:
        why = sets.reason or "nothing to compare"
        return f"Set of right questions: not decided, {why}."
    figures = (
        f"of the questions right in either of two configurations, {sets.iq:.1f}% are right in "
        f"only one of them; one configuration asked twice gives {sets.floor:.1f}%"
    )
    if found.verdict == "shown":
        return f"Set of right questions: it depends on the configuration; {figures}."
    return f"Set of right questions: no dependence on the configuration is shown; {figures}."
