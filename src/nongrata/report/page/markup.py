"""Pieces of a document as HTML: everything from a file is escaped and made visible."""

from __future__ import annotations

import re
from dataclasses import dataclass

from markupsafe import Markup, escape

from nongrata.report.document.pieces import (
    Estimate,
    Names,
    Number,
    Piece,
    Text,
    Verdict,
)
from nongrata.report.document.said import split, text_of
from nongrata.report.languages.language import Language
from nongrata.terminal import visible

_SPACE = "\u00a0"
_WORD = re.compile(r"[A-Za-z]{2}")
_LONG = re.compile(r"[^\s-]{25}")
_FIELD = re.compile(r"\{\w+\}")


class Reasons:
    """Why numbers of a table are undefined: each reason once, with a letter that points to it.

    Examples
    --------
    >>> reasons = Reasons()
    >>> [reasons.mark(why) for why in ("no pairs", "one level", "no pairs")]
    ['a', 'b', 'a']
    >>> reasons.pairs
    [('a', 'no pairs'), ('b', 'one level')]
    """

    def __init__(self) -> None:
        self._marks: dict[str, str] = {}

    def mark(self, reason: str) -> str:
        """The letter of a reason."""
        return self._marks.setdefault(reason, _letters(len(self._marks)))

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Letters and reasons, in order."""
        return [(letter, reason) for reason, letter in self._marks.items()]


@dataclass(frozen=True, slots=True)
class InRow:
    """The row of a table that a piece stands in.

    Parameters
    ----------
    reasons
        The table's.
    path
        What says where the numbers of the cell stand, as an attribute; None where each number
        says it itself.
    """

    reasons: Reasons
    path: str | None = None


def _written(text: str) -> str:
    """Text as HTML: a sentence of the results may hold whatever a name holds, too."""
    shown = visible(text, one_line=True)
    return _apart(shown) if _LONG.search(shown) else str(escape(shown))


def _name(text: str) -> str:
    r"""A name, kept apart where it could turn a line around, or be too long for one.

    Examples
    --------
    >>> _name("a cook"), _name("\u05d0")
    ('a cook', '<bdi>\u05d0</bdi>')
    """
    shown = visible(text, one_line=True)
    return str(escape(shown)) if shown.isascii() and not _LONG.search(shown) else _apart(shown)


def _apart(shown: str) -> str:
    # the style sheet lets a line break anywhere in it
    return f"<bdi>{escape(shown)}</bdi>"


def _letters(place: int) -> str:
    """a, b, ..., z, aa, ab, ..."""
    before, last = divmod(place, 26)
    return (_letters(before - 1) if before else "") + chr(ord("a") + last)


@dataclass(frozen=True, slots=True)
class PieceMarkup:
    """Writes pieces as HTML in one language.

    Parameters
    ----------
    language
        The language.
    """

    language: Language

    def __call__(self, piece: Piece | None) -> Markup:
        r"""A piece as HTML.

        Examples
        --------
        >>> from nongrata.report.document.pieces import Name
        >>> english = PieceMarkup(Language("en", {}))
        >>> english(Text.of("{who} wins", who=Name("<b>\u05d0\u202e")))
        Markup('<bdi>&lt;b&gt;\u05d0\\u202e</bdi> wins')
        >>> english(Number(2.25, "/ia/value"))
        Markup('<data value=2.25 data-path="/ia/value">2.2</data>')
        """
        return Markup(self.html(piece))  # noqa: S704 - html() escapes all that is not ours

    def html(self, piece: Piece | None, row: InRow | None = None) -> str:
        """The same as a plain str, for the many cells of tables.

        Parameters
        ----------
        piece
            The piece.
        row
            Where it stands in one: collects why numbers are undefined, a reason that otherwise
            stands beside the dash.
        """
        if piece is None:
            return ""
        if isinstance(piece, Number):
            return self._number(piece, row)
        if isinstance(piece, Estimate):
            return self._estimate(piece, row)
        if isinstance(piece, str):
            return self._said(piece, _written(self.language.sentence(piece)))
        if isinstance(piece, Text):
            return self._said(piece.template, self._text(piece, row))
        if isinstance(piece, Verdict):
            return self._verdict(piece)
        if isinstance(piece, Names):
            return ", ".join(self.html(item, row) for item in piece.items)
        return _name(piece.text)

    def _said(self, template: str, html: str) -> str:
        """Mark what has no translation as English, so that it is read out as English."""
        if self.language.has(template) or not _WORD.search(_FIELD.sub("", template)):
            return html
        return f'<span lang="en">{html}</span>'

    def _text(self, text: Text, row: InRow | None) -> str:
        return "".join(
            _written(words) + (self.html(text.values[field], row) if field else "")
            for words, field in split(self.language.sentence(text.template))
        )

    def _number(self, number: Number, row: InRow | None) -> str:
        shown = self.language.number(number)
        if number.value is None:
            return self._undefined(shown, number.reason, row)
        path = f' data-path="{escape(number.path)}"'
        if row is not None and row.path is not None:
            path = row.path
        # no quotes: a number needs none, and there are many ten thousand of them
        data = f"<data value={number.value!r}{path}>{escape(shown)}</data>"
        return f"{data}{self._unit(number.unit)}"

    def _undefined(self, dash: str, reason: str, row: InRow | None) -> str:
        why = self.html(text_of(reason or "not defined"))
        if row is None:
            return f'<span class="none">{dash}<span class="unseen"> ({why})</span></span>'
        return f'<span class="none">{dash}<sup>{row.reasons.mark(why)}</sup></span>'

    def _unit(self, unit: str) -> str:
        if not unit:
            return ""
        close = unit == "%" and self.language.code == "en"
        return f"{'' if close else _SPACE}{escape(self.language.sentence(unit))}"

    def _estimate(self, estimate: Estimate, row: InRow | None) -> str:
        value = self._number(estimate.value, row)
        if estimate.low.value is None or estimate.high.value is None:
            return value
        low, high = (self._number(end, row) for end in (estimate.low, estimate.high))
        return f"{value} <i>[{low},{_SPACE}{high}]</i>"

    def _verdict(self, verdict: Verdict) -> str:
        kind = re.sub(r"[^a-z]+", "-", verdict.word.lower()).strip("-")
        word = self._said(verdict.word, _written(self.language.sentence(verdict.word)))
        return f'<span class="verdict {kind}">{word}</span>'
