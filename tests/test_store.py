from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nongrata.errors import NongrataError
from nongrata.store import LOCK, DoneKeys, Store, done_keys, exclusive, write_atomically


def rows(start: int, count: int, outcome: str = "answered") -> pa.Table:
    return pa.table(
        {
            "key_high": pa.array(np.arange(start, start + count, dtype=np.uint64)),
            "key_low": pa.array(np.full(count, 7, dtype=np.uint64)),
            "outcome": pa.array([outcome] * count).dictionary_encode(),
        }
    )


def filled(folder: Path) -> Store:
    store = Store(folder)
    for start in (0, 10, 20):
        store.commit("m", rows(start, 10))
    return store


def test_what_is_committed_is_there_after_reopening(tmp_path: Path) -> None:
    filled(tmp_path)
    store = Store(tmp_path)
    assert store.rows() == 30
    assert not store.damage
    assert len(done_keys(store.paths())) == 30


def test_the_same_rows_always_get_the_same_name(tmp_path: Path) -> None:
    store = Store(tmp_path)
    first, second = store.commit("m", rows(0, 5)), store.commit("m", rows(0, 5))
    assert first == second
    assert Store(tmp_path).rows() == 5


def test_a_deleted_shard_is_named_and_its_rows_are_not_done(tmp_path: Path) -> None:
    path = filled(tmp_path).paths()[1]
    path.unlink()
    store = Store(tmp_path)
    assert [(d.name, d.rows, d.what) for d in store.damage] == [(path.name, 10, "missing")]
    assert len(done_keys(store.paths())) == 20


@pytest.mark.parametrize("keep", [0, 1, 100, -1])
def test_a_truncated_shard_is_named(tmp_path: Path, keep: int) -> None:
    path = filled(tmp_path).paths()[0]
    path.write_bytes(path.read_bytes()[:keep])
    store = Store(tmp_path)
    assert [(d.name, d.what) for d in store.damage] == [(path.name, "truncated")]
    store.repair()
    again = Store(tmp_path)
    assert not again.damage
    assert again.rows() == 20
    assert path.with_suffix(".damaged").exists()  # set aside, never thrown away


def test_a_changed_byte_is_found(tmp_path: Path) -> None:
    path = filled(tmp_path).paths()[0]
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    assert [d.what for d in Store(tmp_path).damage] == ["changed"]


def test_a_shard_that_was_not_entered_any_more_is_adopted(tmp_path: Path) -> None:
    filled(tmp_path)
    commits = tmp_path / "commits.jsonl"
    lines = commits.read_bytes().splitlines(keepends=True)
    commits.write_bytes(b"".join(lines[:2]) + lines[2][:15])  # the kill came in the middle
    store = Store(tmp_path)
    assert store.rows() == 30
    store.repair()
    store.commit("m", rows(30, 10))
    again = Store(tmp_path)
    assert again.rows() == 40
    assert not again.damage
    assert all(json.loads(line) for line in commits.read_bytes().splitlines())


def test_errors_can_be_dropped_and_nothing_else(tmp_path: Path) -> None:
    store = filled(tmp_path)
    store.commit("m", pa.concat_tables([rows(40, 3), rows(50, 2, "error")]))
    store.commit("m", rows(60, 4, "error"))
    assert store.drop_errors("m") == 6
    again = Store(tmp_path)
    assert again.rows() == 33
    assert not again.damage
    assert not done_keys(again.paths()).duplicates()


def test_a_kill_while_dropping_errors_leaves_nothing_twice(tmp_path: Path) -> None:
    store = Store(tmp_path)
    shard = store.commit("m", pa.concat_tables([rows(0, 3), rows(10, 2, "error")]))
    content = (tmp_path / "responses" / shard.name).read_bytes()
    store.drop_errors("m")
    (tmp_path / "responses" / shard.name).write_bytes(content)  # as if not yet removed
    again = Store(tmp_path)
    assert again.rows() == 3
    assert not again.damage


@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5))),
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5))),
)
def test_membership_of_keys(done: list[tuple[int, int]], asked: list[tuple[int, int]]) -> None:
    keys = DoneKeys(np.array(done, dtype=np.uint64).reshape(-1, 2))
    found = keys.contains(np.array(asked, dtype=np.uint64).reshape(-1, 2))
    assert found.tolist() == [key in done for key in asked]
    assert keys.duplicates() == len(done) - len(set(done))


HOLD = """
import sys
from pathlib import Path
from nongrata.store import exclusive
with exclusive(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_second_process_is_told_who_holds_the_run(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        with (
            pytest.raises(NongrataError, match=f"written by process {process.pid}"),
            exclusive(tmp_path),
        ):
            pass
        process.communicate("")
    with exclusive(tmp_path):
        assert str(os.getpid()) in (tmp_path / LOCK).read_text()


def test_a_full_disk_is_one_sentence_and_leaves_nothing_half_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = filled(tmp_path)

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(NongrataError, match="the disk is full"):
            store.commit("m", rows(90, 10))
        with pytest.raises(NongrataError, match="the disk is full"):
            write_atomically(tmp_path / "manifest.json", b"x")
    assert not list(tmp_path.rglob("*.tmp"))
    assert Store(tmp_path).rows() == 30
