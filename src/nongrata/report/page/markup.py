"""Pieces of a document as HTML: everything from a file is escaped and made visible."""

from __future__ import annotations

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
from nongrata.report.document.plain import plain
from nongrata.report.document.said import split, text_of
from nongrata.report.languages.language import Language
from nongrata.terminal import visible


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
        >>> english(Text.of("{who} wins", who=Name("<b>\u202e")))
        Markup('<bdi>&lt;b&gt;\\u202e</bdi> wins')
        >>> english(Number(2.25, "/ia/value"))
        Markup('<data value="2.25" data-path="/ia/value">2.2</data>')
        """
        if piece is None:
            return Markup()
        if isinstance(piece, str):
            return escape(self.language.sentence(piece))
        if isinstance(piece, Text):
            return self._text(piece)
        if isinstance(piece, Number):
            return self._number(piece)
        if isinstance(piece, Estimate):
            return self._estimate(piece)
        if isinstance(piece, Verdict):
            kind = piece.word.replace(" ", "-")
            word = self.language.sentence(piece.word)
            return Markup('<span class="verdict {}">{}</span>').format(kind, word)
        if isinstance(piece, Names):
            return Markup(", ").join(self(item) for item in piece.items)
        return Markup("<bdi>{}</bdi>").format(visible(piece.text, one_line=True))

    def _text(self, text: Text) -> Markup:
        parts = [
            escape(words) + (self(text.values[field]) if field else Markup())
            for words, field in split(self.language.sentence(text.template))
        ]
        return Markup().join(parts)

    def _number(self, number: Number) -> Markup:
        shown = self.language.number(number)
        if number.value is None:
            reason = plain(text_of(number.reason), self.language)
            return Markup('<span class="none" title="{}">{}</span>').format(reason, shown)
        unit = Markup("\u00a0{}").format(self.language.sentence(number.unit)) if number.unit else ""
        return Markup('<data value="{}" data-path="{}">{}</data>{}').format(
            repr(number.value), number.path, shown, unit
        )

    def _estimate(self, estimate: Estimate) -> Markup:
        value = self._number(estimate.value)
        if estimate.low.value is None or estimate.high.value is None:
            return value
        return Markup('{} <span class="ci">[{}, {}]</span>').format(
            value, self._number(estimate.low), self._number(estimate.high)
        )
