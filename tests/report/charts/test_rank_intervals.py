from __future__ import annotations

import re

import pytest

from nongrata.report.charts.rank_intervals import rank_intervals
from nongrata.report.document.cursor import Cursor
from report.chart_checks import svg

pytest.importorskip("vl_convert")


def label(persona, rank, low, high, best=False, worst=False):
    return {
        "persona": persona, "rank": rank, "low": low, "high": high, "all_low": low,
        "all_high": high, "accuracy": 50.0, "possibly_best": best, "possibly_worst": worst,
    }  # fmt: skip


def test_bars_span_the_ranks_and_shapes_say_which_ends_are_possible():
    rows = [
        label("a", 1.0, 1, 2, best=True),
        label("b", 2.0, 1, 3),
        label("c", 3.0, 2, 3, worst=True),
    ]
    found = rank_intervals(list(Cursor(rows, "/rows")), "m", "ranks")
    points = found.spec["layer"][-1]["encoding"]["shape"]["condition"]
    assert [each["test"] for each in points] == ["datum.best", "datum.worst"]
    drawn = svg(found)
    shapes = re.findall(r'aria-roledescription="point"[^>]* d="([^"]*)"', drawn)
    # an upward triangle, a circle, a downward triangle
    assert len(set(shapes)) == 3
    for name in "abc":
        assert f">{name}<" in drawn
