from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from designs import designs, random_design
from nongrata.stats.iq import instability_of_questions
from nongrata.stats.question_sets import instability_of_question_sets
from nongrata.stats.settings import all_together, one_factor_settings
from nongrata.stats.units import Units


@given(designs())
def test_it_is_the_rarefied_instability_of_questions(design):
    levels = np.array(design.levels)
    scopes = [all_together(len(levels)), one_factor_settings(levels, 0)]
    units = Units.of(design.correct.shape[2])
    for m in (2, 3):
        found = instability_of_question_sets(
            design.correct & design.present, design.present, units, scopes, m
        )
        for s, scope in enumerate(scopes):
            groups = [g for g in scope if len(g) >= m]
            if not groups:
                assert np.isnan(found.value[s])
                continue
            iq = instability_of_questions(design.correct, design.present, groups)
            if iq.figure.defined:
                assert 100 * found.value[s] == pytest.approx(iq.curve[m - 1], abs=1e-9)
            else:
                assert np.isnan(found.value[s])


@pytest.mark.parametrize("lost", [0.0, 0.1])
def test_influences_are_derivatives_in_the_weights_of_questions(lost):
    rng = np.random.default_rng(0)
    x = rng.random((2, 4, 15)) < rng.uniform(0.2, 0.9, 15)
    there = rng.random(x.shape) >= lost
    units = Units.of(15)
    scopes = [all_together(4), [np.array([0, 2]), np.array([1, 3])]]
    found = instability_of_question_sets(x & there, there, units, scopes)
    copies = 1000

    def weighted(g, more):
        repeat = np.full(15, copies)
        repeat[g] += more
        index = np.repeat(np.arange(15), repeat)
        big = instability_of_question_sets(
            (x & there)[:, :, index], there[:, :, index], Units.of(len(index)), scopes
        )
        return big.value

    for g in range(15):
        slope = (weighted(g, 1) - weighted(g, -1)) / (2 / copies)
        assert np.allclose(found.influence[:, g], (15 / 14) ** 0.5 * slope, atol=2e-5)


def test_its_standard_error_is_the_spread_over_studies():
    rng = np.random.default_rng(4)
    values, variances = [], []
    for _ in range(600):
        ease = np.repeat(rng.beta(2, 1.5, 40), 2)
        x = rng.random((3, 4, 80)) < ease
        units = Units.of(80, np.repeat(np.arange(40), 2))
        found = instability_of_question_sets(x, None, units, [all_together(4)])
        values.append(found.value[0])
        variances.append(found.se[0] ** 2)
    assert np.mean(variances) == pytest.approx(np.var(values), rel=0.15)


def test_every_question_twice_in_its_cluster_changes_nothing():
    design = random_design(1, personas=3, shape=(2, 2))
    Q = design.correct.shape[2]
    one = instability_of_question_sets(design.correct, None, Units.of(Q), [all_together(4)])
    twice = Units.of(2 * Q, np.tile(np.arange(Q), 2))
    two = instability_of_question_sets(np.tile(design.correct, 2), None, twice, [all_together(4)])
    assert np.allclose([one.value, one.se], [two.value, two.se], rtol=1e-12, equal_nan=True)


def test_a_label_without_a_right_answer_is_left_out_and_nothing_at_all_is_undefined():
    x = np.zeros((2, 2, 6), bool)
    x[0, :, :3] = True
    x[0, 1, 0] = False
    found = instability_of_question_sets(x, None, Units.of(6), [all_together(2)])
    assert found.value[0] == pytest.approx(1 / 3)
    nothing = instability_of_question_sets(x[1:], None, Units.of(6), [all_together(2)])
    assert np.isnan(nothing.value[0])
    assert np.isnan(nothing.se[0])
