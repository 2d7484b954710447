"""Noise first, labelled: agreement with `instability`, invariances, corner cases."""

from __future__ import annotations

import json

import numpy as np
import pytest

from designs import responses
from nongrata.analysis.instability import instability
from nongrata.analysis.model_data import Resampling
from nongrata.analysis.noise import noise
from nongrata.errors import NongrataError

FEW = Resampling(draws=100)


@pytest.mark.parametrize("kind", ["one draw", "replicates", "missing", "theta", "theta draws"])
def test_figures_are_those_of_instability(kind):
    ds = responses(
        questions=40,
        replicates=3 if kind == "replicates" else 1,
        lost=0.15 if kind == "missing" else 0.0,
        theta=kind.startswith("theta"),
        models=2,
    )
    value = "theta" if kind == "theta" else "draws"
    rows = [row for model in noise(ds, value=value, resampling=FEW).models for row in model.rows]
    for row, plain in zip(rows, instability(ds, value=value).rows, strict=True):
        assert (row.model, row.scope, row.name) == (plain.model, plain.scope, plain.name)
        assert (row.compared, row.settings) == (plain.compared, plain.settings)
        assert row.ia.value == pytest.approx(plain.ia.value, rel=1e-6)
        if kind != "missing":  # there a replicate's own empty unions weigh differently
            assert row.iq[-1].iq.figure.value == pytest.approx(plain.iq.value, rel=1e-4)
        assert row.rerun_floor.defined == (kind not in ("one draw", "missing"))
        assert row.iq[0].same_configuration.defined == (kind not in ("one draw", "missing"))
        assert 0 < row.p_exchangeability.value <= 1
        assert row.over_exchangeability.low < row.over_exchangeability.high
        assert row.squared_difference.se > 0
        assert (row.p_iq_contrast.defined) == (row.scope == "factor")


def test_three_kinds_of_study_are_told_apart():
    """Noise, a block of questions that prefer a level, a level that is worse."""
    rng = np.random.default_rng(0)
    found = {}
    for kind in ("noise", "interaction", "effect"):
        ds = responses(
            questions=400, controls=0, factors={"format": list("ab"), "order": [1, 2, 3]}
        )
        chance = np.full(ds["option"].shape, 0.6)
        if kind == "interaction":
            lean = rng.choice([-0.3, 0.3], 400)
            chance[:, :, 0] += lean
            chance[:, :, 1] -= lean
        if kind == "effect":
            chance[:, :, 0] -= 0.1
        right = rng.random(chance.shape) < chance
        gold = ds["answer"].values
        ds["option"].values[...] = np.where(right, gold, (gold + 1) % 3)
        found[kind] = {row.name: row for row in noise(ds, resampling=FEW).models[0].rows}
    assert found["noise"][""].p_exchangeability.value > 0.05
    assert found["interaction"]["format"].iq_contrast.value > 5
    assert found["interaction"]["format"].p_iq_contrast.value < 0.001
    assert found["interaction"][""].p_equal_accuracy.value > 0.05
    assert found["effect"][""].p_equal_accuracy.value < 0.05
    assert found["effect"]["format"].typical_difference.value == pytest.approx(10, abs=3)
    assert found["effect"]["order"].p_exchangeability.value > 0.01


def test_names_change_nothing():
    ds = responses(questions=60, replicates=2)
    other = ds.assign_coords(
        persona=[f"z{9 - i}" for i in range(ds.sizes["persona"])],
        question=[f"x{99 - i}" for i in range(ds.sizes["question"])],
        domain=("question", np.char.add("new ", ds["domain"].values.astype(str))),
        cluster=("question", np.char.add("k", ds["cluster"].values.astype(str))),
    )
    a, b = (noise(d, resampling=FEW).to_dataframe().drop("name") for d in (ds, other))
    assert a.equals(b)


def test_order_changes_no_estimate():
    ds = responses(questions=30, lost=0.1)
    other = ds.isel(
        persona=[2, 0, 1, 3, 4],
        format=[1, 0],
        temperature=[2, 0, 1],
        question=list(range(30))[::-1],
    )
    a, b = (noise(d, resampling=FEW).models[0].rows for d in (ds, other))
    for one, two in zip(a, b, strict=True):
        for name in ("ia", "exchangeability_floor", "equal_accuracy_floor", "cochran", "p_cochran",
                     "typical_difference", "design_effect", "iq_contrast"):  # fmt: skip
            first, second = getattr(one, name), getattr(two, name)
            assert first.defined == second.defined
            if first.defined:
                assert first.value == pytest.approx(second.value, rel=1e-3, abs=1e-4), name
        assert one.squared_difference.se == pytest.approx(two.squared_difference.se, rel=1e-3)
        assert one.iq[0].iq.se == pytest.approx(two.iq[0].iq.se, rel=1e-6)


