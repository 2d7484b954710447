from __future__ import annotations

import numpy as np
import pytest

from nongrata.stats.position_bias import position_bias


def bias_of(choices, answer, n_options=None):
    """Options shown in one order, one cluster a question."""
    choices, answer = np.asarray(choices), np.asarray(answer)
    Q, places = choices.shape
    gold = choices.sum(axis=1)[:, None] * (answer[:, None] == np.arange(places))
    right = choices[np.arange(Q), answer]
    n = np.full(Q, places) if n_options is None else n_options
    return position_bias(choices, gold, right, n, np.arange(Q))


def test_a_model_that_always_says_b():
    bias = bias_of([[0, 10, 0], [0, 10, 0]], [1, 2])
    assert (bias.position, bias.chosen, bias.gold, bias.excess) == (1, 1.0, 0.5, 0.5)
    assert (bias.right, bias.blind, bias.knowledge) == (0.5, 0.5, 0.0)


def test_questions_weigh_by_answers_read():
    bias = bias_of([[3, 0], [1, 0]], [0, 1])
    assert bias.gold == 0.75


def test_no_answer_has_no_position():
    bias = bias_of(np.zeros((2, 3), int), [0, 1])
    assert bias.position == -1
    assert not bias.dominates(0.5)


def drawn(rng, questions, know, prefer, answers=20, gold=(0.25,) * 4):
    """Answers that are known with one probability, else given by a preference for places."""
    answer = rng.choice(4, size=questions, p=gold)
    known = rng.random((questions, answers)) < know
    place = np.where(known, answer[:, None], rng.choice(4, size=known.shape, p=prefer))
    return np.stack([(place == j).sum(axis=1) for j in range(4)], axis=1), answer


@pytest.mark.parametrize(
    ("know", "prefer", "dominates"),
    [
        (0.05, (0.7, 0.1, 0.1, 0.1), True),
        (0.7, (0.7, 0.1, 0.1, 0.1), False),  # a strong preference that hardly ever decides
        (0.05, (0.25,) * 4, False),  # knows little, prefers nothing
    ],
)
def test_what_dominates_is_what_decides_more_answers(know, prefer, dominates):
    rng = np.random.default_rng(3)
    bias = bias_of(*drawn(rng, 600, know, prefer))
    # answers known are right beyond the places, the rest is sent to the favourite too often
    assert bias.knowledge == pytest.approx(know * 0.75, abs=0.03)
    assert bias.excess == pytest.approx((1 - know) * (max(prefer) - 0.25), abs=0.04)
    assert bias.dominates(0.025) is dominates


def test_a_favourite_that_is_often_right_is_no_bias():
    rng = np.random.default_rng(4)
    choices, answer = drawn(rng, 500, 0.3, (0.6, 0.2, 0.1, 0.1), gold=(0.6, 0.2, 0.1, 0.1))
    bias = bias_of(choices, answer)
    assert bias.chosen > bias.right  # the naive rule would call it biased
    assert not bias.dominates(0.025)


def test_dealing_out_keeps_to_equal_numbers_of_options():
    """Two kinds of question, each with its own favourite that is always right: blind is all."""
    choices = np.array([[4, 0, 0], [0, 0, 4]])
    bias = bias_of(choices, [0, 2], np.array([2, 3]))
    assert bias.blind == 1.0
    assert bias_of(choices, [0, 2], np.array([3, 3])).blind == 0.5


def test_no_preference_is_called_dominating_at_most_at_the_stated_rate():
    rng = np.random.default_rng(5)
    found = sum(
        bias_of(*drawn(rng, 80, 0.0, (0.25,) * 4, answers=3)).dominates(0.025) for _ in range(1500)
    )
    assert found / 1500 <= 0.037
