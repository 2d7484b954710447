from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from nongrata.stats.sign_flips import Flips, flip_p, flip_p_together, sign_flips
from nongrata.stats.specification_curve import curve
from nongrata.stats.units import Units


@pytest.mark.parametrize("clusters", [2, 3, 7])
def test_all_flips_are_gone_through_where_they_are_few(clusters):
    found = {tuple(row) for row in sign_flips(clusters, 2000).tolist()}
    every = {s for s in product([1.0, -1.0], repeat=clusters) if s[0] == 1 and set(s) != {1.0}}
    assert found == every


def test_random_flips_are_even_and_seeded():
    signs = sign_flips(40, 1000, 3)
    assert set(np.unique(signs)) == {-1.0, 1.0}
    assert abs(signs.mean()) < 0.02
    assert (signs == sign_flips(40, 1000, 3)).all()
    assert (signs != sign_flips(40, 1000, 4)).any()


@pytest.mark.parametrize("seed", range(4))
def test_p_values_are_those_of_brute_force(seed):
    """Every one of the 2^G ways to flip whole clusters, in plain Python."""
    rng = np.random.default_rng(seed)
    x = rng.integers(-1, 2, (5, 8)).astype(float)
    units = Units.of(8, cluster=np.array([0, 0, 1, 2, 3, 4, 4, 5]))
    totals = units.totals(x)
    found = curve(totals, units, Flips.of(units, 5000))

    def summary(signs):
        means = [sum(s * v for s, v in zip(signs, row, strict=True)) / 8 for row in totals]
        up, down = sum(m > 1e-9 for m in means), sum(m < -1e-9 for m in means)
        return np.median(means), (up - down) / len(means)

    every = [summary(signs) for signs in product([1, -1], repeat=6)]
    median, lean = summary([1] * 6)
    assert found.median == pytest.approx(median)
    assert found.lean == pytest.approx(lean)
    wanted = np.mean([abs(m) >= abs(median) - 1e-9 for m, _ in every])
    assert flip_p(found.median, found.flipped_median) == pytest.approx(wanted)
    wanted = np.mean([abs(s) >= abs(lean) - 1e-9 for _, s in every])
    assert flip_p(found.lean, found.flipped_lean) == pytest.approx(wanted)


def test_one_label_together_is_one_label_alone():
    rng = np.random.default_rng(0)
    flipped = rng.normal(size=(500, 1))
    assert flip_p_together(np.array([1.5]), flipped)[0] == flip_p(1.5, flipped[:, 0])


def test_labels_share_the_flips():
    """Twenty copies of one label are one label: nothing is to be adjusted."""
    rng = np.random.default_rng(0)
    flipped = np.repeat(rng.normal(size=(500, 1)), 20, axis=1)
    together = flip_p_together(np.full(20, 1.5), flipped)
    assert set(together.tolist()) == {flip_p(1.5, flipped[:, 0])}


def test_one_cluster_cannot_be_tested():
    flips = Flips.of(Units.of(2, cluster=np.array([0, 0])), 10)
    assert flips.signs.shape == (0, 1)
    assert np.isnan(flip_p(1.0, np.zeros(0)))
    assert np.isnan(flip_p_together(np.array([1.0]), np.zeros((0, 1)))).all()
