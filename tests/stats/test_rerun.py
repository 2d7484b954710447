from __future__ import annotations

import math
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from designs import random_design
from nongrata.stats.accuracy import complete_accuracy
from nongrata.stats.bernoulli_streams import CellStream, row_sums
from nongrata.stats.ia import expected_ia_of_one_draw, instability_of_accuracy
from nongrata.stats.io import instability_of_outcome
from nongrata.stats.iq import instability_of_questions
from nongrata.stats.rerun import Redrawn, extreme_shares, redraw

FIGURES = [name for name in Redrawn.__dataclass_fields__ if name != "accuracy"]


def same(a: float, b: float) -> bool:
    return (math.isnan(a) and math.isnan(b)) or a == pytest.approx(b, rel=1e-12, abs=1e-10)


@pytest.mark.parametrize("seed", range(60))
def test_a_draw_has_the_figures_of_the_definitions(seed):
    """Certain answers: one draw is the study itself, with missing answers, ties, empty unions."""
    design = random_design(seed)
    x, there = design.correct, design.present
    one = redraw(x.astype(np.float32), there, draws=1, seed=(0,))
    accuracy, _ = complete_accuracy(x, there)
    io = instability_of_outcome(accuracy)
    iq = instability_of_questions(x, there)
    assert same(one.ia[0], instability_of_accuracy(x, there).figure.value)
    assert same(one.io[0], io.figure.value)
    assert same(one.rank_shift[0], io.rank_shift.value)
    assert same(one.spread[0], io.spread.value)
    assert same(one.iq[0], iq.figure.value)
    assert same(one.iq_of_two[0], iq.curve[1] if len(iq.curve) > 1 else math.nan)
    ranked = accuracy[:, ~np.isnan(accuracy).any(axis=0)]
    if ranked.shape[1]:
        assert one.accuracy[0] == pytest.approx(100 * ranked.mean(axis=1), abs=1e-10)
    tops = [
        {p for p in range(len(column)) if abs(column[p] - column.max()) < 1e-9}
        for column in ranked.T
    ]
    pairs = [a.isdisjoint(b) for a, b in combinations(tops, 2)]
    assert same(one.best_flips[0], 100 * np.mean(pairs) if pairs else math.nan)


@pytest.mark.parametrize("seed", range(4))
def test_ia_over_draws_has_the_mean_of_the_closed_form(seed):
    rng = np.random.default_rng(seed)
    theta = np.clip(rng.beta(2, 2, (3, 4, 150)) + rng.normal(0, 0.03, (3, 4, 1)), 0, 1)
    there = None if seed % 2 else rng.random(theta.shape) > 0.1
    again = redraw(theta.astype(np.float32), there, draws=3000, seed=(seed,))
    expected = expected_ia_of_one_draw(theta, there).value
    error = again.ia.std() / math.sqrt(3000)
    # 5 standard errors, and what the normal approximation of the closed form may be off
    assert again.ia.mean() == pytest.approx(expected, abs=5 * error + 0.005 * expected)
    # the noise-free IA is no such expectation: it would be rejected
    assert instability_of_accuracy(theta, there).figure.value < expected - 10 * error


def enumerated(theta):
    """E[IQ] and its variance over every study that can come out, and E[IA]."""
    P, K, Q = theta.shape
    iq, ia, weights = [], [], []
    for bits in product([0, 1], repeat=P * K * Q):
        x = np.array(bits, dtype=np.int8).reshape(theta.shape)
        weights.append(np.where(x == 1, theta, 1 - theta).prod())
        iq.append(instability_of_questions(x).figure.value)
        ia.append(instability_of_accuracy(x).figure.value)
    weights, iq, ia = map(np.array, (weights, iq, ia))
    there = ~np.isnan(iq)
    mean_iq = (weights[there] * iq[there]).sum() / weights[there].sum()
    return mean_iq, there @ weights, (weights * ia).sum()


@pytest.mark.parametrize("shape", [(1, 2, 3), (1, 3, 2), (2, 2, 2)])
def test_the_mean_of_iq_against_every_study_that_can_come_out(shape):
    theta = np.random.default_rng(sum(shape)).choice([0.0, 0.2, 0.5, 0.9, 1.0], shape)
    theta[0, 0, 0] = 0.3
    mean_iq, defined, mean_ia = enumerated(theta)
    again = redraw(theta, draws=20_000, seed=(5,))
    there = ~np.isnan(again.iq)
    assert there.mean() == pytest.approx(defined, abs=0.02)
    assert again.iq[there].mean() == pytest.approx(mean_iq, abs=5 * again.iq[there].std() / 141)
    assert again.ia.mean() == pytest.approx(mean_ia, abs=5 * again.ia.std() / 141)


def test_certain_answers_have_no_spread():
    x = np.random.default_rng(1).random((3, 4, 30)) < 0.6
    again = redraw(x.astype(np.float32), draws=20, seed=(2,))
    for name in FIGURES:
        assert np.ptp(getattr(again, name)) == 0, name
    assert np.ptp(again.accuracy, axis=0).tolist() == [0, 0, 0]


def test_one_uncertain_configuration_moves_nothing_else():
    theta = (np.random.default_rng(1).random((2, 3, 40)) < 0.6).astype(np.float32)
    theta[0, 1] = 0.5
    again = redraw(theta, draws=50, seed=(2,))
    assert np.ptp(again.accuracy[:, 1]) == 0
    assert np.ptp(again.accuracy[:, 0]) > 0


