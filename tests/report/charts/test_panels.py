from __future__ import annotations

import pytest

from nongrata.report.charts.panels import names_y, rank_ticks, said, tip, view, within
from nongrata.report.document.cursor import Cursor


@pytest.mark.parametrize("lowest", [1, 2, 10, 11, 39, 50, 51, 400])
def test_ticks_begin_with_the_first_rank_and_end_with_the_last(lowest):
    ticks = rank_ticks(lowest)
    assert ticks[0] == 1
    assert ticks[-1] == lowest
    assert ticks == sorted(set(ticks))


def test_scales_end_where_nothing_is_possible_beyond():
    rows = [Cursor({"low": 3.0, "high": 101.0}), Cursor({"low": None, "high": None})]
    assert within(rows, (0.0, 100.0)) == {"domainMax": 100.0}
    assert within(rows[1:], (0.0, 100.0)) == {}


def test_panels_have_scales_of_their_own():
    assert view([], 10)["resolve"] == {"scale": {"y": "independent"}}
    assert names_y("f", ["b", "a"], 5, 35)["scale"] == {"domain": ["b", "a"], "range": [5, 35]}


def test_names_show_what_cannot_be_seen():
    assert said(["a\u202eb", "c\n", 0.5]) == ["a\\u202eb", "c\\n", "0.5"]
    assert tip("f", "a")["type"] == "nominal"
