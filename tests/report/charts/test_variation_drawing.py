"""Charts of instability, questions, components, formats, temperature and comparisons are drawn."""

from __future__ import annotations

import copy

import pytest

from nongrata.report.charts.components import short_name
from nongrata.report.charts.rows import distinct
from nongrata.report.document.cursor import Cursor
from nongrata.report.document.pieces import Name, Text
from nongrata.report.sections.agreement import agreement_section
from nongrata.report.sections.comparisons import comparisons_section
from nongrata.report.sections.components import components_section
from nongrata.report.sections.instability import instability_section
from nongrata.report.sections.question_sets import question_sets_section
from nongrata.report.sections.stable import stable_section
from nongrata.report.sections.study import Study
from nongrata.report.sections.task_format import task_format_section
from nongrata.report.sections.temperature import temperature_section
from report.chart_checks import chart, charts, svg
from report.first_screen_studies import results, study

pytest.importorskip("vl_convert")

SECTIONS = (
    instability_section,
    question_sets_section,
    components_section,
    task_format_section,
    temperature_section,
    stable_section,
    comparisons_section,
    agreement_section,
)


@pytest.mark.parametrize("section", SECTIONS, ids=lambda each: each.__name__)
@pytest.mark.parametrize("kind", ["labels", "two models", "one configuration", "import"])
def test_drawn(kind, section):
    for each in charts(section(study(kind))):
        drawn = svg(each)
        assert "NaN" not in drawn
        assert drawn.count("<path") > 2
        assert each.spec["width"] == "container"


@pytest.mark.parametrize(
    ("section", "start", "words"),
    [
        (question_sets_section, "rarefaction", ("all configurations", "persona_format", "task")),
        (task_format_section, "levels", ("persona_format", "task")),
        (stable_section, "held-out", ("in sample", "held out, 95% interval")),
        (instability_section, "ia", ("IA", "noise: exchangeable configurations")),
    ],
)
def test_colour_and_shape_share_one_legend(section, start, words):
    drawn = svg(chart(section(study("labels")), start), 900)
    legends = drawn.count('class="mark-group role-legend"')
    assert legends == 1
    for word in words:
        assert f">{word}</text>" in drawn


def test_names_of_users_are_drawn_inert():
    found = copy.deepcopy(results("labels"))
    rows = found["noise"]["models"][0]["rows"]
    hostile = "<script>\u202e\x00</script>"
    next(row for row in rows if row["scope"] == "domain")["name"] = hostile
    drawn = svg(chart(instability_section(Study(found)), "ia"), 900)
    assert "<script>" not in drawn
    assert "\u202e" not in drawn
    assert "\\u202e" in drawn


def test_a_pick_of_a_factor_leaves_the_others_out():
    made = chart(instability_section(study("labels")), "ia")
    assert ">task</text>" in svg(made, 900)
    assert ">task</text>" not in svg(made, 900, factor="persona_format")


def test_a_label_that_is_picked_has_lines_over_temperature():
    made = chart(temperature_section(study("labels")), "temperature-curves")
    seen = 'stroke-opacity="0.8"', 'opacity="0.8"'
    unpicked, picked = svg(made), svg(made, persona="a-cook")
    assert not any(mark in unpicked for mark in seen)
    assert any(mark in picked for mark in seen)


def test_rows_of_the_same_name_stay_apart():
    names = distinct([Name("a"), Text("b"), Name("a"), Name("b")])
    assert names == [Name("a"), Text("b"), Name("a (2)"), Name("b (2)")]


def test_letters_of_facets_are_never_those_of_labels_and_questions():
    factors = [f"f{place}" for place in range(26)]
    letters = [short_name(Cursor({"effect": [each]}), factors).split(":")[0] for each in factors]
    assert len(set(letters)) == 26
    assert not {"L", "Q"} & set(letters)