def test_every_question_twice_in_one_cluster():
    import xarray as xr

    ds = responses(questions=40, controls=0)
    again = ds.assign_coords(question=[f"again {q}" for q in ds["question"].values])
    both = xr.concat(
        [ds, again], dim="question", data_vars="minimal", coords="minimal", compat="override"
    )
    a, b = (noise(d, resampling=FEW).models[0].rows[:3] for d in (ds, both))
    for one, two in zip(a, b, strict=True):
        assert (one.clusters, 2 * one.questions) == (two.clusters, two.questions)
        for name in ("ia", "exchangeability_floor", "equal_accuracy_floor", "cochran", "p_cochran",
                     "p_exchangeability", "p_equal_accuracy", "typical_difference"):  # fmt: skip
            assert getattr(one, name).value == pytest.approx(getattr(two, name).value, rel=1e-3)
        assert one.over_exchangeability.se == pytest.approx(two.over_exchangeability.se, rel=1e-4)
        assert one.iq[0].iq.low == pytest.approx(two.iq[0].iq.low)
        assert two.design_effect.value == pytest.approx(2, rel=0.1)


@pytest.mark.parametrize(
    ("design", "reason"),
    [
        ({"personas": 1, "controls": 0}, ""),
        ({"personas": 0}, "no persona is left"),
        ({"factors": {"format": ["plain"]}}, "one configuration has no pair"),
        ({"questions": 1}, ""),
        ({"lost": 1.0}, "no persona is left"),
        ({"lost": 0.7, "questions": 5}, ""),
    ],
)
def test_corner_cases(design, reason):
    result = noise(responses(**design), resampling=FEW)
    for row in result.models[0].rows:
        if reason:
            assert row.ia.reason == reason
        assert row.exchangeability_floor.defined or row.exchangeability_floor.reason
        if row.questions == 1 and not reason:
            assert row.over_equal_accuracy.figure.reason == "fewer than two clusters of questions"
    json.loads(result.to_json())
    assert len(result.to_dataframe()) == len(result.models[0].rows)
    assert str(result)


@pytest.mark.parametrize("right", [True, False])
def test_all_right_or_all_wrong(right):
    ds = responses()
    gold = ds["answer"].values
    ds["option"].values[...] = gold if right else (gold + 1) % 3
    for row in noise(ds, resampling=FEW).models[0].rows:
        assert (row.ia.value, row.exchangeability_floor.value, row.equal_accuracy_floor.value) == (
            (0, 0, 0)
        )
        assert row.typical_difference.value == 0
        for p in (row.p_exchangeability, row.p_equal_accuracy, row.p_cochran):
            assert p.reason == "no question is answered differently in two configurations"
        if right:
            assert row.iq[0].iq.figure.value == 0
        else:
            assert row.iq[0].iq.figure.reason.startswith("no persona has a question right")


def test_factor_with_one_level():
    ds = responses(factors={"format": ["plain"], "temperature": [0.0, 1.0]})
    rows = {row.name: row for row in noise(ds, resampling=FEW).models[0].rows}
    assert rows["format"].ia.reason == "the factor has one level"
    assert rows["temperature"].p_iq_contrast.reason == "there is no other factor to compare"


def test_curve_and_personas():
    model = noise(responses(questions=50), resampling=FEW).models[0]
    assert model.iq_curve[0].iq == 0
    assert [point.m for point in model.iq_curve] == [1, 2, 3, 4, 5, 6]
    assert all(p.low < p.iq < p.high for p in model.iq_curve[1:] if not np.isnan(p.low))
    assert len(model.by_persona) == 4
    for persona in model.by_persona:
        assert persona.df == 5
        assert persona.p_adjusted.value >= persona.p.value


def test_the_floor_of_the_curve_is_that_of_the_rows():
    ds = responses(questions=30, theta=True)
    for value in ("theta", "draws"):
        model = noise(ds, value=value, resampling=FEW).models[0]
        by_m = {point.m: point.same_configuration.value for point in model.iq_curve}
        for at in model.rows[0].iq:
            assert by_m[at.m] == pytest.approx(at.same_configuration.value, rel=1e-5)
        assert by_m[1] == pytest.approx(0, abs=1e-5)
        assert list(by_m.values()) == sorted(by_m.values())


def test_the_floor_of_the_curve_ends_where_there_are_too_few_replicates():
    model = noise(responses(questions=30, replicates=3), resampling=FEW).models[0]
    floors = [point.same_configuration for point in model.iq_curve]
    assert [floor.defined for floor in floors] == [True] * 3 + [False] * 3
    assert "nor 4 replicates" in floors[3].reason
    assert floors[1].value == pytest.approx(model.rows[0].iq[0].same_configuration.value)


def test_same_seed_same_bits():
    ds = responses(questions=50, lost=0.1)
    assert noise(ds, resampling=FEW).to_json() == noise(ds, resampling=FEW).to_json()


def test_bad_input():
    with pytest.raises(NongrataError, match="no exact probabilities"):
        noise(responses(), value="theta", resampling=FEW)
    with pytest.raises(NongrataError, match="unknown kind of value"):
        noise(responses(), value="both", resampling=FEW)  # type: ignore[arg-type]
