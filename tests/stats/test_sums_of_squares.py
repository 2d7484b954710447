"""Sums of squares against plain loops and statsmodels."""

from __future__ import annotations

from itertools import combinations, product
from math import prod

import numpy as np
import pytest

from nongrata.stats.sums_of_squares import (
    degrees_of_freedom,
    effects_of,
    holding_fixed,
    number_of,
    over_supersets,
    squared_projections,
)


def loops(x):
    """SS of every effect from its definition: the sum of squared effects, cell by cell."""
    facets = range(x.ndim)
    found = {}

    def mean(held, cell):
        where = [i for i in product(*map(range, x.shape)) if all(i[f] == cell[f] for f in held)]
        return sum(x[i] for i in where) / len(where)

    for size in range(x.ndim + 1):
        for effect in combinations(facets, size):
            total = 0.0
            for cell in product(*map(range, x.shape)):
                value = 0.0
                for k in range(size + 1):
                    for inner in combinations(effect, k):
                        value += (-1) ** (size - k) * mean(inner, cell)
                total += value**2
            found[effect] = total
    return found


@pytest.mark.parametrize("shape", [(3,), (2, 4), (3, 2, 2), (2, 2, 3, 2), (1, 3)])
def test_every_effect_against_loops(shape):
    x = np.random.default_rng(len(shape)).normal(size=shape)
    found = squared_projections(x, len(shape))
    for effect, value in loops(x).items():
        assert found[sum(1 << f for f in effect)] == pytest.approx(value, abs=1e-12)
    assert found.sum() == pytest.approx((x**2).sum())
    assert degrees_of_freedom(shape).sum() == prod(shape)


def test_trailing_axes_are_decomposed_on_their_own():
    x = np.random.default_rng(0).normal(size=(3, 2, 4, 5))
    found = squared_projections(x, 2)
    assert found.shape == (4, 4, 5)
    for i, j in product(range(4), range(5)):
        assert found[:, i, j] == pytest.approx(squared_projections(x[:, :, i, j], 2))


def test_against_statsmodels():
    smf = pytest.importorskip("statsmodels.formula.api")
    anova = pytest.importorskip("statsmodels.stats.anova")
    import pandas as pd

    shape = (4, 3, 3)
    x = np.random.default_rng(5).normal(size=shape)
    rows = [(*i, x[i]) for i in product(*map(range, shape))]
    frame = pd.DataFrame(rows, columns=["a", "b", "c", "y"])
    # the top interaction is what is left, so two-way effects are the most that are fitted
    table = anova.anova_lm(smf.ols("y ~ (C(a) + C(b) + C(c)) ** 2", frame).fit())
    found = squared_projections(x, 3)
    for effect in effects_of("abc"):
        name = ":".join(f"C({f})" for f in effect) if len(effect) < 3 else "Residual"
        which = number_of(effect, "abc")
        assert found[which] == pytest.approx(table.loc[name, "sum_sq"])
        assert degrees_of_freedom(shape)[which] == table.loc[name, "df"]


def test_components_solve_the_expected_mean_squares():
    sizes = (4, 3, 5)
    rng = np.random.default_rng(1)
    sigma = rng.normal(size=8)
    ms = np.zeros(8)
    for s in range(8):
        for above in range(8):
            if above & s == s:
                behind = prod(n for i, n in enumerate(sizes) if not above >> i & 1)
                ms[s] += behind * sigma[above]
    found = over_supersets(ms, sizes)
    assert np.isnan(found[0])
    assert found[1:] == pytest.approx(sigma[1:])


def test_fixed_facets_one_after_another_in_any_order():
    sizes, sigma = (4, 3, 5), np.random.default_rng(2).normal(size=8)
    both = holding_fixed(sigma, sizes, 0b110)
    assert both == pytest.approx(holding_fixed(holding_fixed(sigma, sizes, 0b100), sizes, 0b010))
    # sigma2(a | b, c) = a + ab/3 + ac/5 + abc/15
    assert both[0b001] == pytest.approx(sigma[1] + sigma[3] / 3 + sigma[5] / 5 + sigma[7] / 15)
    assert both[0b111] == sigma[7]
