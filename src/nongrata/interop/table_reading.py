r"""Tables as blocks of rows, every cell as text, every row with its place.

Nothing is guessed and nothing is trimmed: ``None``, ``NA``, ``TRUE``, ``0,1``, ``1.0`` and ``007``
are text. What stands in a row that cannot be read goes to the remarks.
"""

from __future__ import annotations

import csv
import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from nongrata.errors import NongrataError
from nongrata.interop.malformed import Remarks, quoted
from nongrata.interop.table_files import WatchedFile, text_lines

BLOCK = 2**18
"""Cells that are taken into memory at a time."""
MOST_ROWS = 2**15
LOOK_AHEAD = 1000
"""Rows of a JSON Lines file whose keys together are its columns."""


@dataclass(frozen=True)
class Block:
    """Some rows of a table.

    Parameters
    ----------
    lines
        Where each row begins, from 1; int64, shape (n,).
    columns
        Column -> its cells, a ``pyarrow`` array of text, or of lists of text where a cell holds
        several answers.
    """

    lines: NDArray[np.int64]
    columns: Mapping[str, Any]


class Table(Protocol):
    """A table that can be read once, from its beginning."""

    name: str
    header: list[str]
    unit: str

    @property
    def read(self) -> tuple[int, int]:
        """How much of how much was read, in bytes or rows."""

    def blocks(
        self, wanted: Mapping[str, int], remarks: Remarks, *, sparse: bool = False
    ) -> Iterator[Block]:
        """Yield the wanted columns (name -> place in the header), some rows at a time.

        In a `sparse` table a field that a row lacks is empty; else the row is malformed.
        """


