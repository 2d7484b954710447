"""Chart: estimates with their intervals, one under the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from nongrata.report.charts.panels import PERSONA, Spec, band, names_y, said, tip, view, within
from nongrata.report.charts.theme import CATEGORIES, MUTED
from nongrata.report.document.blocks import Chart, Dataset, Field, Table
from nongrata.report.document.cursor import Cursor
from nongrata.report.document.pieces import Name, Text

_STEP = 15
_GAP = 8
_HEAD = 16


@dataclass(frozen=True, slots=True)
class Group:
    """Rows of the chart that stand together.

    Parameters
    ----------
    heading
        Above them: a factor's name, as it is shown; empty for none.
    rows
        Of the results, each with an estimate and its interval.
    names
        What each is called.
    shape
        Of its points.
    """

    heading: str
    rows: Sequence[Cursor]
    names: Sequence[str]
    shape: str = "circle"


def interval_chart(
    groups: Sequence[Group],
    name: str,
    *,
    title: Text,
    description: Text,
    axis: str,
    value: str = "accuracy",
    lines: Sequence[tuple[str, Cursor]] = (),
    limits: tuple[float, float] | None = None,
    model: str = "",
    table: Table | None = None,
    notes: Sequence[Text] = (),
) -> Chart:
    """A point with its 95% interval for each row.

    Parameters
    ----------
    groups
        Rows, from top to bottom; a group without rows is left out.
    name
        Id of the chart.
    title, description
        Of the chart.
    axis
        Title of the x axis.
    value
        Field of a row that holds the estimate; its interval is in ``low`` and ``high``.
    lines
        Baselines: what each is called, and where its number stands.
    limits
        Ends of what is possible: an interval that goes beyond is cut there.
    model
        Which model it is about.
    table
        The same numbers.
    notes
        Under the chart.
    """
    groups = [group for group in groups if group.rows]
    rows = [row for group in groups for row in group.rows]
    data = Dataset(
        f"data-{name}",
        {
            "group": Field.names([g for g, group in enumerate(groups) for _ in group.rows]),
            "name": Field.names([each for group in groups for each in said(group.names)]),
            "estimate": Field.of(rows, value),
            "low": Field.of(rows, "low"),
            "high": Field.of(rows, "high"),
        },
    )
    x = _x(rows, axis, limits)
    layers: list[Spec] = []
    top = 0
    for g, group in enumerate(groups):
        start = top + (_HEAD if group.heading else 0)
        bottom = start + _STEP * len(group.rows)
        layers += _group(g, group, start, bottom, x)
        top = bottom + _GAP
    shown = [line for line in lines if line[1].number is not None]
    for at, (word, _) in enumerate(shown):
        layers.append(_line(f"data-{name}-{at}", word, at, x))
    baselines = [
        Dataset(f"data-{name}-{at}", {"line": Field.of([place])})
        for at, (_, place) in enumerate(shown)
    ]
    return Chart(
        id=name,
        title=title,
        description=description,
        spec=view(layers, top - _GAP, data=data.name, params=[PERSONA]),
        data=(data, *baselines),
        table=table,
        notes=tuple(notes),
        facets={"model": model} if model else {},
    )


def _x(rows: Sequence[Cursor], axis: str, limits: tuple[float, float] | None) -> Spec:
    scale: Spec = {"zero": False} | (within(rows, limits) if limits else {})
    return {
        "field": "estimate",
        "type": "quantitative",
        "title": axis,
        "scale": scale,
        "axis": {"grid": False, "tickCount": 6},
    }


def _group(g: int, group: Group, top: int, bottom: int, x: Spec) -> list[Spec]:
    head: dict[str, Any] = {}
    if group.heading:
        head = {
            "title": Name(group.heading),
            "titleFontWeight": "bold",
            "titleAngle": 0,
            "titleAlign": "right",
            "titleX": -5,
            "titleY": top - 7,
            "titleFontSize": 11,
        }
    style = "italic" if group.shape == "diamond" else "normal"
    y = names_y("name", said(group.names), top, bottom, labelOverlap=False,
                labelFontStyle=style, grid=True, **head)  # fmt: skip
    tips = [tip("name", "row"), *_tips()]
    only = [{"filter": f"datum.group === {g}"}]
    picked = {"condition": {"test": "datum.name === persona", "value": CATEGORIES[1]}}
    return [
        {
            "transform": only,
            "mark": {"type": "rule", "strokeWidth": 2, "clip": True},
            "encoding": {
                "x": {**x, "field": "low"},
                "x2": {"field": "high"},
                "y": y,
                "color": {**picked, "value": MUTED},
                "tooltip": tips,
            },
        },
        {
            "transform": only,
            "mark": {"type": "point", "filled": True, "size": 42, "shape": group.shape,
                     "opacity": 1, "clip": True},
            "encoding": {
                "x": x, "y": band(y), "color": {**picked, "value": CATEGORIES[0]}, "tooltip": tips,
            },
        },
    ]  # fmt: skip


def _tips() -> list[Spec]:
    return [
        tip("estimate", "estimate", ".2f"),
        tip("low", "low", ".2f"),
        tip("high", "high", ".2f"),
    ]


def _line(data: str, word: str, at: int, x: Spec) -> Spec:
    """A baseline as a dashed line, with a tooltip that says what it is."""
    return {
        "data": {"name": data},
        "mark": {"type": "rule", "strokeDash": [[2, 2], [7, 3]][at % 2], "strokeWidth": 1.2},
        "encoding": {
            "x": {**x, "field": "line"},
            "tooltip": [tip("line", word, ".2f")],
        },
    }
