from __future__ import annotations

import io

import pytest
from rich.console import Console, Group

from designs import responses
from nongrata.analysis.agreement import agreement
from nongrata.analysis.model_data import Resampling
from nongrata.report.terminal.agreement_table import FACTORS_SHOWN, agreement_table


def shown(ds, width=80, **console):
    found = agreement(ds, resampling=Resampling(draws=100, splits=5))
    out = io.StringIO()
    model = found.models[0].model
    Console(file=out, width=width, **console).print(Group(*agreement_table(found, model)))
    return found, out.getvalue()


def test_it_keeps_to_the_width_and_says_what_it_cannot_tell():
    found, text = shown(responses(questions=60, unread=0.05))
    assert max(map(len, text.splitlines())) <= 80
    flat = " ".join(text.split())
    assert "cannot tell an effect of configurations from chance" in flat
    assert "could not be read" in flat
    row = found.models[0].of("option")[0]
    assert f"{row.raw.estimate.value:.1f} [{row.raw.low:.1f}, {row.raw.high:.1f}]" in flat
    line = next(line for line in text.splitlines() if line.strip().startswith("temperature"))
    factor = found.models[0].of("correctness", "factor")[1]
    assert f"{factor.total_of(2).estimate.value:.1f}" in line


def test_what_is_undefined_is_a_dash_with_its_reason():
    _, text = shown(responses(factors={"f": ["a"]}))
    assert "fewer than two configurations" in text
    _, text = shown(responses(personas=0, controls=2))
    assert "no label is left" in text
    _, text = shown(responses(lost=1.0))
    assert "no label is left" in text


def test_iq_beside_kappa():
    _, text = shown(responses(personas=8, questions=300, accuracy=0.7))
    flat = " ".join(text.split())
    assert "halves of the questions" in flat
    assert "no evidence that one confirms the other" in flat


def test_many_factors_are_cut_and_counted():
    many = {f"f{i}": ["a", "b"] if i < 2 else ["a"] for i in range(3)}
    found, _ = shown(responses(factors=many))
    assert len(found.models[0].of("option", "factor")) == 2 < FACTORS_SHOWN


@pytest.mark.parametrize("width", [80, 160])
def test_names_from_files_are_shown_not_obeyed(width):
    ds = responses(factors={"[b]f[/b]\x1b[31m": ["a", "b"], "\u202eg": ["c", "d"]})
    ds = ds.assign_coords(model=["evil\x1b]0;title\x07"])
    _, text = shown(ds, width, force_terminal=True, color_system=None)
    assert not [c for c in text if (ord(c) < 32 and c != "\n") or c == "\u202e"]
    assert "[b]f[/b]" in text
