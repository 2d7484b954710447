"""Chart: each label's difference to a control, averaged and in every configuration."""

from __future__ import annotations

from collections.abc import Sequence

from nongrata.report.charts.panels import PERSONA, Spec, names_y, said, tip, view, within
from nongrata.report.charts.theme import CATEGORIES, MUTED
from nongrata.report.document.blocks import Chart, Dataset, Field, Table
from nongrata.report.document.cursor import Cursor
from nongrata.report.document.pieces import Name, Text

_STEP = 15
_BAND = {"type": "rect", "opacity": 0.16, "color": MUTED}


def differences_chart(
    labels: Sequence[Cursor],
    control: str,
    points: Dataset,
    effect: Dataset,
    model: str,
    name: str,
    table: Table | None = None,
) -> Chart:
    """A row for each label: ticks for single configurations, a point for their mean.

    Parameters
    ----------
    labels
        Of the contrasts with a control, in the order shown.
    control
        The control.
    points
        Dataset with the difference of each label to each control in each configuration.
    effect
        Dataset with the smallest effect of interest, from `effect_data`.
    model
        The model.
    name
        Id of the chart.
    table
        The same numbers.
    """
    names = said([label["persona"].text for label in labels])
    keys = ("estimate", "low_together", "high_together", "low", "high")
    data = Dataset(
        f"data-{name}",
        {
            "persona": Field.names(names),
            **{key: Field.of(labels, key) for key in keys},
            "says": Field.names([Text(label["verdict"].text) for label in labels]),
            "shown": Field.names([label["verdict"].text for label in labels]),
        },
    )
    y = names_y("persona", names, 0, _STEP * len(names), grid=True, labelOverlap=False)
    shown = said([control])[0]
    layers = [
        effect_band(effect, "x"),
        _zero("x"),
        _ticks(points, shown, y),
        *_means(y, within(labels, (-100.0, 100.0), "low_together", "high_together")),
    ]
    return Chart(
        id=name,
        title=Text.of(
            "Labels less {control}: {model}", control=Name(control), model=Name(model)
        ),
        description=Text.of(
            "A row for each label: a point for its accuracy less that of {control}, averaged over "
            "configurations, with its interval; ticks for single configurations.",
            control=Name(control),
        ),
        spec=view(layers, _STEP * len(names), data=data.name, params=[PERSONA]) | {"resolve": {}},
        data=(data, points, effect),
        table=table,
        notes=(
            Text(
                "Ticks: single configurations. Points: their mean, with the 95% interval of all "
                "labels together. Triangles: shown to differ; squares: equivalent to the control "
                "within the smallest effect of interest (the grey band); circles: undecided."
            ),
        ),
        facets={"model": model},
    )  # fmt: skip


def effect_data(smallest: Cursor) -> Dataset:
    """The smallest effect of interest as a dataset of one row, shared by all charts.

    Parameters
    ----------
    smallest
        Where it stands in the results.
    """
    return Dataset("data-smallest-effect", {"effect": Field.of([smallest])})


def effect_band(effect: Dataset, channel: str) -> Spec:
    """A band from the smallest effect below 0 to that above it.

    Parameters
    ----------
    effect
        From `effect_data`.
    channel
        ``"x"`` or ``"y"``.
    """
    at = {"field": "below", "type": "quantitative"}
    tips = [tip("effect", "smallest effect of interest (points)", ".2f")]
    return {
        "data": {"name": effect.name},
        "transform": [{"calculate": "-datum.effect", "as": "below"}],
        "mark": _BAND,
        "encoding": {channel: at, f"{channel}2": {"field": "effect"}, "tooltip": tips},
    }


def _zero(channel: str) -> Spec:
    return {
        "data": {"values": [{}]},
        "mark": {"type": "rule", "strokeWidth": 1},
        "encoding": {channel: {"datum": 0, "type": "quantitative"}},
    }


def _x(field: str) -> Spec:
    return {
        "field": field,
        "type": "quantitative",
        "title": "difference of accuracy (points)",
        "axis": {"grid": False, "tickCount": 6},
    }


def _ticks(points: Dataset, control: str, y: Spec) -> Spec:
    return {
        "data": {"name": points.name},
        "transform": [{"filter": {"field": "control", "equal": control}}],
        "mark": {"type": "tick", "thickness": 1, "size": 9, "color": MUTED, "opacity": 0.55},
        "encoding": {"x": _x("estimate"), "y": y},
    }


def _means(y: Spec, ends: Spec) -> list[Spec]:
    tips = [
        tip("persona", "label"),
        tip("estimate", "difference (points)", "+.2f"),
        tip("low_together", "low, all labels", "+.2f"),
        tip("high_together", "high, all labels", "+.2f"),
        tip("low", "low, this label", "+.2f"),
        tip("high", "high, this label", "+.2f"),
        tip("says", "says"),
    ]
    picked = {"test": "datum.persona === persona", "value": CATEGORIES[1]}
    colour = {"condition": picked, "value": CATEGORIES[0]}
    bar = {
        "mark": {"type": "rule", "strokeWidth": 2.5, "clip": True},
        "encoding": {
            "x": _x("low_together") | {"scale": ends},
            "x2": {"field": "high_together"},
            "y": y,
            "color": colour,
            "tooltip": tips,
        },
    }
    differs = "indexof(datum.shown, 'differs') === 0"
    shapes = [
        {"test": f"{differs} && datum.estimate > 0", "value": "triangle-right"},
        {"test": differs, "value": "triangle-left"},
        {"test": "datum.shown === 'equivalent'", "value": "square"},
    ]
    points = {
        "mark": {"type": "point", "filled": True, "size": 60, "opacity": 1},
        "encoding": {
            "x": _x("estimate"),
            "y": y,
            "color": colour,
            "shape": {"condition": shapes, "value": "circle"},
            "tooltip": tips,
        },
    }
    return [bar, points]
