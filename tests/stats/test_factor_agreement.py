from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from nongrata.stats.agreement import agreement, category_counts
from nongrata.stats.factor_agreement import factor_agreement
from nongrata.stats.settings import one_factor_settings

LEVELS = np.array([[i, j] for i in range(3) for j in range(4)])


@pytest.mark.parametrize("uneven", [False, True])
@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("factor", [0, 1])
def test_every_subset_within_every_setting(factor, missing, uneven):
    rng = np.random.default_rng(factor)
    levels = LEVELS[:-2] if uneven else LEVELS
    K, Q, J = len(levels), 9, 3
    codes = np.where(
        rng.random((4, K, Q)) < 0.6, rng.integers(0, J, Q), rng.integers(0, J, (4, K, Q))
    )
    present = rng.random(codes.shape) >= missing
    settings = [g for g in one_factor_settings(levels, factor) if len(g) > 1]
    sizes = (2, 3)
    found = factor_agreement(codes, present if missing else None, J, settings, sizes)
    for i, m in enumerate(sizes):
        each = []
        for p in range(4):
            for group in settings:
                for q in range(Q):
                    there = [int(codes[p, c, q]) for c in group if present[p, c, q] or not missing]
                    subsets = list(combinations(there, m))
                    if subsets:
                        each.append(np.mean([len(set(s)) == 1 for s in subsets]))
        assert found.total[i] == pytest.approx(np.mean(each))
        assert found.possible[i].sum() == len(each)
    kappas = sorted(
        agreement(
            category_counts(codes[p][group], J, present[p][group] if missing else None)
        ).fleiss.value
        for p in range(4)
        for group in settings
    )
    assert sorted(found.kappas.tolist()) == pytest.approx(kappas)


def test_right_or_not_is_taken_as_it_is():
    x = np.array([[[True, True], [True, False]]])
    found = factor_agreement(x, None, 2, [np.array([0, 1])], (2,))
    assert found.total.tolist() == [0.5]
    assert found.alike.tolist() == [[1.0, 0.0]]


def test_nothing_to_compare_is_undefined():
    x = np.zeros((1, 2, 3), int)
    found = factor_agreement(x, None, 2, [np.array([0])], (2,))
    assert np.isnan(found.total).all()
    assert len(found.kappas) == 0
    same = factor_agreement(x, None, 2, [np.array([0, 1])], (2, 3))
    assert same.total[0] == 1.0
    assert np.isnan(same.total[1])
    assert np.isnan(same.kappas).all()
