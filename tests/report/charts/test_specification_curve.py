from __future__ import annotations

from dataclasses import replace

import pytest

from nongrata.report.charts.configurations import Configurations
from nongrata.report.charts.specification_curve import specification_curve
from nongrata.report.document.blocks import Dataset
from nongrata.report.sections.contrasts import contrasts_section
from report.chart_checks import chart, svg
from report.first_screen_studies import study

pytest.importorskip("vl_convert")


@pytest.fixture(scope="module")
def curve():
    return chart(contrasts_section(study("labels")), "specification-curve")


def test_one_label_and_one_control_are_drawn_and_named(curve):
    assert "a-cook − a-human" in svg(curve)
    assert "a-pilot − no-persona" in svg(curve, persona="a-pilot", control="no-persona")


def test_a_control_picked_on_the_page_or_nothing_leaves_the_first_label(curve):
    assert "a-cook − a-human" in svg(curve, persona="a-human")
    assert "a-cook − a-human" in svg(curve, persona="", control="")


def test_shapes_say_what_is_shown(curve):
    layers = curve.spec["layer"][1]["layer"]
    (points,) = [each for each in layers if "shape" in each["encoding"]]
    shapes = points["encoding"]["shape"]
    assert [each["test"] for each in shapes["condition"]] == [
        "datum.low_together > 0", "datum.high_together < 0"
    ]  # fmt: skip
    assert shapes["value"] == "circle"


def test_intervals_beyond_what_is_possible_are_cut():
    found = chart(contrasts_section(study("one configuration")), "differences-a-human")
    assert found.data[1].name == "data-curves"
    points = found.data[1]
    beyond = replace(
        points.fields["low_together"], values=(-140.0, *points.fields["low_together"].values[1:])
    )
    wide = Dataset(points.name, {**points.fields, "low_together": beyond})
    own = Configurations(("f0", "f1", "f2"), (("a", "b", "c"),), (0, 1, 2))
    for data, end in ((points, None), (wide, -100.0)):
        drawn = specification_curve(data, found.data[2], ["a"], ["b"], own, "m", "curve")
        bars = [each for each in drawn.spec["layer"][1]["layer"] if "x" in each["encoding"]]
        assert {each["encoding"]["y"]["scale"].get("domainMin") for each in bars} == {end}
