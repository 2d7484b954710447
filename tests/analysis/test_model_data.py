from __future__ import annotations

import numpy as np
import pytest

from designs import responses
from nongrata.analysis.cube import read_cube
from nongrata.analysis.model_data import Resampling, each_model
from nongrata.analysis.selection import select

FEW = Resampling(draws=200, splits=5, seed=3)


def data_of(ds=None, resampling=FEW, **settings):
    return next(each_model(read_cube(responses(**settings) if ds is None else ds), resampling))


def cells(ds):
    """Every cell of the first model by plain loops: persona, configuration, answers, theta."""
    factors = ds.attrs["factors"]
    one = ds.isel(model=0)
    right = (one["option"] == one["answer"]) & (one["outcome"] == 0)
    stacked = {"there": one["outcome"] < 4, "right": right, "theta": one["theta"]}
    return {
        name: x.stack(configuration=factors).transpose("persona", "configuration", ...).to_numpy()
        for name, x in stacked.items()
    }


@pytest.mark.parametrize("settings", [
    {"replicates": 3}, {"replicates": 3, "lost": 0.3}, {"lost": 0.5}, {"unread": 0.3},
    {"theta": True, "lost": 0.3},
])  # fmt: skip
def test_value_is_theta_or_the_mean_of_the_replicates_there_are(settings):
    ds = responses(seed=1, **settings)
    if settings.get("theta"):
        ds["theta"].values[..., ::2] = np.nan
    data, found = data_of(ds), cells(ds)
    P, K, _, Q = found["right"].shape
    for p in range(P):
        for c in range(K):
            for q in range(Q):
                theta = found["theta"][p, c, q]
                there = found["there"][p, c, :, q]
                right = found["right"][p, c, :, q]
                if not np.isnan(theta):
                    expected, known = theta, True
                elif there.any():
                    expected, known = right[there].mean(), True
                else:
                    expected, known = 0.0, False
                assert data.present[p, c, q] == known
                assert data.value[p, c, q] == pytest.approx(expected, rel=1e-6)
    assert data.complete == bool(data.present.all())
    a = np.array([[data.value[p, c][data.present[p, c]].mean() for c in range(K)]
                  for p in range(P)])  # fmt: skip
    assert np.allclose(data.accuracy, a, rtol=1e-5)


def test_a_cell_without_answers_has_no_accuracy_and_no_warning():
    ds = responses(replicates=2)
    ds["outcome"].values[0, 1, 0, 0] = 255
    data = data_of(ds)
    gone = np.zeros((5, 6), bool)
    gone[1, 0] = True
    assert (np.isnan(data.accuracy) == gone).all()
    assert np.isnan(data.bootstrap_accuracy[:, 1, 0]).all()


def test_resampled_accuracies_are_weighted_means_of_questions():
    for lost in (0.0, 0.3):
        data = data_of(questions=30, lost=lost, seed=2)
        of_question = data.weights[:, data.units.cluster].astype(np.float64)
        for b in (0, 7, 199):
            w = of_question[b]
            expected = (data.value * w).sum(axis=2) / (data.present * w).sum(axis=2)
            assert np.allclose(data.bootstrap_accuracy[b], expected, rtol=1e-4)
    assert data.counts is not None
    assert np.allclose(data.resample(data.counts)[3], (data.present * of_question[3]).sum(axis=2),
                       rtol=1e-5)  # fmt: skip


def test_clusters_and_sources_become_units():
    data = data_of(questions=12)
    assert len(data.units) == 10
    assert data.units.strata == 2
    assert data.totals.shape == (5, 6, 10)
    assert np.allclose(data.totals.sum(axis=2), data.value.sum(axis=2), rtol=1e-6)


def test_noise_is_the_variance_of_a_mean_of_replicates():
    data = data_of(replicates=4, lost=0.2, seed=5)
    there = data.answers.present[1]
    u = data.noise(1)
    for c in range(u.shape[0]):
        for q in range(u.shape[1]):
            x = data.answers.correct[1, c, there[c, :, q], q]
            if len(x) == 0:
                assert u[c, q] == 0
            elif len(x) == 1:
                assert np.isnan(u[c, q])
            else:
                assert u[c, q] == pytest.approx(x.astype(float).var(ddof=1) / len(x), rel=1e-6)


