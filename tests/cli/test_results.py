from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from nongrata.analysis.model_data import Resampling
from nongrata.cli import app, register
from nongrata.runner import run_study
from nongrata.study_results import study_results
from studies import SIMULATED, Silent, loaded, small_study


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("results") / "run"
    values = small_study(models=[SIMULATED], replicates=2)
    values["factors"][1]["levels"][1]["set"] = {"final_letter": "distribution"}
    run_study(loaded(values), folder, Silent())
    return folder


@pytest.fixture(scope="module")
def command() -> Any:
    register.commands(app)

    def call(*arguments: object) -> Any:
        return CliRunner().invoke(app, [str(a) for a in arguments], env={"COLUMNS": "100"})

    return call


def test_rerun_prints_a_table(run: Path, command: Any) -> None:
    result = command("rerun", run, "--draws", 20)
    assert result.exit_code == 0, result.output
    flat = " ".join(result.stdout.split())
    assert "20 re-runs of the same study" in flat
    assert "IA (points)" in flat
    assert "SIMULATED" in flat
    assert "it is no uncertainty about other questions" in flat


def test_rerun_as_json_is_the_same_for_the_same_seed(run: Path, command: Any) -> None:
    first, second, other = (
        command("rerun", run, "--draws", 10, "--seed", seed, "--json").stdout for seed in (1, 1, 2)
    )
    assert first == second
    assert first != other
    data = json.loads(first)
    assert data["kind"] == "rerun"
    assert data["draws"] == 10
    assert data["notices"]
    assert {basis["basis"] for basis in data["models"][0]["bases"]} == {"exact", "fixed", "letters"}


def test_the_preprint_s_personas_can_be_asked_for(run: Path, command: Any) -> None:
    data = json.loads(
        command("rerun", run, "--draws", 5, "--personas", "as_preprint", "--json").stdout
    )
    assert data["persona_set"] == "as_preprint"
    assert data["models"][0]["personas"] == 5


def test_a_rerun_of_no_run_is_a_mistake(tmp_path: Path, command: Any) -> None:
    result = command("rerun", tmp_path / "nowhere")
    assert result.exit_code != 0


def test_analyze_shows_letters_beside_draws(run: Path, command: Any) -> None:
    shown = " ".join(command("analyze", run).stdout.split())
    assert "Generated answers by their final letter" in shown
    data = json.loads(command("analyze", run, "--json").stdout)
    letters = data["accuracy"]["models"][0]["letters"]
    assert letters["cells"] == 3 * 2 * 3  # labels x persona formats x temperatures
    assert 0 < letters["variance_ratio"] < 1
    assert letters["letter_sd"] > 0
    exact = [row for row in data["accuracy"]["cells"] if row["levels"][1] == "answer"]
    assert all(row["letters"] is None for row in exact)


def test_analyze_as_json_is_all_that_is_computed(run: Path, command: Any) -> None:
    few = ("--draws", 100, "--splits", 5)
    printed = json.loads(command("analyze", run, *few, "--json").stdout)
    results = study_results(run, resampling=Resampling(100, 5, 0))
    assert printed == json.loads(json.dumps(results.as_dict()))
    assert printed["format"] == 3
    assert printed["findings"]["models"][0]["model"] == "sim"
    assert {"temperature_curves", "provenance", "noise", "ranking"} <= printed.keys()
    assert (printed["draws"], printed["splits"]) == (100, 5)
    right = json.loads(command("analyze", run, *few, "--unread", "right", "--json").stdout)
    assert right["unread"] == "right"
    assert right["accuracy"] != printed["accuracy"]
