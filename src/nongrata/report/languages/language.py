"""One language of a report: what its sentences are, and how its numbers are written."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import yaml

from nongrata.errors import NongrataError
from nongrata.report.document.pieces import Number

LANGUAGES = {"en": "English", "es": "Español"}
"""Languages there are, by code."""


@dataclass(frozen=True, slots=True)
class Language:
    """A language.

    Parameters
    ----------
    code
        Of BCP 47: ``"en"``.
    sentences
        Its sentence for each English template; what is missing stays English.
    thousands
        What stands between thousands.
    """

    code: str
    sentences: Mapping[str, str]
    thousands: str = ","

    def sentence(self, template: str) -> str:
        """The template in this language.

        Examples
        --------
        >>> Language("en", {}).sentence("not shown")
        'not shown'
        """
        return self.sentences.get(template, template)

    def has(self, template: str) -> bool:
        """Whether there is such a sentence; of English there always is."""
        return self.code == "en" or template in self.sentences

    def number(self, number: Number) -> str:
        """A number as it is shown, without its unit; a dash where there is none.

        Examples
        --------
        >>> english = Language("en", {})
        >>> [english.number(Number(v, "", 1, s)) for v, s in [(2.25, "signed"), (1200, "count")]]
        ['+2.2', '1,200']
        >>> [english.number(Number(v, "", 3, "p")) for v in (0.0123, 1e-9)]
        ['.012', '<.001']
        """
        value = number.value
        if value is None or not math.isfinite(value):
            return "–"
        if number.style == "text":
            return str(value)
        if number.style == "p":
            return _p_value(float(value))
        if number.style == "count":
            return f"{round(value):,}".replace(",", self.thousands)
        sign = "+" if number.style == "signed" else ""
        shown = f"{value:{sign},.{number.digits}f}".replace(",", self.thousands)
        if float(f"{value:.{number.digits}f}") == 0.0:
            shown = shown.lstrip("+-")
        return shown.replace("-", "−")


def _p_value(p: float) -> str:
    """Three decimals without the leading zero, as journals print it.

    Examples
    --------
    >>> _p_value(0.5), _p_value(1.0), _p_value(0.0001)
    ('.500', '1', '<.001')
    """
    if p < 0.001:
        return "<.001"
    return "1" if p > 0.9995 else f"{p:.3f}".removeprefix("0")


@cache
def language(code: str) -> Language:
    """The language with a code.

    Parameters
    ----------
    code
        One of `LANGUAGES`.
    """
    if code not in LANGUAGES:
        known = ", ".join(LANGUAGES)
        raise NongrataError(f"there is no report in '{code}'", fix=f"choose one of: {known}")
    if code == "en":
        return Language("en", {})
    return Language(code, catalogue(code), "\u202f")


def catalogue(code: str) -> dict[str, str]:
    """All sentences of a language, from its folder's files: one for each section.

    Parameters
    ----------
    code
        One of `LANGUAGES` that is not English.
    """
    folder = files("nongrata.report.languages") / code
    found: dict[str, str] = {}
    for file in sorted(folder.iterdir(), key=lambda each: each.name):
        found |= yaml.safe_load(file.read_text(encoding="utf-8")) or {}
    return found
