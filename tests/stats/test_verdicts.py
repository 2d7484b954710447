from __future__ import annotations

import math

import numpy as np
import pytest

from nongrata.stats.units import Units
from nongrata.stats.verdicts import judge, questions_needed, upper_tail


def made(seed, K=12, Q=60, shift=0.3):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(K, Q)) + shift + rng.normal(size=(K, 1)) * 0.2


def judged(D):
    units = Units.of(D.shape[1])
    se = np.sqrt(units.variance_of_mean(D))
    return judge(D.mean(axis=1)[None], se[None], units.degrees_of_freedom, len(units))


@pytest.mark.parametrize(("seed", "K"), [(0, 12), (1, 12), (2, 3), (3, 2), (4, 10)])
def test_against_plain_loops_and_scipy(seed, K):
    from scipy.stats import ttest_1samp

    D = made(seed, K, shift=-0.4 if seed % 2 else 0.4)
    sign = 1.0 if D.mean() > 0 else -1.0
    p = [ttest_1samp(sign * row, 0, alternative="greater").pvalue for row in D]
    q = [ttest_1samp(sign * row, 0, alternative="less").pvalue for row in D]
    u = next(n for n in range(1, K + 1) if n >= 0.9 * K)
    found = judged(D)
    assert found.direction[0] == sign
    assert found.p[0] == pytest.approx(p)
    assert found.opposite[0] == pytest.approx(q)
    assert found.robust[0] == pytest.approx(min(1, 2 * (K - u + 1) * sorted(p)[u - 1]))
    assert found.fragile[0] == pytest.approx(min(1, 2 * K * max(min(p), min(q))))
    assert found.share[0] == pytest.approx(np.mean(sign * D.mean(axis=1) > 0))


def test_the_other_sign_changes_nothing_but_the_direction():
    D = made(5)
    a, b = judged(D), judged(-D)
    assert a.direction[0] == -b.direction[0]
    assert (a.robust, a.fragile, a.share) == (b.robust, b.fragile, b.share)


def test_the_order_of_configurations_does_not_matter():
    D = made(6)
    a, b = judged(D), judged(D[::-1])
    assert a.robust[0] == pytest.approx(b.robust[0], rel=1e-12)
    assert a.fragile[0] == pytest.approx(b.fragile[0], rel=1e-12)


def test_robust_and_fragile_are_found_where_they_are():
    strong = judged(made(7, shift=3.0))
    assert strong.robust[0] < 0.001
    assert strong.fragile[0] > 0.9
    D = made(8, shift=3.0)
    D[0] -= 6
    D[1] -= 6
    turned = judged(D)
    assert turned.robust[0] > 0.9
    assert turned.fragile[0] < 0.001


def test_one_exception_in_twelve_is_allowed_and_one_in_nine_is_not():
    D = made(9, shift=3.0)
    D[3] -= 6
    assert judged(D).robust[0] < 0.001
    assert judged(D[:9]).robust[0] > 0.9


def test_one_configuration_is_no_test():
    found = judged(made(10, K=1))
    assert math.isnan(found.robust[0])
    assert math.isnan(found.fragile[0])


def test_one_cluster_is_no_test():
    found = judge(np.array([[0.1, 0.2]]), np.full((1, 2), np.nan), 0, 1)
    assert np.isnan(found.p).all()
    assert found.robust[0] == 1.0


def test_equal_answers_are_no_evidence():
    found = judge(np.zeros((1, 3)), np.zeros((1, 3)), 9, 10)
    assert found.robust[0] == found.fragile[0] == 1.0


def test_the_same_difference_in_all_clusters():
    p = upper_tail(np.array([1.0, -1.0]), np.zeros(2), 9, 10)
    assert p.tolist() == [2.0**-10, 1.0]


def test_no_spread_at_all_in_no_configuration():
    empty = judge(np.zeros((2, 0)), np.zeros((2, 0)), 9, 10)
    assert np.isnan(empty.robust).all()


@pytest.mark.parametrize("u", [1, 2, 3])
def test_with_the_questions_needed_it_would_be_robust(u):
    t, Q = np.array([2.2, 2.4, 2.9]), 2000
    p = upper_tail(t, np.ones(3), Q - 1, Q)
    n = questions_needed(p, 0.01, Q, Q - 1, u)
    then = np.sort(upper_tail(t * math.sqrt(n / Q), np.ones(3), 10**7, Q))
    assert 2 * (3 - u + 1) * then[u - 1] == pytest.approx(0.01, rel=0.01)


def test_more_questions_do_not_turn_a_direction():
    assert questions_needed(np.array([0.001, 0.6]), 0.05, 100, 99, 2) == math.inf
    assert questions_needed(np.array([0.001, np.nan]), 0.05, 100, 99, 2) == math.inf
