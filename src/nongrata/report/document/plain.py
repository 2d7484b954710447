"""Pieces of a document as plain text, in one language."""

from __future__ import annotations

from nongrata.report.document.pieces import (
    Estimate,
    Name,
    Names,
    Number,
    Piece,
    Text,
    Verdict,
)
from nongrata.report.document.said import split
from nongrata.report.languages.language import Language
from nongrata.terminal import visible


def plain(piece: Piece | None, language: Language) -> str:
    r"""A piece as one line of plain text; what cannot be seen in names is written out.

    Parameters
    ----------
    piece
        The piece.
    language
        In which language.

    Examples
    --------
    >>> english = Language("en", {})
    >>> plain(Text.of("{who}: {ia}", who=Name("a\x1b"), ia=Number(2.25, "/ia")), english)
    'a\\x1b: 2.2'
    """
    if piece is None:
        return ""
    if isinstance(piece, str):
        return language.sentence(piece)
    if isinstance(piece, Text):
        return "".join(
            text + (plain(piece.values[field], language) if field else "")
            for text, field in split(language.sentence(piece.template))
        )
    if isinstance(piece, Number):
        unit = f" {language.sentence(piece.unit)}" if piece.unit and piece.value is not None else ""
        return language.number(piece) + unit
    if isinstance(piece, Estimate):
        value = plain(piece.value, language)
        if piece.low.value is None or piece.high.value is None:
            return value
        return f"{value} [{language.number(piece.low)}, {language.number(piece.high)}]"
    if isinstance(piece, Verdict):
        return language.sentence(piece.word)
    if isinstance(piece, Names):
        return ", ".join(plain(item, language) for item in piece.items)
    assert isinstance(piece, Name)
    return visible(piece.text, one_line=True)
