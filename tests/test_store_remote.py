"""The store in an object store: this process's memory, and a real S3 protocol server."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from nongrata import run_files
from nongrata.commit_list import COMMITS, FOLDER, CommitList, Shard
from nongrata.errors import NongrataError
from nongrata.run_files import files_in, read_bytes, read_table, remove, write_atomically
from nongrata.run_lock import exclusive
from nongrata.run_path import run_path
from nongrata.store import RESPONSES, Store, done_keys
from stores import in_memory, new_bucket, s3_server

# what the S3 libraries do when their threads end is theirs
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")


def rows(start: int, count: int, outcome: str = "answered") -> pa.Table:
    return pa.table(
        {
            "key_high": pa.array(np.arange(start, start + count, dtype=np.uint64)),
            "key_low": pa.array(np.full(count, 7, dtype=np.uint64)),
            "outcome": pa.array([outcome] * count).dictionary_encode(),
        }
    )


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with pytest.MonkeyPatch.context() as patch, s3_server(patch) as address:
        yield address


@pytest.fixture(params=["local", "memory", "s3"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    if request.param == "local":
        return tmp_path
    if request.param == "memory":
        return in_memory()
    request.getfixturevalue("server")
    return new_bucket()


def filled(folder: Path) -> Store:
    store = Store(folder)
    for start in (0, 10, 20):
        store.commit("m", rows(start, 10))
    return store


def test_what_is_committed_is_there_after_reopening(folder: Path) -> None:
    filled(folder)
    store = Store(folder)
    assert store.rows() == 30
    assert not store.damage
    assert len(done_keys(store.paths())) == 30
    table = read_table(store.paths()[0], ["outcome"])
    assert table.column_names == ["outcome"]


def test_the_same_block_from_another_process_is_a_no_op(folder: Path) -> None:
    one, two = Store(folder), Store(folder)  # neither knows of the other
    first = one.commit("m", rows(0, 10))
    # the second has other answers to the same requests: the first ones stay
    second = two.commit("m", rows(0, 10, "refused"))
    assert second == first
    again = Store(folder)
    assert again.rows() == 10
    assert not again.damage
    assert read_table(again.paths()[0])["outcome"].to_pylist() == ["answered"] * 10


def test_the_same_block_from_many_at_once_is_committed_once(folder: Path) -> None:
    start = threading.Barrier(8)
    stores = [Store(folder) for _ in range(8)]

    def commit(i: int) -> None:
        start.wait()
        stores[i].commit("m", rows(0, 10, f"outcome-{i}"))

    threads = [threading.Thread(target=commit, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    again = Store(folder)
    assert again.rows() == 10
    assert len(again.paths()) == 1
    assert not again.damage


def test_a_block_whose_file_was_damaged_meanwhile_is_written_again(folder: Path) -> None:
    path = filled(folder).paths()[0]
    start = int(read_table(path)["key_high"][0].as_py())
    content = bytearray(read_bytes(path))
    content[8] ^= 1
    write_atomically(path, bytes(content))
    store = Store(folder)
    assert [d.what for d in store.damage] == ["changed"]
    store.commit("m", rows(start, 10))
    again = Store(folder)
    assert again.rows() == 30
    assert not again.damage


@pytest.mark.parametrize("harm", ["missing", "truncated", "changed"])
def test_damage_is_named_repaired_and_set_aside(folder: Path, harm: str) -> None:
    path = filled(folder).paths()[1]
    content = bytearray(read_bytes(path))
    content[len(content) // 2] ^= 1
    if harm == "missing":
        remove(path)
    else:
        write_atomically(path, bytes(content if harm == "changed" else content[:50]))
    store = Store(folder)
    assert [(d.name, d.rows, d.what) for d in store.damage] == [(path.name, 10, harm)]
    store.repair()
    again = Store(folder)
    assert not again.damage
    assert again.rows() == 20
    aside = path.with_suffix(".damaged").name in files_in(folder / RESPONSES)
    assert aside == (harm != "missing")


def test_a_kill_before_the_entry_loses_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = filled(folder)

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(CommitList, "add", killed)
        with pytest.raises(KeyboardInterrupt):
            store.commit("m", rows(30, 10))
    store = Store(folder)
    assert store.rows() == 40  # adopted
    store.repair()
    store.commit("m", rows(40, 10))
    again = Store(folder)
    assert again.rows() == 50
    assert not again.damage
    assert len({shard.name for shard in CommitList(folder).read()}) == 5


def test_a_list_in_pieces_is_one_list(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nongrata.commit_list._SEGMENT", 3)
    one, two = CommitList(folder), CommitList(folder)
    shards = [Shard(f"m-{i:02}.parquet", "m", i, i, "00") for i in range(20)]
    for i, shard in enumerate(shards):
        (two if i % 5 == 0 else one).add(shard)
    assert sorted(CommitList(folder).read(), key=lambda s: s.name) == shards
    one.rewrite(shards[:7])
    assert sorted(CommitList(folder).read(), key=lambda s: s.name) == shards[:7]
    one.add(shards[7])
    assert len(CommitList(folder).read()) == 8


def test_a_run_may_be_copied_from_one_place_to_the_other(tmp_path: Path) -> None:
    far = in_memory()
    filled(far)
    for name in (RESPONSES, FOLDER):
        for file in files_in(far / name):
            write_atomically(tmp_path / name / file, read_bytes(far / name / file))
    store = Store(tmp_path)
    assert (store.rows(), store.damage) == (30, [])
    store.repair()
    assert not files_in(tmp_path / FOLDER)
    assert len((tmp_path / COMMITS).read_bytes().splitlines()) == 3
    back = in_memory()
    for file in files_in(tmp_path / RESPONSES):
        write_atomically(back / RESPONSES / file, read_bytes(tmp_path / RESPONSES / file))
    write_atomically(back / COMMITS, read_bytes(tmp_path / COMMITS))
    store = Store(back)
    assert (store.rows(), store.damage) == (30, [])
    store.repair()
    assert COMMITS not in files_in(back)
    assert CommitList(back).exists()


def test_errors_can_be_dropped_asked_again_and_fail_again(folder: Path) -> None:
    store = filled(folder)
    store.commit("m", pa.concat_tables([rows(40, 3), rows(50, 2, "error")]))
    for _ in range(3):  # a block of errors only gets the same name each time
        store.commit("m", rows(60, 4, "error"))
        assert Store(folder).rows() == store.rows()
        assert store.drop_errors("m") in {4, 6}
    store.commit("m", rows(60, 4))
    again = Store(folder)
    assert again.rows() == 37
    assert not again.damage
    assert not done_keys(again.paths()).duplicates()


def test_a_commit_asks_whether_the_run_is_still_held(folder: Path) -> None:
    class Lost:
        def check(self) -> None:
            raise NongrataError("this run was taken over")

    store = Store(folder, Lost())
    with pytest.raises(NongrataError, match="taken over"):
        store.commit("m", rows(0, 10))
    assert Store(folder).rows() == 0


def test_large_shards_are_read_in_pieces(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_files, "_SMALL", 64)
    store = filled(folder)
    assert len(done_keys(store.paths())) == 30
    assert not Store(folder).damage


HOLD = """
import sys
from nongrata.run_lock import exclusive
from nongrata.run_path import run_path
from nongrata.store import Store
sys.path.insert(0, sys.argv[2])
from test_store_remote import rows
with exclusive(run_path(sys.argv[1])) as hold:
    store = Store(run_path(sys.argv[1]), hold)
    store.commit("m", rows(0, 10))
    print("held", flush=True)
    sys.stdin.read()
