"""Sections about instability, questions, components, formats, temperature, choices, comparisons."""

from __future__ import annotations

import copy
import re

import pytest

from nongrata.report.document.blocks import Table
from nongrata.report.languages.language import language
from nongrata.report.sections.agreement import agreement_section
from nongrata.report.sections.comparisons import comparisons_section
from nongrata.report.sections.components import components_section
from nongrata.report.sections.instability import instability_section
from nongrata.report.sections.question_sets import question_sets_section
from nongrata.report.sections.stable import stable_section
from nongrata.report.sections.study import Study
from nongrata.report.sections.task_format import task_format_section
from nongrata.report.sections.temperature import temperature_section
from report.chart_checks import chart, charts, columns, spoken_in_charts, wrong_chart_numbers
from report.first_screen_studies import KINDS, results, study, text, untranslated, wrong_numbers

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
COUNTED = re.compile(r"not estimable: \d+ of \d+ cells ")
"""A reason that comes with its numbers written in, so that no catalogue can have it."""


@pytest.mark.parametrize("section", SECTIONS, ids=lambda each: each.__name__)
@pytest.mark.parametrize("kind", KINDS)
def test_numbers_and_spanish(kind, section):
    made = section(study(kind))
    assert wrong_numbers(made, results(kind)) == []
    assert wrong_chart_numbers(made, results(kind)) == []
    assert [each for each in untranslated(made) if not COUNTED.search(each)] == []
    spanish = language("es")
    assert sorted(each for each in spoken_in_charts(made) if not spanish.has(each)) == []


def tables(section, start):
    return [
        each for each in section.blocks if isinstance(each, Table) and each.id.startswith(start)
    ]


def test_instability_says_what_noise_makes():
    made = instability_section(study("formats"))
    row = results("formats")["noise"]["models"][0]["rows"][0]
    floor = row["exchangeability_floor"]["value"]
    assert f"(IA) of {row['ia']['value']:.2f} points, noise alone makes about {floor:.2f}" in text(
        made
    )
    shown = columns(chart(made, "ia"))
    assert shown["ia"][0] == row["ia"]["value"]
    assert shown["exchangeability"][0] == floor
    assert shown["low"][0] == row["over_exchangeability"]["low"]
    factors = [row.facets for row in tables(made, "ia-table")[0].rows if "factor" in row.facets]
    assert [each["factor"] for each in factors] == results("formats")["factors"]


def test_noise_is_not_called_more_than_noise():
    found = copy.deepcopy(results("formats"))
    row = found["noise"]["models"][0]["rows"][0]
    row["p_exchangeability"]["value"] = row["p_equal_accuracy"]["value"] = 0.4
    said = text(instability_section(Study(found)))
    assert "More than noise is not shown (p .400" in said
    row["p_exchangeability"]["value"] = 0.01
    assert "beyond chance (p .010)" in text(instability_section(Study(found)))
    row["p_equal_accuracy"]["value"] = 0.02
    assert "do differ" in text(instability_section(Study(found)))
    row["p_equal_accuracy"] = {"value": None, "reason": "one question"}
    said = text(instability_section(Study(found)))
    assert "whether that is more than noise cannot be said: one question." in said


def test_undefined_figures_are_said_in_words_and_left_out_of_charts():
    found = copy.deepcopy(results("formats"))
    rows = found["noise"]["models"][0]["rows"]
    for row in rows:
        row["ia"] = {"value": None, "reason": "nobody knows"}
    made = instability_section(Study(found))
    assert not charts(made)
    assert "No IA: nobody knows." in text(made)
    rows[0]["ia"] = {"value": 1.0, "reason": None}
    made = instability_section(Study(found))
    assert columns(chart(made, "ia"))["ia"] == [1.0]
    assert "No IA for " in text(made)


def test_many_domains_are_in_the_table_and_the_largest_in_the_chart():
    found = copy.deepcopy(results("formats"))
    rows = found["noise"]["models"][0]["rows"]
    domain = next(row for row in rows if row["scope"] == "domain")
    for place in range(40):
        ia = {"value": float(place), "reason": None}
        rows.append(domain | {"name": f"d{place}", "ia": ia})
    made = instability_section(Study(found))
    shown = columns(chart(made, "ia"))
    drawn = [ia for ia, scope in zip(shown["ia"], shown["scope"], strict=True) if scope == "domain"]
    assert len(drawn) == 20
    assert drawn == sorted(drawn, reverse=True)
    assert drawn[0] == 39.0
    assert len(tables(made, "ia-table")[0].rows) == len(rows)
    assert "the table has all" in text(made)


def test_rarefaction_has_the_curve_the_factors_and_the_floor():
    found = copy.deepcopy(results("formats"))
    points = found["noise"]["models"][0]["iq_curve"]
    shown = chart(question_sets_section(Study(found)), "rarefaction")
    assert columns(shown)["m"] == [point["m"] for point in points]
    assert columns(shown)["iq"] == [point["iq"] for point in points]
    parts = columns(shown, "data-rarefaction-factors")
    rows = [row for row in found["instability"][0]["rows"] if row["scope"] == "factor"]
    assert parts["iq"] == [iq for row in rows for iq in row["iq_curve"]]
    assert parts["m"] == [m + 1 for row in rows for m in range(len(row["iq_curve"]))]
    for point in points:
        point["same_configuration"] = {"value": None, "reason": "one draw"}
    assert "same" not in columns(chart(question_sets_section(Study(found)), "rarefaction"))
    points[1]["same_configuration"] = {"value": 12.5, "reason": None}
    made = question_sets_section(Study(found))
    shown = columns(chart(made, "rarefaction"))
    assert shown["same"] == [None, 12.5, *[None] * (len(points) - 2)]
    assert "same" in [column.key for column in chart(made, "rarefaction").table.columns]


