"""Chart: one figure in every configuration, from the smallest to the largest, and their levels."""

from __future__ import annotations

from collections.abc import Sequence

from nongrata.report.charts.configurations import Configurations
from nongrata.report.charts.panels import Spec, tip, view, within
from nongrata.report.charts.theme import CATEGORIES, MUTED
from nongrata.report.document.blocks import Chart, Dataset, Field, Table
from nongrata.report.document.cursor import Cursor
from nongrata.report.document.pieces import Name, Text

HEIGHT = 170
GAP = 4
"""Pixels of the upper panel, and between it and the levels."""


def accuracy_curve(
    rows: Sequence[Cursor],
    levels: Sequence[Sequence[str]],
    configurations: Configurations,
    model: str,
    name: str,
    table: Table | None = None,
) -> Chart:
    """Accuracy of each configuration with its interval, sorted, and below it their levels.

    Parameters
    ----------
    rows
        One for each configuration, with ``accuracy``, ``low`` and ``high``.
    levels
        Levels of each, as the results have them.
    configurations
        All of them.
    model
        The model.
    name
        Id of the chart.
    table
        The same numbers.
    """
    known = [row["accuracy"].number for row in rows]
    order = sorted(range(len(rows)), key=lambda r: (known[r] is None, known[r] or 0.0))
    rows = [rows[r] for r in order]
    data = Dataset(
        f"data-{name}",
        {
            "place": Field.names(range(len(rows))),
            **configurations.fields([levels[r] for r in order], ordered=False),
            "accuracy": Field.of(rows, "accuracy"),
            "low": Field.of(rows, "low"),
            "high": Field.of(rows, "high"),
        },
    )
    x = configurations.x()
    y = curve_y("accuracy", "accuracy (%)", rows, (0.0, 100.0))
    tips = {"tooltip": [*configurations.tips(), tip("accuracy", "accuracy (%)", ".2f"),
                        tip("low", "low", ".2f"), tip("high", "high", ".2f")]}  # fmt: skip
    curve: list[Spec] = [
        {
            "mark": {"type": "rule", "strokeWidth": 2, "color": MUTED, "clip": True},
            "encoding": {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}, **tips},
        },
        {
            "mark": {"type": "point", "filled": True, "size": 32, "opacity": 1, "clip": True}
            | {"color": CATEGORIES[0]},
            "encoding": {"x": x, "y": y, **tips},
        },
    ]
    return Chart(
        id=name,
        title=Text.of("Accuracy of each configuration: {model}", model=Name(model)),
        description=Text.of(
            "Configurations of {model} from the least to the most accurate one, with 95% "
            "intervals; rows of squares below say which levels each one has.",
            model=Name(model),
        ),
        spec=view(
            [{"layer": curve}, *configurations.levels_panel(HEIGHT + GAP, x)],
            HEIGHT + GAP + configurations.height,
            data=data.name,
        ),
        data=(data,),
        table=table,
        facets={"model": model},
    )


def curve_y(
    field: str, title: str, rows: Sequence[Cursor], limits: tuple[float, float] | None = None
) -> Spec:
    """The y encoding of the upper panel.

    Parameters
    ----------
    field
        Of the estimate.
    title
        Of the axis.
    rows
        Of the results, with ``low`` and ``high``.
    limits
        Ends of what is possible: an interval that goes beyond is cut there.
    """
    scale: Spec = {"range": [HEIGHT, 0], "zero": False, "nice": True}
    if limits is not None:
        scale |= within(rows, limits)
    axis = {"orient": "left", "tickCount": 6, "titleY": HEIGHT // 2, "labelOverlap": True}
    return {
        "field": field,
        "type": "quantitative",
        "title": title,
        "scale": scale,
        "axis": axis,
    }
