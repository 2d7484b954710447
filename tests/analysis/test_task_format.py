from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from designs import responses
from nongrata.analysis.model_data import Resampling
from nongrata.analysis.task_format import task_format

FEW = Resampling(draws=200)
FORMATS = ["answer", "answer-reminder", "explain", "explain-reminder"]
ELICITATION = ["answer-only", "answer-only", "explain", "explain"]
REMINDER = ["without", "with", "without", "with"]


def study(formats=FORMATS, elicitation=ELICITATION, reminder=REMINDER, clusters=False, **how):
    ds = responses(**({
        "personas": 3, "questions": 40, "seed": 5,
        "factors": {"task_format": list(formats), "temperature": [0.0, 1.0]},
    } | how))  # fmt: skip
    Q = ds.sizes["question"]
    coords = {"elicitation": ("task_format", list(elicitation)),
              "reminder": ("task_format", list(reminder))}  # fmt: skip
    if not clusters:
        coords |= {"cluster": ("question", [f"c{i}" for i in range(Q)]),
                   "source": ("question", ["s"] * Q)}  # fmt: skip
    return ds.assign_coords(coords)


def right(ds, labels=3):
    """Right answers, (labels, formats, temperatures, Q)."""
    x = (ds["option"] == ds["answer"]) & (ds["outcome"] == 0)
    x = x.sel(model="model-0").isel(replicate=0, persona=slice(labels))
    return x.transpose("persona", "task_format", "temperature", "question").to_numpy() * 100.0


def effects(ds):
    (apart,) = task_format(ds, resampling=FEW).of("model-0").apart
    return {e.sub_factors: e for e in apart.effects}, apart


def test_effects_are_paired_t_tests():
    ds = study()
    a, ar, e, er = right(ds).mean(axis=(0, 2))
    found, _ = effects(ds)
    for names, one, other in [
        (("elicitation",), (e + er) / 2, (a + ar) / 2),
        (("reminder",), (ar + er) / 2, (a + e) / 2),
        (("elicitation", "reminder"), er - e, ar - a),
    ]:
        effect = found[names]
        sign = 1 if effect.levels[-1][0] == "with" or names == ("elicitation",) else -1
        wanted = stats.ttest_rel(one, other)
        assert sign * effect.average.estimate == pytest.approx((one - other).mean())
        assert effect.average.p == pytest.approx(wanted.pvalue)
        assert effect.average.low_together < effect.average.low
    assert found["elicitation",].levels == (("explain", "answer-only"),)
    assert found["reminder",].levels == (("with", "without"),)


def test_effects_on_each_label_are_paired_t_tests():
    ds = study()
    found, _ = effects(ds)
    for row, x in zip(found["elicitation",].labels, right(ds).mean(axis=2), strict=True):
        wanted = stats.ttest_rel((x[2] + x[3]) / 2, (x[0] + x[1]) / 2)
        assert row.effect.p == pytest.approx(wanted.pvalue)
        assert row.effect.low == pytest.approx(wanted.confidence_interval().low)
    estimates = [row.effect.estimate for row in found["elicitation",].labels]
    x = right(ds).mean(axis=2)
    d = (x[:, 2] + x[:, 3] - x[:, 0] - x[:, 1]) / 2
    noise = np.trace((np.eye(3) - 1 / 3) / 2 @ np.cov(d) / 40)
    between = found["elicitation",].between_labels
    assert between.variance == pytest.approx(np.var(estimates, ddof=1) - noise)
    assert np.mean(estimates) == pytest.approx(found["elicitation",].average.estimate)


