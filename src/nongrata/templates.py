"""Text templates with ``{name}`` fields, filled in one pass.

A value is never looked at again once it stands in the text, so whatever braces, dollars or
percent signs a question or persona holds are kept as they are. ``{{`` and ``}}`` are braces.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_TOKEN = re.compile(r"\{\{|\}\}|\{([A-Za-z_][A-Za-z0-9_]*)\}|[{}]")


def fields_of(template: str) -> list[str]:
    """Names of the fields of a template, in order, repeats included.

    Raises
    ------
    ValueError
        If a brace stands alone.

    Examples
    --------
    >>> fields_of("You are {persona}. Write {{}} for braces.")
    ['persona']
    """
    names = []
    for match in _TOKEN.finditer(template):
        if match[1]:
            names.append(match[1])
        elif match[0] in "{}":
            raise ValueError(
                f"a lone '{match[0]}' in the template {template!r}; write it twice for a brace"
            )
    return names


def fill(template: str, values: Mapping[str, str]) -> str:
    """Fill a template's fields; values are not interpreted.

    Examples
    --------
    >>> fill("{a} and {{b}}", {"a": "{b} $x %s"})
    '{b} $x %s and {b}'
    """

    def replacement(match: re.Match[str]) -> str:
        return values[match[1]] if match[1] else match[0][0]

    return _TOKEN.sub(replacement, template)
