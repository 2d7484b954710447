from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from nongrata.cli.findings import findings
from nongrata.runner import run_study
from studies import SIMULATED, Silent, loaded, small_study


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("findings") / "run"
    run_study(loaded(small_study(models=[SIMULATED], replicates=2)), folder, Silent())
    return folder


def call(*arguments: object) -> Any:
    app = typer.Typer()
    app.command()(findings)
    return CliRunner().invoke(app, [str(a) for a in arguments], env={"COLUMNS": "80"})


def test_it_answers_the_question(run: Path) -> None:
    result = call(run, "--draws", 100)
    assert result.exit_code == 0, result.output
    flat = " ".join(result.stdout.split())
    assert "Do conclusions survive a change of prompt and temperature?" in flat
    assert "Order of labels:" in flat
    assert "SIMULATED" in flat
    assert max(map(len, result.stdout.splitlines())) <= 80


def test_json_is_the_same_for_the_same_seed(run: Path) -> None:
    first, second = (call(run, "--draws", 100, "--json").stdout for _ in range(2))
    assert first == second
    data = json.loads(first)
    assert data["kind"] == "findings"
    assert data["alpha"] == 0.05
    assert data["notices"]
    part = data["models"][0]
    assert part["answer"]
    assert {t["family"] for t in part["tallies"]} >= {"effects", "controls", "pairs", "extremes"}
    for c in part["conclusions"]:
        assert c["verdict"] in ("robust", "fragile", "established", "undecided", "not rankable")


def test_no_run_is_a_mistake(tmp_path: Path) -> None:
    assert call(tmp_path / "nowhere").exit_code != 0
