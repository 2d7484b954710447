"""What stands around a table's cells, whatever it is written in: headings, units, notes."""

from __future__ import annotations

from nongrata.report.document.blocks import Chart, Column, Document, Table
from nongrata.report.document.pieces import Estimate, Number
from nongrata.report.document.plain import plain
from nongrata.report.document.said import text_of
from nongrata.report.languages.language import Language

MOST_CHARACTERS = 300
"""Of a cell for print; a name may be as long as a book."""


def all_tables(document: Document) -> list[Table]:
    """Every table of a document, those that hold a chart's numbers too, each once, in order.

    Parameters
    ----------
    document
        The document.
    """
    found: dict[str, Table] = {}
    for block in document.blocks:
        table = block.table if isinstance(block, Chart) else block
        if isinstance(table, Table):
            found.setdefault(table.id, table)
    return list(found.values())


def heading(column: Column, language: Language) -> str:
    """What stands above a column, with the unit of its numbers.

    Examples
    --------
    >>> from nongrata.report.document.pieces import Text
    >>> heading(Column("ia", Text("IA"), "points"), Language("en", {}))
    'IA (points)'
    """
    unit = f" ({language.sentence(column.unit)})" if column.unit else ""
    return plain(column.heading, language) + unit


def notes(table: Table, language: Language) -> list[str]:
    """What stands under a table: what headings and dashes mean, then its notes.

    Examples
    --------
    >>> from nongrata.report.document.pieces import Text
    >>> column = Column("k", Text("K"), help=Text("configurations compared"))
    >>> notes(Table("t", Text("T"), (column,), ()), Language("en", {}))
    ['K = configurations compared.']
    """
    meanings = [*_meanings(table, language), *(("–", why) for why in _reasons(table, language))]
    first = [_listed(meanings)] if meanings else []
    return first + [plain(note, language) for note in table.notes]


def headings_explained(table: Table, language: Language) -> str:
    """What headings mean, in one line; empty if none needs it.

    Examples
    --------
    >>> from nongrata.report.document.pieces import Text
    >>> headings_explained(Table("t", Text("T"), (), ()), Language("en", {}))
    ''
    """
    meanings = _meanings(table, language)
    return _listed(meanings) if meanings else ""


def _meanings(table: Table, language: Language) -> list[tuple[str, str]]:
    return [
        (plain(column.heading, language), plain(column.help, language))
        for column in table.columns
        if column.help is not None
    ]


def _listed(meanings: list[tuple[str, str]]) -> str:
    return "; ".join(f"{what} = {meaning.rstrip('.')}" for what, meaning in meanings) + "."


def _reasons(table: Table, language: Language) -> list[str]:
    """Why numbers are undefined, each reason once."""
    found: dict[str, None] = {}
    for row in table.rows:
        for cell in row.cells:
            number = cell.value if isinstance(cell, Estimate) else cell
            if isinstance(number, Number) and number.value is None and number.reason:
                found.setdefault(plain(text_of(number.reason), language))
    return list(found)


def shortened(text: str) -> str:
    """A text that fits on a printed page."""
    return text if len(text) <= MOST_CHARACTERS else text[: MOST_CHARACTERS - 1] + "…"
