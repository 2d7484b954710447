"""Strict readers: nothing guessed, nothing trimmed, every mistake with its place."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nongrata.errors import NongrataError
from nongrata.questions.readers import csv_cells, csv_rows, jsonl_rows, parquet_rows, table_rows

# what is valid in a file: any text without NUL and surrogates
TEXT = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"))
SLOW = settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])


@SLOW
@given(st.lists(st.dictionaries(st.sampled_from("abc"), TEXT, min_size=1), min_size=1))
def test_jsonl_gives_back_every_text(tmp_path: Path, rows: list[dict[str, str]]) -> None:
    path = tmp_path / "q.jsonl"
    path.write_bytes("".join(json.dumps(r, ensure_ascii=False) + "\n" for r in rows).encode())
    assert [dict(row.values) for row in jsonl_rows(path, [])] == rows


@SLOW
@given(st.lists(st.tuples(TEXT, TEXT), min_size=1))
def test_csv_gives_back_every_text(tmp_path: Path, rows: list[tuple[str, str]]) -> None:
    path = tmp_path / "q.csv"
    sheet = io.StringIO(newline="")
    csv.writer(sheet, quoting=csv.QUOTE_ALL).writerows([("a", "b"), *rows])
    path.write_bytes(sheet.getvalue().encode())
    assert [(r.values["a"], r.values["b"]) for r in csv_rows(path, [])] == rows


@pytest.mark.parametrize(
    "text", ["None", "Na", "NA", "nan", "TRUE", "FALSE", "0", "007", "0,1", "1,493", "=1+1", " x "]
)
def test_no_type_is_guessed(tmp_path: Path, text: str) -> None:
    path = tmp_path / "q.csv"
    path.write_text(f'a,b\n"{text}",x\n')
    assert next(csv_rows(path, [])).values["a"] == text


@pytest.mark.parametrize("inside", ["\x85", "\u2028", "\u2029", "\x0b", "\x0c", "\x1c", "\ufeff"])
def test_only_a_newline_ends_a_line(tmp_path: Path, inside: str) -> None:
    sheet = tmp_path / "q.csv"
    sheet.write_text(f"a,b\nx{inside}y,2\n", "utf-8")
    assert [r.values["a"] for r in csv_rows(sheet, [])] == [f"x{inside}y"]
    if inside >= " ":  # JSON has the others escaped
        lines = tmp_path / "q.jsonl"
        lines.write_text('{"a": "x' + inside + 'y"}\n', "utf-8")
        assert [r.values["a"] for r in jsonl_rows(lines, [])] == [f"x{inside}y"]


@pytest.mark.parametrize(("name", "read"), [("q.csv", csv_rows), ("q.jsonl", jsonl_rows)])
def test_a_byte_order_mark_at_the_start_goes_and_is_noted(
    tmp_path: Path, name: str, read: Callable[..., object]
) -> None:
    path = tmp_path / name
    body = "a,b\n\ufeffx,2\n" if name == "q.csv" else '{"a": "\ufeffx"}\n'
    path.write_text("\ufeff" + body, "utf-8")
    notes: list[str] = []
    rows = list(read(path, notes))  # type: ignore[call-overload]
    assert rows[0].values["a"] == "\ufeffx"
    assert notes == [f"{path}: a byte order mark at the start of the file was removed"]


def test_lines_are_counted_through_cells_with_newlines(tmp_path: Path) -> None:
    path = tmp_path / "q.csv"
    path.write_bytes(b'a,b\r\n"one\ntwo\r\nthree",2\r\n\r\nx,3\r\n')
    assert [(line, cells[0]) for line, cells in csv_cells(path, [])] == [
        (1, "a"),
        (2, "one\ntwo\r\nthree"),
        (6, "x"),
    ]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("q.jsonl", b'{"a": 1}\n{"a": \n', "q.jsonl:2: this is not JSON"),
        ("q.jsonl", b'{"a": 1, "a": 2}\n', "q.jsonl:1: this is not JSON: the key 'a' is given twi"),
        ("q.jsonl", b'{"a": NaN}\n', "NaN is not a JSON value"),
        ("q.jsonl", b"[1, 2]\n", "q.jsonl:1: the line is not a JSON object"),
        ("q.jsonl", b'{"a": "x"}\n{"a": "\xff"}\n', "q.jsonl:2: byte 0xff (offset 18) is not UTF"),
        ("q.jsonl", b"[" * 100_000, "q.jsonl:1: this is not JSON"),
        ("q.csv", b"", "the file is empty"),
        ("q.csv", b"a,b,a\n1,2,3\n", "q.csv:1: the header names the column 'a' twice"),
        ("q.csv", b"a,b\n1,2\n1,2,3\n", "q.csv:3: the row has 3 cells and the header 2"),
        ("q.csv", b'a,b\n1,2\n"x" y,2\n', "q.csv:3: this is not CSV"),
        ("q.csv", b'a,b\n1,2\n"x,2\n3,4\n', "q.csv:3: this is not CSV"),
        ("q.parquet", b"PAR1 no", "q.parquet: this is not a readable Parquet file"),
        ("q.jsonl.gz", b"no gzip", "q.jsonl.gz: this gzip file is damaged or cut off"),
        ("q.jsonl.gz", gzip.compress(b'{"a": 1}\n' * 99, mtime=0)[:-12], "damaged or cut off"),
        ("q.xlsx", b"", "the file's name does not say its form; name it .csv"),
    ],
)
def test_a_mistake_is_told_with_its_place(
    tmp_path: Path, name: str, content: bytes, said: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(NongrataError) as caught:
        list(table_rows(path, []))
    assert said in str(caught.value)


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    for name in ("q.csv", "q.jsonl", "q.parquet"):
        with pytest.raises(NongrataError, match="there is no such file"):
            list(table_rows(tmp_path / name, []))


def test_parquet_rows_are_counted_from_one(tmp_path: Path) -> None:
    import polars as pl

    pl.DataFrame({"a": ["x", "y"]}).write_parquet(tmp_path / "q.parquet")
    assert [(r.line, r.values["a"]) for r in parquet_rows(tmp_path / "q.parquet")] == [
        (1, "x"),
        (2, "y"),
    ]
