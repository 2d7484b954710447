"""Chart: a factor taken apart: effects of its sub-factors, on the mean and on each label."""

from __future__ import annotations

from collections.abc import Sequence

from nongrata.report.charts.rows import distinct, has_any, row_axis, size_of
from nongrata.report.charts.theme import CATEGORIES, MUTED
from nongrata.report.document.blocks import Chart, Dataset, Field
from nongrata.report.document.cursor import Cursor
from nongrata.report.document.pieces import Name, Text


def apart_chart(effects: Sequence[Cursor], factor: str, model: str, name: str) -> Chart | None:
    """Effects of sub-factors and their interactions as points, those on single labels as ticks.

    Parameters
    ----------
    effects
        Effects of one factor taken apart whose average is a number.
    factor
        The factor.
    model
        Which model.
    name
        Id of the chart.
    """
    if not effects:
        return None
    import altair as alt

    names = distinct(Name(sub_name(effect)) for effect in effects)
    averages = [effect["average"] for effect in effects]
    whole = Dataset(
        f"data-{name}",
        {
            "row": Field.names(names),
            "order": Field.names(range(len(effects))),
            "value": Field.of(averages, "estimate"),
            "low": Field.of(averages, "low_together"),
            "high": Field.of(averages, "high_together"),
        },
    )
    single = [
        (place, label)
        for place, effect in enumerate(effects)
        for label in effect["labels"]
        if label["effect"]["estimate"].number is not None
    ]
    labels = Dataset(
        f"data-{name}-labels",
        {
            "row": Field.names([names[place] for place, _ in single]),
            "order": Field.names([place for place, _ in single]),
            "persona": Field.names([Name(label["persona"].text) for _, label in single]),
            "value": Field.of([label for _, label in single], "effect", "estimate"),
        },
    )
    title = "difference of accuracy (points)"
    chosen = "persona !== '' && datum.persona === persona"
    ticks = (
        alt.Chart(alt.NamedData(labels.name))
        .mark_tick(thickness=1.5, yOffset=9)
        .encode(
            x=alt.X("value:Q", title=title, axis=alt.Axis(tickCount=6)),
            y=row_axis(),
            color=alt.condition(chosen, alt.value(CATEGORIES[1]), alt.value(MUTED)),
            opacity=alt.condition(chosen, alt.value(1), alt.value(0.6)),
            size=alt.condition(chosen, alt.value(22), alt.value(10)),
            tooltip=[
                alt.Tooltip("row:N", title="effect"),
                alt.Tooltip("persona:N", title="label"),
                alt.Tooltip("value:Q", title=title, format="+.2f"),
            ],
        )
    )
    base = alt.Chart(alt.NamedData(whole.name)).encode(y=row_axis())
    reach = base.transform_filter("isValid(datum.low) && isValid(datum.high)")
    zero = alt.Chart(alt.NamedData(whole.name)).mark_rule(opacity=0.5, strokeDash=[3, 3])
    points = base.mark_point(
        filled=True, size=90, opacity=1, color=CATEGORIES[0], shape="diamond", yOffset=-5
    ).encode(
        x="value:Q",
        tooltip=[
            alt.Tooltip("row:N", title="effect"),
            alt.Tooltip("value:Q", title=title, format="+.2f"),
            alt.Tooltip("low:Q", title="95% interval, from", format="+.2f"),
            alt.Tooltip("high:Q", title="95% interval, to", format="+.2f"),
        ],
    )
    bars = reach.mark_rule(color=CATEGORIES[0], strokeWidth=2, yOffset=-5).encode(
        x="low:Q", x2="high:Q"
    )
    chart = alt.layer(
        zero.encode(x=alt.datum(0)),
        ticks,
        *([bars] if has_any(whole, "low") else []),
        points,
    ).properties(**size_of(whole, 44))
    return Chart(
        id=name,
        title=Text.of("{model}: {factor} taken apart", model=Name(model), factor=Name(factor)),
        description=Text.of(
            "A diamond for each sub-factor of {factor}, and for each interaction of two, shows its "
            "effect on the accuracy of {model} in points, averaged over labels, with an interval "
            "that holds for all of them together. Ticks below it show the effect on each label.",
            factor=Name(factor),
            model=Name(model),
        ),
        spec=chart.to_dict(validate=False) | {"params": [{"name": "persona", "value": ""}]},
        data=(whole, labels),
        facets={"model": model, "factor": factor},
    )


def sub_name(effect: Cursor) -> str:
    """Name of an effect: its sub-factors, with a cross between.

    Examples
    --------
    >>> sub_name(Cursor({"sub_factors": ["elicitation", "reminder"]}))
    'elicitation × reminder'
    """
    return " × ".join(effect["sub_factors"].value)
