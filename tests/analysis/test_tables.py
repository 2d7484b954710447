"""Accuracy, outcomes, best and worst, chance, and all of them together."""

from __future__ import annotations

import json

import numpy as np
import pytest

from designs import responses
from nongrata.analysis import (
    accuracy_table,
    analyze,
    best_and_worst,
    chance_check,
    outcome_rates,
)
from nongrata.errors import NongrataError


def hand_made():
    """Two labels, two configurations, four questions: every figure can be counted."""
    ds = responses(personas=2, controls=0, factors={"format": ["a", "b"]}, questions=4)
    ds["answer"][:] = 0
    ds["outcome"][:] = 0
    option = np.array([[[0, 0, 0, 1], [0, 1, 1, 1]], [[0, 0, 1, 1], [0, 0, 1, 1]]])
    ds["option"][:] = option[None, :, :, None, :]
    return ds


def test_accuracy_by_hand():
    ds = hand_made()
    ds["outcome"][0, 0, 0, 0, 3] = 1
    ds["outcome"][0, 0, 0, 0, 2] = 4
    ds["option"][0, 0, 0, 0, 2:] = -1
    table = accuracy_table(ds)
    cell = table.cells[0]
    assert (cell.persona, cell.levels) == ("label-0", ("a",))
    assert cell.accuracy == pytest.approx(200 / 3)
    assert cell.if_unread_right == pytest.approx(100)
    assert cell.read_only == pytest.approx(100)
    assert (cell.answers, cell.missing) == (3, 1)
    assert table.personas[0].accuracy == pytest.approx((200 / 3 + 25) / 2)
    assert table.configurations[0].accuracy == pytest.approx((200 / 3 + 50) / 2)
    frame = table.to_dataframe()
    assert frame.columns[:6] == [
        "model",
        "persona",
        "is_control",
        "duplicate",
        "format",
        "configuration",
    ]
    assert frame.height == 4


def test_accuracy_is_a_mean_over_replicates():
    ds = responses(replicates=4, lost=0.1)
    each = [accuracy_table(ds.isel(replicate=[r])).cells[0].accuracy for r in range(4)]
    assert accuracy_table(ds).cells[0].accuracy == pytest.approx(np.mean(each))


def test_a_cell_without_answers_says_so():
    ds = hand_made()
    ds["outcome"][0, 0, 0] = 255
    row = accuracy_table(ds).cells[0]
    assert np.isnan(row.accuracy)
    assert row.reason == "no answers yet"
    assert accuracy_table(ds).to_dataframe()["accuracy"].null_count() == 1


def test_outcome_rates_count_every_answer_once():
    ds = responses(unread=0.2, lost=0.2, models=2)
    result = outcome_rates(ds)
    total = int(np.prod([ds.sizes[d] for d in ds["outcome"].dims])) // 2
    for model in ("model-0", "model-1"):
        for scope in ("model", "persona", "configuration"):
            rows = [r for r in result.of(scope) if r.model == model]
            assert sum(r.wanted for r in rows) == total
            assert sum(r.unread for r in rows) == result.of("model")[int(model[-1])].unread
    row = result.of("model")[0]
    assert row.unread == int(np.isin(ds["outcome"][0], [1, 2, 3]).sum())
    assert row.missing == int(np.isin(ds["outcome"][0], [4, 255]).sum())
    assert row.rates["refused"] == pytest.approx(
        100 * row.refused / (row.wanted - row.not_obtained)
    )


def test_best_and_worst_by_hand():
    result = best_and_worst(hand_made())
    a, b = result.configurations
    assert (a.best, a.worst) == (("label-0",), ("label-1",))
    assert (b.best, b.worst) == (("label-1",), ("label-0",))
    flip = result.flips[0]
    assert flip.best_flips.value == 100.0
    assert flip.both == ("label-0", "label-1")
    assert [(s.best, s.worst) for s in result.labels] == [(50.0, 50.0), (50.0, 50.0)]


def test_ties_are_shared_never_broken():
    ds = hand_made()
    ds["option"][0, 0, 1] = ds["option"][0, 1, 1]
    result = best_and_worst(ds)
    tied = result.configurations[1]
    assert tied.best == tied.worst == ("label-0", "label-1")
    assert tied.tied
    assert [(s.best, s.worst) for s in result.labels] == [(75.0, 25.0), (25.0, 75.0)]
    flip = result.flips[0]
    assert flip.best_flips.value == 0.0
    assert flip.tied.value == 1.0
    assert flip.both == ()


def test_labels_are_compared_on_the_questions_they_share():
    ds = hand_made()
    ds["outcome"][0, 1, 0, 0, 2:] = 255
    row = best_and_worst(ds).configurations[0]
    assert row.questions == 2
    assert row.tied


def test_shares_add_up():
    result = best_and_worst(responses(personas=5, replicates=3, lost=0.02, seed=9))
    assert sum(s.best for s in result.labels) == pytest.approx(100)
    assert sum(s.worst for s in result.labels) == pytest.approx(100)
    assert result.to_dataframe().height == 3 * 6


