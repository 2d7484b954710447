"""The main figures with unread answers wrong, right, and left out, on a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from nongrata.analysis.unread import UnreadBounds
from nongrata.report.terminal.pieces import new_table, number

_WAYS = {"wrong": "wrong (as everywhere else)", "right": "right", "left_out": "left out"}
_READ_IT = (
    "For accuracy the first two rows are bounds. For the other figures they are not, but one that "
    "changes much from row to row rests on how answers are read."
)


def unread_table(result: UnreadBounds, model: str) -> Iterator[RenderableType]:
    """What would be if the answers that could not be read were wrong, right, or left out.

    Parameters
    ----------
    result
        From `nongrata.analysis.unread.unread_bounds`.
    model
        Which model; nothing is shown where every answer was read.
    """
    rows = result.of(model)
    if not rows:
        return
    table = new_table("If the answers that could not be read were ...")
    table.add_column("", overflow="fold")
    for name in ("accuracy %", "IA", "IQ %", "IQ(2) %", "IO", "shift", "spread"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(
            _WAYS[row.unread],
            number(row.accuracy, 1),
            number(row.ia),
            number(row.iq, 1),
            number(row.iq_of_two, 1),
            number(row.io),
            number(row.rank_shift, 1),
            number(row.spread, 1),
        )
    yield table
    yield Text(_READ_IT, style="dim")
