from __future__ import annotations

import io

from rich.console import Console, Group

from designs import responses
from nongrata.analysis.held_out import held_out
from nongrata.report.terminal.held_out_table import TEMPERATURES_SHOWN, held_out_table

BIG = {"format": ["a", "b", "c"], "role": ["x", "y", "z"], "temperature": [0.0, 0.5, 1.0]}


def shown(ds, width=80, **console):
    found = held_out(ds)
    out = io.StringIO()
    model = found.models[0].model
    Console(file=out, width=width, **console).print(Group(*held_out_table(found, model)))
    return found, out.getvalue()


def test_both_stand_side_by_side_with_what_must_be_said():
    found, text = shown(responses(factors=BIG, questions=90, models=3))
    assert max(map(len, text.splitlines())) <= 80
    flat = " ".join(text.split())
    assert "its absence validates nothing" in flat
    assert "temperature that is compared" in flat
    assert "all configurations at T=0 less all at T=1" in flat
    sign = found.signs[0]
    assert f"ahead in {sign.positive_held_out} of 3 models: p = {sign.p_held_out:.3g}" in flat
    row = found.models[0].rows[0]
    line = next(line for line in text.splitlines() if "stable at T=0" in line)
    for value in (row.in_sample.estimate, row.held_out.estimate, row.optimism):
        assert f"{value.value:.2f}" in line


def test_reasons_and_smaller_numbers_are_given():
    _, text = shown(responses(questions=60))
    assert "fewer than 4 are chosen" in " ".join(text.split())
    _, text = shown(responses(factors={"f": ["a"]}, personas=1))
    flat = " ".join(text.split())
    assert "one configuration to choose from" in flat
    assert "fewer than two labels" in flat


def test_many_temperatures_are_cut_and_counted():
    heats = [i / 10 for i in range(TEMPERATURES_SHOWN + 3)]
    _, text = shown(responses(factors={"f": ["a", "b"], "temperature": heats}, questions=40))
    assert "3 more temperatures" in text


def test_nothing_from_a_file_steers_the_terminal():
    ds = responses(factors=BIG).assign_coords(
        model=["evil\x1b]0;title\x07"], format=["\x1b[31mred", "a\nb", "[b]c[/b]"]
    )
    _, text = shown(ds, force_terminal=True, color_system=None)
    assert not [c for c in text if (ord(c) < 32 and c != "\n") or c == "\u202e"]
