"""A column of a table as LaTeX: its numbers aligned at the decimal point, without a package."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from nongrata.report.document.blocks import Column
from nongrata.report.document.pieces import Estimate, Number, Piece
from nongrata.report.document.plain import plain
from nongrata.report.languages.language import Language

NARROWEST = 30
"""Characters of a line of a wrapped column."""
_LONGEST_LINE = 34
_NARROW_HEADING = 10
_HEAVIEST = 120


@dataclass(frozen=True, slots=True)
class LatexColumn:
    r"""A column as LaTeX. An estimate's interval has a column of its own, so that both align.

    Parameters
    ----------
    heading, unit
        Above it, as LaTeX; a unit may be empty.
    cells
        As LaTeX, with the ``&`` between an estimate and its interval.
    kind
        ``"l"``, ``"r"``, ``"rr"`` or ``"p"``, a wrapped text.
    width
        Characters of its widest line.
    weight
        Of a wrapped column, how much of the line it wants; else 0.
    """

    heading: str
    unit: str
    cells: tuple[str, ...]
    kind: str
    width: int
    weight: int

    @property
    def heads(self) -> tuple[str, str]:
        """Heading and unit, over both columns of an estimate."""
        if self.kind != "rr":
            return self.heading, self.unit
        return (
            rf"\multicolumn{{2}}{{c}}{{{self.heading}}}",
            rf"\multicolumn{{2}}{{c}}{{{self.unit}}}",
        )

    @property
    def span(self) -> int:
        """How many columns of the tabular it has."""
        return 2 if self.kind == "rr" else 1

    def specification(self, share: float) -> str:
        """Of the tabular; a wrapped column has a share of the line."""
        if self.kind == "p":
            return rf">{{\raggedright\arraybackslash}}p{{{share:.2f}\linewidth}}"
        return r"r@{\enspace}r" if self.kind == "rr" else self.kind


def latex_column(
    column: Column,
    cells: Sequence[Piece | None],
    language: Language,
    written: Callable[[str], str],
) -> LatexColumn:
    """Write a column.

    Parameters
    ----------
    column, cells
        The column, and what stands in it.
    language
        In which language.
    written
        A plain text as LaTeX.
    """
    halves = [_halves(cell, language) for cell in cells]
    intervals = any(interval for _, interval in halves)
    decimals = max((_decimals(value) for value, _ in halves), default=0)
    longest = max((len(value) + len(interval) + 1 for value, interval in halves), default=0)
    numeric = column.kind in ("number", "estimate")
    wrapped = not numeric and longest > _LONGEST_LINE
    kind = "p" if wrapped else "rr" if intervals else "r" if numeric else "l"
    body = NARROWEST if wrapped else longest
    title = plain(column.heading, language)
    lines = textwrap.wrap(title, max(body, _NARROW_HEADING), break_long_words=False) or [""]
    texts = []
    for cell, (value, interval) in zip(cells, halves, strict=True):
        is_number = isinstance(cell, (Number, Estimate))
        text = written(value) + (_phantom(value, decimals) if is_number else "")
        texts.append(f"{text} & {written(interval)}" if intervals else text)
    unit = written(f"({language.sentence(column.unit)})") if column.unit else ""
    return LatexColumn(
        _stacked([written(line) for line in lines], kind),
        unit,
        tuple(texts),
        kind,
        max(body, *map(len, lines)),
        min(longest, _HEAVIEST) if wrapped else 0,
    )


def _halves(cell: Piece | None, language: Language) -> tuple[str, str]:
    """A cell as plain text, the interval of an estimate apart."""
    if not isinstance(cell, Estimate):
        return plain(cell, language), ""
    value = plain(cell.value, language)
    return value, plain(cell, language).removeprefix(value).strip()


def _decimals(number: str) -> int:
    found = re.search(r"\.(\d+)$", number)
    return len(found[1]) if found else 0


def _phantom(number: str, decimals: int) -> str:
    """The decimals that a number lacks, invisible."""
    own = _decimals(number)
    if own == decimals or not number[-1:].isdigit():
        return ""
    return rf"\phantom{{{'' if own else '.'}{'0' * (decimals - own)}}}"


def _stacked(lines: list[str], kind: str) -> str:
    if len(lines) == 1:
        return lines[0]
    side = {"rr": "c", "p": "l"}.get(kind, kind)
    return rf"\shortstack[{side}]{{" + r" \\ ".join(lines) + "}"
