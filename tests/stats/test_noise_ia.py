"""Floors, tests and the squared difference of IA against enumeration and plain loops."""

from __future__ import annotations

import csv
from itertools import combinations, permutations, product

import numpy as np
import pytest

from nongrata.stats.ia import instability_of_accuracy
from nongrata.stats.ia_floors import (
    equal_accuracy_floor,
    exchangeability_floor,
    exchangeability_floor_of,
    mean_over_pairs,
    pairs_within,
    rerun_floor,
)
from nongrata.stats.ia_pairs import (
    exchangeable_variance,
    pair_differences,
    pair_differences_of,
    residuals,
)
from nongrata.stats.ia_tests import (
    cochran_q,
    cochran_q_together,
    exchange_covariance,
    exchangeability_p,
    exchanged,
    fixed_share,
    mean_absolute_difference,
)
from nongrata.stats.squared_difference import _centred, _direct, squared_differences
from nongrata.stats.units import Units


def study(seed, P=2, K=4, Q=12, clusters=None):
    rng = np.random.default_rng(seed)
    x = rng.random((P, K, Q)) < rng.random(Q)
    return x, Units.of(Q, None if clusters is None else np.arange(Q) // clusters)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("clusters", [None, 3])
@pytest.mark.parametrize("lost", [0.0, 0.3])
def test_pairs_against_loops(seed, clusters, lost):
    x, units = study(seed, clusters=clusters)
    there = np.random.default_rng(seed + 99).random(x.shape) >= lost
    pairs = pair_differences(x, there, units)
    for p, (c, e) in product(range(2), combinations(range(4), 2)):
        both = there[p, c] & there[p, e]
        d = (x[p, c].astype(float) - x[p, e])[both]
        assert pairs.difference[p, c, e] == pytest.approx(d.mean())
        group = units.cluster[both]
        sums = [(d[group == g] - d.mean()).sum() for g in np.unique(group)]
        G = len(sums)
        expected = G / (G - 1) * sum(s * s for s in sums) / len(d) ** 2
        assert pairs.variance[p, c, e] == pytest.approx(expected)
    ia = 100 * mean_over_pairs(np.abs(pairs.difference), pairs_within(4, None))
    assert ia == pytest.approx(instability_of_accuracy(x, there).figure.value)
    if not lost:
        fast = pair_differences_of(residuals(x, None, units), units)
        assert fast.variance == pytest.approx(pairs.variance, abs=1e-8)
        C = exchange_covariance(residuals(x, None, units))
        plain = exchangeability_floor(x, None, units).value
        assert exchangeability_floor_of(np.diag(C), 12).value == pytest.approx(plain, rel=1e-5)


@pytest.mark.parametrize("seed", range(4))
def test_variance_under_exchange_against_all_of_them(seed):
    rng = np.random.default_rng(seed)
    x = rng.random((1, 3, 3)) < 0.5
    squares = []
    for places in product(permutations(range(3)), repeat=3):
        moved = np.stack([x[0, list(places[q]), q] for q in range(3)], axis=1)
        squares.append((moved[0].mean() - moved[1].mean()) ** 2)
    found = exchangeable_variance(x, None, Units.of(3))[0, 0, 1]
    assert found == pytest.approx(np.mean(squares))


def test_missing_cells_that_could_change_places():
    """With a few cells missing at random the floor is near that of the complete study."""
    x, units = study(0, Q=4000)
    there = np.random.default_rng(1).random(x.shape) < 0.8
    whole = exchangeability_floor(x, None, units).value
    part = exchangeability_floor(x, there, units).value
    assert part == pytest.approx(whole / 0.8, rel=0.05)  # shared questions: .8 x .8 of them


def test_floors_are_what_noise_makes():
    """Simulated: IA of exchangeable answers, and of one configuration asked again."""
    rng = np.random.default_rng(5)
    theta = rng.beta(2, 1, 300)
    x = rng.random((400, 4, 300)) < theta
    ia = instability_of_accuracy(x).figure.value
    units = Units.of(300)
    assert exchangeability_floor(x, None, units).value == pytest.approx(ia, rel=0.02)
    pairs = pair_differences(x, None, units)
    assert equal_accuracy_floor(pairs, pairs_within(4, None)).value == pytest.approx(ia, rel=0.02)
    noise = np.broadcast_to(theta * (1 - theta), (1, 4, 300))
    again = rerun_floor(noise, np.ones((1, 4, 300), bool)).value
    assert again == pytest.approx(ia, rel=0.03)


def test_equal_accuracy_floor_where_blocks_interact():
    """Questions prefer a block of configurations: exchangeability understates the noise."""
    rng = np.random.default_rng(6)
    lean = rng.choice([-0.3, 0.3], (400, 1, 300)) * np.array([1, 1, -1, -1])[:, None]
    x = rng.random((400, 4, 300)) < 0.5 + lean
    ia = instability_of_accuracy(x).figure.value
    pairs = pair_differences(x, None, Units.of(300))
    assert equal_accuracy_floor(pairs, pairs_within(4, None)).value == pytest.approx(ia, rel=0.03)


@pytest.mark.parametrize("clusters", [None, 2])
def test_squared_difference_is_the_mean_over_pairs_of_clusters(clusters):
    """Equal clusters: T is a mean of products of two different clusters' differences."""
    x, units = study(3, P=2, K=3, Q=10, clusters=clusters)
    (found,) = squared_differences(residuals(x, None, units), units, [np.arange(3)[None]])
    pairs = pair_differences(x, None, units)
    expected = mean_over_pairs(pairs.difference**2 - pairs.variance, pairs_within(3, None))
    assert found.value == pytest.approx(1e4 * expected, rel=1e-4)
    S, G = units.totals(x).astype(float), len(units)
    products = []
    for p, (c, e) in product(range(2), combinations(range(3), 2)):
        d = (S[p, c] - S[p, e]) * G / 10
        products.append(np.mean([d[g] * d[h] for g, h in permutations(range(G), 2)]))
    assert found.value == pytest.approx(1e4 * np.mean(products), rel=1e-4)


def test_squared_differences_from_either_side():
    """Several comparisons share one covariance matrix; one comparison does without."""
    rng = np.random.default_rng(8)
    x = rng.random((3, 4, 90)) < 0.5
    units = Units.of(90, np.arange(90) // 2, np.arange(90) // 30)
    r = residuals(x, None, units)
    groups = np.array([[0, 1], [2, 3]])
    both = squared_differences(r, units, [np.arange(4)[None], groups])
    centred = _centred(r.reshape(12, -1), units).reshape(r.shape)
    for made, comparison in zip(both, (np.arange(4)[None], groups), strict=True):
        plain = _direct(centred.copy(), r.sum(axis=2) / 90, comparison)
        assert made.value == pytest.approx(plain.value, rel=1e-4, abs=1e-3)
        assert made.se == pytest.approx(plain.se, rel=1e-4)


def test_cochran_reference(shared):
    known = {"conover": (2.8, 0.246597), "web12x4": (13.2857143, 0.00405776),
             "sas_drugs": (8.4706, 0.0145)}  # fmt: skip
    with (shared / "data" / "reference" / "cochran_q.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    for name, (q, p) in known.items():
        mine = [row for row in rows if row["set"] == name]
        shape = [max(int(row[key]) for row in mine) for key in ("treatment", "subject")]
        x = np.zeros((1, *shape))
        for row in mine:
            x[0, int(row["treatment"]) - 1, int(row["subject"]) - 1] = int(row["success"])
        found = cochran_q(residuals(x, None, Units.of(shape[1])))[0]
        assert found.q == pytest.approx(q, abs=6e-5)
        assert found.p == pytest.approx(p, abs=6e-5)


@pytest.mark.parametrize("seed", range(3))
def test_cochran_against_statsmodels(seed):
    from statsmodels.stats.contingency_tables import cochrans_q

    x, units = study(seed, P=1, K=4, Q=40)
    other = cochrans_q(x[0].T.astype(int))
    found = cochran_q(residuals(x, None, units))[0]
    assert (found.q, found.p) == pytest.approx((other.statistic, other.pvalue), rel=1e-5)


def test_exchange_keeps_personas_together():
    """Two personas with the same answers stay the same under every exchange, drawn or normal."""
    for Q in (20, 80):
        x, units = study(2, P=1, Q=Q)
        r = np.concatenate([residuals(x, None, units)] * 2)
        out = exchanged(r, exchange_covariance(r), 20, 0)
        assert out[:, 0] == pytest.approx(out[:, 1], abs=1e-3)
        assert out.sum(axis=2) == pytest.approx(0, abs=1e-3)


def test_exchange_covariance_and_what_is_fixed():
    """Moments under literal exchange: covariance of sums, and variance of their squares."""
    x, units = study(4, P=6, K=3, Q=30)
    r = residuals(x, None, units)
    C = exchange_covariance(r)
    drawn = exchanged(r, C, 20_000, 0).astype(float)
    first = np.einsum("bm,bn->mn", drawn[:, :, 0], drawn[:, :, 0]) / len(drawn)
    assert first == pytest.approx(C * (1 - 1 / 3), abs=0.12 * C.max())
    q = (drawn**2 / np.diag(C)[:, None]).sum(axis=(1, 2))
    rho = C / np.sqrt(np.outer(np.diag(C), np.diag(C)))
    normal = 2 * 2 * (rho**2).sum()
    share = fixed_share(r, C)
    assert share > 0.1
    assert q.var() == pytest.approx(normal * (1 - share), rel=0.06)
    assert cochran_q_together(r, C).df == pytest.approx(2 * q.mean() ** 2 / q.var(), rel=0.06)


def test_personas_exchanged_apart_would_reject_too_often():
    """Why one exchange is shared: personas answer alike, so their noise does not average out."""
    rejected = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        one = rng.random((1, 4, 120)) < rng.random(120)
        x = np.concatenate([one] * 6)
        r = residuals(x, None, Units.of(120))
        C = exchange_covariance(r)
        together = exchangeability_p(r, C, 200, seed) <= 0.05
        null = mean_absolute_difference(exchanged(r, np.diag(np.diag(C)), 200, seed))
        apart = np.mean(null >= mean_absolute_difference(r.sum(axis=2)[None])[0]) <= 0.05
        rejected.append((together, apart))
    together, apart = np.mean(rejected, axis=0)
    assert together <= 0.15 < apart


def test_mean_absolute_difference_is_ia():
    x, _ = study(7)
    accuracy = x.mean(axis=2)
    found = mean_absolute_difference(accuracy[None])[0]
    assert 100 * found == pytest.approx(instability_of_accuracy(x).figure.value)


def test_undefined_has_reasons():
    one = pair_differences(np.ones((1, 2, 1), bool), None, Units.of(1))
    assert np.isnan(one.variance[0, 0, 1])
    assert (
        equal_accuracy_floor(one, pairs_within(2, None)).reason
        == "fewer than two clusters of questions"
    )
    apart = np.array([[[True, False], [False, True]]])
    floor = exchangeability_floor(apart, apart, Units.of(2))
    assert floor.reason == "no question is present in two configurations"
    unknown = rerun_floor(np.full((1, 2, 3), np.nan), np.ones((1, 2, 3), bool))
    assert unknown.reason.startswith("not estimable: 2 of 2 cells")
    assert rerun_floor(np.zeros((1, 2, 3)), np.ones((1, 2, 3), bool)).value == 0
    still = residuals(np.ones((2, 3, 5), bool), None, Units.of(5))
    assert np.isnan(cochran_q(still)[0].p)
