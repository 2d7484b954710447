from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nongrata.templates import fields_of, fill


@given(st.text())
def test_a_value_is_never_looked_at_again(value: str) -> None:
    assert fill("[{a}|{b}]", {"a": value, "b": value}) == f"[{value}|{value}]"


@pytest.mark.parametrize("template", ["{", "}", "{a b}", "{}", "{a", "a}"])
def test_a_lone_brace_is_refused(template: str) -> None:
    with pytest.raises(ValueError, match="lone"):
        fields_of(template)


def test_doubled_braces_are_braces() -> None:
    assert fill("{{a}} {a} {{{a}}}", {"a": "1"}) == "{a} 1 {1}"
    assert fields_of("{{a}} {a} {{{b}}}") == ["a", "b"]
