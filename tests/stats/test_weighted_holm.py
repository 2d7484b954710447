from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from nongrata.stats.multiplicity import holm
from nongrata.stats.weighted_holm import family_weights, weighted_holm


def by_closed_testing(p, w):
    """Adjusted p values of the closed test whose local tests are weighted Bonferroni tests."""
    m = len(p)
    out = []
    for i in range(m):
        worst = 0.0
        for n in range(1, m + 1):
            for chosen in combinations(range(m), n):
                if i in chosen:
                    total = sum(w[j] for j in chosen)
                    worst = max(worst, min(p[j] * total / w[j] for j in chosen))
        out.append(min(worst, 1.0))
    return out


@pytest.mark.parametrize("seed", range(15))
def test_it_is_the_closed_test(seed):
    rng = np.random.default_rng(seed)
    m = int(rng.integers(1, 7))
    p, w = rng.random(m) ** 3, rng.choice([0.25, 1.0, 3.0], m)
    assert weighted_holm(p, w) == pytest.approx(by_closed_testing(p, w))


def test_equal_weights_are_holm_s_procedure():
    multipletests = pytest.importorskip("statsmodels.stats.multitest").multipletests
    p = np.random.default_rng(1).random(30) ** 4
    assert weighted_holm(p, np.ones(30)) == pytest.approx(multipletests(p, method="holm")[1])
    assert weighted_holm(p, np.full(30, 0.1)) == pytest.approx(holm(p))


def test_a_test_that_could_not_be_done_keeps_its_weight():
    adjusted = weighted_holm(np.array([0.02, np.nan]), np.ones(2))
    assert adjusted[0] == pytest.approx(0.04)
    assert np.isnan(adjusted[1])


def test_families_have_equal_shares():
    weights = family_weights(["a", "a", "b", "a", "c"])
    assert weights.tolist() == pytest.approx([1 / 3, 1 / 3, 1.0, 1 / 3, 1.0])
    assert weighted_holm(np.zeros(0), family_weights([])).tolist() == []


def test_no_family_is_starved_by_a_large_one():
    p = np.array([0.01] + [0.9] * 99)
    weights = family_weights(["best"] + ["pairs"] * 99)
    assert weighted_holm(p, weights)[0] == pytest.approx(0.02)
    assert weighted_holm(p, np.ones(100))[0] == 1.0
