from __future__ import annotations

import pytest

from nongrata.report.sections.accuracy import accuracy_section
from report.chart_checks import chart, charts, columns, spoken_in_charts, wrong_chart_numbers
from report.first_screen_studies import KINDS, results, study, text, untranslated, wrong_numbers


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_and_spanish(kind):
    section = accuracy_section(study(kind))
    assert wrong_numbers(section, results(kind)) == []
    assert wrong_chart_numbers(section, results(kind)) == []
    assert untranslated(section) == []


def test_labels_are_sorted_where_there_is_something_to_rank():
    section = accuracy_section(study("labels"))
    shown = columns(chart(section, "accuracy-by-label"))
    assert shown["name"][0] == "a-cook"
    assert shown["estimate"][:3] == sorted(shown["estimate"][:3], reverse=True)
    assert "(a-cook); that is about prompts that name a label, not about people." in text(section)


def test_at_chance_no_label_is_put_before_another():
    section = accuracy_section(study("chance"))
    shown = columns(chart(section, "accuracy-by-label"))
    assert shown["name"][:3] == [
        p for p in study("chance").personas if p not in study("chance").controls
    ]
    said = text(section)
    assert "Accuracy over everything is not above" in said
    assert "From label to label" not in said
    # the baselines are drawn, for they are near
    assert len(chart(section, "accuracy-by-label").data) == 3
    assert len(chart(accuracy_section(study("labels")), "accuracy-by-label").data) == 1


def test_each_chart_has_a_table_with_all_its_cells():
    section = accuracy_section(study("labels"))
    table = chart(section, "heat-map").table
    assert [len(row.cells) for row in table.rows] == [1 + 12] * 5
    assert all(each.table is not None and each.table.folded for each in charts(section))


def test_one_configuration_has_no_curve():
    section = accuracy_section(study("one configuration"))
    assert not [each for each in charts(section) if "configuration" in each.id]
    assert "From configuration to configuration" not in text(section)


def test_what_is_not_known_is_said():
    said = text(accuracy_section(study("import")))
    assert "Whether this is above chance is not known" in said


def test_models_have_blocks_of_their_own():
    section = accuracy_section(study("two models"))
    assert {block.facets["model"] for block in section.blocks} == {"sim", "other"}
    ids = [block.id for block in section.blocks if hasattr(block, "id")]
    assert len(set(ids)) == len(ids)


def test_titles_of_axes_are_translated():
    assert {"accuracy (%)", "chance (%)"} <= spoken_in_charts(accuracy_section(study("chance")))
