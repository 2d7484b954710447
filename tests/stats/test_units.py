from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st

from nongrata.stats.units import Units


def random_units(seed, *, questions=40, clusters=12, strata=1):
    """Clusters of unequal size; every stratum has some of them."""
    rng = np.random.default_rng(seed)
    cluster = np.concatenate([np.arange(clusters), rng.integers(0, clusters, questions - clusters)])
    rng.shuffle(cluster)
    of_cluster = np.arange(clusters) % strata
    return Units.of(questions, cluster, of_cluster[cluster]), rng


def resampled_mean(units, x, rng):
    """One resample by hand: draw clusters within strata, weigh each stratum to its size."""
    total = 0.0
    for h in range(units.strata):
        own = np.flatnonzero(units.stratum == h)
        drawn = rng.choice(own, len(own))
        values = np.concatenate([x[units.cluster == g] for g in drawn])
        total += values.mean() * np.isin(units.cluster, own).sum()
    return total / len(x)


@pytest.mark.parametrize("seed", range(5))
def test_variance_is_that_of_least_squares_with_clustered_errors(seed):
    units, rng = random_units(seed)
    x = rng.normal(size=40) + rng.normal(size=12)[units.cluster]
    fit = sm.OLS(x, np.ones((40, 1))).fit(
        cov_type="cluster",
        cov_kwds={"groups": units.cluster, "use_correction": True, "df_correction": True},
    )
    # statsmodels: G / (G - 1) x (Q - 1) / (Q - k), k = 1
    assert units.variance_of_mean(x) == pytest.approx(fit.bse[0] ** 2, rel=1e-10)


def test_strata_add_up():
    units, rng = random_units(3, strata=3)
    assert units.strata == 3
    x = rng.normal(size=(2, 40)) + 5 * units.stratum[units.cluster]
    parts = np.zeros((2, 2))
    for h in range(3):
        where = np.flatnonzero(units.stratum[units.cluster] == h)
        parts += (len(where) / 40) ** 2 * units.on(where).covariance_of_means(x[:, where])
    assert np.allclose(units.covariance_of_means(x), parts, rtol=1e-12)
    assert np.allclose(units.variance_of_mean(x), np.diag(parts), rtol=1e-12)
    ignored = Units.of(40, units.cluster).variance_of_mean(x)
    assert (units.variance_of_mean(x) < ignored / 5).all()
    assert units.degrees_of_freedom == 12 - 3


def test_without_clusters_it_is_the_textbook_variance_and_the_jackknife_agrees():
    x = np.random.default_rng(0).normal(size=25)
    units = Units.of(25)
    assert units.singletons
    assert units.variance_of_mean(x) == pytest.approx(x.var(ddof=1) / 25)
    left_out = (x.sum() - x) / 24
    assert units.variance_of_mean(x) == pytest.approx(24 / 25 * ((left_out - x.mean()) ** 2).sum())
    assert units.design_effect(x) == pytest.approx(1.0)
    assert units.totals(x) is x


def test_jackknife_over_clusters_of_one_size():
    rng = np.random.default_rng(1)
    units = Units.of(30, np.repeat(np.arange(10), 3))
    x = rng.random(30)
    left_out = np.array([x[units.cluster != g].mean() for g in range(10)])
    expected = 9 / 10 * ((left_out - x.mean()) ** 2).sum()
    assert units.variance_of_mean(x) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("strata", [1, 2])
def test_weights_resample_whole_clusters_within_strata(strata):
    units, rng = random_units(5, strata=strata)
    x = rng.random(40) + units.stratum[units.cluster]
    weights = units.bootstrap_weights(6000, 1)
    assert weights.dtype == np.float32
    assert weights.shape == (6000, 12)
    for h in range(strata):
        own = units.stratum == h
        assert np.allclose(weights[:, own] @ units.sizes[own], units.sizes[own].sum(), rtol=1e-5)
    drawn = weights @ units.totals(x) / 40
    by_hand = np.array([resampled_mean(units, x, rng) for _ in range(6000)])
    assert drawn.mean() == pytest.approx(by_hand.mean(), abs=4 * by_hand.std() / 6000**0.5 * 1.5)
    assert drawn.std() == pytest.approx(by_hand.std(), rel=0.05)


def test_bootstrap_moments_of_single_questions_are_exact_ones():
    units = Units.of(30)
    x = np.random.default_rng(2).random(30)
    drawn = units.bootstrap_weights(20_000, 3) @ x / 30
    assert drawn.var() == pytest.approx(x.var() / 30, rel=0.04)
    assert drawn.mean() == pytest.approx(x.mean(), abs=4 * (x.var() / 30 / 20_000) ** 0.5)
    counts = units.bootstrap_weights(500, 3)
    assert (counts == np.round(counts)).all()
    assert (counts.sum(axis=1) == 30).all()


