"""Sentences with numbers of the answer in them.

A number in a sentence stands in a field that is called as the field of `AnswerNumbers` that holds
it, so that a report can show the number itself, and where it comes from.
"""

from __future__ import annotations

from typing import Any

from nongrata.conclusions.answered import AnswerNumbers
from nongrata.stats.figure import Figure
from nongrata.templates import fields_of
from nongrata.wording import Said, say


def said_of(numbers: AnswerNumbers, template: str, **others: Any) -> Said:
    """A sentence, with those numbers that it names.

    Parameters
    ----------
    numbers
        All of them.
    template
        With fields called as they are.
    others
        What else stands in it: names.
    """
    shown = {name: _written(getattr(numbers, name)) for name in _named(template, others)}
    return say(template, **shown, **others)


def _named(template: str, others: dict[str, Any]) -> list[str]:
    return [name for name in fields_of(template) if name not in others]


def _written(value: Figure | int) -> str:
    """A number as sentences show it."""
    return f"{value.value:.1f}" if isinstance(value, Figure) else f"{value:,}"


def at_all(figure: Figure) -> bool:
    """Whether there is a number, and more than 0 as it is shown.

    Examples
    --------
    >>> at_all(Figure(0.04)), at_all(Figure(0.3)), at_all(Figure.undefined("no test"))
    (False, True, False)
    """
    return figure.defined and round(figure.value, 1) > 0
