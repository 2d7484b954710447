"""Chart: IQ over the number of configurations, with its floor (rarefaction)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from nongrata.report.charts.rows import has_any
from nongrata.report.charts.series import series_looks
from nongrata.report.charts.theme import CATEGORIES
from nongrata.report.document.blocks import Chart, Dataset, Field, Table
from nongrata.report.document.cursor import Cursor
from nongrata.report.document.pieces import Name, Text

_ALL = "all configurations"
_TICKS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024)


def rarefaction_chart(
    curve: Sequence[Cursor],
    factors: Sequence[Cursor],
    model: str,
    name: str,
    table: Table | None = None,
) -> Chart | None:
    """IQ(m) with its band, the floor of one and the same configuration, and factors at equal m.

    Parameters
    ----------
    curve
        Points of ``noise``'s ``iq_curve``.
    factors
        Rows of ``instability`` about factors.
    model
        Which model.
    name
        Id of the chart.
    table
        The same numbers.
    """
    if len(curve) < 2:
        return None
    import altair as alt

    data = [_whole(name, curve), _factors(name, factors)]
    top = max(point["m"].value for point in curve)
    x = alt.X(
        "m:Q",
        title="configurations asked (m)",
        scale=alt.Scale(type="log", base=2, domain=[1, top], nice=False),
        axis=alt.Axis(values=[m for m in _TICKS if m <= top], format="d", grid=False),
    )
    y = alt.Y("iq:Q", title="IQ(m), %", scale=alt.Scale(domain=[0, 100]))
    whole = alt.Chart(alt.NamedData(data[0].name)).encode(x=x)
    band = whole.transform_filter("isValid(datum.low)").mark_area(color=CATEGORIES[0], opacity=0.25)
    tip = [
        alt.Tooltip("series:N", title="over"),
        alt.Tooltip("m:Q", title="m", format="d"),
        alt.Tooltip("iq:Q", title="IQ(m), %", format=".1f"),
    ]
    ends = [
        alt.Tooltip("low:Q", title="95% interval, from", format=".1f"),
        alt.Tooltip("high:Q", title="95% interval, to", format=".1f"),
    ]
    series = 1 + len({row["name"].text for row in factors if len(row["iq_curve"]) > 1})
    floor = _there(curve)
    lines, points = series_looks(series + floor, muted_last=floor)
    parts = alt.Chart(alt.NamedData(data[1].name)).encode(x=x)
    layers = [
        *(
            [band.encode(y=alt.Y("low:Q", title="IQ(m), %"), y2="high:Q")]
            if has_any(data[0], "low")
            else []
        ),
        whole.mark_line(strokeWidth=2).encode(y=y, **lines),
        whole.mark_point(opacity=1, filled=True).encode(
            y=y,
            size=alt.condition(
                f"indexof({list(_TICKS)}, datum.m) >= 0", alt.value(40), alt.value(0)
            ),
            tooltip=[*tip, *ends],
            **points,
        ),
        parts.mark_line(strokeWidth=2).encode(y=y, **lines),
        parts.mark_point(size=70, opacity=1, filled=True).encode(y=y, tooltip=tip, **points),
    ]
    if floor:
        base = (
            whole.transform_filter("isValid(datum.same)")
            .transform_calculate(series="datum.floor", series_order=str(series))
            .encode(y="same:Q")
        )
        tip = [*tip[:2], alt.Tooltip("same:Q", title="same configuration, %", format=".1f")]
        layers += [
            base.mark_line(strokeWidth=2).encode(**lines),
            base.mark_point(size=30, opacity=1, filled=True).encode(tooltip=tip, **points),
        ]
    chart = alt.layer(*layers).properties(
        width="container", height=300, autosize={"type": "fit-x", "contains": "padding"}
    )
    spec = chart.to_dict(validate=False)
    return Chart(
        id=name,
        title=Text.of("{model}: IQ over the number of configurations", model=Name(model)),
        description=Text.of(
            "A line shows, for {model}, IQ(m) in per cent over the number m of configurations "
            "asked, with its 95% band; it rises with m whatever the configurations do. Further "
            "lines show the levels of each factor at equal numbers, and, where it is known, what "
            "as many answers to one and the same configuration would give.",
            model=Name(model),
        ),
        spec=spec,
        data=tuple(data),
        table=table,
        facets={"model": model},
    )


def _whole(name: str, curve: Sequence[Cursor]) -> Dataset:
    fields = {
        "series": Field.names([Text(_ALL)] * len(curve)),
        "series_order": Field.names([0] * len(curve)),
        "m": Field.of(curve, "m"),
        "iq": Field.of(curve, "iq"),
        "low": Field.of(curve, "low"),
        "high": Field.of(curve, "high"),
    }
    if _there(curve):
        fields["same"] = Field.of(curve, "same_configuration")
        fields["floor"] = Field.names(
            [Text("noise: one configuration, asked m times")] * len(curve)
        )
    return Dataset(f"data-{name}", fields)


def _factors(chart: str, factors: Sequence[Cursor]) -> Dataset:
    rows = [row for row in factors if len(row["iq_curve"]) > 1]
    points = [list(row["iq_curve"]) for row in rows]
    sizes = [len(each) for each in points]
    flat = list(chain.from_iterable(points))
    kept = [i for i, point in enumerate(flat) if point.number is not None]
    series = list(
        chain.from_iterable([Name(r["name"].text)] * n for r, n in zip(rows, sizes, strict=True))
    )
    orders = list(chain.from_iterable([place + 1] * n for place, n in enumerate(sizes)))
    m = list(chain.from_iterable(range(1, n + 1) for n in sizes))
    return Dataset(
        f"data-{chart}-factors",
        {
            "series": Field.names([series[i] for i in kept]),
            "series_order": Field.names([orders[i] for i in kept]),
            "m": Field.names([m[i] for i in kept]),
            "iq": Field.of([flat[i] for i in kept]),
        },
    )


def _there(curve: Sequence[Cursor]) -> bool:
    """Whether the floor of one and the same configuration is known anywhere."""
    return any(point["same_configuration"].number is not None for point in curve)
