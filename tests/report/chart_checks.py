"""What tests ask of a section's charts: their pieces, their numbers, that they can be drawn."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from nongrata.report.charts.theme import config
from nongrata.report.charts.translated import translated, written
from nongrata.report.document.blocks import Chart, Dataset, Section, Table
from nongrata.report.document.pieces import Number, Piece
from nongrata.report.document.said import templates_of
from nongrata.report.languages.language import language
from report.first_screen_studies import numbers, there


def charts(section: Section) -> list[Chart]:
    """The charts of a section."""
    return [block for block in section.blocks if isinstance(block, Chart)]


def chart(section: Section, start: str) -> Chart:
    """The one chart whose id begins so."""
    (found,) = [each for each in charts(section) if each.id.startswith(start)]
    return found


def columns(found: Chart | Dataset, name: str = "") -> dict[str, list[Any]]:
    """Values of a dataset, by field; of the first one of a chart unless it is named."""
    datasets = found.data if isinstance(found, Chart) else (found,)
    dataset = next(each for each in datasets if name in ("", each.name))
    return {key: list(field.values) for key, field in dataset.fields.items()}


def chart_pieces(section: Section) -> Iterator[Piece]:
    """Every piece of the charts and of the tables folded under them."""
    for each in charts(section):
        yield from (each.title, each.description, *each.notes)
        if each.table is not None:
            yield from table_pieces(each.table)
        for dataset in each.data:
            for field in dataset.fields.values():
                yield from (v for v in field.values if not isinstance(v, (str, int, float)))


def table_pieces(table: Table) -> Iterator[Piece]:
    """Every piece of a table."""
    yield from (table.caption, *table.notes)
    for column in table.columns:
        yield from (piece for piece in (column.heading, column.help, column.unit) if piece)
    for row in table.rows:
        assert len(row.cells) == len(table.columns)
        yield from (piece for piece in (row.group, *row.cells) if piece is not None)


def wrong_chart_numbers(section: Section, results: dict[str, Any]) -> list[Number | str]:
    """Numbers of charts and their tables that are not those of the results."""
    wrong: list[Number | str] = [
        number
        for piece in chart_pieces(section)
        for number in numbers(piece)
        if number.value is not None and there(results, number.path) != number.value
    ]
    for each in charts(section):
        for dataset in each.data:
            for field in dataset.fields.values():
                for value, place in zip(field.values, field.places, strict=bool(field.path)):
                    stars = iter(place)
                    parts = [str(next(stars)) if p == "*" else p for p in field.path.split("/")]
                    if there(results, "/".join(parts)) != value:
                        wrong.append("/".join(parts))
    return wrong


def spoken_in_charts(section: Section) -> set[str]:
    """English templates in charts, among them titles of axes, legends and tooltips."""
    found = {t for piece in chart_pieces(section) for t in templates_of(piece) if t}
    for each in charts(section):
        found |= set(_titles(each.spec))
    return found


def _titles(spec: Any) -> Iterator[str]:
    if isinstance(spec, dict):
        for key, value in spec.items():
            if key in ("title", "datum") and isinstance(value, str):
                yield value
            if key == "bind":
                yield value["name"]
            yield from _titles(value)
    elif isinstance(spec, (list, tuple)):
        for value in spec:
            yield from _titles(value)


def svg(found: Chart, width: int = 340, **chosen: str) -> str:
    """The chart as it is drawn, with parameters set as the page sets them."""
    import vl_convert

    english = language("en")
    spec = dict(translated(found.spec, english)) | {"width": width, "config": config("light")}
    spec["datasets"] = {
        each.name: [
            dict(zip(each.fields, values, strict=True))
            for values in zip(*(written(f, english) for f in each.fields.values()), strict=True)
        ]
        for each in found.data
    }
    spec["params"] = [
        {**param, "value": chosen.get(param["name"], param["value"])}
        for param in spec.get("params", [])
    ]
    return vl_convert.vegalite_to_svg(json.dumps(spec))
