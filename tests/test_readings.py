"""Every reading, from the study to the labelled answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

from nongrata.answer_view import view_answers
from nongrata.engines.simulated import SimulatedEngine
from nongrata.errors import NongrataError
from nongrata.responses import load_run
from nongrata.runner import run_study
from studies import SIMULATED as EVERYTHING
from studies import Silent, loaded, small_study

# what is drawn anew for each skeleton would differ between readings
SIMULATED = EVERYTHING | {"question_configuration_sd": 0}
NOTHING_LOST = {"unparsed": 0, "refused": 0, "truncated": 0}


def answers(folder: Path, values: dict[str, Any]) -> xr.Dataset:
    run_study(loaded(values), folder, Silent())
    return load_run(folder)


def with_factor(name: str, setting: str, levels: list[Any], **changes: Any) -> dict[str, Any]:
    values = small_study(**changes)
    values["factors"].append({"name": name, "sets": setting, "levels": levels})
    return values


def test_a_nucleus_is_applied_to_single_passes_and_to_texts_alike(tmp_path: Path) -> None:
    values = with_factor("nucleus", "top_p", [1, 0.6], replicates=400)
    values["models"] = [SIMULATED | NOTHING_LOST]
    values["personas"]["list"] = values["personas"]["list"][:1]
    data = answers(tmp_path / "run", values).isel(model=0, persona=0, persona_format=0)
    theta = data.theta.sel(task="answer")
    right = (data.option == data.answer).mean("replicate")
    # the drawn answers of a single pass have its probabilities
    error = np.sqrt(theta * (1 - theta) / 400) * 4.5 + 1e-9
    assert (abs(right.sel(task="answer") - theta) <= error).all()
    # the nucleus moves them, except at temperature 0
    moved = abs(theta.sel(nucleus="1") - theta.sel(nucleus="0.6")).max("question")
    assert moved.sel(temperature="0") == 0
    assert (moved.sel(temperature=["0.5", "1"]) > 0.01).all()
    # and texts drawn under it leave the same options out
    rare = theta.sel(nucleus="0.6") == 0
    assert rare.any()


def test_temperatures_above_one_are_exact_where_every_token_is_known(tmp_path: Path) -> None:
    values = small_study()
    values["factors"][2]["levels"] = [1, 2.5]
    data = answers(tmp_path / "run", values)
    assert data.attrs["largest_theta_error"] < 1e-9
    theta = data.theta.sel(task="answer")
    spread = theta.std("question")
    assert (spread.sel(temperature="2.5") < spread.sel(temperature="1")).all()


@pytest.mark.parametrize("score", ["total", "per_token", "per_byte", "corrected"])
def test_cloze_chooses_by_the_likelihood_of_the_options(tmp_path: Path, score: str) -> None:
    values = small_study()
    values["models"] = [SIMULATED | {"unparsed": 0.1}]
    values["factors"][1]["levels"][0]["set"] = {"reading": "cloze", "cloze_score": score}
    values["settings"] = {"max_tokens": 16}
    data = answers(tmp_path / "run", values)
    cells = data.isel(model=0, persona_format=0).sel(task="answer")
    assert not np.isnan(cells.theta).any()
    assert set(np.unique(cells.theta.sel(temperature="0"))) <= {0.0, 1.0}
    # every option has the same number of tokens in a simulated answer, so three scores agree
    plain = small_study()
    plain["models"] = [SIMULATED | {"unparsed": 0}]
    letters = answers(tmp_path / "letters", plain).isel(model=0, persona_format=0)
    expected = letters.sel(task="answer").theta
    if score != "per_byte":
        assert (cells.theta.sel(temperature="0") == expected.sel(temperature="0")).all()
        # without the mass outside, which the likelihood of an option's text does not see
        assert np.allclose(cells.theta.sel(temperature="1"), expected.sel(temperature="1"))
    _, views = view_answers(tmp_path / "run", str(data.question.values[0]), persona="a-cook")
    read = [view for view in views if view.reading == "cloze"]
    assert read
    assert all(sum(v.label_probabilities.values()) == pytest.approx(1) for v in read)  # type: ignore[union-attr]


def test_the_final_letter_of_a_text_is_read_as_a_distribution(tmp_path: Path) -> None:
    values = small_study(replicates=3, models=[SIMULATED])
    values["factors"][1]["levels"][1]["set"] = {"final_letter": "distribution"}
    data = answers(tmp_path / "run", values)
    assert np.isnan(data.final.sel(task="answer")).all()
    texts = data.sel(task="explain")
    answered = texts.outcome == 0
    assert (~np.isnan(texts.final) == answered).all()
    # the simulated letter has the same distribution whatever was written before it
    other = small_study(replicates=3, models=[SIMULATED])
    other["factors"][1]["levels"][1]["set"] = {"reading": "first_token"}
    exact = answers(tmp_path / "exact", other).sel(task="explain").theta
    gap = abs(texts.final - exact).where(answered)
    assert float(gap.max()) < 1e-6
    _, views = view_answers(tmp_path / "run", str(data.question.values[0]), persona="a-cook")
    told = [v for v in views if v.reading == "free" and v.label_probabilities is not None]
    assert told
    assert all(view.text and view.label for view in told)


def test_zero_is_repeated_on_request(tmp_path: Path) -> None:
    values = small_study(replicates=3, repeat_at_zero=True, models=[SIMULATED | NOTHING_LOST])
    data = answers(tmp_path / "run", values).sel(task="explain", temperature="0")
    assert (data.option == data.option.isel(replicate=0)).all()
    values["repeat_at_zero"] = False
    with pytest.raises(NongrataError, match="repeat_at_zero"):
        run_study(loaded(values), tmp_path / "run", Silent())


@pytest.mark.parametrize(
    ("missing", "setting", "says"),
    [
        ({"label_logprobs": "none"}, {"reading": "first_token"}, "returns no probabilities"),
        ({"label_logprobs": "none"}, {"final_letter": "distribution"}, "returns no probabilities"),
        ({"likelihoods": False}, {"reading": "cloze"}, "likelihood of a given text"),
        ({"generates": False}, {"reading": "free"}, "generates no text"),
        (
            {"label_logprobs": "top_n"},
            {"reading": "first_token", "temperature": 1.5},
            "only if the number of tokens is known",
        ),
    ],
)
def test_what_an_engine_cannot_do_is_refused_before_anything_is_asked(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    missing: dict[str, Any],
    setting: dict[str, Any],
    says: str,
) -> None:
    from dataclasses import replace

    able = replace(SimulatedEngine.capabilities, **missing)
    monkeypatch.setattr(SimulatedEngine, "capabilities", able)
    values = small_study()
    values["factors"][1]["levels"] = [
        {"id": "x", "set": setting, "slots": {"instruction": "Go.", "reminder": ""}}
    ]
    if "temperature" in setting:
        values["factors"].pop()
    with pytest.raises(NongrataError, match=says):
        run_study(loaded(values), tmp_path / "run", Silent())


def test_a_slice_of_the_papers_answer_only_half_takes_as_many_passes_as_planned(
    tmp_path: Path,
) -> None:
    from nongrata.loading import load_study
    from nongrata.plan_summary import plan_study, summarise_plan
    from nongrata.run_status import run_status

    values = load_study("paper", ["replicates=5"]).study.model_dump(mode="json")
    values["models"] = [SIMULATED | {"id": "sim", "factor_sd": {}}]
    values["questions"] = small_study()["questions"]
    formats = values["factors"][1]["levels"]
    values["factors"][1]["levels"] = [x for x in formats if x["id"].startswith("answer")]
    study = loaded(values)
    plan, questions, mean_chars, known = plan_study(study, limit=3)
    planned = summarise_plan(plan, questions, mean_chars, questions_known=known)
    assert planned.passes_per_question == {"first_token": 321}
    assert planned.answers_per_question == {"first_token": 3_608}
    summary = run_study(study, tmp_path / "run", Silent(), limit=3)
    assert (summary.requests, summary.answers) == (321 * 3, 3_608 * 3)
    assert run_status(tmp_path / "run").complete
    data = load_run(tmp_path / "run")
    assert int((data.outcome != 255).sum()) == 41 * 4 * 2 * 3 * 5 * 3
