from __future__ import annotations

import pytest

from nongrata.report.document.cursor import Cursor
from nongrata.report.document.pieces import Name, Number, Text
from nongrata.report.sections.sentences import sentence
from nongrata.wording import say

PLACE = Cursor(
    {"share": {"value": 31.666, "reason": None}, "p": 0.0123, "pairs": 1741, "label": "a"}, "/at"
)


def test_numbers_stand_where_they_are_found():
    found = sentence(say("{share}% of {pairs}", share="31.7", pairs="1,741"), PLACE)
    assert found.values["share"] == Number(31.666, "/at/share/value", 1)
    assert found.values["pairs"] == Number(1741, "/at/pairs", 0, "count")


def test_a_p_value_is_one():
    assert sentence(say("p = {p}", p="0.012"), PLACE).values["p"] == Number.p(PLACE["p"])


def test_names_and_verdicts_are_kept_apart():
    found = sentence(say("{label} is {verdict}", label="a", verdict=say("robust")), PLACE)
    assert found.values == {"label": Name("a"), "verdict": Text("robust")}


def test_sentences_in_sentences():
    inner = say("{share} here", share="32")
    found = sentence(say("{first} {rest}", first=inner, rest=say("Yes.")), PLACE)
    first = found.values["first"]
    assert isinstance(first, Text)
    assert first.values["share"].path == "/at/share/value"
    assert found.values["rest"] == Text("Yes.")


@pytest.mark.parametrize("plain", ["as it is", "with {braces}"])
def test_a_plain_text_is_a_sentence_without_fields(plain):
    found = sentence(plain, PLACE)
    assert found.values == {}
