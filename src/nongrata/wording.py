"""Sentences that remember how they were made, so that they can be said in another language.

A `Said` is a plain English text to everybody who does not ask. The report asks: it looks the
template up in a catalogue and fills in the same values.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from nongrata.templates import fill


class Said(str):  # noqa: SLOT000 - its attributes cannot be slots of a str
    """A text made from a template and values.

    Parameters
    ----------
    template
        With ``{name}`` fields; it is what a catalogue of another language is asked for.
    values
        What stands in the fields: names, numbers as they are shown, other sentences, or a list
        or tuple of these.

    Examples
    --------
    >>> text = Said("{name} is left out", {"name": "a farmer"})
    >>> text
    'a farmer is left out'
    >>> text.template
    '{name} is left out'
    """

    template: str
    values: Mapping[str, Any]

    def __new__(cls, template: str, values: Mapping[str, Any]) -> Self:
        """Fill the template."""
        text = super().__new__(
            cls, fill(template, {name: _shown(value) for name, value in values.items()})
        )
        text.template, text.values = template, dict(values)
        return text

    def __getnewargs__(self) -> tuple[str, Mapping[str, Any]]:  # type: ignore[override]
        """How it is copied and pickled."""
        return self.template, self.values

    def __repr__(self) -> str:
        return repr(str(self))

    def __str__(self) -> str:
        return str.__str__(self)


def _shown(value: object) -> str:
    """A value as text; several with commas between."""
    return ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def say(template: str, /, **values: Any) -> Said:
    """Say a sentence with values in it.

    Parameters
    ----------
    template
        English, with ``{name}`` fields; braces that are meant are written twice.
    values
        By name. Numbers are given as they shall be shown.

    Examples
    --------
    >>> say("{n} of {total} labels", n=3, total="1,200")
    '3 of 1,200 labels'
    """
    return Said(template, values)


def as_said(text: str) -> Said:
    """A text of ours as a sentence without fields, to stand in the field of another.

    Examples
    --------
    >>> as_said("too few questions").template
    'too few questions'
    """
    return text if isinstance(text, Said) else say(text.replace("{", "{{").replace("}", "}}"))


def together(first: str, *rest: str) -> str:
    """Sentences one after the other, as one text.

    Examples
    --------
    >>> together(say("{n} of 3.", n=2), "It is so.")
    '2 of 3. It is so.'
    """
    if not rest:
        return first
    return say("{first} {rest}", first=as_said(first), rest=as_said(together(*rest)))
