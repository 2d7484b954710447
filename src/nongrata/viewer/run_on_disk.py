"""A run as its files say it is now; read again when they have changed."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nongrata.answer_view import vocabulary_of
from nongrata.commit_list import COMMITS, CommitList, Shard
from nongrata.errors import NongrataError
from nongrata.manifest import FILE as MANIFEST
from nongrata.manifest import Manifest
from nongrata.plan import READINGS, Plan
from nongrata.run_files import files_in, is_file
from nongrata.run_folder import QUESTIONS, STUDY, RunContent, duplicates, read_content
from nongrata.run_path import is_remote, run_path
from nongrata.store import RESPONSES, Damage, Store

Signature = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class RunState:
    """A run at one moment; what it needs more than once is worked out once.

    Parameters
    ----------
    folder
        The run directory.
    manifest, content
        What its side files say.
    plan
        Which passes its cells send.
    shards
        Its committed shards, in order of name.
    damage
        Shards that are not what was committed, as far as they have been looked at.
    """

    folder: Path
    manifest: Manifest
    content: RunContent
    plan: Plan
    shards: tuple[Shard, ...]
    damage: tuple[Damage, ...]

    @cached_property
    def place_of(self) -> dict[str, int]:
        """Place of each question by its id."""
        return {question.id: place for place, question in enumerate(self.content.questions)}

    @cached_property
    def personas(self) -> dict[str, int]:
        """Place of each label by its id."""
        return {persona.id: place for place, persona in enumerate(self.content.personas)}

    @cached_property
    def levels(self) -> tuple[tuple[str, ...], ...]:
        """Levels of each configuration, by their ids."""
        configurations = self.content.study.configurations()
        return tuple(tuple(level.id for level in levels) for levels in configurations)

    @cached_property
    def repeated(self) -> NDArray[np.bool_]:
        """Which cells send what an earlier one sends, shape (personas, configurations)."""
        return duplicates(self.plan)

    @cached_property
    def passes_in_all(self) -> int:
        """Forward passes that one model's part of the study needs."""
        return sum(self.plan.size(reading) for reading in READINGS)

    @property
    def models(self) -> list[str]:
        """Ids of the models, in the study's order."""
        return [spec.id for spec in self.content.study.models]

    def paths(self, model: str) -> list[Path]:
        """A model's shards."""
        return [self.folder / RESPONSES / s.name for s in self.shards if s.model == model]

    def rows(self, model: str) -> int:
        """Number of stored passes of a model."""
        return sum(shard.rows for shard in self.shards if shard.model == model)

    def vocabulary(self, model: str) -> int | None:
        """Number of a model's tokens, if the run knows it."""
        return vocabulary_of(self.manifest, model)


class RunOnDisk:
    """A run directory of this machine that may grow while it is looked at.

    Parameters
    ----------
    folder
        The run directory.

    Raises
    ------
    NongrataError
        If it is no run, an imported table, or in an object store.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = run_path(folder)
        _refuse(self.folder)
        self._lock = threading.Lock()
        self._damage: tuple[tuple[Damage, tuple[int, int]], ...] = ()
        self._adopted: tuple[Shard, ...] = ()
        self._sides, self._commits = self._signature(), self._commit_signature()
        self._state = self._read(None)

    def now(self) -> RunState:
        """The run as it is; the same object as before unless a file has changed."""
        with self._lock:
            sides, commits = self._signature(), self._commit_signature()
            if sides != self._sides:
                self._state = self._read(None)
            elif commits != self._commits:
                self._state = self._read(self._state)
            self._sides, self._commits = sides, commits
            return self._state

    def verify(self) -> None:
        """Compare every shard with what was committed, which reads all of them."""
        # as they are before they are read: what is repaired meanwhile is not damaged
        stamps = {name: self._stamp(name) for name in files_in(self.folder / RESPONSES)}
        store = Store(self.folder)
        with self._lock:
            listed = {shard.name for shard in self._state.shards}
            self._damage = tuple((item, stamps.get(item.name, (0, 0))) for item in store.damage)
            self._adopted = tuple(s for s in store.shards.values() if s.name not in listed)
            if self._damage or self._adopted:
                self._state = self._read(self._state)

    def _read(self, before: RunState | None) -> RunState:
        if before is None:
            content = read_content(self.folder)
            manifest, plan = Manifest.read(self.folder), content.plan()
        else:
            manifest, content, plan = before.manifest, before.content, before.plan
        damage = tuple(item for item, stamp in self._damage if stamp == self._stamp(item.name))
        shards = self._shards({item.name for item in damage})
        return RunState(self.folder, manifest, content, plan, shards, damage)

    def _stamp(self, shard: str) -> tuple[int, int]:
        """Changes when a shard is written anew: what was damaged may have been repaired."""
        return _stamp(self.folder / RESPONSES / shard)

    def _shards(self, damaged: set[str]) -> tuple[Shard, ...]:
        """Shards that are entered and as long as they were; their content is not read here."""
        sizes = files_in(self.folder / RESPONSES)
        entered = {
            shard.name: shard
            for shard in (*self._adopted, *CommitList(self.folder).read())
            if sizes.get(shard.name) == shard.bytes
        }
        replaced = {shard.replaces for shard in entered.values()}
        return tuple(entered[name] for name in sorted(entered.keys() - replaced - damaged))

    def _signature(self) -> Signature:
        return tuple(_stamp(self.folder / name) for name in (MANIFEST, STUDY, QUESTIONS))

    def _commit_signature(self) -> Signature:
        return (_stamp(self.folder / COMMITS), _stamp(self.folder / "commits"))


def _stamp(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except OSError:
        return (0, 0)
    return (found.st_mtime_ns, found.st_size)


def _refuse(folder: Path) -> None:
    if is_remote(folder):
        raise NongrataError(
            "the viewer reads runs on this machine only",
            where=folder,
            fix="copy the run here, or ask for one question: nongrata show",
        )
    if is_file(folder / MANIFEST):
        return
    from nongrata.interop.imported import is_import  # only here: it loads much

    if is_import(folder):
        raise NongrataError(
            "an imported table holds no prompts and no texts to look at",
            where=folder,
            fix="see its results: nongrata analyze",
        )
    Manifest.read(folder)  # says that this is no run
