from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from designs import responses
from nongrata.analysis.contrasts import contrasts
from nongrata.analysis.model_data import Resampling
from nongrata.errors import NongrataError

FEW = Resampling(draws=200)
FIELDS = ("estimate", "se", "low", "high", "p")


def study(**how):
    return responses(**({"personas": 4, "controls": 2, "questions": 40, "seed": 3} | how))


def apart(ds):
    """Every question alone: no clusters, one source."""
    Q = ds.sizes["question"]
    return ds.assign_coords(
        cluster=("question", [f"c{i}" for i in range(Q)]), source=("question", ["s"] * Q)
    )


def right(ds, persona):
    """Right answers of one persona, (K, Q)."""
    cell = ds.sel(model="model-0", persona=persona, replicate=0)
    x = (cell["option"] == ds["answer"]) & (cell["outcome"] == 0)
    order = (*ds.attrs["factors"], "question")
    return x.transpose(*order).to_numpy().reshape(-1, ds.sizes["question"]).astype(float)


def test_the_average_is_a_paired_t_test_of_question_means():
    ds = apart(study())
    result = contrasts(ds, resampling=FEW).of("model-0")
    for control in ("control-0", "control-1"):
        for row in result.of(control).labels:
            a, b = (right(ds, name).mean(axis=0) for name in (row.persona, control))
            wanted = stats.ttest_rel(100 * a, 100 * b)
            interval = wanted.confidence_interval()
            assert row.estimate == pytest.approx((a - b).mean() * 100)
            assert (row.p, row.low, row.high) == pytest.approx(
                (wanted.pvalue, interval.low, interval.high)
            )
            assert row.low_together < row.low < row.high < row.high_together


def test_every_configuration_is_a_paired_t_test():
    ds = apart(study())
    result = contrasts(ds, resampling=FEW).of("model-0")
    row = result.of("control-0").of("label-1")
    a, b = right(ds, "label-1"), right(ds, "control-0")
    assert [p.estimate for p in row.curve.points] == sorted(p.estimate for p in row.curve.points)
    assert len(row.curve.points) == 6
    for point in row.curve.points:
        c = point.configuration
        wanted = stats.ttest_rel(100 * a[c], 100 * b[c])
        assert point.estimate == pytest.approx(100 * (a[c] - b[c]).mean())
        assert point.low == pytest.approx(wanted.confidence_interval().low)
        assert point.low_together < point.low
    d = 100 * (a - b).mean(axis=1)
    assert row.curve.median == pytest.approx(np.median(d))
    assert row.curve.positive == pytest.approx(100 * (d > 0).mean())
    assert row.curve.negative == pytest.approx(100 * (d < 0).mean())
    assert result.configurations[0] == ("plain", 0.0)


def test_one_control_cell_for_several_formats_is_counted_once():
    """The same answers stand in several configurations: the pairing by question knows it."""
    ds = apart(study(duplicates=True))
    result = contrasts(ds, resampling=FEW).of("model-0").of("control-1")
    assert result.distinct_cells == 3
    row = result.of("label-0")
    a, b = right(ds, "label-0"), right(ds, "control-1")
    assert (b[:3] == b[3:]).all()
    assert row.p == pytest.approx(stats.ttest_rel(a.mean(axis=0), b[:3].mean(axis=0)).pvalue)
    assert row.configurations == 6


def test_a_bootstrap_of_clusters_gives_the_same_standard_error():
    from nongrata.analysis.cube import read_cube
    from nongrata.analysis.model_data import each_model

    ds = study(questions=120)
    data = next(each_model(read_cube(ds), Resampling(draws=4000)))
    row = contrasts(ds, resampling=FEW).of("model-0").of("control-0").of("label-2")
    drawn = (data.bootstrap_accuracy[:, 2] - data.bootstrap_accuracy[:, 4]).mean(axis=1)
    assert row.se == pytest.approx(100 * drawn.std(), rel=0.05)
    assert row.design_effect > 0


def test_missing_answers_are_compared_where_both_are_there():
    ds = apart(study(lost=0.2))
    row = contrasts(ds, resampling=FEW).of("model-0").of("control-0").of("label-0")
    there = {
        name: (ds["outcome"].sel(model="model-0", persona=name, replicate=0) < 4)
        .to_numpy()
        .reshape(6, -1)
        for name in ("label-0", "control-0")
    }
    a, b = right(ds, "label-0"), right(ds, "control-0")
    both = there["label-0"] & there["control-0"]
    d = [100 * (a[c][both[c]] - b[c][both[c]]).mean() for c in range(6)]
    assert row.estimate == pytest.approx(np.mean(d))
    assert row.curve.median == pytest.approx(np.median(d))
    assert row.fewest_questions == both.sum(axis=1).min()


