"""Sentences of the results as texts of a report, with the numbers in them as numbers."""

from __future__ import annotations

from nongrata.report.document.cursor import Cursor
from nongrata.report.document.pieces import Number, Piece, Text
from nongrata.report.document.said import text_of
from nongrata.wording import Said


def sentence(text: str, place: Cursor) -> Text:
    """A sentence of the results, and the numbers in it where they stand.

    A field of the sentence that is called as a number at the place becomes that number, with as
    many decimals as the sentence shows.

    Parameters
    ----------
    text
        From the results.
    place
        The object that holds the numbers.

    Examples
    --------
    >>> from nongrata.wording import say
    >>> place = Cursor({"typical": {"value": 2.345, "reason": None}}, "/numbers")
    >>> sentence(say("it is {typical} points", typical="2.3"), place).values["typical"].path
    '/numbers/typical/value'
    """
    found = text_of(text)
    if not isinstance(text, Said):
        return found
    return Text(
        found.template,
        {
            name: _piece(name, text.values[name], piece, place)
            for name, piece in found.values.items()
        },
    )


def _piece(name: str, value: object, piece: Piece, place: Cursor) -> Piece:
    if isinstance(value, Said):
        return sentence(value, place)
    there = place[name]
    if there.number is None:
        return piece
    if name == "p":
        return Number.p(there)
    _, point, decimals = str(value).partition(".")
    return Number.of(there, len(decimals)) if point else Number.count(there)
