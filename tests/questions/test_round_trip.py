"""Every row of every shared file loads, is stored, and survives its upstream form."""

from __future__ import annotations

import csv
import json
import time
from pathlib import Path
from typing import Any

import pytest

from nongrata.questions.composite import load_all
from nongrata.questions.loaders import load_questions
from nongrata.questions.model import Question, QuestionSet
from nongrata.questions.source import SourceSpec
from nongrata.questions.storage import read_questions, write_questions

Sets = dict[str, QuestionSet]


def reload(folder: Path, **given: Any) -> list[Question]:
    return list(load_questions(SourceSpec.model_validate(given), base=folder))


def shown(questions: list[Question] | QuestionSet) -> list[tuple[Any, ...]]:
    """What must come back to the byte: identity, texts, answer and grouping."""
    return [(q.id, q.context, q.question, q.choices, q.answer, q.subject) for q in questions]


def write_csv(path: Path, rows: list[list[str]]) -> None:
    """An independent writer: RFC 4180 by hand, every cell quoted, CRLF line ends."""
    path.write_bytes(
        b"".join(
            (",".join('"' + cell.replace('"', '""') + '"' for cell in row) + "\r\n").encode()
            for row in rows
        )
    )


def by_subject(questions: QuestionSet) -> dict[str, list[Question]]:
    found: dict[str, list[Question]] = {}
    for question in questions:
        found.setdefault(question.subject, []).append(question)
    return found


@pytest.mark.parametrize("name", ["mmlu", "mmlu_dev", "socialiqa", "normad_eti"])
def test_questions_parquet_holds_every_row(shared_sets: Sets, tmp_path: Path, name: str) -> None:
    write_questions(shared_sets[name], tmp_path / "questions.parquet")
    read = read_questions(tmp_path / "questions.parquet")
    assert read == shared_sets[name]
    assert read.sha256() == shared_sets[name].sha256()


@pytest.mark.parametrize("name", ["mmlu", "mmlu_dev", "socialiqa", "normad_eti"])
def test_the_loader_changes_no_byte(shared: Path, shared_sets: Sets, name: str) -> None:
    import gzip

    file = {"mmlu": "mmlu_test", "socialiqa": "socialiqa_dev"}.get(name, name)
    lines = gzip.decompress((shared / "data" / f"{file}.jsonl.gz").read_bytes()).split(b"\n")
    rows = [json.loads(line) for line in lines if line]
    assert len(rows) == len(shared_sets[name])
    for row, question in zip(rows, shared_sets[name], strict=True):
        assert question.question.encode() == row["question"].encode()
        assert list(question.choices) == row["choices"]
        assert (question.id, question.answer, question.subject) == (
            row["id"],
            row["answer"],
            row["subject"],
        )
        told = f"Rule of thumb: {row['rule_of_thumb']}" if name == "normad_eti" else row["context"]
        assert question.context == told


@pytest.mark.parametrize("name", ["mmlu", "mmlu_dev"])
def test_mmlu_hub_csv(shared_sets: Sets, tmp_path: Path, name: str) -> None:
    header = ["question", "choice0", "choice1", "choice2", "choice3", "answer"]
    for subject, members in by_subject(shared_sets[name]).items():
        rows = [[q.question, *q.choices, str(q.answer)] for q in members]
        write_csv(tmp_path / f"{subject}_test.csv", [header, *rows])
    found = reload(tmp_path, id=name, format="mmlu_hub", path="*_test.csv")
    assert shown(found) == shown(shared_sets[name])


@pytest.mark.parametrize("name", ["mmlu", "mmlu_dev"])
def test_mmlu_hub_parquet(shared_sets: Sets, tmp_path: Path, name: str) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    questions = shared_sets[name]
    table = pa.table(
        {
            "question": [q.question for q in questions],
            "subject": [q.subject for q in questions],
            "choices": [list(q.choices) for q in questions],
            "answer": pa.array([q.answer for q in questions], pa.int64()),
        }
    )
    pq.write_table(table, tmp_path / "test-00000-of-00001.parquet")
    found = reload(tmp_path, id=name, format="mmlu_hub", path="test-00000-of-00001.parquet")
    assert shown(found) == shown(questions)


