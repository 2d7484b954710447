from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import kendalltau

from nongrata.stats.rank_agreement import concordance
from nongrata.stats.ranks import average_ranks
from nongrata.stats.split_agreement import agreement_of_halves, same_and_different
from nongrata.stats.units import Units


def halves_by_loops(totals, counts, halves):
    """Every measure by the definitions, one pair of rankings at a time."""
    K = totals.shape[1]
    out = {name: np.full((K, K), np.nan) for name in ("tau_b", "w", "shift", "best", "worst")}
    for a in range(K):
        for b in range(K):
            found = {name: [] for name in out}
            for half in halves:
                for one, two in ((half, ~half), (~half, half)):
                    x = totals[:, a][:, one].sum(axis=1) / counts[one].sum()
                    y = totals[:, b][:, two].sum(axis=1) / counts[two].sum()
                    ranks = average_ranks(np.stack([x, y], axis=1))
                    if len(set(x)) > 1 and len(set(y)) > 1:
                        found["tau_b"].append(kendalltau(x, y).statistic)
                    w = concordance(ranks).w
                    if w.defined:
                        found["w"].append(w.value)
                    found["shift"].append(np.abs(ranks[:, 0] - ranks[:, 1]).mean())
                    best = set(np.flatnonzero(x == x.max())) & set(np.flatnonzero(y == y.max()))
                    worst = set(np.flatnonzero(x == x.min())) & set(np.flatnonzero(y == y.min()))
                    found["best"].append(not best)
                    found["worst"].append(not worst)
            for name, values in found.items():
                out[name][a, b] = np.mean(values) if values else np.nan
    return out


@pytest.mark.parametrize("seed", range(4))
def test_against_plain_loops(seed):
    rng = np.random.default_rng(seed)
    totals = (rng.random((4, 3, 14)) < 0.6).astype(float)
    halves = Units.of(14).halves(6, seed)
    found = agreement_of_halves(totals, np.ones((1, 14)), halves)
    known = halves_by_loops(totals, np.ones(14), halves)
    np.testing.assert_allclose(found.tau_b, known["tau_b"], atol=1e-12)
    np.testing.assert_allclose(found.w, known["w"], atol=1e-12)
    np.testing.assert_allclose(found.shift, known["shift"], atol=1e-12)
    np.testing.assert_allclose(found.other_best, known["best"], atol=1e-12)
    np.testing.assert_allclose(found.other_worst, known["worst"], atol=1e-12)


def test_means_of_thirds_that_are_equal_are_ties():
    third = np.float32(1) / np.float32(3)
    a, b = np.full(30, third, np.float32), np.zeros(30, np.float32)
    b[:10] = 1  # the first ten of each half are right
    totals = np.stack([np.concatenate([a, a]), np.concatenate([b, b])])[:, None]
    halves = np.arange(60)[None] < 30
    assert agreement_of_halves(totals, np.ones((1, 60)), halves).shift[0, 0] == 0


def test_configurations_with_too_few_questions_are_left_out():
    totals = np.ones((2, 2, 4))
    totals[1] = 0
    counts = np.array([[1.0, 1, 1, 1], [1, 0, 0, 0]])
    totals *= counts
    found = agreement_of_halves(totals, counts, np.array([[True, True, False, False]]))
    assert found.tau_b[0, 0] == 1
    assert np.isnan(found.tau_b[1, 1])  # never on both halves
    assert found.tau_b[0, 1] == 1


def test_same_and_different_average_over_settings():
    matrix = np.arange(16.0).reshape(4, 4)
    found = same_and_different(matrix, [np.array([0, 1]), np.array([2, 3])], "")
    assert found.same.value == np.mean(np.diag(matrix))
    assert found.different.value == np.mean(
        [matrix[0, 1], matrix[1, 0], matrix[2, 3], matrix[3, 2]]
    )
    alone = same_and_different(matrix[:1, :1], [np.array([0])], "")
    assert alone.same.value == 0
    assert "one configuration" in alone.different.reason


def test_noise_alone_gives_same_as_different():
    """Labels that truly differ, configurations that change nothing: both are the same number."""
    rng = np.random.default_rng(0)
    same, different = [], []
    for seed in range(60):
        theta = np.linspace(0.4, 0.6, 6)[:, None] + rng.uniform(-0.2, 0.2, (6, 200))
        x = (rng.random((6, 4, 200)) < theta[:, None]).astype(float)
        found = agreement_of_halves(x, np.ones((1, 200)), Units.of(200).halves(5, seed))
        both = same_and_different(found.tau_b, [np.arange(4)], "")
        same.append(both.same.value)
        different.append(both.different.value)
    gap = np.subtract(same, different)
    assert abs(gap.mean()) < 3 * gap.std() / 60**0.5
    # on the same questions they agree far better than on disjoint ones: the trap
    tau = [
        kendalltau(x[:, a].mean(1), x[:, b].mean(1)).statistic for a, b in combinations(range(4), 2)
    ]
    assert np.mean(tau) > np.mean(different) + 0.1
