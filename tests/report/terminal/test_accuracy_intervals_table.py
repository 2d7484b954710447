from __future__ import annotations

import io

import numpy as np
import pytest
from rich.console import Console

from designs import responses
from nongrata.analysis.accuracy_intervals import accuracy_intervals
from nongrata.analysis.model_data import Resampling
from nongrata.report.terminal.accuracy_intervals_table import accuracy_intervals_table


def shown(ds, width=80, *, rankable=False, **console):
    result = accuracy_intervals(ds, resampling=Resampling(draws=100))
    out = io.StringIO()
    screen = Console(file=out, width=width, **console)
    for part in accuracy_intervals_table(result, result.rows[0].model, rankable=rankable):
        screen.print(part)
    return out.getvalue(), result


@pytest.mark.parametrize("width", [80, 120])
def test_it_fits_and_shows_the_result(width):
    text, result = shown(responses(unread=0.1, questions=60), width)
    assert max(map(len, text.splitlines())) <= width
    row = result.of("model-0", "label")[2]
    line = next(line for line in text.splitlines() if line.strip().startswith("label-2"))
    assert f"{row.accuracy.value:.1f}" in line
    assert f"{row.low:.1f} - {row.high:.1f}" in line
    assert f"{row.unread:.1f}" in line
    flat = " ".join(text.split())
    assert "60 questions in 58 clusters" in flat
    assert "overlapping intervals do not mean that two are alike" in flat


def test_labels_are_ordered_only_where_they_may_be():
    ds = responses(questions=40, personas=20, controls=0)
    order = [f"label-{i}" for i in range(12)]

    def labels(text):
        return [line.split()[0] for line in text.splitlines() if line.strip().startswith("label-")]

    plain, _ = shown(ds)
    assert labels(plain) == order
    assert "8 more rows" in plain
    ranked, result = shown(ds, rankable=True)
    best = max(result.of("model-0", "label"), key=lambda row: row.accuracy.value)
    assert labels(ranked)[0] == best.name


def test_what_has_no_interval_says_why():
    ds = responses(questions=8)
    ds["outcome"].values[:, 0] = 255
    text, _ = shown(ds)
    flat = " ".join(text.split())
    assert "- : no interval, no answers yet" in flat
    assert "?: too few clusters" in flat


def test_names_from_files_are_shown_not_obeyed():
    ds = responses(questions=30).assign_coords(
        persona=["\x1b[31mred", "a\nb", "[b]c[/b]", "\u202ed", "e"]
    )
    ds["domain"] = ("question", np.array(["\x1b]0;title\x07"] * 30))
    text, _ = shown(ds, 160, force_terminal=True, color_system=None)
    assert not [c for c in text if (ord(c) < 32 and c != "\n") or c == "\u202e"]
    assert "[b]c[/b]" in text
