"""Variance components of a study against plain tables, and everything that could go wrong."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from designs import responses
from nongrata.analysis.components import components_of, variance_components
from nongrata.analysis.cube import read_cube
from nongrata.analysis.model_data import Resampling, each_model
from nongrata.analysis.result import plain
from nongrata.errors import NongrataError
from nongrata.stats.variance_components import crossed_components

FEW = Resampling(draws=60)
FACETS = ("persona", "format", "temperature", "question")


def study(**how):
    """A small study, every question a cluster of its own in one source unless said otherwise."""
    how = {"personas": 3, "controls": 0, "questions": 20} | how
    ds = responses(**how)
    Q = ds.sizes["question"]
    one = {"cluster": ("question", np.arange(Q).astype(str)), "source": ("question", ["a"] * Q)}
    return ds.assign_coords(one)


def parts(ds, **how):
    return variance_components(ds, resampling=FEW, **how).models[0]


def correct(ds):
    """(persona, format, temperature, replicate, question) of the first model."""
    right = (ds.option == ds.answer) & (ds.outcome == 0)
    dims = ("persona", "format", "temperature", "replicate", "question")
    return right.isel(model=0).transpose(*dims).to_numpy().astype(float)


def same(one, other, places=1e-6):
    assert [row.effect for row in one.rows] == [row.effect for row in other.rows]
    for a, b in zip(one.rows, other.rows, strict=True):
        assert a.variance == pytest.approx(b.variance, abs=places)
        assert a.given == pytest.approx(b.given, abs=places)


def test_single_draws_are_the_textbook_in_squared_points():
    ds = study()
    found, table = parts(ds), crossed_components(correct(ds)[:, :, :, 0], FACETS)
    assert [row.effect for row in found.rows] == list(table.effects)
    held = table.given(*FACETS[:3])
    for row in found.rows:
        s = table.number(*row.effect)
        assert row.variance == pytest.approx(1e4 * table.variances[s], abs=1e-3)
        assert row.given == pytest.approx(1e4 * held.variances[s], abs=1e-3)
        assert row.mean_square == pytest.approx(1e4 * table.mean_squares[s], abs=1e-3)
        assert row.degrees_of_freedom == table.degrees_of_freedom[s]
    assert math.fsum(row.per_cent for row in found.rows) == pytest.approx(100)
    assert found.confounded
    assert "drawn once" in found.about_noise
    assert "drawn once" in found.noise.reason


def test_replicates_take_the_noise_off():
    ds = study(replicates=4)
    found = parts(ds)
    x = np.moveaxis(correct(ds), 3, -1)
    table = crossed_components(x, FACETS, replicates=True)
    for row in found.rows:
        assert row.variance == pytest.approx(1e4 * table.variance(*row.effect), abs=1e-3)
    assert found.noise.value == pytest.approx(1e4 * table.noise, rel=1e-5)
    assert not found.confounded
    assert "replicates" in found.about_noise
    assert {need.facet for need in found.reliability[0].needed} == {"question", "replicate"}


def test_a_table_with_ten_replicates_and_a_negative_component():
    """Items x prompts x temperatures x replicates (issue 4), in a small form."""
    ds = study(
        personas=1,
        questions=30,
        replicates=10,
        factors={"prompt": list("abc"), "temperature": [0.1, 0.4, 0.7, 1.0]},
        seed=5,
    )
    found = parts(ds)
    right = ((ds.option == ds.answer) & (ds.outcome == 0)).isel(model=0, persona=0)
    x = right.transpose("prompt", "temperature", "question", "replicate").to_numpy().astype(float)
    # an independent computation: mean squares by their textbook formulas, with replicates nested
    a, b, q, R = x.shape
    cell, grand = x.mean(3), x.mean()
    axes = {"prompt": 0, "temperature": 1, "question": 2}
    within = ((x - cell[..., None]) ** 2).sum() / (a * b * q * (R - 1))

    def margin(*names):
        gone = tuple(i for name, i in axes.items() if name not in names)
        return cell.mean(axis=gone, keepdims=True)

    one = {name: margin(name) - grand for name in axes}
    pair = {
        (m, n): margin(m, n) - one[m] - one[n] - grand
        for m, n in (("prompt", "temperature"), ("prompt", "question"), ("temperature", "question"))
    }
    top = cell - grand - sum(one.values()) - sum(pair.values())
    n = {"prompt": a, "temperature": b, "question": q}
    total = a * b * q * R

    def ms(effect, names):
        df = math.prod(n[name] - 1 for name in names)
        return total / effect.size * (effect**2).sum() / df

    ms3 = ms(top, tuple(axes))
    sigma = {tuple(axes): (ms3 - within) / R}
    ms2 = {names: ms(effect, names) for names, effect in pair.items()}
    for names in pair:
        (other,) = set(axes) - set(names)
        sigma[names] = (ms2[names] - ms3) / (n[other] * R)
    for name, effect in one.items():
        with_it = [names for names in pair if name in names]
        others = math.prod(size for key, size in n.items() if key != name)
        two = sum(ms2[names] for names in with_it)
        sigma[(name,)] = (ms(effect, (name,)) - two + ms3) / (others * R)
    assert min(sigma.values()) < 0
    for names, value in sigma.items():
        assert found.of(*names).variance == pytest.approx(1e4 * value, abs=1e-3)
    assert found.reliability == ()  # one persona: no labels to compare


def test_exact_probabilities_hold_no_noise():
    ds = study(theta=True)
    found = parts(ds)
    theta = ds.theta.isel(model=0).transpose(*FACETS).to_numpy()
    table = crossed_components(theta.astype(float), FACETS, noise=0.0)
    for row in found.rows:
        assert row.variance == pytest.approx(1e4 * table.variance(*row.effect), abs=1e-3)
    assert found.noise.value == 0
    assert "exact" in found.about_noise


def test_names_change_nothing_and_order_no_estimate():
    ds = study(replicates=2)
    found = parts(ds)
    names = ds.assign_coords(
        persona=[f"x{i}" for i in range(3)], question=[f"y{i}" for i in range(20)]
    )
    assert plain(parts(names)) == plain(found)
    rng = np.random.default_rng(1)
    moved = ds.isel(
        persona=rng.permutation(3), temperature=rng.permutation(3), question=rng.permutation(20)
    )
    same(parts(moved), found)


@settings(max_examples=15)
@given(st.integers(0, 1000))
def test_factors_in_another_order(seed):
    ds = study(seed=seed, questions=12)
    other = ds.transpose("model", "persona", "temperature", "format", "replicate", "question")
    other = other.assign_attrs(factors=["temperature", "format"])
    one, two = parts(ds), parts(other)
    for row in one.rows:
        assert two.of(*row.effect).variance == pytest.approx(row.variance, abs=1e-6)


@pytest.mark.parametrize("theta", [True, False])
def test_every_question_twice_in_one_cluster_changes_nothing(theta):
    ds = study(theta=theta)
    twice = ds.isel(question=np.repeat(np.arange(20), 2)).assign_coords(
        question=[f"q{i}" for i in range(40)]
    )
    one, two = parts(ds), parts(twice)
    assert (two.questions, two.clusters) == (40, 20)
    assert two.design_effect > 1.9
    same(one, two)
    for a, b in zip(one.rows, two.rows, strict=True):
        assert a.se == pytest.approx(b.se, rel=1e-4, abs=1e-6, nan_ok=True)
        assert a.given_high == pytest.approx(b.given_high, rel=1e-4, abs=1e-6, nan_ok=True)


def test_a_few_missing_answers_are_no_obstacle():
    whole, lossy = parts(study(questions=300)), parts(study(questions=300, lost=0.02))
    assert 1 < lossy.missing < 3
    assert lossy.questions == 300
    for a, b in zip(whole.rows, lossy.rows, strict=True):
        assert abs(a.variance - b.variance) < 0.2 * abs(a.variance) + 1.5 * a.se


def test_many_missing_answers_are_refused_with_the_worst_cell_named():
    found = parts(study(lost=0.3))
    assert "of the answers are missing" in found.reason
    assert "label-" in found.reason
    assert found.rows == ()
    assert not found.noise.defined


def test_questions_that_were_never_asked_are_left_out():
    ds = study(questions=24)
    outcome = ds.outcome.copy()
    outcome[..., 20:] = 255
    short = ds.assign(outcome=outcome)
    found = parts(short)
    assert (found.questions, found.missing) == (20, 0)
    same(found, parts(ds.isel(question=slice(20))))


def test_strata_are_sampled_within():
    ds = study(questions=40)
    halves = ds.assign_coords(source=("question", ["a"] * 10 + ["b"] * 30))
    found = parts(halves)
    assert found.sources == 2
    assert found.of("question").degrees_of_freedom == 38
    # effects of the cells are estimated from the same accuracies
    for row in found.rows:
        if "question" not in row.effect:
            before = parts(ds).of(*row.effect)
            assert row.mean_square == pytest.approx(before.mean_square, abs=1e-3)


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"personas": 1, "factors": {"format": ["a"]}}, "nothing is compared"),
        ({"questions": 1}, "two clusters"),
    ],
)
def test_nothing_to_decompose(how, said):
    assert said in parts(study(**how)).reason


def test_no_cells():
    ds = study()
    assert "no cells" in parts(ds.assign(outcome=ds.outcome * 0 + 255)).reason


def test_what_is_no_full_crossing_is_refused():
    ds = study()
    duplicate = ds.duplicate.copy()
    duplicate[:, 1, 1] = True
    assert "no full crossing" in parts(ds.assign(duplicate=duplicate)).reason


def test_facets_of_one_level_are_no_facets():
    found = parts(study(factors={"format": ["a"], "temperature": [0.0, 1.0]}))
    assert {name for row in found.rows for name in row.effect} == {
        "persona",
        "temperature",
        "question",
    }
    alone = parts(study(personas=1))
    assert alone.of("format", "question").degrees_of_freedom == 19
    assert len(alone.reliability) == 0


@pytest.mark.parametrize("wrong", [0, 1])
def test_all_right_or_all_wrong(wrong):
    ds = study()
    found = parts(ds.assign(option=ds.option * 0 + (ds.answer + wrong) % 4))
    for row in found.rows:
        assert row.variance == pytest.approx(0, abs=1e-9)
        assert math.isnan(row.se)
        assert math.isnan(row.given_low)
        assert math.isnan(row.per_cent)
    assert math.isnan(found.design_effect)
    assert not found.reliability[0].generalizability.defined


def test_few_clusters_get_no_interval():
    found = parts(study(questions=9))
    assert "fewer than 10" in found.no_interval
    assert all(math.isnan(row.se) and math.isnan(row.given_high) for row in found.rows)
    assert math.isnan(found.reliability[0].generalizability_low)


def test_two_readings_of_reliability():
    ds = study(personas=6, questions=60)
    first, second = parts(ds).reliability
    assert first.fixed == ("format", "temperature")
    assert first.random == ("question",)
    assert second.fixed == ("temperature",)
    assert set(second.random) == {"format", "question"}
    # Brennan by hand, on the same table
    table = crossed_components(correct(ds)[:, :, :, 0], FACETS)
    v = table.variance
    universe = v("persona") + v("persona", "temperature") / 3
    error = (
        v("persona", "format") / 2
        + v("persona", "format", "temperature") / 6
        + v("persona", "question") / 60
        + v("persona", "format", "question") / 120
        + v("persona", "temperature", "question") / 180
        + v(*FACETS) / 360
    )
    assert second.universe == pytest.approx(1e4 * universe, abs=1e-3)
    assert second.relative_error == pytest.approx(1e4 * error, abs=1e-3)
    only = parts(study(factors={"temperature": [0.0, 1.0]})).reliability
    assert [r.reading for r in only] == ["other_questions"]


def test_needed_questions_reach_the_goal():
    ds = study(personas=8, questions=200, seed=1)
    found = parts(ds, goal=0.9).reliability[0]
    need = next(n for n in found.needed if n.coefficient == "relative")
    assert found.generalizability.defined
    error = found.relative_error * 200 / need.levels.value
    assert found.universe / (found.universe + error) >= 0.9
    more = found.relative_error * 200 / (need.levels.value - 1)
    assert found.universe / (found.universe + more) < 0.9
    assert found.generalizability_low < found.generalizability.value < found.generalizability_high


def test_named_facets_held_fixed():
    ds = study()
    table = crossed_components(correct(ds)[:, :, :, 0], FACETS).given("format")
    for row in parts(ds, fixed=["format"]).rows:
        assert row.given == pytest.approx(1e4 * table.variance(*row.effect), abs=1e-3)
    with pytest.raises(NongrataError, match="no facet of the cells"):
        variance_components(ds, fixed=["question"])
    with pytest.raises(NongrataError, match="no coefficient can be 1"):
        variance_components(ds, goal=1.0)


def test_forms_of_the_result():
    result = variance_components(study(models=2), resampling=FEW)
    again = json.loads(result.to_json())
    assert again["kind"] == "variance_components"
    assert len(again["models"]) == 2
    frame = result.to_dataframe()
    assert frame.height == 2 * 15
    assert frame["effect"][0] == "persona"
    without = frame["given_low"].is_null()
    assert (without == frame["interval_reason"].is_not_null()).all()
    tied = frame.row(1, named=True)  # here both formats have the same mean
    assert tied["effect"] == "format"
    assert "are equal" in tied["interval_reason"]
    few = variance_components(study(questions=8), resampling=FEW).to_dataframe()
    assert few["given_low"].is_null().all()
    assert few["interval_reason"].str.contains("clusters of questions").all()
    assert "model-0: " in str(result)
    refused = variance_components(study(lost=0.5), resampling=FEW)
    assert refused.to_dataframe().height == 0
    assert "none, " in str(refused)
    with pytest.raises(KeyError):
        result.models[0].of("nothing")


def test_the_same_answers_give_the_same_bits():
    ds = study(replicates=2, lost=0.01)
    data = next(each_model(read_cube(ds), FEW))
    found = plain(components_of(data))
    assert found == plain(components_of(next(each_model(read_cube(ds), FEW))))
    assert found == plain(parts(ds))
