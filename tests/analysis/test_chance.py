"""Against chance by scope, with many tests at once, and the flags that follow from it."""

from __future__ import annotations

import numpy as np
import pytest

from designs import responses
from nongrata.analysis import analyze, best_and_worst, chance_check
from nongrata.loading import load_study
from nongrata.responses import load_run
from nongrata.runner import run_study
from studies import SIMULATED, Silent, loaded, small_study

Q = 60


def with_a_weak_half(seed=3, questions=Q):
    """Configurations of the format "role" answer at random, the others nearly always right."""
    ds = responses(questions=questions, seed=seed, accuracy=0.95, controls=1)
    rng = np.random.default_rng(seed)
    n = ds["n_options"].to_numpy()
    here = ds["option"].to_numpy()[:, :, 1]
    guess = (rng.random(here.shape) * n).astype(np.int8)
    ds["option"].values[:, :, 1] = guess
    return ds


def test_every_kind_of_cell_is_tested():
    check = chance_check(responses(questions=Q))
    counts = {
        scope: len(check.rows_of("model-0", scope))
        for scope in ("overall", "domain", "level", "configuration", "persona")
    }
    assert counts == {"overall": 1, "domain": 3, "level": 5, "configuration": 6, "persona": 5}
    assert len(check.rows) == sum(counts.values())


@pytest.mark.parametrize("lost", [0.0, 0.2])
def test_a_row_holds_the_counts_of_its_own_cells(lost):
    ds = responses(questions=Q, lost=lost, unread=0.1, duplicates=True, replicates=2, seed=4)
    check = chance_check(ds)
    outcome, option = ds["outcome"].to_numpy()[0], ds["option"].to_numpy()[0]
    once = ~ds["duplicate"].to_numpy()
    right = (option == ds["answer"].to_numpy()) & (outcome == 0)
    present = outcome < 4

    def expected(where):
        return present[where].sum()

    rows = {(row.scope, row.name): row for row in check.rows}
    assert rows["overall", ""].answers == expected(once)
    role = once.copy()
    role[:, 0] = False
    assert rows["level", "format = role"].answers == expected(role)
    one = np.zeros_like(once)
    one[:, 1, 2] = once[:, 1, 2]
    row = rows["configuration", "role · 1.0"]
    assert row.answers == expected(one)
    by_question = right[one].sum((0, 1)) / present[one].sum((0, 1))
    assert row.accuracy == pytest.approx(100 * by_question.mean())
    mine = np.zeros_like(once)
    mine[2] = True
    assert rows["persona", "label-2"].answers == expected(mine)
    read = outcome == 0
    assert row.read_only == pytest.approx(100 * right[one].sum() / read[one].sum())
    chosen = [(read[one] & (option[one] == j)).sum() for j in range(4)]
    assert row.favourite == int(np.argmax(chosen))
    assert row.favourite_share == pytest.approx(100 * max(chosen) / sum(chosen))


def test_a_configuration_of_nothing_but_repeats_is_tested_on_them():
    ds = responses(questions=Q)
    ds["duplicate"].values[:, 1, 2] = True
    check = chance_check(ds)
    row = check.rows_of("model-0", "configuration")[-1]
    assert row.answers == 5 * Q
    assert check.of("model-0").answers == 5 * 5 * Q


def test_false_claims_are_rare_over_a_whole_family():
    """Answers at random: any "above both" among 6 configurations in at most 2.5% of studies."""
    false, alone, studies = 0, 0, 80
    ds = responses(questions=40, personas=2, controls=0)
    n = ds["n_options"].to_numpy()
    rng = np.random.default_rng(8)
    ds["outcome"][:] = 0
    for _ in range(studies):
        ds["answer"].values[:] = (rng.random(40) * n).astype(np.int8)
        ds["option"].values[:] = (rng.random(ds["option"].shape) * n).astype(np.int8)
        rows = chance_check(ds).rows_of("model-0", "configuration")
        false += any(row.rankable for row in rows)
        alone += any(row.p_chance <= 0.025 for row in rows)
    assert false <= 6  # 2.5% of 80, and chance
    assert alone > 6  # each test for itself would claim something far more often


def test_the_adjusted_p_value_decides_and_is_shown():
    check = chance_check(with_a_weak_half())
    for scope in ("domain", "level", "configuration", "persona"):
        for row in check.rows_of("model-0", scope):
            assert row.tests == len(check.rows_of("model-0", scope))
            assert row.p_adjusted >= max(row.p_chance, row.p_constant)
            assert row.rankable == (row.p_adjusted <= check.alpha)
    weak = [row.name for row in check.rows_of("model-0", "configuration") if not row.rankable]
    assert weak == ["role · 0.0", "role · 0.5", "role · 1.0"]
    sentence = next(row for row in check.rows if row.name == "role · 0.0").sentence()
    assert "among 6 tests" in sentence
    assert "must not be ranked" in sentence
    assert check.at_chance("model-0") == {("role", heat) for heat in (0.0, 0.5, 1.0)}


