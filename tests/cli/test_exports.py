from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from nongrata.cli import app, register
from nongrata.errors import NongrataError
from nongrata.runner import run_study
from studies import SIMULATED, Silent, loaded, small_study

pytest.importorskip("altair")
pytest.importorskip("vl_convert")

FEW = ("--draws", "100", "--splits", "5")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("exports") / "run"
    run_study(loaded(small_study(models=[SIMULATED])), folder, Silent())
    return folder


@pytest.fixture(scope="module")
def command() -> Any:
    register.commands(app)

    def call(*arguments: object) -> Any:
        words = [str(a) for a in arguments]
        ran = CliRunner().invoke(app, words, env={"COLUMNS": "100"})
        if isinstance(ran.exception, NongrataError):
            raise ran.exception
        return ran

    return call


def test_tables_are_written_beside_the_run(run: Path, command: Any) -> None:
    ran = command("tables", run, *FEW)
    assert ran.exit_code == 0, ran.output
    folder = run / "tables"
    assert re.search(r"tables: \d+ files in .*; tables\.md lists them", ran.stdout)
    names = {path.name for path in folder.iterdir()}
    assert {"tables.md", "tables.tex"} <= names
    stems = {name.rpartition(".")[0] for name in names} - {"tables"}
    assert {f"{stem}.{e}" for stem in stems for e in ("md", "tex", "html", "csv")} <= names


def test_ids_are_listed_and_one_is_written(run: Path, command: Any, tmp_path: Path) -> None:
    listed = json.loads(command("tables", run, *FEW, "--list", "--json").stdout)
    first = listed["tables"][0]
    assert first["id"] in command("tables", run, *FEW, "--list").stdout
    out = tmp_path / "one"
    said = command(
        "tables", run, *FEW, "--only", first["id"], "--format", "csv", "-o", out, "--json"
    )
    files = json.loads(said.stdout)
    assert files == {
        "kind": "tables",
        "folder": str(out),
        "files": [f"{first['id']}.csv", "tables.md"],
    }
    with pytest.raises(NongrataError, match="there is no table 'nothing'"):
        command("tables", run, *FEW, "--only", "nothing", "-o", out)


def test_figures_are_drawn(run: Path, command: Any, tmp_path: Path) -> None:
    listed = json.loads(command("figures", run, *FEW, "--list", "--json").stdout)
    first, second = (each["id"] for each in listed["figures"][:2])
    options = ("--only", first, "--only", second, "--format", "svg", "--theme", "dark")
    ran = command("figures", run, *FEW, *options, "-o", tmp_path, "--lang", "es", "--json")
    assert json.loads(ran.stdout)["files"] == [f"{first}.svg", f"{second}.svg", "figures.md"]
    assert 'lang="es"' in (tmp_path / f"{first}.svg").read_text("utf-8")


@pytest.mark.parametrize("what", ["tables", "figures"])
def test_mistakes_are_told_before_anything_is_computed(
    run: Path, command: Any, tmp_path: Path, what: str
) -> None:
    with pytest.raises(NongrataError, match="there is no report in 'fr'"):
        command(what, run, "--lang", "fr")
    with pytest.raises(NongrataError, match="no run directory"):
        command(what, tmp_path / "nowhere")
    assert command(what, run, "--format", "gif").exit_code == 2


def test_unread_answers_can_be_taken_as_right(run: Path, command: Any, tmp_path: Path) -> None:
    texts = []
    for unread in ("wrong", "right"):
        out = tmp_path / unread
        command("tables", run, *FEW, "--unread", unread, "--format", "csv", "-o", out)
        texts.append("".join(sorted(path.read_text("utf-8") for path in out.glob("*.csv"))))
    assert texts[0] != texts[1]
