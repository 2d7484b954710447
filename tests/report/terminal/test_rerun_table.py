from __future__ import annotations

import io

import pytest
from rich.console import Console

from designs import responses
from nongrata.analysis.rerun import rerun
from nongrata.report.terminal.rerun_table import LABELS_SHOWN, render_rerun


def shown(ds, width=80, **console):
    out = io.StringIO()
    Console(file=out, width=width, **console).print(render_rerun(rerun(ds, draws=20)))
    return out.getvalue()


@pytest.mark.parametrize("width", [72, 120])
def test_it_keeps_to_the_width_and_says_how_to_read_it(width):
    text = shown(responses(theta=True, lost=0.1), width)
    assert max(map(len, text.splitlines())) <= width
    flat = " ".join(text.split())
    assert "sampling noise of the same study" in flat
    assert "says nothing about people" in flat
    assert "20 re-runs" in flat


def test_figures_are_those_of_the_result():
    ds = responses(theta=True, accuracy=0.9, questions=90)
    figure = rerun(ds, draws=20).of("model-0").figure("ia")
    line = next(line for line in shown(ds, 120).splitlines() if "IA (points)" in line)
    for value in (figure.observed, figure.expected, figure.low, figure.high):
        assert f"{value:.2f}" in line.split()


def test_places_of_labels_are_shown_only_where_they_may_be_ranked():
    strong = shown(responses(theta=True, accuracy=0.9, questions=90), 120)
    assert "Labels over re-runs: best, worst" in " ".join(strong.split())
    weak = shown(responses(theta=True, accuracy=0.25, questions=30), 120)
    assert "not ranked" in weak
    assert "*: in this run" not in weak
    assert "Nothing can be ranked here" in weak
    assert " ?" in weak


def test_what_is_left_out_is_named():
    text = " ".join(shown(responses(), 120).split())
    assert "left out: plain · 0.0, plain · 0.5, plain · 1.0, role · 0.0 and 2 more" in text
    assert "no re-run has such a figure" in text


def test_many_labels_are_cut_and_counted():
    text = shown(responses(personas=30, controls=0, theta=True, accuracy=0.9, questions=30), 120)
    assert f"{30 - LABELS_SHOWN} more labels" in text


def test_names_from_files_are_shown_not_obeyed():
    ds = responses(theta=True, accuracy=0.9, questions=90).assign_coords(
        model=["evil\x1b]0;title\x07"], persona=["\x1b[31mred", "a\nb", "[b]c[/b]", "\u202ed", "e"]
    )
    text = shown(ds, 160, force_terminal=True, color_system=None)
    assert not [c for c in text if (ord(c) < 32 and c != "\n") or c == "\u202e"]
    assert "[b]c[/b]" in text
