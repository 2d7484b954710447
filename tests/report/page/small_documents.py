"""Small documents for tests of the page."""

from __future__ import annotations

from typing import Any

from nongrata.report.document.blocks import (
    Block,
    Chart,
    Column,
    Dataset,
    Document,
    Field,
    Listing,
    Paragraph,
    Row,
    Section,
    Table,
)
from nongrata.report.document.cursor import Cursor
from nongrata.report.document.pieces import Estimate, Name, Number, Text, Verdict

HOSTILE = "<script>alert(1)</script>\"'></td><!--\x00\x1b[31m\u202e{x}\ud800&"
"""A name that tries to be markup, an attribute's end, a terminal escape, a bidi mark."""


def results(name: str = "a-cook") -> dict[str, Any]:
    """Results with two rows of one model; the second has an undefined estimate."""
    rows = [
        {"name": name, "estimate": 1 / 3, "low": 0.25, "high": 0.5, "p": 0.01, "n": 1200},
        {
            "name": "b",
            "estimate": {"value": None, "reason": f"only one level ({name})"},
            "low": None,
            "high": None,
            "p": 0.5,
            "n": 7,
        },
    ]
    return {
        "models": [name, "other"],
        "configurations": 4,
        "questions": 12,
        "notices": [
            {"about": "simulated", "text": f"{name} is simulated: no language model was asked"},
            {"about": "unread", "text": "many answers were not read"},
        ],
        "findings": {"models": [{"labels": 3}]},
        "rows": rows,
    }


def table(place: Cursor, name: str = "a-cook", *, id: str = "rows") -> Table:  # noqa: A002
    """A table of the rows."""
    return Table(
        id=id,
        caption=Text.of("Rows of {model}", model=Name(name)),
        columns=(
            Column("label", Text("label"), kind="name"),
            Column("n", Text("n"), help=Text("how many")),
            Column("effect", Text("effect"), "points", "estimate"),
            Column("p", Text("p")),
            Column("says", Text("says"), kind="verdict"),
        ),
        rows=tuple(
            Row(
                (
                    Name(row["name"].text),
                    Number.count(row["n"]),
                    Estimate.of(row, digits=2, style="signed"),
                    Number.p(row["p"]),
                    Verdict("not rankable"),
                ),
                facets={"persona": row["name"].text},
                group=Text.of("group {n}", n=Name(row["name"].text)),
            )
            for row in place
        ),
        notes=(Text("a note"),),
        facets={"model": name},
    )


def chart(place: Cursor, name: str = "a-cook") -> Chart:
    """A chart of the rows."""
    data = Dataset(
        "data-bars",
        {
            "who": Field.names([row["name"].text for row in place]),
            "p": Field.of(list(place), "p"),
        },
    )
    return Chart(
        id="bars",
        title=Text.of("Bars of {model}", model=Name(name)),
        description=Text("A bar for each row."),
        spec={
            "data": {"name": "data-bars"},
            "mark": "bar",
            "encoding": {
                "x": {"field": "p", "type": "quantitative", "title": "effect"},
                "y": {"field": "who", "type": "nominal", "title": None},
            },
        },
        data=(data,),
        table=table(place, name, id="bars-table"),
        facets={"model": name},
    )


def document(name: str = "a-cook") -> Document:
    """A document with one of each block, about something called `name`."""
    found = results(name)
    rows = Cursor(found)["rows"]
    blocks: list[Block] = [
        Paragraph(
            Text.of("{who} has {p}.", who=Name(name), p=Number.of(rows[0]["p"], 2, unit="%")),
            "lead",
        ),
        Paragraph(Text("careful"), "warning", {"domain": name}),
        Listing((Text("a first thing"), Text.of("{x}", x=Name(name)))),
        table(rows, name),
        chart(rows, name),
    ]
    return Document(
        title=Name(name),
        sections=(Section("one", Text("One"), Text("What?"), tuple(blocks)),),
        facets={"model": (name, "other"), "domain": (name,), "factor": (), "persona": (name, "b")},
        results=found,
    )
