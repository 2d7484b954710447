from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from nongrata.yaml_files import dump_yaml
from studies import SIMULATED, small_study


def nongrata(*arguments: object, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "nongrata", *map(str, arguments)],
        cwd=cwd,
        capture_output=True,
        text=True,
        env={**os.environ, "NO_COLOR": "1", "COLUMNS": "120", **environment},
        timeout=120,
    )


@pytest.fixture
def study(tmp_path: Path) -> Path:
    path = tmp_path / "study.yaml"
    path.write_text(dump_yaml(small_study()), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def done(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cli")
    (folder / "study.yaml").write_text(dump_yaml(small_study()), encoding="utf-8")
    result = nongrata("run", "study.yaml", "--out", "run", cwd=folder)
    assert result.returncode == 0, result.stderr
    return folder


def test_the_papers_counts_on_the_command_line(tmp_path: Path) -> None:
    started = time.perf_counter()
    result = nongrata("plan", "paper", "--json", cwd=tmp_path)
    assert time.perf_counter() - started < 5
    plan = json.loads(result.stdout)
    assert plan["answers_per_model"] == 9_865_584
    assert plan["answers"] == 49_327_920
    assert plan["passes_per_model"] == 6_436_692


def test_init_plan_run_analyze_show_status(tmp_path: Path) -> None:
    assert nongrata("init", "my.yaml", "--preset", "smoke", cwd=tmp_path).returncode == 0
    assert "3,456" in nongrata("plan", "my.yaml", cwd=tmp_path).stdout
    ran = nongrata("run", "my.yaml", "--out", "run", cwd=tmp_path)
    assert ran.returncode == 0
    assert "3,456 answers" in ran.stdout
    shown = nongrata("analyze", "run", cwd=tmp_path).stdout
    for word in ("IA", "IO", "IQ", "no language model was asked", "says nothing about people"):
        assert word in " ".join(shown.split())
    assert "complete" in nongrata("status", "run", cwd=tmp_path).stdout
    question = json.loads(
        nongrata("questions", "show", "--study", "my.yaml", "--json", cwd=tmp_path).stdout
    )
    assert len(question["questions"]) == 5


def test_results_as_json(done: Path) -> None:
    analysis = json.loads(nongrata("analyze", "run", "--json", cwd=done).stdout)
    assert analysis["kind"] == "analysis"
    status = json.loads(nongrata("status", "run", "--json", cwd=done).stdout)
    assert status["complete"]
    again = json.loads(nongrata("run", "study.yaml", "--out", "run", "--json", cwd=done).stdout)
    assert again["requests"] == 0


def test_show_puts_configurations_side_by_side(done: Path) -> None:
    question = pl.read_parquet(done / "run" / "questions.parquet")["id"][0]
    arguments = ("show", "run", "--question", question, "--persona", "no-persona")
    shown = nongrata(*arguments, "--prompts", cwd=done).stdout
    assert "you · answer · 0.5" in shown
    assert "(empty)" in shown  # the explicit, empty system turn
    assert "same request as above" in shown
    values = json.loads(nongrata(*arguments, "--json", cwd=done).stdout)
    assert len(values["answers"]) == 12
    exact = [a for a in values["answers"] if a["reading"] == "first_token"]
    for answer in exact:
        total = sum(answer["label_probabilities"].values()) + answer["outside"]
        assert total == pytest.approx(1, abs=1e-6)


def mistakes() -> list[Any]:
    return [
        pytest.param(("plan", "papre"), "did you mean the preset 'paper'", id="preset"),
        pytest.param(("plan", "study.yaml", "--set", "sed=3"), "did you mean 'seed'", id="key"),
        pytest.param(("run", "paper", "--out", "x"), "pin it: --set models.", id="revision"),
        pytest.param(("analyze", "nowhere"), "no run directory", id="run"),
        pytest.param(("status", "study.yaml"), "no run directory", id="file"),
        pytest.param(("init", "study.yaml"), "this file exists", id="overwrite"),
        pytest.param(("run", "study.yaml", "--out", "study.yaml"), "this is a file", id="out"),
        pytest.param(("run", "study.yaml", "--out", "."), "holds no run", id="foreign folder"),
        pytest.param(("run", "study.yaml", "--out", "study.yaml/x"), "cannot be", id="no folder"),
        pytest.param(("plan", "."), "this is a folder", id="folder"),
    ]


@pytest.mark.parametrize(("arguments", "says"), mistakes())
def test_a_mistake_is_one_sentence_and_status_2(
    study: Path, arguments: tuple[str, ...], says: str
) -> None:
    before = sorted(path.name for path in study.parent.iterdir())
    result = nongrata(*arguments, cwd=study.parent)
    assert result.returncode == 2
    assert says in result.stderr
    assert "Traceback" not in result.stderr
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""
    assert sorted(path.name for path in study.parent.iterdir()) == before


def test_a_wrong_question_is_named(done: Path) -> None:
    result = nongrata("show", "run", "--question", "starter/mathematics/1", cwd=done)
    assert result.returncode == 2
    assert "did you mean" in result.stderr


def test_a_limited_run_says_so_everywhere(study: Path) -> None:
    folder = study.parent
    assert "not a result" in nongrata("plan", study, "--limit", 3, cwd=folder).stdout
    assert "not a result" in nongrata("run", study, "--out", "r", "--limit", 3, cwd=folder).stdout
    question = pl.read_parquet(folder / "r" / "questions.parquet")["id"][0]
    for command in (("status", "r"), ("analyze", "r"), ("show", "r", "--question", question)):
        shown = nongrata(*command, cwd=folder).stdout
        assert "not a result" in " ".join(shown.split()).lower(), command
    assert (
        json.loads(nongrata("run", study, "--out", "r", "--limit", 3, "--json", cwd=folder).stdout)[
            "limit"
        ]
        == 3
    )
    assert json.loads(nongrata("analyze", "r", "--json", cwd=folder).stdout)["notices"]


def test_a_second_process_is_told(study: Path) -> None:
    folder = study.parent
    slow = small_study(models=[SIMULATED | {"delay": 0.02, "block": 10}])
    study.write_text(dump_yaml(slow), encoding="utf-8")
    command = [sys.executable, "-m", "nongrata", "run", str(study), "--out", "r"]
    first = subprocess.Popen(command, cwd=folder, stderr=subprocess.DEVNULL)
    try:
        while not (folder / "r" / "commits.jsonl").is_file():
            time.sleep(0.05)
            assert first.poll() is None
        result = nongrata("run", study, "--out", "r", cwd=folder)
        assert result.returncode == 2
        assert f"process {first.pid}" in result.stderr
        # reading is free, also while it runs
        assert nongrata("status", "r", cwd=folder).returncode == 0
    finally:
        first.kill()
        first.wait()


def test_progress_is_told_where_there_is_no_terminal(study: Path, tmp_path: Path) -> None:
    slow = small_study(models=[SIMULATED | {"delay": 0.03, "block": 20}])
    study.write_text(dump_yaml(slow), encoding="utf-8")
    result = nongrata("run", study, "--out", "r", cwd=tmp_path)
    assert "left" in result.stderr
    assert "/s" in result.stderr
    assert "unparsed" in result.stderr


def test_a_reader_that_stops_reading_is_no_error(done: Path) -> None:
    command = f"{sys.executable} -m nongrata analyze run | head -1"
    result = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command], cwd=done, capture_output=True, text=True
    )
    assert "Traceback" not in result.stderr
    assert "BrokenPipe" not in result.stderr


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_rows_can_be_told_apart_at_any_width(done: Path, columns: int) -> None:
    shown = nongrata("analyze", "run", cwd=done, COLUMNS=str(columns)).stdout
    for name in ("persona_format", "temperature", "a-cook", "a-pilot"):
        assert name in shown


