"""A run directory on disk: append-only Parquet shards; what is done is what is committed.

A shard appears under its final name only when it is complete and on disk (written beside it,
flushed, renamed), and is then entered into ``commits.jsonl`` with its size and hash. So at any
moment, after any kill, each shard is whole or absent. Opening a store compares the two: a shard
that is entered but gone or changed is *named*, its rows count as not done, and rerunning the study
does them again; a whole shard that was never entered (the kill came between) is adopted.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nongrata.errors import NongrataError

RESPONSES = "responses"
COMMITS = "commits.jsonl"
LOCK = ".nongrata.lock"
SUFFIX = ".parquet"


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


@dataclass(frozen=True, slots=True)
class Damage:
    """A shard that was committed and is not there any more as it was.

    Parameters
    ----------
    name
        Its file name.
    rows
        How many answers it held.
    what
        ``"missing"``, ``"truncated"`` or ``"changed"``.
    """

    name: str
    rows: int
    what: str


class Store:
    """The responses of one run directory.

    Parameters
    ----------
    folder
        The run directory.

    Attributes
    ----------
    shards
        Committed shards that are whole, by name.
    damage
        Committed shards that are not.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.responses = folder / RESPONSES
        self.shards: dict[str, Shard] = {}
        self.damage: list[Damage] = []
        self._scan()

    def _scan(self) -> None:
        entered = {shard.name: shard for shard in self._read_commits()}
        present = (
            {path.name: path for path in self.responses.iterdir() if path.suffix == SUFFIX}
            if self.responses.is_dir()
            else {}
        )
        for name, unlisted in present.items():
            if name not in entered and (found := _describe(unlisted)) is not None:
                entered[name] = found
        replaced = {shard.replaces for shard in entered.values() if shard.name in present}
        for name in sorted((entered.keys() | present.keys()) - replaced):
            shard, path = entered.get(name), present.get(name)
            if path is None:
                assert shard is not None
                self.damage.append(Damage(name, shard.rows, "missing"))
            elif shard is None:
                self.damage.append(Damage(name, 0, "not a whole Parquet file"))
            elif path.stat().st_size != shard.bytes:
                self.damage.append(Damage(name, shard.rows, "truncated"))
            elif _file_hash(path) != shard.blake2b:
                self.damage.append(Damage(name, shard.rows, "changed"))
            else:
                self.shards[name] = shard

    def _read_commits(self) -> Iterator[Shard]:
        path = self.folder / COMMITS
        if not path.is_file():
            return
        for line in path.read_bytes().split(b"\n"):
            try:
                entry = json.loads(line)
                yield Shard(**entry)
            except (ValueError, TypeError):
                # the last line of a process that was killed while writing it; its shard is whole
                # and gets adopted
                continue

    def repair(self) -> None:
        """Set damaged shards aside and rewrite the list of commits to what is whole."""
        if not self.responses.is_dir():
            return
        for damaged in self.damage:
            path = self.responses / damaged.name
            if path.exists():
                path.replace(path.with_suffix(".damaged"))
        for shard in self.shards.values():
            if shard.replaces:
                (self.responses / shard.replaces).unlink(missing_ok=True)
        for leftover in self.responses.glob("*.tmp"):
            leftover.unlink()
        text = "".join(_entry(shard) for shard in self.shards.values())
        write_atomically(self.folder / COMMITS, text.encode())
        self.damage = []

    def commit(self, model: str, table: Any, *, replaces: str | None = None) -> Shard:
        """Write a table of responses as one shard and enter it; afterwards it survives a kill.

        Parameters
        ----------
        model
            Id of the model that answered.
        table
            A ``pyarrow.Table`` with the columns ``key_high`` and ``key_low`` among others. The
            shard's name derives from its keys, so the same rows always get the same name.
        replaces
            Name of a shard whose rows these are to replace.
        """
        import pyarrow as pa
        import pyarrow.parquet as pq

        keys = hashlib.blake2b((replaces or "").encode(), digest_size=8)
        for column in ("key_high", "key_low"):
            keys.update(table[column].combine_chunks().to_numpy().tobytes())
        name = f"{model}-{keys.hexdigest()}{SUFFIX}"
        path = self.responses / name
        sink = pa.BufferOutputStream()
        metadata = {b"nongrata.model": model.encode()}
        if replaces:
            metadata[b"nongrata.replaces"] = replaces.encode()
        pq.write_table(
            table.replace_schema_metadata(metadata),
            sink,
            compression="zstd",
            compression_level=1,
            use_dictionary=_dictionary_columns(table),
            write_statistics=False,
        )
        content = sink.getvalue()
        write_atomically(path, memoryview(content))
        digest = hashlib.blake2b(content, digest_size=32).hexdigest()
        shard = Shard(name, model, table.num_rows, len(content), digest, replaces)
        _append(self.folder / COMMITS, _entry(shard).encode())
        self.shards[name] = shard
        if replaces:
            self.shards.pop(replaces, None)
        return shard

    def paths(self, model: str | None = None) -> list[Path]:
        """Files of the whole shards, of one model or of all, in order of name."""
        return [
            self.responses / shard.name
            for shard in sorted(self.shards.values(), key=lambda shard: shard.name)
            if model is None or shard.model == model
        ]

    def rows(self, model: str | None = None) -> int:
        """Number of committed rows."""
        return sum(s.rows for s in self.shards.values() if model is None or s.model == model)

    def drop_errors(self, model: str) -> int:
        """Rewrite a model's shards without their error rows; return how many were dropped.

        Each rewritten shard says which one it replaces, so a kill in between loses nothing and
        leaves nothing twice.
        """
        import pyarrow.compute as pc
        import pyarrow.parquet as pq

        dropped = 0
        for path in self.paths(model):
            table = pq.read_table(path)
            bad = pc.equal(pc.cast(table["outcome"], "string"), "error")
            bad = pc.fill_null(bad, fill_value=False)
            count = pc.sum(bad).as_py() or 0
            if count:
                dropped += count
                self.commit(model, table.filter(pc.invert(bad)), replaces=path.name)
        if dropped:
            self.repair()
        return dropped


