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
    first = section(kind).blocks[0]
    assert isinstance(first, Paragraph)
    assert PEOPLE in text(section(kind)).splitlines()[0]


@pytest.mark.parametrize("kind", KINDS)
def test_one_card_for_each_part_of_the_answer(kind):
    found = cards(kind)
    models = results(kind)["models"]
    assert len(found) == 3 * len(models)
    verdicts = [p["verdict"] for m in results(kind)["findings"]["models"] for p in m["answers"]]
    assert [card.verdict for card in found] == [Verdict(word) for word in verdicts]


def test_what_is_robust_stands_in_the_cards_and_the_table():
    assert [card.verdict.word for card in cards("labels")][1] == "robust"
    said = text(section("labels"))
    assert "Best on average: a-cook, worst: a-pilot (both robust)." in said
    rows = table("labels", "conclusions").rows
    assert rows[0].cells[1] == Verdict("robust")
    assert "Best and worst label: 2 robust" in said


def test_what_is_fragile_is_named_with_its_exceptions():
    assert [card.verdict.word for card in cards("fragile")][1] == "fragile"
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


def test_the_first_table_is_short_and_has_every_family():
    rows = table("two models", "conclusions").rows
    tallies = results("two models")["findings"]["models"][0]["tallies"]
    assert sum(row.group is not None for row in rows) == len(tallies)
    assert len(rows) <= sum(FIRST.values())


def test_a_family_without_a_decision_has_one_row_that_says_so():
    rows = table("chance", "conclusions").rows
    flat = text(section("chance"))
    assert "none of 6 statements may be ranked | not rankable" in flat
    assert sum(row.cells[1] == Verdict("not rankable") for row in rows) == 3


def test_accuracy_stands_beside_guessing_where_nothing_is_ranked():
    row = next(r for r in results("chance")["chance"]["rows"] if r["scope"] == "overall")
    said = text(section("chance"))
    assert f"guessing would give {row['chance']:.1f} %" in said
    assert f"It is {row['accuracy']:.1f} % over all answers" in said


def test_nothing_shown_is_said_before_the_cards():
    kind = "one configuration"
    blocks = section(kind).blocks
    first = next(i for i, b in enumerate(blocks) if getattr(b, "heading", None) is not None)
    before = [b for b in blocks[1:first] if isinstance(b, Paragraph)]
    assert any("Nothing is shown beyond" in b.text.template for b in before)
    assert "nothing was varied" in text(section(kind))


def test_several_models_are_shown_at_a_glance_first():
    glance = table("two models", "models-overview")
    assert [row.cells[0] for row in glance.rows] == [Name("sim"), Name("other")]
    assert not any(row.facets for row in glance.rows)  # a model that is picked hides no other
    total = results("two models")["findings"]["models"][1]["total"]
    words = ("robust", "shown", "fragile", "undecided", "not_rankable")
    cells = glance.rows[1].cells[-5:]
    assert [cell.value for cell in cells if isinstance(cell, Number)] == [total[w] for w in words]
    assert table("two models", "models-compared").rows
    assert not any(
        isinstance(b, Table) and b.id == "models-overview" for b in section("plain").blocks
    )


def test_an_import_has_a_first_screen_too():
    said = text(section("import"))
    assert "How often guessing is right is not known." in said
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
    assert text(summary_section(again)).splitlines()[1].startswith("Accuracy | depends")
