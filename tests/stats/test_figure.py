from __future__ import annotations

import math

import pytest

from nongrata.stats.figure import Figure, mean_figure


def test_nan_needs_a_reason_and_a_number_has_none():
    with pytest.raises(ValueError, match="nan with a reason"):
        Figure(math.nan)
    with pytest.raises(ValueError, match="nan with a reason"):
        Figure(0.0, "unknown")


def test_the_mean_leaves_out_what_is_undefined():
    figures = [Figure(2.0), Figure.undefined("a"), Figure(4.0)]
    assert mean_figure(figures).value == 3.0


def test_the_mean_of_nothing_keeps_the_first_reason():
    assert mean_figure([Figure.undefined("a"), Figure.undefined("b")]).reason == "a"
    assert mean_figure([]).reason == "nothing to average over"
