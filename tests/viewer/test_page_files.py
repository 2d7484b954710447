"""The page's own files: what they hide and show is what the package does elsewhere."""

from __future__ import annotations

import json
import re
from importlib import resources

from nongrata.answers import RULES
from nongrata.terminal import visible
from nongrata.viewer.flips import FATES
from nongrata.viewer.question_list import ORDERS

ASSETS = resources.files("nongrata.viewer").joinpath("assets")


def text_of(name: str) -> str:
    return ASSETS.joinpath(name).read_text(encoding="utf-8")


def test_the_page_shows_the_same_characters_as_escapes_as_the_terminal() -> None:
    found = re.search(r"HIDDEN = new RegExp\((.*?),\s*\"gu\"", text_of("dom.js"), re.DOTALL)
    assert found is not None
    pattern = "".join(json.loads(part) for part in re.findall(r'"[^"]*"', found[1]))
    pattern = re.sub(r"\\u\{([0-9a-f]+)\}", lambda code: f"\\U{code[1]:0>8}", pattern)
    hidden = re.compile(pattern)
    for code in range(0x110000):
        shown = visible(chr(code))
        assert (hidden.match(chr(code)) is not None) == (shown != chr(code)), hex(code)


def test_every_rule_outcome_and_order_has_words() -> None:
    rules = text_of("rules.js")
    for name in [*dict(RULES), "first-token", "cloze", "error"]:
        assert re.search(rf'^  "?{name}"?: "', rules, re.MULTILINE), name
    fates = text_of("fates.js")
    for name in FATES:
        assert re.search(rf"^  {name}: {{ sign", fates, re.MULTILINE), name
        assert re.search(rf"^\.{name} {{ background", text_of("matrix.css"), re.MULTILINE), name
    for name in ORDERS:
        assert re.search(rf'^  {name}: "', text_of("list.js"), re.MULTILINE), name


def test_what_the_page_loads_is_there() -> None:
    files = {entry.name for entry in ASSETS.iterdir()}
    named = set(re.findall(r'"/assets/([^"]+)"', text_of("index.html")))
    for name in files:
        if name.endswith(".js"):
            named |= set(re.findall(r'from "\./([^"]+)"', text_of(name)))
    assert named | {"index.html"} == files


def test_no_file_is_long() -> None:
    for entry in ASSETS.iterdir():
        assert len(entry.read_text(encoding="utf-8").splitlines()) <= 400, entry.name
