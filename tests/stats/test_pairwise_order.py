from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nongrata.stats.pairwise_order import (
    adjusted_by_holm,
    adjusted_by_steps,
    critical_value,
    differences,
    multiplier_noise,
    ordered_by_steps,
)
from nongrata.stats.rank_sets import rank_sets
from nongrata.stats.units import Units


def made(seed, P=5, scale=0.03, draws=499, df=200):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(P, P)) * 0.01
    covariance = root @ root.T
    estimate = 0.5 + scale * rng.normal(size=P)
    noise = multiplier_noise(covariance, rng.standard_normal((P, draws)))
    return differences(estimate, covariance, df), noise


def quantile_by_counting(values, alpha):
    """Smallest drawn value c for which (1 + #{draws >= z}) / (B + 1) <= alpha for all z > c."""
    for c in sorted(values):
        if (1 + sum(v > c for v in values)) / (len(values) + 1) <= alpha:
            return c
    return np.inf


def steps_by_definition(found, noise, family, alpha):
    """Step-down over directed hypotheses by plain loops."""
    left, rejected = list(family), set()
    while left:
        drawn = {(j, k): (noise[j] - noise[k]) * np.float32(1 / found.se[j, k]) for j, k in left}
        largest = [max(drawn[h][b] for h in left) for b in range(noise.shape[1])]
        c = quantile_by_counting(largest, alpha)
        new = [h for h in left if found.z[h] > c]
        if not new:
            break
        rejected |= set(new)
        left = [h for h in left if h not in rejected]
    return rejected


@pytest.mark.parametrize("seed", range(8))
def test_step_down_and_rank_sets_against_plain_loops(seed):
    found, noise = made(seed, P=4, draws=199)
    P = 4
    every = list(permutations(range(P), 2))
    rejected = steps_by_definition(found, noise, every, 0.05)
    assert set(zip(*np.nonzero(ordered_by_steps(found, noise)), strict=True)) == rejected
    p = adjusted_by_steps(found, noise)
    assert {h for h in every if p[h] <= 0.05} == rejected
    sets = rank_sets(found, noise)
    for j in range(P):
        assert sets.all_low[j] == 1 + sum(h[1] == j for h in rejected)
        assert sets.all_high[j] == P - sum(h[0] == j for h in rejected)
        own = steps_by_definition(found, noise, [h for h in every if j in h], 0.05)
        assert sets.low[j] == 1 + sum(h[1] == j for h in own)
        assert sets.high[j] == P - sum(h[0] == j for h in own)
        others = [k for k in range(P) if k != j]
        for possibly, sign in ((sets.possibly_best, 1), (sets.possibly_worst, -1)):
            drawn = [
                max(sign * (noise[k, b] - noise[j, b]) / found.se[j, k] for k in others)
                for b in range(noise.shape[1])
            ]
            c = quantile_by_counting(drawn, 0.05)
            assert possibly[j] == all(sign * found.z[k, j] <= c for k in others)


@pytest.mark.parametrize("seed", range(4))
def test_adjusted_p_values_are_the_levels_at_which_an_order_appears(seed):
    found, noise = made(seed, P=6, draws=199)
    p = adjusted_by_steps(found, noise)
    for alpha in (0.01, 0.05, 0.2, 0.5):
        np.testing.assert_array_equal(np.nan_to_num(p, nan=1) <= alpha,
                                      ordered_by_steps(found, noise, alpha))  # fmt: skip


def test_blocks_do_not_change_adjusted_p_values():
    found, noise = made(3, P=20, draws=99)  # 380 hypotheses: two blocks
    j, k = np.nonzero(found.comparable)
    order = np.argsort(found.z[j, k])
    j, k = j[order], k[order]
    drawn = (noise[j] - noise[k]) * (1 / found.se[j, k]).astype(np.float32)[:, None]
    reached = np.maximum.accumulate(drawn) >= found.z[j, k].astype(np.float32)[:, None]
    p = (1 + reached.sum(axis=1)) / 100
    np.testing.assert_allclose(
        adjusted_by_steps(found, noise)[j, k], np.maximum.accumulate(p[::-1])[::-1]
    )


def test_holm_against_statsmodels():
    multipletests = pytest.importorskip("statsmodels.stats.multitest").multipletests
    found, _ = made(1)
    p = adjusted_by_holm(found)
    there = found.comparable
    known = multipletests(found.one_sided[there], method="holm")[1]
    np.testing.assert_allclose(p[there], known)
    assert np.isnan(np.diag(p)).all()


