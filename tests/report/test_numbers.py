"""Every number in a report is one of `nongrata analyze --json`, shown rounded and nothing else."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from hostile import hostile_names
from nongrata.analysis.model_data import Resampling
from nongrata.cli import app, register
from nongrata.loading import load_study
from nongrata.report.build import build_document
from nongrata.report.document.blocks import Document, Table
from nongrata.report.document.pieces import Estimate, Number
from nongrata.report.languages.language import language
from nongrata.report.page.page import render_page
from nongrata.report.page.script_data import packed, unpacked
from nongrata.report.tables.csv import csv_table
from nongrata.report.tables.html import html_table
from nongrata.report.tables.wording import all_tables
from nongrata.runner import run_study
from nongrata.study_results import study_results
from report.report_numbers import Page, Told, at, chart_faults, page_faults, shows
from studies import SIMULATED, Silent, loaded, small_study

pytest.importorskip("altair")
pytest.importorskip("vl_convert")

FEW = ("--draws", "100", "--splits", "5")


def two_models(folder: Path) -> Path:
    """Everything can be estimated."""
    second = SIMULATED | {"id": "other", "seed": 4, "ability": 1.2}
    run_study(loaded(small_study(models=[SIMULATED, second], replicates=2)), folder, Silent())
    return folder


def little(folder: Path) -> Path:
    """One label, one temperature, three questions, generated once: most figures are undefined."""
    values = small_study()
    values["personas"]["list"] = values["personas"]["list"][:1]
    values["questions"]["sources"][0]["take"] = 3
    values["factors"][2]["levels"] = [1]
    values["factors"][1]["levels"] = values["factors"][1]["levels"][1:]
    run_study(loaded(values), folder, Silent())
    return folder


def demo(folder: Path) -> Path:
    """The demo's shape, simulated."""
    model = "models=[{id: sim, engine: simulated, ability: 0.4, persona_sd: 0.3, unparsed: 0.1}]"
    run_study(load_study("demo", [model]), folder, Silent())
    return folder


def names(folder: Path) -> Path:
    """An imported table, with names that look like numbers, markup and formulas."""
    folder.mkdir()
    return hostile_names(folder)


@dataclass(frozen=True)
class Reported:
    """A folder of answers, its report, and what ``analyze --json`` prints."""

    printed: dict[str, Any]
    document: Document
    pages: dict[str, str]


@pytest.fixture(scope="module", params=[two_models, little, demo, names])
def reported(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Reported:
    make: Callable[[Path], Path] = request.param
    folder = make(tmp_path_factory.mktemp("numbers") / "run")
    register.commands(app)
    ran = CliRunner().invoke(app, ["analyze", str(folder), *FEW, "--json"])
    assert ran.exit_code == 0, ran.output
    document = build_document(study_results(folder, resampling=Resampling(100, 5, 0)))
    pages = {code: render_page(document, language(code)) for code in ("en", "es")}
    return Reported(json.loads(ran.stdout), document, pages)


@pytest.mark.parametrize("code", ["en", "es"])
def test_every_number_of_the_page_is_in_the_results(reported: Reported, code: str) -> None:
    page = reported.pages[code]
    assert Page(page).numbers
    assert list(page_faults(page, reported.printed)) == []
    assert list(chart_faults(reported.document, page, reported.printed)) == []


def test_every_number_of_tables_is_in_the_results(reported: Reported) -> None:
    english, told = language("en"), Told(reported.printed)
    for table in all_tables(reported.document):
        assert list(page_faults(html_table(table, english), reported.printed, told)) == []
        assert list(csv_faults(table, csv_table(table, english), reported.printed)) == []


def csv_faults(table: Table, text: str, results: Any) -> Any:
    """Numbers of a CSV file that are not to the last digit those of the results."""
    rows = list(csv.DictReader(io.StringIO(text)))
    names = next(csv.reader(io.StringIO(text)))
    assert len(rows) == len(table.rows)
    assert len(set(names)) == len(names)
    for i, column in enumerate(table.columns):
        key = column.key.replace("-", "_")
        name = next(each for each in rows[0] if each == key or each.startswith(f"{key}_"))
        for row, written in zip(table.rows, rows, strict=True):
            cell = row.cells[i]
            found = {"": cell} if isinstance(cell, Number) else {}
            if isinstance(cell, Estimate):
                found = {"": cell.value, "_low": cell.low, "_high": cell.high}
            for end, number in found.items():
                there = at(results, number.path) if number.value is not None else None
                if written[name + end] != ("" if there is None else repr(there)):
                    yield f"{table.id}.{name}{end}: {written[name + end]!r}, not {there!r}"


def test_a_number_that_is_another_one_is_found(reported: Reported) -> None:
    page = reported.pages["en"]
    value, path, shown = next(
        found for found in Page(page).numbers if "." in found[2] and "." in found[0]
    )
    other = repr(float(value) + 1e-9)
    assert page_faults_of(page.replace(f"value={value}", f"value={other}"), reported)
    moved = page.replace(f">{shown}</data>", ">123.4</data>")
    assert any(path in fault for fault in page_faults_of(moved, reported))
    named = re.search(r'data-path="([^"]+)"', page)
    assert named is not None
    assert page_faults_of(page.replace(named[0], f'data-path="{named[1]}/nowhere"'), reported)
    assert page_faults_of(page.replace("</main>", "<p>of 1,234.5 points</p></main>"), reported)


def page_faults_of(page: str, reported: Reported) -> list[str]:
    return list(page_faults(page, reported.printed))


def test_a_number_of_a_chart_that_is_another_one_is_found(reported: Reported) -> None:
    place = next(
        (dataset.name, name)
        for chart in reported.document.charts
        for dataset in chart.data
        for name, field in dataset.fields.items()
        if field.path and any(isinstance(value, float) for value in field.values)
    )
    page = reported.pages["en"]
    given = Page(page).embedded["packed"]
    embedded = unpacked(given)
    column = embedded["data"][place[0]][place[1]]["values"]
    at_ = next(i for i, value in enumerate(column) if isinstance(value, float))
    column[at_] = column[at_] * 1.0001 + 1e-6
    changed = page.replace(given, packed(embedded))
    assert list(chart_faults(reported.document, changed, reported.printed))


def test_a_number_of_a_csv_file_that_is_another_one_is_found(reported: Reported) -> None:
    for table in all_tables(reported.document):
        text = csv_table(table, language("en"))
        changed = re.sub(r"(\d\.\d{6,})(?=[,\r])", lambda m: m[1] + "1", text)
        if changed != text:
            assert list(csv_faults(table, changed, reported.printed))
            return
    pytest.fail("no table has a number with decimals")


@pytest.mark.parametrize(
    ("shown", "number", "right"),
    [
        ("−2.2", -2.249, True),
        ("+2.3", 2.25, True),
        ("2.3", 2.24, False),
        ("<.001", 0.0002, True),
        ("<.001", 0.002, False),
        (".012", 0.0123, True),
        ("1,234", 1234, True),
        ("1\u202f234", 1234, True),
        ("12", 12.6, False),
        ("–", 1.0, False),
    ],
)
def test_what_is_shown_is_the_number_rounded(shown: str, number: float, right: bool) -> None:
    assert shows(shown, number) is right