def test_levels_against_their_mean():
    ds = study()
    result = task_format(ds, resampling=FEW).of("model-0")
    by_level = right(ds).mean(axis=(0, 2))
    formats = next(f for f in result.factors if f.factor == "task_format")
    assert formats.settings == 2
    for row, x in zip(formats.levels, by_level, strict=True):
        wanted = stats.ttest_rel(x, by_level.mean(axis=0))
        assert row.accuracy == pytest.approx(x.mean())
        assert row.effect.estimate == pytest.approx((x - by_level.mean(axis=0)).mean())
        assert row.effect.p == pytest.approx(wanted.pvalue)
    assert formats.range == pytest.approx(np.ptp(by_level.mean(axis=1)))
    assert sum(row.effect.estimate for row in formats.levels) == pytest.approx(0)
    pairs = [
        (by_level[i] - by_level[j]).mean() ** 2 - (by_level[i] - by_level[j]).var(ddof=1) / 40
        for i in range(4)
        for j in range(i)
    ]
    assert formats.between.variance == pytest.approx(np.mean(pairs) / 2)


SIX = {
    "formats": ["a1", "a2", "a3", "e1", "e2", "e3"],
    "elicitation": ["answer"] * 3 + ["explain"] * 3,
    "reminder": ["no"] * 6,
}


def test_wordings_nested_in_what_they_word():
    ds = study(**SIX)
    found, apart = effects(ds)
    assert apart.sub_factors == ("elicitation",)  # the reminder never changes
    x = right(ds).mean(axis=2)
    mean = x.mean(axis=0)
    pairs = [(0, 1), (0, 2), (1, 2), (3, 4), (3, 5), (4, 5)]

    def component(y):
        d = [y[i] - y[j] for i, j in pairs]
        return np.mean([v.mean() ** 2 - v.var(ddof=1) / 40 for v in d]) / 2

    assert apart.wording.of_average.variance == pytest.approx(component(mean))
    assert apart.wording.of_label.variance == pytest.approx(np.mean([component(y) for y in x]))
    assert [w.levels for w in apart.wording.combinations] == [
        ("a1", "a2", "a3"), ("e1", "e2", "e3")
    ]  # fmt: skip
    assert apart.wording.combinations[0].range == pytest.approx(np.ptp(mean[:3].mean(axis=1)))
    effect = found["elicitation",]
    assert effect.average.estimate == pytest.approx(mean[3:].mean() - mean[:3].mean())
    assert effect.over_wordings.estimate == pytest.approx(effect.average.estimate)
    assert effect.over_wordings.se >= effect.average.se - 1e-12


def test_one_wording_each_cannot_be_told_from_what_it_words():
    found, apart = effects(study())
    assert "cannot tell" in apart.wording.reason
    assert math.isnan(apart.wording.of_average.variance)
    assert "one wording" in found["reminder",].over_wordings.reason


def test_sub_factors_that_change_together_are_said_to_be_confounded():
    ds = study(["x", "y"], ["answer", "explain"], ["no", "yes"])
    found, _ = effects(ds)
    for effect in found.values():
        assert effect.contexts == 0
        assert effect.average.reason
        assert math.isnan(effect.average.estimate)
    assert task_format(ds, resampling=FEW).to_dataframe().height == 2 + 2 + 3


def test_a_factor_without_sub_factors_is_not_taken_apart():
    result = task_format(responses(), resampling=FEW).of("model-0")
    assert result.apart == ()
    assert [f.factor for f in result.factors] == ["format", "temperature"]


@pytest.mark.parametrize("lost", [0.0, 0.15])
def test_names_change_nothing(lost):
    ds = study(lost=lost, clusters=True)
    new = ds.assign_coords(
        persona=[f"x{9 - i}" for i in range(4)], question=[f"z{99 - i}" for i in range(40)],
        task_format=list("zyxw"),
    )  # fmt: skip
    one, other = (task_format(each, resampling=FEW).of("model-0") for each in (ds, new))
    assert [e.average for e in one.apart[0].effects] == [e.average for e in other.apart[0].effects]
    assert [r.effect for f in one.factors for r in f.levels] == [
        r.effect for f in other.factors for r in f.levels
    ]