def test_a_terminal_without_unicode_is_no_error(done: Path) -> None:
    result = nongrata("analyze", "run", cwd=done, PYTHONIOENCODING="ascii")
    assert result.returncode == 0
    assert "Traceback" not in result.stderr


def test_responses_join_as_the_page_says(done: Path) -> None:
    run = done / "run"
    rows = pl.read_parquet(run / "responses" / "*.parquet")
    questions = pl.read_parquet(run / "questions.parquet")
    design = pl.read_parquet(run / "design.parquet")
    prompts = pl.read_parquet(run / "prompts.parquet")
    assert set(rows["model"].cast(pl.String)) == {"sim"}
    joined = rows.join(questions, left_on="question", right_on="question_hash")
    assert len(joined) == len(rows)
    assert len(rows.join(prompts, on=["skeleton", "question"])) == len(rows)
    # accuracy of a generated cell, by hand and by the command
    cell = design.filter(persona="a-cook", persona_format="you", task="explain", temperature="1")
    mine = joined.filter(
        pl.col("temperature") == 1, pl.col("skeleton").is_in(cell["skeleton"].to_list())
    )
    right = (mine["option"] == mine["answer"]).fill_null(value=False)
    assert len(mine) == 8
    values = json.loads(nongrata("analyze", "run", "--json", cwd=done).stdout)
    text = json.dumps(values)
    assert f"{right.mean()}" in text or f"{100 * right.mean()}" in text


def test_hostile_text_does_not_reach_the_terminal(tmp_path: Path) -> None:
    hostile = "\x1b]0;owned\x07\x1b[31m\u202e<b>[red]x[/red]"
    values = small_study(personas={"list": [{"id": "x", "text": hostile}]})
    (tmp_path / "s.yaml").write_text(dump_yaml(values), encoding="utf-8")
    shown = nongrata("plan", "s.yaml", "--show", "3", cwd=tmp_path).stdout
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert "\\x1b]0;owned" in shown
    assert "[red]x[/red]" in shown
