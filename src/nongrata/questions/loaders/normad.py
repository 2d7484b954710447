"""NormAd-Eti: the authors' table, and what of a row is told beside its story.

A story names no country, so the condition decides what is measured. The condition's text goes into
the context; the story is never altered.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from nongrata.errors import NongrataError
from nongrata.questions.loaders.rows import Loaded, other_fields
from nongrata.questions.model import Question
from nongrata.questions.readers import Row, table_rows
from nongrata.questions.source import NormadCondition, SourceSpec

CHOICES = ("yes", "no", "neutral")
UPSTREAM_NAMES = {
    "Country": "country",
    "Background": "background",
    "Axis": "axis",
    "Subaxis": "subaxis",
    "Value": "value",
    "Rule-of-Thumb": "rule_of_thumb",
    "Explanation": "explanation",
    "Gold Label": "gold_label",
    "Other Country": "other_country",
}
NEEDED = {
    NormadCondition.NONE: (),
    NormadCondition.COUNTRY: ("country",),
    NormadCondition.VALUE: ("country", "value"),
    NormadCondition.RULE_OF_THUMB: ("rule_of_thumb",),
}
"""Columns each condition is made of, by our names."""

MIXED_NEUTRAL = (
    "NormAd: this copy has no column 'Other Country', so a neutral row is asked with the country "
    "of its story; the authors asked it with the country its rule comes from"
)
_SMALL_WORDS = frozenset({"and", "of", "the"})


def load(source: SourceSpec, files: list[Path], notes: list[str]) -> Iterator[Loaded]:
    """Read the authors' columns; ids are ``<source>/<ID>``, or the row's number without an ID."""
    position = 0
    for path in files:
        for row in table_rows(path, notes):
            renamed = {UPSTREAM_NAMES.get(name, name): value for name, value in row.values.items()}
            gold = row.text("Gold Label")
            if gold not in CHOICES:
                raise NongrataError(
                    f"the gold label is {gold!r:.40}",
                    where=row.where("Gold Label"),
                    fix=f"give one of {', '.join(CHOICES)}",
                )
            key = row.values.get("ID")
            country = row.text("Country")
            question = Question(
                id=f"{source.id}/{position if key is None else key}",
                source=source.id,
                question=row.text("Story", empty=False),
                choices=CHOICES,
                answer=CHOICES.index(gold),
                context=told(source, renamed, gold, row, notes),
                subject=country,
                fields=other_fields(renamed, {"ID", "Story"}),
            )
            position += 1
            yield Loaded(question, row)


def told(
    source: SourceSpec, values: Mapping[str, Any], gold: str, row: Row, notes: list[str]
) -> str:
    """Return what is told beside a story under the source's condition, in our own wording.

    Parameters
    ----------
    source
        Its condition must be given.
    values
        The row by our column names.
    gold
        The gold label: for neutral rows the authors tell the *other* country, where known.
    row
        Where the row stands.
    notes
        Receives a remark where the condition cannot be the authors' own.
    """
    condition = source.condition
    if condition is None:
        raise NongrataError(
            f"NormAd questions need a condition for the source '{source.id}'",
            where=row.file,
            fix=f"add 'condition': one of {', '.join(_possible(values))}",
        )
    for column in NEEDED[condition]:
        if not isinstance(values.get(column), str) or not values[column]:
            raise NongrataError(
                f"the condition '{condition}' needs the column '{column}', which is "
                + ("empty here" if column in values else "not in this copy"),
                where=row.where(),
                fix=f"this copy allows the condition {' or '.join(_possible(values))}",
            )
    if condition is NormadCondition.NONE:
        return ""
    if condition is NormadCondition.RULE_OF_THUMB:
        return f"Rule of thumb: {row_text(values, 'rule_of_thumb', row)}"
    country = row_text(values, "country", row)
    other = values.get("other_country")
    if gold == "neutral" and isinstance(other, str) and other:
        country = row_text(values, "other_country", row)
    elif "other_country" not in values and MIXED_NEUTRAL not in notes:
        notes.append(MIXED_NEUTRAL)
    lines = [f"Country: {country_name(country)}"]
    if condition is NormadCondition.VALUE:
        lines.append(f"Value: {row_text(values, 'value', row)}")
    return "\n".join(lines)


def row_text(values: Mapping[str, Any], column: str, row: Row) -> str:
    """Return a renamed field as checked text."""
    return Row(row.file, row.line, values).text(column)


def _possible(values: Mapping[str, Any]) -> list[str]:
    return [
        str(condition)
        for condition, columns in NEEDED.items()
        if all(isinstance(values.get(column), str) and values[column] for column in columns)
    ]


def country_name(label: str) -> str:
    """Write a country label as a name; the label itself stays the question's subject.

    Examples
    --------
    >>> country_name("bosnia_and_herzegovina"), country_name("timor-leste"), country_name("türkiye")
    ('Bosnia and Herzegovina', 'Timor-Leste', 'Türkiye')
    """
    words = label.replace("_", " ").split(" ")
    return " ".join(
        word
        if word in _SMALL_WORDS
        else "-".join(part[:1].upper() + part[1:] for part in word.split("-"))
        for word in words
    )
