"""A million simulated answers on a Ray cluster of three nodes, of which one is killed half-way.

Shows that nothing is lost, nothing is stored twice and the analysis is that of a local run, and
what Ray costs: answers a second of this process alone, of the cluster, and of the cluster that
loses a node. All nodes are on this machine, so the cluster cannot be faster than its cores.

Run: python benchmarks/ray_cluster.py [questions]
"""

from __future__ import annotations

import json
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from ray.cluster_utils import Cluster
from throughput import SIZES, questions

from nongrata.analysis import analyze
from nongrata.executors import RayOptions, open_executor
from nongrata.loading import load_study
from nongrata.manifest import Manifest
from nongrata.responses import load_run
from nongrata.run_status import run_status
from nongrata.runner import RunSummary, run_study
from nongrata.store import Store, done_keys

BLOCK = 8_192
SLOW = 0.0002
SLOW_QUESTIONS = 12


class Watcher:
    """Says little, and acts once so many answers are stored."""

    def __init__(self, at: int = 0, act: Any = None) -> None:
        self.at, self.act, self.answers = at, act, 0

    def note(self, text: str) -> None:
        """Print a line."""
        print(f"    {text}", flush=True)

    def begin(self, *_: object) -> None:
        """Nothing."""

    def advance(self, *_: object) -> None:
        """Nothing."""

    def committed(self, answers: int, _: dict[str, int]) -> None:
        """Act when it is time."""
        before, self.answers = self.answers, self.answers + answers
        if self.act is not None and before < self.at <= self.answers:
            threading.Thread(target=self.act).start()

    def finish(self) -> None:
        """Nothing."""


def study(base: Path, delay: float = 0.0) -> Any:
    model = (
        f"models=[{{id: sim, engine: simulated, block: {BLOCK}, delay: {delay}, unparsed: 0.03,"
        " refused: 0.01, persona_sd: 0.1, question_configuration_sd: 0.3}]"
    )
    source = (
        f"questions.sources=[{{id: made, format: table, path: {base / 'q.jsonl'},"
        " answer_form: index0,"
        " columns: {question: question, choices: choices, answer: answer, id: id}}]"
    )
    return load_study("paper", (model, source))


def measured(name: str, summary: RunSummary, started: float) -> float:
    whole = time.perf_counter() - started
    print(
        f"| {name} | {summary.answers:,} | {summary.requests:,} | {whole:.1f} | "
        f"{summary.seconds:.2f} | {summary.answers / summary.seconds:,.0f} |",
        flush=True,
    )
    return summary.seconds


def on_ray(loaded: Any, out: Path, address: str, watcher: Watcher) -> tuple[RunSummary, float]:
    started = time.perf_counter()
    executor = open_executor(RayOptions(address=address))
    return run_study(loaded, out, watcher, executor=executor), started


def analysis_of(run: Path) -> str:
    return json.dumps(analyze(load_run(run)).as_dict(), sort_keys=True)


def main() -> None:
    number = int(sys.argv[1]) if len(sys.argv) > 1 else SIZES["1 million"]
    # a head without room for workers: what is killed is never the driver's own machine
    head = {"num_cpus": 0, "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    nodes = [cluster.add_node(num_cpus=1) for _ in range(2)]
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder)
        print("| executor | answers | requests | seconds | of them asking, storing | answers/s |")
        print("| --- | ---: | ---: | ---: | ---: | ---: |")
        questions(base / "q.jsonl", number)
        fast = study(base)
        started = time.perf_counter()
        here = measured("local", run_study(fast, base / "here", Watcher()), started)
        summary, started = on_ray(fast, base / "calm", cluster.address, Watcher())
        calm = measured("ray, 2 workers", summary, started)

        def kill() -> None:
            cluster.remove_node(nodes[0], allow_graceful=False)

        watcher = Watcher(summary.answers // 2, kill)
        summary, started = on_ray(fast, base / "killed", cluster.address, watcher)
        measured("ray, a node killed half-way", summary, started)

        keys = done_keys(Store(base / "killed").paths())
        record = Manifest.read(base / "killed").models["sim"].provenance
        wanted = Store(base / "here").rows()
        print(f"\nworkers lost: {record['workers_lost']}")
        print(f"stored twice: {keys.duplicates()}; lost: {wanted - len(keys)}")
        print(f"complete: {run_status(base / 'killed').complete}")
        equal = (
            analysis_of(base / "killed") == analysis_of(base / "here") == analysis_of(base / "calm")
        )
        print(f"analysis equal to the local run's, as JSON: {equal}")
        blocks = -(-summary.requests // BLOCK)
        print(f"Ray's cost a block of {BLOCK:,}: {1e3 * (calm - here) / blocks:.1f} ms")

        # an engine that takes its time, as real ones do: here what Ray adds is to vanish
        cluster.add_node(num_cpus=1)
        questions(base / "q.jsonl", SLOW_QUESTIONS)
        slow = study(base, SLOW)
        print(f"\nan engine that takes {1e3 * SLOW:g} ms a request:\n")
        started = time.perf_counter()
        here = measured("local", run_study(slow, base / "slow", Watcher()), started)
        summary, started = on_ray(slow, base / "slow-ray", cluster.address, Watcher())
        calm = measured("ray, 2 workers", summary, started)
        print(f"\n2 workers: {here / calm:.2f} times as fast")
        lost = wanted != len(keys) or keys.duplicates() or not equal or not record["workers_lost"]
    cluster.shutdown()
    raise SystemExit(1 if lost else 0)


if __name__ == "__main__":
    main()
