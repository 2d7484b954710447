"""Chart: choices judged on the answers that made them, and held out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nongrata.report.charts.rows import by_kind, distinct, has_any, row_axis, size_of
from nongrata.report.charts.theme import CATEGORIES
from nongrata.report.document.blocks import Chart, Dataset, Field
from nongrata.report.document.cursor import Cursor
from nongrata.report.document.pieces import Name, Text

_KINDS = (
    ("in_sample", "in sample", "square", CATEGORIES[1], -6),
    ("held_out", "held out, 95% interval", "circle", CATEGORIES[0], 6),
)


def held_out_chart(
    rows: Sequence[Cursor], names: Sequence[Name | Text], model: str, name: str
) -> Chart | None:
    """Two points for each choice, joined: their distance is optimism.

    Parameters
    ----------
    rows
        Rows of ``held_out`` that are defined in sample and held out.
    names
        What is chosen in each.
    model
        Which model.
    name
        Id of the chart.
    """
    if not rows:
        return None
    import altair as alt

    data = Dataset(
        f"data-{name}",
        {
            "row": Field.names(distinct(names)),
            "order": Field.names(range(len(rows))),
            "in_sample": Field.of(rows, "in_sample", "estimate"),
            "held_out": Field.of(rows, "held_out", "estimate"),
            "low": Field.of(rows, "held_out", "low"),
            "high": Field.of(rows, "held_out", "high"),
            "optimism": Field.of(rows, "optimism"),
            **{f"word_{key}": Field.names([Text(word)] * len(rows)) for key, word, *_ in _KINDS},
        },
    )
    tip = [
        alt.Tooltip("row:N", title="choice"),
        alt.Tooltip("in_sample:Q", title="in sample (points)", format=".2f"),
        alt.Tooltip("held_out:Q", title="held out (points)", format=".2f"),
        alt.Tooltip("low:Q", title="held out, from", format=".2f"),
        alt.Tooltip("high:Q", title="held out, to", format=".2f"),
        alt.Tooltip("optimism:Q", title="optimism (points)", format=".2f"),
    ]
    base = alt.Chart(alt.NamedData(data.name)).encode(y=row_axis(), tooltip=tip)
    x = alt.X("in_sample:Q", title="difference of accuracy (points)", axis=alt.Axis(tickCount=6))
    zero = alt.Chart(alt.NamedData(data.name)).mark_rule(opacity=0.5, strokeDash=[3, 3])
    reach = base.transform_filter("isValid(datum.low) && isValid(datum.high)").mark_rule(
        color=CATEGORIES[0], strokeWidth=2, yOffset=_KINDS[1][-1]
    )
    chart = alt.layer(
        zero.encode(x=alt.datum(0)),
        *([reach.encode(x="low:Q", x2="high:Q")] if has_any(data, "low") else []),
        *(_points(base, x, place) for place in range(len(_KINDS))),
    ).properties(**size_of(data, 34))
    return Chart(
        id=name,
        title=Text.of("{model}: choices in sample and held out", model=Name(model)),
        description=Text.of(
            "For each way to choose configurations or labels of {model}, a square shows what the "
            "choice is worth on the answers that made it, and a circle below it what it is worth "
            "on other questions, with its 95% interval. Where the square lies farther from 0, the "
            "choice was optimistic.",
            model=Name(model),
        ),
        spec=chart.to_dict(validate=False),
        data=(data,),
        facets={"model": model},
    )


def _points(base: Any, x: Any, place: int) -> Any:
    key, _, _, _, offset = _KINDS[place]
    looks = by_kind([kind[3] for kind in _KINDS], [kind[2] for kind in _KINDS])
    return (
        base.transform_calculate(kind=f"datum.word_{key}", kind_order=str(place))
        .mark_point(filled=True, size=80, opacity=1, yOffset=offset)
        .encode(x=x if place == 0 else f"{key}:Q", **looks)
    )