class DoneKeys:
    """The set of request keys that are committed, for fast membership of many at once.

    Parameters
    ----------
    keys
        uint64, shape (n, 2), in any order.

    Examples
    --------
    >>> done = DoneKeys(np.array([[3, 1], [1, 2]], dtype=np.uint64))
    >>> done.contains(np.array([[1, 2], [1, 3]], dtype=np.uint64)).tolist()
    [True, False]
    """

    def __init__(self, keys: NDArray[np.uint64]) -> None:
        order = np.lexsort((keys[:, 1], keys[:, 0]))
        self._high = keys[order, 0]
        self._low = keys[order, 1]

    def __len__(self) -> int:
        return len(self._high)

    def contains(self, keys: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Whether each key is in the set; shape (n,)."""
        if not len(self._high):
            return np.zeros(len(keys), dtype=np.bool_)
        place = np.searchsorted(self._high, keys[:, 0])
        found = np.zeros(len(keys), dtype=np.bool_)
        # equal high words are next to each other; in practice there is at most one
        while True:
            inside = np.minimum(place, len(self._high) - 1)
            same = (place < len(self._high)) & (self._high[inside] == keys[:, 0])
            found |= same & (self._low[inside] == keys[:, 1])
            if not (same & ~found).any():
                return found
            place = place + 1

    def duplicates(self) -> int:
        """How many keys occur more than once, counted without the first of each."""
        same = (self._high[1:] == self._high[:-1]) & (self._low[1:] == self._low[:-1])
        return int(same.sum())


def done_keys(paths: Iterable[Path]) -> DoneKeys:
    """Keys of all rows of the given shards."""
    import pyarrow.parquet as pq

    parts = []
    for path in paths:
        table = pq.read_table(path, columns=["key_high", "key_low"])
        parts.append(np.stack([table["key_high"].to_numpy(), table["key_low"].to_numpy()], axis=1))
    keys = np.concatenate(parts) if parts else np.zeros((0, 2), dtype=np.uint64)
    return DoneKeys(keys.astype(np.uint64, copy=False))


@contextmanager
def exclusive(folder: Path) -> Iterator[None]:
    """Hold a run directory for writing; a second process is told who holds it.

    The lock is the operating system's, so it goes with the process, however that ends.
    """
    path = folder / LOCK
    try:
        opened = path.open("a+")
    except OSError as error:
        raise disk_error(error, path) from None
    with opened as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            handle.seek(0)
            holder = handle.read().strip() or "another process"
            raise NongrataError(
                f"this run is being written by {holder}",
                where=folder,
                fix="wait for it to end, or give another --out",
            ) from None
        handle.seek(0)
        handle.truncate()
        handle.write(f"process {os.getpid()}\n")
        handle.flush()
        yield


def write_atomically(path: Path, content: bytes | memoryview) -> None:
    """Write a whole file or nothing: beside it, flushed to disk, then renamed over it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as handle:
            handle.write(content)
            handle.flush()
            os.fsync(handle.fileno())
        temporary.replace(path)
        _sync_folder(path.parent)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise disk_error(error, path) from error


def disk_error(error: OSError, path: Path) -> NongrataError:
    """One sentence for a write that the disk refused."""
    full = error.errno in {errno.ENOSPC, errno.EDQUOT}
    return NongrataError(
        "the disk is full" if full else f"cannot be written: {error.strerror}",
        where=path,
        fix="free some space and run the same command again; what was committed is kept"
        if full
        else "check the folder's permissions and run the same command again",
    )


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _append(path: Path, line: bytes) -> None:
    try:
        with path.open("ab") as handle:
            handle.write(line)
            handle.flush()
            os.fsync(handle.fileno())
    except OSError as error:
        raise disk_error(error, path) from error


def _entry(shard: Shard) -> str:
    fields: Mapping[str, Any] = {
        "name": shard.name,
        "model": shard.model,
        "rows": shard.rows,
        "bytes": shard.bytes,
        "blake2b": shard.blake2b,
        "replaces": shard.replaces,
    }
    return json.dumps(fields) + "\n"


def _file_hash(path: Path) -> str:
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, lambda: hashlib.blake2b(digest_size=32)).hexdigest()


def _describe(path: Path) -> Shard | None:
    """Describe a shard from itself, or None if it is not whole."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        metadata = pq.read_metadata(path)
        notes = metadata.metadata or {}
        model = notes[b"nongrata.model"].decode()
        replaces = notes.get(b"nongrata.replaces", b"").decode() or None
    except (pa.ArrowException, OSError, KeyError, ValueError):
        return None
    size = path.stat().st_size
    return Shard(path.name, model, metadata.num_rows, size, _file_hash(path), replaces)


def _dictionary_columns(table: Any) -> list[str]:
    # keys, probabilities and digests are all distinct: a dictionary would only cost
    distinct = {
        "key_high",
        "key_low",
        "prompt_digest",
        "tail_mass",
        "label_logprobs",
        "other_logprobs",
    }
    return [name for name in table.column_names if name not in distinct]
