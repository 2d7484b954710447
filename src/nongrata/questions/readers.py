r"""Strict readers: bytes in, rows of untouched values out, each row with its place.

Nothing is guessed and nothing is trimmed: ``None``, ``Na``, ``TRUE``, ``0,1`` and a leading ``=``
are text. Lines end at ``\n`` and nowhere else, since real question texts hold U+0085, U+2028 and
form feeds; a byte order mark is taken off the start of a file, said so, and kept elsewhere.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nongrata.errors import NongrataError
from nongrata.questions.source import suggestion

BOM = "\ufeff"


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a file: its values by column, and where it stands.

    Examples
    --------
    >>> Row("q.csv", 7, {"answer": "B"}).where("answer")
    'q.csv:7, answer'
    """

    file: str
    line: int
    values: Mapping[str, Any]

    def where(self, column: str | None = None) -> str:
        """Name the row, or one field of it, for a message."""
        return f"{self.file}:{self.line}" + (f", {column}" if column else "")

    def value(self, column: str) -> Any:
        """Return a field's raw value; a missing column is told with a suggestion."""
        try:
            return self.values[column]
        except KeyError:
            raise NongrataError(
                f"the column '{column}' is missing",
                where=self.where(),
                fix=suggestion(column, tuple(self.values)),
            ) from None

    def text(self, column: str, *, empty: bool = True) -> str:
        """Return a field that must be text."""
        return check_text(self.value(column), self, column, empty=empty)


def check_text(value: object, row: Row, column: str, *, empty: bool = True) -> str:
    """Return `value` if it is text that can be stored and sent; refuse it otherwise.

    Parameters
    ----------
    value
        What the file holds.
    row, column
        Where it stands, for the message.
    empty
        Whether empty text will do.

    Examples
    --------
    >>> check_text("0,1", Row("q.csv", 2, {}), "choice0")
    '0,1'
    """
    if not isinstance(value, str):
        kind = "empty (null)" if value is None else f"{value!r:.40}, not text"
        raise NongrataError(
            f"the value is {kind}",
            where=row.where(column),
            fix="write it as text; numbers and booleans are not converted",
        )
    if not value and not empty:
        raise NongrataError("the text is empty", where=row.where(column), fix="fill it in")
    if "\0" in value:
        raise NongrataError(
            "the text holds a NUL character, which no model can be sent",
            where=row.where(column),
            fix="remove it",
        )
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise NongrataError(
                f"the text holds half of a surrogate pair at character {error.start + 1}",
                where=row.where(column),
                fix="write the whole character",
            ) from None
    return value


def read_bytes(path: Path) -> bytes:
    """Read a file, unpacked where its name ends in ``.gz``."""
    try:
        raw = path.read_bytes()
        return gzip.decompress(raw) if path.suffix == ".gz" else raw
    except FileNotFoundError:
        raise NongrataError("there is no such file", where=path) from None
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise NongrataError(
            "this gzip file is damaged or cut off", where=path, fix="get it again"
        ) from None
    except OSError as error:
        raise NongrataError(f"cannot be read: {error.strerror}", where=path) from None


def read_text(path: Path, notes: list[str]) -> str:
    """Read a UTF-8 text file; a byte order mark at its start goes, and `notes` says so."""
    raw = read_bytes(path)
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise NongrataError(
            f"byte 0x{raw[error.start]:02x} (offset {error.start}) is not UTF-8",
            where=f"{path}:{line}",
            fix="save the file as UTF-8",
        ) from None
    if text.startswith(BOM):
        notes.append(f"{path}: a byte order mark at the start of the file was removed")
        text = text[1:]
    return text


def jsonl_rows(path: Path, notes: list[str]) -> Iterator[Row]:
    r"""Yield the objects of a JSON Lines file, split on ``\n`` only; blank lines are skipped.

    Parameters
    ----------
    path
        A ``.jsonl`` or ``.jsonl.gz`` file.
    notes
        Receives what was noticed on the way.

    Raises
    ------
    NongrataError
        If a line is not one JSON object, or names a key twice.
    """
    for number, line in enumerate(read_text(path, notes).split("\n"), start=1):
        if not line or line.isspace():
            continue
        try:
            value = json.loads(line, object_pairs_hook=_object, parse_constant=_no_constant)
        except (ValueError, RecursionError) as error:
            what = getattr(error, "msg", None) or str(error) or "nested too deeply"
            raise NongrataError(f"this is not JSON: {what}", where=f"{path}:{number}") from None
        if not isinstance(value, dict):
            raise NongrataError(
                "the line is not a JSON object",
                where=f"{path}:{number}",
                fix="write one {...} a line",
            )
        yield Row(str(path), number, value)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key '{twice}' is given twice")
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON value")


def csv_cells(path: Path, notes: list[str]) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a CSV file as lists of text, with the line each begins at.

    Cells may hold quotes, line ends and commas if quoted as RFC 4180 has it. Empty lines are
    skipped.
    """
    reader = csv.reader(io.StringIO(read_text(path, notes), newline=""), strict=True)
    start = 1
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise NongrataError(
                f"this is not CSV: {error}",
                where=f"{path}:{start}",
                fix="quote the cell, and double the quotes inside it",
            ) from None
        if cells:
            yield start, cells
        start = reader.line_num + 1


def csv_rows(path: Path, notes: list[str]) -> Iterator[Row]:
    """Yield the rows of a CSV file with a header; every value is text.

    Raises
    ------
    NongrataError
        If the header is missing or names a column twice, or a row has too many or few cells.
    """
    rows = csv_cells(path, notes)
    _, header = next(rows, (1, []))
    if not header:
        raise NongrataError("the file is empty", where=path)
    for name in header:
        if header.count(name) > 1:
            raise NongrataError(
                f"the header names the column '{name}' twice", where=f"{path}:1", fix="rename one"
            )
    for line, cells in rows:
        if len(cells) != len(header):
            raise NongrataError(
                f"the row has {len(cells)} cells and the header {len(header)}",
                where=f"{path}:{line}",
                fix="quote cells that hold commas or line ends",
            )
        yield Row(str(path), line, dict(zip(header, cells, strict=True)))


def parquet_rows(path: Path) -> Iterator[Row]:
    """Yield the rows of a Parquet file; in place of a line, the number of the row from 1."""
    import polars as pl

    try:
        frame = pl.read_parquet(io.BytesIO(read_bytes(path)))
    except (OSError, pl.exceptions.PolarsError) as error:
        first = (str(error).splitlines() or ["unknown"])[0]
        raise NongrataError(f"this is not a readable Parquet file: {first}", where=path) from None
    for number, values in enumerate(frame.iter_rows(named=True), start=1):
        yield Row(str(path), number, values)


def table_rows(path: Path, notes: list[str]) -> Iterator[Row]:
    """Yield the rows of a CSV, JSON Lines or Parquet file, told apart by its name.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "q.csv"
    ...     _ = file.write_text("stem,key" + chr(10) + "1 + 1?,2")
    ...     [dict(row.values) for row in table_rows(file, [])]
    [{'stem': '1 + 1?', 'key': '2'}]
    """
    suffix = Path(path.stem).suffix if path.suffix == ".gz" else path.suffix
    if suffix == ".parquet":
        return parquet_rows(path)
    if suffix == ".csv":
        return csv_rows(path, notes)
    if suffix in {".jsonl", ".ndjson"}:
        return jsonl_rows(path, notes)
    raise NongrataError(
        "the file's name does not say its form",
        where=path,
        fix="name it .csv, .jsonl or .parquet (.csv.gz and .jsonl.gz will do)",
    )
