"""``nongrata questions``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from nongrata.cli.questions import app
from nongrata.errors import NongrataError

ROWS = [
    {"id": "own/1", "question": "[red]1 + 1?[/red] :smile:", "choices": ["1", "2"], "answer": 1},
    {"id": "own/2", "question": "\x1b[31mred?", "choices": ["[b]None[/b]", "None"], "answer": 0},
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "own.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return path


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(a) for a in arguments], env={"COLUMNS": "200"})


def test_check_prints_what_it_found(file: Path) -> None:
    result = run("check", file)
    assert result.exit_code == 0
    assert "2 questions (own 2)" in result.output
    assert "choices that loaders take for a missing value" in result.output
    assert "own/2" in result.output


def test_check_prints_json(file: Path) -> None:
    result = run("check", file, "--json")
    report = json.loads(result.output)
    assert (report["kind"], report["n"]) == ("questions_report", 2)
    assert {f["code"] for f in report["findings"]} >= {"c0_controls", "null_words"}


def test_show_interprets_nothing(file: Path) -> None:
    result = run("show", file, "--id", "own/1", "--id", "own/2")
    assert result.exit_code == 0
    assert "[red]1 + 1?[/red] :smile:" in result.output
    assert "\\x1b[31mred?" in result.output
    assert "✓ A. [b]None[/b]" in result.output
    assert "\x1b" not in result.output


def test_show_draws_some(file: Path) -> None:
    assert run("show", file, "--n", "1").output.count("✓") == 1


def test_show_without_a_file_needs_one() -> None:
    error = run("show").exception
    assert isinstance(error, NongrataError)
    assert "name a file, or a study with --study" in str(error)


def test_an_unknown_id_is_told_with_a_guess(file: Path) -> None:
    error = run("show", file, "--id", "own/3").exception
    assert isinstance(error, NongrataError)
    assert "there is no question 'own/3'; did you mean 'own/" in str(error)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--format", "csv"], "--format: input should be 'normalised', 'mmlu_hub'"),
        (["--format", "normad_csv"], "NormAd needs 'condition'"),
        (["--format", "table", "--column", "stem"], "--column: 'stem' is not KEY=NAME"),
        (["--format", "table", "--column", "stem=q"], "unknown key 'stem'"),
        (["--study", "x.yaml"], "give files or --study, not both"),
    ],
)
def test_options_that_do_not_fit_are_refused(file: Path, options: list[str], said: str) -> None:
    error = run("check", file, *options).exception
    assert isinstance(error, NongrataError)
    assert said in str(error)


def test_a_table_is_mapped_by_options(tmp_path: Path) -> None:
    path = tmp_path / "my table.csv"
    path.write_text("q,a,b,key\nWho?,x,y,B\n")
    columns = ["question=q", "choices=a", "choices=b", "answer=key"]
    options = [part for column in columns for part in ("--column", column)]
    result = run("show", path, "--format", "table", "--answer-form", "letter", *options)
    assert "my-table/0" in result.output
    assert "✓ B. y" in result.output


def test_the_starter_set_needs_no_file() -> None:
    assert run("check", "--format", "starter", "--json").exit_code == 0


def test_a_study_names_its_sources(tmp_path: Path, file: Path) -> None:
    result = run("show", "--study", "demo", "--n", "2")
    assert result.exit_code == 0, result.exception
    assert result.output.count("✓") == 2
