"""Several panels under one another in one view, so that all of them fill the width of a page.

Vega-Lite can fill the width of its container with one view only, never with several. So panels
share one x scale, and each has a y scale of its own that covers a part of the height.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from nongrata.report.document.cursor import Cursor
from nongrata.report.document.pieces import Name
from nongrata.terminal import visible

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
"""Says which language a specification is written in; nothing is loaded from there."""
LABEL_LIMIT = 140
"""Pixels of a name beside an axis: a phone has 340."""

Spec = dict[str, Any]

PERSONA: Spec = {"name": "persona", "value": ""}
"""The label that a reader picked on the page; empty for none."""


def view(
    layers: Sequence[Spec],
    height: int,
    *,
    params: Sequence[Spec] = (),
    transform: Sequence[Spec] = (),
    data: str = "",
    **more: Any,
) -> Spec:
    """A whole specification of layers that have y scales of their own.

    Parameters
    ----------
    layers
        The layers.
    height
        Of all panels together.
    params
        What a page or a reader can set.
    transform
        What happens to the data before.
    data
        Name of the dataset of layers that name none.
    more
        Further properties of the view.

    Examples
    --------
    >>> view([{"mark": "bar"}], 20, data="d")["data"]
    {'name': 'd'}
    """
    spec: Spec = {"$schema": SCHEMA, "width": "container", "height": height}
    if params:
        spec["params"] = list(params)
    if data:
        spec["data"] = {"name": data}
    if transform:
        spec["transform"] = list(transform)
    return spec | {"layer": list(layers), "resolve": {"scale": {"y": "independent"}}} | more


def names_y(field: str, names: Sequence[str], top: int, bottom: int, **axis: Any) -> Spec:
    """A y encoding that gives each name a row of a panel.

    Parameters
    ----------
    field
        The field that holds the names.
    names
        From top to bottom.
    top, bottom
        Of the panel, in pixels from the top of the view.
    axis
        Properties of the axis; ``title`` is one.
    """
    shown = {"orient": "left", "ticks": False, "domain": False, "title": None}
    limits = {"labelLimit": LABEL_LIMIT, "labelFontSize": 11}
    return {
        "field": field,
        "type": "nominal",
        "title": None,
        "axis": shown | limits | axis,
        "scale": {"domain": list(names), "range": [top, bottom]},
    }


def band(y: Mapping[str, Any]) -> Spec:
    """The same rows for a further layer of the panel, which draws no second axis."""
    return {**y, "axis": None}


def said(texts: Sequence[Any]) -> list[str]:
    r"""Names as a chart shows them: on one line, with everything that cannot be seen written out.

    Examples
    --------
    >>> print(*said(["a\n", 0.5]))
    a\n 0.5
    """
    return [visible(str(text), one_line=True) for text in texts]


def tip(field: str, title: str | Name, form: str = "") -> Spec:
    """One line of a tooltip; a title that is a `Name` is never translated.

    Examples
    --------
    >>> tip("rank", "rank", ".1f")
    {'field': 'rank', 'title': 'rank', 'type': 'quantitative', 'format': '.1f'}
    """
    kind = {"type": "quantitative", "format": form} if form else {"type": "nominal"}
    return {"field": field, "title": title, **kind}


def picked(group: str) -> list[Spec]:
    """Transforms: the label that a reader picked, once.

    Parameters
    ----------
    group
        The field that holds labels.
    """
    return [
        {"filter": f"datum.{group} === persona"},
        {"aggregate": [{"op": "count", "as": "rows"}], "groupby": [group]},
    ]


def within(
    rows: Sequence[Cursor], limits: tuple[float, float], low: str = "low", high: str = "high"
) -> Spec:
    """Ends of a scale where intervals go beyond what is possible; they are drawn up to there.

    Parameters
    ----------
    rows
        Of the results.
    limits
        What is possible.
    low, high
        Fields of a row that hold the ends of its interval.

    Examples
    --------
    >>> within([Cursor({"low": -4.0, "high": 60.0})], (0.0, 100.0))
    {'domainMin': 0.0}
    """
    ends: Spec = {}
    if any((row[low].number or 0.0) < limits[0] for row in rows):
        ends["domainMin"] = limits[0]
    if any((row[high].number or 0.0) > limits[1] for row in rows):
        ends["domainMax"] = limits[1]
    return ends


def rank_ticks(lowest: int) -> list[int]:
    """Ranks that an axis names: the first one, and every fifth or so.

    Examples
    --------
    >>> rank_ticks(12)
    [1, 5, 10, 12]
    """
    if lowest <= 10:
        return list(range(1, lowest + 1))
    step = 5 if lowest <= 50 else 20
    between = list(range(step, lowest, step))
    return [1, *between, lowest] if lowest - between[-1] > 1 else [1, *between[:-1], lowest]
