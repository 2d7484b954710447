from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from designs import random_design
from nongrata.stats.ia import instability_of_accuracy
from nongrata.stats.sensitivity import sensitivity
from nongrata.stats.settings import all_together, one_factor_settings
from nongrata.stats.units import Units

LEVELS = np.array([[i, j] for i in range(2) for j in range(3)])
SCOPES = [all_together(6), one_factor_settings(LEVELS, 0), one_factor_settings(LEVELS, 1)]


def study(seed, questions=30, clusters=12, strata=2):
    rng = np.random.default_rng(seed)
    cluster = np.concatenate([np.arange(clusters), rng.integers(0, clusters, questions - clusters)])
    units = Units.of(questions, cluster, (np.arange(clusters) % strata)[cluster])
    ease = rng.random(questions) * 0.8 + rng.normal(0, 0.1, (6, 1))
    return rng.random((3, 6, questions)) < ease, units


def by_loops(x, units, scope):
    """Squared difference, IA, floor: pair by pair, with the variance of the paired difference."""
    each = []
    for group in scope:
        rows = []
        for persona in x.astype(float):
            for c, d in combinations(group, 2):
                apart = persona[c] - persona[d]
                D, variance = apart.mean(), units.variance_of_mean(apart)
                rows.append((D**2 - variance, abs(D), np.sqrt(2 / np.pi * variance)))
        each.append(np.mean(rows, axis=0))
    return np.mean(each, axis=0)


@pytest.mark.parametrize("seed", range(4))
def test_figures_are_those_of_pairs_one_by_one(seed):
    x, units = study(seed)
    found = sensitivity(x, None, units, SCOPES)
    for s, scope in enumerate(SCOPES):
        squared, ia, floor = by_loops(x, units, scope)
        assert found.mean_squared.value[s] == pytest.approx(squared, rel=1e-9, abs=1e-12)
        assert found.ia.value[s] == pytest.approx(ia, rel=1e-12)
        assert found.floor[s] == pytest.approx(floor, rel=1e-12)
        assert 100 * found.ia.value[s] == pytest.approx(
            instability_of_accuracy(x, None, scope).figure.value
        )


def test_influences_are_derivatives_in_the_weights_of_clusters():
    x, units = study(1, strata=1)
    found = sensitivity(x, None, units, SCOPES)
    totals, sizes = units.totals(x).astype(float), units.sizes

    def plain(weights):  # the mean of D^2, and IA, at other weights of the clusters
        a = (totals * weights).sum(axis=2) / (sizes * weights).sum()
        out = []
        for scope in SCOPES:
            pairs = [[(c, d) for c, d in combinations(g, 2)] for g in scope]
            D = [np.array([a[:, c] - a[:, d] for c, d in p]) for p in pairs]
            out.append(
                (np.mean([(d**2).mean() for d in D]), np.mean([np.abs(d).mean() for d in D]))
            )
        return np.array(out)

    G = len(units)
    scale = (G / (G - 1)) ** 0.5
    for g in range(G):
        step = np.zeros(G)
        step[g] = 1e-6
        slope = (plain(1 + step) - plain(1 - step)) / 2e-6
        assert np.allclose(found.mean_squared.influence[:, g], scale * slope[:, 0], atol=1e-8)
        assert np.allclose(found.ia.influence[:, g], scale * slope[:, 1], atol=1e-8)


def test_squared_difference_is_unbiased_where_the_plain_one_is_not():
    rng = np.random.default_rng(0)
    true = np.array([0.5, 0.55, 0.6])
    noise_free, plain = [], []
    for _ in range(1500):
        theta = true[:, None] + rng.uniform(-0.2, 0.2, 20)
        x = rng.random((1, 3, 40)) < np.repeat(theta, 2, axis=1)
        units = Units.of(40, np.repeat(np.arange(20), 2))
        found = sensitivity(x, None, units, [all_together(3)])
        noise_free.append(found.mean_squared.value[0])
        a = x.mean(axis=2)[0]
        plain.append(np.mean([(a[c] - a[d]) ** 2 for c, d in combinations(range(3), 2)]))
    truth = np.mean([(true[c] - true[d]) ** 2 for c, d in combinations(range(3), 2)])
    assert np.mean(noise_free) == pytest.approx(truth, abs=4 * np.std(noise_free) / 1500**0.5)
    assert np.mean(plain) > 2 * truth


def test_ia_at_equal_size_is_that_of_subsamples():
    rng = np.random.default_rng(3)
    x = rng.random((2, 4, 120)) < np.linspace(0.4, 0.6, 4)[:, None]
    units = Units.of(120)
    found = sensitivity(x, None, units, [all_together(4)], clusters=30)
    drawn = [
        instability_of_accuracy(x[:, :, rng.permutation(120)[:30]]).figure.value
        for _ in range(3000)
    ]
    assert 100 * found.ia_at_size.value[0] == pytest.approx(np.mean(drawn), rel=0.01)
    assert found.ia_at_size.value[0] > 1.2 * found.ia.value[0]
    whole = sensitivity(x, None, units, [all_together(4)], clusters=120)
    assert whole.ia_at_size.value[0] == whole.ia.value[0]