def test_weights_depend_on_the_seed_only():
    units, _ = random_units(0, strata=2)
    assert (units.bootstrap_weights(300, (1, 2)) == units.bootstrap_weights(300, (1, 2))).all()
    assert (units.bootstrap_weights(300, (1, 2)) != units.bootstrap_weights(300, (1, 3))).any()
    assert units.bootstrap_weights(0).shape == (0, 12)


@pytest.mark.parametrize("clusters", [12, 13])
def test_halves_are_disjoint_even_and_within_strata(clusters):
    units, _ = random_units(4, clusters=clusters, strata=2)
    halves = units.halves(4000, 0)
    for h in range(2):
        own = units.stratum == h
        first = halves[:, own].sum(axis=1)
        n = own.sum()
        assert set(first.tolist()) == ({n // 2} if n % 2 == 0 else {n // 2, n // 2 + 1})
    # every cluster is in the first half half of the time, and pairs are as apart as they can be
    assert np.abs(halves.mean(axis=0) - 0.5).max() < 5 * 0.5 / 4000**0.5


def test_design_effect_of_duplicates_is_nearly_their_number():
    rng = np.random.default_rng(0)
    x = np.repeat(rng.random(200), 3)
    units = Units.of(600, np.repeat(np.arange(200), 3))
    assert units.design_effect(x) == pytest.approx(3, rel=0.01)
    assert np.isnan(units.design_effect(np.ones(600)))


def test_what_cannot_be_estimated_is_nan():
    x = np.array([0.0, 1.0, 1.0])
    one = Units.of(3, np.zeros(3, int))
    assert np.isnan(one.variance_of_mean(x))
    assert np.isnan(one.covariance_of_means(x[None])).all()
    assert np.isnan(one.design_effect(x))
    assert len(Units.of(0)) == 0


def test_impossible_strata_are_ignored():
    across = Units.of(4, np.array([0, 0, 1, 2]), np.array([0, 1, 0, 1]))
    assert across.strata == 1
    lonely = Units.of(4, None, np.array([0, 0, 0, 1]))
    assert lonely.strata == 1


def test_some_questions_keep_their_clusters_and_strata():
    units, _ = random_units(7, strata=2)
    where = np.flatnonzero(units.cluster < 8)
    part = units.on(where)
    assert len(part) == 8
    same = units.cluster[where][:, None] == units.cluster[where]
    assert ((part.cluster[:, None] == part.cluster) == same).all()
    kept = units.stratum[units.cluster[where]]
    assert ((part.stratum[part.cluster][:, None] == part.stratum[part.cluster])
            == (kept[:, None] == kept)).all()  # fmt: skip
    mask = np.zeros(40, bool)
    mask[where] = True
    assert (units.on(mask).cluster == part.cluster).all()


@given(
    st.integers(0, 10**6),
    st.lists(st.integers(0, 5), min_size=3, max_size=20),
    st.permutations(range(6)),
)
def test_names_of_clusters_change_nothing(seed, codes, names):
    cluster = np.array(codes)
    x = np.random.default_rng(seed).random(len(codes))
    one, other = Units.of(len(codes), cluster), Units.of(len(codes), np.array(names)[cluster])
    assert (one.cluster == other.cluster).all()
    assert (one.bootstrap_weights(5, seed) == other.bootstrap_weights(5, seed)).all()
    assert np.array_equal(one.variance_of_mean(x), other.variance_of_mean(x), equal_nan=True)
    assert (one.totals(x) == np.bincount(one.cluster, x, len(one))).all() or np.allclose(
        one.totals(x), np.bincount(one.cluster, x, len(one)), rtol=1e-14
    )


@given(st.integers(0, 10**6), st.integers(1, 3), st.permutations(range(10)))
def test_order_and_doubled_questions_change_no_variance(seed, times, order):
    rng = np.random.default_rng(seed)
    cluster, x = rng.integers(0, 4, 10), rng.random(10)
    variance = Units.of(10, cluster).variance_of_mean(x)
    again = Units.of(10, cluster[list(order)]).variance_of_mean(x[list(order)])
    more = Units.of(10 * times, np.tile(cluster, times)).variance_of_mean(np.tile(x, times))
    assert np.allclose([again, more], variance, rtol=1e-10, atol=1e-15, equal_nan=True)


def test_booleans_are_counted_exactly():
    units, rng = random_units(1)
    x = rng.random((3, 2, 40)) < 0.5
    totals = units.totals(x)
    assert totals.dtype == np.int64
    for g in range(12):
        assert (totals[..., g] == x[..., units.cluster == g].sum(axis=-1)).all()
    assert units.totals(x.astype(np.float32)).dtype == np.float64
