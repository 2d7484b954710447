from __future__ import annotations

import io

import numpy as np
import pytest
from rich.console import Console

from designs import responses
from nongrata.analysis.contrasts import contrasts
from nongrata.analysis.model_data import Resampling
from nongrata.analysis.task_format import task_format
from nongrata.report.terminal.contrasts_table import LABELS_SHOWN, contrasts_table
from nongrata.report.terminal.task_format_table import task_format_table

FEW = Resampling(draws=100)
SUB = {
    "elicitation": ("task_format", ["answer-only", "answer-only", "explain-then-answer"]),
    "reminder": ("task_format", ["without", "with", "without"]),
}
FACTORS = {"task_format": ["one", "two", "three"], "temperature": [0.0, 1.0]}


def shown(ds, width=80, **how):
    out = io.StringIO()
    console = Console(file=out, width=width)
    model = str(ds["model"].values[0])
    for part in contrasts_table(contrasts(ds, resampling=FEW, **how), model):
        console.print(part)
    return out.getvalue()


def taken_apart(ds, width=80):
    out = io.StringIO()
    console = Console(file=out, width=width)
    model = str(ds["model"].values[0])
    for part in task_format_table(task_format(ds, resampling=FEW), model):
        console.print(part)
    return out.getvalue()


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("lost", [0.0, 0.1])
def test_it_keeps_to_the_width_and_says_how_to_read_it(width, lost):
    ds = responses(lost=lost, controls=2, duplicates=True, questions=60)
    text = shown(ds, width)
    assert max(map(len, text.splitlines())) <= width
    flat = " ".join(text.split())
    assert "says nothing about people" in flat
    assert "undecided (neither)" in flat
    assert "control-1 has 3 prompts of its own in 6 configurations" in flat
    assert ("missing answers leave" in flat) == bool(lost)


def test_figures_are_those_of_the_result():
    ds = responses(questions=90)
    row = contrasts(ds, resampling=FEW).of("model-0").of("control-0").of("label-1")
    line = next(line for line in shown(ds, 120).splitlines() if "label-1" in line)
    for value in (row.estimate, row.low_together, row.high_together):
        assert any(abs(float(w) - value) < 0.06 for w in line.split() if w[0] in "+-")
    assert row.verdict.split(",")[0] in line


def test_many_labels_are_cut_and_the_clearest_kept():
    ds = responses(personas=30, questions=50)
    found = contrasts(ds, resampling=FEW).of("model-0").of("control-0")
    first = min(found.labels, key=lambda row: row.p)
    text = shown(ds, 120)
    assert f"{30 - LABELS_SHOWN} more labels" in text
    assert text.count(f"{first.persona} ") == 2  # in both tables


def test_no_control_is_said():
    assert "the study has no control" in shown(responses(controls=0))


def test_one_configuration_has_no_curve():
    text = " ".join(shown(responses(factors={"format": ["a"]})).split())
    assert "in every configuration" not in text
    assert "no statement about other formats: format has one level" in text


def test_equal_answers_are_explained():
    ds = responses(personas=1)
    for name in ("option", "outcome"):
        ds[name].loc[{"persona": "label-0"}] = ds[name].sel(persona="control-0").values
    assert "answered alike under both" in " ".join(shown(ds).split())


def test_names_from_files_are_shown_not_obeyed():
    ds = responses(factors=FACTORS, questions=60).assign_coords(
        model=["evil\x1b]0;title\x07"],
        persona=["\x1b[31mred", "a\nb", "[b]c[/b]", "\u202ed", "\x1b[2Je"],
        task_format=["\x1b[31m", "[bold]", "x"],
        **{f"{name}\x1b[1m": value for name, value in SUB.items()},
    )
    for text in (shown(ds, 200), taken_apart(ds, 200)):
        assert "\x1b" not in text
        assert "\u202e" not in text
    assert "[b]c[/b]" in shown(ds, 200)
    assert "[bold]" in taken_apart(ds, 200)


@pytest.mark.parametrize("width", [80, 120])
def test_factors_taken_apart_keep_to_the_width(width):
    ds = responses(factors=FACTORS, questions=60).assign_coords(SUB)
    text = taken_apart(ds, width)
    assert max(map(len, text.splitlines())) <= width
    flat = " ".join(text.split())
    assert "task_format taken apart" in flat
    assert "cannot tell an effect of its sub-factors" in flat
    assert "not all four combinations occur" in flat
    assert "no claim is made about other levels" in flat


def test_wordings_are_told_apart_where_there_are_several():
    formats = [f"f{i}" for i in range(6)]
    ds = responses(factors={"task_format": formats, "temperature": [0.0]}, questions=60)
    ds = ds.assign_coords(elicitation=("task_format", np.repeat(["answer", "explain"], 3)))
    flat = " ".join(taken_apart(ds).split())
    assert "Wording alone, all else equal: standard deviation" in flat
    assert "other words" in flat
    assert "temperature: one level" in flat


def test_nothing_to_compare_is_said():
    assert "no label has answers" in taken_apart(responses(personas=0))
