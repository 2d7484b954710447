from __future__ import annotations

import io

import numpy as np
import pytest
from rich.console import Console

from designs import responses
from nongrata.analysis.model_data import Resampling
from nongrata.analysis.ranking import ranking
from nongrata.report.terminal.ranking_table import LABELS_SHOWN, ranking_table

FEW = Resampling(draws=199, splits=5)


def shown(ds, width=80, configurations=False, **more):
    out = io.StringIO()
    result = ranking(ds, resampling=FEW, configurations=configurations)
    console = Console(file=out, width=width)
    for part in ranking_table(result, "model-0", **more):
        console.print(part)
    return out.getvalue()


def apart(ds, labels):
    for i in range(labels):
        ds["option"].values[:, i, ..., : 25 * i] = ds["answer"].values[: 25 * i]
        ds["outcome"].values[:, i, ..., : 25 * i] = 0
    return ds


@pytest.mark.parametrize("width", [72, 80, 120])
@pytest.mark.parametrize(
    "size", [{}, {"personas": 30, "lost": 0.02}, {"personas": 1}, {"lost": 1.0}]
)
def test_it_keeps_to_the_width(width, size):
    ds = responses(questions=40, **size)
    ds = ds.assign_coords(
        persona=[f"a label with a very long name {i} " * 3 for i in range(ds.sizes["persona"])]
    )
    assert max(map(len, shown(ds, width).splitlines())) <= width


def test_figures_are_those_of_the_result():
    ds = apart(responses(personas=6, questions=200, seed=1), 6)
    part = ranking(ds, resampling=FEW).models[0]
    text = shown(ds, 120)
    top = min(part.overall.labels, key=lambda v: v.rank)
    line = next(v for v in text.splitlines() if v.strip().startswith(top.persona))
    assert f"{top.accuracy:.2f}" in line
    assert line.split()[-1] == "B"
    flat = " ".join(text.split())
    assert f"{part.order.ordered} of 15 pairs of labels are in an order" in flat
    assert f"Only {top.persona} could be best." in flat
    row = part.agreement[0]
    line = next(v for v in text.splitlines() if v.strip().startswith("all configurations"))
    assert line.split()[2:] == [
        "6", f"{row.kendall_w.value:.2f}", f"{row.tau_b.value:.2f}",
        f"{row.spearman.value:.2f}", f"{row.shift.value:.1f}",
    ]  # fmt: skip
    assert f"by tau-b {part.halves[0].tau_b.same.value:.2f}, under another" in flat


def test_long_rankings_show_both_ends():
    text = shown(responses(personas=30, questions=40), 120)
    lines = text[: text.index("could be:")].splitlines()
    assert sum(line.strip().startswith("label-") for line in lines) == LABELS_SHOWN


def test_nothing_is_ranked_where_nothing_can_be():
    text = shown(responses(), 120, rankable=False)
    assert "No ranking of labels" in text
    assert "label-0" not in text
    assert "How far do rankings" in text


def test_undefined_figures_say_why():
    text = " ".join(shown(responses(factors={"format": ["plain"]})).split())
    assert "undefined, one configuration has no other to agree with" in text
    assert "none, no label is left" in shown(responses(lost=1.0))


def test_names_cannot_steer_the_terminal():
    ds = responses(questions=30).assign_coords(persona=[f"x\x1b[31m[bold]{i}" for i in range(5)])
    text = shown(ds)
    assert "\x1b" not in text
    assert "[bold]" in text


def test_equal_differences_are_said_to_be_untested():
    ds = responses(questions=10)
    ds["option"].values[...] = ds["answer"].values
    ds["outcome"].values[...] = 0
    assert np.all(ds["outcome"] == 0)
    assert "no order can be tested" in " ".join(shown(ds).split())
