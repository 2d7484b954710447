"""What an import found, on a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from nongrata.report.terminal.pieces import as_name, count, new_table, shown

NAMES_SHOWN = 6
_STYLE = {"yes": "green", "partly": "yellow", "no": "red"}


def import_summary(about: dict[str, Any], folder: str) -> Iterator[RenderableType]:
    """Show what was read, what was malformed, and what each analysis can use.

    Parameters
    ----------
    about
        What ``import.json`` says.
    folder
        Where it is.
    """
    counts, source = about["counts"], about["source"]
    yield Text(
        f"{shown(source['name'])}: {count(counts['rows'], 'row')}, "
        f"{count(counts['answers'], 'answer')}, imported into {shown(folder)}"
    )
    yield _design(about)
    yield _answers(about)
    yield from _malformed(about, folder)
    for note in about["notes"]:
        yield Text(f"Note: {shown(note)}.")
    yield _usable(about)
    yield Text(f"\nNext: nongrata analyze {shown(folder)}")


def _design(about: dict[str, Any]) -> Table:
    table = new_table("What is in it")
    table.add_column("part", no_wrap=True)
    table.add_column("number", justify="right", no_wrap=True)
    table.add_column("names", ratio=1, overflow="fold")
    rows = [("models", about["models"]), ("personas", about["personas"])]
    rows += [(name, levels) for name, levels in about["factors"].items()]
    for name, names in rows:
        table.add_row(as_name(name), f"{len(names):,}", as_name(_some(names)))
    if about["controls"]:
        table.add_row("controls", f"{len(about['controls']):,}", as_name(_some(about["controls"])))
    table.add_row("items", f"{about['counts']['items']:,}", "")
    names = about["replicate_names"] or []
    table.add_row("repeats", f"{about['replicates']:,}", as_name(_some(names)))
    return table


def _some(names: list[str]) -> str:
    more = len(names) - NAMES_SHOWN
    said = ", ".join(name if len(name) <= 24 else f"{name[:23]}…" for name in names[:NAMES_SHOWN])
    return f"{said} and {more:,} more" if more > 0 else said


def _answers(about: dict[str, Any]) -> Table:
    c = about["counts"]
    table = new_table("Answers")
    table.add_column("what", no_wrap=True)
    table.add_column("number", justify="right", no_wrap=True)
    table.add_column("how it counts", ratio=1, style="dim")
    strays = ", ".join(f"{text} {n:,}x" for text, n in list(about["strays"].items())[:5])
    lost = c["combinations"] - c["combinations_answered"]
    per = f"{c['fewest_repeats']:,}"
    if c["most_repeats"] != c["fewest_repeats"]:
        per += f" to {c['most_repeats']:,}"
    rows = [
        ("right", c["right"], "right"),
        ("wrong", c["read"] - c["right"], "wrong"),
        ("empty", c["unread"] - c["strays"], "not read: not correct, see the bounds"),
        ("no option", c["strays"], f"not read: {strays}" if strays else "not read"),
        ("not obtained", c["not_obtained"], "missing: neither right nor wrong"),
        ("no answer at all", lost, f"combinations of {c['combinations']:,}; they stay missing"),
        ("same answer twice", c["same_twice"], "counted once"),
        ("conflicting", c["conflicting"], "the first was kept; see below"),
    ]
    for name, n, how in rows:
        if n or name in {"right", "wrong"}:
            table.add_row(name, f"{n:,}", as_name(how))
    table.add_row("per request", per, "answers of an item from a persona in a configuration")
    return table


def _malformed(about: dict[str, Any], folder: str) -> Iterator[RenderableType]:
    bad = about["malformed"]
    if not bad["total"]:
        yield Text("\nEvery row could be used.")
        return
    yield Text(
        f"\n{count(bad['total'], 'row or answer')} could not be used as "
        f"{'it stands' if bad['total'] == 1 else 'they stand'}:".replace(
            "row or answers", "rows or answers"
        ),
        style="bold yellow",
    )
    for kind, n in bad["by_kind"].items():
        yield Text(f"  {n:,} x {shown(kind)}")
    yield Text("The first:" if len(bad["first"]) < bad["total"] else "Namely:")
    for remark in bad["first"]:
        yield Text(f"  {shown(remark['place'])}: {shown(remark['what'])}")
    yield Text(f"All of them: {shown(folder)}/malformed.jsonl")


def _usable(about: dict[str, Any]) -> Table:
    table = new_table("What each analysis can use")
    table.add_column("analysis", no_wrap=True)
    table.add_column("can", no_wrap=True)
    table.add_column("why", ratio=1, overflow="fold")
    for use in about["usable"]:
        table.add_row(use["analysis"], Text(use["can"], _STYLE[use["can"]]), as_name(use["why"]))
    return table
