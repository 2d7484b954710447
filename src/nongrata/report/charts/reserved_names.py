"""Names that charts cannot have: a drawing library looks names up in plain JavaScript objects."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from nongrata.report.charts.long_names import renamed

_INHERITED = (
    *("constructor", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable"),
    *("toLocaleString", "toString", "valueOf", "__proto__"),
    *("__defineGetter__", "__defineSetter__", "__lookupGetter__", "__lookupSetter__"),
)
RESERVED = {name: f"{name}\N{NO-BREAK SPACE}" for name in _INHERITED}
"""What every JavaScript object has by itself, and what is drawn for it: it looks the same."""

_QUOTED = re.compile(f'"({"|".join(map(re.escape, _INHERITED))})"')


def unreserved(value: Any) -> Any:
    r"""Data or a specification in which no name is one that every object has.

    Parameters
    ----------
    value
        JSON values.

    Examples
    --------
    >>> unreserved(["farmer", "constructor"])
    ['farmer', 'constructor\xa0']
    """
    return _in_expressions(renamed(value, RESERVED))


def _in_expressions(value: Any) -> Any:
    """The same where an expression quotes such a name."""
    if isinstance(value, str):
        return _QUOTED.sub(lambda match: json.dumps(RESERVED[match[1]], ensure_ascii=False), value)
    if isinstance(value, Mapping):
        return {key: _in_expressions(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_in_expressions(each) for each in value]
    return value
