from __future__ import annotations

import math

import numpy as np
import pytest

from nongrata.stats.sum_of_squares import deviations_test, sum_of_squares_test
from nongrata.stats.units import Units


def test_two_means_are_the_paired_t_test():
    from scipy.stats import ttest_rel

    x = np.random.default_rng(0).normal(size=(2, 40)) + np.array([[0.3], [0.0]])
    units = Units.of(40)
    found = deviations_test(x.mean(axis=1), units.covariance_of_means(x), [np.arange(2)], 39)
    assert found.p == pytest.approx(ttest_rel(x[0], x[1]).pvalue)


def test_independent_equal_variances_are_a_chi_square_test():
    from scipy.stats import chi2

    a = np.array([0.5, -1.0, 2.0, 0.1])
    found = deviations_test(a, np.eye(4), [np.arange(4)], 10**9)
    T = ((a - a.mean()) ** 2).sum()
    assert found.statistic == pytest.approx(T)
    assert found.expected == pytest.approx(3.0)
    assert found.p == pytest.approx(chi2.sf(T, 3), rel=1e-5)


def test_moments_and_standard_error_by_simulation():
    rng = np.random.default_rng(1)
    L = rng.normal(size=(5, 5)) * 0.3
    C, mu = L @ L.T, np.array([0.0, 0.4, -0.2, 0.1, 0.5])
    groups = [np.array([0, 1, 2]), np.array([3, 4])]

    def total(a):
        parts = (a[:, g] - a[:, g].mean(axis=1, keepdims=True) for g in groups)
        return sum((part**2).sum(axis=1) for part in parts)

    noise = rng.normal(size=(200_000, 5)) @ L.T
    found = deviations_test(np.zeros(5), C, groups, 1000)
    assert found.expected == pytest.approx(total(noise).mean(), rel=0.02)
    for times, least, most in ((10, 0.95, 1.05), (0.2, 1.0, 2.5)):  # near 0 it errs upwards
        each = [deviations_test(times * mu + e, C, groups, 1000).se ** 2 for e in noise[:4000]]
        assert least < np.mean(each) / total(times * mu + noise).var() < most


def test_groups_are_compared_within_alone():
    a = np.array([0.0, 0.0, 9.0, 9.0])
    apart = deviations_test(a, np.eye(4), [np.arange(2), np.arange(2, 4)], 50)
    assert apart.statistic == 0
    assert apart.p == pytest.approx(1.0)


def test_no_spread():
    none = np.zeros((3, 3))
    assert deviations_test(np.zeros(3), none, [np.arange(3)], 9).p == 1.0
    assert deviations_test(np.arange(3.0), none, [np.arange(3)], 9).p == 2.0**-10
    alone = sum_of_squares_test(1.0, math.nan, math.nan, 0)
    assert math.isnan(alone.p)
    assert "one cluster" in alone.reason
