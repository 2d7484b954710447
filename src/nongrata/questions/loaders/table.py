"""Plain CSV, JSON Lines or Parquet with a declared column mapping."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from nongrata.questions.loaders.rows import (
    Loaded,
    choices_from_columns,
    choices_from_list,
    index_answer,
    letter_answer,
    other_fields,
    text_answer,
)
from nongrata.questions.model import Question
from nongrata.questions.readers import Row, table_rows
from nongrata.questions.source import AnswerForm, Columns, SourceSpec


def load(source: SourceSpec, files: list[Path], notes: list[str]) -> Iterator[Loaded]:
    """Read the mapped columns; ids are ``<source>/<id>``, or the row's number from 0.

    Columns that the mapping does not name become fields.
    """
    columns, form = source.columns, source.answer_form
    if columns is None or form is None:  # refused by the source's own validation
        raise TypeError("a table needs columns and answer_form")
    position = 0
    for path in files:
        for row in table_rows(path, notes):
            yield Loaded(_question(source, columns, form, row, position), row)
            position += 1


def _question(
    source: SourceSpec, columns: Columns, form: AnswerForm, row: Row, position: int
) -> Question:
    if isinstance(columns.choices, str):
        choices = choices_from_list(row, columns.choices)
    else:
        choices = choices_from_columns(row, columns.choices)
    key = str(position) if columns.id is None else _key(row, columns.id)
    return Question(
        id=f"{source.id}/{key}",
        source=source.id,
        question=row.text(columns.question, empty=False),
        choices=choices,
        answer=_answer(form, columns.answer, choices, row),
        context=_optional(row, columns.context),
        subject=_optional(row, columns.subject),
        cluster=_optional(row, columns.cluster),
        fields=other_fields(row.values, columns.named),
    )


def _answer(form: AnswerForm, column: str, choices: tuple[str, ...], row: Row) -> int:
    match form:
        case AnswerForm.INDEX0:
            return index_answer(row, column, len(choices), base=0)
        case AnswerForm.INDEX1:
            return index_answer(row, column, len(choices), base=1)
        case AnswerForm.LETTER:
            return letter_answer(row, column, len(choices))
        case AnswerForm.TEXT:
            return text_answer(row, column, choices)


def _key(row: Row, column: str) -> str:
    value = row.value(column)
    # an id may be a number in JSON or Parquet; it is a name, so its digits are kept as text
    return str(value) if isinstance(value, int) else row.text(column, empty=False)


def _optional(row: Row, column: str | None) -> str:
    if column is None or row.value(column) is None:
        return ""
    return row.text(column)
