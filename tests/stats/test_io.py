from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nongrata.stats.io import instability_of_outcome

tables = (
    st.integers(1, 5)
    .flatmap(
        lambda p: st.lists(
            st.lists(st.integers(0, 4), min_size=p, max_size=p), min_size=2, max_size=5
        )
    )
    .map(lambda rows: np.array(rows, float).T / 4)
)


@given(tables)
def test_it_is_the_mean_of_spread_times_shift(A):
    """S4: identically mean_c(w d), so a product of rank change and spread."""
    io = instability_of_outcome(A)
    uniform = [instability_of_outcome(A, weights=w, factor="none") for w in ("spread", "uniform")]
    assert uniform[1].figure.value == pytest.approx(io.rank_shift.value, abs=1e-12)
    assert io.figure.value == pytest.approx(uniform[0].figure.value * io.spread.value, abs=1e-9)


@pytest.mark.parametrize("P", [2, 3, 10, 41])
def test_random_ranks_without_ties(P):
    A = np.random.default_rng(P).permuted(np.tile(np.arange(P)[:, None] / P, 6), axis=0)
    expected = instability_of_outcome(A).expected_rank_shift.value
    assert expected == pytest.approx((P**2 - 1) / (3 * P), rel=1e-12)


def test_random_ranks_with_ties_by_simulation():
    rng = np.random.default_rng(0)
    A = rng.integers(0, 3, (8, 5)) / 3
    shifts = [instability_of_outcome(rng.permuted(A, axis=0)).rank_shift.value for _ in range(1500)]
    expected = instability_of_outcome(A).expected_rank_shift.value
    assert expected == pytest.approx(np.mean(shifts), rel=0.01)
    assert expected < (8**2 - 1) / (3 * 8)


@settings(max_examples=60)
@given(tables, st.integers(0, 2**32 - 1))
def test_order_and_names_do_not_matter(A, seed):
    rng = np.random.default_rng(seed)
    B = A[np.ix_(*(rng.permutation(n) for n in A.shape))]
    for name in ("figure", "rank_shift", "expected_rank_shift", "spread"):
        a, b = (getattr(instability_of_outcome(x), name).value for x in (A, B))
        assert b == pytest.approx(a, abs=1e-10)


def test_a_shift_of_a_whole_configuration_changes_nothing():
    A = np.array([[0.1, 0.5], [0.4, 0.2], [0.3, 0.3]])
    moved = A + np.array([0.0, 0.25])
    assert instability_of_outcome(moved).figure.value == pytest.approx(
        instability_of_outcome(A).figure.value
    )


def test_one_persona_is_zero():
    io = instability_of_outcome(np.array([[0.2, 0.9]]))
    assert (io.figure.value, io.rank_shift.value, io.spread.value) == (0.0, 0.0, 0.0)
    assert io.relative_rank_shift.reason == "all labels are tied everywhere, so ranks cannot change"


@pytest.mark.parametrize("factor", ["spread", "none", "persona_sd"])
@pytest.mark.parametrize("weights", ["spread", "uniform"])
def test_no_spread_anywhere_is_zero(weights, factor):
    A = np.tile([0.2, 0.9, 0.4], (5, 1))
    assert instability_of_outcome(A, weights=weights, factor=factor).figure.value == 0.0


@pytest.mark.parametrize(
    ("A", "reason"),
    [
        (np.ones((3, 1)), "one configuration has no other to compare ranks with"),
        (np.ones((1, 1)), "one configuration has no other to compare ranks with"),
        (np.ones((0, 3)), "no persona is left"),
        (
            np.array([[np.nan, 0.1], [np.nan, 0.2]]),
            "fewer than two configurations have a question that all personas share",
        ),
    ],
)
def test_undefined_says_why(A, reason):
    io = instability_of_outcome(A)
    for figure in (io.figure, io.rank_shift, io.relative_rank_shift, io.spread):
        assert np.isnan(figure.value)
        assert figure.reason == reason


def test_a_configuration_without_ranks_is_left_out():
    A = np.array([[0.1, np.nan, 0.5], [0.4, np.nan, 0.2]])
    assert instability_of_outcome(A) == instability_of_outcome(A[:, [0, 2]])
