"""Noise first on a terminal."""

from __future__ import annotations

import pytest
from rich.console import Console

from designs import responses
from nongrata.analysis.model_data import Resampling
from nongrata.analysis.noise import noise
from nongrata.report.terminal.noise_table import noise_table


def rendered(**design):
    result = noise(responses(**design), resampling=Resampling(draws=100))
    console = Console(width=80, record=True, force_terminal=False)
    with console.capture() as capture:
        for part in noise_table(result, "model-0"):
            console.print(part)
    return capture.get()


@pytest.mark.parametrize(
    "design",
    [
        {},
        {"replicates": 2, "questions": 60},
        {"lost": 0.2},
        {"theta": True},
        {"personas": 0},
        {"factors": {"format": ["plain"]}},
        {"accuracy": 9.0},
        {"questions": 1},
    ],
)
def test_fits_and_says_why(design):
    text = rendered(**design)
    assert all(len(line) <= 80 for line in text.splitlines())
    assert "Is it more than noise?" in text
    assert "nan" not in text


def test_words_follow_the_tests():
    text = " ".join(rendered(questions=60).split())
    assert "noise alone makes about" in text
    assert "not estimable" in text
    assert "cannot tell an effect of configurations from noise" in text


def test_names_steer_nothing():
    text = rendered(factors={"for\x1b[31mmat": ["a", "b"], "[bold]x": [1, 2]})
    assert "\x1b" not in text
    assert "[bold]x" in text