def test_noise_is_unbiased_for_the_variance_of_the_value():
    rng = np.random.default_rng(0)
    ds = responses(replicates=3, questions=3000, personas=1, controls=0, accuracy=0.6)
    truth = rng.uniform(0.2, 0.9, 3000)
    right = rng.random(ds["option"].shape) < truth
    ds["option"].values[...] = np.where(right, ds["answer"].values, -1)
    data = data_of(ds)
    expected = (truth * (1 - truth) / 3).mean()
    assert data.noise(0).mean() == pytest.approx(expected, rel=0.03)


def test_a_single_draw_has_unknown_noise_unless_it_is_cold_or_theta():
    data = data_of()
    assert np.isnan(data.noise(0)).all()
    assert not data.exact.any()
    known = data_of(theta=True)
    assert (known.noise(0) == 0).all()
    assert known.exact.all()
    ds = responses()
    cold = ("temperature", [0.0, 0.5, 1.0])
    ds["sampling_temperature"] = (("format", "temperature"), np.tile(cold[1], (2, 1)))
    heated = data_of(ds)
    at_zero = heated.cube.temperature == 0
    assert (heated.exact == at_zero).all()
    assert (heated.noise(0)[at_zero] == 0).all()
    assert np.isnan(heated.noise(0)[~at_zero]).all()


def test_a_cold_cell_whose_replicates_differ_is_not_exact():
    ds = responses(replicates=2)
    ds["sampling_temperature"] = (("format", "temperature"), np.zeros((2, 3)))
    ds["option"].values[...] = ds["answer"].values
    ds["outcome"].values[...] = 0
    assert data_of(ds).exact.all()
    ds["option"].values[0, 2, 1, 1, 0, 4] = -1  # one replicate of one answer
    mixed = data_of(ds)
    assert mixed.exact.sum() == mixed.exact.size - 1
    assert not mixed.exact[2, 4]
    assert mixed.noise(2)[4, 4] == pytest.approx(0.25)


def test_theta_in_some_cells_and_draws_in_others():
    ds = responses(theta=True, replicates=2)
    ds["theta"].values[:, :, :, 1:] = np.nan
    data = data_of(ds)
    with_theta = ~np.isnan(data.answers.theta).any(axis=2)
    assert (data.exact == with_theta).all()
    assert (data.noise(0)[with_theta[0]] == 0).all()
    assert not np.isnan(data.noise(0)).any()
    assert (data.value[with_theta] == data.answers.theta[with_theta]).all()


def test_names_change_nothing_and_the_seed_does():
    ds = responses(questions=40, lost=0.1)
    other = ds.assign_coords(
        question=[f"z{i}" for i in range(40)], persona=list("vwxyz"),
        cluster=("question", [f"k{name}" for name in ds["cluster"].values]),
        source=("question", ["b" if s == "one" else "a" for s in ds["source"].values]),
    )  # fmt: skip
    one, two = data_of(ds), data_of(other)
    assert (one.weights == two.weights).all()
    assert np.array_equal(one.bootstrap_accuracy, two.bootstrap_accuracy)
    assert (data_of(ds, Resampling(200, 5, 4)).weights != one.weights).any()


def test_selection_is_that_of_the_instability_figures():
    data = data_of(duplicates=True)
    chosen = data.selection("labels")
    expected = select(data.cube, data.present.any(axis=2), "labels")
    assert (chosen.personas == expected.personas).all()
    assert chosen.left_out == expected.left_out
    assert data.controls.tolist() == [4]
    assert len(data.selection("as_preprint").personas) == 5


def test_every_model_has_its_own_answers_and_the_same_weights():
    cube = read_cube(responses(models=2, questions=30))
    one, two = each_model(cube, FEW)
    assert (one.model, two.model) == cube.models
    assert not np.array_equal(one.value, two.value)
    assert (one.weights == two.weights).all()
