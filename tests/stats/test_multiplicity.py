from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nongrata.stats.multiplicity import holm

p_values = st.lists(st.floats(0, 1), min_size=1, max_size=8)


@given(p_values)
def test_against_the_closed_tests_behind_it(p):
    """A hypothesis falls if every set that holds it falls by Bonferroni: 2^m tests, no sorting."""
    m = len(p)
    sets = [s for r in range(1, m + 1) for s in combinations(range(m), r)]
    expected = [
        max(min(1.0, len(s) * min(p[j] for j in s)) for s in sets if i in s) for i in range(m)
    ]
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
