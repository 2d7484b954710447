"""Rows that cannot be used: counted, named with their place, and written down, all of them."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, TextIO

from nongrata.errors import NongrataError
from nongrata.terminal import shorten

FIRST = 10
"""How many are shown."""


@dataclass(frozen=True, slots=True)
class Remark:
    """One row, or one answer of it, that could not be used as it stands.

    Parameters
    ----------
    line
        Line, or row, of the file at which it begins.
    kind
        What is wrong, without particulars; remarks are counted by it.
    what
        What is wrong, with them.
    """

    line: int
    kind: str
    what: str


@dataclass
class Remarks:
    """Collects remarks.

    Parameters
    ----------
    file
        The table's name.
    unit
        What the places count: ``"line"`` or ``"row"``.
    into
        Receives every remark as a line of JSON; None in strict mode.
    """

    file: str
    unit: str
    into: TextIO | None
    kinds: Counter[str] = field(default_factory=Counter)
    first: list[Remark] = field(default_factory=list)
    rows: int = 0

    def lose(self, line: int, kind: str, what: str) -> None:
        """Note a row that cannot even be taken apart."""
        self.rows += 1
        self.add(line, kind, what)

    def add(self, line: int, kind: str, what: str = "") -> None:
        """Note one; in strict mode it is the end."""
        remark = Remark(line, kind, what or kind)
        if self.into is None:
            raise NongrataError(
                remark.what,
                where=self.place(remark),
                fix="mend the table, or leave out --strict: the row is then left out and named",
            )
        self.kinds[kind] += 1
        if len(self.first) < FIRST:
            self.first.append(remark)
        self.into.write(json.dumps({self.unit: line, "kind": kind, "what": remark.what}) + "\n")

    def place(self, remark: Remark) -> str:
        """File and line, or file and row."""
        if self.unit == "line":
            return f"{self.file}:{remark.line}"
        return f"{self.file}, row {remark.line}"

    @property
    def total(self) -> int:
        """How many there are."""
        return sum(self.kinds.values())

    def as_dict(self) -> dict[str, Any]:
        """Number, numbers by kind, and the first ones."""
        return {
            "total": self.total,
            "by_kind": dict(self.kinds.most_common()),
            "first": [
                {"place": self.place(remark), "kind": remark.kind, "what": remark.what}
                for remark in self.first
            ],
        }


def quoted(text: str) -> str:
    """A cell's text in a message.

    Examples
    --------
    >>> quoted("maybe")
    "'maybe'"
    """
    return f"'{shorten(text, 60)}'"
