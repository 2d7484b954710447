from __future__ import annotations

from pathlib import Path

import pytest

from nongrata.errors import NongrataError
from nongrata.report.document.blocks import Chart, Document, Section, Table
from nongrata.report.document.pieces import Name, Text
from nongrata.report.languages.language import language
from nongrata.report.tables.wording import all_tables
from nongrata.report.tables.write import write_tables
from report.latex_runs import pdflatex
from report.tables.examples import example

ENGLISH = language("en")


def document() -> Document:
    table = example()
    beside = Table("beside", Text("Beside"), table.columns, table.rows)
    chart = Chart("chart", Text("Chart"), Text("words"), {}, (), table=beside)
    again = Chart("again", Text("Chart"), Text("words"), {}, (), table=table)
    blocks = (chart, table, again)
    return Document(Name("study"), (Section("s", Text("S"), Text("?"), blocks),), {}, {})


def test_every_table_is_written_once_in_every_format(tmp_path: Path) -> None:
    assert [table.id for table in all_tables(document())] == ["beside", "accuracy"]
    paths = write_tables(document(), tmp_path / "new", ENGLISH)
    assert [path.name for path in paths] == [
        *(f"beside.{ending}" for ending in ("md", "tex", "html", "csv")),
        *(f"accuracy.{ending}" for ending in ("md", "tex", "html", "csv")),
        "tables.md",
        "tables.tex",
    ]
    assert all(path.is_file() for path in paths)
    index = (tmp_path / "new" / "tables.md").read_text("utf-8")
    assert r"- `accuracy`: Accuracy of m\_1 ([md](accuracy.md) [tex](accuracy.tex)" in index


def test_the_page_of_all_tables_compiles(tmp_path: Path) -> None:
    write_tables(document(), tmp_path, ENGLISH, ["tex"])
    pdflatex(tmp_path, "tables")


def test_what_else_is_in_the_folder_stays(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("mine")
    (tmp_path / "accuracy.csv").write_text("an older one")
    paths = write_tables(document(), tmp_path, ENGLISH, ["csv"], only=["accuracy"])
    assert [path.name for path in paths] == ["accuracy.csv", "tables.md"]
    assert (tmp_path / "README.md").read_text() == "mine"
    assert "a_cook" in (tmp_path / "accuracy.csv").read_text("utf-8")
    assert {path.name for path in tmp_path.iterdir()} == {"README.md", "accuracy.csv", "tables.md"}


def test_nothing_is_written_where_something_is_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "beside.csv").mkdir()
    with pytest.raises(NongrataError, match="a folder stands where a file is to be written"):
        write_tables(document(), tmp_path, ENGLISH)
    assert [path.name for path in tmp_path.iterdir()] == ["beside.csv"]
    (tmp_path / "file").write_text("")
    with pytest.raises(NongrataError, match="this is a file"):
        write_tables(document(), tmp_path / "file", ENGLISH)


def test_a_slip_is_guessed(tmp_path: Path) -> None:
    with pytest.raises(NongrataError, match="no table 'acuracy'; did you mean 'accuracy'"):
        write_tables(document(), tmp_path, ENGLISH, only=["acuracy"])
    assert not list(tmp_path.iterdir())
