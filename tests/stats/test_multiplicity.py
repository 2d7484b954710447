from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nongrata.stats.multiplicity import holm

p_values = st.lists(st.floats(0, 1), min_size=1, max_size=8)


@given(p_values)
def test_against_statsmodels(p):
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    expected = multitest.multipletests(p, method="holm")[1]
    assert holm(np.array(p)) == pytest.approx(expected, abs=1e-15)


@given(p_values, st.data())
def test_larger_p_values_give_no_smaller_adjusted_ones(p, data):
    more = [data.draw(st.floats(value, 1)) for value in p]
    assert (holm(np.array(more)) >= holm(np.array(p)) - 1e-15).all()


def test_no_test_is_not_counted():
    adjusted = holm(np.array([0.01, np.nan, 0.02]))
    assert adjusted[[0, 2]].tolist() == [0.02, 0.02]
    assert np.isnan(adjusted[1])
    assert holm(np.array([])).shape == (0,)
