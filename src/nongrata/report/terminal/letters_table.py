"""Accuracy from final letters' distributions, beside that from the letters drawn."""

from __future__ import annotations

import math
from collections.abc import Iterator

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from nongrata.analysis.accuracy import AccuracyRow, AccuracyTable
from nongrata.analysis.cube import configuration_label
from nongrata.report.terminal.pieces import as_name, count, new_table, percent

SHOWN = 8
"""Configurations that are shown; all of them, and the labels, are in the JSON form."""


def letters_table(accuracy: AccuracyTable, model: str) -> Iterator[RenderableType]:
    """One model's generated answers, where the run reads their final letters; else nothing.

    Parameters
    ----------
    accuracy
        From `nongrata.analysis.accuracy_table`.
    model
        Which model.
    """
    rows = [r for r in accuracy.configurations if r.model == model and r.letters is not None]
    whole = [r for r in accuracy.models if r.model == model and r.letters is not None]
    if not rows:
        return
    table = new_table("Generated answers by their final letter (accuracy, %)")
    table.add_column("over", overflow="fold")
    for name in ("drawn", "from p", "sd", "variance"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in (*whole, *rows[:SHOWN]):
        _add(table, row)
    yield table
    if len(rows) > SHOWN:
        yield Text(
            f"{count(len(rows) - SHOWN, 'more configuration')}: see the JSON output", style="dim"
        )
    reason = whole[0].letters.reason if whole and whole[0].letters is not None else ""
    yield Text(
        "drawn: by the letters drawn; from p: by the probability of the right letter given the "
        "text before it and that a letter stands there, an estimate of the same accuracy; sd: of "
        "'drawn', by drawing the letters alone; variance: sampling variance of 'from p' as a "
        "share of that of 'drawn'" + (f" (-: {reason})" if reason else ""),
        style="dim",
    )


def _add(table: Table, row: AccuracyRow) -> None:
    letters = row.letters
    if letters is None:
        return
    ratio = letters.variance_ratio
    table.add_row(
        as_name("all of them" if row.levels is None else configuration_label(row.levels)),
        percent(letters.sampled),
        percent(letters.accuracy),
        percent(letters.letter_sd, 2),
        f"{100 * ratio:.0f}%" if math.isfinite(ratio) else "-",
    )
