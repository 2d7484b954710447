from __future__ import annotations

import io

import pytest
from rich.console import Console

from designs import responses
from nongrata.analysis.components import variance_components
from nongrata.analysis.model_data import Resampling
from nongrata.report.terminal.components_table import EFFECTS_SHOWN, components_table


def shown(ds, width=80, **console):
    result = variance_components(ds, resampling=Resampling(draws=60))
    out = io.StringIO()
    terminal = Console(file=out, width=width, **console)
    for part in components_table(result, result.models[0].model):
        terminal.print(part)
    return out.getvalue()


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("replicates", [1, 3])
def test_it_keeps_to_the_width(width, replicates):
    text = shown(responses(questions=60, replicates=replicates), width)
    assert max(map(len, text.splitlines())) <= width
    flat = " ".join(text.split())
    assert "What moves accuracy" in flat
    assert "in another study with" in flat
    assert "60 questions in 58 clusters" in flat
    assert "left out: control-0 (a control, not a label)" in flat
    assert ("drawn once" in flat) == (replicates == 1)
    assert ("answers to each prompt" in flat) == (replicates > 1) or "no coefficient" in flat


def test_figures_are_those_of_the_result():
    ds = responses(questions=60)
    part = variance_components(ds, resampling=Resampling(draws=60)).models[0]
    row = part.of("question")
    line = next(line for line in shown(ds, 120).splitlines() if line.split()[:1] == ["question"])
    assert f"{row.variance:,.2f}" in line
    assert f"[{row.low:,.2f}, {row.high:,.2f}]" in line
    persona = part.of("persona")
    line = next(line for line in shown(ds, 120).splitlines() if line.split()[:1] == ["persona"])
    assert f"{persona.points:.2f}" in line


def test_many_effects_are_cut_and_counted():
    factors = {"a": [0, 1], "b": [0, 1], "c": [0, 1]}
    flat = " ".join(shown(responses(questions=30, factors=factors)).split())
    assert f"{15 - EFFECTS_SHOWN} more effects" in flat
    assert f"{31 - EFFECTS_SHOWN} smaller effects" in flat


def test_a_refusal_is_one_sentence():
    assert "No variance components: " in shown(responses(lost=0.4))


def test_few_questions_have_no_intervals():
    flat = " ".join(shown(responses(questions=8)).split())
    assert "no intervals: fewer than 10 clusters" in flat


def test_names_from_files_are_shown_not_obeyed():
    evil = "a\x1b[31m[bold]\n\u202eb"
    ds = responses(questions=40, factors={evil: ["x", "y"], "temperature": [0.0, 1.0]})
    ds = ds.assign_coords(model=["m\x1b]0;t\x07"], persona=["\x1b[2J", "b", "c", "d", "e"])
    text = shown(ds, 100)
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "[bold]" in text
