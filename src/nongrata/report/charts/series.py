"""What charts with several lines have in common: colour, dash and shape of each series."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nongrata.report.charts.theme import CATEGORIES, MUTED

_DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [12, 3], [4, 4], [1, 3])
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right")


def series_looks(count: int, *, muted_last: bool = False) -> tuple[dict[str, Any], dict[str, Any]]:
    """Encodings of lines and of points by ``series``, with one legend of colours and shapes.

    Lines carry ``stroke``, points ``color``: the legend is made by the points alone, so that
    colour and shape share it.

    Parameters
    ----------
    count
        How many series there are; field ``series_order`` puts them in order.
    muted_last
        Whether the last of them is in the background.
    """
    import altair as alt

    front = count - muted_last
    colors = _cycle(CATEGORIES, front) + [MUTED] * muted_last
    shapes = [SHAPES[(i + i // len(CATEGORIES)) % len(SHAPES)] for i in range(front)]
    shapes += ["square"] * muted_last
    dashes = [_DASHES[(i + i // len(CATEGORIES)) % len(_DASHES)] for i in range(front)]
    dashes += [[2, 3]] * muted_last
    sort = alt.EncodingSortField(field="series_order", op="min", order="ascending")
    legend = alt.Legend(title=None, orient="top", columns=1, symbolSize=90, labelLimit=300)
    lines = {
        "stroke": alt.Stroke("series:N", sort=sort, scale=alt.Scale(range=colors), legend=legend),
        "strokeDash": alt.StrokeDash(
            "series:N", sort=sort, scale=alt.Scale(range=dashes), legend=legend
        ),
    }
    points = {
        "color": alt.Color("series:N", sort=sort, scale=alt.Scale(range=colors), legend=legend),
        "shape": alt.Shape("series:N", sort=sort, scale=alt.Scale(range=shapes), legend=legend),
    }
    return lines, points


def _cycle(values: Sequence[Any], wanted: int) -> list[Any]:
    return [values[i % len(values)] for i in range(wanted)]
