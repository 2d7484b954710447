"""A run directory on disk: append-only Parquet shards; what is done is what is committed.

A shard appears under its final name only when it is complete and on disk (written beside it,
flushed, renamed; or uploaded to an object store), and is then entered into the list of commits with
its size and hash. So at any moment, after any kill, each shard is whole or absent. Its name derives
from the keys of its rows, so the same block cannot be committed twice. Opening a store compares the
two: a shard that is entered but gone or changed is *named*, its rows count as not done, and
rerunning the study does them again; a whole shard that was never entered (the kill came between) is
adopted.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nongrata.commit_list import COMMITS, CommitList, Shard
from nongrata.run_files import (
    create,
    disk_error,
    file_hash,
    files_in,
    for_each,
    open_file,
    read_table,
    remove,
    set_aside,
    write_atomically,
)
from nongrata.run_lock import LOCK, Hold, LocalHold, exclusive
from nongrata.run_path import is_remote

__all__ = [
    "COMMITS",
    "LOCK",
    "Damage",
    "DoneKeys",
    "Shard",
    "Store",
    "disk_error",
    "done_keys",
    "exclusive",
    "write_atomically",
]

RESPONSES = "responses"
SUFFIX = ".parquet"


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
    hold
        That it is held, asked before every commit; needed only to write where others may write.

    Attributes
    ----------
    shards
        Committed shards that are whole, by name.
    damage
        Committed shards that are not.
    """

    def __init__(self, folder: Path, hold: Hold | None = None) -> None:
        self.folder = folder
        self.responses = folder / RESPONSES
        self.shards: dict[str, Shard] = {}
        self.damage: list[Damage] = []
        self._hold = hold or LocalHold()
        self._commits = CommitList(folder)
        self._scan()

    def _scan(self) -> None:
        entered: dict[str, list[Shard]] = {}
        for shard in self._commits.read():
            entered.setdefault(shard.name, []).append(shard)
        found = files_in(self.responses)
        present = {name: size for name, size in found.items() if name.endswith(SUFFIX)}
        names = sorted(present)
        looked_at = for_each(
            [self.responses / name for name in names],
            lambda path: self._look(path, present[path.name], entered.get(path.name, [])),
        )
        whole = dict(zip(names, looked_at, strict=True))
        replaced = {shard.replaces for shard in whole.values() if isinstance(shard, Shard)}
        for name in sorted((entered.keys() | present.keys()) - replaced):
            state = whole.get(name, "missing")
            if isinstance(state, Shard):
                self.shards[name] = state
            else:
                rows = entered[name][-1].rows if name in entered else 0
                self.damage.append(Damage(name, rows, state))

    @staticmethod
    def _look(path: Path, size: int, entered: list[Shard]) -> Shard | str:
        """The shard, if it is one that was committed, or what is wrong with it."""
        if not entered:
            return _describe(path) or "not a whole Parquet file"
        likely = [shard for shard in entered if shard.bytes == size]
        if not likely:
            return "truncated"
        digest = file_hash(path, "blake2b")
        return next((shard for shard in likely if shard.blake2b == digest), "changed")

    def repair(self) -> None:
        """Set damaged shards aside and rewrite the list of commits to what is whole."""
        there = files_in(self.responses)
        if not there and not self.damage and not self._commits.exists():
            return
        for damaged in self.damage:
            if damaged.name in there:
                path = self.responses / damaged.name
                set_aside(path, path.with_suffix(".damaged").name)
        self._commits.rewrite(self.shards.values())
        for shard in self.shards.values():
            if shard.replaces in there:
                remove(self.responses / shard.replaces)
        for name in there:
            if name.endswith(".tmp"):
                remove(self.responses / name)
        self.damage = []

    def commit(self, model: str, table: Any, *, replaces: str | None = None) -> Shard:
        """Write a table of responses as one shard and enter it; afterwards it survives a kill.

        A block that is committed already, by this process or another, stays as it is.

        Parameters
        ----------
        model
            Id of the model that answered.
        table
            A ``pyarrow.Table`` with the columns ``key_high`` and ``key_low`` among others. The
            shard's name derives from its keys, so the same rows always get the same name.
        replaces
            Name of a shard whose rows these are to replace.

        Returns
        -------
        Shard
            What is committed of these keys.
        """
        keys = hashlib.blake2b((replaces or "").encode(), digest_size=8)
        for column in ("key_high", "key_low"):
            keys.update(table[column].combine_chunks().to_numpy().tobytes())
        name = f"{model}-{keys.hexdigest()}{SUFFIX}"
        if name in self.shards:
            return self.shards[name]
        self._hold.check()
        content = _encoded(model, table, replaces)
        digest = hashlib.blake2b(content, digest_size=32).hexdigest()
        shard = Shard(name, model, table.num_rows, len(content), digest, replaces)
        if not self._write(self.responses / name, content):
            # another process was first: what it wrote stays
            shard = _describe(self.responses / name) or shard
        self._commits.add(shard)
        self.shards[name] = shard
        if replaces:
            self.shards.pop(replaces, None)
        return shard

    def _write(self, path: Path, content: memoryview) -> bool:
        """Write a shard; False if a whole one of that name is there."""
        damaged = any(item.name == path.name for item in self.damage)
        if is_remote(path):
            if not damaged and create(path, bytes(content)):
                return True
            there = not damaged
        else:
            there = not damaged and path.exists()
        if there and _describe(path) is not None:
            return False
        write_atomically(path, content)
        return True

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

        dropped, empty = 0, []
        for path in self.paths(model):
            table = read_table(path)
            bad = pc.equal(pc.cast(table["outcome"], "string"), "error")
            bad = pc.fill_null(bad, fill_value=False)
            count = pc.sum(bad).as_py() or 0
            dropped += count
            if count == table.num_rows and count:
                # nothing is left to replace it; and the same keys, asked again, must be free to
                # have its name again
                empty.append(path)
                del self.shards[path.name]
            elif count:
                self.commit(model, table.filter(pc.invert(bad)), replaces=path.name)
        if dropped:
            self.repair()  # from here on the list does not name them
            for path in empty:
                remove(path)
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

    def read(path: Path) -> NDArray[np.uint64]:
        table = read_table(path, ["key_high", "key_low"])
        return np.stack([table["key_high"].to_numpy(), table["key_low"].to_numpy()], axis=1)

    parts = for_each(list(paths), read)
    keys = np.concatenate(parts) if parts else np.zeros((0, 2), dtype=np.uint64)
    return DoneKeys(keys.astype(np.uint64, copy=False))


def _encoded(model: str, table: Any, replaces: str | None) -> memoryview:
    """A shard's content."""
    import pyarrow as pa
    import pyarrow.parquet as pq

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
    return memoryview(sink.getvalue())


def _describe(path: Path) -> Shard | None:
    """Describe a shard from itself, or None if it is not whole."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with open_file(path) as handle:
            metadata = pq.read_metadata(handle)
            size = handle.seek(0, 2)
        notes = metadata.metadata or {}
        model = notes[b"nongrata.model"].decode()
        replaces = notes.get(b"nongrata.replaces", b"").decode() or None
    except (pa.ArrowException, OSError, KeyError, ValueError):
        return None
    return Shard(path.name, model, metadata.num_rows, size, file_hash(path, "blake2b"), replaces)


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