@given(st.integers(0, 10**6))
@settings(max_examples=10, deadline=None)
def test_order_changes_no_closed_form(seed):
    rng = np.random.default_rng(seed)
    ds = study(clusters=True, questions=20, seed=seed % 89)
    new = ds.isel(
        persona=rng.permutation(4), question=rng.permutation(20), temperature=[1, 0]
    )  # fmt: skip
    one, other = (effects(each) for each in (ds, new))
    for names, effect in one[0].items():
        same = other[0][names]
        for f in ("estimate", "se", "low", "p"):
            assert getattr(same.average, f) == pytest.approx(getattr(effect.average, f))
        assert same.between_labels.variance == pytest.approx(effect.between_labels.variance)


def test_every_question_twice_in_one_cluster_changes_only_the_design_effect():
    ds = study(**SIX)
    twice = ds.isel(question=np.repeat(np.arange(40), 2))
    one, other = (task_format(each, resampling=FEW).of("model-0") for each in (ds, twice))
    assert (one.clusters, other.clusters, other.questions) == (40, 40, 80)
    a, b = one.apart[0], other.apart[0]
    assert b.effects[0].average.se == pytest.approx(a.effects[0].average.se)
    assert b.effects[0].average.p_together == a.effects[0].average.p_together
    assert b.wording.of_label.variance == pytest.approx(a.wording.of_label.variance)
    assert (one.design_effect, other.design_effect) == (1.0, pytest.approx(2 * 79 / 78, rel=0.01))


def test_missing_answers_use_each_cell_s_own_questions():
    ds = study(lost=0.2)
    result = task_format(ds, resampling=FEW).of("model-0")
    there = (ds["outcome"].sel(model="model-0") < 4).isel(replicate=0, persona=slice(3))
    there = there.transpose("persona", "task_format", "temperature", "question").to_numpy()
    accuracy = (right(ds) * there).sum(axis=3) / there.sum(axis=3)
    levels = accuracy.mean(axis=(0, 2))
    formats = result.factors[0]
    assert [row.accuracy for row in formats.levels] == pytest.approx(levels.tolist())
    assert result.fewest_questions == there.sum(axis=3).min()


def test_a_label_without_answers_somewhere_is_left_out_and_named():
    ds = study()
    ds["outcome"].loc[{"persona": "label-1", "task_format": "explain"}] = 255
    result = task_format(ds, resampling=FEW).of("model-0")
    assert result.labels == 2
    assert any(x.names == ("label-1",) for x in result.left_out)
    ds["outcome"].loc[{"persona": ["label-0", "label-2"], "temperature": 1.0}] = 255
    assert task_format(ds, resampling=FEW).of("model-0").reason


def test_half_a_run_compares_levels_under_equal_circumstances():
    ds = study()
    ds["outcome"].loc[{"task_format": "explain", "temperature": 1.0}] = 255
    result = task_format(ds, resampling=FEW).of("model-0")
    assert [f.settings for f in result.factors] == [1, 3]
    x = right(ds)[:, :, 0].mean(axis=(0, 2))
    assert [row.accuracy for row in result.factors[0].levels] == pytest.approx(x.tolist())


@pytest.mark.parametrize(
    "how",
    [{"questions": 1}, {"questions": 2}, {"personas": 1}, {"accuracy": 2.0}, {"accuracy": -1.0},
     {"lost": 0.9}, {"models": 2, "replicates": 3}, {"personas": 0}],
)  # fmt: skip
def test_corner_cases_give_no_warning_and_plain_json(how):
    result = task_format(study(**how), resampling=FEW)
    assert json.loads(result.to_json())["kind"] == "task_format"
    assert str(result)
    result.to_dataframe()
    for model in result.models:
        for row in (r for f in model.factors for r in f.levels):
            assert math.isnan(row.effect.low) == bool(row.effect.reason)


def test_the_sentence_names_the_factor_with_the_widest_range():
    ds = study()
    ds["option"].loc[{"temperature": 1.0}] = -1
    ds["outcome"].loc[{"temperature": 1.0}] = 1
    assert "levels differ most by temperature" in str(task_format(ds, resampling=FEW))
