"""Chart: how ranks of labels flow from configuration to configuration."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from nongrata.report.charts.configurations import Configurations
from nongrata.report.charts.panels import Spec, rank_ticks, said, tip, view
from nongrata.report.charts.theme import CATEGORIES, MUTED
from nongrata.report.document.blocks import Chart, Dataset, Field, Table
from nongrata.report.document.cursor import Cursor
from nongrata.report.document.pieces import Name, Text

_DASHES = ([1, 0], [6, 2], [2, 2], [8, 2, 2, 2], [4, 4], [1, 3])
_NAMES_WIDTH = "(width < 280 ? 74 : 130)"
"""Pixels beside the lines for names; on a phone few are left."""


def bump_chart(
    rankings: Sequence[Cursor],
    names: Sequence[str],
    marked: Sequence[str],
    configurations: Configurations,
    model: str,
    name: str,
    table: Table | None = None,
) -> Chart:
    """A line for each label: its rank in every configuration.

    Parameters
    ----------
    rankings
        One for each configuration: its ``levels``, and ``ranks`` in the order of `names`.
    names
        The labels.
    marked
        Those that are coloured and named, at most six; a reader can pick any other one.
    configurations
        Along the x axis.
    model
        The model.
    name
        Id of the chart.
    table
        Numbers to go with it.
    """
    shown = said(names)
    places = [ranking["ranks"][p] for p in range(len(names)) for ranking in rankings]
    levels = [ranking["levels"].value for ranking in rankings]
    data = Dataset(
        f"data-{name}",
        {
            "persona": Field.names([each for each in shown for _ in rankings]),
            **configurations.fields(levels * len(names)),
            "rank": Field.of(places),
        },
    )
    height = min(max(12 * len(names), 110), 520)
    x = configurations.x(range=[0, {"expr": f"width - {_NAMES_WIDTH}"}])
    lines = _lines(said(marked), len(configurations), len(names), height, x, configurations)
    levels_data = {
        "data": {"name": configurations.data_name},
        "transform": [configurations.place()],
    }
    picking = {"input": "select", "options": ["", *shown], "name": "label"}
    return Chart(
        id=name,
        title=Text.of("Ranks of labels from configuration to configuration: {model}",
                      model=Name(model)),
        description=Text(
            "A line for each label joins its ranks in all configurations; the first rank, on top, "
            "is the highest accuracy. Level lines would mean that configurations do not change "
            "the order."
        ),
        spec=view(
            [lines, *configurations.levels_panel(height + 8, x, **levels_data)],
            height + 8 + configurations.height,
            data=data.name,
            params=[
                configurations.param(),
                {"name": "persona", "value": "", "bind": picking},
            ],
            transform=[configurations.place()],
        ),
        data=(data, configurations.data()),
        table=table,
        notes=(
            Text(
                "The first rank is the highest accuracy. Coloured: the labels with the highest "
                "and the lowest accuracy over all configurations; pick any other one. These ranks "
                "hold noise: each configuration's order rests on its own answers."
            ),
            Text(
                "Columns are configurations; the squares beneath say which levels each one has. "
                "The filter for factors groups them by another factor."
            ),
        ),
        facets={"model": model},
    )  # fmt: skip


def _lines(
    marked: Sequence[str],
    last: int,
    lowest: int,
    height: int,
    x: Spec,
    configurations: Configurations,
) -> Spec:
    y: dict[str, Any] = {
        "field": "rank",
        "type": "quantitative",
        "title": "rank",
        "scale": {"domain": [1, lowest], "range": [6, height - 6], "nice": False, "zero": False},
        "axis": {"orient": "left", "grid": False, "values": rank_ticks(lowest), "format": "d",
                 "titleY": height // 2},
    }  # fmt: skip
    tips = [tip("persona", "label"), tip("rank", "rank", ".1f"), *configurations.tips()]
    of_label = {"field": "persona", "type": "nominal"}
    highlighted = f"indexof({json.dumps(list(marked))}, datum.persona) >= 0"
    end = f"datum.place === {last - 1}"
    colours = {"domain": list(marked), "range": list(CATEGORIES[: len(marked)])}
    dashes = {"domain": list(marked), "range": list(_DASHES[: len(marked)])}
    coloured = {**of_label, "scale": colours, "legend": None}
    dashed = {**of_label, "scale": dashes, "legend": None}
    picked = "datum.persona === persona"
    named = {
        "x": x,
        "y": y,
        "text": of_label,
    }
    text = {
        "type": "text",
        "align": "left",
        "dx": 8,
        "fontSize": 11,
        "limit": {"expr": f"{_NAMES_WIDTH} - 10"},
    }
    layers = [
        {
            "transform": [{"filter": f"!({highlighted}) && !({picked})"}],
            "mark": {"type": "line", "strokeWidth": 1, "opacity": 0.4, "color": MUTED},
            "encoding": {"x": x, "y": y, "detail": of_label},
        },
        {
            "transform": [{"filter": highlighted}],
            "mark": {"type": "line", "strokeWidth": 2.2},
            "encoding": {"x": x, "y": y, "color": coloured, "strokeDash": dashed},
        },
        {
            "transform": [{"filter": picked}],
            "mark": {"type": "line", "strokeWidth": 4, "opacity": 0.9},
            "encoding": {"x": x, "y": y, "detail": of_label},
        },
        {
            "transform": [{"filter": f"{end} && ({highlighted}) && !({picked})"}],
            "mark": text,
            "encoding": named,
        },
        {
            "transform": [{"filter": f"{end} && ({highlighted})"}],
            "mark": {"type": "point", "filled": True, "size": 36, "opacity": 1},
            "encoding": {"x": x, "y": y, "color": coloured},
        },
        {
            "transform": [{"filter": f"{end} && {picked}"}],
            "mark": {**text, "fontWeight": "bold"},
            "encoding": named,
        },
        {
            "mark": {"type": "point", "filled": True, "size": 60, "opacity": 0},
            "encoding": {"x": x, "y": y, "tooltip": tips},
        },
    ]
    return {"layer": layers}
