from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from nongrata.stats.accuracy_intervals import average_accuracies, rare_rate_interval
from nongrata.stats.units import Units


def study(seed=0):
    rng = np.random.default_rng(seed)
    x = rng.random((3, 4, 30)) < rng.random(30)
    cluster = np.concatenate([np.arange(10), rng.integers(0, 10, 20)])
    a = rng.random((5, 3, 4))
    a /= a.sum(axis=(1, 2), keepdims=True)
    return x, Units.of(30, cluster), a, rng


def test_an_average_is_the_mean_of_its_questions():
    x, units, a, _ = study()
    found, effect = average_accuracies(x, None, units, a)
    z = np.einsum("mpc,pcq->mq", a, x)
    assert np.allclose(found.value, z.mean(axis=1))
    assert np.allclose(found.se**2, units.variance_of_mean(z), rtol=1e-10)
    assert np.allclose(effect, units.design_effect(z), rtol=1e-10)


def test_missing_answers_give_the_variance_of_a_sum_of_ratios():
    x, units, a, rng = study(1)
    there = rng.random(x.shape) < 0.7
    x = x & there
    found, _ = average_accuracies(x, there, units, a)
    ratios = x.sum(axis=2) / there.sum(axis=2)
    assert np.allclose(found.value, (a * ratios).sum(axis=(1, 2)))
    # the delta method by hand: derivative of each ratio in the weight of each cluster
    G = len(units)
    for m in range(5):
        slope = np.zeros(G)
        for g in range(G):
            own = units.cluster == g
            right, n = x[:, :, own].sum(axis=2), there[:, :, own].sum(axis=2)
            slope[g] = (a[m] * (right - ratios * n) / there.sum(axis=2)).sum()
        slope -= slope.sum() / 30 * units.sizes
        assert found.se[m] ** 2 == pytest.approx(G / (G - 1) * (slope**2).sum(), rel=1e-9)


def test_cells_without_answers_are_left_out_of_an_average():
    x, units, _, _ = study(2)
    there = np.ones(x.shape, bool)
    there[0, 1] = False
    a = np.zeros((2, 3, 4))
    a[0, 0] = 0.25
    a[1, 0, 1] = 1.0
    found, effect = average_accuracies(x & there, there, units, a)
    assert found.value[0] == pytest.approx(x[0, [0, 2, 3]].mean())
    assert np.isnan(found.value[1])
    assert np.isnan(found.se[1])
    assert np.isnan(effect[1])


def test_nothing_varies():
    found, effect = average_accuracies(np.ones((1, 2, 9)), None, Units.of(9), np.ones((1, 1, 2)))
    assert found.value.tolist() == [1.0]
    assert found.se.tolist() == [0.0]
    assert np.isnan(effect[0])


@pytest.mark.parametrize(("k", "n"), [(0, 40), (3, 50), (20, 20), (7, 400)])
def test_independent_answers_give_the_exact_binomial_interval(k, n):
    rate = k / n
    se = (rate * (1 - rate) / n) ** 0.5
    exact = stats.binomtest(k, n).proportion_ci()
    # as many clusters as answers: the correction for few clusters is 1
    assert rare_rate_interval(rate, se, n) == pytest.approx((exact.low, exact.high), rel=1e-6)


def test_clustered_answers_count_for_fewer():
    few = rare_rate_interval(0.02, 0.02, 50)
    many = rare_rate_interval(0.02, 0.005, 50)
    assert few[1] - few[0] > 2 * (many[1] - many[0])
    assert np.isnan(rare_rate_interval(0.1, 0.1, 1)).all()
    assert np.isnan(rare_rate_interval(float("nan"), 0.1, 10)).all()
