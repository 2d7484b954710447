from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from designs import designs, random_design
from nongrata.stats.ia import expected_ia_of_one_draw, instability_of_accuracy


def test_by_hand():
    # Accuracies .5, .25 and 1: differences .25, .5, .75.
    x = np.array([[[1, 1, 0, 0], [1, 0, 0, 0], [1, 1, 1, 1]]], bool)
    assert instability_of_accuracy(x).figure.value == pytest.approx(50.0, abs=1e-12)


def test_a_missing_answer_leaves_the_question_out_of_its_pairs_only():
    x = np.array([[[1, 1], [0, 1], [0, 0]]], bool)
    present = np.ones_like(x)
    present[0, 0, 0] = False
    # On question 2 alone: |1 - 1| and |1 - 0|; on both: |.5 - 0|.
    result = instability_of_accuracy(x, present)
    assert result.figure.value == pytest.approx(100 * (0 + 1 + 0.5) / 3, abs=1e-12)
    assert result.fewest_questions == 1


def test_what_stands_at_missing_places_is_ignored():
    design = random_design(3, personas=3, shape=(2, 2))
    flipped = np.where(design.present, design.correct, ~design.correct)
    a = instability_of_accuracy(design.correct, design.present)
    assert instability_of_accuracy(flipped, design.present) == a


@pytest.mark.parametrize(
    ("shape", "reason"),
    [
        ((3, 1, 4), "one configuration has no pair"),
        ((0, 3, 4), "no persona is left"),
        ((3, 3, 0), "no question is left"),
    ],
)
def test_undefined_says_why(shape, reason):
    figure = instability_of_accuracy(np.ones(shape, bool)).figure
    assert np.isnan(figure.value)
    assert figure.reason == reason


def test_no_shared_question_is_undefined():
    present = np.array([[[True, False], [False, True]]])
    figure = instability_of_accuracy(np.ones((1, 2, 2), bool), present).figure
    assert figure.reason == "no question is present in two configurations"


def test_equal_accuracies_are_exactly_zero():
    theta = np.full((3, 7, 11), 0.1, np.float32)
    assert instability_of_accuracy(theta).figure.value == 0.0


@settings(max_examples=60, deadline=None)
@given(designs(), st.integers(0, 2**32 - 1))
def test_order_and_names_do_not_matter(design, seed):
    rng = np.random.default_rng(seed)
    p, c, q = (rng.permutation(n) for n in design.correct.shape)
    index = np.ix_(p, c, q)
    a = instability_of_accuracy(design.correct, design.present).figure.value
    b = instability_of_accuracy(design.correct[index], design.present[index]).figure.value
    assert b == pytest.approx(a, abs=1e-12, nan_ok=True)


@settings(max_examples=60, deadline=None)
@given(designs(missing=False))
def test_a_mask_of_ones_changes_nothing(design):
    """The closed form and the pairwise product are two ways to one number."""
    from nongrata.stats.ia import _one_setting

    fast = _one_setting(design.correct, None).figure.value
    slow = _one_setting(design.correct, np.ones_like(design.correct)).figure.value
    assert slow == pytest.approx(fast, abs=1e-11, nan_ok=True)


def test_expected_of_one_draw_by_simulation():
    rng = np.random.default_rng(1)
    theta = rng.random((2, 3, 80))
    draws = rng.random((4000, *theta.shape)) < theta
    observed = np.mean([instability_of_accuracy(x).figure.value for x in draws])
    assert expected_ia_of_one_draw(theta).value == pytest.approx(observed, rel=0.02)


def test_expected_of_one_draw_is_ia_where_nothing_is_random():
    design = random_design(8, personas=3, shape=(2, 2))
    exact = design.correct.astype(float)
    assert expected_ia_of_one_draw(exact, design.present).value == pytest.approx(
        instability_of_accuracy(exact, design.present).figure.value, abs=1e-12
    )


def test_expected_of_one_draw_is_the_rerun_floor_where_cells_are_equal():
    # S2: (2 / sqrt(pi)) sqrt(sum theta (1 - theta)) / Q, in points.
    theta = np.tile(np.linspace(0.1, 0.9, 50), (1, 2, 1))
    floor = 100 * 2 / np.sqrt(np.pi) * np.sqrt((theta[0, 0] * (1 - theta[0, 0])).sum()) / 50
    assert expected_ia_of_one_draw(theta).value == pytest.approx(floor, rel=1e-12)
