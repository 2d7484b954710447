from __future__ import annotations

import numpy as np
import pytest

from nongrata.stats.chance import (
    against_chance,
    against_constant,
    mean_above_zero,
    student_t_upper,
)


@pytest.mark.parametrize("df", [1, 2, 3, 4, 5, 10, 29, 200, 1999])
@pytest.mark.parametrize("t", [-8.0, -1.3, 0.0, 0.2, 1.7, 2.5, 6.0])
def test_t_tail_against_scipy(t, df):
    from scipy.special import stdtr

    assert student_t_upper(t, df) == pytest.approx(1 - stdtr(df, t), abs=1e-13)


def test_t_tail_beyond_the_series():
    from scipy.special import stdtr

    assert student_t_upper(1.96, 5012) == pytest.approx(1 - stdtr(5012, 1.96), abs=2e-4)


def test_against_scipy_where_nothing_is_clustered():
    from scipy.stats import ttest_1samp

    y = np.random.default_rng(2).normal(0.1, 1, 40)
    ours = mean_above_zero(y, np.arange(40))
    assert ours.p == pytest.approx(ttest_1samp(y, 0, alternative="greater").pvalue, rel=1e-10)


def test_against_statsmodels_where_clustered():
    sm = pytest.importorskip("statsmodels.api")
    rng = np.random.default_rng(3)
    g = np.repeat(np.arange(15), rng.integers(1, 4, 15))
    y = rng.normal(0, 1, len(g)) + rng.normal(0, 1, 15)[g]
    fit = sm.OLS(y, np.ones(len(y))).fit(
        cov_type="cluster", cov_kwds={"groups": g, "use_correction": False}
    )
    ours = mean_above_zero(y, g)
    assert ours.se == pytest.approx(fit.bse[0] * np.sqrt(15 / 14), rel=1e-10)
    assert ours.df == 14


def test_duplicated_questions_count_once():
    y = np.random.default_rng(4).normal(0, 1, 20)
    once = mean_above_zero(y, np.arange(20))
    twice = mean_above_zero(np.repeat(y, 2), np.repeat(np.arange(20), 2))
    assert twice.se == pytest.approx(once.se, rel=1e-12)
    assert twice.p == pytest.approx(once.p, rel=1e-12)


def test_strata_take_out_the_difference_between_them():
    y = np.r_[np.array([0.0, 1, 0, 1]), np.array([10.0, 11, 10, 11])]
    stratum = np.repeat([0, 1], 4)
    result = mean_above_zero(y, np.arange(8), stratum)
    # Each stratum: variance of its mean s^2/n = (1/3)/4; the mean of two such means.
    assert result.se == pytest.approx(np.sqrt(2 * (1 / 3) / 4) / 2, rel=1e-12)
    assert result.df == 6


@pytest.mark.parametrize(
    ("cluster", "stratum"),
    [(np.arange(4), np.array([0, 0, 0, 1])), (np.array([0, 0, 1, 2]), np.array([0, 1, 0, 1]))],
)
def test_strata_that_cannot_be_used_are_ignored(cluster, stratum):
    y = np.array([0.1, 0.9, 0.3, 0.2])
    assert mean_above_zero(y, cluster, stratum) == mean_above_zero(y, cluster)


def test_all_right_on_six_questions_is_no_certainty():
    result = mean_above_zero(np.full(6, 0.75), np.arange(6))
    assert result.p == 2.0**-6
    assert mean_above_zero(np.full(6, -0.25), np.arange(6)).p == 1.0


@pytest.mark.parametrize(
    ("y", "cluster"), [(np.array([]), np.array([], int)), (np.array([0.3, 0.4]), np.array([7, 7]))]
)
def test_no_test_says_why(y, cluster):
    result = mean_above_zero(y, cluster)
    assert np.isnan(result.p)
    assert result.reason


def test_guessing_is_not_above_chance_at_the_stated_rate():
    rng = np.random.default_rng(5)
    n = np.full(60, 4)
    rejected = 0
    for _ in range(800):
        right = (rng.random((60, 5)) < 0.25).mean(axis=1)
        rejected += against_chance(right, n, np.arange(60)).test.p <= 0.025
    assert rejected / 800 < 0.045


def test_a_constant_answer_does_not_beat_itself():
    answer = np.array([0, 0, 0, 1, 2, 0, 0, 1])
    result = against_constant((answer == 0) * 1.0, answer, np.full(8, 3), np.arange(8))
    assert result.positions == (0,)
    assert result.constant == 5 / 8
    assert result.p == 1.0


def test_equally_good_constants_are_all_named():
    result = against_constant(np.ones(4), np.array([0, 1, 0, 1]), np.full(4, 4), np.arange(4))
    assert result.positions == (0, 1)


def test_questions_without_answers_are_left_out():
    right = np.array([1.0, np.nan, 0.5])
    result = against_chance(right, np.array([2, 4, 2]), np.arange(3))
    assert (result.accuracy, result.chance) == (0.75, 0.5)
    constant = against_constant(right, np.array([0, 1, 0]), np.array([2, 4, 2]), np.arange(3))
    assert constant.positions == (0,)
    nothing = np.full(3, np.nan)
    assert np.isnan(against_chance(nothing, np.full(3, 2), np.arange(3)).accuracy)
    assert against_constant(nothing, np.zeros(3, int), np.full(3, 2), np.arange(3)).reason


def test_places_shown_in_several_orders_make_other_constants():
    """Half of the answers saw the right option first, half last: no place beats one half."""
    right = np.array([1.0, 0.5, 1.0, 1.0])
    gold = np.full((4, 2), 0.5)
    result = against_constant(right, np.zeros(4, int), np.full(4, 2), np.arange(4), gold=gold)
    assert result.constant == 0.5
    assert result.positions == (0, 1)
    one_hot = np.eye(2)[[0, 0, 1, 0]]
    same = against_constant(right, np.array([0, 0, 1, 0]), np.full(4, 2), np.arange(4))
    assert (
        against_constant(right, np.zeros(4, int), np.full(4, 2), np.arange(4), gold=one_hot) == same
    )


def test_a_constant_that_is_not_the_best_in_this_sample_must_be_beaten_too():
    """A model that always gives the second-best position is above no constant answer."""
    answer = np.array([0] * 6 + [1] * 5)
    result = against_constant((answer == 1) * 1.0, answer, np.full(11, 2), np.arange(11))
    assert result.positions == (0,)
    assert result.p == 1.0
