"""Names that are too long to be drawn, which is slow too: shorter ones, still told apart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

LONGEST = 120
"""Characters of a name in a chart."""


def short_names(names: Iterable[Any], longest: int = LONGEST) -> dict[str, str]:
    """A shorter name for each that is too long; no two names get the same.

    Parameters
    ----------
    names
        Names, and whatever else stands in a column.
    longest
        Characters that a name may have.

    Examples
    --------
    >>> short_names(["farmer", "farmers", "farmland", 3], 6)
    {'farmers': 'farme…', 'farmland': 'farml…'}
    >>> short_names(["farmhand", "farmhouse"], 5)
    {'farmhand': 'farm…', 'farmhouse': 'farm… (2)'}
    """
    found: dict[str, str] = {}
    taken = set()
    for name in names:
        if not isinstance(name, str) or len(name) <= longest or name in found:
            continue
        short, number = name[: longest - 1] + "…", 1
        while short in taken:
            number += 1
            short = f"{name[: longest - 1]}… ({number})"
        found[name] = short
        taken.add(short)
    return found


def renamed(value: Any, names: Mapping[str, str]) -> Any:
    """A specification or data with other names.

    Parameters
    ----------
    value
        JSON values.
    names
        The name to write for each that is to be replaced.

    Examples
    --------
    >>> renamed({"sort": ["aaaaaaaa", "b"]}, {"aaaaaaaa": "aaa…"})
    {'sort': ['aaa…', 'b']}
    """
    if not names:
        return value
    if isinstance(value, str):
        return names.get(value, value)
    if isinstance(value, Mapping):
        return {key: renamed(each, names) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [renamed(each, names) for each in value]
    return value
