from __future__ import annotations

import copy
import json
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nongrata.wording import Said, say


def test_it_is_its_english_text() -> None:
    text = say("{n} of {names}: {{kept}}", n=3, names=("a", "b"))
    assert text == "3 of a, b: {kept}"
    assert json.loads(json.dumps({"said": text})) == {"said": "3 of a, b: {kept}"}
    assert f"{text}" == str(text)


@given(st.text(), st.text())
def test_values_are_never_interpreted(first: str, second: str) -> None:
    text = say("{a}|{b}", a=first, b=second)
    assert text == f"{first}|{second}"


@pytest.mark.parametrize(
    "again", [copy.copy, copy.deepcopy, lambda t: pickle.loads(pickle.dumps(t))]
)
def test_a_copy_remembers_how_it_was_made(again) -> None:
    text = say("{n} more", n=say("{k} labels", k=2))
    found = again(text)
    assert isinstance(found, Said)
    assert (found, found.template, found.values) == (text, text.template, text.values)
    assert found.values["n"].template == "{k} labels"
