"""The place that decided a reading: where it stands, and that it is the one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from nongrata.answers import parse_answer
from nongrata.answers.trace import Trace, trace_answer

CITIES = ("London", "Paris", "Rome", "Berlin")


def read(text: str, *, truncated: bool = False) -> Trace:
    trace = trace_answer(text, "ABCD", CITIES, truncated=truncated)
    parsed = parse_answer(text, "ABCD", CITIES, truncated=truncated)
    assert (trace.outcome, trace.option, trace.rule) == (parsed.outcome, parsed.option, parsed.rule)
    return trace


@pytest.mark.parametrize(
    ("text", "rule", "place"),
    [
        ("A is tempting, but the answer is **(B)**.", "sentence", "answer is **(B)**"),
        ("**Final answer:** B", "field", "answer:** B"),
        (r"So $\boxed{\text{B}}$.", "boxed", r"\boxed{\text{B}}"),
        ("Answer: A. Wait, no. Answer: C", "field", "Answer: C"),
        ("Let me see.\n\n**B**\n\nThe Seine runs there.", "label-line", "B"),
        ("Paris, since the Seine is there.", "leading-text", "Paris"),
        ("The Seine runs through Paris.", "only-text", "Paris"),
        ("As a nurse, I'd go with B.", "verb", "go with B"),
        ("A is wrong; (B) is the best choice.", "predicate", "(B) is the best choice"),
        ("<think>A? No.</think>Answer: B", "field", "Answer: B"),
        ("\u200b\U0001d400nswer: \uff22!", "field", "\U0001d400nswer: \uff22"),
        ("\U0001f600 Answer: D", "field", "Answer: D"),
        ("Sorry. As an AI, I cannot answer that. It is rude.", "refusal", "I cannot answer that."),
    ],
)
def test_the_place_that_decided_is_shown_in_the_text_as_written(
    text: str, rule: str, place: str
) -> None:
    trace = read(text)
    assert trace.rule == rule
    assert trace.text_start is not None
    assert place in text[trace.text_start : trace.text_end]
    assert len(text[trace.text_start : trace.text_end]) <= len(place) + 4


def test_other_declarations_are_named_with_the_reason_why_they_are_none() -> None:
    text = "If the answer is A, fine. The answer is B? I think the answer is not C. Answer: D"
    trace = read(text)
    found = {(trace.seen[d.start : d.end], d.why_not) for d in trace.declarations}
    assert ("Answer: D", "") in found
    assert any(seen.endswith("A") and why == "hypothetical" for seen, why in found)
    earlier = read("Answer: A\n\nNo. The answer is B.")
    assert [(d.option, d.why_not) for d in earlier.declarations] == [(0, "earlier"), (1, "")]


def test_a_text_that_as_a_whole_says_nothing_has_no_place() -> None:
    for text in ("", "I like trains", "<think>hm", "A or"):
        trace = read(text, truncated=text == "A or")
        assert (trace.start, trace.end, trace.text_start) == (None, None, None)


def corpus() -> list[dict[str, Any]]:
    path = Path(__file__).parent / "answers_corpus.yaml"
    found = yaml.safe_load(path.read_text(encoding="utf-8"))
    cases: list[dict[str, Any]] = found["cases"] if isinstance(found, dict) else found
    return cases


@given(
    st.text(alphabet="ABCD ().:*\n<>\\_$pariswetnlo'?!é\u200b\uff22", max_size=120), st.booleans()
)
def test_any_text_is_read_as_always_and_places_lie_in_it(text: str, truncated: bool) -> None:
    trace = read(text, truncated=truncated)
    if trace.start is not None and trace.end is not None:
        assert 0 <= trace.start < trace.end <= len(trace.seen)
    if trace.text_start is not None and trace.text_end is not None:
        assert 0 <= trace.text_start < trace.text_end <= len(text)
