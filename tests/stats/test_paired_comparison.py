from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

from nongrata.stats.influence import means, scattered, stacked
from nongrata.stats.paired_comparison import (
    OTHERS,
    against_others,
    all_pairs,
    paired,
    sign_test,
)
from nongrata.stats.units import Units


def on_the_same(seed=0, rows=4, questions=30):
    x = np.random.default_rng(seed).normal(size=(rows, questions)) + np.arange(rows)[:, None] / 5
    return x, means(x, Units.of(questions))


def on_their_own(seed=0, sizes=(8, 15, 30)):
    rng = np.random.default_rng(seed)
    units = Units.of(sum(sizes))
    ends = np.cumsum((0, *sizes))
    x = [rng.normal(d / 3, 1 + d, n) for d, n in enumerate(sizes)]
    parts = [
        scattered(means(v[None], Units.of(len(v))), units, np.arange(ends[d], ends[d + 1]))
        for d, v in enumerate(x)
    ]
    return x, stacked(*parts)


def test_pairs_on_the_same_questions_are_paired_t_tests_with_holm():
    x, given = on_the_same()
    found = all_pairs(given)
    tests = [stats.ttest_rel(x[i], x[j]) for i, j in zip(found.first, found.second, strict=True)]
    p = [test.pvalue for test in tests]
    assert np.allclose(found.p, p, rtol=1e-9)
    assert np.allclose(found.p_holm, multipletests(p, method="holm")[1], rtol=1e-9)
    ends = np.array([tuple(test.confidence_interval()) for test in tests])
    assert np.allclose(np.column_stack([found.low, found.high]), ends, rtol=1e-9)
    assert np.isnan(found.joint_low).all()


def test_pairs_on_questions_of_their_own_are_welch_tests():
    x, given = on_their_own()
    found = all_pairs(given)
    p = [
        stats.ttest_ind(x[i], x[j], equal_var=False).pvalue
        for i, j in zip(found.first, found.second, strict=True)
    ]
    assert np.allclose(found.p, p, rtol=1e-9)


@pytest.mark.parametrize("make", [on_the_same, on_their_own])
def test_against_others_is_a_contrast_with_their_mean(make):
    _, given = make()
    M = len(given)
    a = np.where(np.eye(M, dtype=bool), 1.0, -1 / (M - 1))
    direct = given.contrasts(a)
    found = against_others(given)
    assert (found.second == OTHERS).all()
    assert np.allclose(found.difference, direct.value, rtol=1e-12)
    assert np.allclose(found.se, direct.se, rtol=1e-9)
    assert np.allclose(found.p, direct.p_values(), rtol=1e-8)


def test_undefined_rows_are_left_out_of_the_others():
    _, given = on_their_own()
    given.value[1] = np.nan
    found = against_others(given)
    assert np.isnan(found.difference[1])
    assert found.difference[0] == pytest.approx(given.value[0] - given.value[2])
    assert found.se[0] == pytest.approx(np.hypot(given.se[0], given.se[2]))
    pairs = all_pairs(given, joint=True)
    assert np.isnan(pairs.difference).tolist() == [True, False, True]
    assert np.isnan(pairs.joint_low).tolist() == [True, False, True]
    given.value[0] = np.nan
    assert np.isnan(against_others(given).difference).all()


def test_joint_intervals_are_those_of_tukey_for_independent_means():
    rng = np.random.default_rng(2)
    units = Units.of(2000)
    x = rng.normal(size=(4, 2000))
    x = (x - x.mean(axis=1, keepdims=True)) / x.std(axis=1, keepdims=True)
    q, _ = np.linalg.qr(x.T)  # uncorrelated rows of one variance
    found = all_pairs(means(q.T - q.T.mean(axis=1, keepdims=True), units), joint=True)
    critical = (found.joint_high - found.joint_low) / (2 * found.se)
    tukey = stats.studentized_range.ppf(0.95, 4, 1999) / 2**0.5
    assert np.allclose(critical, critical[0])
    assert critical[0] == pytest.approx(tukey, rel=0.02)


def test_paired_is_all_pairs_where_every_pair_rests_on_the_same():
    _, given = on_the_same(1)
    i, j = np.triu_indices(4, 1)
    one = all_pairs(given, joint=True, seed=3)
    two = paired(given.take(i), given.take(j), 4, seed=3)
    for name in ("difference", "se", "low", "high", "p", "p_holm", "joint_low", "joint_high"):
        assert np.allclose(getattr(one, name), getattr(two, name), rtol=1e-8), name


def test_identical_rows_have_no_test():
    x, _ = on_the_same()
    found = all_pairs(means(np.stack([x[0], x[0], x[1]]), Units.of(30)), joint=True)
    assert found.difference[0] == 0
    assert found.se[0] == 0
    assert np.isnan(found.p[0])
    assert np.isnan(found.joint_low[0])
    assert np.isfinite(found.p_holm[1:]).all()


@pytest.mark.parametrize("models", range(1, 9))
def test_sign_test_is_the_exact_binomial_one(models):
    for agree in range(models + 1):
        assert sign_test(agree, models) == pytest.approx(stats.binomtest(agree, models).pvalue)


def test_sign_test_of_four_of_five_shows_nothing():
    assert sign_test(4, 5) == 0.375
    assert np.isnan(sign_test(0, 0))


def test_one_estimate_has_no_pair():
    _, given = on_the_same(rows=1)
    assert len(all_pairs(given, joint=True)) == 0
    assert np.isnan(against_others(given).difference).all()
