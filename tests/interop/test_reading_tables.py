from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nongrata.errors import NongrataError
from nongrata.interop import from_table, import_table, table_files, table_reading

ODD = ["None", "Na", "NA", "TRUE", "0,1", "1.0", "007", "=1+1", 'say "x"', "two\nlines", " a"]


def names(dataset: Any, dim: str) -> list[str]:
    return dataset[dim].to_numpy().tolist()


def write(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def refused(path: Path, **mapping: Any) -> str:
    with pytest.raises(NongrataError) as error:
        import_table(path, **{"item": "id", "correct": "ok", **mapping})
    return str(error.value)


def odd_frame() -> pl.DataFrame:
    return pl.DataFrame({"id": ODD, "fmt": ODD[::-1], "said": ODD, "key": ["NA"] * len(ODD)})


@pytest.mark.parametrize("form", ["csv", "tsv", "csv.gz", "jsonl", "jsonl.gz", "parquet"])
def test_text_stays_text_in_every_form(tmp_path: Path, form: str) -> None:
    path, frame = tmp_path / f"t.{form}", odd_frame()
    if form == "parquet":
        frame.write_parquet(path)
    else:
        kind = form.removesuffix(".gz")
        text = (
            frame.write_ndjson()
            if kind == "jsonl"
            else frame.write_csv(separator="\t" if kind == "tsv" else ",")
        )
        raw = text.encode()
        path.write_bytes(gzip.compress(raw) if form.endswith(".gz") else raw)
    found = import_table(path, item="id", factors=["fmt"], answer="said", gold="key")
    assert names(found, "question") == ODD
    assert names(found, "fmt") == ODD[::-1]
    # " a" is compared without the space, and is still not "NA"
    assert found.attrs["import"]["counts"]["right"] == 1
    assert found.attrs["import"]["malformed"]["total"] == 0


def test_a_frame_and_its_file_give_the_same_dataset(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    odd_frame().write_csv(path)
    mapping = {"item": "id", "factors": ["fmt"], "answer": "said", "gold": "key"}
    file, frame, pandas = (
        import_table(path, **mapping),
        from_table(odd_frame(), **mapping),
        from_table(odd_frame().to_pandas(), **mapping),
    )
    for other in (frame, pandas):
        assert other.equals(file)


def test_bom_crlf_and_blank_lines_change_nothing(tmp_path: Path) -> None:
    plain = write(tmp_path / "a.csv", "id,ok\nq1,1\nq2,0\n")
    odd = write(tmp_path / "b.csv", "\ufeff\r\nid,ok\r\nq1,1\r\n\r\nq2,0")
    one, other = (import_table(path, item="id", correct="ok") for path in (plain, odd))
    assert one.equals(other)
    assert other.attrs["import"]["malformed"]["total"] == 0


def test_numbers_and_booleans_of_typed_columns(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    table = pa.table(
        {"id": [1, 2, 3], "heat": [0.5, 1.0, None], "ok": [True, False, None]},
    )
    pq.write_table(table, path)
    found = import_table(path, item="id", factors=["heat"], correct="ok")
    assert names(found, "question") == ["1", "2", "3"]
    assert names(found, "heat") == ["0.5", "1", "(empty)"]
    counts = found.attrs["import"]["counts"]
    assert (counts["right"], counts["read"], counts["unread"]) == (1, 2, 1)


def test_lists_are_packed_repeats(tmp_path: Path) -> None:
    rows = [{"id": "q1", "ok": [1, 0, None]}, {"id": "q2", "ok": [True]}, {"id": "q3", "ok": []}]
    path = write(tmp_path / "t.jsonl", "\n".join(map(json.dumps, rows)))
    found = import_table(path, item="id", correct="ok")
    assert found.sizes["replicate"] == 3
    assert found["outcome"].to_numpy().reshape(3, 3).T.tolist() == [
        [0, 0, 1],
        [0, 255, 255],
        [255, 255, 255],
    ]
    pq.write_table(pa.table({"id": ["q1", "q2"], "ok": [[1, 0], [1]]}), tmp_path / "t.parquet")
    assert import_table(tmp_path / "t.parquet", item="id", correct="ok").sizes["replicate"] == 2


def test_a_numbers_spelling_stays_in_json(tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", '{"id": 1.10, "ok": 1}\n{"id": 1.1, "ok": 0}\n')
    assert names(import_table(path, item="id", correct="ok"), "question") == ["1.10", "1.1"]


def test_lines_are_right_across_quoted_line_ends_and_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_reading, "BLOCK", 6)
    lines = ["id,note,ok"]
    bad = []
    for i in range(40):
        if i % 7 == 3:
            bad.append(1 + sum(line.count("\n") + 1 for line in lines))
            lines.append(f"q{i},short")
        elif i % 7 == 5:
            bad.append(1 + sum(line.count("\n") + 1 for line in lines))
            lines.append(f'q{i},"a"b,1')
        else:
            lines.append(f'q{i},"one\ntwo\n\nthree",1')
    path = write(tmp_path / "t.csv", "\n".join(lines))
    found = import_table(path, item="id", correct="ok").attrs["import"]
    assert found["malformed"]["total"] == len(bad)
    assert [r["place"] for r in found["malformed"]["first"]] == [f"{path}:{n}" for n in bad[:10]]
    assert found["counts"]["rows"] == 40
    assert found["counts"]["answers"] == 40 - len(bad)


def test_json_lines_that_are_none_are_named(tmp_path: Path) -> None:
    text = '{"id": "q1", "ok": 1}\n[1]\n\n{"id": "q2"}\n{"id": "q3", "ok": {"a": 1}}\n'
    text += '{"id": "\\ud800", "ok": 1}\n{"id": "q4", "id": "q5", "ok": 1}\n{"id": "q6", "ok": 0\n'
    path = write(tmp_path / "t.jsonl", text)
    about = import_table(path, item="id", correct="ok").attrs["import"]
    assert about["counts"]["answers"] == 1
    places = [r["place"].rsplit(":", 1)[1] for r in about["malformed"]["first"]]
    assert sorted(places) == ["2", "4", "5", "6", "7", "8"]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("t.csv", "", "the file is empty"),
        ("t.csv", "\n\n", "the file is empty"),
        ("t.csv", "id,ok\n", "a header and no rows"),
        ("t.xlsx", "id,ok\n", "name it .csv"),
        ("t.csv", "id,okay\nq1,1\n", "there is no column 'ok'; did you mean 'okay'?"),
        ("t.csv", "id,x,y\nq1,1,1\n", "the columns are 'id', 'x', 'y'"),
        ("t.csv", "id,ok,ok\nq1,1,1\n", "2 columns are called 'ok'"),
        ("t.csv", "id;ok\nq1;1\n", "there is no column 'id'"),
        ("t.csv", b"id,ok\nq1,1\nM\xfcller,1\n", "t.csv:3: byte 0xfc (offset 12) is not UTF-8"),
        ("t.csv", "id,ok\nq1,1\n".encode("utf-16"), "looks like UTF-16"),
        ("t.csv", "id,ok\nq1,1\n".encode("utf-16-le"), "NUL"),
        ("t.csv", 'id,ok\nq1,1\nq2,"1\nq3,0\n', "t.csv:3: a row that begins here"),
        ("t.csv", "id,ok\nq0,1\nq1," + "x" * 140_000 + "\n", "t.csv:3"),
        ("t.csv.gz", b"\x1f\x8b\x08\x00no", "damaged or cut off"),
        ("t.csv.gz", gzip.compress(b"id,ok\nq1,1\n" * 999, mtime=0)[:-9], "damaged or cut off"),
        ("t.csv.gz", b"id,ok\nq1,1\n", "damaged or cut off"),
        ("t.parquet", "no", "not a readable Parquet file"),
        ("t.jsonl", "no", "t.jsonl:1: this is not JSON"),
        ("t.jsonl", "3", "t.jsonl:1: the line is not a JSON object"),
        ("t.csv", "id,ok\nq1,maybe\n", "t.csv:2: no row can be used"),
        ("t.csv", "id,ok\n,1\n", "the item is empty"),
    ],
)
def test_what_is_no_table_is_refused_in_a_sentence(
    tmp_path: Path, name: str, content: str | bytes, said: str
) -> None:
    path = write(tmp_path / name, content)
    assert said in refused(path)


def test_folders_and_what_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "a.csv").mkdir()
    assert "a folder, not a file" in refused(tmp_path / "a.csv")
    assert "a folder, not a file" in refused(tmp_path)
    assert "there is no such file" in refused(tmp_path / "b.csv")


