from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from nongrata.stats.sign_flips import Flips
from nongrata.stats.specification_curve import curve
from nongrata.stats.units import Units


def differences(seed, K=6, Q=200):
    rng = np.random.default_rng(seed)
    return rng.integers(-1, 2, (K, Q)) + rng.normal(0, 0.5, Q)


def test_every_configuration_is_a_paired_t_test():
    a, b = differences(0), differences(1)
    found = curve(a - b, Units.of(200), Flips.of(Units.of(200), 100))
    wanted = stats.ttest_rel(a, b, axis=1).statistic
    assert found.estimate / found.se == pytest.approx(wanted)


def test_together_is_wider_than_alone_and_narrower_than_bonferroni():
    found = curve(differences(2), Units.of(200), Flips.of(Units.of(200), 4000))
    assert 1.99 < found.critical < stats.t.ppf(1 - 0.025 / 6, 199) + 0.05


def test_equal_configurations_are_one():
    d = np.repeat(differences(3, K=1), 9, axis=0)
    found = curve(d, Units.of(200), Flips.of(Units.of(200), 20_000))
    assert found.critical == pytest.approx(stats.t.ppf(0.975, 199), abs=0.05)


def test_the_null_distribution_is_that_of_the_median():
    """Flipped medians have the variance that the questions give them."""
    d = np.repeat(differences(4, K=1), 3, axis=0)
    found = curve(d, Units.of(200), Flips.of(Units.of(200), 20_000))
    assert found.flipped_median.std() == pytest.approx(np.sqrt((d[0] ** 2).sum()) / 200, rel=0.02)


def test_strata_are_held_apart():
    """What all questions of a source have in common is no noise of the study."""
    d = differences(5)
    d[:, :100] += 5.0
    units = Units.of(200, stratum=np.arange(200) // 100)
    found = curve(d, units, Flips.of(units, 4000))
    assert found.se == pytest.approx(np.sqrt(units.variance_of_mean(d)))
    assert found.critical < 3.0
    plain = curve(d, Units.of(200), Flips.of(Units.of(200), 4000))
    assert (plain.se > 2 * found.se).all()


def test_configurations_without_answers_take_no_part():
    d = differences(6)
    units = Units.of(200)
    gap = np.vstack([d, np.full((1, 200), np.nan)])
    with_gap = curve(gap, units, Flips.of(units, 500))
    without = curve(d, units, Flips.of(units, 500))
    assert with_gap.critical == without.critical
    assert with_gap.median == without.median
    assert (with_gap.flipped_lean == without.flipped_lean).all()
    assert np.isnan(with_gap.estimate[-1])
    nothing = curve(gap[-1:], units, Flips.of(units, 50))
    assert np.isnan(nothing.median)


def test_no_spread_has_no_critical_value():
    found = curve(np.ones((2, 5)), Units.of(5), Flips.of(Units.of(5), 50))
    assert np.isnan(found.critical)
    assert found.se.tolist() == [0.0, 0.0]
    one = curve(np.ones((2, 1)), Units.of(1), Flips.of(Units.of(1), 50))
    assert one.median == 1.0
    assert np.isnan(one.critical)
