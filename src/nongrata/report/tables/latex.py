r"""A table in LaTeX, with booktabs: to be read in with ``\input``."""

from __future__ import annotations

import re
from functools import cached_property

from nongrata.report.document.blocks import Row, Table
from nongrata.report.document.plain import plain
from nongrata.report.languages.language import Language
from nongrata.report.tables.latex_column import LatexColumn, latex_column
from nongrata.report.tables.latex_text import latex_text, needs_t1
from nongrata.report.tables.wording import notes, shortened
from nongrata.terminal import visible

LONGEST_FLOAT = 45
"""Rows of a table that must fit on a page; a longer one goes on over pages."""
_SIZES = ((72, r"\small"), (84, r"\footnotesize"), (104, r"\scriptsize"), (130, r"\tiny"))
"""Characters of a line that fit at a size, in a text of 14 cm."""
_NARROW = 55
_SHRUNK = r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"
"""Makes what is wider than the text as wide as the text."""
_LONG_WORD = re.compile(r"\S{25,}")
_BREAKS = re.compile(r"[-_/.,:;](?=\w)|\w{12}(?=\w)")


def latex_table(table: Table, language: Language, *, unicode: bool = False) -> str:
    r"""A table as LaTeX: a float, or a ``longtable`` if it has more rows than fit on a page.

    Its first lines say, as comments, what the preamble needs.

    Parameters
    ----------
    table
        The table.
    language
        In which language.
    unicode
        For XeLaTeX or LuaLaTeX: every character stands for itself.
    """
    return "\n".join([*_Lines(table, language, unicode).all(), ""])


def latex_preamble(text: str = "", *, unicode: bool = False) -> list[str]:
    """What a document needs in its preamble for any of these tables.

    Parameters
    ----------
    text
        All that it shows.
    unicode
        Whether it is for XeLaTeX or LuaLaTeX.
    """
    names = ("booktabs", "array", "graphicx", "longtable")
    return [*_fonts(text, unicode), *(rf"\usepackage{{{name}}}" for name in names)]


def _fonts(text: str, unicode: bool) -> list[str]:
    if unicode:
        return [r"\usepackage{fontspec}"]
    return [r"\usepackage[T1]{fontenc}"] if needs_t1(text) else []


class _Lines:
    """A table's lines of LaTeX."""

    def __init__(self, table: Table, language: Language, unicode: bool) -> None:
        self._table, self._language, self._unicode = table, language, unicode

        self._is_long = len(table.rows) > LONGEST_FLOAT

    def all(self) -> list[str]:
        """All of them."""
        lines = self._long() if self._is_long else self._float()
        return self._comment("".join(lines)) + lines

    def _text(self, text: str) -> str:
        """A plain text as LaTeX; words longer than a line may be broken."""
        pieces = _LONG_WORD.sub(
            lambda word: _BREAKS.sub("\\g<0>\u200b", word[0]), visible(shortened(text))
        ).split("\u200b")
        return r"\hspace{0pt}".join(latex_text(part, unicode=self._unicode) for part in pieces)

    @cached_property
    def _columns(self) -> list[LatexColumn]:
        columns = []
        for i, column in enumerate(self._table.columns):
            cells = [row.cells[i] for row in self._table.rows]
            columns.append(latex_column(column, cells, self._language, self._text))
        return columns

    @cached_property
    def _width(self) -> int:
        """Characters of a line, at least."""
        return sum(column.width + 2 * column.span for column in self._columns)

    @cached_property
    def _size(self) -> tuple[int, str]:
        """How many characters fit at the size that is used, and its command."""
        sizes = _SIZES if self._is_long else _SIZES[:-1]
        return next(((most, size) for most, size in sizes if self._width <= most), sizes[-1])

    @cached_property
    def _specification(self) -> str:
        """Of the tabular; wrapped columns share what others leave of the line."""
        line = max(self._size[0], self._width)
        wrapped = sum(column.weight for column in self._columns)
        free = line - sum(c.width + 2 * c.span for c in self._columns if not c.weight)
        inside = "".join(
            column.specification(0.95 * free / line * column.weight / max(wrapped, 1))
            for column in self._columns
        )
        return "@{}" + inside + "@{}"

    def _comment(self, text: str) -> list[str]:
        needed = [*_fonts(text, self._unicode), r"\usepackage{booktabs}"]
        needed += [r"\usepackage{array}"] if r"\arraybackslash" in text else []
        needed += [r"\usepackage{graphicx}"] if r"\resizebox" in text else []
        needed += [r"\usepackage{longtable}"] if r"\begin{longtable}" in text else []
        engine = "XeLaTeX or LuaLaTeX" if self._unicode else "pdfLaTeX (2020 or later)"
        return [f"% For {engine}. The preamble needs:", *(f"%   {line}" for line in needed)]

    def _float(self) -> list[str]:
        shrinks = self._width > _NARROW or any(column.weight for column in self._columns)
        lines = [r"\begin{table}[tbp]", r"\centering", *self._caption(), r"\smallskip"]
        lines += [self._size[1], *([_SHRUNK] if shrinks else [])]
        lines += [rf"\begin{{tabular}}{{{self._specification}}}", *self._head(), *self._body()]
        lines += [r"\bottomrule", r"\end{tabular}" + ("}" if shrinks else "")]
        if under := self._notes():
            lines += [r"\par\smallskip", r"\begin{minipage}{\linewidth}", r"\footnotesize"]
            lines += [*under, r"\end{minipage}"]
        return [*lines, r"\end{table}"]

    def _long(self) -> list[str]:
        """A table that goes on over pages, in a document of one column."""
        caption, label = self._caption()
        lines = [r"\begingroup", self._size[1], r"\setlength{\LTcapwidth}{\linewidth}"]
        lines += [r"\setlength{\tabcolsep}{4pt}"]
        lines += [rf"\begin{{longtable}}{{{self._specification}}}", caption, label + r" \\"]
        lines += [*self._head(), r"\endfirsthead", *self._head(), r"\endhead"]
        lines += [r"\bottomrule", r"\endfoot", *self._body(), r"\end{longtable}"]
        if under := self._notes():
            lines += [r"\noindent\footnotesize", *under, r"\par"]
        return [*lines, r"\endgroup"]

    def _caption(self) -> list[str]:
        caption = self._text(plain(self._table.caption, self._language))
        return [rf"\caption{{{caption}}}", rf"\label{{tab:{self._table.id}}}"]

    def _head(self) -> list[str]:
        heads = [column.heads for column in self._columns]
        rows = list(zip(*heads, strict=True))
        if not any(column.unit for column in self._columns):
            rows.pop()
        return [r"\toprule", *(" & ".join(row) + r" \\" for row in rows), r"\midrule"]

    def _body(self) -> list[str]:
        lines = []
        for i, row in enumerate(self._table.rows):
            lines += self._group(row, first=i == 0)
            lines.append(" & ".join(column.cells[i] for column in self._columns) + r" \\")
        return lines

    def _group(self, row: Row, *, first: bool) -> list[str]:
        if row.group is None:
            return []
        span = sum(column.span for column in self._columns)
        name = self._text(plain(row.group, self._language))
        line = rf"\multicolumn{{{span}}}{{@{{}}l@{{}}}}{{\textit{{{name}}}}} \\"
        return [line] if first else [r"\midrule", line]

    def _notes(self) -> list[str]:
        under = notes(self._table, self._language)
        written = [latex_text(note, unicode=self._unicode) for note in under]
        return [r"\par " + note if i else note for i, note in enumerate(written)]
