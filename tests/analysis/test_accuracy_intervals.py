from __future__ import annotations

import json

import numpy as np
import pytest

from designs import responses
from nongrata.analysis.accuracy import accuracy_table
from nongrata.analysis.accuracy_intervals import accuracy_intervals
from nongrata.analysis.model_data import Resampling

FEW = Resampling(draws=300, splits=5, seed=1)


def found(**settings):
    ds = responses(questions=60, **settings)
    return ds, accuracy_intervals(ds, resampling=FEW)


def test_accuracies_are_those_of_the_accuracy_table():
    ds, result = found(duplicates=True, unread=0.1, models=2)
    table = accuracy_table(ds)
    for model in ("model-0", "model-1"):
        personas = [r for r in result.of(model) if r.scope in ("label", "control")]
        expected = [r.accuracy for r in table.personas if r.model == model]
        assert [r.accuracy.value for r in personas] == pytest.approx(expected)
        configurations = result.of(model, "configuration")
        expected = [r.accuracy for r in table.configurations if r.model == model]
        assert [r.accuracy.value for r in configurations] == pytest.approx(expected)
        overall = next(r.accuracy for r in table.models if r.model == model)
        assert result.of(model, "model")[0].accuracy.value == pytest.approx(overall)


def test_levels_are_means_of_their_configurations_and_domains_of_their_questions():
    ds, result = found()
    configurations = {r.name: r.accuracy.value for r in result.of("model-0", "configuration")}
    for row in result.of("model-0", "level"):
        own = [v for name, v in configurations.items() if row.name in name.split(" · ")]
        assert row.accuracy.value == pytest.approx(np.mean(own))
    for row in result.of("model-0", "domain"):
        part = ds.isel(question=np.flatnonzero(ds["domain"].values == row.name))
        alone = accuracy_intervals(part, resampling=FEW).of("model-0", "model")[0]
        assert row.accuracy.value == pytest.approx(alone.accuracy.value)
        assert row.se == pytest.approx(alone.se)
        assert row.questions == 20


def test_every_interval_holds_its_estimate_and_says_what_it_rests_on():
    _, result = found(lost=0.1, replicates=2)
    for row in result.rows:
        assert row.low < row.accuracy.value < row.high
        assert 3.2 < (row.high - row.low) / row.se < 5.2
        assert not row.no_interval
    overall = result.of("model-0", "model")[0]
    assert (overall.questions, overall.clusters) == (60, 58)
    assert overall.design_effect == pytest.approx(1.0, abs=0.3)


def test_shared_passages_widen_the_interval():
    ds = responses(questions=60)
    for name in ("option", "outcome"):
        ds[name].values[..., 1::2] = ds[name].values[..., ::2]
    ds["answer"].values[1::2] = ds["answer"].values[::2]
    alone = ds.assign_coords(cluster=("question", [f"c{i}" for i in range(60)]))
    pairs = ds.assign_coords(cluster=("question", [f"c{i // 2}" for i in range(60)]))
    one, two = (accuracy_intervals(d, resampling=FEW).rows[0] for d in (alone, pairs))
    assert two.design_effect == pytest.approx(2.0, rel=0.08)
    assert one.design_effect == pytest.approx(1.0, rel=0.08)
    assert two.high - two.low > 1.2 * (one.high - one.low)


def test_unread_answers_have_intervals():
    ds, result = found(unread=0.2)
    row = result.of("model-0", "label")[1]
    share = 100 * float((ds["outcome"].isel(model=0, persona=1) != 0).mean())
    assert row.unread == pytest.approx(share)
    assert row.unread_low < share < row.unread_high
    clean = found()[1].of("model-0", "label")[0]
    assert (clean.unread, clean.unread_low) == (0.0, 0.0)
    assert 0 < clean.unread_high < 10
    assert np.isnan(result.of("model-0", "domain")[0].unread)


def test_names_change_nothing_but_names():
    ds, result = found(lost=0.1)
    other = ds.assign_coords(
        persona=list("vwxyz"), question=[f"z{i}" for i in range(60)], model=["m"]
    )
    again = accuracy_intervals(other, resampling=FEW)
    for one, two in zip(result.rows, again.rows, strict=True):
        assert (one.accuracy, one.se, one.low, one.high) == (
            two.accuracy,
            two.se,
            two.low,
            two.high,
        )


def test_no_answers_and_no_spread_have_reasons():
    ds = responses(questions=30)
    ds["outcome"].values[:, 1] = 255
    ds["option"].values[:, 2] = ds["answer"].values
    ds["outcome"].values[:, 2] = 0
    rows = accuracy_intervals(ds, resampling=FEW).of("model-0", "label")
    assert rows[1].accuracy.reason == "no answers yet"
    assert np.isnan(rows[1].low)
    assert rows[2].accuracy.value == 100
    assert rows[2].no_interval == "nothing varies over questions"
    assert np.isnan([rows[2].low, rows[2].high]).all()
    one = accuracy_intervals(responses(questions=1), resampling=FEW)
    assert {row.no_interval for row in one.rows} == {"one cluster of questions has no spread"}


def test_few_clusters_are_said_to_be_few():
    result = accuracy_intervals(responses(questions=8), resampling=FEW)
    assert all(row.doubtful for row in result.rows)
    assert not found()[1].rows[0].doubtful


def test_table_and_json():
    _, result = found(unread=0.1)
    frame = result.to_dataframe()
    assert frame.height == len(result.rows)
    assert frame["unread"].null_count() > 0
    assert json.loads(result.to_json())["rows"][0]["accuracy"]["value"] == pytest.approx(
        result.rows[0].accuracy.value
    )
    assert str(result).startswith("accuracy with 95% intervals: model-0 ")
    assert "\n" not in str(result)