def null_variances(sharp):
    rng = np.random.default_rng(1)
    values, variances = [], []
    for _ in range(400):
        x = rng.random((2, 6, 30)) < 0.5
        found = sensitivity(x, None, Units.of(30), [all_together(6)], sharp=sharp).mean_squared
        values.append(found.value[0])
        variances.append(found.se[0] ** 2)
    return np.mean(variances) / np.var(values)


def test_standard_error_without_effect_is_right_only_if_sharp():
    assert null_variances(False) == pytest.approx(2.0, rel=0.25)
    assert null_variances(True) == pytest.approx(1.1, rel=0.25)


def test_sharp_far_from_zero_changes_little_and_rows_of_the_gram_may_be_sampled(monkeypatch):
    rng = np.random.default_rng(2)
    x = rng.random((2, 3, 400)) < np.array([0.3, 0.5, 0.7])[:, None]
    one, two = (
        sensitivity(x, None, Units.of(400), [all_together(3)], sharp=s).mean_squared.se[0]
        for s in (False, True)
    )
    assert 0.97 * one < two < one
    monkeypatch.setattr("nongrata.stats.sensitivity._ROWS", 1000)
    exact = sensitivity(x, None, Units.of(400), [all_together(3)], sharp=True).mean_squared.se[0]
    assert two == pytest.approx(exact, rel=1e-3)


@pytest.mark.parametrize("seed", range(30))
def test_missing_answers_give_ratios_and_no_warning(seed):
    design = random_design(seed)
    units = Units.of(design.correct.shape[2])
    levels = np.array(design.levels)
    K = len(levels)
    scopes = [all_together(K), one_factor_settings(levels, 0)]
    found = sensitivity(design.correct & design.present, design.present, units, scopes)
    n = design.present.sum(axis=2)
    a = np.where(n > 0, (design.correct & design.present).sum(axis=2) / np.maximum(n, 1), np.nan)
    apart = [abs(row[c] - row[d]) for row in a for c, d in combinations(range(K), 2)]
    known = [value for value in apart if not np.isnan(value)]
    if known:
        assert found.ia.value[0] == pytest.approx(np.mean(known))
    else:
        assert np.isnan(found.ia.value[0])


def test_variance_with_missing_answers_is_that_of_a_ratio():
    rng = np.random.default_rng(0)
    x, there = rng.random((1, 2, 60)) < 0.5, rng.random((1, 2, 60)) < 0.7
    found = sensitivity(x & there, there, Units.of(60), [all_together(2)])
    n = there.sum(axis=2)[0]
    a = (x & there).sum(axis=2)[0] / n
    z = ((x[0] - a[:, None]) * there[0] / n[:, None]) * [[1], [-1]]
    variance = 60 / 59 * ((z.sum(axis=0)) ** 2).sum()
    assert found.mean_squared.value[0] == pytest.approx((a[0] - a[1]) ** 2 - variance)
    assert found.ia.se[0] ** 2 == pytest.approx(variance)


@given(st.integers(0, 10**6), st.permutations(range(6)), st.permutations(range(3)))
def test_order_of_configurations_personas_and_questions_changes_nothing(seed, columns, rows):
    x, units = study(seed % 1000)
    order = np.random.default_rng(seed).permutation(30)
    other = x[list(rows)][:, list(columns)][:, :, order]
    one = sensitivity(x, None, units, [all_together(6)], 5, sharp=True)
    two = sensitivity(other, None, units.on(order), [all_together(6)], 5, sharp=True)
    for name in ("mean_squared", "ia", "ia_at_size"):
        a, b = getattr(one, name), getattr(two, name)
        assert np.allclose(a.value, b.value, rtol=1e-9, atol=1e-14)
        assert np.allclose(a.se, b.se, rtol=1e-6, atol=1e-12)


def test_every_question_twice_in_its_cluster_changes_nothing():
    x, units = study(0)
    twice = Units.of(60, np.tile(units.cluster, 2), np.tile(units.stratum[units.cluster], 2))
    one = sensitivity(x, None, units, SCOPES, 6, sharp=True)
    two = sensitivity(np.tile(x, 2), None, twice, SCOPES, 6, sharp=True)
    for name in ("mean_squared", "ia", "ia_at_size"):
        a, b = getattr(one, name), getattr(two, name)
        assert np.allclose(a.value, b.value, rtol=1e-9)
        assert np.allclose(a.se, b.se, rtol=1e-9)


def test_nothing_to_compare_is_undefined():
    x = np.ones((1, 1, 4), bool)
    found = sensitivity(x, None, Units.of(4), [all_together(1), []])
    assert np.isnan(found.mean_squared.value).all()
    assert np.isnan(found.ia.value).all()
    assert np.isnan(found.floor).all()
    same = sensitivity(np.ones((1, 2, 4), bool), None, Units.of(4), [all_together(2)], sharp=True)
    assert same.mean_squared.value.tolist() == [0.0]
    assert same.mean_squared.se.tolist() == [0.0]
