from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nongrata.stats.ranks import average_ranks


@given(st.lists(st.integers(0, 5), min_size=1, max_size=12))
def test_against_scipy(values):
    from scipy.stats import rankdata

    ours = average_ranks(np.array(values)[:, None] / 7)[:, 0]
    assert ours == pytest.approx(rankdata(-np.array(values), method="average"))


def test_sums_in_another_order_are_ties():
    values = np.array([[0.1 + 0.2 + 0.3], [0.3 + 0.2 + 0.1]])
    assert values[0, 0] != values[1, 0]
    assert average_ranks(values).tolist() == [[1.5], [1.5]]


def test_a_column_with_nan_has_no_ranks():
    ranks = average_ranks(np.array([[np.nan, 0.1], [0.5, 0.2]]))
    assert np.isnan(ranks[:, 0]).all()
    assert ranks[:, 1].tolist() == [2.0, 1.0]
