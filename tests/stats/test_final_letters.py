from __future__ import annotations

import numpy as np
import pytest

from nongrata.stats.final_letters import letter_accuracy

R, Q = 4, 40


def study(rng, theta_text, mass):
    """Texts with their own letter distributions; a letter is drawn or another token is.

    `theta_text` and `mass` are functions of a text's state; returns what a run would store.
    """
    state = rng.random((R, Q))
    right, total = theta_text(state), mass(state)
    luck = rng.random((R, Q))
    drawn = luck < total
    correct = luck < right  # the right label takes the first part of the labels' mass
    final = np.where(drawn, right, np.nan)
    return correct, final, np.where(drawn, total, np.nan), float(right.mean())


def simulated(seed, runs=4000, mass=lambda s: 0.5 + 0.5 * s):
    rng = np.random.default_rng(seed)
    there = np.ones((R, Q), bool)
    sampled, conditional, naive, truth, ratios, letter_variance = [], [], [], [], [], []
    for _ in range(runs):
        correct, final, total, expected = study(rng, lambda s: 0.4 * s * mass(s) + 0.05, mass)
        found = letter_accuracy(correct, there, final / total)
        sampled.append(found.sampled)
        conditional.append(found.from_letters)
        naive.append(np.where(np.isnan(final), correct, final).mean())
        truth.append(expected)
        ratios.append(found.variance_ratio)
        letter_variance.append(found.letter_variance)
    return map(np.array, (sampled, conditional, naive, truth, ratios, letter_variance))


def test_it_estimates_what_the_letters_drawn_estimate_with_less_noise():
    sampled, conditional, naive, truth, ratios, letter_variance = simulated(1)
    error = sampled.std() / np.sqrt(len(sampled))
    assert conditional.mean() == pytest.approx(sampled.mean(), abs=4 * error)
    assert conditional.mean() == pytest.approx(truth.mean(), abs=4 * error)
    # the probability not divided by the mass of labels is another, smaller quantity
    assert naive.mean() < conditional.mean() - 20 * error
    # the ratio of variances is what the variances over runs are
    assert conditional.var() / sampled.var() == pytest.approx(ratios.mean(), abs=0.03)
    # and the letters alone are the difference
    assert letter_variance.mean() == pytest.approx(sampled.var() - conditional.var(), rel=0.12)


def test_where_a_label_is_certain_nothing_is_divided():
    sampled, conditional, naive, _, _, _ = simulated(2, 500, np.ones_like)
    assert conditional == pytest.approx(naive)
    assert conditional.var() < sampled.var()


def test_unread_answers_are_not_right_in_both():
    correct = np.array([[True, False, False]])
    found = letter_accuracy(correct, np.ones((1, 3), bool), np.array([[0.8, np.nan, 0.4]]))
    assert found.from_letters == pytest.approx((0.8 + 0 + 0.4) / 3)
    assert found.sampled == pytest.approx(1 / 3)
    assert found.letters == 2
    assert found.letter_variance == pytest.approx((0.16 + 0.24) / 9)
    assert "one replicate" in found.reason


def test_missing_answers_count_for_neither():
    present = np.array([[True, False], [True, True]])
    correct = np.array([[True, True], [False, True]])
    letters = np.array([[0.5, 0.9], [0.5, 1.0]])
    found = letter_accuracy(correct, present, letters)
    assert found.from_letters == pytest.approx((0.5 + 0.75) / 2)
    assert found.sampled == pytest.approx((1.0 + 0.5) / 2)
    assert letter_accuracy(correct, present & False, letters).reason == "no answers yet"


def test_temperature_zero_has_no_ratio():
    g = np.array([[1.0, 0.0], [1.0, 0.0]])
    found = letter_accuracy(g > 0, np.ones((2, 2), bool), g)
    assert np.isnan(found.variance_ratio)
    assert "nothing varies" in found.reason
    assert found.from_letters == found.sampled == 0.5