@given(seed=st.integers(0, 2**32), at_once=st.integers(1, 9), lost=st.booleans())
@settings(max_examples=40, deadline=None)
def test_how_many_are_drawn_at_a_time_changes_nothing(seed, at_once, lost):
    rng = np.random.default_rng(seed)
    theta = rng.choice([0.0, 0.3, 0.7, 1.0], (2, 3, 11)).astype(np.float32)
    there = rng.random(theta.shape) > 0.2 if lost else None
    whole = redraw(theta, there, draws=9, seed=(seed,))
    parts = redraw(theta, there, draws=9, seed=(seed,), at_once=at_once)
    for name in Redrawn.__dataclass_fields__:
        np.testing.assert_array_equal(getattr(whole, name), getattr(parts, name))
    # and more of them begin with the same ones
    more = redraw(theta, there, draws=13, seed=(seed,), at_once=at_once)
    np.testing.assert_array_equal(more.ia[:9], whole.ia)


@given(seed=st.integers(0, 2**32), data=st.data(), lost=st.booleans())
@settings(max_examples=40, deadline=None)
def test_another_order_of_personas_and_configurations_permutes_and_nothing_else(seed, data, lost):
    rng = np.random.default_rng(seed)
    theta = rng.choice([0.0, 0.3, 0.7, 1.0], (3, 4, 11)).astype(np.float32)
    there = rng.random(theta.shape) > 0.2 if lost else np.ones(theta.shape, bool)
    cells = np.arange(12).reshape(3, 4)
    P = data.draw(st.permutations(range(3)))
    C = data.draw(st.permutations(range(4)))
    to = np.ix_(P, C)
    before = redraw(theta, there, draws=6, seed=(seed,), cells=cells)
    after = redraw(theta[to], there[to], draws=6, seed=(seed,), cells=cells[to])
    for name in FIGURES:
        np.testing.assert_allclose(getattr(after, name), getattr(before, name), rtol=1e-11)
    np.testing.assert_allclose(after.accuracy, before.accuracy[:, P], rtol=1e-11)


def test_a_cell_that_repeats_another_repeats_its_draw():
    theta = np.full((2, 3, 50), 0.5, np.float32)
    cells = np.array([[0, 1, 0], [3, 3, 3]])
    again = redraw(theta, draws=40, seed=(1,), cells=cells)
    alone = redraw(theta[1:], draws=40, seed=(1,), cells=cells[1:])
    assert (alone.ia == 0).all()
    # |A0 - A1|, |A0 - A0| and |A1 - A0|: two thirds of what two cells give, halved by the other
    two = redraw(theta[:1, :2], draws=40, seed=(1,), cells=cells[:1, :2])
    assert again.ia == pytest.approx(two.ia * 2 / 3 / 2)


def test_seeds_make_other_numbers():
    theta = np.full((2, 3, 50), 0.5, np.float32)
    one, other = (redraw(theta, draws=5, seed=(seed,)).ia for seed in (1, 2))
    assert (one != other).any()


def test_shares_are_the_probabilities_also_where_16_bits_do_not_tell():
    """Probabilities far below and between 1/65,536: further bits decide."""
    theta = np.array([1e-5, 0.5 + 2**-17, 1 - 1e-5, 3 / 65_536, 0.0, 1.0])
    draws = 2_000_000
    right = CellStream(theta, (4, 2)).draw(draws)[:, :6].sum(axis=0)
    error = np.sqrt(theta * (1 - theta) * draws)
    assert (abs(right - theta * draws) <= 4.5 * error).all()
    assert right[4] == 0
    assert right[5] == draws


def test_the_rest_of_a_probability_is_drawn_where_its_first_bits_are_met():
    stream = CellStream(np.array([0.25 / 65_536]), (1, 1))
    right = stream.draw(16_000_000 // 8)[:, 0]
    # first bits are all zero once in 65,536 draws, then a quarter of them: 30 would be expected
    # without the second comparison, 7.6 with it
    assert right.sum() < 20


@given(st.integers(1, 5), st.integers(1, 700))
@settings(max_examples=30)
def test_row_sums(rows, words):
    right = np.random.default_rng(words).random((rows, 8 * words)) < 0.7
    assert row_sums(right).tolist() == right.sum(axis=1).tolist()
    assert row_sums(np.ones((1, 8 * words), bool))[0] == 8 * words


def test_more_than_255_configurations_do_not_overflow():
    theta = np.ones((1, 300, 3), np.float32)
    again = redraw(theta, draws=2, seed=(0,))
    assert again.iq.tolist() == [0.0, 0.0]


@pytest.mark.parametrize("shape", [(0, 3, 4), (2, 0, 4), (2, 3, 0), (1, 1, 4)])
def test_studies_without_cells_have_no_figures(shape):
    again = redraw(np.full(shape, 0.5, np.float32), draws=3, seed=(0,))
    assert np.isnan(again.ia).all()
    assert np.isnan(again.io).all()


def test_extremes_share_ties_and_skip_what_is_undefined():
    best, worst = extreme_shares(np.array([[1.0, 1.0], [np.nan, 1.0], [2.0, 1.0]]))
    assert best.tolist() == [0.75, 0.25]
    assert worst.tolist() == [0.25, 0.75]
    assert np.isnan(extreme_shares(np.full((2, 2), np.nan))[0]).all()
