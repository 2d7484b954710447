"""The list of what is committed: one entry a shard, with its size and hash.

On a local disk it is ``commits.jsonl``, appended to. An object store cannot append; there it is a
few objects ``commits/*.jsonl``, of which each writer rewrites only its own newest one, at most
`_SEGMENT` entries long. So an entry costs one small upload, reading takes few requests at
thousands of shards, and no writer can undo another's entries. Either form is read everywhere:
a run may be copied from one place to the other.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from nongrata.run_files import append, files_in, for_each, read_bytes, remove, write_atomically
from nongrata.run_path import is_remote

COMMITS = "commits.jsonl"
FOLDER = "commits"
_SEGMENT = 64


@dataclass(frozen=True, slots=True)
class Shard:
    """One committed file of responses.

    Parameters
    ----------
    name
        File name inside ``responses/``.
    model
        Id of the model that answered.
    rows
        Number of rows.
    bytes
        Size of the file.
    blake2b
        256-bit hash of the file, hexadecimal.
    replaces
        Name of an earlier shard whose rows this one holds instead.
    """

    name: str
    model: str
    rows: int
    bytes: int
    blake2b: str
    replaces: str | None = None


class CommitList:
    """The commits of a run directory.

    Parameters
    ----------
    folder
        The run directory.

    Examples
    --------
    >>> from nongrata.run_path import run_path
    >>> commits = CommitList(run_path("memory://doctest/commits"))
    >>> commits.add(Shard("m-1.parquet", "m", 10, 100, "00"))
    >>> [shard.name for shard in CommitList(commits.folder).read()]
    ['m-1.parquet']
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._writer = uuid.uuid4().hex[:12]
        self._number = 0
        self._segment: list[Shard] = []

    def exists(self) -> bool:
        """Whether there is a list."""
        return bool(self._files())

    def read(self) -> list[Shard]:
        """Every entry, of either form; a shard may be entered twice."""
        found: list[Shard] = []
        for content in for_each(self._files(), _read):
            for line in content.split(b"\n"):
                try:
                    found.append(Shard(**json.loads(line)))
                except (ValueError, TypeError):
                    # the last line of a process that was killed while writing it; its shard is
                    # whole and gets adopted
                    continue
        return found

    def add(self, shard: Shard) -> None:
        """Enter a shard; afterwards the entry survives a kill."""
        if not is_remote(self.folder):
            append(self.folder / COMMITS, _lines([shard]))
            return
        if len(self._segment) >= _SEGMENT:
            self._segment = []
        if not self._segment:
            self._number += 1
        self._segment.append(shard)
        write_atomically(self._own(self._number), _lines(self._segment))

    def rewrite(self, shards: Iterable[Shard]) -> None:
        """Replace the list by the given entries."""
        old = self._files()
        if is_remote(self.folder):
            self._number, self._segment = self._number + 1, []
            new = self._own(self._number)
        else:
            new = self.folder / COMMITS
        # what is whole is in the new list before any old one goes
        write_atomically(new, _lines(shards))
        for path in old:
            if path.name != new.name:
                remove(path)

    def _files(self) -> list[Path]:
        found = [self.folder / FOLDER / name for name in sorted(files_in(self.folder / FOLDER))]
        whole = [path for path in found if path.suffix == ".jsonl"]
        if COMMITS in files_in(self.folder):
            whole.insert(0, self.folder / COMMITS)
        return whole

    def _own(self, number: int) -> Path:
        return self.folder / FOLDER / f"{self._writer}-{number:06}.jsonl"


def _read(path: Path) -> bytes:
    try:
        return read_bytes(path)
    except FileNotFoundError:  # another process has just rewritten the list
        return b""


def _lines(shards: Iterable[Shard]) -> bytes:
    return b"".join(json.dumps(asdict(shard)).encode() + b"\n" for shard in shards)
