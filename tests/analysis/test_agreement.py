from __future__ import annotations

import json

import numpy as np
import pytest

from designs import responses
from nongrata.analysis.agreement import agreement
from nongrata.analysis.cube import read_cube
from nongrata.analysis.model_data import Resampling
from nongrata.analysis.result import plain
from nongrata.errors import NongrataError
from nongrata.stats.agreement import agreement as coefficients
from nongrata.stats.agreement import category_counts, total_agreement

FEW = Resampling(draws=200, splits=8)


def of(ds, **options):
    return agreement(ds, resampling=FEW, **options).models[0]


def label_answers(ds, p):
    a = read_cube(ds).answers(0)
    return a.option[p], a.outcome[p], a.correct[p]


@pytest.mark.parametrize("unread", ["left_out", "category"])
def test_labels_are_what_the_plain_functions_give(unread):
    ds = responses(questions=40, lost=0.05, unread=0.1, replicates=2)
    found = of(ds, unread=unread)
    for p, row in enumerate(found.of("option", "label")):
        option, outcome, _ = label_answers(ds, p)
        each = []
        for r in range(2):
            codes, there = option[:, r], outcome[:, r] == 0
            if unread == "category":
                codes, there = np.where(there, codes, 4), outcome[:, r] < 4
            each.append(category_counts(codes, 4 + (unread == "category"), there))
        assert row.raw.estimate.value == pytest.approx(
            100 * np.mean([coefficients(c).raw.value for c in each])
        )
        for name in ("fleiss", "gwet", "alpha"):
            expected = np.mean([getattr(coefficients(c), name).value for c in each])
            assert getattr(row, name).estimate.value == pytest.approx(expected)
        assert row.total_of(3).estimate.value == pytest.approx(
            100 * np.mean([total_agreement(c, 3).value for c in each])
        )
        share = np.isin(outcome, (1, 2, 3)).sum() / (outcome < 4).sum()
        assert row.unread == pytest.approx(100 * share)
    for p, row in enumerate(found.of("correctness", "label")):
        _, outcome, correct = label_answers(ds, p)
        each = [category_counts(correct[:, r], 2, outcome[:, r] < 4) for r in range(2)]
        expected = np.mean([coefficients(c).fleiss.value for c in each])
        assert row.fleiss.estimate.value == pytest.approx(expected)


def test_the_overall_row_is_the_mean_over_labels_and_controls_are_out():
    found = of(responses(questions=40))
    assert found.labels == 4
    whole, labels = found.of("option")[0], found.of("option", "label")
    assert whole.fleiss.estimate.value == pytest.approx(
        np.mean([r.fleiss.estimate.value for r in labels])
    )
    assert whole.conger.value == pytest.approx(np.mean([r.conger.value for r in labels]))
    with_controls = of(responses(questions=40), personas="with_controls")
    assert with_controls.labels == 5


def test_intervals_hold_the_estimate_and_narrow_with_questions():
    few, many = (of(responses(questions=n)).of("correctness")[0] for n in (40, 640))
    for row in (few, many):
        for value in (row.raw, row.fleiss, row.gwet, row.alpha, row.total_of(6)):
            assert value.low <= value.estimate.value <= value.high
    assert many.raw.se < few.raw.se / 2


def test_factors_are_compared_at_the_same_number_of_levels():
    found = of(responses(questions=40))
    assert found.fixed == 2
    rows = found.of("option", "factor")
    assert [(r.name, r.compared, r.settings) for r in rows] == [
        ("format", 2, 3), ("temperature", 3, 2),
    ]  # fmt: skip
    assert [t.of for t in rows[1].total] == [2, 3]
    assert rows[1].raw.estimate.value == pytest.approx(rows[1].total_of(2).estimate.value)
    assert rows[1].total_of(3).estimate.value < rows[1].total_of(2).estimate.value
    assert "within factors" in rows[0].gwet.estimate.reason


def test_the_same_through_the_path_for_missing_answers():
    """One answer lost among many: nearly the figures of the complete study, other code."""
    ds = responses(questions=400)
    whole = of(ds)
    ds["outcome"].values[0, 0, 0, 0, 0, 5] = 4
    again = of(ds)
    for one, two in zip(whole.rows, again.rows, strict=True):
        assert one.raw.estimate.value == pytest.approx(two.raw.estimate.value, abs=0.3)
        assert one.raw.se == pytest.approx(two.raw.se, rel=0.05)
        assert one.fleiss.estimate.value == pytest.approx(two.fleiss.estimate.value, abs=0.01)


