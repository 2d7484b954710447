"""Texts from files and models do nothing in any output: they are shown, and that is all."""

from __future__ import annotations

import csv
import io
import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt
from typer.testing import CliRunner

from hostile import HOSTILE, hostile_names
from nongrata.analysis.model_data import Resampling
from nongrata.cli import app, register
from nongrata.report.build import build_document
from nongrata.report.document.blocks import Document, Table
from nongrata.report.document.pieces import Name
from nongrata.report.figures.drawing import draw
from nongrata.report.languages.language import language
from nongrata.report.page.page import render_page
from nongrata.report.tables.csv import csv_table
from nongrata.report.tables.html import html_table
from nongrata.report.tables.markdown import markdown_table
from nongrata.report.tables.wording import MOST_CHARACTERS, all_tables
from nongrata.report.tables.write import write_tables
from nongrata.study_results import study_results
from nongrata.terminal import visible
from report.latex_runs import pdflatex

pytest.importorskip("altair")
pytest.importorskip("vl_convert")

ENGLISH = language("en")
FORMULA = re.compile(r"\s*[=+\-@\t\r]")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return hostile_names(tmp_path_factory.mktemp("hostile"))


@pytest.fixture(scope="module")
def document(folder: Path) -> Document:
    return build_document(study_results(folder, resampling=Resampling(100, 5, 0)))


@pytest.fixture(scope="module")
def tables(document: Document) -> list[Table]:
    return all_tables(document)


