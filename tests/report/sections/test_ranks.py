from __future__ import annotations

import pytest

from nongrata.report.document.blocks import Table
from nongrata.report.sections.ranks import ranks_section
from report.chart_checks import chart, charts, columns, wrong_chart_numbers
from report.first_screen_studies import KINDS, results, study, text, untranslated, wrong_numbers


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_and_spanish(kind):
    section = ranks_section(study(kind))
    assert wrong_numbers(section, results(kind)) == []
    assert wrong_chart_numbers(section, results(kind)) == []
    assert untranslated(section) == []


def test_the_best_label_is_named_where_it_is_certain():
    section = ranks_section(study("labels"))
    said = text(section)
    assert "Only a-cook could be the most accurate label." in said
    assert "Kendall's W = " in said
    assert "Instability of outcome (IO) is" in said
    shown = columns(chart(section, "rank-intervals"))
    assert shown["persona"][0] == "a-cook"
    assert shown["rank"] == sorted(shown["rank"])
    assert shown["best"] == [True, False, False]


def test_ranks_flow_over_all_configurations():
    shown = columns(chart(ranks_section(study("labels")), "rank-flow"))
    assert len(shown["rank"]) == 3 * 12
    assert sorted(set(shown["at0"])) == list(range(12))
    by_label = {}
    for label, rank in zip(shown["persona"], shown["rank"], strict=True):
        by_label.setdefault(label, []).append(rank)
    part = study("labels").results["ranking"]["models"][0]
    for place, label in enumerate(part["personas"]):
        assert by_label[label] == [each["ranks"][place] for each in part["by_configuration"]]


def test_noise_is_not_put_into_an_order():
    section = ranks_section(study("chance"))
    assert not charts(section)
    assert "No order of labels is shown for sim" in text(section)
    assert "could be the most accurate" not in text(section)
    tables = [block.id for block in section.blocks if isinstance(block, Table)]
    assert tables == ["rank-agreement", "rank-halves"]


def test_one_label_has_no_order():
    section = ranks_section(study("one label"))
    assert text(section).startswith("Labels of sim have no order")
    assert len(section.blocks) == 1


def test_one_configuration_has_no_flow():
    ids = [each.id for each in charts(ranks_section(study("one configuration")))]
    assert "rank-flow" not in ids
