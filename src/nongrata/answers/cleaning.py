"""From what a model wrote to what it says: no thinking, no markup, no look-alike characters.

Everything here is linear in the length of the text, whatever the text is.
"""

from __future__ import annotations

import re
import unicodedata

COMBINING = "\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
"""Marks that change the letter before them; `\\w` does not cover them, so boundaries must."""

_THINKING = re.compile(
    r"(?P<open><(?:think|thinking|thought|reasoning|reflection|scratchpad)>|\[think\]"
    r"|◁think▷|<\|channel\|>analysis(?:<\|message\|>)?)"
    r"|</(?:think|thinking|thought|reasoning|reflection|scratchpad)>|\[/think\]"
    r"|◁/think▷|<\|channel\|>final(?:<\|message\|>)?",
    re.IGNORECASE,
)
_TURN_ENDS = re.compile(
    r"<\|(?:im_end|im_start|eot_id|eom_id|endoftext|end_of_text|end|return|start_header_id)\|>"
    r"|</s>|<end_of_turn>|<start_of_turn>",
    re.IGNORECASE,
)
_TURN_STARTS = re.compile(
    r"\s*(?:<s>\s*|<\|im_start\|>\s*(?:assistant\s)?|<start_of_turn>\s*(?:model\s)?"
    r"|<\|start_header_id\|>\s*assistant\s*<\|end_header_id\|>)",
    re.IGNORECASE,
)


def _look_alikes() -> dict[int, str | None]:
    """Characters that stand for an ASCII one, for a space, or for nothing."""
    table: dict[int, str | None] = {code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)}
    for code in range(0x1D400, 0x1D800):  # mathematical bold, script, ... letters and digits
        same = unicodedata.normalize("NFKC", chr(code))
        if same.isascii():
            table[code] = same
    for first in (0x24B6, 0x1F130, 0x1F150, 0x1F170):  # circled and squared capitals
        table.update({first + i: chr(ord("A") + i) for i in range(26)})
    table.update({0x24D0 + i: chr(ord("a") + i) for i in range(26)})
    table.update({0x2460 + i: chr(ord("1") + i) for i in range(9)})
    invisible = (0xAD, 0x20E3, 0xFEFF, *range(0x200B, 0x2010), *range(0x202A, 0x202F))
    table.update(dict.fromkeys((*invisible, *range(0x2060, 0x2070), *range(0xFE00, 0xFE10)), None))
    table.update(dict.fromkeys((0xA0, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000), " "))
    table.update(dict.fromkeys(range(0x80, 0xA0), " "))
    table.update(dict.fromkeys((0x85, 0x2028, 0x2029), "\n"))
    table.update(dict.fromkeys(map(ord, "‘’‚‛′´ʼ"), "'"))
    table.update(dict.fromkeys(map(ord, "“”„‟«»「」『』〝〞″"), None))
    table.update(dict.fromkeys(map(ord, "‐‑‒–−"), "-"))
    table.update(dict.fromkeys(map(ord, "—―"), " - "))
    table.update({ord("…"): "...", ord("。"): ".", ord("、"): ",", ord("→"): "->", ord("⇒"): "=>"})
    table.update(dict.fromkeys(map(ord, "【〔〖"), "["))
    table.update(dict.fromkeys(map(ord, "】〕〗"), "]"))
    return table


def _markup() -> dict[int, str | None]:
    table: dict[int, str | None] = dict.fromkeys((*range(32), 127), " ")
    table[ord("\n")] = "\n"
    table.update(dict.fromkeys(map(ord, '*`"'), None))
    return table


