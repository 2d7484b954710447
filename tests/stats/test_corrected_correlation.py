from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nongrata.stats.corrected_correlation import corrected_correlation, noise_free_covariances
from nongrata.stats.units import Units


def over_all_splits(totals, size):
    """cov_p(A1_c, A2_c') averaged over every split into equal halves."""
    G = totals.shape[2]
    found = []
    for half in combinations(range(G), G // 2):
        other = [g for g in range(G) if g not in half]
        one = totals[:, :, list(half)].mean(axis=2) / size
        two = totals[:, :, other].mean(axis=2) / size
        one, two = one - one.mean(axis=0), two - two.mean(axis=0)
        found.append(one.T @ two / len(totals))
    return np.mean(found, axis=0)


@pytest.mark.parametrize("cluster_size", [1, 3])
def test_closed_form_is_the_mean_over_all_splits(cluster_size):
    rng = np.random.default_rng(cluster_size)
    G = 6
    x = (rng.random((4, 3, G * cluster_size)) < 0.6).astype(float)
    units = Units.of(G * cluster_size, np.repeat(np.arange(G), cluster_size))
    totals = units.totals(x)
    found = noise_free_covariances(x.mean(axis=2), totals, units)
    np.testing.assert_allclose(found, over_all_splits(totals, cluster_size), atol=1e-14)


def study(seed, label_sd, cell_sd, questions=400, P=8, K=5, drawn=True):
    """True accuracies fixed, questions and answers drawn; labels share luck with a question."""
    fixed = np.random.default_rng(7)
    label, cell = fixed.normal(size=(P, 1)), fixed.normal(size=(P, K))
    cell -= cell.mean(axis=0)
    label -= label.mean()
    true = 0.5 + label_sd * label / max(label.std(), 1e-9) + cell_sd * cell / cell.std()
    rng = np.random.default_rng(seed)
    luck = rng.uniform(-0.25, 0.25, (P, 1, questions))
    x = (true[:, :, None] + luck).astype(np.float32)
    if drawn:
        x = (rng.random(x.shape) < x).astype(np.float32)
    centred = true - true.mean(axis=0)
    C = centred.T @ centred / P
    D = np.trace(C) / K
    N = (C.sum() - np.trace(C)) / (K * (K - 1))
    return x, N / D if D else np.nan


def estimate(x, seed=0, draws=300):
    units = Units.of(x.shape[2])
    A = x.mean(axis=2, dtype=float)
    weights = units.bootstrap_weights(draws, seed)
    e = np.einsum("bq,pcq->bpc", weights, x) / x.shape[2] - A
    C = noise_free_covariances(A, x, units)
    return corrected_correlation(C, A, e, [np.arange(x.shape[1])], units.degrees_of_freedom)


def same_questions(x):
    """The same ratio without anything taken out."""
    A = x.mean(axis=2, dtype=float)
    A = A - A.mean(axis=0)
    C = A.T @ A
    return (C.sum() - np.trace(C)) / (len(C) - 1) / np.trace(C)


def test_true_correlation_is_found():
    found, held = [], []
    for seed in range(60):
        x, true = study(seed, 0.05, 0.041)
        result = estimate(x, seed)
        found.append(result.rho.value)
        held.append(result.low <= true <= result.high)
    assert true == pytest.approx(0.69, abs=0.01)
    assert np.mean(found) == pytest.approx(true, abs=0.03)
    assert np.mean(held) >= 0.88


def test_the_same_questions_see_agreement_where_there_is_little_or_none():
    some = [study(seed, 0.010, 0.0082, 60, drawn=False)[0] for seed in range(100)]
    assert np.mean([same_questions(x) for x in some]) > 0.8  # true: .69
    results = [estimate(x, draws=50) for x in some]
    pooled = np.mean([r.between for r in results]) / np.mean([r.within for r in results])
    assert pooled == pytest.approx(0.69, abs=0.1)
    none = [study(seed, 0.0, 0.0, 60, drawn=False)[0] for seed in range(5)]
    assert np.mean([same_questions(x) for x in none]) > 0.999


def test_labels_that_do_not_differ_give_no_ratio():
    undefined = [not estimate(study(seed, 0.0, 0.0)[0], seed).rho.defined for seed in range(40)]
    assert np.mean(undefined) >= 0.9
    one = estimate(study(1, 0.0, 0.0)[0])
    assert "not shown to differ" in one.rho.reason
    assert np.isnan(one.low)
    assert one.within_se > 0


def test_standard_errors_are_the_spread_over_studies():
    """At the null and away from it; plain resampling would be 1.7 times too large at the null."""
    for sizes in ((0.0, 0.0), (0.06, 0.03)):
        results = [estimate(study(seed, *sizes)[0], seed) for seed in range(120)]
        for name in ("within", "between"):
            spread = np.std([getattr(r, name) for r in results])
            claimed = np.mean([getattr(r, f"{name}_se") for r in results])
            assert claimed / spread == pytest.approx(1, abs=0.25)


def test_fieller_interval_solves_its_equation():
    x, _ = study(3, 0.05, 0.03)
    from scipy.stats import t

    from nongrata.stats.corrected_correlation import _covariance_of_parts

    units = Units.of(400)
    A = x.mean(axis=2, dtype=float)
    e = np.einsum("bq,pcq->bpc", units.bootstrap_weights(300), x) / 400 - A
    groups = [np.arange(5)]
    found = corrected_correlation(noise_free_covariances(A, x, units), A, e, groups, 399)
    V = _covariance_of_parts(A, e, groups)
    for r in (found.low, found.high):
        z = (found.between - r * found.within) / np.sqrt(V[0, 0] - 2 * r * V[0, 1] + r**2 * V[1, 1])
        assert abs(z) == pytest.approx(t.ppf(0.975, 399))


@given(st.integers(0, 100), st.randoms(use_true_random=False))
@settings(max_examples=20, deadline=None)
def test_names_do_not_matter(seed, random):
    rng = np.random.default_rng(seed)
    x = (rng.random((4, 3, 30)) < rng.uniform(0.2, 0.8, (4, 1, 1))).astype(np.float32)
    rows, columns = list(range(4)), list(range(3))
    random.shuffle(rows)
    random.shuffle(columns)
    one, two = estimate(x), estimate(x[rows][:, columns])
    assert one.within == pytest.approx(two.within, abs=1e-12)
    assert one.between == pytest.approx(two.between, abs=1e-12)
    assert one.rho.defined == two.rho.defined
    if one.rho.defined:
        assert one.high == pytest.approx(two.high, rel=1e-3)


def test_what_is_undefined_says_why():
    x, _ = study(0, 0.05, 0.03)
    assert "one label" in estimate(x[:1]).rho.reason
    assert "one configuration" in estimate(x[:, :1]).rho.reason
    C = np.full((2, 2), np.nan)
    found = corrected_correlation(C, np.zeros((2, 2)), np.zeros((9, 2, 2)), [np.arange(2)], 0)
    assert "one cluster" in found.rho.reason
    same = estimate(np.ones((3, 2, 20), np.float32))
    assert not same.rho.defined
