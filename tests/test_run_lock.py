from __future__ import annotations

import json
import os
import threading
import time
import uuid
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from nongrata.errors import NongrataError
from nongrata.run_files import files_in, read_bytes, remove, write_atomically
from nongrata.run_lock import LOCK, Holder, Patience, StoreHold, exclusive
from nongrata.run_path import run_path

pytest.importorskip("upath", reason="needs universal-pathlib")
QUICK = Patience(beat=0.05, lease=0.4, stale=1.2, watch=0.2, settle=0.05)


@pytest.fixture
def folder() -> Path:
    return run_path(f"memory://{uuid.uuid4().hex}/run")


def held_by(folder: Path, **changes: Any) -> Holder:
    """A lock as another process on another machine has left it."""
    holder = Holder("0abc", 17, "node-7", "another boot", 99, "2026-01-01T00:00:00+00:00")
    holder = replace(holder, **changes)
    write_atomically(folder / LOCK, json.dumps(asdict(holder)).encode())
    return holder


def test_a_lock_is_held_and_given_back(folder: Path) -> None:
    with exclusive(folder, patience=QUICK) as hold:
        assert LOCK in files_in(folder)
        hold.check()
        with (
            pytest.raises(NongrataError, match=f"written by process {os.getpid()} on "),
            exclusive(folder, patience=QUICK),
        ):
            pass
        hold.check()
    assert files_in(folder) == {}
    with exclusive(folder, patience=QUICK):
        pass


def test_a_living_holder_is_named_and_left_alone(folder: Path) -> None:
    holder = held_by(folder)
    write_atomically(folder / f"{LOCK}.{holder.token}", _now())
    with pytest.raises(NongrataError, match="process 17 on node-7 since 2026-01-01"):
        StoreHold(folder, print, Patience()).acquire()


def _now() -> bytes:
    from datetime import UTC, datetime

    return datetime.now(UTC).isoformat().encode()


def test_a_stale_lock_is_taken_over_with_a_note(folder: Path) -> None:
    held_by(folder)
    notes: list[str] = []
    with exclusive(folder, notes.append, QUICK) as hold:
        hold.check()
        assert json.loads(read_bytes(folder / LOCK))["process"] == os.getpid()
    assert "node-7" in notes[-1]
    assert "taken over" in notes[-1]
    assert files_in(folder) == {}


def test_a_holder_that_shows_life_while_watched_keeps_its_lock(folder: Path) -> None:
    # its clock is a year behind: its signs look old, but they change
    holder = held_by(folder)
    sign = folder / f"{LOCK}.{holder.token}"
    write_atomically(sign, b"2026-01-01T00:00:00+00:00")
    timer = threading.Timer(0.05, write_atomically, (sign, b"2026-01-01T00:00:20+00:00"))
    timer.start()
    with (
        pytest.raises(NongrataError, match="written by process 17"),
        exclusive(folder, patience=QUICK),
    ):
        pass
    timer.join()


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_a_killed_process_of_this_machine_is_not_waited_for(folder: Path) -> None:
    probe = StoreHold(folder, print, QUICK)
    probe.acquire()
    mine = json.loads(read_bytes(folder / LOCK))
    probe.release()
    # a process id that is in use again, by a process that began at another time
    held_by(folder, machine=mine["machine"], process=os.getpid(), started=mine["started"] - 1)
    began = time.monotonic()
    with exclusive(folder, patience=replace(QUICK, watch=60.0, stale=1e9)):
        assert time.monotonic() - began < 5


def test_only_one_of_many_gets_a_lock(folder: Path) -> None:
    assert _winners(folder, 12) == 1


def test_only_one_of_many_takes_a_stale_lock_over(folder: Path) -> None:
    held_by(folder)
    assert _winners(folder, 12) == 1


def _winners(folder: Path, number: int) -> int:
    start, held, done = threading.Barrier(number), [], threading.Event()
    lock = threading.Lock()
    refused: list[str] = []

    def contend() -> None:
        start.wait()
        try:
            with exclusive(folder, patience=QUICK) as hold:
                with lock:
                    held.append(hold)
                done.wait()
        except NongrataError as error:
            with lock:
                refused.append(str(error))

    threads = [threading.Thread(target=contend) for _ in range(number)]
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + 20
    while len(refused) < number - 1 and time.monotonic() < deadline:
        time.sleep(0.01)
    done.set()
    for thread in threads:
        thread.join()
    return len(held)


def test_who_comes_back_late_may_not_commit(folder: Path) -> None:
    late = StoreHold(folder, print, replace(QUICK, beat=60.0))  # it gives no sign of life
    late.acquire()
    time.sleep(QUICK.stale + 0.1)
    with exclusive(folder, patience=QUICK) as hold:
        with pytest.raises(NongrataError, match="this run was taken over by process"):
            late.check()
        late.release()  # and does not take its successor's lock away
        hold.check()
        assert LOCK in files_in(folder)


def test_a_lock_that_was_removed_is_noticed(folder: Path) -> None:
    with exclusive(folder, patience=QUICK) as hold:
        remove(folder / LOCK)
        time.sleep(6 * QUICK.beat)
        with pytest.raises(NongrataError, match="was removed"):
            hold.check()


def test_a_lock_of_nonsense_is_one_sentence(folder: Path) -> None:
    write_atomically(folder / LOCK, b'{"token": "../x", "process": "1"}')
    with pytest.raises(NongrataError, match="cannot be read"), exclusive(folder, patience=QUICK):
        pass
