from __future__ import annotations

import csv
import io

import pytest

from nongrata.report.document.blocks import Column, Row, Table
from nongrata.report.document.pieces import Name, Number, Text
from nongrata.report.languages.language import language
from nongrata.report.tables.csv import csv_table, csv_text
from report.tables.examples import example


def read(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text), strict=True))


def test_numbers_are_exact_and_have_their_intervals_units_and_reasons() -> None:
    text = csv_table(example(), language("en"))
    assert text.splitlines()[0] == (
        "model,group,label,questions,excess_points,excess_points_low,excess_points_high,"
        "share_percent,share_percent_reason,p,verdict"
    )
    first, second = read(text)
    assert first["excess_points"] == "-2.26"
    assert (first["excess_points_low"], first["excess_points_high"]) == ("-10.04", "5.5")
    assert first["questions"] == "1234"
    assert (second["share_percent"], second["share_percent_reason"]) == ("", "no pairs")
    assert second["excess_points_low"] == ""


def test_groups_go_on_and_tables_say_what_they_are_about() -> None:
    table = example()
    more = Table(table.id, table.caption, table.columns, (*table.rows, table.rows[0]),
                 facets=table.facets)  # fmt: skip
    rows = read(csv_table(more, language("en")))
    assert [row["group"] for row in rows] == ["", "Controls", "Controls"]
    assert {row["model"] for row in rows} == {"m_1"}


def test_lines_end_as_rfc_4180_says() -> None:
    text = csv_table(example(), language("en"))
    assert text.endswith("\r\n")
    assert text.count("\r\n") == text.count("\n") == 3


@pytest.mark.parametrize("start", ["=", "+", "-", "@", " =", "\t", "\r", "＝"])
def test_a_text_is_no_formula_and_a_number_stays_one(start: str) -> None:
    assert csv_text(start + "1") == f"'{start}1"
    column = (Column("name", Text("name"), kind="name"), Column("x", Text("x")))
    row = Row((Name(start + "1"), Number(-1.5, "/x")))
    (found,) = read(csv_table(Table("t", Text("t"), column, (row,)), language("en")))
    assert found["x"] == "-1.5"
    assert found["name"].startswith("'") or found["name"].startswith("\\")


def test_a_unit_of_each_number_has_a_column() -> None:
    columns = (Column("what", Text("what"), kind="name"), Column("x", Text("x")))
    rows = (Row((Name("a"), Number(1.0, "/x", unit="points"))), Row((Name("b"), Number(2.0, "/y"))))
    found = read(csv_table(Table("t", Text("t"), columns, rows), language("en")))
    assert [row["x_unit"] for row in found] == ["points", ""]
