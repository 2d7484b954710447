from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
import typer
from rich.console import Console
from typer.testing import CliRunner

from nongrata.analysis import analyze
from nongrata.cli import imports
from nongrata.errors import NongrataError
from nongrata.interop import load_responses

OPTIONS = (
    *("--item", "id", "--persona", "who", "--factor", "prompt=fmt", "--answer", "said"),
    *("--gold", "key", "--options", "A,B,C,D", "--control", "nobody"),
)


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    path = tmp_path / "answers.csv"
    rows = ["id,who,fmt,said,key"]
    for q in range(12):
        for p, who in enumerate(("nurse", "pilot", "nobody")):
            for f, fmt in enumerate(("plain", "role")):
                said = "ABCD"[q % 4] if (q * 7 + p * 3 + f) % 5 else "E"
                rows.append(f"q{q},{who},{fmt},{said},{'ABCD'[q % 4]}")
    path.write_text("\n".join([*rows, "q0,nurse,\x1b[31mred"]) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def command() -> Any:
    app = typer.Typer()
    app.add_typer(imports.app, name="import")

    def call(*arguments: object, columns: int = 80) -> Any:
        return CliRunner().invoke(
            app, ["import", "table", *map(str, arguments)], env={"COLUMNS": str(columns)}
        )

    return call


def test_a_table_is_imported_and_analysed_in_two_steps(
    answers: Path, tmp_path: Path, command: Any
) -> None:
    out = tmp_path / "out"
    result = command(answers, "-o", out, *OPTIONS)
    assert result.exit_code == 0, result.output
    assert all(len(line) <= 80 for line in result.stdout.splitlines() if str(tmp_path) not in line)
    flat = " ".join(result.stdout.split())
    assert "73 rows, 72 answers" in flat
    assert "1 row or answer could not be used as it stands" in flat
    # a long path folds, so white space says nothing
    assert "answers.csv:74:therowhas3cellsandtheheader5" in "".join(flat.split())
    assert "E 14x" in flat or "E 15x" in flat
    assert "\x1b" not in result.stdout
    found = load_responses(out)
    assert found["is_control"].to_numpy().tolist() == [False, False, True]
    assert analyze(found).chance.of("model").answers == 72


def test_as_json_it_is_the_import_s_own_record(answers: Path, tmp_path: Path, command: Any) -> None:
    result = command(answers, "-o", tmp_path / "out", *OPTIONS, "--json")
    data = json.loads(result.stdout)
    assert data["kind"] == "import"
    assert data["counts"]["answers"] == 72
    assert data["factors"] == {"prompt": ["plain", "role"]}
    assert data["malformed"]["total"] == 1


def test_options_from_a_file(answers: Path, tmp_path: Path, command: Any) -> None:
    mapping = tmp_path / "mapping.yaml"
    mapping.write_text(
        "item: id\npersona: who\nfactors: {prompt: fmt}\nanswer: said\ngold: key\n"
        "options: [A, B, C, D]\ncontrols: [nobody]\n",
        encoding="utf-8",
    )
    first = command(answers, "-o", tmp_path / "one", *OPTIONS, "--json")
    second = command(answers, "-o", tmp_path / "two", "--map", mapping, "--json")
    assert first.stdout == second.stdout


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--item", "id", "--correct", "ok"), "there is no column 'ok'"),
        (("--item", "id"), "one column must hold the answers"),
        (("--item", "id", "--answer", "said", "--gold", "solution"), "no column 'solution'"),
        ((*OPTIONS, "--strict"), "answers.csv:74"),
        ((*OPTIONS, "--factor", "prompt=who"), "given twice"),
        ((*OPTIONS, "--control", "noone"), "no row has the control 'noone'"),
    ],
)
def test_mistakes_are_one_sentence(
    answers: Path, tmp_path: Path, command: Any, options: tuple[str, ...], said: str
) -> None:
    result = command(answers, "-o", tmp_path / "out", *options)
    assert isinstance(result.exception, NongrataError)
    assert said in str(result.exception)
    assert not (tmp_path / "out").exists()
    assert [path for path in tmp_path.iterdir() if path.name.endswith(".tmp")] == []


def test_progress_says_rate_and_time_left_after_two_seconds() -> None:
    now = [0.0]
    screen = Console(file=io.StringIO(), width=100)
    progress = imports.ImportProgress(screen, clock=lambda: now[0])
    with progress:
        for second in range(1, 10):
            now[0] = float(second)
            progress.step("reading", second * 10_000_000, 100_000_000)
    said = screen.file.getvalue().splitlines()
    assert said == ["reading: 20%, 10.0 MB/s, 8 s left", "reading: 70%, 10.0 MB/s, 3 s left"]
