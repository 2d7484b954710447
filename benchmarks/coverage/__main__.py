"""Simulate every row of the coverage tables and write docs/statistics/coverage.md.

Run: python -m benchmarks.coverage [--studies 500] [--only FAMILY ...] [--processes 2]

With --only, the rows of other families are kept as they stand in the page's data file; with
--studies 0 all are, and the page is written anew.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import pkgutil
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import binom

import benchmarks.coverage as package
from benchmarks.coverage.rows import Row

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "statistics" / "coverage.md"
DATA = Path(__file__).parent / "measured.json"
NOT_ROWS = {"__main__", "rows", "studies"}
AT_ONCE = 10
"""Studies of one row that a process simulates at a time."""


def all_rows() -> list[Row]:
    """The rows of every family, in a fixed order."""
    names = sorted(m.name for m in pkgutil.iter_modules(package.__path__))
    modules = [import_module(f"benchmarks.coverage.{n}") for n in names if n not in NOT_ROWS]
    return [row for module in modules for row in getattr(module, "ROWS", [])]


def band(kind: str, studies: int) -> tuple[float, float]:
    """The 99% binomial band of a statement that is right in exactly 95% (5%) of the studies."""
    rate = 0.95 if kind == "coverage" else 0.05
    low, high = binom.ppf([0.005, 0.995], studies, rate) / studies
    return float(low), float(high)


def judge(kind: str, claim: str, share: float, studies: int) -> str:
    """Whether a share is what is claimed."""
    low, high = band(kind, studies)
    if claim == "tabulated" or studies == 0:
        return "-"
    if kind == "coverage":
        good = share >= low and (claim == "conservative" or share <= high)
    else:
        good = share <= high and (claim == "conservative" or share >= low)
    return "yes" if good else "NO"


def some_studies(place: int, seeds: list[int]) -> list[dict[str, float]]:
    """Simulate studies of one row; runs in a process of its own."""
    row = all_rows()[place]
    return [row.study(seed) for seed in seeds]


def measure(rows: list[Row], studies: int, processes: int) -> list[dict[str, Any]]:
    """Simulate all rows."""
    out = []
    with ProcessPoolExecutor(processes) as pool:
        for place, row in enumerate(rows):
            start = time.perf_counter()
            where = _place(row)
            pieces = [list(range(s, min(s + AT_ONCE, studies))) for s in range(0, studies, AT_ONCE)]
            parts = pool.map(some_studies, [where] * len(pieces), pieces)
            found = [study for part in parts for study in part]
            out.append(summary(row, found))
            seconds = time.perf_counter() - start
            print(f"{place + 1}/{len(rows)} {row.family}: {row.name} ({seconds:.0f} s)", flush=True)
            for name, (share, n) in out[-1]["measured"].items():
                verdict = judge(row.kind, row.claim[name], share, n)
                print(f"    {name}: {share:.3f} of {n} [{row.claim[name]}: {verdict}]", flush=True)
    return out


def _place(row: Row) -> int:
    keys = [(other.family, other.name, other.kind) for other in all_rows()]
    return keys.index((row.family, row.name, row.kind))


def summary(row: Row, found: list[dict[str, float]]) -> dict[str, Any]:
    """Share of the studies in which each statement was right, and how many there were."""
    measured = {}
    for name in row.claim:
        values = np.array([study[name] for study in found])
        n = int((~np.isnan(values)).sum())
        measured[name] = (float(np.nanmean(values)) if n else math.nan, n)
    return {
        "family": row.family,
        "name": row.name,
        "kind": row.kind,
        "claim": row.claim,
        "measured": measured,
    }


def page(measured: list[dict[str, Any]]) -> str:
    """The docs page."""
    lines = [
        "# Coverage and rejection rates",
        "",
        "Simulated studies whose truth is known; `python -m benchmarks.coverage` simulates them",
        "again and writes this page. Every row says in how many studies the statement was made.",
        "",
        "- *nominal*: within the 99% binomial band of .95 (of .05 for tests);",
        "- *conservative*: at least .95 less that band (at most .05 and the band);",
        "- *tabulated*: nothing is claimed, the figure is shown.",
        "",
        "With this many claims a few shares outside a 99% band would be chance. Where one was",
        "outside, more studies with other seeds decided whether the claim was taken back.",
    ]
    for kind, title, heading in (
        ("coverage", "Intervals: share that hold the truth", "share"),
        ("rejection", "Tests at 5%, no effect: share that reject", "share"),
    ):
        lines += ["", f"## {title}"]
        families = dict.fromkeys(m["family"] for m in measured if m["kind"] == kind)
        for family in families:
            lines += ["", f"### {family}", ""]
            lines.append(f"| study | statement | {heading} | studies | 99% band | claim | holds |")
            lines.append("| --- | --- | ---: | ---: | --- | --- | --- |")
            for m in measured:
                if (m["family"], m["kind"]) != (family, kind):
                    continue
                for name, (share, n) in m["measured"].items():
                    low, high = band(kind, n) if n else (math.nan, math.nan)
                    claim = m["claim"][name]
                    cells = (
                        m["name"],
                        name,
                        f"{share:.3f}",
                        str(n),
                        f"{low:.3f} to {high:.3f}",
                        claim,
                        judge(kind, claim, share, n),
                    )
                    lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Simulate, store, write the page."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=500)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    rows = all_rows()
    chosen = [row for row in rows if not options.only or row.family in options.only]
    done = measure(chosen, options.studies, options.processes) if options.studies else []
    keep = json.loads(DATA.read_text(encoding="utf-8")) if DATA.exists() else []
    by_key = {(m["family"], m["name"], m["kind"]): m for m in [*keep, *done]}
    measured = []
    for row in rows:
        found = by_key.get((row.family, row.name, row.kind))
        if found is not None:
            measured.append(found | {"claim": row.claim})  # what is claimed may be put right later
    DATA.write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(page(measured), encoding="utf-8")
    bad = [
        f"{m['family']}: {m['name']}: {name}"
        for m in measured
        for name, (share, n) in m["measured"].items()
        if judge(m["kind"], m["claim"][name], share, n) == "NO"
    ]
    print("\n".join(["", *bad]) if bad else "\nevery claim holds")
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
