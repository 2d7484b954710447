"""Accuracy with intervals on a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.text import Text

from nongrata.analysis.accuracy_intervals import AccuracyIntervals, IntervalRow, Scope
from nongrata.report.terminal.pieces import as_name, count, new_table, percent, shown

LABELS_SHOWN = 12
"""Labels and domains listed; all of them are in the JSON form and in `to_dataframe`."""

_COLUMNS = (
    "95% interval: what accuracy on all questions like these may be, had others of them been "
    "asked. se: its standard error, in points. deff: how many times larger the variance is because "
    "questions share a passage or are duplicates (1: not at all). unread: answers that could not "
    "be read, with their interval; they count as wrong."
)
_OVERLAP = (
    "Intervals say how sure each accuracy is on its own. Rows of one model answer the same "
    "questions, so their differences are surer than these intervals look: overlapping intervals do "
    "not mean that two are alike."
)


def accuracy_intervals_table(
    result: AccuracyIntervals, model: str, *, rankable: bool = False
) -> Iterator[RenderableType]:
    """Accuracies of one model with their intervals.

    Parameters
    ----------
    result
        From `nongrata.analysis.accuracy_intervals.accuracy_intervals`.
    model
        Which model.
    rankable
        Whether labels may be put in order of their accuracy; else they stand in the study's order.
    """
    table = new_table("Accuracy with 95% intervals (%)")
    table.add_column("over", overflow="fold", max_width=26)
    for heading in ("accuracy", "interval", "se", "deff", "unread"):
        table.add_column(heading, justify="right", no_wrap=True)
    left = 0
    for row in result.of(model, "model"):
        table.add_row("all labels", *_numbers(row))
    groups: tuple[tuple[Scope, bool], ...] = (
        ("control", False),
        ("label", rankable),
        ("level", False),
        ("domain", True),
    )
    for scope, ordered in groups:
        rows = list(result.of(model, scope))
        if not rows:
            continue
        kept = _kept(rows, ordered)
        left += len(rows) - len(kept)
        table.add_section()
        for row in kept:
            table.add_row(_name(row), *_numbers(row))
    yield table
    yield from _notes(result, model, left)


def _kept(rows: list[IntervalRow], ordered: bool) -> list[IntervalRow]:
    """Those shown: the study's order, or the highest and the lowest."""
    if not ordered:
        return rows[:LABELS_SHOWN]
    known = [row for row in rows if row.accuracy.defined]
    rest = [row for row in rows if not row.accuracy.defined]
    both = [*sorted(known, key=lambda row: -row.accuracy.value), *rest]
    half = LABELS_SHOWN // 2
    return both if len(both) <= LABELS_SHOWN else both[:half] + both[-half:]


def _name(row: IntervalRow) -> Text:
    before = f"{row.factor} " if row.factor else ""
    mark = " control" if row.scope == "control" else ""
    few = " ?" if row.doubtful else ""
    return Text.assemble((shown(before), "dim"), as_name(row.name), (mark + few, "dim"))


def _numbers(row: IntervalRow) -> tuple[str, ...]:
    unread = percent(row.unread)
    if unread != "-":
        unread += f" [{percent(row.unread_low)}, {percent(row.unread_high)}]"
    interval = "-" if row.no_interval else f"{percent(row.low)} - {percent(row.high)}"
    return (
        percent(row.accuracy.value),
        interval,
        percent(row.se, 2),
        percent(row.design_effect, 2),
        unread,
    )


def _notes(result: AccuracyIntervals, model: str, left: int) -> Iterator[Text]:
    rows = result.of(model)
    if left:
        yield Text(f"{count(left, 'more row')}: see the JSON output", style="dim")
    yield Text(_COLUMNS, style="dim")
    overall = rows[0]
    configurations = [row for row in rows if row.scope == "configuration" and row.accuracy.defined]
    yield Text(
        f"{count(overall.questions, 'question')} in {count(overall.clusters, 'cluster')}; "
        f"{result.draws:,} resamples of the clusters (seed {result.seed})",
        style="dim",
    )
    if any(row.doubtful for row in rows):
        yield Text("?: too few clusters of questions to trust the interval", style="dim")
    for reason in _reasons(rows):
        yield Text(f"- : no interval, {reason}", style="dim")
    if len(configurations) > 1:
        low = min(configurations, key=lambda row: row.accuracy.value)
        high = max(configurations, key=lambda row: row.accuracy.value)
        yield Text(
            f"Configurations reach from {low.accuracy.value:.1f}% ({shown(low.name)}) to "
            f"{high.accuracy.value:.1f}% ({shown(high.name)}). {_OVERLAP}"
        )
    else:
        yield Text(_OVERLAP)


def _reasons(rows: Sequence[IntervalRow]) -> list[str]:
    shown_rows = [row for row in rows if row.scope != "configuration"]
    return list(dict.fromkeys(row.no_interval for row in shown_rows if row.no_interval))
