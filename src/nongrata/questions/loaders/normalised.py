"""The normalised form: JSON Lines with id, source, subject, context, question, choices, answer."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import resources
from pathlib import Path

from nongrata.questions.loaders import normad
from nongrata.questions.loaders.rows import Loaded, choices_from_list, index_answer, other_fields
from nongrata.questions.model import Question
from nongrata.questions.readers import Row, jsonl_rows, table_rows
from nongrata.questions.source import SourceSpec

STARTER = "starter.jsonl"
USED = {"id", "source", "subject", "domain", "cluster", "context", "question", "choices", "answer"}


def load(source: SourceSpec, files: list[Path], notes: list[str]) -> Iterator[Loaded]:
    """Read normalised rows; ids are the file's own, further columns become fields.

    NormAd rows (those with a rule of thumb) need the source's condition, as their stories tell
    neither country nor rule.
    """
    for path in files:
        for row in table_rows(path, notes):
            yield Loaded(_question(source, row, notes), row)


def load_starter(source: SourceSpec, notes: list[str]) -> Iterator[Loaded]:
    """Read the starter set that comes with the package."""
    with resources.as_file(resources.files("nongrata.questions") / STARTER) as path:
        rows = list(jsonl_rows(path, notes))
    for row in rows:
        yield Loaded(_question(source, row, notes), row)


def _question(source: SourceSpec, row: Row, notes: list[str]) -> Question:
    choices = choices_from_list(row, "choices")
    answer = index_answer(row, "answer", len(choices), base=0)
    context = _optional(row, "context")
    if source.condition is not None or "rule_of_thumb" in row.values:
        told = normad.told(source, row.values, choices[answer], row, notes)
        context = "\n".join(part for part in (told, context) if part)
    # where a stratum is not called as its data set, the domain mapping still needs the latter
    upstream = _optional(row, "source")
    keep = () if upstream in ("", source.id) else (("source", upstream),)
    return Question(
        id=row.text("id", empty=False),
        source=source.id,
        question=row.text("question", empty=False),
        choices=choices,
        answer=answer,
        context=context,
        subject=_optional(row, "subject"),
        domain=_optional(row, "domain"),
        cluster=_optional(row, "cluster"),
        fields=(*keep, *other_fields(row.values, USED)),
    )


def _optional(row: Row, column: str) -> str:
    return row.text(column) if row.values.get(column) is not None else ""
