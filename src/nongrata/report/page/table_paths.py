"""Where the numbers of a table stand in the results, written as seldom as possible.

A report of several models has many ten thousand numbers, and a path for each would be most of the
file. Paths in a table are regular: those of a column differ in a place of a list or two, which
are mostly the same for all columns of a row. So a column's heading has ``data-paths``, a pattern
with stars for each number in a cell, and a row has ``data-at``, what stands for the stars::

    <th data-paths="/rows/*/low /rows/*/high"> ... <tr data-at="12">

A number whose stars stand for something else says so itself, with its own ``data-at``; one that
has ``data-path`` stands there, whatever its row and column say.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from nongrata.report.document.blocks import Table
from nongrata.report.document.pieces import Estimate, Names, Number, Piece, Text
from nongrata.report.document.said import split
from nongrata.report.languages.language import Language

Places = tuple[str, ...]
"""What stands for the stars of a path, in order."""


@dataclass(frozen=True, slots=True)
class TablePaths:
    """Paths of a table's numbers.

    Parameters
    ----------
    columns
        For each column the pattern of each number in a cell; empty where cells are not alike.
    rows
        For each row what stands for most of its stars.
    cells
        For each row and column what stands for the stars of the cell; None where the cell is not
        as its column.
    """

    columns: tuple[tuple[str, ...], ...]
    rows: tuple[Places, ...]
    cells: tuple[tuple[Places | None, ...], ...]


def table_paths(table: Table, language: Language) -> TablePaths:
    """Paths of a table's numbers.

    Parameters
    ----------
    table
        The table.
    language
        Of the page: it decides in which order the numbers of a sentence stand.
    """
    columns, cells = [], []
    for place in range(len(table.columns)):
        paths = [paths_of(row.cells[place], language) for row in table.rows]
        patterns = _patterns(paths)
        columns.append(patterns)
        cells.append([_places(each, patterns) for each in paths])
    rows = list(zip(*cells, strict=True))
    return TablePaths(tuple(columns), tuple(_most_common(row) for row in rows), tuple(rows))


def paths_of(piece: Piece | None, language: Language) -> tuple[str, ...]:
    """Paths of the numbers that a piece shows, in order; one that is undefined is not shown.

    Examples
    --------
    >>> number = Estimate(Number(1.0, "/a"), Number(0.5, "/low"), Number(None, "/high"))
    >>> paths_of(number, Language("en", {}))
    ('/a',)
    """
    return tuple(_paths(piece, language))


def _paths(piece: Piece | None, language: Language) -> Iterator[str]:
    if isinstance(piece, Number):
        if piece.value is not None:
            yield piece.path
    elif isinstance(piece, Estimate):
        yield from _paths(piece.value, language)
        if piece.low.value is not None and piece.high.value is not None:
            yield from (piece.low.path, piece.high.path)
    elif isinstance(piece, Text):
        for _, field in split(language.sentence(piece.template)):
            if field:
                yield from _paths(piece.values[field], language)
    elif isinstance(piece, Names):
        for item in piece.items:
            yield from _paths(item, language)


def _patterns(cells: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Patterns that most cells of a column follow; empty if there are none.

    Examples
    --------
    >>> _patterns([("/m/0/rows/1/p",), ("/m/0/rows/2/p",), ("/else",)])
    ('/m/0/rows/*/p',)
    """
    shapes = Counter(tuple(map(_shape, cell)) for cell in cells if cell)
    if not shapes or shapes.most_common(1)[0][1] < 2:
        return ()
    shape = shapes.most_common(1)[0][0]
    # an attribute holds them with spaces between, and a star of a name is no star
    if any(" " in path or "*" in path.replace("/*", "/") for path in shape):
        return ()
    alike = [cell for cell in cells if tuple(map(_shape, cell)) == shape]
    return tuple(_pattern(paths) for paths in zip(*alike, strict=True))


def _shape(path: str) -> str:
    return "/".join("*" if step.isdecimal() else step for step in path.split("/"))


def _pattern(paths: Iterable[str]) -> str:
    """One path whose steps that vary are stars."""
    steps = zip(*(path.split("/") for path in paths), strict=True)
    return "/".join(step[0] if len(set(step)) == 1 else "*" for step in steps)


def _places(paths: tuple[str, ...], patterns: tuple[str, ...]) -> Places | None:
    """What stands for the stars of all of a cell's patterns, if it is the same for all."""
    if not patterns or len(paths) != len(patterns):
        return None
    found = {_filled(path, pattern) for path, pattern in zip(paths, patterns, strict=True)}
    return found.pop() if len(found) == 1 else None


def _filled(path: str, pattern: str) -> Places | None:
    """What stands for the stars.

    Examples
    --------
    >>> _filled("/rows/12/p", "/rows/*/p"), _filled("/rows/12/q", "/rows/*/p")
    (('12',), None)
    """
    steps, wanted = path.split("/"), pattern.split("/")
    if len(steps) != len(wanted):
        return None
    pairs = list(zip(steps, wanted, strict=True))
    if any(step != want for step, want in pairs if want != "*"):
        return None
    stars = tuple(step for step, want in pairs if want == "*")
    return stars if all(star.isdecimal() for star in stars) else None


def _most_common(row: Sequence[Places | None]) -> Places:
    found = Counter(places for places in row if places)
    return found.most_common(1)[0][0] if found else ()
