"""Chart: instability of accuracy beside what noise alone makes of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nongrata.report.charts.rows import by_kind, distinct, has_any, row_axis, size_of
from nongrata.report.charts.theme import CATEGORIES
from nongrata.report.document.blocks import Chart, Dataset, Field
from nongrata.report.document.cursor import Cursor
from nongrata.report.document.pieces import Name, Text

_UP, _DOWN = -9, 11
_BAR = "M-0.28,-1.3L0.28,-1.3L0.28,1.3L-0.28,1.3Z"
_KINDS = (
    ("ia", "IA", "square", CATEGORIES[0], _UP),
    ("rerun", "noise: asked again", "circle", CATEGORIES[2], _UP),
    ("exchangeability", "noise: exchangeable configurations", _BAR, CATEGORIES[1], _UP),
    ("equal", "noise: equal accuracies", "triangle-up", CATEGORIES[3], _UP + 10),
    ("excess", "IA less exchangeable noise, 95% interval", "diamond", CATEGORIES[6], _DOWN),
)
"""Field, words, shape, colour, and place above or below the middle of the row, in pixels."""
DOMAINS_DRAWN = 20
"""Domains in one chart, those that move most; the table beside it has all."""


def drawn(rows: Sequence[Cursor], key: str) -> list[Cursor]:
    """The rows that a chart shows: all that have a number, and of many domains the largest.

    Parameters
    ----------
    rows
        Rows by scope.
    key
        Whose numbers are drawn.
    """
    kept = [row for row in rows if row[key].number is not None]
    domains = [row for row in kept if row["scope"].text == "domain"]
    if len(domains) > DOMAINS_DRAWN:
        domains = sorted(domains, key=lambda row: -(row[key].number or 0))[:DOMAINS_DRAWN]
    return [row for row in kept if row["scope"].text != "domain"] + domains


def ia_chart(
    rows: Sequence[Cursor], names: Sequence[Name | Text], model: str, name: str
) -> Chart | None:
    """IA of each factor and domain as a bar, its floors as marks, the excess below it.

    Parameters
    ----------
    rows
        Rows of ``noise`` whose IA is defined.
    names
        What each row is called.
    model
        Which model they are about.
    name
        Id of the chart.
    """
    if not rows:
        return None
    import altair as alt

    excess = [row["over_exchangeability"] for row in rows]
    words = {f"word_{key}": Field.names([Text(word)] * len(rows)) for key, word, *_ in _KINDS}
    data = Dataset(
        f"data-{name}",
        {
            "row": Field.names(distinct(names)),
            "scope": Field.names([row["scope"].text for row in rows]),
            "order": Field.names(range(len(rows))),
            "ia": Field.of(rows, "ia"),
            "rerun": Field.of(rows, "rerun_floor"),
            "exchangeability": Field.of(rows, "exchangeability_floor"),
            "equal": Field.of(rows, "equal_accuracy_floor"),
            "excess": Field.of(excess, "figure"),
            "low": Field.of(excess, "low"),
            "high": Field.of(excess, "high"),
            **words,
        },
    )
    tip = [
        alt.Tooltip("row:N", title="over"),
        alt.Tooltip("ia:Q", title="IA (points)", format=".2f"),
        alt.Tooltip("rerun:Q", title="asked again", format=".2f"),
        alt.Tooltip("exchangeability:Q", title="exchangeable", format=".2f"),
        alt.Tooltip("equal:Q", title="equal accuracies", format=".2f"),
        alt.Tooltip("excess:Q", title="excess", format=".2f"),
        alt.Tooltip("low:Q", title="excess, from", format=".2f"),
        alt.Tooltip("high:Q", title="excess, to", format=".2f"),
    ]
    base = alt.Chart(alt.NamedData(data.name)).encode(y=row_axis(), tooltip=tip)
    bars = base.mark_bar(color=CATEGORIES[5], opacity=0.45, height=10, yOffset=_UP).encode(
        x=alt.X("ia:Q", title="points")
    )
    zero = alt.Chart(base.data).mark_rule(opacity=0.5).encode(x=alt.datum(0))
    reach = (
        base.transform_filter("isValid(datum.low)")
        .mark_rule(color=CATEGORIES[6], strokeWidth=2, yOffset=_DOWN)
        .encode(x="low:Q", x2="high:Q")
    )
    there = [kind for kind in _KINDS if has_any(data, kind[0])]
    marks = [_marks(base, there, place) for place in range(len(there))]
    chart = alt.layer(bars, zero, *([reach] if has_any(data, "low") else []), *marks).properties(
        **size_of(data, 46)
    )
    spec = chart.to_dict(validate=False)
    return Chart(
        id=name,
        title=Text.of("{model}: instability of accuracy beside noise", model=Name(model)),
        description=Text.of(
            "A bar for each row shows the instability of accuracy (IA) of {model} in points. Marks "
            "on it show how much of it noise alone would make, in three readings of noise; below "
            "it, a diamond shows IA less that, with its 95% interval.",
            model=Name(model),
        ),
        spec=picked_rows(spec),
        data=(data,),
        facets={"model": model},
    )


def picked_rows(spec: dict[str, Any]) -> dict[str, Any]:
    """A chart of overall, factors and domains that follows the reader's pick of one of them."""
    picks = [{"name": scope, "value": ""} for scope in ("factor", "domain")]
    kept = " && ".join(
        f"({scope} === '' || datum.scope !== '{scope}' || datum.row === {scope})"
        for scope in ("factor", "domain")
    )
    return spec | {"params": picks, "transform": [{"filter": kept}, *spec.get("transform", [])]}


def _marks(base: Any, kinds: list[tuple[str, str, str, str, int]], place: int) -> Any:
    key, *_, offset = kinds[place]
    return (
        base.transform_filter(f"isValid(datum.{key})")
        .transform_calculate(kind=f"datum.word_{key}", kind_order=str(place))
        .mark_point(filled=True, size=80, opacity=1, yOffset=offset)
        .encode(
            x=f"{key}:Q",
            **by_kind([kind[3] for kind in kinds], [kind[2] for kind in kinds]),
        )
    )