def rows_at_a_time(columns: int) -> int:
    """How many rows of so many columns make a block."""
    return max(1, min(MOST_ROWS, BLOCK // max(columns, 1)))


@contextmanager
def delimited_table(path: Path, delimiter: str) -> Iterator[Table]:
    """Open a CSV file with a header, quoted as RFC 4180 has it."""
    with text_lines(path, "") as (watched, lines):
        yield _Delimited(path, watched, lines, delimiter)


class _Delimited:
    unit = "line"

    def __init__(
        self, path: Path, watched: WatchedFile, lines: Iterator[str], delimiter: str
    ) -> None:
        self.name = str(path)
        self._watched = watched
        self._reader = csv.reader(lines, delimiter=delimiter, strict=True)
        try:
            self.header: list[str] = next((row for row in self._reader if row), [])
        except csv.Error as error:
            raise self._not_csv(error, 1) from None
        check_header(self.header, self.name)

    @property
    def read(self) -> tuple[int, int]:
        return self._watched.done, self._watched.size

    def _not_csv(self, error: csv.Error, line: int) -> NongrataError:
        return NongrataError(
            f"a row that begins here cannot be read: {error}; is a quote not closed?",
            where=f"{self.name}:{line}",
            fix='close the quote, and double those inside a quoted cell ("")',
        )

    def blocks(
        self,
        wanted: Mapping[str, int],
        remarks: Remarks,
        *,
        sparse: bool = False,  # noqa: ARG002
    ) -> Iterator[Block]:
        reader, width = self._reader, len(self.header)
        size = rows_at_a_time(width)
        ended = reader.line_num
        while True:
            rows: list[list[str]] = []
            ends: list[int] = []
            error: csv.Error | None = None
            first = ended
            try:
                for row in reader:
                    rows.append(row)
                    ends.append(reader.line_num)
                    if len(rows) == size:
                        break
            except csv.Error as found:
                error = found
            begins = np.array([first, *ends], dtype=np.int64)[: len(rows)] + 1
            ended = ends[-1] if ends else first
            if rows:
                yield self._block(rows, begins, width, wanted, remarks)
            if error is not None:
                said = str(error)
                # what a quote that is never closed has swallowed cannot be told from a long cell
                if "field larger" in said or "unexpected end" in said:
                    raise self._not_csv(error, ended + 1) from None
                remarks.lose(ended + 1, "a cell is not quoted as CSV", f"this is not CSV: {said}")
                ended = reader.line_num
            elif not rows:
                return

    def _block(
        self,
        rows: list[list[str]],
        begins: NDArray[np.int64],
        width: int,
        wanted: Mapping[str, int],
        remarks: Remarks,
    ) -> Block:
        import pyarrow as pa

        lengths = np.fromiter(map(len, rows), dtype=np.int64, count=len(rows))
        if (lengths != width).any():
            for at in np.flatnonzero((lengths != width) & (lengths > 0)).tolist():
                remarks.lose(
                    int(begins[at]),
                    "the number of cells is not the header's",
                    f"the row has {lengths[at]:,} cells and the header {width:,}",
                )
            keep = np.flatnonzero(lengths == width)
            rows, begins = [rows[i] for i in keep.tolist()], begins[keep]
        return Block(
            begins,
            {name: pa.array([row[j] for row in rows], pa.string()) for name, j in wanted.items()},
        )


@contextmanager
def json_table(path: Path) -> Iterator[Table]:
    """Open a JSON Lines file: one object a line."""
    with text_lines(path, "\n") as (watched, lines):
        yield _JsonLines(path, watched, lines)


class _JsonLines:
    unit = "line"

    def __init__(self, path: Path, watched: WatchedFile, lines: Iterator[str]) -> None:
        self.name = str(path)
        self._watched = watched
        self._lines = enumerate(lines, start=1)
        self._ahead = list(itertools.islice(self._lines, LOOK_AHEAD))
        names: dict[str, None] = {}
        problems = []
        for number, line in self._ahead:
            value, problem = _parse(line)
            names.update(dict.fromkeys(value or {}))
            problems += [(number, problem)] if problem else []
        if not names and problems:
            number, problem = problems[0]
            raise NongrataError(
                problem, where=f"{path}:{number}", fix="write one {...} a line"
            ) from None
        self.header = list(names)
        check_header(self.header, self.name)

    @property
    def read(self) -> tuple[int, int]:
        return self._watched.done, self._watched.size

    def blocks(
        self, wanted: Mapping[str, int], remarks: Remarks, *, sparse: bool = False
    ) -> Iterator[Block]:
        size = rows_at_a_time(len(wanted))
        lines = itertools.chain(self._ahead, self._lines)
        self._ahead = []
        names = list(wanted)
        # of one name, itemgetter would give the value itself
        get = itemgetter(*names) if len(names) > 1 else lambda value: (value[names[0]],)
        while batch := list(itertools.islice(lines, size)):
            numbers: list[int] = []
            rows: list[tuple[Any, ...]] = []
            for number, line in batch:
                value, problem = _parse(line)
                if value is None:
                    if problem:
                        remarks.lose(number, "the line is not a JSON object", problem)
                    continue
                try:
                    row = get(value)
                except KeyError as error:
                    if not sparse:
                        what = f"there is no field {quoted(error.args[0])}"
                        remarks.lose(number, "a field is missing", what)
                        continue
                    row = tuple(map(value.get, names))
                numbers.append(number)
                rows.append(row)
            yield _json_block(numbers, rows, names, remarks)


def _json_block(
    numbers: list[int], rows: list[tuple[Any, ...]], names: list[str], remarks: Remarks
) -> Block:
    columns = _text_columns(rows, names)
    if columns is None:
        good = [i for i, row in enumerate(rows) if _is_text(row, numbers[i], names, remarks)]
        numbers = [numbers[i] for i in good]
        columns = _text_columns([rows[i] for i in good], names)
        assert columns is not None
    return Block(np.array(numbers, dtype=np.int64), columns)


def _text_columns(rows: list[tuple[Any, ...]], names: list[str]) -> dict[str, Any] | None:
    """The rows as columns of text or lists of text; None if some cell is neither."""
    import pyarrow as pa

    columns: dict[str, Any] = {}
    for j, name in enumerate(names):
        cells = [row[j] for row in rows]
        kinds = set(map(type, cells))
        try:
            if list in kinds:
                lists = [[*map(_text, c)] if type(c) is list else [_text(c)] for c in cells]
                columns[name] = pa.array(lists, pa.list_(pa.string()))
            elif kinds <= {str}:
                columns[name] = pa.array(cells, pa.string())
            else:
                columns[name] = pa.array([*map(_text, cells)], pa.string())
        except (TypeError, UnicodeEncodeError):
            return None
    return columns


def _is_text(row: tuple[Any, ...], number: int, names: list[str], remarks: Remarks) -> bool:
    """Whether every cell is text, a number, true, false, null, or a list of such."""
    for name, cell in zip(names, row, strict=True):
        for part in cell if isinstance(cell, list) else [cell]:
            if isinstance(part, dict | list):
                what = f"{quoted(name)} holds an object or a list of lists"
            elif isinstance(part, str) and not _encodes(part):
                what = f"{quoted(name)} holds half of a surrogate pair"
            else:
                continue
            remarks.lose(number, "a field holds no text", what)
            return False
    return True


def _encodes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, dict | list):
        raise TypeError
    return "" if value is None else "true" if value is True else "false"


def _parse(line: str) -> tuple[dict[str, Any] | None, str]:
    """The object of a line, and what is wrong with it; neither for a blank line."""
    if not line or line.isspace():
        return None, ""
    try:
        value = _DECODER.decode(line)
    except (ValueError, RecursionError) as error:
        said = getattr(error, "msg", None) or str(error) or "nested too deeply"
        return None, f"this is not JSON: {said}"
    return (value, "") if isinstance(value, dict) else (None, "the line is not a JSON object")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key is given twice")
    return found


# numbers stay as they are written
_DECODER = json.JSONDecoder(
    parse_float=str, parse_int=str, parse_constant=str, object_pairs_hook=_object
)


def check_header(header: Sequence[str], name: str) -> None:
    """Refuse a header that is empty or is not text."""
    if not header:
        raise NongrataError("the file is empty: there is not even a header", where=name)
    if any("\0" in column for column in header):
        raise NongrataError(
            "the header holds NUL characters: this is no UTF-8 text (it may be UTF-16, or packed)",
            where=f"{name}:1",
            fix="save the file as UTF-8",
        )
