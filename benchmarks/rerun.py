"""How long a study's re-runs take at the size of the paper's answer-only half, and what memory.

Run: python benchmarks/rerun.py [--draws 200]
"""

from __future__ import annotations

import argparse
import resource
import time

import numpy as np

from nongrata.stats.rerun import redraw

PERSONAS, CONFIGURATIONS, QUESTIONS = 41, 24, 5013


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--draws", type=int, default=200)
    draws = parser.parse_args().draws
    rng = np.random.default_rng(0)
    theta = rng.random((PERSONAS, CONFIGURATIONS, QUESTIONS), dtype=np.float32)
    theta[:, ::3] = theta[:, ::3] > 0.5  # a third of the configurations is at temperature 0
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    wall, processor = time.perf_counter(), time.process_time()
    redraw(theta, draws=draws, seed=(0,))
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    more = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    answers = draws * theta.size
    print(
        f"{draws} re-runs of {theta.size:,} answers: {wall:.1f} s ({processor:.1f} s of processor "
        f"time, {1e9 * processor / answers:.2f} ns an answer), {more / 1024:.0f} MB beside "
        f"theta's {theta.nbytes / 2**20:.0f} MB"
    )


if __name__ == "__main__":
    main()
