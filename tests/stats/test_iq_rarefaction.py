"""IQ(m) with its uncertainty, its floor and its test, against enumeration and other code."""

from __future__ import annotations

import csv
from itertools import combinations, permutations, product

import numpy as np
import pytest

from nongrata.stats.iq import instability_of_questions
from nongrata.stats.iq_rarefaction import (
    bootstrap_curve,
    instability,
    interval,
    iq_curve,
    size_sds,
    sizes_at,
)
from nongrata.stats.iq_same_configuration import (
    same_configuration_curve,
    same_configuration_sizes,
)
from nongrata.stats.iq_tests import factor_contrasts
from nongrata.stats.units import Units


@pytest.mark.parametrize("name", ["dune", "bci"])
def test_sds_of_union_and_intersection_against_reference(shared, name):
    folder = shared / "data" / "reference"
    table = {"dune": "vegan_dune_cover.csv", "bci": "vegan_bci_counts.csv"}[name]
    with (folder / table).open(newline="") as file:
        rows = list(csv.reader(file))[1:]
    present = np.array([[float(v) > 0 for v in row[1:]] for row in rows])
    with (folder / f"vegan_{name}_union_intersection.csv").open(newline="") as file:
        known = list(csv.DictReader(file))
    both, either = size_sds(present)
    # the last digits of a difference of large squares are lost
    for m, row in enumerate(known):
        assert both[m] == pytest.approx(float(row["sd_intersection"]), abs=1e-5)
        assert either[m] == pytest.approx(float(row["sd_union"]), abs=1e-5)
    sizes = sizes_at(present[None], None, Units.of(present.shape[1]), [np.arange(len(rows))], [2])
    assert sizes.both.sum() == pytest.approx(float(known[1]["expected_intersection"]))
    assert sizes.either.sum() == pytest.approx(float(known[1]["expected_union"]))


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("lost", [0.0, 0.1])
def test_curve_is_that_of_iq(exact, lost):
    rng = np.random.default_rng(0)
    x = rng.random((3, 4, 30))
    x = x if exact else x < 0.6
    there = rng.random(x.shape) >= lost
    units = Units.of(30, np.arange(30) // 2)
    plain = instability_of_questions(x, there)
    curve = iq_curve(x, there, units)
    assert 100 * curve.value == pytest.approx(plain.curve, abs=1e-4)
    weights = units.bootstrap_weights(3)
    assert 100 * bootstrap_curve(x, there, units, weights)[0] == pytest.approx(
        plain.curve, abs=1e-4
    )


def test_influence_is_the_derivative():
    """Giving a cluster a little more weight moves IQ as the linearisation says."""
    rng = np.random.default_rng(1)
    x = rng.random((2, 3, 12)) < 0.6
    units = Units.of(12, np.arange(12) // 3)
    at = instability(sizes_at(x, None, units, [np.arange(3)], [2, 3]), 12)
    more = np.ones((1, 4), dtype=np.float32)
    more[0, 2] += 1e-2
    _, moved = bootstrap_curve(x, None, units, more)
    change = (moved[0, 1:].astype(float) - at.value) / 1e-2
    assert change == pytest.approx(at.influence[:, 2] / 12, abs=2e-3)
    assert at.influence.sum(axis=1) == pytest.approx(0, abs=1e-9)


def test_questions_twice_in_one_cluster_change_nothing():
    rng = np.random.default_rng(2)
    x = rng.random((2, 3, 20)) < 0.6
    once = iq_curve(x, None, Units.of(20))
    units = Units.of(40, np.tile(np.arange(20), 2))
    twice = iq_curve(np.tile(x, 2), None, units)
    assert twice.value == pytest.approx(once.value)
    first = Units.of(20).variance_of_total_mean(once.influence)
    assert units.variance_of_total_mean(twice.influence) == pytest.approx(first)


def test_same_configuration_by_enumeration():
    """From replicates: every way to take m of the R answers."""
    rng = np.random.default_rng(3)
    draws = rng.random((4, 2, 6)) < 0.6  # replicate, configuration, question
    right = draws.sum(axis=0)[None]
    n = np.full(right.shape, 4)
    s = same_configuration_sizes(None, right, n, Units.of(6), [np.arange(2)], [2, 3])
    for i, m in enumerate((2, 3)):
        subsets = [draws[list(c)] for c in combinations(range(4), m)]
        both = np.mean([part.all(axis=0).sum() for part in subsets])
        either = np.mean([part.any(axis=0).sum() for part in subsets])
        assert s.both[i].sum() == pytest.approx(both)
        assert s.either[i].sum() == pytest.approx(either)


def test_replicates_estimate_what_probabilities_give():
    rng = np.random.default_rng(4)
    theta = rng.random((1, 1, 20_000))
    draws = rng.random((3, *theta.shape)) < theta
    units, every = Units.of(20_000), [np.arange(1)]
    exact = same_configuration_sizes(theta, None, None, units, every, [2])
    drawn = same_configuration_sizes(
        None, draws.sum(axis=0), np.full(theta.shape, 3), units, every, [2]
    )
    assert drawn.both.sum() == pytest.approx(exact.both.sum(), rel=0.03)
    assert drawn.either.sum() == pytest.approx(exact.either.sum(), rel=0.03)


def test_the_curve_of_one_configuration_is_its_floor_at_every_m():
    rng = np.random.default_rng(5)
    theta = rng.choice([0.0, 1.0, 0.2, 0.7, np.nan], (3, 4, 9))
    theta[0] = 0.0  # a persona that has nothing right is left out
    replicates = np.where(np.isnan(theta), rng.integers(3, 6, theta.shape), 0)
    right = rng.binomial(replicates, 0.5)
    curve = same_configuration_curve(theta, right, replicates, 3)
    units, every = Units.of(9), [np.arange(4)]
    for m in (1, 2, 3):
        sizes = same_configuration_sizes(theta, right, replicates, units, every, [m])
        assert curve[m - 1] == pytest.approx(instability(sizes, 9).value[0])
    assert curve[0] == pytest.approx(0)
    none = np.zeros((2, 3, 4))
    assert np.isnan(same_configuration_curve(none, none, none, 2)).all()


def test_interval_has_no_end_where_nothing_was_seen():
    assert np.isnan(interval(0.0, 0.0, 2.0)).all()
    assert np.isnan(interval(1.0, 0.0, 2.0)).all()
    low, high = interval(0.5, 100.0, 2.0)
    assert 0 <= low < 0.5 < high <= 1


def test_exchanging_levels_of_a_factor_leaves_its_iq():
    """Why S3's test cannot exchange the factor's levels: counts within a setting stay."""
    rng = np.random.default_rng(5)
    x = rng.random((1, 4, 30)) < 0.5
    settings = [np.array([0, 1]), np.array([2, 3])]
    swap = rng.random(30) < 0.5
    moved = np.where(swap, x[:, [1, 0, 3, 2]], x)
    units = Units.of(30)
    before, after = (instability(sizes_at(y, None, units, settings, [2]), 30) for y in (x, moved))
    assert after.value == pytest.approx(before.value)


def test_contrast_of_a_factor_by_full_enumeration():
    """Mean 0 and the sd under all exchanges of four configurations of each of two questions."""
    x = np.zeros((1, 4, 3), dtype=bool)
    x[0, :2, 0] = x[0, 1:, 1] = x[0, :, 2] = True
    settings = np.array([[0, 1], [2, 3]])
    units = Units.of(3)

    def contrast(y):
        parts = [y[0, s] for s in settings]
        own = np.mean([1 - p.all(axis=0).sum() / p.any(axis=0).sum() for p in parts])
        return own - instability(sizes_at(y, None, units, [np.arange(4)], [2]), 3).value[0]

    null = []
    for a, b in product(permutations(range(4)), repeat=2):
        moved = x.copy()
        moved[0, :, 0], moved[0, :, 1] = x[0, list(a), 0], x[0, list(b), 1]
        null.append(contrast(moved))
    (found,) = factor_contrasts(x, None, units, [settings], 4000, 0)
    assert found.value == pytest.approx(contrast(x))
    assert found.sd == pytest.approx(np.std(null), rel=0.05)
    null = np.array(null)
    two_sided = 2 * min((null >= found.value - 1e-9).mean(), (null <= found.value + 1e-9).mean())
    assert found.p == pytest.approx(min(1.0, two_sided), abs=0.03)


@pytest.mark.parametrize("exact", [False, True])
def test_contrast_finds_the_factor_that_matters(exact):
    """Many questions, 70 configurations (two words of bits): normal and literal agree in sign."""
    rng = np.random.default_rng(6)
    lean = rng.choice([-0.3, 0.3], (1, 1, 300)) * np.repeat([1, -1], 35)[:, None]
    x = np.broadcast_to(0.5 + lean, (1, 70, 300))
    x = x.astype(np.float32) if exact else rng.random(x.shape) < x
    across, within = np.arange(70).reshape(2, 35).T, np.r_[0:34, 36:70].reshape(34, 2)
    matters, other = factor_contrasts(x, None, Units.of(300), [across, within], 100, 0)
    assert matters.value > 0 > other.value
    assert max(matters.p, other.p) < 1e-3
