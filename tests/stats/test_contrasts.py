from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from nongrata.stats.contrasts import linear_totals, means_with_intervals, verdict
from nongrata.stats.units import Units


def made(seed, M=4, Q=60):
    rng = np.random.default_rng(seed)
    return rng.integers(-1, 2, (M, Q)) + rng.normal(0, 0.3, Q)


def test_each_mean_is_a_paired_t_test():
    a, b = made(0), made(1)
    found = means_with_intervals(a - b, Units.of(60), draws=100)
    wanted = stats.ttest_rel(a, b, axis=1)
    assert found.p == pytest.approx(wanted.pvalue)
    interval = wanted.confidence_interval(0.95)
    assert found.low == pytest.approx(interval.low)
    assert found.high == pytest.approx(interval.high)


def test_clusters_are_those_of_a_cluster_robust_regression():
    """statsmodels: OLS on a constant, its correction G/(G-1) x (Q-1)/(Q-1)."""
    d = made(2)
    cluster = np.arange(60) // 4
    units = Units.of(60, cluster)
    found = means_with_intervals(units.totals(d), units, draws=100)
    for m, row in enumerate(d):
        fit = sm.OLS(row, np.ones(60)).fit(cov_type="cluster", cov_kwds={"groups": cluster})
        assert found.estimate[m] == pytest.approx(fit.params[0])
        assert found.se[m] == pytest.approx(fit.bse[0])


def test_together_covers_what_max_t_of_the_same_covariance_covers():
    d = made(3, M=10)
    found = means_with_intervals(d, Units.of(60))
    half = (found.high_together - found.estimate) / found.se
    assert half == pytest.approx(np.full(10, found.critical))
    assert stats.t.ppf(0.975, 59) < found.critical < stats.t.ppf(1 - 0.025 / 10, 59)
    leaves_out_0 = (found.low_together > 0) | (found.high_together < 0)
    clear = np.abs(found.p_together - 0.05) > 0.001
    assert (leaves_out_0 == (found.p_together <= 0.05))[clear].all()
    assert (found.p_step_down <= found.p_together).all()
    assert (found.p <= found.p_step_down).all()


def test_one_mean_needs_no_draws():
    d = made(4, M=1)
    found = means_with_intervals(d, Units.of(60), draws=10)
    assert found.critical == pytest.approx(stats.t.ppf(0.975, 59))
    assert found.p_together.tolist() == found.p.tolist()


def test_missing_answers_by_the_jackknife():
    """The linearised standard error against leaving out one cluster at a time."""
    rng = np.random.default_rng(5)
    Q = 400
    x, there = rng.integers(-1, 2, Q).astype(float), rng.random(Q) < 0.7
    units = Units.of(Q, np.arange(Q) // 2)
    sums, counts = units.totals(np.where(there, x, 0.0)), units.totals(there)
    totals = linear_totals(sums[None], counts[None], units.sizes)
    found = means_with_intervals(totals, units, draws=10)
    assert found.estimate[0] == pytest.approx(x[there].mean())
    without = (sums.sum() - sums) / (counts.sum() - counts)
    jackknife = np.sqrt(199 / 200 * ((without - without.mean()) ** 2).sum())
    assert found.se[0] == pytest.approx(jackknife, rel=0.01)


def test_without_missing_answers_totals_stay_as_they_are():
    rng = np.random.default_rng(6)
    units = Units.of(30, rng.integers(0, 12, 30))
    sums = units.totals(rng.normal(size=(3, 30)))
    same = linear_totals(sums, np.broadcast_to(units.sizes, sums.shape), units.sizes)
    assert same == pytest.approx(sums)
    assert linear_totals(sums, None, units.sizes) is sums


def test_no_question_gives_no_number_and_no_warning():
    totals = linear_totals(np.zeros((1, 3)), np.zeros((1, 3)), np.ones(3))
    assert np.isnan(totals).all()
    found = means_with_intervals(np.vstack([totals, made(0, 1, 3)]), Units.of(3), draws=50)
    assert np.isnan(found.estimate[0])
    assert np.isnan(found.p[0])
    assert found.low[1] < found.high[1]


@pytest.mark.parametrize("value", [0.0, 0.1, 1.0])
def test_no_spread_gives_no_interval(value):
    found = means_with_intervals(np.full((1, 7), value), Units.of(7), draws=50)
    assert found.estimate[0] == pytest.approx(value)
    assert found.se[0] == 0
    assert np.isnan([found.low[0], found.p[0], found.p_together[0], found.critical]).all()


def test_one_cluster_gives_no_interval():
    units = Units.of(3, np.zeros(3, int))
    found = means_with_intervals(units.totals(made(0, 2, 3)), units, draws=50)
    assert np.isnan(found.low).all()
    assert np.isnan(found.critical)


@given(st.integers(0, 10**6))
@settings(max_examples=30, deadline=None)
def test_every_question_twice_in_one_cluster_changes_nothing(seed):
    d = made(seed % 1000, 3, 12)
    alone = means_with_intervals(d, Units.of(12), draws=200)
    units = Units.of(24, np.repeat(np.arange(12), 2))
    twice = means_with_intervals(units.totals(np.repeat(d, 2, axis=1)), units, draws=200)
    for field in ("estimate", "se", "low_together", "high_together", "p", "p_together"):
        assert getattr(twice, field) == pytest.approx(getattr(alone, field))


@given(st.integers(0, 10**6))
@settings(max_examples=30, deadline=None)
def test_the_order_of_questions_and_of_means_changes_no_closed_form(seed):
    rng = np.random.default_rng(seed)
    d = made(seed % 1000, 5, 15)
    rows, columns = rng.permutation(5), rng.permutation(15)
    one = means_with_intervals(d, Units.of(15), draws=20)
    other = means_with_intervals(d[rows][:, columns], Units.of(15), draws=20)
    for field in ("estimate", "se", "low", "high", "p"):
        assert getattr(other, field) == pytest.approx(getattr(one, field)[rows])


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (-0.5, 0.5, "equivalent"),
        (-1.0, 0.5, "undecided"),
        (0.0, 0.9, "equivalent"),
        (0.1, 0.9, "differs, but within the smallest effect"),
        (-0.9, -0.1, "differs, but within the smallest effect"),
        (0.1, 1.0, "differs"),
        (-3.0, -2.0, "differs"),
        (float("nan"), float("nan"), "undecided"),
    ],
)
def test_verdicts(low, high, said):
    assert verdict(low, high, 1.0) == said
