"""What a report costs: seconds beyond the analysis, and bytes of the file.

Each row is one fresh process for the analysis with findings, temperatures and provenance (what
`nongrata analyze --json` computes), and one for the whole command `nongrata report`.

Run: python benchmarks/report.py RUN [repeats, default 3]
"""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ANALYSIS = (
    "import sys; from nongrata.study_results import study_results; study_results(sys.argv[1])"
)


def seconds_of(*words: str) -> float:
    """Wall-clock seconds of a Python process."""
    start = time.perf_counter()
    subprocess.run([sys.executable, *words], check=True, capture_output=True)
    return time.perf_counter() - start


def main() -> None:
    """Measure, and print one row a repeat and one of medians."""
    run = sys.argv[1]
    repeats = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    print("| | analysis, s | report, s | beyond, s | file, MB |")
    print("| --- | ---: | ---: | ---: | ---: |")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        for repeat in range(1, repeats + 1):
            analysis = seconds_of("-c", ANALYSIS, run)
            whole = seconds_of("-m", "nongrata", "report", run, "-o", str(page))
            rows.append((analysis, whole, whole - analysis, page.stat().st_size / 1e6))
            print(f"| {repeat} |", " | ".join(f"{value:.1f}" for value in rows[-1]), "|")
    medians = [statistics.median(column) for column in zip(*rows, strict=True)]
    print("| median |", " | ".join(f"{value:.1f}" for value in medians), "|")
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e3
    print(f"\nlargest peak memory of a process: {peak:.0f} MB")


if __name__ == "__main__":
    main()
