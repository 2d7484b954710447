"""Intervals of squared lengths and of ratios: exact cases, other implementations, coverage."""

from __future__ import annotations

import math

import numpy as np
import pytest

from nongrata.stats.squared_effects import ratio_of_positive, squared_length_interval


@pytest.mark.parametrize("n", [1, 2, 7, 60, 900])
@pytest.mark.parametrize("noncentrality", [0.5, 12.0, 300.0, 5000.0])
def test_ends_against_scipy(n, noncentrality):
    from scipy.stats import ncx2

    # an observation at the mean; c = 2.5
    x, c = n + noncentrality, 2.5
    low, high = squared_length_interval(c * x, c * n, c * c * x)
    if low > 0:
        assert ncx2.cdf(x, n, low / c) == pytest.approx(0.975, abs=2e-4)
    else:
        assert ncx2.cdf(x, n, 1e-12) <= 0.975
    assert ncx2.cdf(x, n, high / c) == pytest.approx(0.025, abs=2e-4)


def test_it_is_in_the_units_of_the_length():
    one = squared_length_interval(7.0, 3.0, 4.0)
    scaled = squared_length_interval(700.0, 300.0, 40000.0)
    assert scaled == pytest.approx([100 * end for end in one])


def test_a_length_that_is_all_noise_reaches_from_zero():
    assert squared_length_interval(3.0, 3.0, 3.0)[0] == 0
    assert squared_length_interval(0.01, 3.0, 0.01) == (0.0, 0.0)


@pytest.mark.parametrize("bad", [(0, 1, 1), (1, 0, 1), (1, 1, 0), (math.nan, 1, 1)])
def test_nothing_is_said_without_noise(bad):
    assert all(math.isnan(end) for end in squared_length_interval(*bad))


@pytest.mark.parametrize("size", [0.0, 1.0, 2.5, 6.0])
def test_coverage_where_the_noise_is_unequal(size):
    rng = np.random.default_rng(int(size * 10))
    V = np.diag([0.5, 1.0, 2.0])
    delta = size * np.array([1.0, 1.0, -1.0]) / 3**0.5
    hits = 0
    for d in rng.multivariate_normal(delta, V, 1500):
        low, high = squared_length_interval(float(d @ d), 3.5, float(d @ V @ d))
        hits += low <= size**2 <= high
    assert 0.93 <= hits / 1500 <= 0.985


def test_ratio_against_fieller_where_both_ends_are_symmetric():
    """Independent parts with symmetric ends: the ends solve (u - r v)^2 = z^2 (su^2 + r^2 sv^2)."""
    u, v, su, sv = 5.0, 3.0, 0.8, 0.4
    low, high = ratio_of_positive((u, u - su, u + su), (v, v - sv, v + sv))
    for r in (low, high):
        assert (u - r * v) ** 2 == pytest.approx(su**2 + r**2 * sv**2)
    assert low < u / v < high


def test_ratio_of_a_bottom_that_could_be_nothing():
    assert all(math.isnan(e) for e in ratio_of_positive((1.0, 0.5, 2.0), (1.0, -0.1, 2.0)))
    assert all(math.isnan(e) for e in ratio_of_positive((-1.0, -2.0, 1.0), (1.0, 0.5, 2.0)))
    assert all(math.isnan(e) for e in ratio_of_positive((1.0, math.nan, 1.0), (1.0, 0.5, 2.0)))


def test_ratio_whose_top_could_be_nothing_reaches_from_zero():
    low, high = ratio_of_positive((1.0, -1.0, 3.0), (1.0, 1.0, 1.0))
    assert (low, high) == pytest.approx((0.0, 3.0))
