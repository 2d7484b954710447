"""An English text of the results -> a piece of a document, with its values kept apart."""

from __future__ import annotations

from collections.abc import Iterator

from nongrata.report.document.pieces import Name, Names, Piece, Text
from nongrata.templates import fields_of
from nongrata.wording import Said


def text_of(text: str) -> Text:
    """A sentence of the results as a piece.

    One that was made with `nongrata.wording.say` keeps its template, so that it can be said in
    another language; its values are names or numbers as they are shown. Any other is a sentence
    without fields.

    Parameters
    ----------
    text
        From the results.

    Examples
    --------
    >>> from nongrata.wording import say
    >>> text_of(say("{n} of {model}", n=3, model="a"))
    Text(template='{n} of {model}', values={'n': Name(text='3'), 'model': Name(text='a')})
    """
    if isinstance(text, Said):
        return Text(text.template, {name: _piece(value) for name, value in text.values.items()})
    return Text(text.replace("{", "{{").replace("}", "}}"))


def _piece(value: object) -> Piece:
    if isinstance(value, Said):
        return text_of(value)
    if isinstance(value, (list, tuple)):
        return Names(tuple(text_of(v) if isinstance(v, Said) else Name(str(v)) for v in value))
    return Name(str(value))


def templates_of(piece: Piece | None) -> Iterator[str]:
    """Every English template in a piece, which a catalogue must have.

    Parameters
    ----------
    piece
        A piece of a document.

    Examples
    --------
    >>> list(templates_of(Text.of("{n} more", n=Text("many"))))
    ['{n} more', 'many']
    """
    if isinstance(piece, str):
        yield piece
    elif isinstance(piece, Text):
        yield piece.template
        for value in piece.values.values():
            yield from templates_of(value)
    elif isinstance(piece, Names):
        for item in piece.items:
            yield from templates_of(item)


def split(template: str) -> list[tuple[str, str]]:
    """A template as plain texts and field names in turn: [(text, field), ..., (text, "")].

    Examples
    --------
    >>> split("{n} of {{x}}, {total}.")
    [('', 'n'), (' of {x}, ', 'total'), ('.', '')]
    """
    parts: list[tuple[str, str]] = []
    rest = template
    for field in fields_of(template):
        text, _, rest = _cut(rest, "{" + field + "}")
        parts.append((_plain(text), field))
    return [*parts, (_plain(rest), "")]


def _cut(text: str, mark: str) -> tuple[str, str, str]:
    """Cut at a field, passing over braces written twice."""
    at = 0
    while True:
        found = text.index(mark, at)
        before = found - len(text[:found].rstrip("{"))
        if before % 2 == 0:
            return text[:found], mark, text[found + len(mark) :]
        at = found + 1


def _plain(text: str) -> str:
    return text.replace("{{", "{").replace("}}", "}")
