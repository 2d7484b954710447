from __future__ import annotations

import numpy as np
import pytest

from nongrata.stats.accuracy import accuracy, accuracy_bounds, complete_accuracy, is_present
from nongrata.stats.outcomes import outcome_counts, outcome_rates


def test_missing_answers_are_never_wrong():
    outcome = np.array([0, 0, 1, 4, 255], np.uint8)
    correct = np.array([True, False, False, False, False])
    assert accuracy(correct, is_present(outcome)) == pytest.approx(1 / 3)


def test_nothing_present_is_nan():
    assert np.isnan(accuracy(np.ones((2, 3), bool), np.zeros((2, 3), bool))).all()


def test_bounds_hold_what_unread_answers_could_be():
    outcome = np.array([0, 0, 1, 2, 3, 4, 255], np.uint8)
    correct = np.array([True, False, *[False] * 5])
    bounds = accuracy_bounds(correct, outcome)
    assert float(bounds.low) == pytest.approx(1 / 5)
    assert float(bounds.high) == pytest.approx(4 / 5)
    assert float(bounds.read_only) == pytest.approx(1 / 2)
    assert int(bounds.present) == 5


def test_ranked_accuracies_share_their_questions():
    x = np.array([[[1, 0, 1]], [[0, 1, 1]]], bool)
    present = np.array([[[True, True, True]], [[False, True, True]]])
    A, n = complete_accuracy(x, present)
    assert A[:, 0].tolist() == [0.5, 1.0]
    assert n.tolist() == [2]


def test_float32_probabilities_are_summed_in_float64():
    theta = np.full((1, 1, 200_000), 0.1, np.float32)
    assert accuracy(theta)[0, 0] == pytest.approx(float(np.float32(0.1)), rel=1e-12)


def test_rates_have_the_denominator_they_say():
    counts = outcome_counts(np.array([[0, 1, 2, 3, 4, 255, 255, 0]], np.uint8))
    assert counts.tolist() == [[2, 1, 1, 1, 1, 2]]
    assert outcome_rates(counts)[0] == pytest.approx([2 / 6, 1 / 6, 1 / 6, 1 / 6, 1 / 6, 2 / 8])


def test_rates_of_nothing_are_nan():
    rates = outcome_rates(outcome_counts(np.full(3, 255, np.uint8)))
    assert np.isnan(rates[:5]).all()
    assert rates[5] == 1.0
