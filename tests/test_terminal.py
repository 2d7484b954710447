"""Untrusted text on a terminal."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nongrata.terminal import shorten, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b]0;owned\x07", "\\x1b]0;owned\\x07"),
        ("\x9b31m", "\\x9b31m"),
        ("a\x85b", "a\\x85b"),
        ("\u202eevil", "\\u202eevil"),
        ("\ufefftext", "\\ufefftext"),
        ("\ud800", "\\ud800"),
        ("\U000e0041", "\\U000e0041"),
        ("back\rover", "back\\x0dover"),
        ("plain é ∨ 中 \xa0\n\tkept", "plain é ∨ 中 \xa0\n\tkept"),
    ],
)
def test_what_cannot_be_seen_is_written_out(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_one_line_has_no_line_ends() -> None:
    assert visible("a\nb\tc", one_line=True) == "a\\nb\\tc"


@given(st.text())
def test_nothing_a_terminal_acts_on_is_left(text: str) -> None:
    left = {unicodedata.category(c) for c in visible(text) if c not in "\n\t"}
    assert not left & {"Cc", "Cs", "Zl", "Zp"}


@given(st.text(), st.integers(2, 40))
def test_shortened_text_fits(text: str, width: int) -> None:
    assert len(shorten(text, width)) <= width
