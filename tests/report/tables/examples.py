"""A table with everything that a table can hold."""

from __future__ import annotations

from nongrata.report.document.blocks import Column, Row, Table
from nongrata.report.document.pieces import Estimate, Name, Number, Text, Verdict


def estimate(value: float, low: float | None, high: float | None) -> Estimate:
    return Estimate(Number(value, "/v", 1, "signed"), Number(low, "/l"), Number(high, "/h"))


def example() -> Table:
    return Table(
        id="accuracy",
        caption=Text.of("Accuracy of {model}", model=Name("m_1")),
        columns=(
            Column("label", Text("label"), kind="name"),
            Column("questions", Text("questions")),
            Column("excess", Text("excess"), "points", "estimate", help=Text("over the floor.")),
            Column("share", Text("share"), "%"),
            Column("p", Text("p")),
            Column("verdict", Text("verdict"), kind="verdict"),
        ),
        rows=(
            Row(
                (
                    Name("a_cook & co"),
                    Number(1234, "/n", 0, "count"),
                    estimate(-2.26, -10.04, 5.5),
                    Number(99.5, "/s", 1),
                    Number(0.0123, "/p", 3, "p"),
                    Verdict("robust"),
                ),
                {"persona": "a_cook & co"},
            ),
            Row(
                (
                    Name("=1+1"),
                    Number(5, "/n", 0, "count"),
                    estimate(12.5, None, None),
                    Number(None, "/s", 1, reason="no pairs"),
                    Number(1.0, "/p", 3, "p"),
                    None,
                ),
                group=Text("Controls"),
            ),
        ),
        notes=(Text("Brackets: 95% intervals."),),
        facets={"model": "m_1"},
    )
