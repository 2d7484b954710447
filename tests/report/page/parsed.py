"""A page as a browser would take it apart, as far as tests need it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from html.parser import HTMLParser
from types import MappingProxyType
from typing import Any


@dataclass
class Element:
    """An element: its name, attributes, children and own text."""

    tag: str
    attributes: dict[str, str]
    children: list[Element] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)

    def all(self, tag: str = "", **attributes: str) -> list[Element]:
        """Elements below, in order; underscores in attributes' names are hyphens."""
        wanted = {key.replace("_", "-").removesuffix("-"): v for key, v in attributes.items()}
        found = []
        for child in self.children:
            same = all(child.attributes.get(key) == value for key, value in wanted.items())
            if same and tag in {"", child.tag}:
                found.append(child)
            found += child.all(tag, **attributes)
        return found

    def one(self, tag: str = "", **attributes: str) -> Element:
        """The only such element."""
        (found,) = self.all(tag, **attributes)
        return found

    @property
    def text(self) -> str:
        """Text of it and all below, whitespace as one space."""
        return " ".join("".join(self.texts).split())


class _Parser(HTMLParser):
    VOID = frozenset({"meta", "link", "br", "hr", "img", "input", "wbr", "col"})

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.stack = [Element("", {})]

    CELLS = frozenset({"td", "th"})
    ENDS = MappingProxyType(
        {
            "td": CELLS,
            "th": CELLS,
            "tr": CELLS | {"tr"},
            "tbody": CELLS | {"tr"},
            "/tbody": CELLS | {"tr"},
        }
    )
    """What ends with the beginning (or the end) of an element, as HTML has it for tables."""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._end_for(tag)
        made = Element(tag, {name: value or "" for name, value in attrs})
        self.stack[-1].children.append(made)
        if tag not in self.VOID:
            self.stack.append(made)

    def handle_endtag(self, tag: str) -> None:
        self._end_for(f"/{tag}")
        assert self.stack[-1].tag == tag, f"</{tag}> ends <{self.stack[-1].tag}>"
        self.stack.pop()

    def _end_for(self, tag: str) -> None:
        while self.stack[-1].tag in self.ENDS.get(tag, ()):
            self.stack.pop()

    def handle_data(self, data: str) -> None:
        for element in self.stack:
            element.texts.append(data)


def parsed(html: str) -> Element:
    """The root of a page; every element must be ended where it was begun."""
    parser = _Parser()
    parser.feed(html)
    parser.close()
    assert [element.tag for element in parser.stack] == [""]
    return parser.stack[0]


def script_data(page: Element) -> Any:
    """What the page's script reads."""
    return json.loads(page.one("script", id="data").text)
