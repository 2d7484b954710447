"""Where the numbers of a table stand in the results, written as seldom as possible.

A report of several models has many ten thousand numbers, and a path for each would be most of the
file. Paths in a table are regular, so a row keeps what the paths of its numbers begin with, and a
column what follows in most of its rows. The path of the k-th number in a cell is::

    row's data-at + (number's data-path, or else the k-th of column's data-paths)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile

from nongrata.report.document.blocks import Row, Table
from nongrata.report.document.pieces import Estimate, Names, Number, Piece, Text


@dataclass(frozen=True, slots=True)
class TablePaths:
    """Paths of a table's numbers.

    Parameters
    ----------
    rows
        What each row's paths begin with.
    columns
        For each column what follows in most rows, one path for each number in a cell.
    """

    rows: tuple[str, ...]
    columns: tuple[tuple[str, ...], ...]

    def is_as_column(self, cell: Piece | None, row: int, column: int) -> bool:
        """Whether a cell's paths are those that its row and column say."""
        return _regular(cell, self.rows[row]) == self.columns[column]


def table_paths(table: Table) -> TablePaths:
    """Paths of a table's numbers.

    Parameters
    ----------
    table
        The table.
    """
    bases = tuple(_base(row) for row in table.rows)
    columns = []
    for place in range(len(table.columns)):
        found = Counter(
            _regular(row.cells[place], base) for row, base in zip(table.rows, bases, strict=True)
        )
        most, times = found.most_common(1)[0] if found else ((), 0)
        # an attribute holds them with spaces between
        columns.append(() if times < 2 or any(" " in path for path in most) else most)
    return TablePaths(bases, tuple(columns))


def paths_of(piece: Piece | None) -> tuple[str, ...]:
    """Paths of the numbers that a piece shows, in order; one that is undefined is not shown.

    Examples
    --------
    >>> paths_of(Estimate(Number(1.0, "/a"), Number(0.5, "/low"), Number(None, "/high")))
    ('/a',)
    """
    return tuple(_paths(piece))


def shared_steps(paths: list[str]) -> str:
    """The whole steps that several paths begin with; of one path all but the last.

    Examples
    --------
    >>> shared_steps(["/rows/1/low", "/rows/1/long/value"])
    '/rows/1'
    >>> shared_steps(["/rows/1"]), shared_steps([])
    ('/rows', '')
    """
    steps = [path.split("/")[:-1] for path in paths]
    alike = takewhile(lambda step: len(set(step)) == 1, zip(*steps, strict=False))
    return "/".join(step[0] for step in alike)


def _base(row: Row) -> str:
    return shared_steps([path for cell in row.cells for path in paths_of(cell)])


def _regular(cell: Piece | None, base: str) -> tuple[str, ...]:
    """Paths after a base; of a text none, for its numbers come in each language's own order."""
    if not isinstance(cell, (Number, Estimate)):
        return ()
    return tuple(path.removeprefix(base) for path in paths_of(cell))


def _paths(piece: Piece | None) -> Iterator[str]:
    if isinstance(piece, Number):
        if piece.value is not None:
            yield piece.path
    elif isinstance(piece, Estimate):
        yield from _paths(piece.value)
        if piece.low.value is not None and piece.high.value is not None:
            yield from (piece.low.path, piece.high.path)
    elif isinstance(piece, Text):
        for value in piece.values.values():
            yield from _paths(value)
    elif isinstance(piece, Names):
        for item in piece.items:
            yield from _paths(item)
