from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nongrata.loading import load_study
from nongrata.plan import READINGS, build_plan
from nongrata.plan_summary import plan_study, prompt_examples, summarise_plan
from nongrata.presets import load_preset
from nongrata.questions.model import Question
from nongrata.run_folder import duplicates
from nongrata.study import Study
from studies import loaded, small_study

QUESTIONS = [Question(f"q{i}", "own", f"{i}?", ("a", "b", "c"), i % 3) for i in range(7)]


def test_the_papers_counts() -> None:
    study = load_study("paper")
    plan, questions, mean_chars, known = plan_study(study)
    found = summarise_plan(plan, questions, mean_chars, questions_known=known)
    assert len(found.models) == 5
    assert (found.labels, found.controls, found.configurations) == (41, 2, 48)
    assert found.evaluations_per_model == 1_968
    assert found.questions == 5_013
    assert found.answers_per_model == 9_865_584
    assert found.answers == 49_327_920
    assert found.distinct_prompts_per_question == 642
    assert found.passes_per_question == {"first_token": 321, "free": 963}
    assert found.answers_per_question == {"first_token": 984, "free": 984}
    assert found.passes_per_model == 6_436_692


def test_replicates_add_draws_and_no_single_pass() -> None:
    study = load_study("paper", ["replicates=5"])
    plan, questions, mean_chars, known = plan_study(study)
    found = summarise_plan(plan, questions, mean_chars, questions_known=known)
    assert found.answers_per_question["first_token"] == 3_608
    assert found.passes_per_question == {"first_token": 321, "free": 321 * (1 + 5 + 5)}


def test_duplicates_of_the_paper_are_the_control_without_a_persona() -> None:
    study = load_preset("paper")
    personas = study.personas.resolve(Path())
    plan = build_plan(study, personas, ())
    found = duplicates(plan)
    which = {persona.id: int(row.sum()) for persona, row in zip(personas, found, strict=True)}
    assert which.pop("no-persona") == 48 - 6
    assert set(which.values()) == {0}


def requests_one_by_one(study: Study, plan: Any) -> list[tuple[str, int, int, float, int]]:
    """Every distinct request, found the slow way: cell by cell."""
    wanted: dict[tuple[str, int, int, float, int], None] = {}
    for p in range(len(plan.personas)):
        for c, levels in enumerate(study.configurations()):
            heat = study.resolve(levels)[1].temperature
            skeleton = int(plan.skeleton_of[p, c])
            reading = plan.prompts.skeletons[skeleton].reading
            for q in range(len(plan.prompts.questions)):
                if reading == "first_token":
                    wanted[reading, skeleton, q, -1.0, 0] = None
                    continue
                for r in range(1 if heat == 0 else study.replicates):
                    wanted[reading, skeleton, q, heat, r] = None
    return list(wanted)


@settings(max_examples=25)
@given(replicates=st.integers(1, 4), length=st.integers(1, 60), questions=st.integers(1, 7))
def test_slices_hold_each_distinct_request_once(
    replicates: int, length: int, questions: int
) -> None:
    study = Study.model_validate(small_study(replicates=replicates))
    plan = build_plan(study, study.personas.list, QUESTIONS[:questions])
    found = [
        (reading, int(s), int(q), -1.0 if np.isnan(t) else float(t), int(r))
        for reading in READINGS
        for part in plan.slices(reading, length)
        for s, q, t, r in zip(
            part.skeleton, part.question, part.temperature, part.replicate, strict=True
        )
    ]
    assert len(found) == len(set(found)) == sum(plan.size(reading) for reading in READINGS)
    assert set(found) == set(requests_one_by_one(study, plan))


def test_requests_give_every_answer_of_the_design() -> None:
    study = Study.model_validate(small_study(replicates=3))
    plan = build_plan(study, study.personas.list, QUESTIONS)
    total = sum(
        int(plan.answers(part).sum()) for reading in READINGS for part in plan.slices(reading, 13)
    )
    assert total == 5 * 2 * 2 * (1 + 3 + 3) * len(QUESTIONS)


