"""A table in GitHub's Markdown."""

from __future__ import annotations

import re

from nongrata.report.document.blocks import Row, Table
from nongrata.report.document.plain import plain
from nongrata.report.languages.language import Language
from nongrata.report.tables.wording import heading, notes, shortened

_PUNCTUATION = re.compile(r"[\\`*_\[\]{}|~$#!]")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_STARTS = re.compile(r"^(?:(\d+)(?=[.)](?:\s|$))|(?=[-+]\s|[-=]+$))")
_PADDED = 40


def markdown_table(table: Table, language: Language) -> str:
    """A table as GitHub's Markdown: caption, table, notes.

    Parameters
    ----------
    table
        The table.
    language
        In which language.
    """
    width = len(table.columns)
    lines = [[_cell(heading(column, language)) for column in table.columns]]
    for row in table.rows:
        if row.group is not None:
            group = _cell(plain(row.group, language))
            lines.append([f"**{group}**", *[""] * (width - 1)])
        lines.append(_cells(row, language))
    right = [column.kind in ("number", "estimate") for column in table.columns]
    sizes = [min(max([3, *(len(line[i]) for line in lines)]), _PADDED) for i in range(width)]
    rule = ["-" * (size - 1) + (":" if r else "-") for size, r in zip(sizes, right, strict=True)]
    body = [_line(line, sizes, right) for line in (lines[0], rule, *lines[1:])]
    caption = f"**{_cell(plain(table.caption, language))}**"
    under = [markdown_text(note) for note in notes(table, language)]
    return "\n\n".join([caption, "\n".join(body), *under]) + "\n"


def markdown_text(text: str) -> str:
    r"""A text as Markdown that shows just it: no link, no HTML, no list, no mention, no formula.

    Parameters
    ----------
    text
        Plain text on one line.

    Examples
    --------
    >>> print(markdown_text("[x](javascript:y) <b> a|b"))
    \[x\](javascript:y) &lt;b&gt; a\|b
    >>> print(markdown_text("- @someone at https://example.org"))
    \- @<!-- -->someone at https\://example.org
    """
    plain_text = re.sub(r"&(?=[#\w])", "&amp;", text.strip())
    shown = _PUNCTUATION.sub(lambda match: "\\" + match[0], plain_text)
    shown = shown.replace("<", _ENTITIES["<"]).replace(">", _ENTITIES[">"])
    # what GitHub makes a link of by itself
    shown = shown.replace("://", "\\://")
    shown = re.sub(r"\b(www)\.", r"\1\\.", shown, flags=re.IGNORECASE)
    shown = re.sub(r"@(?=\w)", "@<!-- -->", shown)
    return _STARTS.sub(lambda match: f"{match[1] or ''}\\", shown)


def _cells(row: Row, language: Language) -> list[str]:
    return [_cell(plain(cell, language)) for cell in row.cells]


def _cell(text: str) -> str:
    return markdown_text(shortened(text))


def _line(cells: list[str], sizes: list[int], right: list[bool]) -> str:
    padded = [
        cell.rjust(size) if r else cell.ljust(size)
        for cell, size, r in zip(cells, sizes, right, strict=True)
    ]
    return "| " + " | ".join(padded) + " |"
