"""Figures that may be undefined, as pieces of a section; and what to say where they are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from nongrata.report.document.blocks import Facets, Paragraph
from nongrata.report.document.cursor import Cursor
from nongrata.report.document.pieces import Estimate, Name, Names, Number, Style, Text
from nongrata.report.document.said import text_of

Tone = Literal["plain", "lead", "note", "warning"]
_KEYS = ("figure", "estimate", "value")
NAMES_SAID = 12
"""Names written out in a sentence; of longer lists this many, and how many there are."""


def estimate(
    place: Cursor, digits: int = 2, *, style: Style = "number", unit: str = ""
) -> Estimate:
    """An estimate, however the results call its number.

    Parameters
    ----------
    place
        Holds ``figure``, ``estimate`` or ``value``, beside ``low`` and ``high``.
    digits, style, unit
        How it is written.

    Examples
    --------
    >>> estimate(Cursor({"figure": 2.5, "low": 1.0, "high": 4.0}, "/x")).value.path
    '/x/figure'
    """
    key = next((key for key in _KEYS if key in (place.value or {})), _KEYS[0])
    return Estimate.of(place, key, digits, style=style, unit=unit)


def defined(rows: Iterable[Cursor], *keys: str | int) -> list[Cursor]:
    """The rows that have a number at the end of `keys`: those that a chart can show.

    Examples
    --------
    >>> rows = Cursor([{"ia": 1.0}, {"ia": None}], "/rows")
    >>> [row.path for row in defined(rows, "ia")]
    ['/rows/0']
    """
    return [row for row in rows if at(row, *keys).number is not None]


def at(place: Cursor, *keys: str | int) -> Cursor:
    """The place that several keys lead to.

    Examples
    --------
    >>> at(Cursor({"a": [1, 2]}), "a", 1)
    Cursor(value=2, path='/a/1')
    """
    for key in keys:
        place = place[key]
    return place


def why_not(
    figures: Sequence[tuple[Name | Text, Cursor]], what: Text, facets: Facets
) -> Iterator[Paragraph]:
    """Why figures are undefined: one note for each reason.

    Parameters
    ----------
    figures
        What each is about, and where it stands.
    what
        What is undefined.
    facets
        Of the notes.

    Examples
    --------
    >>> place = Cursor({"value": None, "reason": "one draw"}, "/iq")
    >>> next(why_not([(Name("a"), place)], Text("IQ"), {})).text.template
    'No {what}: {reason}.'
    """
    by_reason: dict[str, list[Name | Text]] = {}
    for name, place in figures:
        if place.number is None and place.reason:
            by_reason.setdefault(place.reason, []).append(name)
    for reason, names in by_reason.items():
        if len(names) == len(figures):
            yield Paragraph(
                Text.of("No {what}: {reason}.", what=what, reason=text_of(reason)), "note", facets
            )
            continue
        said = Names(tuple(names[:NAMES_SAID]))
        template = (
            "No {what} for {names}: {reason}."
            if len(names) <= NAMES_SAID
            else "No {what} for {names} and others: {reason}."
        )
        text = Text.of(template, what=what, names=said, reason=text_of(reason))
        yield Paragraph(text, "note", facets)


def rests_on(part: Cursor) -> Text:
    """What figures rest on: labels, configurations, questions and clusters of them.

    Parameters
    ----------
    part
        Holds ``labels`` or ``personas``, ``configurations``, ``questions``, ``clusters``.
    """
    values = {
        "labels": Number.count(part["labels"] or part["personas"]),
        "questions": Number.count(part["questions"]),
        "clusters": Number.count(part["clusters"]),
    }
    if not part["configurations"]:
        return Text.of(
            "Labels: {labels}; questions: {questions}, in {clusters} clusters. Intervals are 95% "
            "intervals over questions like these.",
            **values,
        )
    return Text.of(
        "Labels: {labels}; configurations: {configurations}; questions: {questions}, in "
        "{clusters} clusters. Intervals are 95% intervals over questions like these.",
        configurations=Number.count(part["configurations"]),
        **values,
    )
