"""IA, IQ and IO against plain loops written from the definitions alone (S1-S4)."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings

import reference
from designs import designs, random_design
from nongrata.stats.accuracy import complete_accuracy
from nongrata.stats.ia import instability_of_accuracy
from nongrata.stats.io import instability_of_outcome
from nongrata.stats.iq import instability_of_questions
from nongrata.stats.settings import one_factor_settings

IO_OPTIONS = [
    {"weights": weights, "factor": factor}
    for weights in ("spread", "uniform")
    for factor in ("spread", "none", "persona_sd")
]


def agrees(figure, expected):
    if expected is None:
        return math.isnan(figure.value) and bool(figure.reason)
    return abs(figure.value - expected) <= 1e-12 * max(1.0, abs(expected))


def check_everything(design):
    x, correct, present = design.study(), design.correct, design.present
    ranked, _ = complete_accuracy(correct, present)
    assert agrees(instability_of_accuracy(correct, present).figure, reference.ia(x))
    assert agrees(instability_of_questions(correct, present).figure, reference.iq(x))
    for options in IO_OPTIONS:
        parts, ours = reference.io_parts(x, **options), instability_of_outcome(ranked, **options)
        expected = parts or dict.fromkeys(("io", "rank_shift", "expected_rank_shift", "spread"))
        assert agrees(ours.figure, expected["io"])
        assert agrees(ours.rank_shift, expected["rank_shift"])
        assert agrees(ours.expected_rank_shift, expected["expected_rank_shift"])
        assert agrees(ours.spread, expected["spread"])
    for factor in range(len(design.levels[0])):
        groups = reference.settings(design.levels, factor)
        ours = one_factor_settings(np.array(design.levels), factor)
        assert [g.tolist() for g in ours] == groups
        a = instability_of_accuracy(correct, present, ours).figure
        assert agrees(a, reference.average_over_settings(reference.ia, x, groups))
        o = instability_of_outcome(ranked, ours).figure
        assert agrees(o, reference.average_over_settings(reference.io, x, groups))
        several = [g for g in groups if len(g) > 1]
        q = instability_of_questions(correct, present, ours).figure
        assert agrees(q, reference.average_over_settings(reference.iq, x, several))


@pytest.mark.parametrize("seed", range(40))
def test_random_designs(seed):
    check_everything(random_design(seed))


@pytest.mark.parametrize(
    ("personas", "shape"), [(1, (2, 3)), (5, (1,)), (1, (1, 1)), (2, (2,)), (4, (3, 1))]
)
def test_small_corners(personas, shape):
    for seed in range(5):
        check_everything(random_design(100 + seed, personas=personas, shape=shape))


def test_the_designs_hold_what_they_are_said_to_hold():
    """Ties, missing answers, empty unions, one persona, one configuration."""
    many = [random_design(seed) for seed in range(40)]
    complete = [d for d in many if d.present.all()]
    assert any(len(d.correct) == 1 for d in many)
    assert any(len(d.levels) == 1 for d in many)
    assert any(not d.present.all() for d in many)
    assert complete
    assert any((~d.correct.any(axis=(1, 2))).any() for d in many)
    assert any(reference.ia(d.study()) is None for d in many if len(d.levels) > 1)
    assert any(reference.iq(d.study()) is None for d in many)
    assert any(reference.io(d.study()) is None for d in many if len(d.levels) > 1)
    counts = [d.correct.sum(axis=2) for d in complete if len(d.correct) > 2]
    assert any(
        len(set(c[:, 0].tolist())) < len(c) and len(set(c[:, 0].tolist())) > 1 for c in counts
    )


@settings(max_examples=150, deadline=None)
@given(designs())
def test_any_design(design):
    check_everything(design)


@pytest.mark.parametrize("seed", range(12))
def test_probabilities_instead_of_draws(seed):
    rng = np.random.default_rng(seed)
    design = random_design(seed, shape=(2, 2))
    theta = np.where(
        rng.random(design.correct.shape) < 0.3, design.correct, rng.random(design.correct.shape)
    )
    there = design.present
    x = [
        [
            [v if m else None for v, m in zip(row, mask, strict=True)]
            for row, mask in zip(*p, strict=True)
        ]
        for p in zip(theta.tolist(), there.tolist(), strict=True)
    ]
    ranked, _ = complete_accuracy(theta, there)
    assert agrees(instability_of_accuracy(theta, there).figure, reference.ia(x))
    assert agrees(instability_of_outcome(ranked).figure, reference.io(x))
    assert agrees(instability_of_questions(theta, there).figure, reference.iq_at(x, 4))