@pytest.mark.parametrize(
    ("contrast", "p", "said"),
    [(4.0, 0.01, "more than"), (-4.0, 0.01, "less than"), (-4.0, 0.2, "about as much as")],
)
def test_factors_against_random_configurations(contrast, p, said):
    found = copy.deepcopy(results("formats"))
    row = next(r for r in found["noise"]["models"][0]["rows"] if r["scope"] == "factor")
    row["iq_contrast"], row["p_iq_contrast"] = (
        {"value": contrast, "reason": None},
        {"value": p, "reason": None},
    )
    made = text(question_sets_section(Study(found)))
    assert f"which questions are right {said} {row['compared']} configurations at random" in made


def test_components_are_grouped_and_negative_ones_kept():
    found = copy.deepcopy(results("formats"))
    rows = found["components"]["models"][0]["rows"]
    rows[0]["per_cent"] = -30.0
    made = components_section(Study(found))
    shown = columns(chart(made, "shares"))
    assert min(shown["share"]) == -30.0
    assert shown["kind_order"] == sorted(shown["kind_order"])
    assert len(shown["share"]) == len(rows)
    sizes = columns(chart(made, "sizes"))
    assert sorted(sizes["value"]) == sorted(
        row["points"] for row in rows if "question" not in row["effect"]
    )


def test_components_without_a_result_say_why():
    made = components_section(study("one label"))
    reason = results("one label")["components"]["models"][0]["reason"]
    assert reason or charts(made)
    if reason:
        assert not charts(made)
        assert reason in text(made)


def test_levels_and_sub_factors():
    made = task_format_section(study("formats"))
    found = results("formats")["task_format"]["models"][0]
    shown = columns(chart(made, "levels"))
    assert shown["value"] == [
        level["effect"]["estimate"] for factor in found["factors"] for level in factor["levels"]
    ]
    assert "{factor}" not in text(made)
    if not found["apart"]:
        assert "none can be taken apart" in text(made)
    for apart in found["apart"]:
        (each,) = [one for one in charts(made) if one.id.startswith("apart")]
        assert columns(each)["value"] == [e["average"]["estimate"] for e in apart["effects"]]
        labels = columns(each, each.data[1].name)
        assert len(labels["value"]) == sum(len(e["labels"]) for e in apart["effects"])


def test_temperature_is_exact_where_it_is_known():
    found = results("labels")["temperature_curves"]
    made = temperature_section(study("labels"))
    curves = [c for c in found["models"][0]["curves"] if not c["duplicate"]]
    shown = columns(chart(made, "temperature-curves"))
    assert len(shown["accuracy"]) == sum(len(curve["points"]) for curve in curves)
    assert shown["accuracy"][0] == curves[0]["points"][0]["accuracy"]["estimate"]["value"]
    assert sum(shown["studied"]) == len(curves) * len(found["studied"])
    assert "accuracy moves most with temperature under" in text(made)


def test_an_import_has_no_temperature_curves_and_says_why():
    made = temperature_section(study("import"))
    assert not charts(made)
    assert text(made) == (
        "No exact curves: an imported table holds answers, not their distributions."
    )


def test_choices_in_sample_and_held_out():
    made = stable_section(study("labels"))
    rows = results("labels")["held_out"]["models"][0]["rows"]
    known = [row for row in rows if row["held_out"]["estimate"]["value"] is not None]
    shown = columns(chart(made, "held-out"))
    assert shown["in_sample"] == [row["in_sample"]["estimate"]["value"] for row in known]
    assert shown["held_out"] == [row["held_out"]["estimate"]["value"] for row in known]
    assert len(tables(made, "held-out-table")[0].rows) == len(rows)
    assert "Without any choice, all configurations at temperature" in text(made)


def test_models_are_compared_where_there_are_two():
    made = comparisons_section(study("two models"))
    rows = results("two models")["comparisons"]["models"]["rows"]
    assert columns(chart(made, "models-accuracy"))["value"] == [
        row["accuracy"]["value"]["value"] for row in rows
    ]
    assert len(tables(made, "models-table")[0].rows) == 2
    alone = comparisons_section(study("labels"))
    assert "This study has one model" in text(alone)
    assert not [each for each in charts(alone) if each.id.startswith("models-")]


def test_domains_with_few_clusters_have_no_interval():
    found = copy.deepcopy(results("labels"))
    rows = found["comparisons"]["domains"][0]["rows"]
    if not rows:
        pytest.skip("one domain")
    rows[0]["compared"] = False
    table = tables(comparisons_section(Study(found)), "domains-table")[0]
    assert all(type(cell).__name__ != "Estimate" for cell in table.rows[0].cells)


def test_agreement_says_kappa_and_its_link_with_iq():
    made = agreement_section(study("labels"))
    found = results("labels")["agreement"]["models"][0]
    row = next(r for r in found["rows"] if (r["scope"], r["about"]) == ("labels", "correctness"))
    assert f"Fleiss' kappa is {row['fleiss']['estimate']['value']:.2f}" in text(made)
    assert len(tables(made, "agreement-table")[0].rows) == 2
    assert len(tables(made, "iq-and-kappa")[0].rows) == len(found["iq_and_kappa"])