"""


def test_two_processes_and_a_kill(server: str) -> None:
    folder = new_bucket()
    command = [sys.executable, "-W", "ignore", "-c", HOLD, str(folder), str(Path(__file__).parent)]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=dict(os.environ)
    )
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        with (
            pytest.raises(NongrataError, match=f"written by process {process.pid} on "),
            exclusive(folder),
        ):
            pass
        process.kill()
        process.communicate()
    notes: list[str] = []
    with exclusive(folder, notes.append) as hold:  # no need to wait: it ran on this machine
        store = Store(folder, hold)
        assert store.rows() == 10
        store.commit("m", rows(0, 10))
        assert store.rows() == 10
    assert "which is gone: taken over" in notes[0]
    assert not [name for name in files_in(folder) if "lock" in name]


@pytest.mark.usefixtures("server")
def test_a_bucket_that_is_not_there_is_one_sentence() -> None:
    with pytest.raises(NongrataError, match="there is no such bucket"):
        Store(run_path("s3://no-such-bucket-here/run")).commit("m", rows(0, 1))


def test_no_credentials_and_no_network_are_one_sentence(
    server: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    import s3fs

    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    folder = new_bucket()
    with monkeypatch.context() as patch:
        patch.delenv("AWS_ACCESS_KEY_ID")
        patch.delenv("AWS_SECRET_ACCESS_KEY")
        s3fs.S3FileSystem.clear_instance_cache()
        with pytest.raises(NongrataError, match="no usable credentials"):
            Store(run_path(str(folder))).commit("m", rows(0, 1))
    with monkeypatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
        patch.setenv("AWS_MAX_ATTEMPTS", "1")
        s3fs.S3FileSystem.clear_instance_cache()
        with pytest.raises(NongrataError, match="cannot be reached"):
            Store(run_path(str(folder)))
    s3fs.S3FileSystem.clear_instance_cache()


def test_an_entry_holds_what_is_needed_to_check_a_shard(folder: Path) -> None:
    shard = Store(folder).commit("m", rows(0, 10))
    assert CommitList(folder).read() == [shard]
    assert json.loads(json.dumps(asdict(shard)))["rows"] == 10
