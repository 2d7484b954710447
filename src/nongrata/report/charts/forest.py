"""Chart: estimates with their intervals, one row for each (a forest plot)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nongrata.report.charts.rows import distinct, has_any, row_axis, size_of
from nongrata.report.charts.theme import CATEGORIES
from nongrata.report.document.blocks import Chart, Dataset, Facets, Field, Table
from nongrata.report.document.cursor import Cursor
from nongrata.report.document.pieces import Name, Text

SHAPES = ("circle", "diamond", "square", "triangle-up", "cross", "triangle-down", "triangle-right")


@dataclass(frozen=True, slots=True)
class Keys:
    """Where a row keeps its numbers.

    Parameters
    ----------
    value, low, high
        The estimate and the ends of its interval, within the place of the row.
    """

    value: str = "estimate"
    low: str = "low"
    high: str = "high"


@dataclass(frozen=True, slots=True)
class Forest:
    """What a forest plot shows.

    Parameters
    ----------
    places
        The row's estimates; those without a number must have been left out.
    names
        What each is called.
    axis
        Title of the axis, with the unit.
    keys
        Where a place keeps its numbers.
    groups
        For each row the group it belongs to, shown by colour and shape; None: there are none.
    reference
        Where a line stands: 0, where differences are shown.
    full
        What each is called in full, where `names` are short.
    by
        Facet that the names are of: ``"factor"``, ``"domain"``, ``"persona"`` or empty.
    """

    places: Sequence[Cursor]
    names: Sequence[Name | Text]
    axis: str
    keys: Keys = Keys()
    groups: Sequence[Name | Text] | None = None
    reference: float | None = None
    full: Sequence[Name | Text] | None = None
    by: str = ""


def forest_chart(
    forest: Forest,
    name: str,
    title: Text,
    description: Text,
    facets: Facets,
    table: Table | None = None,
    datum: Mapping[str, Field] | None = None,
) -> Chart:
    """Estimates as points, intervals as lines.

    Parameters
    ----------
    forest
        What is shown.
    name
        Id of the chart.
    title, description
        What it shows.
    facets
        What it is about.
    table
        The same numbers, where no table beside it has them.
    datum
        Further fields of its data.
    """
    import altair as alt

    keys, places = forest.keys, forest.places
    groups = forest.groups
    fields = {
        "row": Field.names(distinct(forest.names)),
        "order": Field.names(range(len(places))),
        "value": Field.of(places, keys.value),
        "low": Field.of(places, keys.low),
        "high": Field.of(places, keys.high),
        **(datum or {}),
    }
    if forest.full is not None:
        fields["full"] = Field.names(list(forest.full))
    if groups is not None:
        fields["group"] = Field.names(list(groups))
    data = Dataset(f"data-{name}", fields)
    tooltip = [
        *([alt.Tooltip("group:N", title="of")] if groups is not None else []),
        alt.Tooltip("row:N" if forest.full is None else "full:N", title="which"),
        alt.Tooltip("value:Q", title=forest.axis, format=".2f"),
        alt.Tooltip("low:Q", title="95% interval, from", format=".2f"),
        alt.Tooltip("high:Q", title="95% interval, to", format=".2f"),
    ]
    base = alt.Chart(alt.NamedData(data.name)).encode(y=row_axis())
    scale = alt.Scale(zero=forest.reference == 0, nice=True)
    along: dict[str, Any] = {
        "title": forest.axis, "scale": scale, "axis": alt.Axis(tickCount=6),
    }  # fmt: skip
    stroke: Any = alt.Undefined
    color: Any = alt.Undefined
    shape: Any = alt.Undefined
    if groups is not None:
        sort = alt.EncodingSortField(field="order", op="min", order="ascending")
        legend = alt.Legend(title=None, orient="top", columns=1, symbolSize=90, labelLimit=300)
        colors = alt.Scale(range=list(CATEGORIES))
        stroke = alt.Stroke("group:N", sort=sort, scale=colors, legend=legend)
        color = alt.Color("group:N", sort=sort, scale=colors, legend=legend)
        shape = alt.Shape("group:N", sort=sort, scale=alt.Scale(range=list(SHAPES)), legend=legend)
    # no filter: rules and points must share a source, or colour and shape get a legend each
    known = alt.condition("isValid(datum.low) && isValid(datum.high)", alt.value(1), alt.value(0))
    intervals = base.mark_rule(strokeWidth=2, invalid=None, **_paint(groups)).encode(
        x=alt.X("low:Q", **along), x2="high:Q", stroke=stroke, opacity=known
    )
    points = base.mark_point(filled=True, opacity=1, invalid=None, **_paint(groups))
    picked = alt.condition("datum.row === persona", alt.value(260), alt.value(75))
    size = picked if forest.by == "persona" else alt.value(75)
    points = points.encode(
        x=alt.X("value:Q", **along), color=color, shape=shape, size=size, tooltip=tooltip
    )
    layers = [intervals, points] if has_any(data, "low") else [points]
    if forest.reference is not None:
        line = alt.Chart(base.data).mark_rule(opacity=0.5, strokeDash=[3, 3])
        layers.insert(0, line.encode(x=alt.datum(forest.reference)))
    chart = alt.layer(*layers).properties(**size_of(data, 22))
    spec = chart.to_dict(validate=False)
    if forest.by:
        spec["params"] = [{"name": forest.by, "value": ""}]
    if forest.by in {"factor", "domain"}:
        spec["transform"] = [{"filter": f"{forest.by} === '' || datum.row === {forest.by}"}]
    return Chart(name, title, description, spec, (data,), table, facets=facets)


def _paint(groups: Sequence[Name | Text] | None) -> dict[str, Any]:
    return {} if groups is not None else {"color": CATEGORIES[0]}
