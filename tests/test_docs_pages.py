"""The sessions shown on the pages of the documentation are run, page by page."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^```pycon\n(.*?)^```", re.MULTILINE | re.DOTALL)
PAGES = sorted(
    page
    for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
    if BLOCK.search(page.read_text(encoding="utf-8"))
)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_says_what_happens(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = page.read_text(encoding="utf-8")
    # blank lines in place of everything else, so that line numbers are those of the page
    kept, end = [], 0
    for block in BLOCK.finditer(text):
        kept.append("\n" * text.count("\n", end, block.start(1)))
        kept.append(block[1])
        end = block.end(1)
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    test = doctest.DocTestParser().get_doctest("".join(kept), {}, page.name, str(page), 0)
    report: list[str] = []
    failed, tried = doctest.DocTestRunner(optionflags=flags).run(test, out=report.append)
    assert tried
    assert not failed, "".join(report)


def test_sessions_stand_in_blocks_that_are_run():
    for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]:
        text = page.read_text(encoding="utf-8")
        assert ">>> " not in BLOCK.sub("", text), page
