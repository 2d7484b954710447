"""What hostile text may have done to a page."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

# what `terminal.visible` escapes, but for ends of lines and tabs
_UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]"
)

_FOREIGN = """
(home) => [...document.querySelectorAll("*")].filter((each) =>
  ["IFRAME", "OBJECT", "EMBED", "AUDIO", "VIDEO", "BASE"].includes(each.tagName)
  || (each.tagName === "IMG" && !/^(data|blob):/.test(each.src) && !each.src.startsWith(home))
  || (each.tagName === "A" && !/^(data|blob|file):/.test(each.href) && !each.href.startsWith(home))
  || [...each.attributes].some(({ name, value }) =>
    name.startsWith("on") || name === "srcdoc" || name === "autofocus"
    || value.trim().toLowerCase().startsWith("javascript:"))
).map((each) => each.outerHTML.slice(0, 200))
"""

_TEXTS = """
() => {
  const body = document.body.cloneNode(true);
  for (const code of body.querySelectorAll("script, style")) code.remove();
  const attributes = [...body.querySelectorAll("*")].flatMap((each) => [...each.attributes]);
  return [document.title, body.textContent, ...attributes.map(({ value }) => value)].join("\\n");
}
"""


def foreign(page: Page, home: str = "file:") -> list[str]:
    """Elements and attributes that no page of this project writes.

    Parameters
    ----------
    page
        The page.
    home
        How addresses begin that its links and pictures may have.
    """
    found: list[str] = page.evaluate(_FOREIGN, home)
    return found


def texts(page: Page) -> str:
    """Every text and attribute of a page, without its scripts and styles."""
    return str(page.evaluate(_TEXTS))


def unseen(page: Page) -> set[str]:
    """Characters in a page that act on a text, or that nobody sees."""
    return set(_UNSEEN.findall(texts(page)))
