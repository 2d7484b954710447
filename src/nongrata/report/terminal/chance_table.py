"""Accuracy beside chance and the best constant answer: what matters, and how much was tested."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from nongrata.analysis.chance import ChanceCheck, ChanceRow, ChanceScope
from nongrata.report.terminal.pieces import as_name, count, new_table, percent

SHOWN = 6
SHOWN_OF_NOTHING = 3
"""Rows of one scope that are shown, and that where nothing can be ranked anyway; all of them are in
the JSON form. Labels are marked in their own table."""

_SCOPES: dict[ChanceScope, str] = {
    "domain": "domain",
    "level": "factor level",
    "configuration": "configuration",
    "persona": "label",
}
_PLACES = {
    "shown": "by the place at which it was shown",
    "source": "by its place in the source's order, for how options were shown is not known",
}


def chance_table(check: ChanceCheck, model: str) -> Iterator[RenderableType]:
    """One model's checks: overall, a few domains, and every row that is not above both.

    Parameters
    ----------
    check
        From `nongrata.analysis.chance_check`.
    model
        Which model.
    """
    table = new_table("Is there anything to rank? (accuracy, %)")
    table.add_column("over", overflow="fold")
    for name in ("accuracy", "chance", "constant", "option", "chosen", "right"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("verdict", overflow="fold")
    _add(table, [check.of(model)], "all questions")
    more, limit = 0, SHOWN if check.rankable(model) else SHOWN_OF_NOTHING
    for scope in _SCOPES:
        if scope == "persona":
            continue
        rows = check.rows_of(model, scope)
        matter = [row for row in rows if not row.rankable or row.position_dominates]
        if scope == "domain" and len(rows) <= SHOWN:
            matter, most = list(rows), SHOWN
        else:
            matter, most = sorted(matter, key=lambda row: row.rankable), limit
        if matter:
            table.add_section()
            _add(table, matter[:most])
        more += len(matter[most:])
    yield table
    if more:
        yield Text(f"{more} more rows like these are in the JSON output", style="dim")
    yield Text(
        "constant: best constant answer; option: the one chosen most, "
        f"{_PLACES[check.places]}, how often it is chosen and how often it is right; "
        "*: this preference moves more answers than the questions do (position bias dominates)",
        style="dim",
    )
    yield Text(_tested(check, model), style="dim")


def _add(table: Table, rows: Sequence[ChanceRow], name: str = "") -> None:
    for row in rows:
        bias = "*" if row.position_dominates else ""
        table.add_row(
            as_name(name or row.name),
            percent(row.accuracy),
            percent(row.chance),
            percent(row.constant),
            str(row.favourite + 1) if row.favourite >= 0 else "-",
            f"{percent(row.favourite_share)}{bias}",
            percent(row.favourite_gold),
            Text(
                row.verdict.replace("the best constant answer", "constant"),
                style="green" if row.rankable else "yellow",
            ),
        )


def _tested(check: ChanceCheck, model: str) -> str:
    """How many rows there are of each scope, and how many are not above both."""
    parts = []
    for scope, name in _SCOPES.items():
        rows = check.rows_of(model, scope)
        if rows:
            weak = sum(not row.rankable for row in rows)
            parts.append(f"{weak} of {count(len(rows), name)}")
    return (
        f"not above both: {', '.join(parts)}; tested together within each kind (Holm), so "
        "'above both' is the claim and 'not above' only its absence"
    )
