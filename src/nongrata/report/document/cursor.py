"""A place in the JSON form of the results: its value, and the path to it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Cursor:
    """A place in a JSON document.

    Parameters
    ----------
    value
        What stands there; None where there is nothing.
    path
        JSON pointer (RFC 6901) to it.

    Examples
    --------
    >>> top = Cursor({"models": [{"name": "a", "ia": {"value": 1.5, "reason": None}}]})
    >>> top["models"].where(name="a")["ia"]
    Cursor(value={'value': 1.5, 'reason': None}, path='/models/0/ia')
    >>> top["models"].where(name="a")["ia"].number
    1.5
    """

    value: Any
    path: str = ""

    def __getitem__(self, key: str | int) -> Cursor:
        """One level down; a place that does not exist holds None."""
        part = str(key).replace("~", "~0").replace("/", "~1")
        value: Any = None
        if isinstance(self.value, dict):
            value = self.value.get(key)
        elif isinstance(key, int) and isinstance(self.value, (list, tuple)):
            value = self.value[key] if 0 <= key < len(self.value) else None
        return Cursor(value, f"{self.path}/{part}")

    def __iter__(self) -> Iterator[Cursor]:
        """The places of a list, or of an object's values."""
        if isinstance(self.value, dict):
            return iter([self[key] for key in self.value])
        return iter([self[i] for i in range(len(self.value or ()))])

    def __len__(self) -> int:
        return len(self.value or ())

    def __bool__(self) -> bool:
        """Whether there is anything."""
        return self.value is not None and self.value != [] and self.value != ""

    def all(self, **wanted: Any) -> list[Cursor]:
        """The places of a list whose fields have the values wanted."""
        return [
            each
            for each in self
            if isinstance(each.value, dict)
            and all(each.value.get(name) == value for name, value in wanted.items())
        ]

    def where(self, **wanted: Any) -> Cursor:
        """The first place of a list whose fields have the values wanted; an empty one if none."""
        return next(iter(self.all(**wanted)), Cursor(None, f"{self.path}/-"))

    @property
    def figure(self) -> Cursor:
        """The number of a figure, which is an object of value and reason; else the place itself."""
        if isinstance(self.value, dict) and {"value", "reason"} <= self.value.keys():
            return self["value"]
        return self

    @property
    def number(self) -> float | int | None:
        """The number here, or that of the figure here; None if there is none."""
        found = self.figure.value
        is_number = isinstance(found, (int, float)) and not isinstance(found, bool)
        return found if is_number else None

    @property
    def reason(self) -> str:
        """Why a figure is undefined; empty where it is not."""
        found = self.value.get("reason") if isinstance(self.value, dict) else None
        return found or ""

    @property
    def text(self) -> str:
        """The text here; empty if there is none."""
        if isinstance(self.value, str):
            return self.value
        return "" if self.value is None else str(self.value)
