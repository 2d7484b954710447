from __future__ import annotations

import pytest

from nongrata.report.document.blocks import Table
from nongrata.report.document.pieces import Name, Names
from nongrata.report.sections.design import design_section, does
from report.first_screen_studies import KINDS, results, study, text, untranslated, wrong_numbers


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_and_spanish(kind):
    section = design_section(study(kind))
    assert wrong_numbers(section, results(kind)) == []
    assert untranslated(section) == []


def test_everything_of_the_design_is_there():
    said = text(design_section(study("plain")))
    assert "Every one of 5 personas (2 of them controls)" in said
    assert "a-poet | a poet {x} $y %z | label" in said
    assert "no-persona | nothing: no persona is named | control" in said
    assert "you | persona_prompt: You are {persona}." in said
    assert "explain | " in said
    assert "temperature, 3 levels" in said
    assert "task is made of elicitation" in said
    assert "one request serves every temperature" in said
    assert "once" in said


def test_replicates_and_readings_are_said_as_they_are():
    assert ", 2 times." in text(design_section(study("two models")))
    assert "one request serves" not in text(design_section(study("one configuration")))


def test_an_import_knows_less():
    section = design_section(study("import"))
    assert "requests" not in text(section)
    tables = {b.id for b in section.blocks if isinstance(b, Table)}
    assert "sources" not in tables
    assert "factors" in tables


def test_what_a_level_does_comes_without_its_outer_key():
    what = "slots:\n  a: '{x}: y'\n  b: ''\nset:\n  reading: free\n  deep:\n    er: 1\n"
    wanted = ("a: {x}: y", "b: –", "reading: free", "deep.er: 1")
    assert does(what) == Names(tuple(Name(each) for each in wanted))
    assert does("") is None
    assert does("just a text") == Name("just a text")
    assert does("{ broken: [") == Name("{ broken: [")
