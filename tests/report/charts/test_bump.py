from __future__ import annotations

import pytest

from nongrata.report.charts.bump import bump_chart
from nongrata.report.charts.configurations import Configurations
from nongrata.report.document.cursor import Cursor
from report.chart_checks import columns, svg

pytest.importorskip("vl_convert")

NAMES = [f"label {n}" for n in range(9)]
LEVELS = [("a",), ("b",), ("c",)]


def made(ranks=None):
    ranks = ranks or [list(range(1, 10)), list(range(9, 0, -1)), list(range(1, 10))]
    rows = [{"levels": list(own), "ranks": each} for own, each in zip(LEVELS, ranks, strict=True)]
    configurations = Configurations(("f",), tuple(LEVELS), nesting=(0,))
    marked = [*NAMES[:3], *NAMES[-3:]]
    rankings = list(Cursor(rows, "/rows"))
    return bump_chart(rankings, NAMES, marked, configurations, "m", "flow")


def test_ranks_stand_where_they_are_in_the_results():
    found = made()
    field = found.data[0].fields["rank"]
    assert field.path == "/rows/*/ranks/*"
    assert field.places[:3] == ((0, 0), (1, 0), (2, 0))
    assert columns(found)["rank"][:3] == [1, 9, 1]


def test_only_the_ends_of_the_order_are_named_and_any_other_on_request():
    drawn = svg(made())
    assert ">label 0<" in drawn
    assert ">label 4<" not in drawn
    assert ">label 4<" in svg(made(), persona="label 4")


def test_a_reader_can_pick_every_label():
    (picked,) = [each for each in made().spec["params"] if each["name"] == "persona"]
    assert picked["bind"]["options"] == ["", *NAMES]


def test_lines_differ_without_colour():
    lines = made().spec["layer"][0]["layer"]
    (marked,) = [each for each in lines if "strokeDash" in each["encoding"]]
    dashes = marked["encoding"]["strokeDash"]["scale"]["range"]
    assert len({tuple(dash) for dash in dashes}) == 6
