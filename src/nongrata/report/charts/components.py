"""Chart: shares of the variance of single answers."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_uppercase

from nongrata.report.charts.rows import distinct, has_any, row_axis, size_of
from nongrata.report.charts.theme import CATEGORIES
from nongrata.report.document.blocks import Chart, Dataset, Field
from nongrata.report.document.cursor import Cursor
from nongrata.report.document.pieces import Name, Text


def shares_chart(
    rows: Sequence[Cursor],
    kinds: Sequence[tuple[int, Text]],
    factors: Sequence[str],
    model: str,
    name: str,
) -> Chart | None:
    """A bar for each component of variance, with its interval where there is one.

    Parameters
    ----------
    rows
        Rows of ``components`` with a share, in the order shown.
    kinds
        What each is about, as a place in an order and in words.
    factors
        Of the study, in order.
    model
        Which model.
    name
        Id of the chart.
    """
    if not rows:
        return None
    import altair as alt

    fields = {
        "row": Field.names(distinct(Name(short_name(row, factors)) for row in rows)),
        "full": Field.names([Name(effect_name(row)) for row in rows]),
        "order": Field.names(range(len(rows))),
        "kind": Field.names([words for _, words in kinds]),
        "kind_order": Field.names([place for place, _ in kinds]),
        "share": Field.of(rows, "per_cent"),
        "variance": Field.of(rows, "variance"),
    }
    ends = all("per_cent_low" in row.value for row in rows)
    if ends:
        fields["low"] = Field.of(rows, "per_cent_low")
        fields["high"] = Field.of(rows, "per_cent_high")
    data = Dataset(f"data-{name}", fields)
    sort = alt.EncodingSortField(field="kind_order", op="min", order="ascending")
    places = sorted({place for place, _ in kinds})
    color = alt.Color(
        "kind:N",
        sort=sort,
        scale=alt.Scale(range=[CATEGORIES[place] for place in places]),
        legend=alt.Legend(title=None, orient="top", columns=1, symbolSize=90, labelLimit=300),
    )
    tooltip = [
        alt.Tooltip("full:N", title="effect"),
        alt.Tooltip("kind:N", title="of"),
        alt.Tooltip("share:Q", title="% of the variance", format=".2f"),
        *([alt.Tooltip("low:Q", title="95% interval, from", format=".2f"),
           alt.Tooltip("high:Q", title="95% interval, to", format=".2f")] if ends else []),
        alt.Tooltip("variance:Q", title="variance (squared points)", format=".2f"),
    ]  # fmt: skip
    base = alt.Chart(alt.NamedData(data.name)).encode(y=row_axis())
    bars = base.mark_bar(height={"band": 0.7}).encode(
        x=alt.X("share:Q", title="% of the variance of single answers",
                axis=alt.Axis(tickCount=6)),
        color=color,
        tooltip=tooltip,
    )  # fmt: skip
    zero = alt.Chart(alt.NamedData(data.name)).mark_rule(opacity=0.6).encode(x=alt.datum(0))
    layers = [bars, zero]
    if ends and has_any(data, "low"):
        whiskers = base.transform_filter("isValid(datum.low) && isValid(datum.high)")
        layers.append(whiskers.mark_rule(strokeWidth=2).encode(x="low:Q", x2="high:Q"))
    chart = alt.layer(*layers).properties(**size_of(data, 20))
    return Chart(
        id=name,
        title=Text.of("{model}: where the variance of single answers comes from",
                      model=Name(model)),
        description=Text.of(
            "A bar for each effect of the design shows its share of the variance of the single "
            "answers of {model}, in per cent. Effects are grouped: labels, configurations, "
            "questions, and what depends on two of these or more. A share can be estimated below "
            "0.",
            model=Name(model),
        ),
        spec=chart.to_dict(validate=False),
        data=(data,),
        facets={"model": model},
    )  # fmt: skip


def effect_name(row: Cursor) -> str:
    """Name of an effect: its facets, with a cross between.

    Examples
    --------
    >>> effect_name(Cursor({"effect": ["persona", "question"]}))
    'persona × question'
    """
    return " × ".join(row["effect"].value)


def short_name(row: Cursor, factors: Sequence[str]) -> str:
    """Name of an effect with a letter for each facet: L the labels, Q the questions.

    Parameters
    ----------
    row
        Holds ``effect``.
    factors
        Of the study; they are called A, B, C and so on.

    Examples
    --------
    >>> short_name(Cursor({"effect": ["persona", "size"]}), ["size"])
    'L × A'
    >>> short_name(Cursor({"effect": ["size"]}), ["size"])
    'A: size'
    """
    letters = [letter for letter in ascii_uppercase if letter not in "LQ"]
    named = {"persona": "L", "question": "Q"}
    for place, factor in enumerate(factors):
        named[factor] = letters[place] if place < len(letters) else f"F{place}"
    effect = row["effect"].value
    if len(effect) == 1:
        return f"{named[effect[0]]}: {effect[0]}"
    return " × ".join(named[each] for each in effect)