def test_a_parquet_column_of_records_is_refused(tmp_path: Path) -> None:
    pq.write_table(pa.table({"id": [{"a": 1}], "ok": [1]}), tmp_path / "t.parquet")
    assert "the column 'id' holds struct" in refused(tmp_path / "t.parquet")


def test_parquet_text_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    offsets = pa.py_buffer(np.array([0, 2, 4], dtype=np.int32))
    ids = pa.Array.from_buffers(pa.string(), 2, [None, offsets, pa.py_buffer(b"q1\xff\xfe")])
    pq.write_table(pa.table({"id": ids, "ok": [1, 0]}), tmp_path / "t.parquet")
    assert "Invalid UTF8" in refused(tmp_path / "t.parquet")


def test_packed_files_that_grow_without_end_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"id,ok\n" + b"q,1\n" * 3_000_000, 9))
    monkeypatch.setattr(table_files, "FREE", 2**20)
    assert "unpack to more than" in refused(path)


def test_a_line_without_end_is_not_taken_into_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_files, "MOST_LINE", 1000)
    path = write(tmp_path / "t.jsonl", '{"id": "q1", "ok": 1}\n' + "x" * 5000)
    assert "t.jsonl:2: the line has more than 1,000" in refused(path)


def test_names_with_controls_are_shown_escaped_in_messages(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "id,ok\n\x1b[31mq,\x1b[2Jmaybe\nq2,1\n")
    found = import_table(path, item="id", correct="ok")
    said = found.attrs["import"]["malformed"]["first"][0]["what"]
    assert "\x1b" not in said
    assert "\\x1b[2Jmaybe" in said
