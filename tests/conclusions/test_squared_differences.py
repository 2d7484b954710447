from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from nongrata.conclusions.squared_differences import (
    mean_squared_difference,
    mean_squared_noise,
    usable,
)
from nongrata.stats.settings import one_factor_settings
from nongrata.stats.units import Units

LEVELS = np.array([[i, j] for i in range(2) for j in range(3)])


@pytest.mark.parametrize("factor", [0, 1])
def test_against_plain_loops(factor):
    rng = np.random.default_rng(factor)
    x = rng.random((3, 6, 30))
    units = Units.of(30, np.arange(30) // 2)
    settings = usable(one_factor_settings(LEVELS, factor))
    squares, noise = [], []
    for p in range(3):
        for setting in settings:
            for a, b in combinations(setting.tolist(), 2):
                D = x[p, a] - x[p, b]
                squares.append(D.mean() ** 2)
                noise.append(float(units.variance_of_mean(D)))
    assert mean_squared_difference(x.mean(axis=2), settings) == pytest.approx(np.mean(squares))
    C = np.mean([units.covariance_of_means(row) for row in x], axis=0)
    assert mean_squared_noise(C, settings) == pytest.approx(np.mean(noise))


def test_a_factor_with_one_level_has_nothing_to_compare():
    assert usable(one_factor_settings(np.array([[0, 0], [1, 0]]), 1)) == []


def test_resamples_come_in_front():
    a = np.random.default_rng(0).random((5, 3, 6))
    settings = [np.arange(6)]
    found = mean_squared_difference(a, settings)
    assert found.shape == (5,)
    assert found[2] == pytest.approx(float(mean_squared_difference(a[2], settings)))
