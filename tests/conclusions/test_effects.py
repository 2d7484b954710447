from __future__ import annotations

import math

import numpy as np
import pytest

from designs import responses
from nongrata.analysis.cube import read_cube
from nongrata.analysis.model_data import Resampling, each_model
from nongrata.conclusions.cells import cells_of
from nongrata.conclusions.effects import effect_drafts
from nongrata.conclusions.labels import label_drafts
from nongrata.conclusions.orders import domain_drafts, factor_drafts
from nongrata.conclusions.question_sets import question_sets
from nongrata.stats.sum_of_squares import sum_of_squares_test

MANY = Resampling(draws=4000, splits=2)


def cells(**kwargs):
    data = next(each_model(read_cube(responses(**{"questions": 90} | kwargs)), MANY))
    chosen = data.selection("labels")
    return cells_of(data, chosen.personas, chosen.configurations)


def drafts(c):
    sets = question_sets(c.data, c.personas, c.configurations)
    return {d.subject: d for d in effect_drafts(c, sets)}


def by_full_covariance(c, M):
    """The test of a' M a with the covariance of all P x K accuracies written out."""
    x = c.data.value[np.ix_(c.personas, c.configurations)].astype(float)
    P, K, Q = x.shape
    C = c.units.covariance_of_means(x.reshape(P * K, Q))
    a = x.mean(axis=2).ravel()
    MC = M @ C
    T = float(a @ M @ a)
    return T, sum_of_squares_test(
        T, np.trace(MC), 2 * np.trace(MC @ MC), c.units.degrees_of_freedom
    )


def centre(n):
    return np.eye(n) - 1 / n


@pytest.mark.parametrize("seed", [0, 1])
def test_against_the_covariance_of_everything(seed):
    c = cells(seed=seed, theta=bool(seed))
    P, K = 4, 6
    wanted = {
        "labels": np.kron(centre(P), np.ones((K, K)) / K**2),
        "the configuration": np.kron(np.ones((P, P)) / P**2, centre(K)),
        "format": np.kron(np.ones((P, P)) / P**2, np.kron(centre(2), np.eye(3))),
        "temperature": np.kron(np.ones((P, P)) / P**2, np.kron(np.eye(2), centre(3))),
        "labels x configuration": np.kron(centre(P), centre(K)),
    }
    scale = {
        "labels": 2 / 3,
        "the configuration": 2 / 5,
        "format": 2 / 3,
        "temperature": 2 / 4,
        "labels x configuration": 2 / 15,
    }
    found = drafts(c)
    for name, M in wanted.items():
        T, test = by_full_covariance(c, M)
        rel = 0.25 if name == "labels x configuration" else 1e-3  # its variance is resampled
        assert math.log(found[name].p) == pytest.approx(math.log(test.p), rel=rel, abs=0.02)
        size = 1e4 * scale[name] * (T - test.expected)
        assert found[name].estimate.value == pytest.approx(size, rel=1e-3, abs=1e-2)


def test_nothing_differs_where_all_answers_are_right():
    ds = responses(questions=90)
    gold = np.broadcast_to(ds["answer"].to_numpy(), ds["option"].shape)
    data = next(each_model(read_cube(ds.assign(option=(ds["option"].dims, gold))), MANY))
    chosen = data.selection("labels")
    found = drafts(cells_of(data, chosen.personas, chosen.configurations))
    assert len(found) == 6
    cells_ = cells_of(data, chosen.personas, chosen.configurations)
    assert {d.p for d in label_drafts(cells_, True) + domain_drafts(cells_, True)} == {1.0}
    assert {d.p_fragile for d in label_drafts(cells_, True)} == {1.0}
    assert {d.p for n, d in found.items() if n != "set of right questions"} == {1.0}


def test_domains_against_plain_loops():
    c = cells()
    data = c.data
    x = data.value[np.ix_(c.personas, c.configurations)].astype(float).mean(axis=0)
    of = {d: x[:, data.cube.domain == d].mean(axis=1) for d in data.cube.domains}
    found = [d for d in domain_drafts(c, True) if d.metric == "accuracy"]
    assert [d.subject for d in found] == list(data.cube.domains)
    for d in found:
        others = np.mean([v for name, v in of.items() if name != d.subject], axis=0)
        gap = 100 * (of[d.subject] - others)
        assert d.estimate.value == pytest.approx(gap.mean(), abs=1e-4)
        assert d.by_configuration == pytest.approx(gap * np.sign(gap.mean()), abs=1e-4)
        assert d.low.value < d.estimate.value < d.high.value


def test_the_error_of_a_domain_is_that_of_resampled_questions():
    c = cells(questions=300)
    data = c.data
    draft = next(d for d in domain_drafts(c, True) if d.metric == "accuracy")
    x = data.value[np.ix_(c.personas, c.configurations)].astype(float).mean(axis=(0, 1))
    here = data.cube.domain == draft.subject
    others = [data.cube.domain == d for d in data.cube.domains if d != draft.subject]
    weights = data.weights[:, data.units.cluster]
    means = [(weights[:, w] @ x[w]) / weights[:, w].sum(axis=1) for w in (here, *others)]
    sd = 100 * float((means[0] - (means[1] + means[2]) / 2).std())
    assert (draft.high.value - draft.low.value) / 3.92 == pytest.approx(sd, rel=0.06)


def test_factors_by_plain_loops():
    c = cells()
    x = c.data.value[np.ix_(c.personas, c.configurations)].astype(float).reshape(4, 2, 3, -1)
    units = c.units

    def size(pairs):
        return 1e4 * np.mean(
            [(a - b).mean() ** 2 - float(units.variance_of_mean(a - b)) for a, b in pairs]
        )

    formats = size((x[p, 0, t], x[p, 1, t]) for p in range(4) for t in range(3))
    heats = size(
        (x[p, f, a], x[p, f, b])
        for p in range(4)
        for f in range(2)
        for a, b in ((0, 1), (0, 2), (1, 2))
    )
    draft = factor_drafts(c)[0]
    assert draft.estimate.value == pytest.approx(abs(formats - heats), rel=1e-3)
    assert draft.subject == ("format" if formats > heats else "temperature")