@pytest.mark.parametrize("lost", [0.0, 0.15])
def test_names_change_nothing(lost):
    ds = study(lost=lost)
    new = ds.assign_coords(
        persona=[f"x{9 - i}" for i in range(6)],
        question=[f"z{99 - i}" for i in range(40)],
        format=["b", "a"],
        cluster=("question", [f"k{c[1:]}!" for c in ds["cluster"].values.tolist()]),
    )
    one, other = (contrasts(each, resampling=FEW).of("model-0") for each in (ds, new))
    for control, same in zip(one.controls, other.controls, strict=True):
        assert control.critical == same.critical
        for a, b in zip(control.labels, same.labels, strict=True):
            assert [getattr(a, f) for f in FIELDS] == [getattr(b, f) for f in FIELDS]
            assert a.curve == b.curve
            assert a.p_together == b.p_together


@given(st.integers(0, 10**6))
@settings(max_examples=10, deadline=None)
def test_order_changes_no_closed_form(seed):
    rng = np.random.default_rng(seed)
    ds = study(questions=20, seed=seed % 97)
    new = ds.isel(
        persona=rng.permutation(6), question=rng.permutation(20), format=[1, 0],
        temperature=rng.permutation(3),
    )  # fmt: skip
    one, other = (contrasts(each, resampling=FEW).of("model-0") for each in (ds, new))
    for control in ("control-0", "control-1"):
        for a in one.of(control).labels:
            b = other.of(control).of(a.persona)
            for f in FIELDS:
                assert getattr(b, f) == pytest.approx(getattr(a, f), nan_ok=True)
            assert b.curve.median == pytest.approx(a.curve.median)
            assert (b.as_sample.se, b.as_sample.low) == pytest.approx(
                (a.as_sample.se, a.as_sample.low), nan_ok=True
            )


def test_every_question_twice_in_one_cluster_changes_only_the_design_effect():
    ds = apart(study())
    twice = ds.isel(question=np.repeat(np.arange(40), 2))
    twice = twice.assign_coords(question=[f"q{i}" for i in range(80)])
    one, other = (contrasts(each, resampling=FEW).of("model-0") for each in (ds, twice))
    assert (one.clusters, other.clusters, other.questions) == (40, 40, 80)
    a, b = (each.of("control-0").of("label-0") for each in (one, other))
    for f in (*FIELDS, "low_together", "high_together"):
        assert getattr(b, f) == pytest.approx(getattr(a, f))
    assert b.curve.p_median == a.curve.p_median
    assert a.design_effect == 1.0
    assert b.design_effect == pytest.approx(2 * 79 / 78, rel=0.01)


def test_formats_are_a_sample_and_the_temperature_is_fixed():
    formats = {"persona_format": list("abcd"), "task_format": list("wxyz"), "temperature": [0, 1]}
    ds = apart(study(factors=formats))
    result = contrasts(ds, resampling=FEW).of("model-0")
    assert (result.sampled, result.fixed) == (("persona_format", "task_format"), ("temperature",))
    row = result.of("control-0").of("label-0")
    d = 100 * (right(ds, "label-0") - right(ds, "control-0")).reshape(4, 4, 2, 40).mean(axis=2)
    table = d.mean(axis=2)
    v_q = d.mean(axis=(0, 1)).var(ddof=1) / 40
    variance = v_q
    for axis in (0, 1):
        level = d.mean(axis=1 - axis)
        ms = 4 * table.mean(axis=1 - axis).var(ddof=1)
        around = level - level.mean(axis=0)
        noise = 4 * around.var(axis=1, ddof=1).sum() / 40 / 3
        variance += max(ms - noise, 0) / 16
    assert row.as_sample.estimate == pytest.approx(row.estimate)
    assert row.as_sample.se**2 == pytest.approx(variance)
    assert row.as_sample.se_questions == pytest.approx(row.se)
    assert row.as_sample.low < row.low
    all_fixed = contrasts(ds, fixed=list(formats), resampling=FEW).of("model-0")
    assert "no factor" in all_fixed.of("control-0").of("label-0").as_sample.reason
    assert contrasts(ds, fixed=[], resampling=FEW).of("model-0").sampled == tuple(formats)


