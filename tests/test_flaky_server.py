"""A run against a server that fails in every way: complete, and equal to one against a calm one."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from openai_server import FAULTS, ServerProcess

from nongrata.analysis import analyze
from nongrata.manifest import Manifest
from nongrata.responses import load_run
from nongrata.runner import run_study
from nongrata.store import Store, done_keys
from nongrata.yaml_files import dump_yaml
from studies import Silent, loaded, small_study

pytest.importorskip("openai")

KEY = "sk-live-fedcba9876543210fedcba98"
RATE = 0.2


def study_at(server: ServerProcess, **changes: Any) -> dict[str, Any]:
    """First tokens and generated texts, at three temperatures, twice where something is drawn."""
    model = {
        "id": "tiny",
        "engine": "openai",
        "model": "tiny",
        "base_url": server.url,
        "key_env": "FLAKY_KEY",
        "top_logprobs": 10,
        "timeout": 1.5,
        "backoff": 0.05,
        **changes,
    }
    people = [
        {"id": "a-cook", "text": "a cook"},
        {"id": "a-human", "text": "a human", "control": True},
        {"id": "no-persona", "text": None, "control": True},
    ]
    return small_study(
        models=[model],
        replicates=2,
        personas={"list": people},
        questions={"seed": 5, "sources": [{"id": "starter", "format": "starter", "take": 5}]},
        settings={"max_tokens": 4},
    )


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLAKY_KEY", KEY)


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run against a server that never fails."""
    folder = tmp_path_factory.mktemp("calm")
    with pytest.MonkeyPatch.context() as patch, ServerProcess(folder, key=KEY) as server:
        patch.setenv("FLAKY_KEY", KEY)
        run_study(loaded(study_at(server)), folder / "run", Silent())
    return folder / "run"


def rows(run: Path) -> pl.DataFrame:
    """All committed rows, in the order of their keys."""
    frames = [pl.read_parquet(str(path)) for path in Store(run).paths()]
    return pl.concat(frames, how="diagonal_relaxed").sort("key_high", "key_low")


def assert_equal_runs(one: Path, two: Path) -> None:
    left, right = rows(one), rows(two)
    assert left.select(sorted(left.columns)).equals(right.select(sorted(right.columns)))
    assert load_run(one).drop_attrs().identical(load_run(two).drop_attrs())
    assert analyze(load_run(one)).as_dict() == analyze(load_run(two)).as_dict()


def test_a_flaky_server_changes_nothing(
    tmp_path: Path, calm: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with ServerProcess(tmp_path, key=KEY, flaky=RATE, seed=2, stall=2.0) as server:
        summary = run_study(loaded(study_at(server)), tmp_path / "run", watcher := Silent())
        time.sleep(0.1)
        seen = server.entries()
    faults = [entry["fault"] for entry in seen if entry["fault"]]
    assert set(faults) == set(FAULTS)  # every way to fail came up
    assert 0.1 < len(faults) / len(seen) < 0.3
    # complete, and the same
    assert summary.errors == 0
    assert not done_keys(Store(tmp_path / "run").paths()).duplicates()
    assert_equal_runs(tmp_path / "run", calm)
    # nothing twice and nothing missing: each request that was answered is one row
    answered = [entry["digest"] for entry in seen if entry["answered"]]
    # (an answer may come later than the client waits, and is asked for again)
    assert len(set(answered)) == summary.requests == len(rows(tmp_path / "run"))
    # the key is in no file, log record or note
    assert KEY not in caplog.text
    assert "[key]" in caplog.text  # the server did send it back
    assert KEY not in "".join(watcher.notes)
    assert_nowhere(KEY, tmp_path / "run")


def assert_nowhere(secret: str, run: Path) -> None:
    for path in run.rglob("*"):
        if path.is_file():
            assert secret.encode() not in path.read_bytes(), path
        if path.suffix == ".parquet":  # compressed: look inside
            assert secret not in str(pl.read_parquet(path).to_dicts()), path


def test_killed_and_gone_on_with(tmp_path: Path, calm: Path) -> None:
    with ServerProcess(tmp_path, key=KEY, flaky=RATE, seed=3, stall=2.0, delay=0.02) as server:
        values = study_at(server, max_in_flight=4)
        study = tmp_path / "study.yaml"
        study.write_text(dump_yaml(values), encoding="utf-8")
        run = tmp_path / "run"
        process = subprocess.Popen(
            [sys.executable, "-m", "nongrata", "run", str(study), "--out", str(run)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        until = time.monotonic() + 60
        while time.monotonic() < until and not list(run.glob("responses/*.parquet")):
            time.sleep(0.02)
        time.sleep(0.3)  # into the next block
        assert process.poll() is None
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        before = Store(run).rows()
        assert 0 < before < len(rows(calm))
        summary = run_study(loaded(values), run, Silent())
        seen = server.entries()
    assert summary.requests_before == before
    assert summary.requests == len(rows(calm)) - before
    assert not done_keys(Store(run).paths()).duplicates()
    assert_equal_runs(run, calm)
    # only what had been under way and was not committed is asked for twice
    answered = [entry["digest"] for entry in seen if entry["answered"]]
    assert len(set(answered)) == len(rows(calm))
    assert len(answered) - len(set(answered)) < len(rows(calm)) - before
    assert_nowhere(KEY, tmp_path / "run")


def test_what_stays_an_error_is_asked_again(tmp_path: Path, calm: Path) -> None:
    """A server that is down for too long leaves errors; --retry-errors mends them."""
    with ServerProcess(tmp_path, key=KEY, flaky=RATE, seed=4, stall=2.0) as server:
        values = study_at(server, attempts=1)
        first = run_study(loaded(values), tmp_path / "run", Silent())
        assert first.errors > 0
        values = study_at(server)
        second = run_study(loaded(values), tmp_path / "run", Silent(), retry_errors=True)
    assert second.errors == 0
    assert second.requests == first.errors
    assert_equal_runs(tmp_path / "run", calm)


def test_the_manifest_says_what_happened(calm: Path) -> None:
    record = Manifest.read(calm).models["tiny"]
    assert record.is_model
    assert record.identity["engine"] == "openai"
    assert "base_url" not in record.identity  # the same server may move
    assert record.provenance["base_url"].startswith("http://127.0.0.1")
    assert record.provenance["key_env"] == "FLAKY_KEY"