def test_zero_is_repeated_only_on_request() -> None:
    for repeat, expected in ((False, 1), (True, 3)):
        study = Study.model_validate(small_study(replicates=3, repeat_at_zero=repeat))
        plan = build_plan(study, study.personas.list, QUESTIONS)
        assert plan.answers_at(0.0) == expected
        heats, counts = np.unique(plan.slice("free", 0, 90).temperature, return_counts=True)
        assert (heats.tolist(), counts[0] * 3 // expected == counts[1]) == ([0, 0.5, 1], True)


def test_truncations_of_a_single_pass_share_it_and_are_no_duplicates() -> None:
    values = small_study()
    values["factors"].append({"name": "nucleus", "sets": "top_p", "levels": [1, 0.9]})
    study = Study.model_validate(values)
    plan = build_plan(study, study.personas.list, QUESTIONS)
    plain = build_plan(Study.model_validate(small_study()), study.personas.list, QUESTIONS)
    assert plan.size("first_token") == plain.size("first_token")
    found = duplicates(plan).reshape(5, 2, 2, 3, 2)
    assert found[:4, ..., 0, 1].all()  # at temperature 0 nothing is left out
    assert not found[:4, ..., 1:, :].any()


def test_prompts_that_share_their_question_ask_it_once() -> None:
    values = small_study()
    values["prompt"] = {"system": [], "user": ["question", "instruction", "persona_prompt"]}
    values["prompt"]["persona_slots"] = ["persona_prompt"]
    values["slots"] = {}
    values["factors"][1] = {
        "name": "task",
        "levels": [{"id": "a", "slots": {"instruction": "Pick."}, "set": {"reading": "free"}}],
    }
    study = Study.model_validate(values)
    plan = build_plan(study, study.personas.list, QUESTIONS)
    part = plan.slice("free", 0, plan.size("free"))
    assert (np.diff(part.question) >= 0).all()
    assert plan.passes["free"].shape[0] == plan.size("free") / len(QUESTIONS)


def test_the_temperatures_of_one_prompt_are_back_to_back() -> None:
    study = Study.model_validate(small_study())
    plan = build_plan(study, study.personas.list, QUESTIONS)
    part = plan.slice("free", 0, 9)
    assert part.question.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    assert part.temperature.tolist() == [0, 0.5, 1] * 3
    assert len(set(part.skeleton.tolist())) == 1


def test_skeletons_that_begin_alike_are_neighbours() -> None:
    study = load_preset("paper")
    plan = build_plan(study, study.personas.resolve(Path()), ())
    for reading in READINGS:
        systems = [plan.prompts.skeletons[int(row)].system for row, _ in plan.passes[reading]]
        changes = sum(a != b for a, b in itertools.pairwise(systems))
        assert changes == max(len(set(systems)) - 1, 0)


def test_levels_that_change_nothing_are_found() -> None:
    values = small_study()
    values["factors"].append({"name": "voice", "levels": [{"id": "x"}, {"id": "y"}]})
    study = Study.model_validate(values)
    plan = build_plan(study, study.personas.list, QUESTIONS)
    found = duplicates(plan).reshape(5, 2, 2, 3, 2)
    assert found[..., 1].all()
    assert plan.coordinates[0][1][-1] is None


def test_examples_are_prompts_of_the_plan() -> None:
    study = loaded(small_study())
    plan, *_ = plan_study(study)
    examples = prompt_examples(plan, 5)
    assert len({(e.persona, tuple(e.levels.items()), e.question) for e in examples}) == 5
    for example in examples:
        assert "A. " in example.user


@pytest.mark.parametrize("number", [1, 10_000])
def test_any_number_of_examples_may_be_asked_for(number: int) -> None:
    plan, *_ = plan_study(loaded(small_study()))
    everything = len(plan.prompts.skeletons) * len(plan.prompts.questions)
    assert len(prompt_examples(plan, number)) == min(number, everything)


def test_truncations_of_cloze_are_duplicates() -> None:
    values = small_study()
    values["factors"].append({"name": "nucleus", "sets": "top_p", "levels": [1, 0.9]})
    values["factors"][1]["levels"][0]["set"] = {"reading": "cloze"}
    study = Study.model_validate(values)
    plan = build_plan(study, study.personas.list, QUESTIONS)
    found = duplicates(plan).reshape(5, 2, 2, 3, 2)
    assert found[:4, :, 0, :, 1].all()
    assert not found[:4, :, 1, 1:, 1].any()
