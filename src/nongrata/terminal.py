"""Untrusted text on a terminal: what cannot be seen is written out, nothing is interpreted."""

from __future__ import annotations

import re

_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 (without tab and newline), DEL and C1 controls, and ESC
    "\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f"  # soft hyphen, marks, bidi controls, joiners, BOM, tags
    "\ud800-\udfff]"  # half a surrogate pair cannot even be printed
)
_LAYOUT = {"\t": "\\t", "\n": "\\n"}


def visible(text: str, *, one_line: bool = False) -> str:
    r"""Write control characters, bidi controls and other invisible characters as escapes.

    A text of a data set or a model may hold terminal escapes; printed through this function it
    moves no cursor, sets no title and reverses no line. Hand the result to rich as
    ``rich.text.Text``, never as markup.

    Parameters
    ----------
    text
        Any text.
    one_line
        Whether tabs and newlines are written as escapes too.

    Examples
    --------
    >>> print(visible("a\x1b[31mred\x85\u202e"))
    a\x1b[31mred\x85\u202e
    >>> print(visible("two\nlines", one_line=True))
    two\nlines
    """
    shown = _HIDDEN.sub(lambda match: _escape(match[0]), text)
    return re.sub("[\t\n]", lambda match: _LAYOUT[match[0]], shown) if one_line else shown


def shorten(text: str, width: int) -> str:
    """Return `text` on one line, visible, and no longer than `width` characters.

    Examples
    --------
    >>> shorten("What is the capital of France?", 12)
    'What is the…'
    """
    line = visible(text, one_line=True)
    return line if len(line) <= width else line[: width - 1].rstrip() + "…"


def _escape(character: str) -> str:
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
