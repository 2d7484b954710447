from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from designs import responses
from nongrata.analysis.cube import read_cube
from nongrata.analysis.model_data import Resampling, each_model
from nongrata.conclusions.question_sets import question_sets

FEW = Resampling(draws=100, splits=2)


def data_of(ds):
    return next(each_model(read_cube(ds), FEW))


def everything(data):
    chosen = data.selection("labels")
    return question_sets(data, chosen.personas, chosen.configurations)


def test_exact_probabilities_against_plain_loops():
    ds = responses(theta=True, questions=15)
    data = data_of(ds)
    theta = data.answers.theta[:4].astype(float)
    iq, floor = [], []
    for cells in theta:
        pairs = list(combinations(range(6), 2))
        both = np.mean([(cells[a] * cells[b]).sum() for a, b in pairs])
        either = np.mean([(cells[a] + cells[b] - cells[a] * cells[b]).sum() for a, b in pairs])
        iq.append(1 - both / either)
        same = np.mean([(row**2).sum() for row in cells])
        floor.append(1 - same / np.mean([(2 * row - row**2).sum() for row in cells]))
    found = everything(data)
    assert found.iq == pytest.approx(100 * np.mean(iq), rel=1e-5)
    assert found.floor == pytest.approx(100 * np.mean(floor), rel=1e-5)
    assert found.excess == pytest.approx(found.iq - found.floor)
    assert found.configurations == 6
    assert abs(found.drawn.mean() - found.excess) < 1


def test_replicates_stand_in_for_probabilities():
    """Few replicates, many questions: floor and IQ(2) of draws are those of the probabilities."""
    kwargs = {"questions": 4000, "factors": {"format": ["a", "b"]}, "personas": 2}
    ds = responses(theta=True, replicates=3, **kwargs)
    exact = everything(data_of(ds))
    drawn = ds.assign(theta=(ds["theta"].dims, np.full(ds["theta"].shape, np.nan, np.float32)))
    found = everything(data_of(drawn))
    assert found.iq == pytest.approx(exact.iq, abs=1.5)
    assert found.floor == pytest.approx(exact.floor, abs=1.5)


def test_the_same_probabilities_everywhere_have_no_excess():
    ds = responses(theta=True)
    theta = ds["theta"].to_numpy().copy()
    theta[...] = theta[:, :, :1, :1]
    found = everything(data_of(ds.assign(theta=(ds["theta"].dims, theta))))
    assert found.excess == pytest.approx(0, abs=1e-4)


def test_answers_drawn_once_cannot_be_told_from_a_repeat():
    found = everything(data_of(responses()))
    assert "drawn once" in found.reason
    assert np.isnan(found.iq)


def test_temperature_zero_repeats_itself():
    ds = responses()
    heat = np.broadcast_to(ds["temperature"].to_numpy(), (2, 3))
    data = data_of(ds.assign(sampling_temperature=(("format", "temperature"), heat)))
    found = everything(data)
    assert found.configurations == 2
    assert found.floor == pytest.approx(0, abs=1e-5)
    x = data.answers.correct[:4, :, 0][:, [0, 3]]
    union, both = x.any(axis=1).sum(axis=1), x.all(axis=1).sum(axis=1)
    assert found.iq == pytest.approx(100 * np.mean(1 - both / union), rel=1e-5)


def test_missing_questions_add_nothing():
    ds = responses(theta=True, questions=12)
    theta, outcome = ds["theta"].to_numpy().copy(), ds["outcome"].to_numpy().copy()
    theta[:, 0, 0, 0, 3] = np.nan
    outcome[:, 0, 0, 0, :, 3] = 255
    less = ds.assign(theta=(ds["theta"].dims, theta), outcome=(ds["outcome"].dims, outcome))
    data = data_of(less)
    found = question_sets(data, np.array([0]), np.arange(6))
    without = data_of(ds.isel(question=[q for q in range(12) if q != 3]))
    assert found.iq == pytest.approx(question_sets(without, np.array([0]), np.arange(6)).iq, 1e-5)


def test_nothing_right_has_no_figure():
    ds = responses(theta=True)
    zero = np.zeros(ds["theta"].shape, np.float32)
    assert "no persona" in everything(data_of(ds.assign(theta=(ds["theta"].dims, zero)))).reason