def test_cells_at_chance_are_flagged_wherever_labels_are_ranked():
    ds = with_a_weak_half()
    result = best_and_worst(ds)
    for row in result.configurations:
        assert row.at_chance == (row.levels[0] == "role")
    assert result.to_dataframe()["at_chance"].to_list() == [False] * 3 + [True] * 3
    flips = result.flips[0]
    assert flips.at_chance == 3
    sound = best_and_worst(ds.isel(format=[0])).flips[0]
    for name in ("configurations", "tied", "distinct_best", "distinct_worst", "best_flips", "both"):
        assert getattr(flips.above_chance, name) == getattr(sound, name), name
    assert flips.configurations.value == 6
    shares = {share.persona: share for share in result.labels}
    alone = {share.persona: share for share in best_and_worst(ds.isel(format=[0])).labels}
    for name, share in shares.items():
        assert share.best_above_chance == pytest.approx(alone[name].best)
        assert share.worst_above_chance == pytest.approx(alone[name].worst)
    assert "3 of these configurations" in str(result)


def test_where_nothing_is_above_chance_the_flips_without_are_undefined():
    ds = responses(questions=30, accuracy=0.25, seed=1)
    flips = best_and_worst(ds).flips[0]
    assert flips.at_chance == 6
    assert flips.above_chance.best_flips.reason == "no configuration is shown to be above chance"
    labels = best_and_worst(ds).labels
    assert all(np.isnan(share.best_above_chance) for share in labels)
    assert all(share.at_chance for share in labels)


def test_a_notice_counts_configurations_at_chance_where_the_model_is_above():
    analysis = analyze(with_a_weak_half())
    assert analysis.chance.rankable("model-0")
    texts = [notice.text for notice in analysis.notices if notice.about == "chance"]
    assert len(texts) == 1
    assert "3 of 6 configurations" in texts[0]


def test_a_preference_for_a_place_is_noticed():
    ds = responses(questions=90, seed=2)
    rng = np.random.default_rng(1)
    lazy = rng.random(ds["option"].shape) < 0.8
    ds["option"].values[lazy] = 0
    analysis = analyze(ds)
    row = analysis.chance.of("model-0")
    assert row.position_dominates
    assert "position bias dominates" in row.position_sentence()
    assert [notice.about for notice in analysis.notices] == ["chance", "position"]
    assert not chance_check(responses(accuracy=0.9, questions=90)).of("model-0").position_dominates


def permuted(tmp_path, orders):
    values = small_study(models=[SIMULATED | {"position_bias": [3.0, 0.0, 0.0], "ability": -1.0}])
    values["factors"].append({"name": "order", "sets": "choice_order", "levels": orders})
    values["questions"]["sources"][0]["take"] = 40
    run_study(loaded(values), tmp_path / "run", Silent())
    return load_run(tmp_path / "run")


def test_places_are_those_shown_where_the_study_permutes_options(tmp_path):
    """A model that prefers the first place shown does so in any order."""
    ds = permuted(tmp_path, ["as_given", "reversed"])
    check = chance_check(ds)
    assert check.places == "shown"
    rows = {row.name: row for row in check.rows_of("sim", "level")}
    given, turned = rows["order = as_given"], rows["order = reversed"]
    assert (given.favourite, turned.favourite) == (0, 0)
    assert check.of("sim").favourite_share > 60
    # taken by the options' identity the preference would vanish from the mean
    blind = ds.drop_vars("shown_option")
    blind.attrs["options_permuted"] = True
    check = chance_check(blind)
    assert check.places == "source"
    assert check.of("sim").favourite_share < 60


def test_a_run_in_the_source_s_order_knows_its_places(tmp_path):
    run_study(loaded(small_study()), tmp_path / "run", Silent())
    ds = load_run(tmp_path / "run")
    assert "shown_option" not in ds
    assert chance_check(ds).places == "shown"
    assert chance_check(responses()).places == "source"


def test_the_smoke_preset_is_checked_whole(tmp_path):
    run_study(load_study("smoke"), tmp_path / "run", Silent())
    analysis = analyze(load_run(tmp_path / "run"))
    assert len(analysis.chance.rows_of(analysis.models[0], "configuration")) == 48
