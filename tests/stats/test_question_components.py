"""Components of cells x questions: the textbook, literal resampling, clusters, strata, losses."""

from __future__ import annotations

import math

import numpy as np
import pytest

from nongrata.stats.question_components import contributions, question_components
from nongrata.stats.sums_of_squares import squared_projections
from nongrata.stats.units import Units
from nongrata.stats.variance_components import crossed_components

SIZES, FACETS = (3, 2, 2), ("p", "f", "t")


def answers(seed=0, questions=24, sizes=SIZES):
    rng = np.random.default_rng(seed)
    ease = rng.uniform(0.2, 0.8, questions) + rng.normal(0, 0.1, (*sizes, 1))
    return (rng.random((*sizes, questions)) < ease).astype(float)


def of(x, units, draws=50, counts=None, **more):
    C = math.prod(x.shape[:-1])
    flat = x.reshape(C, -1)
    totals = units.totals(flat)
    n = None if counts is None else units.totals(counts.reshape(C, -1))
    y = contributions(totals, units, n)
    return question_components(y, units, FACETS, SIZES, units.bootstrap_weights(draws, 3), **more)


def test_singletons_are_the_textbook_with_questions_as_a_facet():
    x = answers()
    found, plain = of(x, Units.of(24)).components, crossed_components(x, [*FACETS, "question"])
    assert found.facets == plain.facets
    assert found.effects == plain.effects
    assert found.degrees_of_freedom.tolist() == plain.degrees_of_freedom.tolist()
    assert found.mean_squares[1:] == pytest.approx(plain.mean_squares[1:], abs=1e-7)
    assert found.variances[1:] == pytest.approx(plain.variances[1:], abs=1e-7)
    assert found.confounded


def test_noise_is_taken_off_the_top_alone():
    x, u = answers(), np.linspace(0.01, 0.2, 24)
    exact, noisy = of(x, Units.of(24), noise=np.zeros(24)), of(x, Units.of(24), noise=u)
    apart = exact.components.variances - noisy.components.variances
    assert apart[1:-1] == pytest.approx(np.zeros(14))
    assert apart[-1] == pytest.approx(u.mean())
    assert noisy.components.noise == pytest.approx(u.mean())
    assert not exact.components.confounded
    assert exact.components.variances[1:] == pytest.approx(
        of(x, Units.of(24)).components.variances[1:]
    )


def test_each_resample_is_the_textbook_on_the_resampled_questions_and_its_correction():
    x, Q = answers(1), 24
    units = Units.of(Q)
    found = of(x, units, draws=6)
    for weights, draw in zip(units.bootstrap_weights(6, 3), found.draws, strict=True):
        again = x[..., np.repeat(np.arange(Q), weights.astype(int))]
        star = crossed_components(again, [*FACETS, "question"]).variances
        for s in range(1, 16):
            if s & 8:
                assert draw[s] == pytest.approx(star[s] * Q / (Q - 1), abs=1e-6)
            else:  # S7: sigma2*_E less sigma2*_{E x q} / (Q - 1)
                assert draw[s] == pytest.approx(star[s] - star[s | 8] / (Q - 1), abs=1e-6)


def test_resamples_are_centred_on_the_estimates():
    found = of(answers(2, 40), Units.of(40), draws=4000)
    se = found.draws.std(axis=0)[1:] / 4000**0.5
    away = (found.draws.mean(axis=0) - found.components.variances)[1:]
    assert np.abs(away / se).max() < 4.5


@pytest.mark.parametrize("copies", [2, 3])
def test_every_question_several_times_in_one_cluster_changes_nothing(copies):
    x = answers(4)
    once = of(x, Units.of(24))
    units = Units.of(24 * copies, cluster=np.repeat(np.arange(24), copies))
    often = of(np.repeat(x, copies, axis=-1), units)
    assert often.components.variances[1:] == pytest.approx(once.components.variances[1:], abs=1e-7)
    assert often.draws[:, 1:] == pytest.approx(once.draws[:, 1:], abs=1e-6)


def test_mean_squares_with_questions_are_the_sampling_variance_of_the_accuracies():
    """Clusters of unequal size and strata: against the covariance matrix of the accuracies."""
    rng = np.random.default_rng(5)
    cluster = np.repeat(np.arange(15), rng.integers(1, 5, 15))
    Q = len(cluster)
    units = Units.of(Q, cluster, stratum=(cluster >= 6).astype(int))
    assert units.strata == 2
    x = answers(6, Q)
    found = of(x, units).components
    covariance = units.covariance_of_means(x.reshape(12, Q))
    values, vectors = np.linalg.eigh(covariance)
    lengths = squared_projections((vectors * np.sqrt(values.clip(0))).reshape(*SIZES, -1), 3)
    df = found.degrees_of_freedom[:8]
    assert found.mean_squares[8:] == pytest.approx(15 * lengths.sum(axis=1) / df, abs=1e-6)
    accuracy = squared_projections(x.mean(axis=-1), 3)
    assert found.mean_squares[:8] == pytest.approx(15 * accuracy / df, abs=1e-6)
    assert found.degrees_of_freedom[8:].tolist() == (df * 13).tolist()


def test_units_in_another_order_within_their_strata():
    x, order = answers(7), np.random.default_rng(0).permutation(24)
    one, other = of(x, Units.of(24)), of(x[..., order], Units.of(24))
    assert other.components.variances[1:] == pytest.approx(one.components.variances[1:], abs=1e-7)


def test_a_constant_effect_has_no_standard_error():
    x = np.broadcast_to(np.array([0.3, 0.7, 0.5])[:, None, None, None], (*SIZES, 12))
    found = of(x, Units.of(12), noise=np.zeros(12))
    assert np.isnan(found.standard_errors[1:]).all()
    assert found.components.variance("p") == pytest.approx(0.04)
    assert found.components.variance("question") == pytest.approx(0, abs=1e-20)


def test_given_levels_turn_draws_as_well():
    found = of(answers(8), Units.of(24))
    held = found.given("f", "t")
    sizes = dict(zip(found.components.facets, found.components.sizes, strict=True))
    p, pf, pt, pft = (found.draws[:, s] for s in (0b001, 0b011, 0b101, 0b111))
    expected = p + pf / sizes["f"] + pt / sizes["t"] + pft / (sizes["f"] * sizes["t"])
    assert held.draws[:, 1] == pytest.approx(expected)


def test_losses_by_chance_leave_the_estimates_where_they_were():
    """Mean over many ways to lose 4% of the answers, against the estimates without losses."""
    rng = np.random.default_rng(9)
    x = answers(10, 60)
    units = Units.of(60)
    whole = of(x, units, draws=2, noise=np.zeros(60)).components.variances
    plain, mended = [], []
    for _ in range(300):
        there = rng.random(x.shape) >= 0.04
        kept = np.where(there, x, 0.0)
        mean = kept.sum(-1, keepdims=True) / there.sum(-1, keepdims=True)
        gone = 1 - there.mean(axis=-1, keepdims=True)
        added = np.where(there, gone * (x - mean) ** 2 / (1 - gone) ** 2, 0)
        lost = added.reshape(12, 60).mean(axis=0)
        for out, take_off in ((plain, None), (mended, lost)):
            found = of(kept, units, 2, there, noise=np.zeros(60), lost=take_off)
            out.append(found.components.variances)
    bias = (np.mean(mended, axis=0) - whole)[1:]
    se = np.std(mended, axis=0)[1:] / 300**0.5
    assert np.abs(bias / se).max() < 4
    # without the correction the last component would be too large
    assert (np.mean(plain, axis=0) - whole)[-1] > 10 * se[-1]
