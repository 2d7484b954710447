from __future__ import annotations

import pytest

from nongrata.report.document.blocks import Table
from nongrata.report.sections.contrasts import contrasts_section
from report.chart_checks import chart, charts, columns, wrong_chart_numbers
from report.first_screen_studies import KINDS, results, study, text, untranslated, wrong_numbers

NAMED = "persona_format has one level, so its spread is unknown"
"""A reason that holds a name cannot be in a catalogue."""


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_and_spanish(kind):
    section = contrasts_section(study(kind))
    assert wrong_numbers(section, results(kind)) == []
    assert wrong_chart_numbers(section, results(kind)) == []
    assert set(untranslated(section)) <= {NAMED}


def test_a_true_difference_is_named():
    section = contrasts_section(study("labels"))
    said = text(section)
    assert "Shown to differ from a-human: " in said or "All labels are shown to differ" in said
    shown = columns(chart(section, "differences-a-human"))
    assert shown["persona"][0] == "a-cook"
    assert shown["estimate"] == sorted(shown["estimate"], reverse=True)
    assert shown["shown"][0] == "differs"


def test_every_label_has_a_curve_against_every_control():
    section = contrasts_section(study("labels"))
    points = columns(chart(section, "specification-curve"))
    assert len(points["estimate"]) == 3 * 2 * 12
    for label in set(points["persona"]):
        for control in ("a-human", "no-persona"):
            rows = zip(points["persona"], points["control"], points["estimate"], strict=True)
            curve = [each for own, other, each in rows if (own, other) == (label, control)]
            assert curve == sorted(curve)
    # the levels of a point are those of its configuration
    part = study("labels").results["contrasts"]["models"][0]
    first = part["controls"][0]["labels"][0]["curve"]["points"][0]
    levels = part["configurations"][first["configuration"]]
    assert [points[f"f{f}"][0] for f in range(3)] == [str(level) for level in levels]


def test_at_chance_labels_stand_in_the_studys_order():
    section = contrasts_section(study("chance"))
    shown = columns(chart(section, "differences-a-human"))
    personas, controls = study("chance").personas, study("chance").controls
    assert shown["persona"] == [each for each in personas if each not in controls]
    said = text(section)
    assert "configurations averaged, go from" not in said
    assert "labels stand in the study's order" in said


def test_without_a_control_there_is_one_sentence():
    section = contrasts_section(study("no control"))
    assert len(section.blocks) == 1
    assert "No label of sim is compared with a control" in text(section)


def test_one_label_differs_by_one_number():
    said = text(contrasts_section(study("one label")))
    assert " differs by " in said
    assert " go from " not in said or "configurations averaged, go from" not in said


def test_one_configuration_has_no_curve():
    section = contrasts_section(study("one configuration"))
    assert not [each for each in charts(section) if "curve" in each.id]
    assert not [b for b in section.blocks if isinstance(b, Table) and "curves" in b.id]
