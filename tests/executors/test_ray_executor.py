"""Runs on a Ray cluster of three nodes on this machine."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from nongrata.analysis import analyze
from nongrata.errors import NongrataError
from nongrata.executors import RayOptions, open_executor
from nongrata.manifest import Manifest
from nongrata.responses import load_run
from nongrata.run_status import run_status
from nongrata.runner import RunSummary, run_study
from nongrata.store import Store, done_keys
from studies import SIMULATED, Silent, loaded, small_study

pytest.importorskip("ray", reason="needs ray")
pytestmark = [
    pytest.mark.slow,
    # Ray's own, in its own threads
    pytest.mark.filterwarnings(
        "ignore::ResourceWarning",
        "ignore::DeprecationWarning",
        "ignore::FutureWarning",
        "ignore::pytest.PytestUnraisableExceptionWarning",
    ),
]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    from ray.cluster_utils import Cluster

    # a head that holds no worker, so that only other nodes are killed
    head = {"num_cpus": 0, "include_dashboard": False}
    found = Cluster(initialize_head=True, head_node_args=head)
    for _ in range(2):
        found.add_node(num_cpus=2)
    yield found
    found.shutdown()


@pytest.fixture(autouse=True)
def whole_again(cluster: Any) -> Iterator[None]:
    yield
    while len(cluster.worker_nodes) < 2:
        cluster.add_node(num_cpus=2)


def study(delay: float = 0.0, **changes: Any) -> dict[str, Any]:
    return small_study(models=[SIMULATED | {"block": 64, "delay": delay}], **changes)


class Acting(Silent):
    """A watcher that does something once so many answers are committed."""

    def __init__(self, at: int, act: Any) -> None:
        super().__init__()
        self.at, self.act = at, act
        self.answers = self.advanced = 0
        self.lock = threading.Lock()

    def advance(self, requests: int = 0, *_: object) -> None:
        with self.lock:
            self.advanced += requests

    def committed(self, answers: int = 0, *_: object) -> None:
        with self.lock:
            before, self.answers = self.answers, self.answers + answers
            due = before < self.at <= self.answers
        if due:
            self.act()


class Adding(Silent):
    """A watcher that adds a machine once something is answered; Ray allows it in this thread."""

    def __init__(self, cluster: Any) -> None:
        super().__init__()
        self.cluster = cluster

    def advance(self, *_: object) -> None:
        if self.cluster is not None:
            cluster, self.cluster = self.cluster, None
            cluster.add_node(num_cpus=2)


def on_ray(cluster: Any, values: dict[str, Any], out: Path, watcher: Any) -> RunSummary:
    options = RayOptions(address=cluster.address)
    return run_study(loaded(values), out, watcher, executor=open_executor(options))


def in_this_process(values: dict[str, Any], out: Path) -> RunSummary:
    return run_study(loaded(values), out, Silent())


def same(one: Path, two: Path) -> bool:
    return bool(analyze(load_run(one)).as_dict() == analyze(load_run(two)).as_dict())


def test_a_node_is_killed_and_nothing_is_lost_or_twice(cluster: Any, tmp_path: Path) -> None:
    # 3,150 requests of half a millisecond: about as long as a node takes to be missed
    values = study(delay=0.0005, replicates=20)
    watcher = Acting(2_000, lambda: cluster.remove_node(_busy(cluster), allow_graceful=False))
    summary = on_ray(cluster, values, tmp_path / "ray", watcher)
    assert any("was lost" in note for note in watcher.notes)
    in_this_process(study(replicates=20), tmp_path / "here")
    store = Store(tmp_path / "ray")
    assert not store.damage
    keys = done_keys(store.paths())
    assert keys.duplicates() == 0
    assert len(keys) == summary.requests == Store(tmp_path / "here").rows()
    assert watcher.advanced == summary.requests  # the bar ends where it should
    assert run_status(tmp_path / "ray").complete
    assert same(tmp_path / "ray", tmp_path / "here")
    facts = Manifest.read(tmp_path / "ray").models["sim"].provenance
    assert facts["executor"] == "ray"
    assert facts["workers_lost"] >= 1
    assert len({worker["process"] for worker in facts["workers"]}) == len(facts["workers"]) >= 4


def _busy(cluster: Any) -> Any:
    return next(iter(cluster.worker_nodes))


def test_a_worker_process_is_killed(cluster: Any, tmp_path: Path) -> None:
    def kill() -> None:
        # any worker will do
        import psutil

        workers = [
            process
            for process in psutil.process_iter(["pid", "cmdline"])
            if any("ray::Worker" in part for part in process.info["cmdline"] or [])
            and process.info["pid"] in _children()
        ]
        os.kill(workers[0].info["pid"], signal.SIGKILL)

    values = study(delay=0.0005, replicates=20)
    watcher = Acting(2_000, kill)
    summary = on_ray(cluster, values, tmp_path / "ray", watcher)
    assert any("was lost" in note for note in watcher.notes)
    assert len(done_keys(Store(tmp_path / "ray").paths())) == summary.requests
    assert run_status(tmp_path / "ray").complete


def _children() -> set[int]:
    """Processes that this one has started, and theirs: nobody else's cluster."""
    import psutil

    return {child.pid for child in psutil.Process().children(recursive=True)}


def test_a_stopped_run_goes_on_here_and_there(cluster: Any, tmp_path: Path) -> None:
    def stop() -> None:
        raise KeyboardInterrupt

    values = study(delay=0.0002, replicates=10)
    with pytest.raises(KeyboardInterrupt):
        on_ray(cluster, values, tmp_path / "run", Acting(1_000, stop))
    committed = Store(tmp_path / "run").rows()
    assert committed > 0
    assert not run_status(tmp_path / "run").complete
    more = {**values, "replicates": 12}
    summary = on_ray(cluster, more, tmp_path / "run", Silent())
    assert summary.requests_before == committed
    last = {**values, "replicates": 13}
    in_this_process(last, tmp_path / "run")
    in_this_process(last, tmp_path / "once")
    assert same(tmp_path / "run", tmp_path / "once")


def test_an_engine_that_cannot_open_is_one_sentence(cluster: Any, tmp_path: Path) -> None:
    model = {"id": "m", "engine": "llamacpp", "path": str(tmp_path / "none.gguf")}
    with pytest.raises(NongrataError, match=r"on .*: .*") as caught:
        on_ray(cluster, small_study(models=[model]), tmp_path / "run", Silent())
    assert "none.gguf" in str(caught.value)


def test_a_machine_that_comes_later_joins(cluster: Any, tmp_path: Path) -> None:
    for node in list(cluster.worker_nodes)[1:]:
        cluster.remove_node(node)
    values = study(delay=0.02, replicates=10)
    options = RayOptions(address=cluster.address, workers=4)  # there is room for two
    watcher = Adding(cluster)
    run_study(loaded(values), tmp_path / "run", watcher, executor=open_executor(options))
    workers = Manifest.read(tmp_path / "run").models["sim"].provenance["workers"]
    assert len(workers) > 2
    assert run_status(tmp_path / "run").complete
