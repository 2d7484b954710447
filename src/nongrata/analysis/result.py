"""What all results have in common: a kind, plain JSON values, a table."""

from __future__ import annotations

import dataclasses
import json
import math
from typing import Any

import numpy as np

from nongrata.stats.figure import Figure


class Result:
    """Base of the results of an analysis: frozen dataclasses that any renderer can consume.

    A subclass has a field ``kind``, the tag by which a reader of its JSON form tells what it is,
    a one-line ``str()`` and, where it is a table, ``to_dataframe()``.
    """

    __slots__ = ()

    def as_dict(self) -> dict[str, Any]:
        """The result as JSON values: what is undefined is None, beside its reason."""
        value: dict[str, Any] = plain(self)
        return value

    def to_json(self, *, indent: int | None = None) -> str:
        """The result as JSON text, ASCII only, the same for the same answers."""
        return json.dumps(self.as_dict(), indent=indent, ensure_ascii=True, allow_nan=False)


def plain(value: Any) -> Any:
    """Turn dataclasses, tuples, figures and numpy scalars into JSON values; ``nan`` into None.

    Examples
    --------
    >>> plain((Figure(1.5), Figure.undefined("no answer"), np.int8(3)))
    [{'value': 1.5, 'reason': None}, {'value': None, 'reason': 'no answer'}, 3]
    """
    if isinstance(value, Figure):
        return {"value": plain(value.value), "reason": value.reason or None}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def number(figure: Figure, digits: int = 2) -> str:
    """A figure in a sentence: its number, or that there is none.

    Examples
    --------
    >>> number(Figure(2.345)), number(Figure.undefined("no answer"))
    ('2.35', 'undefined')
    """
    return f"{figure.value:.{digits}f}" if figure.defined else "undefined"


def factor_columns(factors: tuple[str, ...], taken: tuple[str, ...]) -> list[str]:
    """Column names of a table for factors, which may be called anything, even "accuracy".

    Examples
    --------
    >>> factor_columns(("temperature", "accuracy"), ("model", "accuracy"))
    ['temperature', 'factor.accuracy']
    """
    return [f"factor.{name}" if name in taken else name for name in factors]
