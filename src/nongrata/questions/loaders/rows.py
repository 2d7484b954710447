"""What all loaders share: from a row's cells to choices, an answer and further fields."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nongrata.errors import NongrataError
from nongrata.questions.model import Question
from nongrata.questions.readers import Row, check_text

MOST_CHOICES = 26
"""Choices must be nameable by one letter."""

_NUMBER = re.compile(r"[0-9]{1,3}")


@dataclass(frozen=True, slots=True)
class Loaded:
    """A question and the row it was read from."""

    question: Question
    row: Row


def choices_from_columns(row: Row, columns: Sequence[str]) -> tuple[str, ...]:
    """Return the choices that stand in one column each; empty last cells are no choices.

    Examples
    --------
    >>> choices_from_columns(Row("q.csv", 2, {"a": "1", "b": "2", "c": ""}), ["a", "b", "c"])
    ('1', '2')
    """
    cells = [row.value(column) for column in columns]
    while cells and cells[-1] in ("", None):
        cells.pop()
    return _checked(
        tuple(
            check_text(cell, row, column, empty=False)
            for cell, column in zip(cells, columns, strict=False)
        ),
        row,
        columns[0],
    )


def choices_from_list(row: Row, column: str) -> tuple[str, ...]:
    """Return the choices that stand in one column as a list (as JSON text in a CSV file).

    Examples
    --------
    >>> choices_from_list(Row("q.csv", 2, {"choices": '["0", "0,1"]'}), "choices")
    ('0', '0,1')
    """
    value = row.value(column)
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            raise NongrataError(
                "the choices are not a list",
                where=row.where(column),
                fix='write a JSON list, ["first", "second"], or one column per choice',
            ) from None
    if not isinstance(value, list):
        raise NongrataError("the choices are not a list", where=row.where(column))
    return _checked(
        tuple(check_text(item, row, f"{column}.{i}", empty=False) for i, item in enumerate(value)),
        row,
        column,
    )


def _checked(choices: tuple[str, ...], row: Row, column: str) -> tuple[str, ...]:
    if not 2 <= len(choices) <= MOST_CHOICES:
        raise NongrataError(
            f"the question has {len(choices)} choices; from 2 to {MOST_CHOICES} can be asked",
            where=row.where(column),
        )
    return choices


def exactly(choices: tuple[str, ...], n: int, row: Row, column: str) -> tuple[str, ...]:
    """Refuse a question of a known data set that has not its number of choices."""
    if len(choices) != n:
        raise NongrataError(
            f"the question has {len(choices)} choices, not {n}", where=row.where(column)
        )
    return choices


def index_answer(row: Row, column: str, n: int, *, base: int) -> int:
    """Return an answer given as a number that counts from `base`.

    Examples
    --------
    >>> index_answer(Row("q.csv", 2, {"label": "3"}), "label", 3, base=1)
    2
    """
    value = row.value(column)
    digits = isinstance(value, str) and _NUMBER.fullmatch(value)
    number = int(value) if digits else value
    if not isinstance(number, int) or isinstance(number, bool) or not base <= number < base + n:
        raise NongrataError(
            f"the answer is {value!r:.40}",
            where=row.where(column),
            fix=f"give a whole number from {base} to {base + n - 1}",
        )
    return number - base


def letter_answer(row: Row, column: str, n: int) -> int:
    """Return an answer given as a capital letter.

    Examples
    --------
    >>> letter_answer(Row("q.csv", 2, {"answer": "B"}), "answer", 4)
    1
    """
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[:n]
    value = row.value(column)
    if not isinstance(value, str) or len(value) != 1 or value not in letters:
        raise NongrataError(
            f"the answer is {value!r:.40}",
            where=row.where(column),
            fix=f"give one letter from A to {letters[-1]}",
        )
    return letters.index(value)


def text_answer(row: Row, column: str, choices: tuple[str, ...]) -> int:
    """Return an answer given as the text of one choice; it must equal exactly one.

    Examples
    --------
    >>> text_answer(Row("q.csv", 2, {"answer": "no"}), "answer", ("yes", "no"))
    1
    """
    value = row.text(column)
    found = choices.count(value)
    if found != 1:
        raise NongrataError(
            f"the answer {value!r:.60} is the text of {found or 'none'} of the choices",
            where=row.where(column),
            fix="give the answer as an index or a letter"
            if found
            else "write it exactly as the choice is written",
        )
    return choices.index(value)


def other_fields(values: Mapping[str, Any], used: Collection[str]) -> tuple[tuple[str, str], ...]:
    """Keep the columns a loader has no use for, as text; values that are not text as JSON.

    Examples
    --------
    >>> other_fields({"id": "a", "split": "test", "n": 3, "note": None}, {"id"})
    (('split', 'test'), ('n', '3'))
    """
    return tuple(
        (name, value if isinstance(value, str) else json.dumps(value, default=str))
        for name, value in values.items()
        if name not in used and value is not None
    )