@pytest.mark.parametrize("name", ["mmlu", "mmlu_dev"])
def test_mmlu_original_csv(shared_sets: Sets, tmp_path: Path, name: str) -> None:
    for subject, members in by_subject(shared_sets[name]).items():
        with (tmp_path / f"{subject}_test.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerows([q.question, *q.choices, "ABCD"[q.answer]] for q in members)
    found = reload(tmp_path, id=name, format="mmlu_original", path=".")
    assert shown(found) == shown(shared_sets[name])


def test_socialiqa_original(shared_sets: Sets, tmp_path: Path) -> None:
    questions = shared_sets["socialiqa"]
    lines = [
        json.dumps(
            {"context": q.context, "question": q.question}
            | {f"answer{letter}": c for letter, c in zip("ABC", q.choices, strict=True)}
        )
        for q in questions
    ]
    (tmp_path / "dev.jsonl").write_text("\n".join(lines) + "\n")
    (tmp_path / "dev-labels.lst").write_text("".join(f"{q.answer + 1}\n" for q in questions))
    found = reload(
        tmp_path,
        id="socialiqa",
        format="socialiqa_original",
        path="dev.jsonl",
        labels="dev-labels.lst",
    )
    assert shown(found) == shown(questions)


@pytest.mark.parametrize("suffix", ["parquet", "csv", "jsonl"])
def test_socialiqa_hub(shared_sets: Sets, tmp_path: Path, suffix: str) -> None:
    import polars as pl

    questions = shared_sets["socialiqa"]
    rows = [
        {
            "context": q.context,
            "question": q.question,
            "answerA": q.choices[0],
            "answerB": q.choices[1],
            "answerC": q.choices[2],
            "label": str(q.answer + 1),
        }
        for q in questions
    ]
    path = tmp_path / f"validation.{suffix}"
    if suffix == "parquet":
        pl.DataFrame(rows).write_parquet(path)
    elif suffix == "csv":
        write_csv(path, [list(rows[0]), *(list(row.values()) for row in rows)])
    else:
        path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    found = reload(tmp_path, id="socialiqa", format="socialiqa_hub", path=path.name)
    assert shown(found) == shown(questions)


@pytest.mark.parametrize("condition", ["none", "country", "rule_of_thumb"])
def test_normad_csv(shared: Path, shared_sets: Sets, tmp_path: Path, condition: str) -> None:
    questions = shared_sets["normad_eti"]
    header = ["ID", "Country", "Rule-of-Thumb", "Story", "Gold Label"]
    rows = [
        [
            q.id.split("/")[1],
            q.subject,
            q.field_text("rule_of_thumb") or "",
            q.question,
            q.choices[q.answer],
        ]
        for q in questions
    ]
    write_csv(tmp_path / "normad.csv", [header, *rows])
    found = reload(
        tmp_path, id="normad_eti", format="normad_csv", path="normad.csv", condition=condition
    )
    given = SourceSpec.model_validate(
        {
            "id": "normad_eti",
            "format": "normalised",
            "path": "data/normad_eti.jsonl.gz",
            "condition": condition,
        }
    )
    direct = load_all([given], base=shared)
    assert shown(found) == shown(direct)
    assert [q.fields for q in found] == [
        tuple((k, q.field_text(k)) for k in ("country", "rule_of_thumb", "gold_label"))
        for q in direct
    ]


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_a_mapped_table_holds_every_row(shared_sets: Sets, tmp_path: Path, suffix: str) -> None:
    import polars as pl

    questions = shared_sets["mmlu"]
    rows = [
        {"key": q.id, "stem": q.question, "topic": q.subject, "gold": "ABCD"[q.answer]}
        | {f"option{i}": choice for i, choice in enumerate(q.choices)}
        for q in questions
    ]
    path = tmp_path / f"table.{suffix}"
    if suffix == "csv":
        write_csv(path, [list(rows[0]), *(list(row.values()) for row in rows)])
    elif suffix == "parquet":
        pl.DataFrame(rows).write_parquet(path)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = reload(
        tmp_path,
        id="t",
        format="table",
        path=path.name,
        answer_form="letter",
        columns={
            "id": "key",
            "question": "stem",
            "subject": "topic",
            "answer": "gold",
            "choices": [f"option{i}" for i in range(4)],
        },
    )
    expected = [(f"t/{identity}", *rest) for identity, *rest in shown(questions)]
    assert shown(found) == expected


def test_loading_all_of_mmlu_takes_no_time(shared: Path) -> None:
    spec = SourceSpec(id="mmlu", format="normalised", path="data/mmlu_test.jsonl.gz")
    best = min(_seconds(spec, shared) for _ in range(3))
    assert best < 2  # about .5 s on a quiet core


def _seconds(spec: SourceSpec, base: Path) -> float:
    start = time.perf_counter()
    load_questions(spec, base=base)
    return time.perf_counter() - start
