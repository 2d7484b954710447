from __future__ import annotations

import csv
from math import comb, exp, lgamma

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reference
from designs import designs, random_design
from nongrata.stats.iq import (
    expected_histogram,
    expected_sizes,
    inclusion,
    instability_of_questions,
    right_count_histogram,
)


@pytest.mark.parametrize("name", ["dune", "bci"])
def test_union_and_intersection_against_vegan(shared, name):
    """Configurations are plots and questions are species: `specaccum(method="exact")`."""
    folder = shared / "data" / "reference"
    table = {"dune": "vegan_dune_cover.csv", "bci": "vegan_bci_counts.csv"}[name]
    with (folder / table).open(newline="") as file:
        rows = list(csv.reader(file))[1:]
    present = np.array([[float(v) > 0 for v in row[1:]] for row in rows])
    with (folder / f"vegan_{name}_union_intersection.csv").open(newline="") as file:
        known = list(csv.DictReader(file))
    both, either = expected_sizes(right_count_histogram(present[None]))
    assert len(known) == len(rows)
    for m, row in enumerate(known):
        assert both[0, m] == pytest.approx(float(row["expected_intersection"]), abs=1e-9)
        assert either[0, m] == pytest.approx(float(row["expected_union"]), abs=1e-9)
    certain = expected_histogram(present[None].astype(float))
    assert certain == pytest.approx(right_count_histogram(present[None]), abs=1e-9)
    curve = instability_of_questions(present[None]).curve
    ratio = [float(r["expected_intersection"]) / float(r["expected_union"]) for r in known]
    assert curve == pytest.approx([100 * (1 - r) for r in ratio], abs=1e-6)


@pytest.mark.parametrize("seed", range(20))
def test_every_size_against_every_subset(seed):
    design = random_design(seed, shape=(5,) if seed % 2 else (2, 2))
    x = design.study()
    result = instability_of_questions(design.correct, design.present)
    for m in range(1, len(design.levels) + 1):
        expected = reference.iq_at(x, m)
        if expected is None:
            assert result.curve == ()
        else:
            assert result.curve[m - 1] == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("seed", range(8))
def test_probabilities_against_every_subset(seed):
    theta = np.random.default_rng(seed).random((2, 5, 4)) ** 2
    result = instability_of_questions(theta)
    for m in range(1, 6):
        assert result.curve[m - 1] == pytest.approx(reference.iq_at(theta.tolist(), m), abs=1e-10)


@settings(max_examples=60, deadline=None)
@given(designs())
def test_certain_probabilities_are_draws(design):
    draws = instability_of_questions(design.correct, design.present)
    exact = instability_of_questions(design.correct.astype(float), design.present)
    assert exact.curve == pytest.approx(draws.curve, abs=1e-10)
    assert exact.figure.reason == draws.figure.reason


@settings(max_examples=60, deadline=None)
@given(designs())
def test_the_curve_begins_at_zero_rises_and_ends_at_iq(design):
    result = instability_of_questions(design.correct, design.present)
    if result.figure.defined:
        assert result.curve[0] == 0.0
        assert all(b >= a - 1e-12 for a, b in zip(result.curve, result.curve[1:], strict=False))
        assert result.curve[-1] == result.figure.value
        assert 0.0 <= result.figure.value <= 100.0


@settings(max_examples=60, deadline=None)
@given(designs(missing=False), st.integers(0, 2**32 - 1))
def test_relabelling_configurations_within_a_question_changes_nothing(design, seed):
    rng = np.random.default_rng(seed)
    mixed = rng.permuted(design.correct, axis=1)
    one, two = instability_of_questions(mixed), instability_of_questions(design.correct)
    assert one.curve == two.curve
    assert one.figure.reason == two.figure.reason


