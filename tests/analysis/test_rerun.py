from __future__ import annotations

import json

import numpy as np
import pytest

from designs import responses
from nongrata.analysis import instability
from nongrata.analysis.rerun import rerun
from nongrata.errors import NongrataError
from nongrata.responses import load_run
from nongrata.runner import run_study
from studies import SIMULATED, Silent, loaded, small_study

# what is drawn anew for each skeleton would differ between readings
NOTHING_LOST = {"unparsed": 0, "refused": 0, "truncated": 0, "question_configuration_sd": 0}


def exact(**changes):
    """Answers that are draws from their probabilities, as a run of single passes has them."""
    ds = responses(**({"theta": True, "questions": 40, "seed": 1} | changes))
    theta = ds["theta"].to_numpy()[..., None, :]
    rng = np.random.default_rng(2)
    right = rng.random(ds["option"].shape) < theta
    answer, n = ds["answer"].to_numpy(), ds["n_options"].to_numpy()
    ds["option"].values[:] = np.where(right, answer, (answer + 1) % n)
    ds["option"].values[ds["outcome"].to_numpy() != 0] = -1
    return ds


@pytest.mark.parametrize("replicates", [1, 3])
@pytest.mark.parametrize("lost", [0.0, 0.1])
@pytest.mark.parametrize("personas", ["labels", "as_preprint"])
def test_the_run_s_own_figures_are_those_of_the_analysis(replicates, lost, personas):
    ds = exact(replicates=replicates, lost=lost)
    result = rerun(ds, personas, draws=20).of("model-0")
    row = instability(ds, personas).of("model-0", "overall")[0]
    for metric, figure in [
        ("ia", row.ia), ("io", row.io), ("iq", row.iq), ("iq_of_two", row.iq_at(2)),
        ("rank_shift", row.rank_shift), ("spread", row.spread),
    ]:  # fmt: skip
        assert result.figure(metric).observed == pytest.approx(figure.value, rel=1e-11), metric


def test_re_runs_have_the_expectation_of_one_draw_and_replicates_narrow_them():
    one = rerun(exact(), draws=400)
    expected = instability(exact(), value="theta").of("model-0", "overall")[0].ia_of_one_draw
    ia = one.of("model-0").figure("ia")
    assert ia.expected == pytest.approx(expected.value, abs=5 * ia.error + 0.02 * expected.value)
    assert ia.low < ia.expected < ia.high
    four = rerun(exact(replicates=4), draws=400).of("model-0").figure("ia")
    assert four.sd == pytest.approx(ia.sd / 2, rel=0.25)
    assert four.expected == pytest.approx(ia.expected, abs=5 * ia.error)


def test_the_run_falls_anywhere_among_its_re_runs():
    below = [rerun(exact(seed=s), draws=60).of("model-0").figure("ia").below for s in range(25)]
    # the answers' noise has the same seed, the probabilities have not
    assert 0 < np.mean(below) < 100
    assert max(below) - min(below) > 30


def test_other_names_change_names_only():
    ds = exact(models=2, lost=0.05)
    renamed = ds.assign_coords(
        model=["x", "y"], persona=[f"other {i}" for i in range(5)], format=["b", "a"]
    )
    before, after = rerun(ds, draws=30), rerun(renamed, draws=30)
    assert before.to_dataframe().drop("model").equals(after.to_dataframe().drop("model"))
    numbers = [result.labels_to_dataframe().drop("model", "persona") for result in (before, after)]
    assert numbers[0].equals(numbers[1])


def test_the_same_seed_is_the_same_result_and_another_is_not():
    first, second = rerun(exact(), draws=20), rerun(exact(), draws=20)
    assert first.to_json() == second.to_json()
    assert rerun(exact(), draws=20, seed=1).to_json() != first.to_json()


def test_shares_of_labels_add_up():
    result = rerun(exact(), draws=50).of("model-0")
    assert sum(label.best for label in result.labels) == pytest.approx(100)
    assert sum(label.worst for label in result.labels) == pytest.approx(100)
    assert sum(label.observed_best for label in result.labels) == pytest.approx(100)


def test_a_duplicate_repeats_its_cell():
    ds = exact(duplicates=True)
    for name in ("option", "outcome", "theta"):
        ds[name].values[:, -1, 1:] = ds[name].values[:, -1, :1]
    again = rerun(ds, "as_preprint", draws=40).of("model-0")
    alone = rerun(ds.isel(persona=[4]), "as_preprint", draws=40).of("model-0")
    assert again.configurations == 6
    # three pairs of equal cells, and each of the other 12 pairs: never six draws of their own
    other = ds.isel(persona=[4]).copy(deep=True)
    other["duplicate"][:] = False
    free = rerun(other, "as_preprint", draws=40).of("model-0")
    assert alone.figure("ia").expected < 0.95 * free.figure("ia").expected


