"""Chart: accuracy if unread answers were wrong, right, or left out."""

from __future__ import annotations

from collections.abc import Sequence

from nongrata.report.charts.panels import PERSONA, Spec, names_y, said, tip, view
from nongrata.report.charts.theme import CATEGORIES, MUTED
from nongrata.report.document.blocks import Chart, Dataset, Field, Table
from nongrata.report.document.cursor import Cursor
from nongrata.report.document.pieces import Name, Text

_STEP = 15


def bounds_chart(
    rows: Sequence[Cursor], model: str, name: str, table: Table | None = None
) -> Chart:
    """For each label a bar from the lower to the upper bound of its accuracy.

    Parameters
    ----------
    rows
        Of the results' accuracy, one for each label and control, in the order shown.
    model
        The model.
    name
        Id of the chart.
    table
        The same numbers.
    """
    names = said([row["persona"].text for row in rows])
    keys = ("accuracy", "read_only", "if_unread_right")
    data = Dataset(
        f"data-{name}",
        {"persona": Field.names(names), **{key: Field.of(rows, key) for key in keys}},
    )
    height = _STEP * len(names)
    y = names_y("persona", names, 0, height, labelOverlap=False, grid=True)
    tips = [
        tip("persona", "label"),
        tip("accuracy", "unread are wrong (%)", ".2f"),
        tip("read_only", "unread are left out (%)", ".2f"),
        tip("if_unread_right", "unread are right (%)", ".2f"),
    ]
    picked = {"test": "datum.persona === persona", "value": CATEGORIES[1]}
    bar = {
        "mark": {"type": "rule", "strokeWidth": 4, "opacity": 0.7},
        "encoding": {
            "x": _x("accuracy"), "x2": {"field": "if_unread_right"}, "y": y, "tooltip": tips,
            "color": {"condition": picked, "value": MUTED},
        },
    }  # fmt: skip
    shapes = (("accuracy", "triangle-right", True), ("if_unread_right", "triangle-left", True),
              ("read_only", "circle", False))  # fmt: skip
    points = [
        {
            "mark": {"type": "point", "shape": shape, "filled": filled, "size": 45, "opacity": 1},
            "encoding": {"x": _x(key), "y": y, "tooltip": tips,
                         "color": {"condition": picked, "value": CATEGORIES[0]}},
        }
        for key, shape, filled in shapes
    ]  # fmt: skip
    return Chart(
        id=name,
        title=Text.of("Bounds of accuracy, by label: {model}", model=Name(model)),
        description=Text(
            "A bar for each label and control, from its accuracy if all unread answers were wrong "
            "to that if all were right; a circle where they are left out."
        ),
        spec=view([bar, *points], height, data=data.name, params=[PERSONA]) | {"resolve": {}},
        data=(data,),
        table=table,
        notes=(
            Text(
                "Left end: unread answers are wrong, as everywhere else in this report; right end: "
                "they are right; circle: they are left out."
            ),
        ),
        facets={"model": model},
    )


def _x(field: str) -> Spec:
    return {
        "field": field,
        "type": "quantitative",
        "title": "accuracy (%)",
        "scale": {"zero": False, "padding": 10},
        "axis": {"grid": False, "tickCount": 6},
    }
