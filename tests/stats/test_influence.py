from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from nongrata.stats.influence import (
    Estimates,
    centred,
    effective_df,
    estimates,
    means,
    scattered,
    stacked,
)
from nongrata.stats.units import Units


def units_of(seed=0, strata=2):
    rng = np.random.default_rng(seed)
    cluster = np.concatenate([np.arange(12), rng.integers(0, 12, 28)])
    return Units.of(40, cluster, (np.arange(12) % strata)[cluster]), rng


def test_products_of_influences_are_the_covariance_of_means():
    for strata in (1, 2):
        units, rng = units_of(strata=strata)
        x = rng.random((3, 40))
        found = means(x, units)
        assert np.allclose(found.covariance, units.covariance_of_means(x), rtol=1e-12)
        assert np.allclose(found.se**2, units.variance_of_mean(x), rtol=1e-12)
        assert np.allclose(found.influence.sum(axis=1), 0, atol=1e-12)
        a = np.array([[1.0, -1.0, 0.0], [0.5, 0.5, -1.0]])
        apart = found.contrasts(a)
        assert np.allclose(apart.value, a @ x.mean(axis=1))
        assert np.allclose(apart.se**2, units.variance_of_mean(a @ x), rtol=1e-10)


def test_intervals_and_p_values_of_single_questions_are_the_t_test():
    x = np.random.default_rng(0).normal(0.3, 1, 15)
    found = means(x[None], Units.of(15))
    test = stats.ttest_1samp(x, 0)
    low, high = found.t_interval()
    assert found.df.tolist() == [14.0]
    assert found.p_values()[0] == pytest.approx(test.pvalue, rel=1e-10)
    assert (low[0], high[0]) == pytest.approx(tuple(test.confidence_interval()), rel=1e-10)


def test_means_on_questions_of_their_own_give_welch_s_test():
    rng = np.random.default_rng(1)
    units = Units.of(50)
    x = rng.normal(size=50)
    parts = [
        scattered(means(x[None, where], units.on(where)), units, where)
        for where in (np.arange(10), np.arange(10, 50))
    ]
    apart = stacked(*parts).contrasts(np.array([[1.0, -1.0]]))
    welch = stats.ttest_ind(x[:10], x[10:], equal_var=False)
    assert apart.df[0] == pytest.approx(welch.df, rel=1e-10)
    assert apart.p_values()[0] == pytest.approx(welch.pvalue, rel=1e-10)


def test_bootstrap_of_a_mean_is_that_of_the_influence():
    units, rng = units_of()
    x = rng.random(40)
    weights = units.bootstrap_weights(4000, 1)
    found = means(x[None], units)
    drawn = weights @ units.totals(x) / 40
    moved = found.value[0] + weights @ found.influence[0]
    # the same but for sqrt(n / (n - 1)), n = 6 clusters in each stratum
    assert np.allclose(moved - x.mean(), (6 / 5) ** 0.5 * (drawn - x.mean()), atol=1e-6)
    low, high = found.percentile_interval(weights)
    tail = stats.norm.cdf(stats.t.ppf(0.025, found.df[0]))
    assert (low[0], high[0]) == pytest.approx(tuple(np.quantile(moved, [tail, 1 - tail])), 1e-5)


def test_many_clusters_give_plain_percentiles():
    x = np.random.default_rng(0).random(3000)
    units = Units.of(3000)
    weights = units.bootstrap_weights(1000)
    low, high = means(x[None], units).percentile_interval(weights)
    plain = np.quantile(weights @ x / 3000, [0.025, 0.975])
    assert (low[0], high[0]) == pytest.approx(tuple(plain), abs=0.03 * (plain[1] - plain[0]))


def test_scattered_influences_stand_at_their_own_clusters():
    units = Units.of(6, np.array([0, 1, 0, 2, 2, 3]))
    where = np.array([5, 3, 0, 4])  # clusters 3, 2, 0, 2: another order
    part = means(np.array([[1.0, 0.0, 0.5, 0.25]]), units.on(where))
    placed = scattered(part, units, where)
    assert placed.influence[0, 1] == 0
    assert placed.influence[0, 3] == part.influence[0, 0]
    assert placed.influence[0, 2] == part.influence[0, 1]
    assert placed.se == pytest.approx(part.se)


def test_clusters_count_for_less_if_a_few_are_large():
    assert effective_df(Units.of(30, np.repeat(np.arange(10), 3))) == pytest.approx(9)
    one_large = Units.of(45, np.concatenate([np.zeros(15, int), np.arange(1, 31)]))
    assert 1 < effective_df(one_large) < 15
    assert effective_df(Units.of(1)) == 0
    strata = Units.of(10, None, np.repeat([0, 1], 5))
    assert effective_df(strata) == pytest.approx(8)


def test_nothing_is_known_from_one_cluster():
    found = means(np.array([[0.0, 1.0]]), Units.of(2, np.zeros(2, int)))
    assert found.value.tolist() == [0.5]
    assert np.isnan(found.se).all()
    assert np.isnan(found.t_interval()).all()
    assert np.isnan(found.percentile_interval(np.ones((5, 1), np.float32))).all()
    assert np.isnan(found.p_values()).all()


def test_undefined_rows_stay_undefined():
    units = Units.of(5)
    found = estimates(np.array([np.nan, 0.5]), np.zeros((2, 5)), units)
    assert np.isnan(found.se[0])
    assert found.se[1] == 0
    assert np.isnan(found.p_values()).all()
    both = found.contrasts(np.array([[0.0, 1.0], [1.0, -1.0]]))
    assert both.value[0] == 0.5
    assert np.isnan(both.value[1])
    assert len(found.take(np.array([1]))) == 1
    assert isinstance(stacked(found, both), Estimates)


def test_centring_removes_a_constant():
    units, rng = units_of()
    totals = units.totals(rng.random(40))
    assert np.allclose(centred(totals + 3 * units.sizes, units), centred(totals, units), atol=1e-12)
