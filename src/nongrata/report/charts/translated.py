"""A chart's specification and data in another language: titles, and fixed words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from nongrata.report.charts.reserved_names import unreserved
from nongrata.report.document.blocks import Field
from nongrata.report.document.pieces import Name, Names, Text, Verdict
from nongrata.report.document.plain import plain
from nongrata.report.languages.language import Language

_TITLES = {"title", "subtitle"}
_PIECES = (Text, Name, Names, Verdict)


def translated(spec: Mapping[str, Any], language: Language) -> dict[str, Any]:
    """A specification whose words are in a language; names and data stay what they are.

    A piece is written in the language wherever it stands: ``{"title": Name("temperature")}`` is
    a user's name, which is never translated. Looked up are titles of axes, legends, headers and
    tooltips; texts that a mark shows whatever the data, ``{"text": {"value": ...}}``; series named
    by a constant, ``{"datum": ...}``, also where a scale lists them; and names and labels of
    inputs bound to parameters. No name is one that a drawing library cannot have.

    Parameters
    ----------
    spec
        A Vega-Lite specification.
    language
        The language.

    Examples
    --------
    >>> spanish = Language("es", {"rank": "rango", "noise": "ruido"})
    >>> translated({"x": {"field": "rank", "title": "rank"}}, spanish)
    {'x': {'field': 'rank', 'title': 'rango'}}
    >>> translated({"color": {"datum": "noise", "scale": {"domain": ["noise", "rank"]}}}, spanish)
    {'color': {'datum': 'ruido', 'scale': {'domain': ['ruido', 'rank']}}}
    """
    walker = _Walker(language, frozenset(_constants(spec)))
    said = {key: walker.value(key, value) for key, value in spec.items()}
    return dict(unreserved(said))


def written(field: Field, language: Language) -> list[Any]:
    r"""A field's values as a chart takes them: pieces as texts of a language.

    Parameters
    ----------
    field
        The field.
    language
        The language.

    Examples
    --------
    >>> spanish = Language("es", {"robust": "robusta"})
    >>> written(Field.names([Text("robust"), Name("robust"), 2]), spanish)
    ['robusta', 'robust', 2]
    """
    shown = [plain(v, language) if isinstance(v, _PIECES) else v for v in field.values]
    return list(unreserved(shown))


@dataclass(frozen=True, slots=True)
class _Walker:
    """Walks a specification; `constants` are its series named by a constant."""

    language: Language
    constants: frozenset[str]

    def value(self, key: str, value: Any) -> Any:
        if key in _TITLES:
            return self._said(value)
        if key == "datum" and isinstance(value, str):
            return self._said(value)
        if key == "domain" and isinstance(value, (list, tuple)):
            return [self._said(each) if each in self.constants else each for each in value]
        if key == "text" and isinstance(value, dict) and "value" in value:
            return self._inside(value) | {"value": self._said(value["value"])}
        if key == "bind" and isinstance(value, dict):
            words = {name: self._said(value[name]) for name in ("name", "labels") if name in value}
            return self._inside(value) | words
        return self._inside(value)

    def _inside(self, value: Any) -> Any:
        if isinstance(value, _PIECES):
            return plain(value, self.language)
        if isinstance(value, dict):
            return {key: self.value(key, each) for key, each in value.items()}
        if isinstance(value, (list, tuple)):
            return [self._inside(each) for each in value]
        return value

    def _said(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.language.sentence(value)
        if isinstance(value, (list, tuple)):
            return [self._said(each) for each in value]
        return self._inside(value)


def _constants(spec: Any) -> Iterator[str]:
    if isinstance(spec, dict):
        if isinstance(spec.get("datum"), str):
            yield spec["datum"]
        spec = list(spec.values())
    if isinstance(spec, (list, tuple)):
        for each in spec:
            yield from _constants(each)
