"""Social IQa: the authors' JSON Lines with a labels file, and the form it has on the Hub."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

from nongrata.errors import NongrataError
from nongrata.questions.loaders.rows import (
    Loaded,
    choices_from_columns,
    exactly,
    index_answer,
    other_fields,
)
from nongrata.questions.model import Question
from nongrata.questions.readers import Row, jsonl_rows, read_text, table_rows
from nongrata.questions.source import SourceSpec

CHOICE_COLUMNS = ("answerA", "answerB", "answerC")
USED = {"context", "question", *CHOICE_COLUMNS}


def load_original(
    source: SourceSpec, files: list[Path], labels: Path, notes: list[str]
) -> Iterator[Loaded]:
    """Read the authors' release: questions a line, and their labels 1-3 in a file of its own."""
    lines = read_text(labels, notes).split("\n")
    while lines and not lines[-1].strip():
        lines.pop()
    label_rows = [
        Row(str(labels), number, {"label": line.removesuffix("\r")})
        for number, line in enumerate(lines, start=1)
    ]
    rows = (row for path in files for row in jsonl_rows(path, notes))
    for position, (row, label) in enumerate(zip_longest(rows, label_rows)):
        if row is None or label is None:
            short = "labels file" if label is None else "questions file"
            raise NongrataError(
                f"the {short} ends before the other: it has {position} lines, "
                f"and there are {len(label_rows)} labels",
                where=labels,
                fix="give the labels file that belongs to these questions",
            )
        yield Loaded(_question(source, row, label, position), row)


def load_hub(source: SourceSpec, files: list[Path], notes: list[str]) -> Iterator[Loaded]:
    """Read ``context, question, answerA, answerB, answerC, label`` with labels 1-3."""
    rows = (row for path in files for row in table_rows(path, notes))
    for position, row in enumerate(rows):
        yield Loaded(_question(source, row, row, position), row)


def _question(source: SourceSpec, row: Row, label: Row, position: int) -> Question:
    choices = choices_from_columns(row, CHOICE_COLUMNS)
    return Question(
        id=f"{source.id}/{position}",
        source=source.id,
        question=row.text("question", empty=False),
        choices=exactly(choices, len(CHOICE_COLUMNS), row, "answerC"),
        answer=index_answer(label, "label", len(CHOICE_COLUMNS), base=1),
        context=row.text("context"),
        fields=(*other_fields(row.values, {*USED, "label"}), ("label", str(label.value("label")))),
    )
