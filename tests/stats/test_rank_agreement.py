from __future__ import annotations

import csv
import json
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nongrata.stats.io import instability_of_outcome
from nongrata.stats.rank_agreement import (
    agreement,
    between,
    concordance,
    ordering,
    rank_agreement,
    within,
)
from nongrata.stats.ranks import average_ranks
from nongrata.stats.settings import one_factor_settings


def table(shared, name):
    with (shared / "data" / "reference" / f"{name}.csv").open(newline="") as file:
        rows = list(csv.reader(file))[1:]
    return np.array([[float(v) for v in row[1:]] for row in rows])


@pytest.mark.parametrize("name", ["irr_anxiety", "irr_video"])
def test_kendall_w_against_irr(shared, name):
    known = json.loads((shared / "data" / "reference" / "expected.json").read_text())[name]
    known = known["recomputed"]
    scores = table(shared, name)
    found = concordance(average_ranks(scores))
    assert found.w.value == pytest.approx(known["kendall_Wt"], abs=5e-10)
    assert found.chi2 == pytest.approx(known["chisq"], abs=5e-7)
    assert found.p == pytest.approx(known["p"], abs=5e-9)
    assert found.df == 19
    assert found.uncorrected.value == pytest.approx(known["kendall_W_uncorrected"], abs=5e-10)
    if "mean_spearman_rho" in known:  # there a mean of Fisher's z; ours is the plain mean, .31
        order = ordering(scores)
        rho = agreement(order, order).rho[np.triu_indices(scores.shape[1], 1)]
        assert np.tanh(np.arctanh(rho).mean()) == pytest.approx(
            known["mean_spearman_rho"], abs=5e-13
        )
        assert rank_agreement(scores).rho.value == pytest.approx(0.31, abs=5e-7)


@pytest.mark.parametrize("seed", range(6))
def test_coefficients_against_scipy(seed):
    from scipy.stats import friedmanchisquare, kendalltau, spearmanr

    rng = np.random.default_rng(seed)
    P, K = int(rng.integers(3, 9)), int(rng.integers(3, 6))
    A = rng.integers(0, 5, (P, K)) / 10
    A[0], A[1] = 0.9, 0.8  # no configuration is all ties
    found = rank_agreement(A)
    pairs = list(combinations(range(K), 2))
    tau = np.mean([kendalltau(A[:, a], A[:, b]).statistic for a, b in pairs])
    rho = np.mean([spearmanr(A[:, a], A[:, b]).statistic for a, b in pairs])
    assert found.tau_b.value == pytest.approx(tau, abs=1e-12)
    assert found.rho.value == pytest.approx(rho, abs=1e-12)
    known = friedmanchisquare(*A)
    assert found.chi2 == pytest.approx(known.statistic, abs=1e-9)
    assert found.p == pytest.approx(known.pvalue, abs=1e-12)


def shift_by_loops(A):
    ranks = average_ranks(A)
    P, K = A.shape
    total = sum(
        abs(ranks[p, a] - ranks[p, b]) for p in range(P) for a, b in combinations(range(K), 2)
    )
    return total / (P * K * (K - 1) / 2)


scores = st.integers(2, 5).flatmap(
    lambda P: st.integers(2, 4).flatmap(
        lambda K: st.lists(st.integers(0, 4), min_size=P * K, max_size=P * K).map(
            lambda v: np.array(v).reshape(P, K) / 4
        )
    )
)


@given(scores)
@settings(max_examples=100, deadline=None)
def test_shift_is_the_rank_part_of_io_and_ranks_are_average_ranks(A):
    assert ordering(A).ranks == pytest.approx(average_ranks(A))
    found = rank_agreement(A)
    assert found.shift.value == pytest.approx(shift_by_loops(A))
    assert found.shift.value == pytest.approx(instability_of_outcome(A).rank_shift.value)


@given(scores, st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_names_do_not_matter(A, random):
    rows, columns = list(range(len(A))), list(range(len(A.T)))
    random.shuffle(rows)
    random.shuffle(columns)
    a, b = rank_agreement(A), rank_agreement(A[rows][:, columns])
    for name in ("w", "uncorrected", "tau_b", "rho", "shift"):
        x, y = getattr(a, name), getattr(b, name)
        assert (x.value == pytest.approx(y.value, abs=1e-12)) or (not x.defined and not y.defined)


@given(scores)
@settings(max_examples=60, deadline=None)
def test_w_of_two_is_kendalls_w_and_follows_from_rho_without_ties(A):
    two = A[:, :2]
    found = agreement(ordering(two[:, :1]), ordering(two[:, 1:]))
    alone = concordance(average_ranks(two))
    if alone.w.defined:
        assert found.w[0, 0] == pytest.approx(alone.w.value, abs=1e-12)
    else:
        assert np.isnan(found.w[0, 0])
    if len(set(two[:, 0])) == len(set(two[:, 1])) == len(two):
        assert found.w[0, 0] == pytest.approx((1 + found.rho[0, 0]) / 2, abs=1e-12)


def test_best_and_worst_are_shared_by_ties():
    A = np.array([[0.9, 0.9, 0.1], [0.9, 0.2, 0.5], [0.1, 0.1, 0.9]])
    order = ordering(A)
    found = agreement(order, order)
    assert found.other_best.tolist() == [[0, 0, 1], [0, 0, 1], [1, 1, 0]]
    assert found.other_worst.tolist() == [[0, 0, 1], [0, 0, 1], [1, 1, 0]]


def test_per_factor_is_the_mean_over_settings():
    rng = np.random.default_rng(1)
    levels = np.array([[i, j] for i in range(2) for j in range(3)])
    A = rng.random((5, 6))
    groups = one_factor_settings(levels, 1)
    found = rank_agreement(A, groups)
    each = [rank_agreement(A[:, g]) for g in groups]
    for name in ("w", "tau_b", "rho", "shift"):
        mean = np.mean([getattr(e, name).value for e in each])
        assert getattr(found, name).value == pytest.approx(mean)
    assert np.isnan(found.chi2)
    assert np.isnan(found.p)


def test_what_is_undefined_says_why():
    assert "one label" in rank_agreement(np.array([[0.1, 0.2]])).w.reason
    assert "one configuration" in rank_agreement(np.array([[0.1], [0.2]])).tau_b.reason
    tied = rank_agreement(np.full((3, 4), 0.5))
    assert "tied" in tied.w.reason
    assert "tied" in tied.tau_b.reason
    assert tied.shift.value == 0
    gone = rank_agreement(np.array([[0.1, np.nan], [0.2, np.nan]]))
    assert not gone.w.defined
    assert not gone.shift.defined
    assert between(np.eye(3), [], "nothing").reason == "nothing"
    assert within(np.full((2, 2), np.nan), [np.arange(2)], "nothing").reason == "nothing"


def test_columns_without_ranks_are_left_out():
    rng = np.random.default_rng(2)
    A = rng.random((4, 4))
    A[:, 2] = np.nan
    with_gap, without = rank_agreement(A), rank_agreement(A[:, [0, 1, 3]])
    assert with_gap == without
