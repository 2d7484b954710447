"""The smallest parts of a document: numbers, names, sentences, estimates, verdicts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from nongrata.report.document.cursor import Cursor
from nongrata.templates import fields_of

Style = Literal["number", "signed", "count", "p", "text"]
"""How a number is written: plain, with its sign, with thousands apart, as a p value."""


@dataclass(frozen=True, slots=True)
class Number:
    """A number of the results, and where it stands in them.

    Parameters
    ----------
    value
        The number in full precision; None if it is undefined.
    path
        JSON pointer into the results.
    digits
        Decimals shown.
    style
        How it is written.
    unit
        Written after it: ``"points"``, ``"%"``; empty where a heading has it.
    reason
        Why it is undefined.

    Examples
    --------
    >>> Number.of(Cursor({"ia": 14.947}, "/noise")["ia"], 1).path
    '/noise/ia'
    """

    value: float | int | None
    path: str
    digits: int = 1
    style: Style = "number"
    unit: str = ""
    reason: str = ""

    @classmethod
    def of(
        cls, place: Cursor, digits: int = 1, *, style: Style = "number", unit: str = ""
    ) -> Number:
        """The number at a place, or that of the figure there."""
        return cls(place.number, place.figure.path, digits, style, unit, place.reason)

    @classmethod
    def count(cls, place: Cursor) -> Number:
        """A number of things; at a list, how many it holds."""
        if isinstance(place.value, (list, tuple)):
            return cls(len(place.value), f"{place.path}/#", 0, "count")
        return cls(place.number, place.figure.path, 0, "count", reason=place.reason)

    @classmethod
    def p(cls, place: Cursor) -> Number:
        """A p value."""
        return cls(place.number, place.figure.path, 3, "p", reason=place.reason)


@dataclass(frozen=True, slots=True)
class Name:
    """A text from a user's file or a model: a label, a level, a model. It is never translated."""

    text: str


@dataclass(frozen=True, slots=True)
class Text:
    """A sentence, or a heading: English, with what stands in its fields.

    Parameters
    ----------
    template
        With ``{name}`` fields; what the catalogue of another language is asked for. An English
        text that holds values is best a `nongrata.wording.Said`.
    values
        What stands in the fields.

    Examples
    --------
    >>> Text.of("accuracy of {model}", model=Name("a")).values["model"]
    Name(text='a')
    """

    template: str
    values: Mapping[str, Piece] = field(default_factory=dict)

    @classmethod
    def of(cls, template: str, **values: Piece) -> Text:
        """A sentence with values; every field must have one."""
        missing = set(fields_of(template)) - set(values)
        if missing:
            raise ValueError(f"no value for {sorted(missing)} in {template!r}")
        return cls(template, values)


@dataclass(frozen=True, slots=True)
class Names:
    """Several names, with commas between."""

    items: tuple[Name | Text, ...]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with its interval.

    Parameters
    ----------
    value, low, high
        The number and the ends of its interval, which may be undefined.
    """

    value: Number
    low: Number
    high: Number

    @classmethod
    def of(
        cls, place: Cursor, key: str = "estimate", digits: int = 1, *, style: Style = "number",
        low: str = "low", high: str = "high", unit: str = "",
    ) -> Estimate:  # fmt: skip
        """The estimate at a place that holds `key`, `low` and `high`."""
        return cls(
            Number.of(place[key], digits, style=style, unit=unit),
            Number.of(place[low], digits),
            Number.of(place[high], digits),
        )


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict of a conclusion: robust, fragile, established, undecided, not rankable."""

    word: str


Piece = Number | Name | Names | Text | Estimate | Verdict | str
"""What may stand in a sentence or a cell. A plain str is English, to be translated as a whole."""
