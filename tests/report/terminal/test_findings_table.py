from __future__ import annotations

import io

import numpy as np
import pytest
from rich.console import Console

from designs import responses
from nongrata.analysis.model_data import Resampling
from nongrata.conclusions import findings
from nongrata.report.terminal.findings_table import EXCEPTIONS, OPEN, SHOWN, render_findings

FEW = Resampling(draws=100, splits=4)


def strong(personas=8, **kwargs):
    """The first label is right in 95%, the last in 25%, the others in 60% of the answers."""
    ds = responses(personas=personas, questions=120, **kwargs)
    rng = np.random.default_rng(0)
    shape = ds["option"].shape
    theta = np.full(shape[1], 0.6)
    theta[0], theta[personas - 1] = 0.95, 0.25
    right = rng.random(shape) < theta[None, :, None, None, None, None]
    gold = ds["answer"].to_numpy()
    option = np.where(right, gold, (gold + 1) % ds["n_options"].to_numpy()).astype(np.int8)
    return ds.assign(option=(ds["option"].dims, option))


def shown(found, width=80, **console):
    out = io.StringIO()
    Console(file=out, width=width, **console).print(render_findings(found))
    return out.getvalue()


@pytest.mark.parametrize("width", [72, 80, 120])
@pytest.mark.parametrize("ds", [strong(), responses(theta=True, models=2), responses()])
def test_it_keeps_to_the_width_and_explains_itself(ds, width):
    text = shown(findings(ds, FEW), width)
    assert max(map(len, text.splitlines())) <= width
    flat = " ".join(text.split())
    assert "Do conclusions survive a change of prompt and temperature?" in flat
    for said in (
        "robust: established in",
        "held out:",
        "it says nothing about people",
        "undecided: the data cannot tell",
    ):
        assert said in flat


def test_the_answer_comes_first():
    found = findings(strong(), FEW)
    flat = " ".join(shown(found).split())
    part = found.models[0]
    said = (part.headline, *part.answer)
    places = [flat.index(" ".join(each.split())) for each in said]
    assert places == sorted(places)
    assert places[-1] < flat.index("What is established") < flat.index("How all conclusions")


def test_numbers_are_those_of_the_result():
    found = findings(strong(), FEW)
    c = next(c for c in found.conclusions if (c.subject, c.rival) == ("label-0", "label-7"))
    assert c.verdict == "robust"
    flat = " ".join(shown(found, 140).split())
    assert f"{c.estimate.value:+.1f} [{c.low.value:.1f}, {c.high.value:.1f}]" in flat
    assert "6 of 6" in flat


def test_many_are_cut_and_counted():
    found = findings(strong(personas=12), FEW)
    decided = [c for c in found.models[0].of("pairs") if c.decided]
    assert len(decided) > SHOWN
    text = shown(found, 120)
    assert "more like these are in the JSON output" in text
    open_ = sum(c.verdict == "undecided" for c in found.models[0].conclusions)
    assert f"{open_ - OPEN} more are in the JSON output" in text


def test_exceptions_are_named_and_cut():
    shift = np.zeros((3, 12))
    shift[0], shift[0, 6:] = 0.35, -0.35
    factors = {"format": ["a", "b", "c", "d"], "temperature": [0.0, 0.5, 1.0]}
    ds = responses(personas=2, factors=factors, questions=150)
    right = np.random.default_rng(0).random((3, 12, 150)) < 0.55 + shift[:, :, None]
    gold = ds["answer"].to_numpy()
    option = np.where(right, gold, (gold + 1) % ds["n_options"].to_numpy()).astype(np.int8)
    found = findings(ds.assign(option=(ds["option"].dims, option.reshape(1, 3, 4, 3, 1, -1))), FEW)
    flat = " ".join(shown(found, 120).split())
    assert "the other way, established in" in flat
    assert f"and {6 - EXCEPTIONS} more" in flat


def test_nothing_established_and_nothing_ranked_are_said():
    text = " ".join(shown(findings(responses(accuracy=0.25, questions=30), FEW)).split())
    assert "No conclusion is robust, fragile or established." in text
    assert "Not ranked: accuracy is not shown to be above chance" in text


def test_names_from_files_are_shown_not_obeyed():
    ds = strong(personas=3, controls=2).assign_coords(
        model=["evil\x1b]0;title\x07"],
        persona=["\x1b[31mred", "a\nb", "[b]c[/b]", "\u202ed", "e"],
        format=["\x1b[2J", "[red]x[/red]"],
        domain=("question", np.resize(["\x07one", "t\u202ewo"], 120)),
    )
    text = shown(findings(ds, FEW), 160, force_terminal=True, color_system=None)
    assert not [c for c in text if (ord(c) < 32 and c != "\n") or c == "\u202e"]
    assert "[b]c[/b]" in text
