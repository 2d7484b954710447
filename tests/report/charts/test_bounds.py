from __future__ import annotations

import pytest

from nongrata.report.charts.bounds import bounds_chart
from nongrata.report.document.cursor import Cursor
from report.chart_checks import svg

pytest.importorskip("vl_convert")


def test_a_bar_from_bound_to_bound():
    rows = [{"persona": "a", "accuracy": 40.0, "read_only": 50.0, "if_unread_right": 60.0}]
    found = bounds_chart(list(Cursor(rows, "/rows")), "m", "bounds")
    bar = found.spec["layer"][0]["encoding"]
    assert (bar["x"]["field"], bar["x2"]["field"]) == ("accuracy", "if_unread_right")
    shapes = {
        each["encoding"]["x"]["field"]: each["mark"]["shape"] for each in found.spec["layer"][1:]
    }
    assert len(set(shapes.values())) == 3
    assert "unread are left out (%): 50" in svg(found)