def test_names_change_nothing():
    ds = responses(questions=30, lost=0.05)
    other = ds.assign_coords(
        persona=[f"x{i}" for i in range(5)],
        question=[f"z{i}" for i in range(30)][::-1],
        format=["b", "a"],
    )
    for one, two in zip(of(ds).rows, of(other).rows, strict=True):
        for name in ("raw", "fleiss", "gwet", "alpha", "conger", "light", "total"):
            assert plain(getattr(one, name)) == plain(getattr(two, name))


def test_orders_change_no_estimate():
    ds = responses(questions=30, lost=0.05)
    rng = np.random.default_rng(0)
    other = ds.isel(question=rng.permutation(30), temperature=[2, 0, 1], persona=[3, 1, 0, 2, 4])
    one, two = of(ds), of(other)
    names = {(r.about, r.scope, r.name): r for r in two.rows}
    for row in one.rows:
        same = names[row.about, row.scope, row.name]
        for a, b in ((row.raw, same.raw), (row.fleiss, same.fleiss)):
            assert a.estimate.value == pytest.approx(b.estimate.value)
    assert one.iq_and_kappa[0].pearson.value == pytest.approx(two.iq_and_kappa[0].pearson.value)


def test_every_question_twice_in_one_cluster_leaves_estimates_and_errors():
    ds = responses(questions=30).assign_coords(cluster=("question", [f"c{i}" for i in range(30)]))
    ds = ds.assign_coords(source=("question", ["one"] * 30))
    twice = ds.isel(question=np.repeat(np.arange(30), 2))
    twice = twice.assign_coords(question=[f"q/{i}" for i in range(60)])
    one, two = of(ds), of(twice)
    for a, b in zip(one.rows, two.rows, strict=True):
        assert a.raw.estimate.value == pytest.approx(b.raw.estimate.value)
        assert a.fleiss.estimate.value == pytest.approx(b.fleiss.estimate.value)
        if a.raw.se == a.raw.se:
            assert a.raw.se == pytest.approx(b.raw.se, rel=1e-3)
    assert (two.questions, two.clusters) == (60, 30)
    assert two.design_effect.value == pytest.approx(2, rel=0.05)


@pytest.mark.parametrize(
    "design",
    [
        {"personas": 1},
        {"factors": {"f": ["a"]}},
        {"accuracy": 9.0},
        {"accuracy": -9.0},
        {"questions": 1},
        {"lost": 1.0},
        {"lost": 0.9},
        {"personas": 0, "controls": 2},
        {"unread": 1.0},
        {"theta": True},
    ],
)
def test_corners_are_undefined_with_a_reason_and_json(design):
    found = agreement(responses(**design), resampling=FEW)
    text = json.loads(found.to_json())
    assert text["kind"] == "agreement"
    assert str(found)
    found.to_dataframe()
    for row in found.models[0].rows:
        for value in (row.raw, row.fleiss, row.gwet, row.alpha):
            assert value.estimate.defined != bool(value.estimate.reason)
            if not value.estimate.defined:
                assert np.isnan([value.se, value.low, value.high]).all()


def test_one_configuration_and_one_category():
    one = of(responses(factors={"f": ["a"]})).of("option")[0]
    assert "fewer than two configurations" in one.raw.estimate.reason
    ds = responses(accuracy=9.0)
    ds["option"].values[...] = ds["answer"].values
    always = of(ds).of("correctness")[0]
    assert "one category" in always.fleiss.estimate.reason
    assert always.raw.estimate.value == 100.0
    assert np.isnan(always.raw.low)  # nothing varies: no interval


def test_the_table_has_a_row_for_each_number_of_configurations():
    found = agreement(responses(), resampling=FEW)
    table = found.to_dataframe()
    rows = found.models[0].rows
    assert len(table) == sum(len(row.total) for row in rows)
    assert table["raw"][0] == pytest.approx(rows[0].raw.estimate.value)
    without = table["fleiss_low"].is_null()
    assert without.any()
    assert (without == table["fleiss_interval_reason"].is_not_null()).all()
    assert "settings" in table.filter(scope="factor")["fleiss_interval_reason"][0]


def test_an_unknown_way_is_refused():
    with pytest.raises(NongrataError, match="unread"):
        agreement(responses(), unread="wrong")
