from __future__ import annotations

import pytest

from nongrata.report.charts.configurations import Configurations
from nongrata.report.charts.curve import accuracy_curve
from nongrata.report.document.cursor import Cursor
from report.chart_checks import columns, svg

pytest.importorskip("vl_convert")


def test_sorted_with_the_levels_of_each():
    rows = [{"accuracy": v, "low": v - 1, "high": v + 1} for v in (30.0, 10.0, 20.0)]
    configurations = Configurations(("f",), (("x",), ("y",), ("z",)), nesting=(0,))
    places = list(Cursor(rows, "/rows"))
    found = accuracy_curve(places, [["x"], ["y"], ["z"]], configurations, "m", "curve")
    shown = columns(found)
    assert shown["accuracy"] == [10.0, 20.0, 30.0]
    assert shown["f0"] == ["y", "z", "x"]
    assert found.data[0].fields["accuracy"].places == ((1,), (2,), (0,))
    for level in "xyz":
        assert f">{level}<" in svg(found)
