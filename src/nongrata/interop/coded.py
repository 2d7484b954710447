"""Columns of text as codes: what is said about a text is said once for each distinct one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Coded:
    """Some cells: their distinct texts, and which of them each cell holds.

    Parameters
    ----------
    values
        Distinct texts.
    index
        Place in `values` of each cell.

    Examples
    --------
    >>> cells = Coded(["a", "b"], np.array([0, 1, 1]))
    >>> cells.flag(lambda text: text == "b").tolist()
    [False, True, True]
    """

    values: list[str]
    index: Codes

    @classmethod
    def of(cls, column: Any) -> Coded:
        """The cells of a ``pyarrow`` array of text."""
        found = column.dictionary_encode()
        index = found.indices.to_numpy(zero_copy_only=False)
        return cls(found.dictionary.to_pylist(), index.astype(np.int64))

    def take(self, rows: Codes | Flags) -> Coded:
        """Some of the cells."""
        return Coded(self.values, self.index[rows])

    def map(self, change: Callable[[str], str]) -> Coded:
        """The cells with every text changed; texts that become equal stay two values."""
        return Coded([change(value) for value in self.values], self.index)

    def flag(self, test: Callable[[str], bool]) -> Flags:
        """Which cells hold a text that passes the test."""
        found = np.fromiter(map(test, self.values), dtype=np.bool_, count=len(self.values))
        return np.asarray(found[self.index])

    def numbers(self, number: Callable[[str], int]) -> Codes:
        """A number for each cell."""
        found = np.fromiter(map(number, self.values), dtype=np.int64, count=len(self.values))
        return np.asarray(found[self.index])

    def text(self, cell: int) -> str:
        """The text of one cell."""
        return self.values[int(self.index[cell])]


@dataclass
class Names:
    """Distinct texts in order of first appearance.

    Examples
    --------
    >>> names = Names()
    >>> names.codes(Coded(["b", "a", "never"], np.array([0, 1, 0]))).tolist(), names.all
    ([0, 1, 0], ['b', 'a'])
    """

    _code: dict[str, int] = field(default_factory=dict)

    def code(self, text: str) -> int:
        """The code of a text, a new one where it is new."""
        return self._code.setdefault(text, len(self._code))

    def codes(self, cells: Coded) -> Codes:
        """The code of each cell."""
        table = np.full(len(cells.values), -1, dtype=np.int64)
        used, first = np.unique(cells.index, return_index=True)
        for value in used[np.argsort(first)].tolist():
            table[value] = self.code(cells.values[value])
        return np.asarray(table[cells.index])

    def find(self, text: str) -> int:
        """The code of a text, -1 where it is unknown."""
        return self._code.get(text, -1)

    @property
    def all(self) -> list[str]:
        """The texts by code."""
        return list(self._code)

    def __len__(self) -> int:
        return len(self._code)


@dataclass
class FirstSaid:
    """What the first row of an item says about it, and which rows say otherwise.

    Examples
    --------
    >>> gold = FirstSaid()
    >>> gold.differs(np.array([0, 1, 0]), np.array([5, 6, 7])).tolist()
    [False, False, True]
    >>> gold.of(2).tolist()
    [5, 6]
    """

    _said: Codes = field(default_factory=lambda: np.full(1024, -1, dtype=np.int64))

    def differs(self, item: Codes, code: Codes) -> Flags:
        """Which rows differ from the first row of their item."""
        most = int(item.max(initial=-1)) + 1
        if most > len(self._said):
            grown = np.full(max(most, 2 * len(self._said)), -1, dtype=np.int64)
            grown[: len(self._said)] = self._said
            self._said = grown
        new = np.flatnonzero(self._said[item] < 0)
        items, first = np.unique(item[new], return_index=True)
        self._said[items] = code[new[first]]
        return np.asarray(self._said[item] != code)

    def of(self, items: int) -> Codes:
        """What is said about the first so many items; -1: nothing."""
        found = np.full(items, -1, dtype=np.int64)
        known = self._said[:items]
        found[: len(known)] = known
        return found


@dataclass
class Rows:
    """Distinct rows of codes in order of first appearance.

    Examples
    --------
    >>> rows = Rows()
    >>> rows.codes([np.array([0, 0, 1]), np.array([2, 2, 2])]).tolist(), rows.all
    ([0, 0, 1], [(0, 2), (1, 2)])
    """

    _code: dict[tuple[int, ...], int] = field(default_factory=dict)

    def codes(self, columns: Iterable[Codes]) -> Codes:
        """The code of each row."""
        together = list(columns)
        key = np.zeros(len(together[0]), dtype=np.int64)
        for column in together:  # compressed after each, so that no product overflows
            key = key * (int(column.max(initial=0)) + 1) + column
            key = np.unique(key, return_inverse=True)[1].astype(np.int64)
        _, first = np.unique(key, return_index=True)
        table = np.zeros(len(first), dtype=np.int64)
        for place in np.argsort(first).tolist():
            row = tuple(int(column[first[place]]) for column in together)
            table[place] = self._code.setdefault(row, len(self._code))
        return np.asarray(table[key])

    @property
    def all(self) -> list[tuple[int, ...]]:
        """The rows by code."""
        return list(self._code)

    def __len__(self) -> int:
        return len(self._code)