def test_the_temperature_is_found_by_what_it_does():
    ds = study(factors={"heat": ["cold", "hot"], "format": ["a", "b"]})
    ds["sampling_temperature"] = (("heat", "format"), [[0.0, 0.0], [1.0, 1.0]])
    assert contrasts(ds, resampling=FEW).of("model-0").fixed == ("heat",)


def test_a_factor_of_one_level_is_no_sample():
    ds = study(factors={"format": ["a"], "temperature": [0.0, 1.0]})
    row = contrasts(ds, resampling=FEW).of("model-0").of("control-0").labels[0]
    assert row.as_sample.reason == "format has one level, so its spread is unknown"
    assert not math.isnan(row.low)


def test_half_a_run_has_no_table_of_formats():
    ds = study()
    ds["outcome"].loc[{"format": "role", "temperature": 1.0}] = 255
    row = contrasts(ds, resampling=FEW).of("model-0").of("control-0").labels[0]
    assert "not every combination" in row.as_sample.reason
    assert row.configurations == 5


def test_a_label_is_compared_where_it_has_answers():
    ds = study()
    ds["outcome"].loc[{"persona": "label-0", "format": "role"}] = 255
    row = contrasts(ds, resampling=FEW).of("model-0").of("control-0").labels[0]
    assert row.configurations == len(row.curve.points) == 3
    assert row.as_sample.reason == "not every combination has answers"


def test_equal_answers_have_no_spread():
    ds = study(personas=2)
    for name in ("option", "outcome"):
        ds[name].loc[{"persona": "label-0"}] = ds[name].sel(persona="control-0").values
    row = contrasts(ds, resampling=FEW).of("model-0").of("control-0").of("label-0")
    assert row.reason == "every question was answered alike under both, so there is no spread"
    assert (row.estimate, row.se) == (0.0, 0.0)
    assert math.isnan(row.low_together)
    assert row.verdict == "undecided"
    assert row.curve.p_median == 1.0


def test_verdicts_follow_the_smallest_effect():
    ds = study(questions=300, accuracy=0.6, personas=2, theta=True)
    ds["theta"].loc[{"persona": "label-0"}] += np.random.default_rng(0).normal(0, 0.01, 300)
    ds["theta"].loc[{"persona": "control-0"}] = ds["theta"].sel(persona="label-0") - 0.004
    said = {
        smallest: contrasts(ds, smallest_effect=smallest, resampling=FEW)
        .of("model-0").of("control-0").of("label-0").verdict
        for smallest in (0.1, 1.0)
    }  # fmt: skip
    assert said == {0.1: "differs", 1.0: "differs, but within the smallest effect"}


@pytest.mark.parametrize(
    ("how", "why"),
    [({"controls": 0}, "the study has no control"), ({"personas": 0}, "no label is left")],
)
def test_without_a_control_or_a_label_the_reason_is_said(how, why):
    result = contrasts(study(**how), resampling=FEW)
    assert why in result.of("model-0").reason
    assert why in str(result)
    assert result.to_dataframe().height == result.curves_to_dataframe().height == 0
    json.loads(result.to_json())


@pytest.mark.parametrize(
    "how",
    [{"questions": 1}, {"questions": 2}, {"personas": 1}, {"accuracy": 2.0}, {"accuracy": -1.0},
     {"factors": {"format": ["a"]}}, {"lost": 0.9}, {"models": 2, "replicates": 3}],
)  # fmt: skip
def test_corner_cases_give_no_warning_and_plain_json(how):
    result = contrasts(study(**how), resampling=FEW)
    assert json.loads(result.to_json())["kind"] == "contrasts"
    frame = result.to_dataframe()
    assert frame.height == result.models[0].controls[0].labels.__len__() * 2 * len(result.models)
    for row in (r for m in result.models for c in m.controls for r in c.labels):
        assert math.isnan(row.low) == bool(row.reason)


def test_dataframes_and_the_sentence():
    result = contrasts(study(), resampling=FEW)
    frame = result.to_dataframe()
    assert frame.height == 8
    assert set(frame["verdict"]) <= {"differs", "undecided", "equivalent"}
    curves = result.curves_to_dataframe()
    assert curves.height == 8 * 6
    assert set(curves["format"]) == {"plain", "role"}
    assert "of 4 labels differ" in str(result)


@pytest.mark.parametrize("smallest", [0.0, -1.0, math.nan, math.inf])
def test_the_smallest_effect_is_a_number_of_points(smallest):
    with pytest.raises(NongrataError, match="smallest effect"):
        contrasts(study(), smallest_effect=smallest)


def test_fixed_names_factors():
    with pytest.raises(NongrataError, match="no factor 'colour'"):
        contrasts(study(), fixed=["colour"])
