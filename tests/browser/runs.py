"""Runs to look at, each made once for all tests and all processes that test at the same time."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from filelock import FileLock

import hostile
from nongrata.loading import load_study
from nongrata.runner import run_study
from studies import Silent

SIMULATED = (
    "[{id: sim, engine: simulated, seed: 3, ability: 0.6, persona_sd: 0.4, unparsed: 0.03, "
    "refused: 0.02, truncated: 0.02, question_configuration_sd: 0.4, "
    "factor_sd: {persona_format: 0.2, task_format: 0.5}}]"
)


def demo_run(folder: Path) -> Path:
    """The demo's design, its answers simulated: 6 labels x 48 configurations x 6 questions."""
    run_study(load_study("demo", [f"models={SIMULATED}"]), folder / "run", Silent())
    return folder / "run"


def two_models_run(folder: Path) -> Path:
    """A small study of two models."""
    second = SIMULATED.replace("sim,", "sim-2,").replace("seed: 3", "seed: 4")
    both = f"models=[{SIMULATED[1:-1]}, {second[1:-1]}]"
    run_study(load_study("demo", [both]), folder / "run", Silent())
    return folder / "run"


def paper_run(folder: Path) -> Path:
    """The paper's size, simulated: 41 labels x 48 configurations x 5,013 questions.

    ``NONGRATA_PAPER_RUN`` names one that is there already.
    """
    from benchmarks import paper_run as made

    there = os.environ.get("NONGRATA_PAPER_RUN")
    return Path(there) if there else made.paper_run(folder)


def hostile_run(folder: Path) -> Path:
    """Labels' texts, questions, prompts and raw answers are hostile."""
    return hostile.hostile_run(folder)


def hostile_table(folder: Path) -> Path:
    """An imported table: names of models, labels, levels, questions and domains are hostile."""
    table = hostile.hostile_table(folder / "table.csv")
    out = folder / "imported"
    columns = {
        "--model": "model", "--persona": "label", "--factor": "wording", "--temperature": "temp",
        "--item": "item", "--domain": "domain", "--correct": "right",
    }  # fmt: skip
    options = [word for pair in columns.items() for word in pair]
    command = [*("import", "table", str(table), "-o", str(out), "--control", "none"), *options]
    said = subprocess.run(
        [sys.executable, "-m", "nongrata", *command, "--options", "4"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert said.returncode == 0, said.stderr
    return out


RUNS: dict[str, Callable[[Path], Path]] = {
    "demo": demo_run,
    "two-models": two_models_run,
    "paper": paper_run,
    "hostile": hostile_run,
    "hostile-table": hostile_table,
}


class Made:
    """Runs and their reports, made when they are first asked for.

    Parameters
    ----------
    folder
        Where to keep them; processes that share it share them.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def run(self, name: str) -> Path:
        """The run of this name."""
        home = self.folder / name
        home.mkdir(parents=True, exist_ok=True)
        note = home / "where"
        with FileLock(home / "run.lock"):
            if not note.exists():
                note.write_text(str(RUNS[name](home)), encoding="utf-8")
        return Path(note.read_text(encoding="utf-8"))

    def report(self, name: str, language: str = "en") -> Path:
        """The report on the run of this name; English and Spanish come from one analysis."""
        from nongrata.cli.reports import write_report
        from nongrata.study_results import study_results

        run = self.run(name)
        paths = {each: self.folder / name / f"{each}.html" for each in ("en", "es")}
        with FileLock(self.folder / name / "report.lock"):
            if not all(path.exists() for path in paths.values()):
                results = study_results(run)
                for each, path in paths.items():
                    write_report(results, path, each)
        return paths[language]
