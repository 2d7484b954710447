"""Chart: accuracy over temperature, exact where distributions are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from nongrata.report.charts.series import series_looks
from nongrata.report.charts.theme import CATEGORIES, MUTED
from nongrata.report.document.blocks import Chart, Dataset, Field, Table
from nongrata.report.document.cursor import Cursor
from nongrata.report.document.pieces import Name, Text

_EVERY = 4
"""Of a label's curve every so many points are drawn, beside the study's own temperatures."""
_SIZE: dict[str, Any] = {
    "width": "container",
    "height": 320,
    "autosize": {"type": "fit-x", "contains": "padding"},
}


@dataclass(frozen=True, slots=True)
class Asked:
    """A configuration whose accuracy is known at the temperature it was asked at, and only there.

    Parameters
    ----------
    setting
        Name of its setting.
    temperature
        Where it stands on the axis.
    place
        Holds ``accuracy``, ``low`` and ``high``.
    """

    setting: str
    temperature: float
    place: Cursor


def curves_chart(
    curves: Sequence[tuple[str, Cursor]], model: str, name: str, table: Table
) -> Chart | None:
    """A line for each setting, with its band; the study's own temperatures are marked.

    Parameters
    ----------
    curves
        Settings with a curve, by name.
    model
        Which model.
    name
        Id of the chart.
    table
        The same numbers.
    """
    if not curves:
        return None
    import altair as alt

    data = (_curves(f"data-{name}", curves), _labels(f"data-{name}-labels", curves))
    lines, points = series_looks(len(curves))
    exact = alt.Chart(alt.NamedData(data[0].name)).encode(x=_x())
    labels = alt.Chart(alt.NamedData(data[1].name)).encode(x=_x(), y=_y())
    studied = alt.condition("datum.studied", alt.value(55), alt.value(0))
    chart = alt.layer(
        exact.transform_filter("isValid(datum.low) && isValid(datum.high)")
        .mark_area(opacity=0.6 / max(len(curves), 3), color=CATEGORIES[0])
        .encode(y=_y("low"), y2="high:Q", detail="series:N"),
        # seen when picked; filtered out they would leave a scale without an extent
        labels.mark_line(color=MUTED, strokeWidth=3).encode(
            opacity=alt.condition(
                "persona !== '' && datum.persona === persona", alt.value(0.8), alt.value(0)
            ),
            detail=["series:N", "persona:N"],
            tooltip=[
                alt.Tooltip("persona:N", title="label"),
                alt.Tooltip("series:N", title="setting"),
            ],
        ),
        exact.mark_line(strokeWidth=2).encode(y=_y(), **lines),
        exact.mark_point(filled=True, opacity=1).encode(
            y=_y(), size=studied, tooltip=_tip(), **points
        ),
    ).properties(**_SIZE)
    return Chart(
        id=name,
        title=Text.of("{model}: exact accuracy over temperature", model=Name(model)),
        description=Text.of(
            "A line for each setting of the other factors shows how the mean accuracy of the "
            "labels of {model} moves with temperature, computed from the distributions of answers, "
            "with its 95% band; marks are the temperatures asked. A label that is picked has lines "
            "of its own.",
            model=Name(model),
        ),
        spec=chart.to_dict(validate=False) | {"params": [{"name": "persona", "value": ""}]},
        data=data,
        table=table,
        facets={"model": model},
    )


def asked_chart(asked: Sequence[Asked], model: str, name: str) -> Chart | None:
    """Accuracy at the temperatures asked, where nothing in between is known.

    Parameters
    ----------
    asked
        Configurations.
    model
        Which model.
    name
        Id of the chart.
    """
    if not asked:
        return None
    import altair as alt

    settings = list(dict.fromkeys(each.setting for each in asked))
    data = _asked(f"data-{name}", asked, settings)
    lines, points = series_looks(len(settings))
    base = alt.Chart(alt.NamedData(data.name)).encode(x=_x())
    chart = alt.layer(
        base.mark_rule(strokeWidth=1.5, opacity=0.35, color=MUTED, invalid=None).encode(
            y=_y("low"), y2="high:Q"
        ),
        base.mark_line(strokeWidth=1.5).encode(y=_y(), **lines),
        base.mark_point(filled=True, opacity=1, size=60).encode(y=_y(), tooltip=_tip(), **points),
    ).properties(**_SIZE)
    return Chart(
        id=name,
        title=Text.of("{model}: accuracy at the temperatures asked", model=Name(model)),
        description=Text.of(
            "Marks show the mean accuracy of the labels of {model} at each temperature asked, for "
            "settings whose answers are generated texts, with 95% intervals; lines join the marks "
            "of a setting, nothing in between is known.",
            model=Name(model),
        ),
        spec=chart.to_dict(validate=False),
        data=(data,),
        facets={"model": model},
    )


def _x() -> Any:
    import altair as alt

    return alt.X("temperature:Q", title="temperature", axis=alt.Axis(tickCount=6))


def _y(field: str = "accuracy") -> Any:
    import altair as alt

    return alt.Y(f"{field}:Q", title="accuracy, %", scale=alt.Scale(zero=False, nice=True))


def _curves(name: str, curves: Sequence[tuple[str, Cursor]]) -> Dataset:
    settings = [setting for setting, _ in curves]
    pairs = [
        (setting, point)
        for setting, curve in curves
        for point in curve["points"]
        if point["accuracy"]["estimate"].number is not None
    ]
    places = [point for _, point in pairs]
    return Dataset(
        name,
        {
            "series": Field.names([Name(setting) for setting, _ in pairs]),
            "series_order": Field.names([settings.index(setting) for setting, _ in pairs]),
            "temperature": Field.of(places, "temperature"),
            "studied": Field.names([bool(place["studied"].value) for place in places]),
            "accuracy": Field.of(places, "accuracy", "estimate"),
            "low": Field.of(places, "accuracy", "low"),
            "high": Field.of(places, "accuracy", "high"),
            "unreadable": Field.of(places, "unreadable"),
        },
    )


def _labels(name: str, curves: Sequence[tuple[str, Cursor]]) -> Dataset:
    rows = []
    for setting, curve in curves:
        points = list(curve["points"])
        kept = [i for i, point in enumerate(points) if point["studied"].value or i % _EVERY == 0]
        for label in curve["by_label"]:
            accuracy = label["accuracy"]
            rows += [
                (setting, label["persona"].text, points[i]["temperature"], accuracy[i])
                for i in kept
                if accuracy[i].number is not None
            ]
    return Dataset(
        name,
        {
            "series": Field.names([Name(row[0]) for row in rows]),
            "persona": Field.names([Name(row[1]) for row in rows]),
            "temperature": Field.of([row[2] for row in rows]),
            "accuracy": Field.of([row[3] for row in rows]),
        },
    )


def _asked(name: str, asked: Sequence[Asked], settings: list[str]) -> Dataset:
    places = [each.place for each in asked]
    return Dataset(
        name,
        {
            "series": Field.names([Name(each.setting) for each in asked]),
            "series_order": Field.names([settings.index(each.setting) for each in asked]),
            "temperature": Field.names([each.temperature for each in asked]),
            "accuracy": Field.of(places, "accuracy"),
            "low": Field.of(places, "low"),
            "high": Field.of(places, "high"),
        },
    )


def _tip() -> list[Any]:
    import altair as alt

    return [
        alt.Tooltip("series:N", title="setting"),
        alt.Tooltip("temperature:Q", title="temperature"),
        alt.Tooltip("accuracy:Q", title="accuracy, %", format=".1f"),
        alt.Tooltip("low:Q", title="95% interval, from", format=".1f"),
        alt.Tooltip("high:Q", title="95% interval, to", format=".1f"),
    ]
