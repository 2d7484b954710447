"""Variance components on a terminal: what moves accuracy, where answers vary, how much to trust."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.text import Text

from nongrata.analysis.components import ComponentRow, ModelComponents, VarianceComponents
from nongrata.analysis.components_reliability import Reliability
from nongrata.report.terminal.pieces import count, new_table, number, percent, shown
from nongrata.stats.generalizability import Needed
from nongrata.stats.question_components import QUESTION

EFFECTS_SHOWN = 10
"""Effects listed in a table; all of them are in the JSON form."""

_READINGS = {
    "other_questions": "other questions",
    "other_questions_and_prompts": "other questions and prompts",
}


def components_table(result: VarianceComponents, model: str) -> Iterator[RenderableType]:
    """Variance components of one model.

    Parameters
    ----------
    result
        From `nongrata.analysis.components.variance_components`.
    model
        Which model.
    """
    part = result.of(model)
    if part.reason:
        yield Text(f"No variance components: {shown(part.reason)}.")
        return
    yield from _what_moves_accuracy(part, result.fixed)
    yield from _where_answers_vary(part)
    if part.reliability:
        yield from _reliability(part, result.goal)
    yield Text(_basis(part), style="dim")
    for left in part.left_out:
        names = ", ".join(map(shown, left.names[:3]))
        more = f" and {len(left.names) - 3} more" if len(left.names) > 3 else ""
        yield Text(f"left out: {names}{more} ({left.why})", style="dim")


def _what_moves_accuracy(part: ModelComponents, fixed: Sequence[str]) -> Iterator[RenderableType]:
    rows = [row for row in part.rows if QUESTION not in row.effect]
    # what is there, or cannot be ruled out to be large, first; main effects always
    kept = sorted(rows, key=lambda row: (len(row.effect) > 1, -_first(row.given_low), -row.given))
    kept = kept[:EFFECTS_SHOWN]
    table = new_table("What moves accuracy")
    table.add_column("effect", overflow="fold")
    table.add_column("size", justify="right", no_wrap=True)
    table.add_column("95% interval", justify="right", no_wrap=True)
    for row in (row for row in rows if row in kept):
        table.add_row(
            _name(row),
            f"{row.points:.2f}",
            _ends(_root(row.given_low), _root(row.given_high), 2),
        )
    yield table
    yield Text(
        "size: how far the levels' true accuracies lie apart (standard deviation in points), for "
        "the levels of this study; what the choice of questions adds is taken off. "
        "a x b: how much the differences between the levels of a depend on b.",
        style="dim",
    )
    if len(rows) > len(kept):
        yield Text(f"{count(len(rows) - len(kept), 'more effect')}: see the JSON", style="dim")
    held = {name for row in rows for name in row.effect}
    if held <= set(fixed):
        sure = [row for row in rows if row.given_low > 0]
        unsure = len(rows) - len(sure)
        if not part.no_interval and unsure:
            yield Text(
                f"An interval from 0 means that the effect may not be there: so it is for {unsure} "
                f"of these {len(rows)} effects. It does not mean that the effect is absent."
            )


def _where_answers_vary(part: ModelComponents) -> Iterator[RenderableType]:
    kept = sorted(part.rows, key=lambda row: -abs(row.variance))[:EFFECTS_SHOWN]
    table = new_table("Where the variance of single answers comes from")
    table.add_column("effect", overflow="fold")
    for name in ("variance", "95% interval", "% of all"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in kept:
        table.add_row(
            _name(row, "*" if row is part.rows[-1] and part.confounded else ""),
            f"{row.variance:,.2f}",
            _ends(row.low, row.high, 2),
            _share(row.per_cent),
        )
    yield table
    rest = [row for row in part.rows if row not in kept]
    if rest:
        together = math.fsum(row.per_cent for row in rest)
        yield Text(
            f"{count(len(rest), 'smaller effect')}, together {_share(together)}%: see the JSON",
            style="dim",
        )
    yield Text(
        "variance: in squared points, as if persona, factor levels and questions were all drawn "
        "from more of their kind; the intervals are over questions alone, and say nothing about "
        "other levels. Estimates can fall below 0, by chance or by the levels that happen to be "
        "there, and are shown as they are. "
        "a x question: different questions are got right under different levels of a.",
        style="dim",
    )
    mark = "* " if part.confounded else ""
    yield Text(f"{mark}{part.about_noise[0].upper()}{part.about_noise[1:]}.")


def _reliability(part: ModelComponents, goal: float) -> Iterator[RenderableType]:
    table = new_table("How far the labels' mean accuracies can be trusted")
    table.add_column("in another study with", overflow="fold")
    table.add_column("comparing labels", justify="right", no_wrap=True)
    table.add_column("values themselves", justify="right", no_wrap=True)
    for found in part.reliability:
        table.add_row(
            _READINGS[found.reading],
            _coefficient(found, "generalizability"),
            _coefficient(found, "dependability"),
        )
    yield table
    yield Text(
        "From 0 to 1: the share of the variance of the observed means that would be found again "
        "(generalizability and dependability coefficients), with 95% intervals over samples of "
        f"questions. {goal:g} is a usual demand. Prompts: levels of the factors that are random "
        "here; temperatures stay as they are.",
        style="dim",
    )
    for found in part.reliability:
        yield Text(f"With {_READINGS[found.reading]}: {_in_words(found, part, goal)}.")


def _in_words(found: Reliability, part: ModelComponents, goal: float) -> str:
    if not found.generalizability.defined:
        return f"no coefficient, {shown(found.generalizability.reason)}"
    said = [_need(need, part) for need in found.needed if need.coefficient == "relative"]
    return f"comparing labels at {goal:g} would take {'; or '.join(said)}"


def _need(need: Needed, part: ModelComponents) -> str:
    things = "clusters of questions" if part.clusters < part.questions else "questions"
    what = things if need.facet == QUESTION else f"levels of {shown(need.facet)}"
    if need.facet == "replicate":
        what = "answers to each prompt"
    if need.levels.defined:
        return f"{need.levels.value:,.0f} {what}"
    if need.limit.defined:
        return f"more than any number of {what} (their limit is {need.limit.value:.2f})"
    return f"an unknown number of {what}"


def _coefficient(found: Reliability, name: str) -> Text:
    value = number(getattr(found, name), 2)
    low, high = getattr(found, f"{name}_low"), getattr(found, f"{name}_high")
    return Text.assemble(value, f" {_ends(low, high, 2)}") if math.isfinite(low) else value


def _basis(part: ModelComponents) -> str:
    sources = f" within {count(part.sources, 'source')}" if part.sources > 1 else ""
    clusters = ""
    if part.clusters < part.questions:
        clusters = f" in {count(part.clusters, 'cluster')} (a question here is a cluster)"
    effect = "" if math.isnan(part.design_effect) else f"; design effect {part.design_effect:.2f}"
    missing = f"; {part.missing:.2g}% of the answers missing" if part.missing else ""
    no_interval = f"; no intervals: {part.no_interval}" if part.no_interval else ""
    return (
        f"{count(part.personas, 'persona')}, {count(part.configurations, 'configuration')}, "
        f"{count(part.questions, 'question')}{clusters}{sources}{effect}{missing}{no_interval}"
    )


def _name(row: ComponentRow, mark: str = "") -> Text:
    return Text(" x ".join(map(shown, row.effect)) + mark, overflow="fold")


def _ends(low: float, high: float, digits: int) -> str:
    if not (math.isfinite(low) and math.isfinite(high)):
        return "-"
    return f"[{low:,.{digits}f}, {high:,.{digits}f}]"


def _share(value: float) -> str:
    return percent(value).replace("-0.0", "0.0") if abs(value) < 0.05 else percent(value)


def _root(variance: float) -> float:
    return math.sqrt(max(variance, 0.0)) if math.isfinite(variance) else math.nan


def _first(value: float) -> float:
    return value if math.isfinite(value) else 0.0
