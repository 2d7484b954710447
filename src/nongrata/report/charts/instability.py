"""Chart: instability of accuracy beside what noise alone makes of it."""

from __future__ import annotations

from collections.abc import Sequence

from nongrata.report.charts.theme import CATEGORIES, MUTED
from nongrata.report.document.blocks import Chart, Dataset, Facets, Field, Table
from nongrata.report.document.cursor import Cursor
from nongrata.report.document.pieces import Name, Text


def ia_chart(
    rows: Sequence[Cursor], names: Sequence[str], model: str, name: str, table: Table | None = None
) -> Chart:
    """IA of each factor and domain as a bar, floors as ticks.

    Parameters
    ----------
    rows
        Rows of `noise`.
    names
        What each row is called.
    model
        Which model they are about.
    name
        Id of the chart.
    table
        The same numbers.
    """
    import altair as alt

    data = Dataset(
        f"data-{name}",
        {
            "over": Field.names(names),
            "order": Field.names(range(len(names))),
            "ia": Field.of(rows, "ia"),
            "floor": Field.of(rows, "exchangeability_floor"),
        },
    )
    y = alt.Y("over:N", sort=alt.SortField("order"), title=None)
    base = alt.Chart(alt.NamedData(data.name)).encode(y=y)
    tip = [alt.Tooltip("over:N"), alt.Tooltip("ia:Q", format=".2f"),
           alt.Tooltip("floor:Q", format=".2f")]  # fmt: skip
    bars = base.mark_bar(color=CATEGORIES[0], height={"band": 0.6}).encode(
        x=alt.X("ia:Q", title="IA (points)"), tooltip=tip
    )
    ticks = base.mark_tick(color=MUTED, thickness=3, size=18).encode(x="floor:Q", tooltip=tip)
    chart = alt.layer(bars, ticks).properties(width="container", height={"step": 24})
    facets: Facets = {"model": model}
    return Chart(
        id=name,
        title=Text("Instability of accuracy (IA), and what noise alone makes"),
        description=Text.of(
            "A bar for each row shows IA of {model} in points; a tick shows the part of it that "
            "noise alone would make.",
            model=Name(model),
        ),
        spec=chart.to_dict(validate=False),
        data=(data,),
        table=table,
        facets=facets,
    )
