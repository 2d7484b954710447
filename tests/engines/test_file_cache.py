"""Files in the cache are whole or absent."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from nongrata.engines.file_cache import (
    cache_folder,
    exclusive,
    remembered_sha256,
    replacing,
    sha256_of,
)
from nongrata.errors import NongrataError


def test_the_cache_folder_follows_the_xdg_rules(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "nongrata"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert cache_folder() == tmp_path / "home" / ".cache" / "nongrata"


def test_a_hash_is_computed_again_when_the_file_changes(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"one")
    assert remembered_sha256(file, tmp_path / "c") == hashlib.sha256(b"one").hexdigest()
    file.write_bytes(b"two")
    os.utime(file, ns=(1, 1))
    assert remembered_sha256(file, tmp_path / "c") == hashlib.sha256(b"two").hexdigest()


def test_a_hash_is_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"one")
    first = remembered_sha256(file, tmp_path / "c")
    monkeypatch.setattr("nongrata.engines.file_cache.sha256_of", lambda _: "computed again")
    assert remembered_sha256(file, tmp_path / "c") == first


@pytest.mark.parametrize("note", ["", "[]", "{}", "null", '{"state": 1}'])
def test_a_damaged_note_is_ignored(tmp_path: Path, note: str) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"one")
    expected = remembered_sha256(file, tmp_path / "c")
    for path in (tmp_path / "c" / "sha256").iterdir():
        path.write_text(note)
    assert remembered_sha256(file, tmp_path / "c") == expected


def test_a_missing_file_is_a_clear_error(tmp_path: Path) -> None:
    for read in (sha256_of, lambda path: remembered_sha256(path, tmp_path)):
        with pytest.raises(NongrataError, match="cannot read the file"):
            read(tmp_path / "none")


def test_a_failed_replacement_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    target = tmp_path / "file"
    target.write_text("old")

    def fail() -> None:
        with replacing(target) as draft:
            draft.write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert target.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_the_lock_can_be_taken_again_after_a_failure(tmp_path: Path) -> None:
    for _ in range(2):
        with pytest.raises(RuntimeError), exclusive(tmp_path / "file"):
            raise RuntimeError
