from __future__ import annotations

import pytest
from markdown_it import MarkdownIt

from nongrata.report.languages.language import language
from nongrata.report.tables.markdown import markdown_table, markdown_text
from report.tables.examples import example


def test_a_table_has_caption_units_intervals_groups_and_notes() -> None:
    lines = markdown_table(example(), language("en")).splitlines()
    assert lines[0] == r"**Accuracy of m\_1**"
    assert [cell.strip() for cell in lines[2].split("|")[1:-1]] == [
        "label", "questions", "excess (points)", "share (%)", "p", "verdict",
    ]  # fmt: skip
    assert r"−2.3 \[−10.0, 5.5\]" in lines[4]
    assert "| **Controls** |" in lines[5]
    assert lines[-3:] == [
        "excess = over the floor; – = no pairs.", "", "Brackets: 95% intervals.",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "**b** _i_ `c` ~~s~~", "[a](b) ![c](d)", "<b>x</b> &lt; &", "# a", "- a", "1. a", "---",
        "a | b", "https://example.invalid www.example.invalid me@example.invalid", r"\* \\", "$x$",
        "    indented", "> quoted", "+ a", "***", "===",
    ],
)  # fmt: skip
def test_a_text_is_shown_as_it_is(text: str) -> None:
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(markdown_text(text))
    assert [token.type for token in tokens] == ["paragraph_open", "inline", "paragraph_close"]
    parts = [part for part in tokens[1].children or () if part.content != "<!-- -->"]
    assert {part.type for part in parts} == {"text"}
    assert "".join(part.content for part in parts) == text.strip()


def test_github_makes_no_link_or_mention_by_itself() -> None:
    shown = markdown_text("https://example.invalid www.example.invalid @someone")
    assert "://" not in shown.replace("\\://", "")
    assert "www." not in shown
    assert "@s" not in shown
