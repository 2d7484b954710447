"""MMLU: as the Hub has it (Parquet, or CSV with a header), and as first released.

Ids are ``<source>/<subject>/<row>``, row 0 being the first data row of the subject, which is the
order of ``cais/mmlu``. Mirrors that took each file's first row for a header count differently.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from nongrata.errors import NongrataError
from nongrata.questions.loaders.rows import (
    Loaded,
    choices_from_columns,
    choices_from_list,
    exactly,
    index_answer,
    letter_answer,
    other_fields,
)
from nongrata.questions.model import Question
from nongrata.questions.readers import Row, check_text, csv_cells, table_rows
from nongrata.questions.source import SourceSpec

CHOICES = 4
CHOICE_COLUMNS = ("choice0", "choice1", "choice2", "choice3")
ORIGINAL_COLUMNS = ("question", "A", "B", "C", "D", "answer")
_FILE_NAME = re.compile(
    r"(?P<subject>.+)_(?:test|dev|val|validation|train)\.(?:csv|jsonl|parquet)(?:\.gz)?"
)


def load_hub(source: SourceSpec, files: list[Path], notes: list[str]) -> Iterator[Loaded]:
    """Read ``question, subject, choices`` (or ``choice0`` to ``choice3``) and ``answer`` 0-3.

    Without a subject column, the subject comes from a file name ``<subject>_test.csv``.
    """
    position: Counter[str] = Counter()
    used = {"question", "subject", "choices", "answer", *CHOICE_COLUMNS}
    for path in files:
        for row in table_rows(path, notes):
            if "question" not in row.values and "choice0" not in row.values:
                _hint_at_original(row)
            subject = row.text("subject") if "subject" in row.values else _subject_of(path)
            if "choices" in row.values:
                choices = exactly(choices_from_list(row, "choices"), CHOICES, row, "choices")
            else:
                choices = exactly(choices_from_columns(row, CHOICE_COLUMNS), CHOICES, row, "choice")
            question = Question(
                id=f"{source.id}/{subject}/{position[subject]}",
                source=source.id,
                question=row.text("question", empty=False),
                choices=choices,
                answer=index_answer(row, "answer", CHOICES, base=0),
                subject=subject,
                fields=other_fields(row.values, used),
            )
            position[subject] += 1
            yield Loaded(question, row)


def load_original(source: SourceSpec, files: list[Path], notes: list[str]) -> Iterator[Loaded]:
    """Read the headerless files of the first release: stem, four choices, a letter.

    The subject comes from the file's name, ``<subject>_test.csv``.
    """
    position: Counter[str] = Counter()
    for path in files:
        subject = _subject_of(path)
        for line, cells in csv_cells(path, notes):
            row = Row(str(path), line, {})
            if len(cells) != len(ORIGINAL_COLUMNS):
                raise NongrataError(
                    f"the row has {len(cells)} cells, not {len(ORIGINAL_COLUMNS)} "
                    "(question, four choices, letter)",
                    where=row.where(),
                )
            if cells[0] == "question" and cells[-1] == "answer":
                raise NongrataError(
                    "the file has a header, so it is not in the original form",
                    where=row.where(),
                    fix="use the format mmlu_hub",
                )
            row = Row(str(path), line, dict(zip(ORIGINAL_COLUMNS, cells, strict=True)))
            question = Question(
                id=f"{source.id}/{subject}/{position[subject]}",
                source=source.id,
                question=row.text("question", empty=False),
                choices=tuple(
                    check_text(row.values[letter], row, letter, empty=False) for letter in "ABCD"
                ),
                answer=letter_answer(row, "answer", CHOICES),
                subject=subject,
            )
            position[subject] += 1
            yield Loaded(question, row)


def _subject_of(path: Path) -> str:
    match = _FILE_NAME.fullmatch(path.name)
    if match is None:
        raise NongrataError(
            "the subject is neither a column nor part of the file's name",
            where=path,
            fix="name the file <subject>_test.csv, or add a column 'subject'",
        )
    return match["subject"]


def _hint_at_original(row: Row) -> None:
    if len(row.values) == len(ORIGINAL_COLUMNS) and tuple(row.values)[-1] in tuple("ABCD"):
        raise NongrataError(
            "the file has no header, so its first question would be taken for one",
            where=f"{row.file}:1",
            fix="use the format mmlu_original",
        )
