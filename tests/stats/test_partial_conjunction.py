from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from nongrata.stats.partial_conjunction import partial_conjunction, required


def by_enumeration(p, u):
    """Bonferroni's p value of the least convincing K - u + 1 hypotheses, over all such sets."""
    n = len(p) - u + 1
    return min(1.0, max(n * min(chosen) for chosen in combinations(p, n)))


@pytest.mark.parametrize("seed", range(20))
def test_it_is_the_largest_bonferroni_p_value_over_sets(seed):
    rng = np.random.default_rng(seed)
    K = int(rng.integers(1, 8))
    p = rng.choice([rng.random(), 0.001, 0.02, 1.0], K) * rng.random(K)
    for u in range(1, K + 1):
        assert partial_conjunction(p, u) == pytest.approx(by_enumeration(p.tolist(), u))


def test_with_all_required_it_is_the_largest_p_value():
    assert partial_conjunction(np.array([0.01, 0.04, 0.02]), 3) == 0.04


def test_what_could_not_be_tested_supports_nothing():
    assert partial_conjunction(np.array([0.001, np.nan]), 2) == 1.0
    assert partial_conjunction(np.array([0.001, 0.001, np.nan]), 2) == pytest.approx(0.002)


def test_rows_are_treated_apart():
    p = np.array([[0.01, 0.2], [0.03, 0.04]])
    assert partial_conjunction(p, 2).tolist() == [0.2, 0.04]


def test_nine_tenths_of_the_configurations():
    assert [required(K) for K in range(1, 12)] == [1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 10]
    assert required(48) == 44
    assert required(10, 0.7) == 7  # .7 x 10 is 7.000000000000001 - rounding must not add one
