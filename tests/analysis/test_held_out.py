from __future__ import annotations

import json

import numpy as np
import pytest

from designs import responses
from nongrata.analysis.cube import read_cube
from nongrata.analysis.held_out import held_out
from nongrata.analysis.model_data import Resampling, each_model
from nongrata.errors import NongrataError

BIG = {"format": ["a", "b", "c"], "role": ["x", "y", "z"], "temperature": [0.0, 0.5, 1.0]}


def study(**options):
    return responses(**{"questions": 120, "personas": 5, "factors": BIG, **options})


def row(found, choosing, name=""):
    return next(r for r in found.rows if (r.choosing, r.name) == (choosing, name))


@pytest.mark.parametrize("missing", [0.0, 0.03])
def test_stable_less_unstable_written_out(missing):
    ds = study(lost=missing, theta=not missing)  # probabilities leave no ties
    found = held_out(ds, stable=3).models[0]
    data = next(each_model(read_cube(ds)))
    x, there = data.value[:5], data.present[:5]
    heat = np.tile([0.0, 0.5, 1.0], 9)
    inside = data.units.halves(1, (0, 9))[0][data.units.cluster]

    def accuracy(mask):
        shown = there & mask
        return (x * shown).sum(axis=2) / shown.sum(axis=2)

    def u(a, among):
        return {
            c: np.mean([abs(a[p, c] - a[p, d]) for p in range(5) for d in among if d != c])
            for c in among
        }

    def difference(choose, judge, low, high, among):
        score = u(accuracy(choose), among)
        stable = sorted(low, key=lambda c: score[c])[:3]
        unstable = sorted(high, key=lambda c: -score[c])[:3]
        a = accuracy(judge)
        return 100 * (a[:, stable].mean() - a[:, unstable].mean())

    every = np.ones(len(inside), bool)
    cold, hot = (np.flatnonzero(heat == t).tolist() for t in (0.0, 1.0))
    cases = [("across_temperatures", "", cold, hot, range(27)),
             ("within_temperature", "1", hot, hot, hot)]  # fmt: skip
    for choosing, name, low, high, among in cases:
        ours = row(found, choosing, name)
        pools = (low, high, among)
        assert ours.fold_1 == pytest.approx(difference(inside, ~inside, *pools), abs=1e-4)
        assert ours.fold_2 == pytest.approx(difference(~inside, inside, *pools), abs=1e-4)
        assert ours.in_sample.estimate.value == pytest.approx(
            difference(every, every, *pools), abs=1e-4
        )
        assert ours.held_out.estimate.value == pytest.approx((ours.fold_1 + ours.fold_2) / 2)
        assert ours.held_out.low < ours.held_out.estimate.value < ours.held_out.high
        assert ours.optimism.value == pytest.approx(
            ours.in_sample.estimate.value - ours.held_out.estimate.value
        )
        assert len(ours.chosen) == len(ours.against) == 3
    a = accuracy(every)
    gap = 100 * (a[:, cold].mean() - a[:, hot].mean())
    assert found.temperature_gap.estimate.value == pytest.approx(gap, abs=1e-4)
    assert (found.lowest, found.highest, found.labels) == (0.0, 1.0, 5)


def test_controls_are_in_nothing():
    ds = study()
    ds["option"].values[:, -1] = -1
    ds["outcome"].values[:, -1] = 1
    assert held_out(ds).models[0].rows == held_out(study()).models[0].rows


def test_fewer_are_chosen_where_there_are_not_twice_as_many():
    found = held_out(responses(questions=60)).models[0]
    assert row(found, "across_temperatures").number == 1
    assert row(found, "across_temperatures").wanted == 4
    one = held_out(responses(factors={"temperature": [0.0, 1.0]}, questions=60)).models[0]
    assert "one configuration" in row(one, "across_temperatures").held_out.estimate.reason
    assert one.temperature_gap.estimate.defined


def test_without_temperatures_all_configurations_are_compared():
    ds = responses(factors={"format": list("abcdefgh")}, questions=60)
    found = held_out(ds).models[0]
    assert row(found, "all_configurations").number == 4
    assert not found.temperature_gap.estimate.defined
    assert np.isnan(found.lowest)


def test_models_are_counted_with_the_exact_p():
    found = held_out(study(models=5))
    sign = next(s for s in found.signs if s.choosing == "across_temperatures")
    values = [row(m, "across_temperatures").held_out.estimate.value for m in found.models]
    assert sign.positive_held_out == sum(v > 0 for v in values)
    assert sign.models == 5
    expected = {0: 0.0625, 1: 0.375, 2: 1.0, 3: 1.0, 4: 0.375, 5: 0.0625}
    assert sign.p_held_out == expected[sign.positive_held_out]
    assert not held_out(study()).signs


def test_names_and_orders_of_configurations_change_nothing():
    ds = study()
    other = ds.isel(format=[2, 0, 1], persona=[1, 0, 4, 3, 2, 5]).assign_coords(
        persona=list("uvwxyz"), role=["k", "l", "m"]
    )
    one, two = held_out(ds).models[0], held_out(other).models[0]
    for a, b in zip(one.rows, two.rows, strict=True):
        assert a.held_out.estimate.value == pytest.approx(b.held_out.estimate.value, abs=1e-6)
        assert a.held_out.se == pytest.approx(b.held_out.se, rel=1e-6)
        assert a.in_sample.estimate.value == pytest.approx(b.in_sample.estimate.value, abs=1e-6)


@pytest.mark.parametrize(
    "design",
    [
        {"personas": 1},
        {"factors": {"f": ["a"]}},
        {"accuracy": 9.0},
        {"questions": 1},
        {"questions": 2},
        {"lost": 1.0},
        {"lost": 0.9},
        {"personas": 0, "controls": 2},
        {"theta": True},
    ],
)
def test_corners_are_undefined_with_a_reason_and_json(design):
    found = held_out(responses(**design))
    assert json.loads(found.to_json())["kind"] == "held_out"
    assert "selection" in str(found)
    assert len(found.to_dataframe()) == len(found.models[0].rows)
    for each in found.models[0].rows:
        for value in (each.in_sample, each.held_out):
            assert value.estimate.defined != bool(value.estimate.reason)


def test_a_configuration_without_answers_in_a_half_is_left_out_by_name():
    ds = study()
    ds["outcome"].values[0, 0, 0, 0, 0] = 4
    found = held_out(ds).models[0]
    assert found.configurations == 26
    assert any("a · x · 0.0" in left.names for left in found.left_out)


def test_the_seed_names_the_split():
    ds = study()
    one, two, three = (
        held_out(ds, resampling=Resampling(seed=s)).models[0].rows[0].fold_1 for s in (0, 0, 1)
    )
    assert one == two != three


def test_no_number_of_configurations_is_refused():
    with pytest.raises(NongrataError, match="cannot be chosen"):
        held_out(study(), stable=0)
