from __future__ import annotations

import numpy as np
import pytest

from designs import responses
from nongrata.analysis.accuracy import accuracy_table
from nongrata.analysis.instability import instability
from nongrata.analysis.unread import take_unread, unread_bounds
from nongrata.errors import NongrataError


def test_accuracies_are_the_bounds_of_the_table():
    ds = responses(unread=0.3, lost=0.1, replicates=2, questions=30, seed=3)
    table = accuracy_table(ds).cells
    right = accuracy_table(take_unread(ds, "right")).cells
    left_out = accuracy_table(take_unread(ds, "left_out")).cells
    for cell, high, read in zip(table, right, left_out, strict=True):
        assert high.accuracy == pytest.approx(cell.if_unread_right)
        assert read.accuracy == pytest.approx(cell.read_only)
        assert (high.missing, high.answers) == (cell.missing, cell.answers)
    assert any(cell.if_unread_right > cell.accuracy for cell in table)


def test_wrong_changes_nothing_and_the_input_is_left_alone():
    ds = responses(unread=0.3, questions=20)
    before = ds.copy(deep=True)
    assert take_unread(ds, "wrong") is ds
    take_unread(ds, "right")
    take_unread(ds, "left_out")
    assert ds.identical(before)


def test_probabilities_of_what_cannot_be_read():
    ds = responses(theta=True, questions=10)
    read = ds["theta"] + 0.1
    with pytest.raises(NongrataError, match="how probable a readable answer"):
        take_unread(ds, "right")
    ds = ds.assign(theta_read=read)
    right, left_out = take_unread(ds, "right")["theta"], take_unread(ds, "left_out")["theta"]
    np.testing.assert_allclose(right, ds.theta + 1 - read, atol=1e-6)
    np.testing.assert_allclose(left_out, ds.theta / read, atol=1e-6)


def test_main_figures_three_ways():
    ds = responses(unread=0.4, questions=40, personas=5, models=2, seed=5)
    ds["outcome"][1] = 0  # the second model's answers were all read
    bounds = unread_bounds(ds)
    assert [row.unread for row in bounds.rows] == ["wrong", "right", "left_out"]
    assert {row.model for row in bounds.rows} == {str(ds.model.values[0])}
    wrong, right, left_out = bounds.rows
    plain = instability(ds).rows[0]
    assert (wrong.ia, wrong.io, wrong.iq) == (plain.ia, plain.io, plain.iq)
    assert wrong.accuracy.value < left_out.accuracy.value < right.accuracy.value
    assert bounds.to_dataframe().shape == (3, 9)
    assert "unread left out" in str(bounds)


def test_every_answer_read():
    bounds = unread_bounds(responses(questions=10))
    assert bounds.rows == ()
    assert str(bounds) == "every answer was read"
    assert bounds.to_dataframe().shape == (0, 9)


def test_an_unknown_way():
    with pytest.raises(NongrataError, match="unknown way"):
        take_unread(responses(questions=5), "maybe")