@settings(max_examples=60, deadline=None)
@given(designs(), st.integers(0, 2**32 - 1))
def test_order_and_names_do_not_matter(design, seed):
    rng = np.random.default_rng(seed)
    index = np.ix_(*(rng.permutation(n) for n in design.correct.shape))
    a = instability_of_questions(design.correct, design.present)
    b = instability_of_questions(design.correct[index], design.present[index])
    assert b.curve == pytest.approx(a.curve, abs=1e-12)
    assert b.figure.reason == a.figure.reason


def test_the_seed_example():
    """S3: more configurations alone raise IQ; nothing about accuracy need differ between them.

    Question difficulty is Beta(a, b) and configurations are exchangeable, so the number of right
    answers out of 48 is beta-binomial; IQ(12) and IQ(48) are then the two figures of the seed.
    """

    def beta_binomial(k: int, K: int, a: float, b: float) -> float:
        def log_beta(x: float, y: float) -> float:
            return lgamma(x) + lgamma(y) - lgamma(x + y)

        return comb(K, k) * exp(log_beta(k + a, K - k + b) - log_beta(a, b))

    for a, b, at_12, at_48 in [
        (1.898534, 0.448279, 61.083, 78.293),
        (5.523061, 0.322931, 32.061, 52.828),
    ]:
        pmf = np.array([[beta_binomial(k, 48, a, b) for k in range(49)]])
        both, either = expected_sizes(pmf)
        iq = 100 * (1 - both[0] / either[0])
        assert iq[11] == pytest.approx(at_12, abs=1e-3)
        assert iq[47] == pytest.approx(at_48, abs=1e-3)


def test_expected_histogram_gives_the_symmetric_polynomials():
    """S3: E|intersection of m| is sum_q e_m(theta_q) / C(K, m), and the union by complement."""
    theta = np.random.default_rng(5).random((1, 6, 9))
    both, either = expected_sizes(expected_histogram(theta))
    for m in range(1, 7):
        # The coefficients of prod (1 + x_c z) are the elementary symmetric polynomials.
        e = sum(np.poly(-theta[0, :, q])[m] for q in range(9)) / comb(6, m)
        e_wrong = sum(np.poly(theta[0, :, q] - 1)[m] for q in range(9)) / comb(6, m)
        assert both[0, m - 1] == pytest.approx(e, rel=1e-10)
        assert either[0, m - 1] == pytest.approx(9 - e_wrong, rel=1e-10)


def test_inclusion_is_the_ratio_of_binomials():
    for K in (1, 2, 7, 48, 300):
        table = inclusion(K)
        for k, m in [(0, 1), (K, K), (K // 2, 1 + K // 3), (K - 1, K), (K, 1)]:
            expected = comb(k, m) / comb(K, m)
            assert table[k, m - 1] == pytest.approx(expected, rel=1e-12, abs=0)


def test_one_configuration_is_zero():
    assert instability_of_questions(np.array([[[True, False]]])).figure.value == 0.0


def test_personas_with_an_empty_union_are_left_out():
    x = np.array([[[1, 1], [1, 0]], [[0, 0], [0, 0]]], bool)
    result = instability_of_questions(x)
    assert result.figure.value == 50.0
    assert result.personas == 1


@pytest.mark.parametrize(
    ("x", "present", "reason"),
    [
        (np.zeros((2, 2, 3), bool), None, "no persona has a question right in any configuration"),
        (np.zeros((0, 2, 3), bool), None, "no persona is left"),
        (np.zeros((2, 0, 3), bool), None, "no configuration is left"),
        (np.zeros((2, 2, 0), bool), None, "no question is left"),
        (
            np.ones((1, 2, 2), bool),
            np.array([[[True, False], [False, True]]]),
            "no question is complete over the configurations for any persona",
        ),
    ],
)
def test_undefined_says_why(x, present, reason):
    result = instability_of_questions(x, present)
    assert np.isnan(result.figure.value)
    assert result.figure.reason == reason


def test_a_factor_with_one_level_has_no_iq():
    result = instability_of_questions(
        np.ones((1, 2, 2), bool), None, [np.array([0]), np.array([1])]
    )
    assert result.figure.reason == "the factor has one level"
