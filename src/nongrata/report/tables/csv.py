"""A table as CSV: numbers in full precision, texts that no spreadsheet takes for a formula."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass

from nongrata.report.document.blocks import Column, Table
from nongrata.report.document.pieces import Estimate, Number, Piece
from nongrata.report.document.plain import plain
from nongrata.report.document.said import text_of
from nongrata.report.languages.language import Language
from nongrata.terminal import visible

_FORMULA = re.compile(r"\s*[=+\-@\t\r＝＋－＠]")
_UNITS = {"%": "percent"}


def csv_table(table: Table, language: Language) -> str:
    """A table as CSV (RFC 4180): one line of column names, then the rows.

    Columns have the names of `Column.key`, with the unit of their numbers. An estimate has two
    more, ``_low`` and ``_high``. Where numbers have a unit each, ``_unit`` says which; where some
    are undefined, ``_reason`` says why. What the table is about and the groups of its rows are
    columns too, so that tables can be put together.

    Parameters
    ----------
    table
        The table.
    language
        In which language texts are; names of columns are the same in all.
    """
    keys = {column.key for column in table.columns}
    about = {key: value for key, value in table.facets.items() if key not in keys}
    grouped = any(row.group is not None for row in table.rows)
    columns = [
        _WideColumn.of(column, [row.cells[i] for row in table.rows])
        for i, column in enumerate(table.columns)
    ]
    names = [name for column in columns for name in column.names()]
    lines = [[*about, *(["group"] if grouped else []), *names]]
    group = ""
    for i, row in enumerate(table.rows):
        group = group if row.group is None else csv_text(plain(row.group, language))
        start = [csv_text(visible(value, one_line=True)) for value in about.values()]
        start += [group] if grouped else []
        lines.append([*start, *(cell for column in columns for cell in column.line(i, language))])
    into = io.StringIO()
    csv.writer(into).writerows(lines)
    return into.getvalue()


def csv_text(text: str) -> str:
    """A text as a cell that a spreadsheet shows and does not compute.

    Examples
    --------
    >>> csv_text("=1+1"), csv_text("a farmer")
    ("'=1+1", 'a farmer')
    """
    return f"'{text}" if _FORMULA.match(text) else text


@dataclass(frozen=True, slots=True)
class _WideColumn:
    """A column of a table, as the columns of a CSV file that it fills."""

    column: Column
    cells: Sequence[Piece | None]
    parts: tuple[str, ...]

    @classmethod
    def of(cls, column: Column, cells: Sequence[Piece | None]) -> _WideColumn:
        """Find out which columns its cells need."""
        estimated = column.kind == "estimate" or any(isinstance(c, Estimate) for c in cells)
        numbers = [_value(cell) for cell in cells if isinstance(cell, (Number, Estimate))]
        parts = ["", *(("low", "high") if estimated else ())]
        parts += ["unit"] if any(number.unit for number in numbers) else []
        parts += ["reason"] if any(number.reason for number in numbers) else []
        return cls(column, cells, tuple(parts))

    def names(self) -> list[str]:
        """Names of the CSV columns."""
        unit = self.column.unit
        unit = re.sub(r"[^a-z0-9]+", "_", _UNITS.get(unit, unit).lower()).strip("_")
        name = self.column.key.replace("-", "_")
        name += f"_{unit}" if unit and not name.endswith(unit) else ""
        return [f"{name}_{part}" if part else name for part in self.parts]

    def line(self, row: int, language: Language) -> list[str]:
        """Their cells in a row."""
        cell = self.cells[row]
        if not isinstance(cell, (Number, Estimate)):
            return [csv_text(plain(cell, language)), *[""] * (len(self.parts) - 1)]
        number = _value(cell)
        found = {
            "": _exact(number),
            "low": _exact(cell.low) if isinstance(cell, Estimate) else "",
            "high": _exact(cell.high) if isinstance(cell, Estimate) else "",
            "unit": csv_text(language.sentence(number.unit)),
            "reason": csv_text(plain(text_of(number.reason), language)),
        }
        return [found[part] for part in self.parts]


def _value(cell: Number | Estimate) -> Number:
    return cell.value if isinstance(cell, Estimate) else cell


def _exact(number: Number) -> str:
    return "" if number.value is None else repr(number.value)