def generated(tmp_path, *, replicates, letters=False, heats=(0, 0.5, 1)):
    values = small_study(replicates=replicates, models=[SIMULATED | NOTHING_LOST])
    if letters:
        values["factors"][1]["levels"][1]["set"] = {"final_letter": "distribution"}
    values["factors"][2]["levels"] = list(heats)
    run_study(loaded(values), tmp_path / "run", Silent())
    return load_run(tmp_path / "run")


def test_without_probabilities_a_configuration_is_left_out_and_named(tmp_path):
    result = rerun(generated(tmp_path, replicates=1), draws=20).of("sim")
    assert [(b.basis, b.cells, b.configurations) for b in result.bases] == [
        ("exact", 18, 6),
        ("fixed", 6, 2),
    ]
    assert result.configurations == 8
    gone = [left for left in result.left_out if left.what == "configuration"]
    assert len(gone) == 1
    assert gone[0].names == tuple(
        f"{form} · explain · {heat}" for form in ("you", "play") for heat in ("0.5", "1")
    )
    assert "is not known" in gone[0].why


def test_replicates_give_shares_and_say_so(tmp_path):
    result = rerun(generated(tmp_path, replicates=4), draws=20).of("sim")
    assert [(b.basis, b.cells) for b in result.bases] == [
        ("exact", 18),
        ("fixed", 6),
        ("replicates", 12),
    ]
    assert "plug-in" in result.bases[-1].meaning
    assert result.configurations == 12


def test_final_letters_give_probabilities_with_one_replicate(tmp_path):
    ds = generated(tmp_path, replicates=1, letters=True)
    read = ~np.isnan(ds.final)
    assert (read == ~np.isnan(ds.final_mass)).all()
    assert (ds.final <= ds.final_mass + 1e-6).where(read, other=True).all()
    result = rerun(ds, draws=300).of("sim")
    assert [(b.basis, b.cells) for b in result.bases] == [
        ("exact", 18),
        ("fixed", 6),
        ("letters", 12),
    ]
    # the simulated letter has the same distribution whatever is written: so theta is known
    values = small_study(models=[SIMULATED | NOTHING_LOST])
    values["factors"][1]["levels"][1]["set"] = {"reading": "first_token"}
    run_study(loaded(values), tmp_path / "exact", Silent())
    known = rerun(load_run(tmp_path / "exact"), draws=300).of("sim")
    for metric in ("accuracy", "ia", "iq_of_two"):
        a, b = result.figure(metric), known.figure(metric)
        assert a.expected == pytest.approx(b.expected, abs=5 * (a.error + b.error)), metric
        assert a.sd == pytest.approx(b.sd, rel=0.3)


def test_temperature_zero_has_no_spread(tmp_path):
    result = rerun(generated(tmp_path, replicates=2, heats=[0]), draws=10).of("sim")
    for figure in result.figures:
        assert figure.sd == 0, figure.metric
        assert figure.expected == pytest.approx(figure.observed)
        assert figure.below == 50


def test_nothing_to_draw_is_said_not_guessed():
    result = rerun(responses(), draws=10)
    row = result.of("model-0")
    assert row.configurations == 0
    assert row.labels == ()
    assert all(figure.reason and np.isnan(figure.expected) for figure in row.figures)
    json.loads(result.to_json(), parse_constant=pytest.fail)
    assert "no re-run has such a figure" in str(result)
    assert result.to_dataframe()["expected"].null_count() == len(row.figures)


def test_the_result_is_strict_json_and_a_line():
    result = rerun(exact(models=2, lost=0.1), draws=10)
    data = json.loads(result.to_json(), parse_constant=pytest.fail)
    assert data["kind"] == "rerun"
    assert (data["draws"], data["seed"]) == (10, 0)
    assert "no uncertainty about other questions" in data["read_it"]
    assert "\n" not in str(result)
    assert result.to_dataframe().height == 18
    assert result.labels_to_dataframe().height == 8


def test_labels_at_chance_are_flagged():
    weak = rerun(exact(accuracy=0.25, questions=20), draws=10).of("model-0")
    assert not weak.rankable
    assert weak.at_chance == weak.configurations
    assert all(label.at_chance for label in weak.labels)
    strong = rerun(exact(accuracy=0.95, questions=90), draws=10).of("model-0")
    assert strong.rankable
    assert not any(label.at_chance for label in strong.labels)


@pytest.mark.parametrize("changes", [{"draws": 1}, {"seed": -1}])
def test_what_cannot_be_drawn_is_refused(changes):
    with pytest.raises(NongrataError, match="cannot be made"):
        rerun(exact(), **changes)


def test_progress_reaches_its_end():
    told = []
    rerun(exact(models=2, replicates=2), draws=5, progress=lambda *at: told.append(at))
    assert told[-1][0] == told[-1][1]
    assert [done for done, _ in told] == sorted(done for done, _ in told)