def test_deviate_has_the_p_value_of_the_paired_t_test():
    from scipy.stats import norm, ttest_rel

    rng = np.random.default_rng(5)
    x = rng.random((3, 12)) + np.array([[0.0], [0.1], [0.4]])
    units = Units.of(12)
    found = differences(x.mean(axis=1), units.covariance_of_means(x), units.degrees_of_freedom)
    for j, k in permutations(range(3), 2):
        known = ttest_rel(x[j], x[k], alternative="greater").pvalue
        assert norm.sf(found.z[j, k]) == pytest.approx(known, rel=1e-9)


def test_gaussian_draws_give_the_critical_values_of_resampled_questions():
    """The multiplier draws of the means against a literal bootstrap of the paired differences."""
    rng = np.random.default_rng(6)
    x = (rng.random((8, 400)) < rng.random(400)).astype(float)
    units = Units.of(400)
    C = units.covariance_of_means(x)
    found = differences(x.mean(axis=1), C, 10**6)
    literal = ((units.bootstrap_weights(4000, 1) @ x.T) / 400 - x.mean(axis=1)).T
    gaussian = multiplier_noise(C, rng.standard_normal((8, 4000)))

    def critical(noise):
        t = (noise[:, None] - noise[None]) / np.where(found.comparable, found.se, np.inf)[..., None]
        return critical_value(t.max(axis=(0, 1)), 0.05)

    assert critical(gaussian) == pytest.approx(critical(literal), abs=0.12)


def test_without_a_standard_error_nothing_is_ordered():
    x = np.array([[1.0, 1, 1, 1, 1, 1], [0, 0, 0, 0, 0, 0], [1, 0, 1, 0, 1, 1], [1, 0, 1, 0, 1, 1]])
    units = Units.of(6)
    found = differences(x.mean(axis=1), units.covariance_of_means(x), 5)
    assert not found.comparable[0, 1]  # always the same difference
    assert not found.comparable[2, 3]  # the same answers
    assert found.comparable[0, 2]
    noise = multiplier_noise(units.covariance_of_means(x), np.ones((4, 99)))
    sets = rank_sets(found, noise)
    assert not sets.above[0, 1]
    assert np.isnan(adjusted_by_steps(found, noise)[0, 1])
    assert np.isnan(adjusted_by_holm(found)[2, 3])


def test_one_cluster_orders_nothing():
    found = differences(np.array([0.9, 0.1]), np.full((2, 2), np.nan), 0)
    assert not found.comparable.any()
    sets = rank_sets(found, np.zeros((2, 99), np.float32))
    assert sets.low.tolist() == [1, 1]
    assert sets.high.tolist() == [2, 2]
    assert sets.possibly_best.all()
    assert sets.possibly_worst.all()


def test_too_few_draws_order_nothing():
    found, noise = made(0, scale=10.0)
    assert ordered_by_steps(found, noise).sum() == 10
    assert not ordered_by_steps(found, noise[:, :10]).any()


@given(st.integers(0, 1000), st.randoms(use_true_random=False))
@settings(max_examples=40, deadline=None)
def test_names_do_not_matter(seed, random):
    """With the draws permuted alike; the root of the covariance is the symmetric one."""
    P = 5
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(P, P)) * 0.01
    C, A = root @ root.T, 0.5 + 0.03 * rng.normal(size=P)
    normals = rng.standard_normal((P, 199))
    order = list(range(P))
    random.shuffle(order)
    one = rank_sets(differences(A, C, 99), multiplier_noise(C, normals))
    C2 = C[np.ix_(order, order)]
    two = rank_sets(differences(A[order], C2, 99), multiplier_noise(C2, normals[order]))
    np.testing.assert_array_equal(one.low[order], two.low)
    np.testing.assert_array_equal(one.all_high[order], two.all_high)
    np.testing.assert_array_equal(one.possibly_best[order], two.possibly_best)


@given(st.integers(0, 200))
@settings(max_examples=40, deadline=None)
def test_sets_hold_the_rank_of_the_estimate_and_marginal_ones_are_within_simultaneous(seed):
    found, noise = made(seed)
    sets = rank_sets(found, noise)
    rank = 1 + (found.estimate[:, None] < found.estimate).sum(axis=1)
    assert (sets.low <= rank).all()
    assert (rank <= sets.high).all()
    # one label's family is part of the whole one, so its critical values are never larger
    assert (sets.all_low <= sets.low).all()
    assert (sets.high <= sets.all_high).all()
    assert (sets.low[sets.possibly_best] == 1).all()
    assert (sets.high[sets.possibly_worst] == 5).all()
