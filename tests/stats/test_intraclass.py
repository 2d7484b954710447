"""Intraclass correlations and alpha, against published values and plain formulas."""

from __future__ import annotations

import numpy as np
import pytest

from nongrata.stats.intraclass import cronbach_alpha, intraclass_correlations
from nongrata.stats.variance_components import crossed_components, one_way


def test_forms_are_ratios_of_variance_components():
    x = np.random.default_rng(3).normal(size=(9, 4)) + np.arange(9)[:, None]
    found = intraclass_correlations(x)
    two = crossed_components(x, ["target", "judge"])
    t, j, e = two.variance("target"), two.variance("judge"), two.variance("target", "judge")
    assert found.random_judges.value == pytest.approx(t / (t + j + e))
    assert found.random_judges_mean.value == pytest.approx(t / (t + (j + e) / 4))
    assert found.fixed_judges.value == pytest.approx(t / (t + e))
    assert found.fixed_judges_mean.value == pytest.approx(t / (t + e / 4))
    assert found.fixed_judges_mean.value == pytest.approx(cronbach_alpha(x).value)
    one = one_way(list(x))
    assert found.one_way.value == pytest.approx(one.between / (one.between + one.within))
    assert found.one_way_mean.value == pytest.approx(one.between / (one.between + one.within / 4))


def test_no_correlation_where_nothing_varies():
    found = intraclass_correlations(np.ones((3, 3)))
    assert not found.one_way.defined
    assert not found.random_judges_mean.defined
    assert not cronbach_alpha(np.ones((3, 3))).defined
    assert not cronbach_alpha(np.ones((3, 1))).defined


def test_rows_with_counts_are_rows_repeated():
    x, n = np.array([[0, 1, 1], [1, 1, 1], [0, 0, 1]]), np.array([2, 5, 3])
    assert cronbach_alpha(x, n) == cronbach_alpha(np.repeat(x, n, axis=0))


@pytest.mark.parametrize("shape", [(1, 3), (3, 1)])
def test_one_of_either_is_refused(shape):
    with pytest.raises(ValueError, match="two targets and two judges"):
        intraclass_correlations(np.zeros(shape))
