from __future__ import annotations

import json

import pytest

from nongrata.report.document.blocks import Listing, Paragraph, Table
from nongrata.report.document.cursor import Cursor
from nongrata.report.document.pieces import Name, Number, Verdict
from nongrata.report.document.plain import plain
from nongrata.report.languages.language import language
from nongrata.report.sections.conclusion_tables import FIRST, picked
from nongrata.report.sections.study import Study
from nongrata.report.sections.summary import PEOPLE, summary_section
from report.first_screen_studies import (
    KINDS,
    numbers,
    pieces,
    results,
    study,
    text,
    untranslated,
    wrong_numbers,
)


def section(kind):
    return summary_section(study(kind))


def cards(kind):
    return [b for b in section(kind).blocks if isinstance(b, Paragraph) and b.heading is not None]


def table(kind, name):
    return next(b for b in section(kind).blocks if isinstance(b, Table) and b.id.startswith(name))


@pytest.mark.parametrize("kind", KINDS)
def test_every_number_is_that_of_the_results(kind):
    assert wrong_numbers(section(kind), results(kind)) == []
    assert sum(1 for piece in pieces(section(kind)) for _ in numbers(piece)) > 10


@pytest.mark.parametrize("kind", KINDS)
def test_all_of_it_is_there_in_spanish(kind):
    assert untranslated(section(kind)) == []
    assert "configuración" in text(section(kind), "es") or kind == "one configuration"


@pytest.mark.parametrize("kind", KINDS)
def test_it_says_that_it_says_nothing_about_people(kind):
    set_up = section(kind).blocks[len(results(kind)["models"])]
    assert isinstance(set_up, Paragraph)
    assert PEOPLE in plain(set_up.text, language("en"))


@pytest.mark.parametrize("kind", KINDS)
def test_one_card_for_each_part_of_the_answer(kind):
    found = cards(kind)
    models = results(kind)["models"]
    assert len(found) == 3 * len(models)
    verdicts = [p["verdict"] for m in results(kind)["findings"]["models"] for p in m["answers"]]
    assert [card.verdict for card in found] == [Verdict(word) for word in verdicts]


def test_what_is_robust_stands_in_the_cards_and_the_table():
    assert cards("labels")[0].verdict.word == "robust"
    said = text(section("labels"))
    assert said.startswith("Yes. The order of all 3 pairs of labels holds in at least 11 of 12")
    rows = table("labels", "conclusions").rows
    assert rows[0].cells[1] == Verdict("robust")
    assert "Best and worst label: 2 robust" in said


def test_what_is_fragile_is_named_with_its_exceptions():
    assert cards("fragile")[0].verdict.word == "fragile"
    listed = [b for b in section("fragile").blocks if isinstance(b, Listing)]
    assert len(listed) == 1
    exceptions = [
        c["exceptions"] for c in results("fragile")["findings"]["models"][0]["conclusions"]
    ]
    named = {e["configuration"] for each in exceptions for e in each}
    shown = [plain(item, language("en")) for item in listed[0].items]
    assert len(shown) >= 2
    assert all("(fragile): the other way in" in item for item in shown)
    assert all(any(name in item for name in named) for item in shown)


def test_what_moves_accuracy_is_said():
    assert "It moves with persona_format" in text(section("formats"))


@pytest.mark.parametrize("kind", ["labels", "fragile", "formats"])
def test_the_first_table_has_every_family_in_which_something_is_decided(kind):
    rows = table(kind, "conclusions").rows
    tallies = results(kind)["findings"]["models"][0]["tallies"]
    decided = [t for t in tallies if t["robust"] or t["fragile"] or t["established"]]
    assert sum(row.group is not None for row in rows) == len(decided)
    assert len(rows) <= sum(FIRST.values())
    assert {row.cells[1].word for row in rows} <= {"robust", "fragile", "established"}
    assert [block for block in section(kind).blocks if "Undecided" in str(block)] == []


def test_a_group_shows_the_largest_of_each_verdict_and_says_so():
    found = study("labels").of("findings", "sim")
    heading = next(
        r.group for r in table("labels", "conclusions").rows if "control" in str(r.group)
    )
    robust = found["tallies"].where(family="controls")["robust"].value
    assert robust > 2
    assert plain(heading, language("en")).endswith("; the largest of each")


def test_families_without_a_decision_are_one_line():
    flat = text(section("chance"))
    barred = (
        "not rankable: best and worst label (2), label against control (6), label against label"
    )
    assert sum(barred in line for line in flat.splitlines()) == 1
    groups = [str(row.group) for row in table("chance", "conclusions").rows if row.group]
    assert not any("label" in group for group in groups)


def test_verdicts_are_explained_before_the_table_with_numbers_of_the_study():
    blocks = section("labels").blocks
    at = next(i for i, b in enumerate(blocks) if getattr(b, "id", "") == "conclusions")
    said = plain(blocks[at - 1].text, language("en"))
    assert said.startswith("robust: established in at least 11 of 12 configurations, same")
    assert "fragile: established one way in some" in said


def test_labels_controls_and_factors_are_named_with_how_many_there_are():
    said = text(section("labels")).splitlines()[1]
    assert "a-cook" in said
    for factor in results("labels")["provenance"]["factors"]:
        assert f"{factor['name']} ({len(factor['levels'])})" in said
    assert results("labels")["controls"][0] in said


def test_accuracy_stands_beside_guessing():
    row = next(r for r in results("chance")["chance"]["rows"] if r["scope"] == "overall")
    said = text(section("chance"))
    assert f"guessing gives {row['chance']:.1f} %, always choosing the same place at best" in said
    assert "guessing gives" in text(section("labels"))


def test_the_answer_stands_first():
    assert section("one configuration").blocks[0].tone == "answer"
    assert "nothing was varied" in text(section("one configuration")).splitlines()[0]
    said = text(section("two models")).splitlines()
    assert said[0].startswith("sim: ")
    assert said[1].startswith("other: ")
    assert section("two models").blocks[1].facets == {"model": "other"}


def test_several_models_are_shown_at_a_glance_first():
    glance = table("two models", "models-overview")
    assert [row.cells[0] for row in glance.rows] == [Name("sim"), Name("other")]
    assert not any(row.facets for row in glance.rows)  # a model that is picked hides no other
    total = results("two models")["findings"]["models"][1]["total"]
    words = ("robust", "established", "fragile", "undecided", "not_rankable")
    cells = glance.rows[1].cells[-5:]
    assert [cell.value for cell in cells if isinstance(cell, Number)] == [total[w] for w in words]
    assert table("two models", "models-compared").rows
    assert not any(
        isinstance(b, Table) and b.id == "models-overview" for b in section("plain").blocks
    )


def test_an_import_has_a_first_screen_too():
    said = text(section("import"))
    assert "how often guessing is right is not known." in said
    assert "It is 33.3% in all 2 configurations." in said


def test_the_largest_of_every_verdict_are_picked():
    def c(verdict, estimate):
        return Cursor({"verdict": verdict, "estimate": {"value": estimate, "reason": None}})

    given = [c("robust", 1.0), c("fragile", 9.0), c("robust", -5.0), c("fragile", 2.0)]
    assert [found["estimate"].number for found in picked(given, 2)] == [-5.0, 9.0]
    assert [found["estimate"].number for found in picked(given, 3)] == [-5.0, 1.0, 9.0]
    assert picked(given, 4) == given


def test_results_read_back_from_json_make_the_same_page():
    again = Study(json.loads(json.dumps(results("labels"))))
    assert text(summary_section(again)).splitlines()[3].startswith("Accuracy | ")