_LOOK_ALIKES = _look_alikes()
_MARKUP = _markup()
_ACCENTED = re.compile("[A-Za-z][\u0300-\u0345]")
_ANSI = re.compile(r"\x1b\[[0-9;]{0,20}[A-Za-z]")
_LATEX_FONT = re.compile(
    r"\\(?:text|textbf|textit|textrm|textsf|emph|mathrm|mathbf|mathit|mathsf|operatorname|bf|rm)"
    r"\s?\{"
)
_LATEX_SPACE = re.compile(r"\\(?:[()\[\],;:! ]|q?quad(?![a-z]))")
_LATEX_MATH = re.compile(r"\$\$?(?=\S)([^$\n]{1,60})(?<=\S)\$\$?(?!\d)")
_HTML_BREAK = re.compile(r"<br ?/?>", re.IGNORECASE)
_HTML = re.compile(  # in lower case only: "<B>" may be an answer
    r"</?(?:b|i|u|em|strong|code|p|span|div|li|ul|ol|h[1-6]|mark|font|center)(?: [^<>]{0,80})?>"
)
_STRUCK = re.compile(r"~~[^~\n]{1,80}~~")
_UNDERSCORES = re.compile(r"(?<![^\W_])_+|_+(?![^\W_])")
_QUOTES = re.compile(r"'(?:(?!\w)|(?<!\w'))")
_SPACES = re.compile(r" {2,}")


def without_thinking(text: str) -> str | None:
    """The text without its thinking; None if it ends while still thinking.

    A closing mark without an opening one (the template opened it) makes all before it thinking.

    Examples
    --------
    >>> without_thinking("<think>A? No.</think>B")
    'B'
    >>> without_thinking("A? No.</think>B")
    'B'
    >>> without_thinking("<think>A? No, B") is None
    True
    """
    if not ("<" in text or "[" in text or "◁" in text):
        return text
    kept: list[str] = []
    at = 0
    thinking = False
    for mark in _THINKING.finditer(text):
        if mark["open"] is None:
            if not thinking:
                kept.clear()
            thinking = False
            at = mark.end()
        elif not thinking:
            kept.append(text[at : mark.start()])
            thinking = True
    if thinking:
        return None
    kept.append(text[at:])
    return "\n".join(part for part in kept if part)


def first_turn(text: str) -> str:
    r"""The text up to the first mark of a chat template that ends a turn.

    Examples
    --------
    >>> first_turn("B<|im_end|>\n<|im_start|>user\nAnswer: C")
    'B'
    """
    if "<" not in text:
        return text
    begin = _TURN_STARTS.match(text)
    at = begin.end() if begin else 0
    end = _TURN_ENDS.search(text, at)
    return text[at : end.start()] if end else text[at:]


def plain(text: str) -> str:
    r"""The text without emphasis, quotation marks, LaTeX fonts and look-alike characters.

    Letters keep their case and line ends stay; brackets stay, for they carry meaning.

    Examples
    --------
    >>> plain("**Answer:** “Ｂ”")
    'Answer: B'
    >>> plain(r"$\text{B}$ costs $4 or $5")
    '{B} costs $4 or $5'
    """
    if not text.isascii():
        text = _ACCENTED.sub(lambda m: unicodedata.normalize("NFC", m[0]), text)
        text = text.translate(_LOOK_ALIKES)
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    if "$" in text:
        text = _LATEX_MATH.sub(r"\1", text)
    if "\\" in text:
        text = _LATEX_SPACE.sub(" ", _LATEX_FONT.sub("{", text))
    if "<" in text:
        text = _HTML.sub("", _HTML_BREAK.sub("\n", text))
    if "~~" in text:
        text = _STRUCK.sub("", text)
    text = text.translate(_MARKUP)
    if "_" in text:
        text = _UNDERSCORES.sub("", text)
    if "'" in text:
        text = _QUOTES.sub("", text)
    if "  " in text:
        text = _SPACES.sub(" ", text)
    if "\n" in text:
        text = text.replace(" \n", "\n").replace("\n ", "\n")
    return text.strip()


def fold(text: str) -> str:
    """The text in lower case, character by character, so that positions stay.

    Examples
    --------
    >>> fold("Paris"), len(fold("İ"))
    ('paris', 1)
    """
    low = text.lower()
    if len(low) == len(text):
        return low
    return "".join(c.lower() if len(c.lower()) == 1 else c for c in text)
