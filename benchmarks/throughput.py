"""Simulated answers through plan, runner and store: speed and memory at two sizes.

Run: python benchmarks/throughput.py
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

# questions x 41 labels x 48 configurations
SIZES = {"1 million": 508, "10 million": 5_013}


def questions(path: Path, number: int) -> None:
    """Write a table of made questions of about the length of real ones."""
    with path.open("w", encoding="utf-8") as handle:
        for i in range(number):
            row = {
                "id": f"q{i}",
                "question": f"Question {i}: " + "what follows from what is said here? " * 8,
                "choices": [f"option {j} of question {i}" for j in range(4)],
                "answer": i % 4,
            }
            handle.write(json.dumps(row) + "\n")


COLUMNS = (
    "answers",
    "requests",
    "seconds, whole command",
    "answers/s",
    "answers/s, asking and storing",
    "peak MB",
    "MB on disk",
)


def main() -> None:
    print(f"| {' | '.join(COLUMNS)} |")
    print("| ---: " * len(COLUMNS) + "|")
    for number in SIZES.values():
        with tempfile.TemporaryDirectory() as folder:
            base = Path(folder)
            questions(base / "q.jsonl", number)
            command = [
                *(sys.executable, "-m", "nongrata", "run", "paper", "--out", str(base / "run")),
                "--json",
                "--set",
                (
                    "models=[{id: sim, engine: simulated, unparsed: 0.03, refused: 0.01,"
                    " persona_sd: 0.1, question_configuration_sd: 0.3}]"
                ),
                "--set",
                (
                    f"questions.sources=[{{id: made, format: table, path: {base / 'q.jsonl'},"
                    " answer_form: index0,"
                    " columns: {question: question, choices: choices, answer: answer, id: id}}]"
                ),
            ]
            started = time.perf_counter()
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            seconds = time.perf_counter() - started
            peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e3
            summary = json.loads(done.stdout)
            disk = sum(p.stat().st_size for p in (base / "run").rglob("*") if p.is_file()) / 1e6
            answers = summary["answers"]
            cells = (
                f"{answers:,}",
                f"{summary['requests']:,}",
                f"{seconds:.1f}",
                f"{answers / seconds:,.0f}",
                f"{answers / summary['seconds']:,.0f}",
                f"{peak:,.0f}",
                f"{disk:,.0f}",
            )
            print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
