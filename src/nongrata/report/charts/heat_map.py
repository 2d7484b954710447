"""Chart: accuracy of each label under each configuration."""

from __future__ import annotations

from collections.abc import Sequence

from nongrata.report.charts.configurations import Configurations
from nongrata.report.charts.panels import PERSONA, Spec, band, names_y, picked, said, tip, view
from nongrata.report.charts.theme import CATEGORIES, SEQUENTIAL
from nongrata.report.document.blocks import Chart, Dataset, Field, Table
from nongrata.report.document.cursor import Cursor
from nongrata.report.document.pieces import Name, Text

FEW = 8
"""Configurations whose cells have room for their number."""
_ON_COLOUR = {
    "condition": {"test": "luminance(scale('color', datum.accuracy)) > 0.35", "value": "#1b1f24"},
    "value": "#ffffff",
}


def heat_map(
    cells: Sequence[Cursor],
    labels: Sequence[str],
    controls: Sequence[str],
    configurations: Configurations,
    model: str,
    name: str,
    *,
    by_accuracy: bool,
    table: Table | None = None,
) -> Chart:
    """Accuracy as the colour of a cell: a row for each label, a column for each configuration.

    Parameters
    ----------
    cells
        Rows of the results' accuracy by cell.
    labels, controls
        From top to bottom.
    configurations
        Along the x axis.
    model
        The model.
    name
        Id of the chart.
    by_accuracy
        Whether `labels` are in the order of their accuracy.
    table
        The same numbers.
    """
    unread = any(cell["if_unread_right"].value != cell["accuracy"].value for cell in cells)
    bounds = {"if_unread_right": Field.of(cells, "if_unread_right")} if unread else {}
    data = Dataset(
        f"data-{name}",
        {
            "persona": Field.names(said([cell["persona"].text for cell in cells])),
            **configurations.fields([cell["levels"].value for cell in cells]),
            "duplicate": Field.names([bool(cell["duplicate"].value) for cell in cells]),
            "accuracy": Field.of(cells, "accuracy"),
            **bounds,
        },
    )
    repeats = any(data.fields["duplicate"].values)
    layers, height = _rows(labels, controls, configurations, repeats=repeats, unread=unread)
    levels = {"data": {"name": configurations.data_name}, "transform": [configurations.place()]}
    layers += configurations.levels_panel(height, configurations.x(), **levels)
    return Chart(
        id=name,
        title=Text.of(
            "Accuracy of each label under each configuration: {model}", model=Name(model)
        ),
        description=Text.of(
            "A row for each label and control, a column for each configuration of {model}; the "
            "lighter a cell is, the higher is accuracy. A table has the same numbers.",
            model=Name(model),
        ),
        spec=view(
            layers,
            height + configurations.height,
            params=[configurations.param(), PERSONA],
            data=data.name,
            view={"stroke": None},
        ),
        data=(data, configurations.data()),
        table=table,
        notes=tuple(_notes(bool(controls), repeats=repeats, by_accuracy=by_accuracy)),
        facets={"model": model},
    )


def _rows(
    labels: Sequence[str],
    controls: Sequence[str],
    configurations: Configurations,
    *,
    repeats: bool,
    unread: bool,
) -> tuple[list[Spec], int]:
    """Layers of labels and of controls, and how high they are."""
    step = 15 if len(labels) <= 60 else 12
    layers: list[Spec] = []
    top = 0
    groups = (
        (labels, {"labelFontSize": 11}),
        (controls, {"labelFontSize": 11, "labelFontStyle": "italic"}),
    )
    for names, style in groups:
        if not names:
            continue
        bottom = top + step * len(names)
        y = names_y("persona", said(names), top, bottom, labelOverlap=False, **style)
        among = {"field": "persona", "oneOf": said(names)}
        transform = [{"filter": among}, configurations.place()]
        layers += _cells(y, transform, configurations, repeats=repeats, unread=unread)
        top = bottom + 8
    return layers, top - 8


def _cells(
    y: Spec, transform: list[Spec], configurations: Configurations, *, repeats: bool, unread: bool
) -> list[Spec]:
    tips = [tip("persona", "label"), *configurations.tips(), tip("accuracy", "accuracy (%)", ".2f")]
    if unread:
        tips.append(tip("if_unread_right", "if unread answers were right (%)", ".2f"))
    x = configurations.x()
    legend = {
        "orient": "top",
        "gradientLength": 190,
        "gradientThickness": 10,
        "direction": "horizontal",
    }
    colour = {
        "field": "accuracy",
        "type": "quantitative",
        "scale": {"scheme": SEQUENTIAL, "zero": False},
        "title": "accuracy (%)",
        "legend": legend,
    }
    layers: list[Spec] = [
        {
            "transform": transform,
            "mark": "rect",
            "encoding": {"x": x, "y": y, "color": colour, "tooltip": tips},
        }
    ]
    if repeats:
        layers.append(
            {
                "transform": [*transform, {"filter": "datum.duplicate"}],
                "mark": {
                    "type": "point",
                    "shape": "circle",
                    "filled": True,
                    "size": 8,
                    "opacity": 1,
                },
                "encoding": {"x": x, "y": band(y), "color": _ON_COLOUR, "tooltip": tips},
            }
        )
    if len(configurations) <= FEW:
        text = {"field": "accuracy", "type": "quantitative", "format": ".1f"}
        layers.append(
            {
                "transform": transform,
                "mark": {"type": "text", "fontSize": 11},
                "encoding": {
                    "x": x,
                    "y": band(y),
                    "text": text,
                    "color": _ON_COLOUR,
                    "tooltip": tips,
                },
            }
        )
    layers.append(
        {
            "transform": [transform[0], *picked("persona")],
            "mark": {"type": "rect", "fill": None, "strokeWidth": 2, "stroke": CATEGORIES[1]},
            "encoding": {"x": {"value": 0}, "x2": {"value": "width"}, "y": band(y)},
        }
    )
    return layers


def _notes(controls: bool, *, repeats: bool, by_accuracy: bool) -> list[Text]:
    notes = [
        Text(
            "Labels are sorted by their accuracy over all configurations."
            if by_accuracy
            else "Labels are in the study's order, because the model's accuracy is not shown to be "
            "above chance and the best constant answer."
        ),
        Text(
            "Columns are configurations; the squares beneath say which levels each one has. The "
            "filter for factors groups them by another factor."
        ),
    ]
    if controls:
        notes.append(Text("Below the gap, in italics: controls."))
    if repeats:
        notes.append(
            Text("A dot marks a cell whose prompts are those of another one: it is counted once.")
        )
    return notes
