from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from scipy import stats

from nongrata.stats.task_format import (
    effect_over_wordings,
    effects,
    level_weights,
    variance_between,
    wordings,
)

TWO_BY_TWO = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])


def test_two_by_two_by_hand():
    means = np.array([10.0, 13.0, 20.0, 29.0])
    elicitation, reminder, interaction = (e.coefficients @ means for e in effects(TWO_BY_TWO))
    assert elicitation == (20 + 29 - 10 - 13) / 2
    assert reminder == (13 + 29 - 10 - 20) / 2
    assert interaction == (29 - 20) - (13 - 10)


def test_effects_are_those_of_a_regression_with_effect_coding():
    rng = np.random.default_rng(0)
    sub = np.array([[a, b] for a in range(3) for b in range(2)])
    y = rng.normal(size=6)
    frame = pd.DataFrame({"y": y, "a": sub[:, 0], "b": sub[:, 1]})
    fit = smf.ols("y ~ C(a) + C(b)", frame).fit()
    by_sub = [e for e in effects(sub) if e.sub_factors == (0,)]
    assert [e.levels for e in by_sub] == [((1, 0),), ((2, 0),), ((2, 1),)]
    wanted = np.mean([y[2 + b] - y[b] for b in range(2)])
    assert by_sub[0].coefficients @ y == pytest.approx(wanted)
    assert by_sub[1].coefficients @ y == pytest.approx(fit.params["C(a)[T.2]"])
    b = next(e for e in effects(sub) if e.sub_factors == (1,))
    assert b.coefficients @ y == pytest.approx(fit.params["C(b)[T.1]"])
    assert sum(e.kind == "interaction" for e in effects(sub)) == 3


def test_wordings_of_one_combination_count_together_as_one():
    sub = np.array([[0], [0], [0], [1]])
    (effect,) = effects(sub)
    assert effect.coefficients.tolist() == pytest.approx([-1 / 3, -1 / 3, -1 / 3, 1])


def test_sub_factors_that_change_together_cannot_be_told_apart():
    found = effects(np.array([[0, 0], [1, 1]]))
    assert [e.contexts for e in found] == [0, 0, 0]
    assert not any(e.coefficients.any() for e in found)


def test_a_missing_combination_leaves_what_can_be_compared():
    found = effects(np.array([[0, 0], [0, 1], [1, 0]]))
    assert [e.contexts for e in found] == [1, 1, 0]
    assert found[0].coefficients.tolist() == [-1, 0, 1]
    assert found[1].coefficients.tolist() == [-1, 1, 0]


def test_three_sub_factors_average_over_the_third():
    sub = np.array([[a, b, c] for a in range(2) for b in range(2) for c in range(2)])
    y = np.random.default_rng(1).normal(size=(2, 2, 2))
    found = {(e.kind, e.sub_factors): e for e in effects(sub)}
    d = y.mean(axis=2)
    wanted = d[1, 1] - d[1, 0] - d[0, 1] + d[0, 0]
    assert found["interaction", (0, 1)].coefficients @ y.ravel() == pytest.approx(wanted)
    assert len(found) == 6


def test_pairs_of_wordings_less_their_noise():
    """The definition: mean over pairs of (D^2 - se^2(D)) / 2, for groups of one size."""
    rng = np.random.default_rng(2)
    means, root = rng.normal(size=6), rng.normal(size=(6, 6)) / 3
    c = root @ root.T
    groups = [np.array([0, 1, 2]), np.array([3, 4, 5])]
    pairs = [(a, b) for g in groups for a in g for b in g if a < b]
    wanted = np.mean(
        [((means[a] - means[b]) ** 2 - (c[a, a] + c[b, b] - 2 * c[a, b])) / 2 for a, b in pairs]
    )
    assert variance_between(means, c, groups).variance == pytest.approx(wanted)


def test_variance_between_is_unbiased_and_so_is_its_variance():
    rng = np.random.default_rng(3)
    truth, root = np.array([0.0, 2.0, 1.0, 1.0]), rng.normal(size=(4, 4)) / 8
    c = root @ root.T
    groups = [np.array([0, 1]), np.array([2, 3])]
    found = [variance_between(truth + root @ rng.normal(size=4), c, groups) for _ in range(6000)]
    values = np.array([f.variance for f in found])
    assert values.mean() == pytest.approx(1.0, abs=4 * values.std() / 6000**0.5)
    assert np.mean([f.se**2 for f in found]) == pytest.approx(values.var(), rel=0.1)


def test_one_wording_each_has_no_component():
    assert variance_between(np.ones(2), np.eye(2), [np.array([0]), np.array([1])]) is None


def test_other_wordings_without_sampling_noise_are_a_t_test_between_wordings():
    a, b = np.random.default_rng(4).normal(size=(2, 5))
    found = effect_over_wordings(
        np.repeat([-0.2, 0.2], 5), np.concatenate([a, b]), np.zeros((10, 10)),
        [np.arange(5), np.arange(5, 10)], 99,
    )  # fmt: skip
    wanted = stats.ttest_ind(b, a)
    assert found.p == pytest.approx(wanted.pvalue)
    assert found.df == pytest.approx(8)
    assert found.low == pytest.approx(wanted.confidence_interval().low)


def test_other_wordings_need_wordings():
    found = effect_over_wordings(
        np.array([-1.0, 1.0]), np.ones(2), np.eye(2), wordings(np.array([[0], [1]])), 9
    )
    assert "one wording" in found.reason


def test_levels_are_compared_under_equal_circumstances():
    # (1, 1) was not asked, so setting 1 of the other factor is left out
    levels = np.array([[0, 0], [0, 1], [1, 0]])
    weights, settings = level_weights(levels, 0)
    assert settings == 1
    assert weights.tolist() == [[1, 0, 0], [0, 0, 1]]
    weights, settings = level_weights(np.array([[0, 0], [1, 1]]), 0)
    assert settings == 0
    assert not weights.any()
