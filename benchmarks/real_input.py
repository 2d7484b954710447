"""The demo model over real questions: six of each of three files, 6 labels, 48 configurations.

Killed twice on the way; then no answer may be there twice and none may be missing.

Run, with the question files in ../shared or NONGRATA_SHARED: python benchmarks/real_input.py
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from nongrata.loading import load_study
from nongrata.plan import READINGS, build_plan
from nongrata.responses import load_run
from nongrata.store import Store, done_keys

KILLS_AT = (0.15, 0.6)  # share of the requests


def main() -> None:
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(tempfile.mkdtemp()) / "run"
    shared = Path(os.environ.get("NONGRATA_SHARED", Path(__file__).parents[2] / "shared"))
    data = shared.resolve() / "data"
    sources = (
        f"{{id: mmlu, format: normalised, path: {data / 'mmlu_test.jsonl.gz'}, take: 6}}, "
        f"{{id: socialiqa, format: normalised, path: {data / 'socialiqa_dev.jsonl.gz'}, take: 6}}, "
        f"{{id: normad_eti, format: normalised, path: {data / 'normad_eti.jsonl.gz'}, take: 6, "
        "condition: rule_of_thumb}"
    )
    override = f"questions.sources=[{sources}]"
    loaded = load_study("demo", [override])
    plan = build_plan(loaded.study, loaded.personas(), loaded.questions())
    requests = sum(plan.size(reading) for reading in READINGS)
    command = [
        *(sys.executable, "-m", "nongrata", "run", "demo", "--out", str(out)),
        *("--set", override),
    ]
    started = time.perf_counter()
    for share in KILLS_AT:
        process = subprocess.Popen(command)
        while process.poll() is None and Store(out).rows() < share * requests:
            time.sleep(1)
        process.kill()
        process.wait()
        print(f"killed with {Store(out).rows():,} of {requests:,} requests committed", flush=True)
    done = subprocess.run([*command, "--json"], check=True, stdout=subprocess.PIPE, text=True)
    seconds = time.perf_counter() - started
    summary = json.loads(done.stdout)
    store = Store(out)
    twice = done_keys(store.paths()).duplicates()
    missing = int((load_run(out).outcome == 255).sum())
    print(
        f"{len(plan.prompts.questions)} questions, {len(plan.personas)} labels, "
        f"{len(plan.temperature)} configurations: {store.rows():,} of {requests:,} requests in "
        f"{seconds:,.0f} s with two kills; answered twice: {twice}, answers missing: {missing}, "
        f"errors: {summary['errors']}"
    )
    if twice or missing or store.rows() != requests:
        sys.exit("something was lost or repeated")


if __name__ == "__main__":
    main()
