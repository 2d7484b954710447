"""Text files that may be packed: opened, watched, and refused in one sentence."""

from __future__ import annotations

import codecs
import gzip
import io
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from nongrata.errors import NongrataError

MOST_LINE = 64 * 2**20
"""Characters of a line: a file without line ends must not be taken into memory whole."""
MOST_UNPACKED = 64 * 2**30
"""Bytes that a packed file may unpack to."""
MOST_RATIO = 400
"""Times that a packed file may grow, once larger than `FREE`; text grows 5- to 50-fold."""
FREE = 2**30


class WatchedFile(io.RawIOBase):
    """The bytes of a file, unpacked, with a record of how far they were read.

    Parameters
    ----------
    path
        The file; one whose name ends in ``.gz`` is unpacked.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.size = check_is_file(path)
        self._raw = path.open("rb")
        self._bytes: io.BufferedReader | gzip.GzipFile = self._raw
        if path.suffix.lower() == ".gz":
            self._bytes = gzip.GzipFile(fileobj=self._raw)
        self._unpacked = 0

    def readable(self) -> bool:
        """Whether it can be read: yes."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Read the next bytes."""
        try:
            found = self._bytes.read(len(buffer))
        except (EOFError, gzip.BadGzipFile, zlib.error):
            raise NongrataError(
                "this gzip file is damaged or cut off", where=self.path, fix="get it again"
            ) from None
        self._unpacked += len(found)
        if self._bytes is not self._raw:
            self._refuse_bomb()
        buffer[: len(found)] = found
        return len(found)

    def _refuse_bomb(self) -> None:
        grown = self._unpacked > FREE and self._unpacked > MOST_RATIO * max(self.size, 1)
        if grown or self._unpacked > MOST_UNPACKED:
            raise NongrataError(
                f"the {self.size:,} bytes unpack to more than {self._unpacked:,}, which no table "
                "of answers does",
                where=self.path,
                fix="if it is one, unpack it and import the unpacked file",
            )

    @property
    def done(self) -> int:
        """Bytes of the file as it lies there that were read."""
        return self._raw.tell()

    def close(self) -> None:
        """Close the file."""
        if not self.closed:
            self._bytes.close()
            self._raw.close()
        super().close()


def check_is_file(path: Path) -> int:
    """Return the size of a file; refuse what is none, or empty."""
    try:
        if path.is_dir():
            raise NongrataError(
                "this is a folder, not a file", where=path, fix="name the table in it"
            )
        if not path.is_file():
            what = "this is no ordinary file" if path.exists() else "there is no such file"
            raise NongrataError(what, where=path, fix="name a .csv, .tsv, .jsonl or .parquet file")
        size = path.stat().st_size
        with path.open("rb"):
            pass
    except OSError as error:
        raise NongrataError(f"cannot be read: {error.strerror}", where=path) from None
    except ValueError:  # a NUL in the name
        raise NongrataError("there is no such file", where=path) from None
    if size == 0:
        raise NongrataError("the file is empty", where=path)
    return size


@contextmanager
def text_lines(path: Path, newline: str) -> Iterator[tuple[WatchedFile, Iterator[str]]]:
    r"""Open a UTF-8 file as lines with their ends; a byte order mark at its start goes.

    Parameters
    ----------
    path
        The file, packed or not.
    newline
        ``""``: lines end at ``\n``, ``\r`` or both; ``"\n"``: there alone.
    """
    watched = WatchedFile(path)
    with (
        watched,
        io.BufferedReader(watched, 2**20) as buffered,
        io.TextIOWrapper(buffered, "utf-8-sig", newline=newline) as text,
    ):
        yield watched, _lines(text, path)


def _lines(text: io.TextIOWrapper, path: Path) -> Iterator[str]:
    number = 0
    try:
        while line := text.readline(MOST_LINE):
            number += 1
            if len(line) >= MOST_LINE:
                raise NongrataError(
                    f"the line has more than {MOST_LINE:,} characters",
                    where=f"{path}:{number}",
                    fix="is this the file that was meant?",
                )
            yield line
    except UnicodeDecodeError:
        raise not_utf8(path) from None


def not_utf8(path: Path) -> NongrataError:
    """Say where a file stops being UTF-8, and what it may be instead."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    line, before = 1, 0
    with WatchedFile(path) as watched, io.BufferedReader(watched, 2**20) as buffered:
        start = buffered.peek(4)[:4]
        while chunk := buffered.read(2**16):
            state = len(decoder.getstate()[0])
            try:
                decoder.decode(chunk)
            except UnicodeDecodeError as error:
                at = error.start - state
                line += chunk[: max(at, 0)].count(b"\n")
                byte = error.object[error.start]
                return NongrataError(
                    f"byte 0x{byte:02x} (offset {before + at:,}) is not UTF-8; {_guess(start)}",
                    where=f"{path}:{line}",
                    fix="save the file as UTF-8",
                )
            line += chunk.count(b"\n")
            before += len(chunk)
    return NongrataError("the end of the file is not UTF-8", where=path, fix="get it again")


def _guess(start: bytes) -> str:
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "the file looks like UTF-16"
    return "the file may be Windows-1252 or Latin-1"


def sync(folder: Path) -> None:
    """See that the files of a folder, and their names, are on disk."""
    for path in folder.iterdir():
        _fsync(path)
    _fsync(folder)


def _fsync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def kind_of(path: Path) -> str:
    """Return the form that a table's name says: ``csv``, ``tsv``, ``jsonl`` or ``parquet``.

    Examples
    --------
    >>> kind_of(Path("answers.csv.gz"))
    'csv'
    """
    suffix = path.suffix.lower()
    packed = suffix == ".gz"
    if packed:
        suffix = Path(path.stem).suffix.lower()
    found = {
        ".csv": "csv",
        ".tsv": "tsv",
        ".tab": "tsv",
        ".jsonl": "jsonl",
        ".ndjson": "jsonl",
        ".parquet": "" if packed else "parquet",
        ".pq": "" if packed else "parquet",
    }.get(suffix, "")
    if not found:
        raise NongrataError(
            "the file's name does not say its form",
            where=path,
            fix="name it .csv, .tsv, .jsonl or .parquet (.csv.gz, .tsv.gz and .jsonl.gz will do)",
        )
    return found
