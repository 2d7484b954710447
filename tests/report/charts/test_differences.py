from __future__ import annotations

import re

import pytest

from nongrata.report.charts.differences import differences_chart, effect_data
from nongrata.report.document.blocks import Dataset, Field
from nongrata.report.document.cursor import Cursor
from nongrata.report.document.pieces import Text
from report.chart_checks import svg

pytest.importorskip("vl_convert")


def made(**verdicts):
    rows = [
        {"persona": name, "estimate": 2.0, "low": 1.0, "high": 3.0, "low_together": -120.0,
         "high_together": 4.0, "verdict": verdict}
        for name, verdict in verdicts.items()
    ]  # fmt: skip
    points = Dataset(
        "points",
        {
            "persona": Field.names(["a", "a"]),
            "control": Field.names(["c", "other"]),
            "estimate": Field.of([Cursor(1.0, "/p/0"), Cursor(55.0, "/p/1")]),
        },
    )
    effect = effect_data(Cursor(1.5, "/smallest"))
    return differences_chart(list(Cursor(rows, "/rows")), "c", points, effect, "m", "diff")


def test_words_of_verdicts_can_be_translated():
    found = made(a="differs", b="undecided")
    assert found.data[0].fields["says"].values == (Text("differs"), Text("undecided"))


def test_only_ticks_of_this_control_are_drawn():
    ticks = re.findall(r'\(points\): (\d+)[^>]*aria-roledescription="tick"', svg(made(a="differs")))
    assert ticks == ["1"]


def test_an_impossible_interval_is_cut():
    bars = [each for each in made(a="differs").spec["layer"] if "x2" in each["encoding"]]
    assert bars[-1]["encoding"]["x"]["scale"] == {"domainMin": -100.0}


def test_the_smallest_effect_is_a_number_of_the_results():
    (effect,) = [each for each in made(a="differs").data if each.name == "data-smallest-effect"]
    assert effect.fields["effect"].path == "/smallest"
