"""What charts with one row for each thing have in common: names, the axis that carries them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from nongrata.report.document.blocks import Dataset
from nongrata.report.document.pieces import Name, Piece, Text
from nongrata.terminal import visible

LABEL_WIDTH = 150
"""Pixels that a name may take; the whole of it is in the tooltip."""

Facet = tuple[str, str]


def distinct(names: Iterable[Name | Text]) -> list[Piece]:
    """Names such that no two rows of an axis are the same.

    Examples
    --------
    >>> distinct([Name("a"), Name("b"), Name("a")])
    [Name(text='a'), Name(text='b'), Name(text='a (2)')]
    """
    seen: dict[str, int] = {}
    out: list[Piece] = []
    for name in names:
        text = name.text if isinstance(name, Name) else name.template
        shown = visible(text, one_line=True)
        seen[shown] = seen.get(shown, 0) + 1
        again = seen[shown] > 1 and isinstance(name, Name)
        out.append(Name(f"{shown} ({seen[shown]})") if again else name)
    return out


def row_axis(field: str = "row", order: str = "order") -> Any:
    """The axis that names the rows, top to bottom in the data's order.

    Parameters
    ----------
    field, order
        Fields with the names and with their order.
    """
    import altair as alt

    return alt.Y(
        f"{field}:N",
        sort=alt.EncodingSortField(field=order, op="min", order="ascending"),
        title=None,
        axis=alt.Axis(labelLimit=LABEL_WIDTH, labelPadding=8, ticks=False, domain=False),
    )


def size_of(data: Dataset, step: int, order: str = "order") -> dict[str, Any]:
    """Width and height of a chart with a row for each name.

    The height is a number, for Vega-Lite warns of a step where the width is the container's.

    Parameters
    ----------
    data
        The rows; `order` is the field that orders them.
    step
        Pixels that a row takes.
    order
        Name of that field.

    Examples
    --------
    >>> from nongrata.report.document.blocks import Field
    >>> size_of(Dataset("d", {"order": Field.names([0, 1, 1])}), 20)["height"]
    40
    """
    rows = len(set(data.fields[order].values))
    return {
        "width": "container",
        "height": step * max(rows, 1),
        "autosize": {"type": "fit-x", "contains": "padding"},
    }


def has_any(data: Dataset, field: str) -> bool:
    """Whether a field has any number: a layer without one leaves its scale without an extent.

    Examples
    --------
    >>> from nongrata.report.document.blocks import Field
    >>> has_any(Dataset("d", {"low": Field.names([None, None])}), "low")
    False
    """
    return any(value is not None for value in data.fields[field].values)


def by_kind(colors: list[str], shapes: list[str]) -> dict[str, Any]:
    """Colour and shape of a mark that says what kind of number it is, and one legend for both.

    The kinds are told apart by shape too, for print in grey.

    Parameters
    ----------
    colors, shapes
        One for each kind, in order.
    """
    import altair as alt

    legend = alt.Legend(title=None, orient="top", columns=1, symbolSize=90, labelLimit=300)
    sort = alt.EncodingSortField(field="kind_order", op="min", order="ascending")
    return {
        "color": alt.Color("kind:N", sort=sort, scale=alt.Scale(range=colors), legend=legend),
        "shape": alt.Shape("kind:N", sort=sort, scale=alt.Scale(range=shapes), legend=legend),
    }
