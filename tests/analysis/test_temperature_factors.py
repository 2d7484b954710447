from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from nongrata.analysis.temperature_factors import temperature_factors

NAMES = ("format", "heat")
GRID = np.array(list(product(range(2), range(3))))
NAN = float("nan")


@pytest.mark.parametrize(
    ("heats", "found"),
    [
        pytest.param([[0, 0.5, 1], [0, 0.5, 1]], ("heat",), id="one factor sets it"),
        pytest.param([[0, 0, 0], [1, 1, 1]], ("format",), id="whatever it is called"),
        pytest.param([[0, 0, 0], [0, 0, 0]], (), id="it never changes"),
        pytest.param([[0, 0.5, 1], [0.7, 0.7, 0.7]], NAMES, id="one format fixes it"),
        pytest.param([[0.7, 0, 1], [0.7, 0, 0.5]], NAMES, id="a level leaves it open"),
        pytest.param([[0, NAN, NAN], [0, NAN, NAN]], (), id="nothing known to differ"),
        pytest.param([[0, 1, NAN], [NAN, NAN, NAN]], ("heat",), id="known in some places"),
        pytest.param([[NAN] * 3, [NAN] * 3], (), id="unknown, and nothing has its name"),
    ],
)
def test_a_factor_is_known_by_what_it_changes(heats, found):
    assert temperature_factors(NAMES, GRID, np.array(heats, dtype=float).ravel()) == found


def test_the_name_decides_where_no_temperature_is_known():
    assert temperature_factors(("format", "Temperature"), GRID, None) == ("Temperature",)
    unknown = np.full(6, NAN)
    assert temperature_factors(("temperature", "x"), GRID, unknown) == ("temperature",)
    # a name is nothing beside temperatures that say otherwise
    assert temperature_factors(("temperature", "x"), GRID, np.tile([0.0, 0.5, 1.0], 2)) == ("x",)


def test_configurations_may_be_left_out():
    kept = [0, 1, 4]  # no two of the last and the others differ in one factor only
    heat = np.array([0.0, 0.0, 1.0])
    assert temperature_factors(NAMES, GRID[kept], heat) == ("format",)
    assert temperature_factors(NAMES, GRID[[0, 4]], np.array([0.0, 1.0])) == ()
