"""Chart: one label against one control in every configuration (a specification curve)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from nongrata.report.charts.configurations import Configurations
from nongrata.report.charts.curve import GAP, HEIGHT, curve_y
from nongrata.report.charts.differences import effect_band
from nongrata.report.charts.panels import Spec, said, tip, view
from nongrata.report.charts.theme import CATEGORIES, MUTED
from nongrata.report.document.blocks import Chart, Dataset, Field
from nongrata.report.document.cursor import Cursor
from nongrata.report.document.pieces import Name, Text

_HEAD = 18
_KEYS = ("estimate", "low", "high", "low_together", "high_together")


def curve_data(part: Cursor, configurations: Configurations, name: str) -> Dataset:
    """The difference of each label to each control in each configuration.

    Parameters
    ----------
    part
        A model's contrasts.
    configurations
        Those of the study.
    name
        Of the dataset.
    """
    points, labels, controls, places, levels = [], [], [], [], []
    own = part["configurations"].value
    for label, control in _pairs(part):
        for place, point in enumerate(label["curve"]["points"]):
            points.append(point)
            labels.append(label["persona"].text)
            controls.append(control)
            places.append(place)
            levels.append(own[point["configuration"].value])
    return Dataset(
        name,
        {
            "persona": Field.names(said(labels)),
            "control": Field.names(said(controls)),
            "place": Field.names(places),
            **configurations.fields(levels, ordered=False),
            **{key: Field.of(points, key) for key in _KEYS},
        },
    )


def _pairs(part: Cursor) -> Iterator[tuple[Cursor, str]]:
    for control in part["controls"]:
        for label in control["labels"]:
            yield label, control["control"].text


def specification_curve(
    points: Dataset,
    effect: Dataset,
    labels: Sequence[str],
    controls: Sequence[str],
    configurations: Configurations,
    model: str,
    name: str,
) -> Chart:
    """Differences from the lowest to the highest, and below them the levels of each.

    Parameters
    ----------
    points
        From `curve_data`.
    effect
        From `nongrata.report.charts.differences.effect_data`.
    labels, controls
        What a reader can pick; the first ones are shown at first.
    configurations
        Those of the study.
    model
        The model.
    name
        Id of the chart.
    """
    labels, controls = said(labels), said(controls)
    # what is picked on the page may be a control, or nothing
    label = f"(indexof({json.dumps(labels)}, persona) >= 0 ? persona : {json.dumps(labels[0])})"
    control = f"(control || {json.dumps(controls[0])})"
    x = configurations.x()
    curve = {"layer": [effect_band(effect, "y"), *_curve(x, configurations, _ends(points))]}
    return Chart(
        id=name,
        title=Text.of("One label against one control in every configuration: {model}",
                      model=Name(model)),
        description=Text(
            "Accuracy under a label less that under a control, from the configuration with the "
            "lowest difference to that with the highest, with intervals; rows of squares below "
            "say which levels each configuration has. Label and control can be picked."
        ),
        spec=view(
            [_heading(), curve, *configurations.levels_panel(HEIGHT + GAP, x)],
            HEIGHT + GAP + configurations.height,
            data=points.name,
            params=[_select("persona", "label", labels), _select("control", "control", controls)],
            transform=[{"filter": f"datum.persona === {label} && datum.control === {control}"}],
        ),
        data=(points, effect),
        notes=(
            Text(
                "Thick bars: 95% interval of one configuration; thin bars: of all configurations "
                "of the label together. Triangles: shown to be above or below zero, all together; "
                "hollow circles: not. Grey band: below the smallest effect of interest."
            ),
            Text(
                "All configurations share their questions: a difference that shows up in many of "
                "them is not confirmed many times. Hence the p values of whole curves in the table."
            ),
        ),
        facets={"model": model},
    )  # fmt: skip


def _select(param: str, word: str, names: Sequence[str]) -> Spec:
    return {"name": param, "value": names[0],
            "bind": {"input": "select", "options": list(names), "name": word}}  # fmt: skip


def _heading() -> Spec:
    """Which label and which control: a picture of the chart has no select boxes."""
    return {
        "transform": [
            {"filter": "datum.place === 0"},
            {"calculate": "datum.persona + ' \\u2212 ' + datum.control", "as": "heading"},
        ],
        "mark": {
            "type": "text",
            "align": "left",
            "fontWeight": "bold",
            "fontSize": 12,
            "limit": {"expr": "width"},
        },
        "encoding": {"x": {"value": 2}, "y": {"value": 6}, "text": {"field": "heading"}},
    }


def _ends(points: Dataset) -> Spec:
    """Ends of the y scale where intervals go beyond what is possible."""
    ends: Spec = {}
    if any((low or 0.0) < -100.0 for low in points.fields["low_together"].values):
        ends["domainMin"] = -100.0
    if any((high or 0.0) > 100.0 for high in points.fields["high_together"].values):
        ends["domainMax"] = 100.0
    return ends


def _curve(x: Spec, configurations: Configurations, ends: Spec) -> list[Spec]:
    y = curve_y("estimate", "difference (points)", ())
    y["scale"] = {**y["scale"], "range": [HEIGHT, _HEAD], **ends}
    tips = [
        *configurations.tips(),
        tip("estimate", "difference (points)", "+.2f"),
        tip("low", "low, this configuration", "+.2f"),
        tip("high", "high, this configuration", "+.2f"),
        tip("low_together", "low, all configurations", "+.2f"),
        tip("high_together", "high, all configurations", "+.2f"),
    ]
    bars: list[Spec] = [
        {
            "mark": {
                "type": "rule",
                "strokeWidth": width,
                "color": MUTED,
                "opacity": 0.8,
                "clip": True,
            },
            "encoding": {"x": x, "y": {**y, "field": low}, "y2": {"field": high}, "tooltip": tips},
        }
        for low, high, width in (("low_together", "high_together", 1), ("low", "high", 3.5))
    ]
    zero: Spec = {
        "transform": [{"filter": "datum.place === 0"}],
        "mark": {"type": "rule", "strokeWidth": 1},
        "encoding": {"y": {"datum": 0, "type": "quantitative"}},
    }
    above, below = "datum.low_together > 0", "datum.high_together < 0"
    colour = {
        "condition": [
            {"test": above, "value": CATEGORIES[0]},
            {"test": below, "value": CATEGORIES[1]},
        ],
        "value": MUTED,
    }
    points: Spec = {
        "mark": {"type": "point", "filled": True, "size": 44, "opacity": 1, "strokeWidth": 1.5},
        "encoding": {
            "x": x,
            "y": y,
            "fill": colour,
            "stroke": colour,
            "fillOpacity": {"condition": {"test": f"{above} || {below}", "value": 1}, "value": 0},
            "shape": {
                "condition": [
                    {"test": above, "value": "triangle-up"},
                    {"test": below, "value": "triangle-down"},
                ],
                "value": "circle",
            },
            "tooltip": tips,
        },
    }
    return [zero, *bars, points]
