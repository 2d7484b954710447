"""How many rows a second an import takes in, and whether its memory grows with the table.

Run: python benchmarks/import_table.py [--rows 250000 1000000 2000000] [--form csv|jsonl|parquet]

Each size is imported in a process of its own, so that its peak of memory is its own. The design
stays the same: 100 items x 5 prompts x 11 temperatures; more rows are more repeats.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

ITEMS, PROMPTS, TEMPERATURES = 100, 5, 11
LETTERS = np.array(["A", "B", "C", "D", "E", ""])
SHARES = [0.55, 0.2, 0.14, 0.08, 0.02, 0.01]


def write_table(path: Path, rows: int, seed: int = 0) -> None:
    """Write a table of one answer a row, with stray letters and empty cells."""
    rng = np.random.default_rng(seed)
    at = np.arange(rows)
    item = at % ITEMS
    prompt = at // ITEMS % PROMPTS
    heat = at // (ITEMS * PROMPTS) % TEMPERATURES
    repeat = at // (ITEMS * PROMPTS * TEMPERATURES)
    said = LETTERS[rng.choice(len(LETTERS), size=rows, p=SHARES)]
    columns = {
        "item": [f"question-{i:04d}" for i in item.tolist()],
        "domain": [f"field {i % 7}" for i in item.tolist()],
        "prompt": [f"prompt {i}" for i in prompt.tolist()],
        "temperature": [f"{i / 10:.1f}" for i in heat.tolist()],
        "repeat": [str(i) for i in repeat.tolist()],
        "answer": said.tolist(),
        "key": ["ABCD"[i % 4] for i in item.tolist()],
    }
    if path.suffix == ".parquet":
        import polars as pl

        pl.DataFrame(columns).write_parquet(path, row_group_size=2**16)
        return
    with path.open("w", encoding="utf-8") as file:
        if path.suffix == ".csv":
            file.write(",".join(columns) + "\n")
            file.writelines(",".join(row) + "\n" for row in zip(*columns.values(), strict=True))
        else:
            for row in zip(*columns.values(), strict=True):
                file.write(json.dumps(dict(zip(columns, row, strict=True))) + "\n")


def import_one(path: Path, folder: Path) -> None:
    """Import one table and print how long it took and what memory."""
    from nongrata.interop.importing import import_to_folder
    from nongrata.interop.table_mapping import mapping_from

    mapping = mapping_from(
        {
            "item": "item",
            "domain": "domain",
            "answer": "answer",
            "gold": "key",
            "factors": ["prompt"],
            "temperature": "temperature",
            "replicate": "repeat",
            "options": ["A", "B", "C", "D"],
        }
    )
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    wall, processor = time.perf_counter(), time.process_time()
    about = import_to_folder(path, folder, mapping)
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    print(
        json.dumps(
            {
                "rows": about["counts"]["rows"],
                "answers": about["counts"]["answers"],
                "wall": wall,
                "processor": processor,
                "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
                "before_mb": before / 1024,
            }
        )
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, nargs="*", default=[250_000, 1_000_000, 2_000_000])
    parser.add_argument("--form", choices=["csv", "jsonl", "parquet"], default="csv")
    parser.add_argument("--one", nargs=2, metavar=("FILE", "FOLDER"), help=argparse.SUPPRESS)
    parser.add_argument("--make", nargs=2, metavar=("FILE", "ROWS"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.make:
        write_table(Path(given.make[0]), int(given.make[1]))
        return
    if given.one:
        import_one(Path(given.one[0]), Path(given.one[1]))
        return
    peaks = []
    print("| rows | file, MB | s | processor s | rows/s | peak RSS, MB |")
    print("| ---: | ---: | ---: | ---: | ---: | ---: |")
    for rows in given.rows:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"table.{given.form}"
            # not here: a process starts with the peak of the one that started it
            subprocess.run([sys.executable, __file__, "--make", str(path), str(rows)], check=True)
            command = [sys.executable, __file__, "--one", str(path), str(Path(folder) / "out")]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            found = json.loads(done.stdout)
            size = path.stat().st_size / 1e6
        peaks.append(found["peak_mb"])
        print(
            f"| {found['rows']:,} | {size:.0f} | {found['wall']:.1f} | {found['processor']:.1f} | "
            f"{found['rows'] / found['wall']:,.0f} | {found['peak_mb']:.0f} |",
            flush=True,
        )
    print(f"\npeak of the largest over that of the smallest: {peaks[-1] / peaks[0]:.2f}")


if __name__ == "__main__":
    main()