class Elements(HTMLParser):
    """Elements and attributes of HTML, and whether a text shows something that acts."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: dict[str, int] = {}
        self.attributes: set[str] = set()
        self.links: set[str] = set()
        self.text = ""
        self._silent = 0
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] = self.tags.get(tag, 0) + 1
        self.attributes |= {name for name, _ in attrs}
        self.links |= {value or "" for name, value in attrs if name in {"href", "src", "action"}}
        self._silent += tag in {"script", "style"}

    def handle_endtag(self, tag: str) -> None:
        self._silent -= tag in {"script", "style"}

    def handle_data(self, data: str) -> None:
        self.text += "" if self._silent else data


@pytest.mark.parametrize("code", ["en", "es"])
def test_the_page_has_no_element_that_is_not_its_own(document: Document, code: str) -> None:
    page = Elements(render_page(document, language(code)))
    bare = Document(Name("bare"), (), {}, {"models": [], "notices": []})
    own = Elements(render_page(bare, language(code)))
    for tag in ("script", "style", "link", "meta", "title", "textarea", "base"):
        assert page.tags.get(tag, 0) == own.tags.get(tag, 0), tag
    assert not page.tags.keys() & {"img", "iframe", "object", "embed"}
    assert not any(name.startswith("on") or name in {"style", "srcdoc"} for name in page.attributes)
    assert all(link.startswith(("#", "data:,", "https://")) for link in page.links)
    assert not any("example.invalid" in link for link in page.links)
    assert HOSTILE["script"] in page.text
    assert visible(page.text) == page.text


def test_tables_in_html_hold_nothing_but_a_table(tables: list[Table]) -> None:
    for table in tables:
        html = html_table(table, ENGLISH)
        found = Elements(html)
        assert found.tags.keys() <= {
            "table", "caption", "thead", "tbody", "tfoot", "tr", "th", "td", "p", "span", "bdi",
            "data", "sup", "i",
        }  # fmt: skip
        assert found.attributes <= {
            "id", "lang", "class", "scope", "colspan", "value", "data-path",
        }  # fmt: skip
        assert visible(html) == html


def test_tables_in_markdown_show_names_as_they_are(tables: list[Table]) -> None:
    reader = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    for table in tables:
        tokens = reader.parse(markdown_table(table, ENGLISH))
        inline = [part for token in tokens for part in token.children or ()]
        live = {part.type for part in inline} - {"text", "softbreak", "strong_open", "strong_close"}
        assert live <= {"html_inline"}, live
        assert {part.content for part in inline if part.type == "html_inline"} <= {"<!-- -->"}
        rows = cells_of(tokens)
        assert all(len(row) == len(table.columns) for row in rows)
        shown = {row[0] for row in rows}
        for row in table.rows:
            if isinstance(row.cells[0], Name) and len(row.cells[0].text) < MOST_CHARACTERS:
                assert visible(row.cells[0].text, one_line=True).strip() in shown


def cells_of(tokens: list[Any]) -> list[list[str]]:
    rows: list[list[str]] = []
    for token, after in pairwise(tokens):
        if token.type == "tr_open":
            rows.append([])
        if token.type in {"th_open", "td_open"}:
            rows[-1].append("".join(p.content for p in after.children if p.type == "text"))
    return rows


def test_a_spreadsheet_finds_no_formula_in_csv(tables: list[Table]) -> None:
    for table in tables:
        rows = list(csv.reader(io.StringIO(csv_table(table, ENGLISH)), strict=True))
        assert {len(row) for row in rows} == {len(rows[0])}
        for cell in (cell for row in rows for cell in row):
            assert visible(cell, one_line=True) == cell
            assert not FORMULA.match(cell) or is_number(cell), cell
        names = {cell.removeprefix("'") for row in rows for cell in row}
        for row in table.rows:
            if isinstance(row.cells[0], Name):
                assert visible(row.cells[0].text, one_line=True) in names


def is_number(text: str) -> bool:
    return re.fullmatch(r"-?\d+(\.\d+)?(e[+-]?\d+)?", text) is not None


def test_figures_are_drawings_and_nothing_else(document: Document) -> None:
    seen = ""
    for chart in document.charts:
        if chart.facets.get("model", document.facets["model"][0]) != document.facets["model"][0]:
            continue
        svg = draw(chart, ENGLISH)
        assert visible(svg) == svg
        root = ET.fromstring(svg)
        for element in root.iter():
            tag = element.tag.rpartition("}")[2]
            assert tag in {
                "svg", "g", "path", "text", "rect", "line", "title", "desc", "tspan", "defs",
                "clipPath", "linearGradient", "radialGradient", "stop", "circle",
            }, (chart.id, tag)  # fmt: skip
            for name, value in element.attrib.items():
                assert not name.startswith("on"), (chart.id, name)
                assert "href" not in name
                assert "url(" not in value or value.startswith("url(#"), (chart.id, value)
        seen += "".join(root.itertext())
    assert HOSTILE["script"] in seen


def test_tables_compile_and_print_what_they_hold(document: Document, tmp_path: Path) -> None:
    write_tables(document, tmp_path, ENGLISH, ["tex"])
    shown = " ".join(pdflatex(tmp_path, "tables").split())
    assert not (tmp_path / "owned").exists()
    if shown:
        assert "root:" not in shown
        assert r"\input{/etc/passwd}" in shown
        assert "@SUM(1+1)" in shown


@pytest.mark.parametrize("command", [("analyze", "--about", "all"), ("findings",)])
def test_a_terminal_gets_no_control_character(folder: Path, command: tuple[str, ...]) -> None:
    register.commands(app)
    name, *options = command
    ran = CliRunner().invoke(app, [name, str(folder), *options, "--draws", "100"])
    assert ran.exit_code == 0, ran.output
    assert visible(ran.output) == ran.output
    plain = CliRunner().invoke(app, [name, str(folder), "--draws", "100", "--json"])
    assert plain.stdout.isascii()
    assert visible(plain.stdout) == plain.stdout


def test_names_of_files_are_letters_digits_and_hyphens(document: Document, tmp_path: Path) -> None:
    paths = write_tables(document, tmp_path, ENGLISH, ["md"])
    assert all(re.fullmatch(r"[a-zA-Z0-9-]+\.md", path.name) for path in paths)
    assert sorted(path.name for path in paths) == sorted(p.name for p in tmp_path.iterdir())
