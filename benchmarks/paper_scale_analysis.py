"""From a run directory of the paper's size to everything that is computed about it: time, memory.

One process loads the run from disk, analyses it with 2,000 resamples and draws its findings, as
`nongrata analyze` and `nongrata findings` do.

Run: python benchmarks/paper_scale_analysis.py FOLDER [models, default 1]
"""

from __future__ import annotations

import itertools
import json
import resource
import subprocess
import sys
import time
from pathlib import Path

from paper_run import paper_run

STEPS = ("import and load", "analyse", "findings", "JSON")


def measure(run: Path) -> dict[str, float]:
    """Seconds of each step, and peak memory in MB, in this process."""
    times = [time.perf_counter()]
    import nongrata as ng

    responses = ng.load_run(run)
    answers = int((responses["outcome"] != 255).sum())
    times.append(time.perf_counter())
    analysis = ng.analyze(responses)
    times.append(time.perf_counter())
    findings = ng.findings(responses, chance=analysis.chance)
    times.append(time.perf_counter())
    size = len(analysis.to_json()) + len(findings.to_json())
    times.append(time.perf_counter())
    each = [b - a for a, b in itertools.pairwise(times)]
    found = dict(zip(STEPS, each, strict=True))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    return found | {
        "all": times[-1] - times[0],
        "processor": time.process_time(),
        "peak MB": peak,
        "JSON MB": size / 1e6,
        "answers": answers,
    }


def main() -> None:
    """Make the run, measure in a fresh process, print a row."""
    if sys.argv[1] == "--measure":
        print(json.dumps(measure(Path(sys.argv[2]))))
        return
    models = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    run = paper_run(Path(sys.argv[1]), models)
    command = [sys.executable, __file__, "--measure", str(run)]
    print(f"| models | answers | {' | '.join(STEPS)} | all, s | processor, s | peak MB | JSON MB |")
    print("| ---: " * (len(STEPS) + 6) + "|")
    for _ in range(3):
        found = json.loads(
            subprocess.run(command, check=True, capture_output=True, text=True).stdout
        )
        steps = " | ".join(f"{found[step]:.1f}" for step in STEPS)
        print(
            f"| {models} | {found['answers']:,.0f} | {steps} | {found['all']:.1f} | "
            f"{found['processor']:.1f} | {found['peak MB']:,.0f} | {found['JSON MB']:.1f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
