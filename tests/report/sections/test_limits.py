from __future__ import annotations

import pytest

from nongrata.report.sections.limits import limits_section
from report.first_screen_studies import KINDS, results, study, text, untranslated, wrong_numbers


def said(kind, code="en"):
    return text(limits_section(study(kind)), code)


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_and_spanish(kind):
    section = limits_section(study(kind))
    assert wrong_numbers(section, results(kind)) == []
    assert untranslated(section) == []


@pytest.mark.parametrize("kind", KINDS)
def test_labels_are_words_and_undecided_is_not_equal(kind):
    assert "it is no fact about the people whom a label names" in said(kind)
    assert "Undecided is not equal" in said(kind)


def test_each_limit_only_where_it_applies():
    plain, one = said("plain"), said("one configuration")
    assert "are simulated" in plain
    assert "are simulated" not in said("import")
    assert "imported from a table" in said("import")
    assert "Robust means robust among the 12 configurations" in plain
    assert "Robust means" not in one
    assert "Answers are read in more than one way (first_token, free)" in plain
    assert "Answers are read in more" not in one
    assert "At temperature 0 an answer is always the same" in plain
    assert "At temperature" not in one
    assert "Levels of task differ in elicitation" in plain
    assert "There is 1 answer to each prompt" in plain
    assert "answer to each prompt" not in said("two models")
    assert "Labels must not be ranked" in said("chance")
    assert "Labels must not be ranked" not in said("labels")
    assert "How often guessing is right is not known" in said("import")


def test_duplicates_are_named_with_their_numbers():
    controls = results("plain")["contrasts"]["models"][0]["controls"]
    distinct = {each["control"]: each["distinct_cells"] for each in controls}
    assert distinct["a-human"] == 12 > distinct["no-persona"]
    wanted = f"no-persona sends only {distinct['no-persona']} different prompts a question in 12"
    assert wanted in said("plain")
    assert "a-human sends only" not in said("plain")
    assert "sends only" not in said("no control")


def test_answers_that_could_not_be_read_are_counted_and_bounded():
    rates = next(r for r in results("plain")["outcomes"]["rows"] if r["scope"] == "model")["rates"]
    assert f"{rates['unparsed']:.1f} % of the answers could not be read" in said("plain")
    assert "could not be read" not in said("labels")
