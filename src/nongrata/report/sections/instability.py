"""Section: how much accuracy, order and right questions move, beside what noise makes."""

from __future__ import annotations

from collections.abc import Iterator

from nongrata.report.charts.instability import ia_chart
from nongrata.report.document.blocks import Block, Column, Row, Section, Table
from nongrata.report.document.cursor import Cursor
from nongrata.report.document.pieces import Estimate, Name, Number, Text
from nongrata.report.sections.study import Study

_SCOPES = {"overall": "", "factor": "By factor", "domain": "By domain"}


def instability_section(study: Study) -> Section:
    """IA, IO and IQ with floors and excess, overall, by factor and by domain.

    Parameters
    ----------
    study
        The results.
    """
    blocks = [block for model in study.models for block in _of_model(study, model)]
    return Section(
        id="instability",
        title=Text("Instability and noise"),
        question=Text("How much do figures move, and how much of that would noise alone make?"),
        blocks=tuple(blocks),
    )


def _of_model(study: Study, model: str) -> Iterator[Block]:
    rows = list(study.of("noise", model)["rows"])
    names = [row["name"].text or "all configurations" for row in rows]
    table = _ia_table(study, model, rows)
    yield ia_chart(rows, names, model, study.id("ia", model), table)
    yield table


def _ia_table(study: Study, model: str, rows: list[Cursor]) -> Table:
    body, scope = [], ""
    for row in rows:
        new = row["scope"].text != scope
        scope = row["scope"].text
        name = row["name"].text
        body.append(
            Row(
                cells=(
                    Name(name) if name else Text("all configurations"),
                    Number.count(row["compared"]),
                    Number.of(row["ia"], 2),
                    Number.of(row["exchangeability_floor"], 2),
                    Estimate.of(row["over_exchangeability"], _key(row), 2, style="signed"),
                    Number.p(row["p_exchangeability"]),
                ),
                facets={scope: name} if name else {},
                group=Text(_SCOPES[scope]) if new and _SCOPES[scope] else None,
            )
        )
    return Table(
        id=study.id("ia-table", model),
        caption=Text.of("Instability of accuracy (IA) of {model}", model=Name(model)),
        columns=(
            Column("over", Text("over"), kind="name"),
            Column("configurations", Text("K"), help=Text("configurations compared")),
            Column("ia", Text("IA"), "points"),
            Column("floor", Text("noise alone"), "points"),
            Column("excess", Text("excess"), "points", "estimate"),
            Column("p", Text("p")),
        ),
        rows=tuple(body),
        facets={"model": model},
    )


def _key(row: Cursor) -> str:
    """Name of the number in an estimate."""
    return "figure" if row["over_exchangeability"]["figure"].value is not None else "estimate"
