from __future__ import annotations

from functools import partial
from itertools import product
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nongrata.stats.held_out import (
    Contrast,
    Halves,
    best_of_all,
    best_of_each,
    extreme,
    half_width,
    mean_difference_to_others,
    select_and_judge,
    sign_test,
)
from nongrata.stats.units import Units


def study(seed, P=4, K=6, Q=80, size=1, missing=0.0):
    rng = np.random.default_rng(seed)
    units = Units.of(Q, np.arange(Q) // size)
    x = (rng.random((P, K, Q)) < rng.random(Q)).astype(np.float64)
    there = rng.random(x.shape) >= missing
    first = units.halves(1, (seed, 5))[0]
    counts = units.totals(there.astype(float)) if missing else None
    return x, there, units, Halves.of(units.totals(x * there), counts, units, first)


@pytest.mark.parametrize("among", [None, [1, 3, 4]])
def test_u_is_what_its_formula_says(among):
    a = np.random.default_rng(0).random((3, 5))
    chosen = range(5) if among is None else among
    u = mean_difference_to_others(a, None if among is None else np.array(among))
    for c in range(5):
        if c not in chosen:
            assert np.isnan(u[c])
            continue
        others = [d for d in chosen if d != c]
        expected = np.mean([abs(a[p, c] - a[p, d]) for p, d in product(range(3), others)])
        assert u[c] == pytest.approx(expected)


def test_u_needs_another_configuration():
    assert np.isnan(mean_difference_to_others(np.ones((2, 1)))).all()


@settings(max_examples=80, deadline=None)
@given(st.lists(st.integers(0, 4), min_size=1, max_size=8), st.data())
def test_ties_share_the_places_left_whatever_the_order(values, data):
    n = data.draw(st.integers(1, len(values)))
    order = data.draw(st.permutations(range(len(values))))
    v = np.array(values, float)
    w = extreme(v, n)
    assert w.sum() == pytest.approx(1)
    assert w.max() <= 1 / n + 1e-15
    assert (w @ v) == pytest.approx(np.sort(v)[:n].mean())
    assert extreme(v[list(order)], n).tolist() == w[list(order)].tolist()
    assert extreme(-v, n, largest=True).tolist() == w.tolist()


def test_too_many_cannot_be_chosen():
    with pytest.raises(ValueError, match="cannot be chosen"):
        extreme(np.array([1.0, np.nan]), 2)


@pytest.mark.parametrize("size", [1, 2, 5])
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_contrasts_are_plain_means_of_the_half(size, missing):
    x, there, units, halves = study(3, size=size, missing=missing)
    w = np.random.default_rng(1).normal(size=x.shape[:2])
    inside = halves.first[units.cluster]
    for part, mask in enumerate((inside, ~inside, np.ones(len(inside), bool))):
        expected = sum(
            w[p, c] * x[p, c][mask & there[p, c]].mean()
            for p, c in product(range(x.shape[0]), range(x.shape[1]))
        )
        assert halves.contrast(w, part).value == pytest.approx(expected)


def test_standard_error_is_that_of_cluster_means():
    """Complete: the textbook formula on cluster sums; missing: the delete-one-cluster jackknife."""
    x, _, units, halves = study(4, Q=60, size=3)
    w = np.random.default_rng(1).normal(size=x.shape[:2])
    z = np.einsum("pc,pcq->q", w, x)
    sums = z.reshape(-1, 3).sum(axis=1)
    G = len(sums)
    expected = np.sqrt(G * sums.var(ddof=1)) / 60
    assert halves.contrast(w, 2).se == pytest.approx(expected)
    assert halves.contrast(w, 2).degrees_of_freedom == G - 1
    x, there, units, halves = study(5, Q=900, size=3, missing=0.1)
    left = []
    for g in range(len(units)):
        keep = units.cluster != g
        means = [
            [x[p, c][keep & there[p, c]].mean() for c in range(x.shape[1])]
            for p in range(x.shape[0])
        ]
        left.append((w * np.array(means)).sum())
    G = len(units)
    jackknife = np.sqrt((G - 1) * np.var(left))
    assert halves.contrast(w, 2).se == pytest.approx(jackknife, rel=0.01)


def test_what_judges_never_chose():
    """Changing one half's answers changes neither what it is judged by nor the other's choice."""
    x, _, units, halves = study(6)
    inside = halves.first[units.cluster]
    y = x.copy()
    y[:, :, inside] = 1 - y[:, :, inside]
    again = Halves.of(y, None, units, halves.first)
    before, after = (select_and_judge(h, best_of_each) for h in (halves, again))
    assert before.weights[1].tolist() == after.weights[1].tolist()
    assert before.weights[0].tolist() != after.weights[0].tolist()
    for fold, judge in enumerate((~inside, inside)):
        expected = (before.weights[fold] * x[:, :, judge].mean(axis=2)).sum()
        assert before.folds[fold] == pytest.approx(expected)
    assert before.held_out.value == pytest.approx(np.mean(before.folds))


def test_best_label_is_optimistic_in_sample_and_not_held_out():
    inside, outside = [], []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        x = (rng.random((6, 4, 200)) < 0.5).astype(float)
        units = Units.of(200)
        found = select_and_judge(
            Halves.of(x, None, units, units.halves(1, (seed, 1))[0]), best_of_each
        )
        inside.append(found.in_sample.value)
        outside.append(found.held_out.value)
    assert np.mean(inside) > 0.03
    assert abs(np.mean(outside)) < 3 * np.std(outside) / np.sqrt(60)


def test_weights_of_best_and_worst():
    a = np.array([[0.9, 0.1], [0.2, 0.8], [0.5, 0.5]])
    assert (best_of_each(a) * a).sum() == pytest.approx(0.85 - 0.5)
    assert (best_of_each(a, worst=True) * a).sum() == pytest.approx(0.15 - 0.5)
    tied = best_of_all(a)  # all three have mean .5
    assert tied.tolist() == np.zeros((3, 2)).tolist()
    assert (best_of_all(a + np.array([[0.2], [0], [0]])) * a).sum() == pytest.approx(0.0)


def test_every_question_twice_in_one_cluster_changes_nothing():
    """Halves are drawn in the order of clusters, so they hold the same clusters."""
    x, _, _, halves = study(7)
    twice = Units.of(160, np.arange(160) // 2)
    y = np.repeat(x, 2, axis=2)
    again = Halves.of(twice.totals(y), None, twice, twice.halves(1, (7, 5))[0])
    choose = partial(best_of_all, worst=True)
    one, two = select_and_judge(halves, choose), select_and_judge(again, choose)
    assert one.held_out.value == pytest.approx(two.held_out.value)
    assert one.held_out.se == pytest.approx(two.held_out.se)
    assert one.in_sample.se == pytest.approx(two.in_sample.se)


def test_sign_test_is_the_binomial_one():
    from scipy.stats import binomtest

    for n in range(1, 9):
        for k in range(n + 1):
            assert sign_test(k, n) == pytest.approx(binomtest(k, n).pvalue)
    assert sign_test(4, 5) == 0.375
    assert sign_test(3, 6) == 1.0
    assert comb(6, 3) == 20


def test_no_interval_without_a_degree_of_freedom():
    assert np.isnan(half_width(Contrast(0.1, 0.2, 0)))
    assert half_width(Contrast(0.0, 1.0, 10**7)) == pytest.approx(1.959964, abs=1e-5)
