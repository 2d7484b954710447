from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nongrata.answers import Outcome, final_letter, parse_answer

OPTIONS = ["red", "green", "blue"]


@pytest.mark.parametrize(
    ("text", "before"),
    [
        ("Answer: B", "Answer: "),
        ("Green, since A is not. The answer is (B).", "Green, since A is not. The answer is ("),
        ("B", ""),
        ("**B**", "**"),
        ("First I thought A. Answer: B. It is green.", "First I thought A. Answer: "),
        ("answer: b", "answer: "),
        ("Answer: A\n\nNo, wait. Answer: B", "Answer: A\n\nNo, wait. Answer: "),
    ],
)  # fmt: skip
def test_the_letter_that_decided_is_found(text: str, before: str) -> None:
    parsed = parse_answer(text, "ABC", OPTIONS)
    assert parsed.option == 1
    at = final_letter(text, "ABC", OPTIONS, 1)
    assert at is not None
    assert text[:at] == before


@pytest.mark.parametrize("text", ["It is green.", "The answer is green.", "green"])
def test_an_answer_without_a_letter_has_none(text: str) -> None:
    assert parse_answer(text, "ABC", OPTIONS).option == 1
    assert final_letter(text, "ABC", OPTIONS, 1) is None


@given(st.text(alphabet="ABC abc.:\n(*)answer isnot", max_size=60))
def test_another_letter_there_would_have_been_another_answer(text: str) -> None:
    parsed = parse_answer(text, "ABC", OPTIONS)
    if parsed.outcome is not Outcome.ANSWERED or parsed.option is None:
        return
    at = final_letter(text, "ABC", OPTIONS, parsed.option)
    if at is None:
        return
    assert text[at].upper() == "ABC"[parsed.option]
    read = [parse_answer(text[:at] + label, "ABC", OPTIONS).option for label in "ABC"]
    assert read == [0, 1, 2]
