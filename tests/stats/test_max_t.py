from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from nongrata.errors import NongrataError
from nongrata.stats.max_t import (
    gaussian_max_t,
    gaussian_statistics,
    max_t_critical,
    single_step_p,
    step_down_p,
)


@pytest.mark.parametrize("M", [1, 5, 40])
def test_independent_estimates_give_the_closed_form(M):
    """P(all |t| <= c) = (2 F(c) - 1)^M."""
    exact = stats.norm.ppf((1 + 0.95 ** (1 / M)) / 2)
    assert gaussian_max_t(np.eye(M) * 7.0, 200_000) == pytest.approx(exact, abs=0.02)


def test_few_degrees_of_freedom_give_student_t():
    assert gaussian_max_t(np.eye(1), 200_000, df=5) == pytest.approx(stats.t.ppf(0.975, 5), 0.02)


def test_dependence_makes_it_smaller_and_never_smaller_than_one_interval():
    half = np.full((20, 20), 0.8) + 0.2 * np.eye(20)
    found = gaussian_max_t(half, 50_000)
    assert 1.96 < found < gaussian_max_t(np.eye(20), 50_000) - 0.2
    assert gaussian_max_t(np.ones((20, 20)), 200_000) == pytest.approx(1.96, abs=0.02)


def test_draws_have_the_correlation_asked_for():
    c = np.array([[4.0, 1.2, 0.0], [1.2, 1.0, -0.3], [0.0, -0.3, 9.0]])
    sd = np.sqrt(np.diag(c))
    t = gaussian_statistics(c, 100_000, 3)
    assert np.cov(t.T) == pytest.approx(c / np.outer(sd, sd), abs=0.02)


def test_the_quantile_is_an_order_statistic_of_the_maxima():
    rng = np.random.default_rng(0)
    t = rng.normal(size=(99, 4))
    assert max_t_critical(t, 0.9) == np.sort(np.abs(t).max(axis=1))[89]


def test_estimates_without_spread_take_no_part():
    c = np.diag([1.0, 0.0, np.nan])
    c[0, 2] = c[2, 0] = np.nan
    assert gaussian_max_t(c, 200_000) == pytest.approx(1.96, abs=0.02)
    assert np.isnan(gaussian_max_t(np.zeros((2, 2)), 10))
    assert np.isnan(max_t_critical(np.zeros((0, 2))))
    p = single_step_p(np.array([1.0, np.nan]), np.array([[0.5, np.nan], [2.0, np.nan]]))
    assert p[0] == pytest.approx(2 / 3)
    assert np.isnan(p[1])
    assert np.isnan(step_down_p(np.array([1.0, np.nan]), np.full((3, 2), np.nan))).all()


def test_step_down_by_plain_loops():
    rng = np.random.default_rng(1)
    drawn, t = rng.normal(size=(199, 6)), np.array([3.0, -2.5, 0.1, 1.0, -2.0, 2.6])
    left, wanted, last = list(range(6)), {}, 0.0
    while left:
        m = max(left, key=lambda i: abs(t[i]))
        reach = sum(max(abs(row[i]) for i in left) >= abs(t[m]) for row in drawn)
        last = wanted[m] = max(last, (1 + reach) / 200)
        left.remove(m)
    assert step_down_p(t, drawn).tolist() == pytest.approx([wanted[m] for m in range(6)])
    assert (step_down_p(t, drawn) <= single_step_p(t, drawn)).all()


def test_a_covariance_is_square():
    with pytest.raises(NongrataError, match="not square"):
        gaussian_max_t(np.ones((2, 3)))