def test_no_shared_question_is_undefined():
    ds = hand_made()
    ds["outcome"][0, 0, :, 0, :2] = 255
    ds["outcome"][0, 1, :, 0, 2:] = 255
    result = best_and_worst(ds)
    assert (
        result.flips[0].best_flips.reason == "no configuration has a question that all labels share"
    )
    assert result.labels == ()
    assert result.configurations[0].reason
    assert "undefined" in str(result)
    assert result.to_dataframe()["best_accuracy"].null_count() == 2


@pytest.mark.parametrize(("accuracy", "verdict"), [(0.25, "not above chance"), (0.9, "above both")])
def test_verdicts(accuracy, verdict):
    check = chance_check(responses(accuracy=accuracy, questions=90, seed=5))
    row = check.of("model-0")
    assert row.verdict == verdict
    assert check.rankable("model-0") == row.rankable == (verdict == "above both")
    assert ("must not be ranked" in row.sentence()) != row.rankable


def test_a_model_that_always_says_one_thing_ranks_nothing():
    ds = responses(questions=60, seed=2)
    ds["answer"][:] = np.where(np.arange(60) % 3, 1, 0)
    ds["outcome"][:] = 0
    ds["option"][:] = 1
    row = chance_check(ds).of("model-0")
    assert row.p_chance < 0.001
    assert row.verdict == "not above the best constant answer"
    assert row.positions == (1,)
    assert (row.favourite, row.favourite_share) == (1, 100.0)
    assert row.favourite_gold == pytest.approx(200 / 3)


def test_duplicates_count_once_and_levels_can_be_asked_for():
    ds = responses(controls=1, duplicates=True, questions=30)
    check = chance_check(ds, by=["format"])
    assert check.of("model-0").answers == (5 * 6 - 3) * 30
    levels = [row for row in check.rows if row.scope == "level"]
    assert [row.name for row in levels] == ["format = plain", "format = role"]
    assert sum(row.answers for row in levels) == check.of("model-0").answers
    with pytest.raises(NongrataError, match="unknown factor 'colour'"):
        chance_check(ds, by=["colour"])


def test_questions_of_a_cluster_are_one_observation():
    assert chance_check(responses(questions=12)).of("model-0").clusters == 10


def test_notices_come_for_what_must_be_known():
    ds = responses(
        unread=0.2, lost=0.1, accuracy=0.2, attrs={"limited": True, "simulated_models": ["model-0"]}
    )
    assert [n.about for n in analyze(ds).notices] == [
        "limited",
        "simulated",
        "missing",
        "unread",
        "chance",
    ]
    assert analyze(responses(accuracy=0.9, questions=90)).notices == ()


def test_the_json_form_is_strict_complete_and_the_same_every_time():
    ds = responses(models=2, replicates=2, lost=0.1, unread=0.1, theta=True, duplicates=True)
    first, second = analyze(ds).to_json(), analyze(ds.copy(deep=True)).to_json()
    assert first == second
    data = json.loads(first, parse_constant=pytest.fail)
    assert data["kind"] == "analysis"
    kinds = {part["kind"] for part in data["instability"]}
    assert kinds == {"instability"}
    assert [part["persona_set"] for part in data["instability"]] == [
        "labels",
        "with_controls",
        "as_preprint",
    ]
    undefined = data["instability"][0]["rows"][0]["ia_of_one_draw"]
    assert undefined["value"] is None
    assert undefined["reason"]


def test_every_result_is_a_line():
    analysis = analyze(responses())
    for result in (
        analysis,
        analysis.accuracy,
        analysis.outcomes,
        analysis.chance,
        analysis.best_and_worst,
        *analysis.instability,
    ):
        assert str(result)
        assert "\n" not in str(result)


def test_every_table_can_be_written(tmp_path):
    analysis = analyze(responses(models=2, lost=0.2))
    tables = {
        "accuracy": analysis.accuracy,
        "outcomes": analysis.outcomes,
        "chance": analysis.chance,
        "best": analysis.best_and_worst,
        "instability": analysis.instability[0],
    }
    for name, result in tables.items():
        frame = result.to_dataframe()
        frame.write_parquet(tmp_path / f"{name}.parquet")
        assert frame.height > 0
        assert (
            not frame.select(c for c in frame if c.dtype.is_float()).fill_null(0).sum().is_empty()
        )


def test_results_cannot_be_changed():
    analysis = analyze(responses())
    with pytest.raises(AttributeError):
        analysis.models = ()


@pytest.mark.parametrize("code", [1, 2, 3, 4, 255])
def test_only_an_answer_that_was_read_can_be_right(code):
    """Also where an importer left the right option beside another outcome."""
    ds = hand_made()
    ds["option"][:] = 0
    ds["outcome"][0, 0, 0] = code
    row = accuracy_table(ds).cells[0]
    assert not row.accuracy > 0
    assert not row.read_only > 0
