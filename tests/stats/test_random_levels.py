from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from scipy import stats
from statsmodels.stats.anova import anova_lm

from nongrata.stats.random_levels import from_parts, mean_over_sampled_levels


@pytest.mark.parametrize("shape", [(4, 5), (4, 4, 6)])
def test_mean_squares_are_those_of_an_analysis_of_variance(shape):
    rng = np.random.default_rng(0)
    table = rng.normal(size=shape)
    index = np.indices(shape).reshape(len(shape), -1)
    frame = pd.DataFrame({"y": table.ravel(), **{f"f{i}": row for i, row in enumerate(index)}})
    terms = " + ".join(f"C(f{i})" for i in range(len(shape)))
    anova = anova_lm(smf.ols(f"y ~ {terms}", frame).fit())
    ms, df = anova["mean_sq"][: len(shape)], anova["df"][: len(shape)]
    v_q = 1e-3
    found = mean_over_sampled_levels(table, np.full((table.size,) * 2, v_q), 99)
    parts = ms / table.size
    assert found.se**2 == pytest.approx(v_q + parts.sum())
    assert found.df == pytest.approx(found.se**4 / (v_q**2 / 99 + (parts**2 / df).sum()))
    half = stats.t.ppf(0.975, found.df) * found.se
    assert found.high - found.estimate == pytest.approx(half)
    assert found.p == pytest.approx(2 * stats.t.sf(abs(found.estimate) / found.se, found.df))
    assert found.se_questions == pytest.approx(np.sqrt(v_q))


def test_what_questions_put_into_a_mean_square_is_taken_out():
    """Mean over many tables that differ by sampling only: no variance is left for formats."""
    rng = np.random.default_rng(1)
    root = rng.normal(size=(16, 16)) / 4
    covariance = root @ root.T
    parts = []
    for _ in range(4000):
        table = (root @ rng.normal(size=16)).reshape(4, 4)
        a = table.mean(axis=1)
        parts.append(4 * a.var(ddof=1))
    project = np.kron(np.eye(4) - 0.25, np.full((4, 4), 0.25))
    assert np.mean(parts) == pytest.approx((project * covariance).sum() / 3, rel=0.05)
    assert mean_over_sampled_levels(np.zeros((4, 4)), covariance, 50).se == pytest.approx(
        np.sqrt(covariance.mean())
    )


@pytest.mark.parametrize("n", [2, 3])
def test_one_factor_of_few_levels_is_a_t_test_of_its_levels(n):
    levels = np.random.default_rng(2).normal(1, 1, n)
    found = mean_over_sampled_levels(levels, np.zeros((n, n)), 99)
    wanted = stats.ttest_1samp(levels, 0.0)
    assert found.p == pytest.approx(wanted.pvalue)
    assert found.low == pytest.approx(wanted.confidence_interval().low)


def test_p_value_and_interval_agree_with_few_levels():
    found = from_parts(0.5, [(0.01, 50), (0.02, 1)], 1.0, False)
    assert found.p > 0.05
    edge = from_parts(found.high - found.estimate, [(0.01, 50), (0.02, 1)], 1.0, False)
    assert edge.low == pytest.approx(0.0, abs=1e-12)
    assert edge.p == pytest.approx(0.05)


def test_the_order_of_levels_and_of_factors_changes_nothing():
    rng = np.random.default_rng(3)
    table, root = rng.normal(size=(4, 5)), rng.normal(size=(20, 20)) / 20
    one = mean_over_sampled_levels(table, root @ root.T, 30)
    place = np.arange(20).reshape(4, 5)[rng.permutation(4)][:, rng.permutation(5)].T
    flat = place.ravel()
    other = mean_over_sampled_levels(table.ravel()[place], (root @ root.T)[np.ix_(flat, flat)], 30)
    assert (other.estimate, other.se, other.df) == pytest.approx((one.estimate, one.se, one.df))


@pytest.mark.parametrize(
    ("table", "covariance", "why"),
    [
        (np.ones((4, 1)), np.eye(4), "one level"),
        (np.array(3.0), np.eye(1), "no factor"),
        (np.full((2, 2), np.nan), np.eye(4), "not every combination"),
        (np.ones((2, 2)), np.full((4, 4), np.nan), "one cluster"),
        (np.ones((2, 2)), np.zeros((4, 4)), "neither"),
    ],
)
def test_where_there_is_no_interval_the_reason_is_said(table, covariance, why):
    found = mean_over_sampled_levels(table, covariance, 10)
    assert why in found.reason
    assert np.isnan([found.se, found.low, found.p]).all()
