from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from nongrata.cli.reports import refuse_unwritable, report, write_report
from nongrata.errors import NongrataError
from nongrata.runner import run_study
from nongrata.study_results import study_results
from studies import SIMULATED, Silent, loaded, small_study

QUICK = ("--draws", 100, "--splits", 2)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report") / "run"
    run_study(loaded(small_study(models=[SIMULATED], replicates=2)), folder, Silent())
    return folder


def call(*arguments: object) -> Any:
    app = typer.Typer()
    app.command()(report)
    return CliRunner().invoke(app, [str(a) for a in arguments], env={"COLUMNS": "80"})


def title_of(page: Path) -> str:
    found = re.search(r"<title>(.*)</title>", page.read_text(encoding="utf-8"))
    assert found
    return found[1]


def test_it_writes_the_page_and_says_where(run: Path, tmp_path: Path) -> None:
    page = tmp_path / "new" / "a report.html"
    result = call(run, "-o", page, *QUICK)
    assert result.exit_code == 0, result.output
    assert f"report: {page} (" in result.stdout
    assert "MB)" in result.stdout
    assert "Open it in any browser" in result.stdout
    assert title_of(page) == "small"
    assert [file.name for file in page.parent.iterdir()] == [page.name]


def test_left_out_it_goes_into_the_run_and_replaces_the_last(run: Path) -> None:
    page = run / "report.html"
    page.write_text("old")
    result = call(run, "--lang", "es", "--json", *QUICK)
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert told == {
        "kind": "report", "path": str(page), "bytes": page.stat().st_size, "language": "es",
    }  # fmt: skip
    assert '<html lang="es">' in page.read_text(encoding="utf-8")


def test_options_reach_the_analysis(run: Path, tmp_path: Path) -> None:
    pages = []
    for number, seed in enumerate((1, 1, 2)):
        path = tmp_path / f"{number}.html"
        options = ("--seed", seed, "--unread", "right", "--smallest-effect", 2, *QUICK)
        assert call(run, "-o", path, *options).exit_code == 0
        pages.append(path.read_bytes())
    assert pages[0] == pages[1]
    assert pages[0] != pages[2]


@pytest.mark.parametrize(("options", "sentence"), [
    (("-o", "."), "is a folder"),
    (("-o", "file/report.html"), "is no folder"),
    (("--lang", "de"), "there is no report in 'de'; choose one of: en, es"),
])  # fmt: skip
def test_what_cannot_be_is_said_before_anything_is_computed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], sentence: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("file").write_text("kept")
    result = call(tmp_path / "no run here", *options)
    assert isinstance(result.exception, NongrataError)
    assert sentence in str(result.exception)
    assert "\n" not in str(result.exception)
    assert Path("file").read_text() == "kept"


def test_a_folder_that_cannot_be_written_to_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # whoever runs the tests may be allowed everything
    monkeypatch.setattr("nongrata.cli.reports.os.access", lambda path, mode: False)
    with pytest.raises(NongrataError, match="Permission denied; name a file elsewhere"):
        refuse_unwritable(tmp_path / "report.html")


def test_a_folder_without_answers_gets_no_report(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    result = call(tmp_path / "empty")
    assert isinstance(result.exception, NongrataError)
    assert not list((tmp_path / "empty").iterdir())


def test_write_report_says_how_large_it_is(run: Path, tmp_path: Path) -> None:
    from nongrata.analysis.model_data import Resampling

    results = study_results(run, resampling=Resampling(100, 2, 0))
    page = tmp_path / "r.html"
    assert write_report(results, page) == page.stat().st_size
