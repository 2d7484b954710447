from __future__ import annotations

import pytest

from nongrata.report.charts.intervals import Group, interval_chart
from nongrata.report.document.cursor import Cursor
from nongrata.report.document.pieces import Text
from report.chart_checks import columns, svg

pytest.importorskip("vl_convert")


def made(lines=(), limits=None):
    rows = [
        {"accuracy": {"value": v, "reason": None}, "low": v - 60, "high": v + 5}
        for v in (50.0, 40.0)
    ]
    places = list(Cursor(rows, "/rows"))
    groups = [
        Group("", places[:1], ["a"]),
        Group("head", places[1:], ["b"], "diamond"),
        Group("", [], []),
    ]
    return interval_chart(
        groups, "dots", title=Text("t"), description=Text("d"), axis="accuracy (%)", lines=lines,
        limits=limits,
    )  # fmt: skip


def test_groups_without_rows_are_left_out():
    assert columns(made())["group"] == [0, 1]
    assert made().data[0].fields["estimate"].path == "/rows/*/accuracy/value"


def test_baselines_that_are_not_known_are_left_out():
    lines = [("chance (%)", Cursor(25.0, "/chance")), ("constant (%)", Cursor(None, "/constant"))]
    found = made(lines)
    assert [each.name for each in found.data] == ["data-dots", "data-dots-0"]
    assert "chance (%): 25" in svg(found)


def test_what_is_impossible_is_cut():
    assert made(limits=(0.0, 100.0)).spec["layer"][0]["encoding"]["x"]["scale"]["domainMin"] == 0.0
    assert "domainMin" not in made().spec["layer"][0]["encoding"]["x"]["scale"]
