"""A simulated run of the paper's size: 41 labels x 48 configurations x 5,013 questions a model.

Three sources of 1,671 questions as in the preset `paper`; the first has 57 domains; every tenth
question shares its passage with the one before. Used by the benchmarks of the analysis.

Run: python benchmarks/paper_run.py FOLDER [models] [questions a source]
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

SOURCES = {"mmlu": 57, "socialiqa": 1, "normad_eti": 1}
"""Sources and how many domains each has."""


def questions(path: Path, source: str, number: int, domains: int) -> None:
    """Write a table of made questions."""
    with path.open("w", encoding="utf-8") as handle:
        for i in range(number):
            row = {
                "id": f"q{i}",
                "question": f"Question {i} of {source}: what follows from what is said here?",
                "choices": [f"option {j} of question {i} of {source}" for j in range(4)],
                "answer": i % 4,
                "domain": f"{source} {i % domains:02}" if domains > 1 else source,
                "cluster": f"{source} {i - (i % 10 == 1)}",
            }
            handle.write(json.dumps(row) + "\n")


def paper_run(folder: Path, models: int = 1, each: int = 1_671) -> Path:
    """Make the run directory `folder`/run, unless it is there."""
    run = folder / "run"
    if (run / "commits.jsonl").exists():
        return run
    folder.mkdir(parents=True, exist_ok=True)
    sources = []
    for name, domains in SOURCES.items():
        questions(folder / f"{name}.jsonl", name, each, domains)
        sources.append(
            f"{{id: {name}, format: table, path: {folder / name}.jsonl, answer_form: index0, "
            "columns: {question: question, choices: choices, answer: answer, id: id, "
            "subject: domain, cluster: cluster}}"
        )
    specs = [
        f"{{id: sim-{i}, engine: simulated, seed: {i}, ability: {0.4 + 0.2 * i}, unparsed: 0.02, "
        "refused: 0.01, persona_sd: 0.1, question_configuration_sd: 0.3, factor_sd: "
        "{persona_format: 0.05, task_format: 0.2}, persona_factor_sd: {task_format: 0.05}}"
        for i in range(models)
    ]
    subprocess.run(
        [
            *(sys.executable, "-m", "nongrata", "run", "paper", "--out", str(run), "--json"),
            *("--set", f"models=[{', '.join(specs)}]"),
            *("--set", f"questions.sources=[{', '.join(sources)}]"),
        ],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return run


if __name__ == "__main__":
    numbers = [int(text) for text in sys.argv[2:]]
    print(paper_run(Path(sys.argv[1]), *numbers))
