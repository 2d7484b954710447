from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from nongrata.engines import open_engine
from nongrata.engines.base import Batch
from nongrata.keys import model_digest
from nongrata.missing import Missing
from nongrata.plan import Plan, Reading, Requests, build_plan
from nongrata.questions.model import Question
from nongrata.store import DoneKeys
from nongrata.study import Study
from nongrata.temperature import Sampling, answer_distribution
from studies import SIMULATED, small_study

QUESTIONS = [
    Question(f"q{i}", "own", f"{i}?", tuple(f"o{j}" for j in range(3 + i % 2)), i % 3)
    for i in range(40)
]


def plan_with(model: dict[str, Any], **changes: Any) -> Plan:
    study = Study.model_validate(small_study(models=[model], **changes))
    return build_plan(study, study.personas.list, QUESTIONS)


def whole_batch(plan: Plan, reading: Reading) -> tuple[Batch, Any]:
    engine = open_engine(plan.study.models[0], plan, base=None)  # type: ignore[arg-type]
    requests: Requests = plan.slice(reading, 0, 10**9)
    missing = Missing(plan, model_digest(engine.identity), DoneKeys(np.zeros((0, 2), np.uint64)))
    batch = Batch(
        reading=reading,
        prompts=plan.prompts,
        skeleton=requests.skeleton,
        question=requests.question,
        temperature=requests.temperature,
        replicate=requests.replicate,
        key=missing.keys(requests),
    )
    return batch, engine


def part_of(batch: Batch, which: np.ndarray) -> Batch:
    return Batch(
        reading=batch.reading,
        prompts=batch.prompts,
        skeleton=batch.skeleton[which],
        question=batch.question[which],
        temperature=batch.temperature[which],
        replicate=batch.replicate[which],
        key=batch.key[which],
    )


def test_generated_answers_follow_the_distribution_that_a_pass_reports() -> None:
    """The same truth, read both ways: shares of sampled options against theta, T = .5 and 1."""
    flat = {"id": "sim", "engine": "simulated", "ability": 0.6, "question_sd": 0.5,
            "position_bias": [0.5, 0.2]}  # fmt: skip
    factors = [
        {"name": "way", "levels": [{"id": "pass", "set": {"reading": "first_token"}},
                                   {"id": "text", "set": {"reading": "free"}}]},
        {"name": "temperature", "sets": "temperature", "levels": [0, 0.5, 1]},
    ]  # fmt: skip
    slots = {"persona_prompt": "You are {persona}.", "instruction": "Pick.", "reminder": ""}
    plan = plan_with(flat, factors=factors, slots=slots, replicates=200)
    batch, engine = whole_batch(plan, "first_token")
    scores = engine.score(batch)
    texts_batch, _ = whole_batch(plan, "free")
    generated = engine.generate(texts_batch)
    letters = np.array(["ABCDEF".find(_letter(text)) for text in generated.texts])
    option = letters[generated.text]
    for heat in (0.5, 1.0):
        theta = answer_distribution(
            scores.label_logprobs, scores.other_logprobs, scores.tail_mass, heat
        )
        chi2, cells = 0.0, 0
        for q in range(len(QUESTIONS)):
            rows = (texts_batch.question == q) & (texts_batch.temperature == heat)
            width = len(QUESTIONS[q].choices)
            expected = theta.options[batch.question == q][0, :width]
            observed = np.bincount(option[rows], minlength=width)[:width]
            chi2 += ((observed - rows.sum() * expected) ** 2 / (rows.sum() * expected)).sum()
            cells += width - 1
        assert abs(chi2 - cells) < 4 * np.sqrt(2 * cells)
    cold = texts_batch.temperature == 0
    greedy = answer_distribution(
        scores.label_logprobs, scores.other_logprobs, scores.tail_mass, 0.0
    ).options.argmax(axis=1)
    by_question = {int(q): int(g) for q, g in zip(batch.question, greedy, strict=True)}
    assert all(by_question[int(q)] == o for q, o in zip(texts_batch.question[cold], option[cold],
                                                        strict=True))  # fmt: skip


def _letter(text: str) -> str:
    for form in ("Answer: ", "is (", "**"):
        if form in text:
            return text.split(form)[1][0]
    return "?"


def test_an_answer_depends_on_nothing_but_its_request() -> None:
    plan = plan_with(SIMULATED, replicates=3)
    batch, engine = whole_batch(plan, "free")
    whole = engine.generate(batch)
    rng = np.random.default_rng(1)
    order = rng.permutation(len(batch))
    for part in np.array_split(order, 7):
        again = engine.generate(part_of(batch, part))
        np.testing.assert_array_equal(again.text, whole.text[part])


def test_rates_are_what_the_truth_says() -> None:
    model = SIMULATED | {"unparsed": 0.1, "refused": 0.05, "truncated": 0.04, "error": 0.02}
    plan = plan_with(model, replicates=20)
    batch, engine = whole_batch(plan, "free")
    result = engine.generate(batch)
    n = len(batch)
    sd = np.sqrt(0.1 * 0.9 / n)
    good = np.setdiff1d(np.arange(n), list(result.errors))
    last = [result.texts[i] for i in result.text[good]]
    assert abs(len(result.errors) / n - 0.02) < 5 * sd
    assert abs(np.mean([text.startswith("It depends") for text in last]) - 0.1) < 5 * sd
    assert abs(np.mean([text.startswith("I'm sorry") for text in last]) - 0.05) < 5 * sd
    assert abs(result.truncated[good].mean() - 0.04) < 5 * sd


@pytest.mark.parametrize("name", ["persona_effects", "factor_effects"])
def test_named_effects_are_the_truth(name: str) -> None:
    strong = {"persona_effects": {"a-cook": 9.0}, "factor_effects": {"task": {"explain": 9.0}}}
    flat = {"id": "sim", "engine": "simulated", "ability": 0.0, "question_sd": 0.0}
    plan = plan_with(flat | {name: strong[name]})
    reading: Reading = "first_token" if name == "persona_effects" else "free"
    batch, engine = whole_batch(plan, reading)
    scores = engine._scores(batch).max(axis=1)
    people = [plan.coordinates[s][0] for s in batch.skeleton]
    if name == "persona_effects":
        assert set(scores[np.array(people) == "a-cook"]) == {9.0}
        assert set(scores[np.array(people) != "a-cook"]) == {0.0}
    else:
        assert set(scores) == {9.0}


def test_a_factor_that_makes_no_difference_has_no_effect() -> None:
    """NO PERSONA is sent the same prompt at every persona format, so formats cannot move it."""
    model = SIMULATED | {"persona_sd": 0.0, "factor_sd": {"persona_format": 5.0}}
    plan = plan_with(model)
    _, engine = whole_batch(plan, "free")
    effects = {
        wanted: {
            engine._skeleton_effect[s]
            for s, (persona, _) in enumerate(plan.coordinates)
            if persona == wanted
        }
        for wanted in ("no-persona", "a-cook")
    }
    assert effects["no-persona"] == {SIMULATED["ability"]}
    assert len(effects["a-cook"]) > 1


def test_it_is_marked_as_no_model() -> None:
    plan = plan_with(SIMULATED)
    _, engine = whole_batch(plan, "free")
    assert not engine.capabilities.is_model
    assert "no model" in engine.provenance["note"]


def test_an_option_is_as_likely_as_a_text_as_by_its_label() -> None:
    plan = plan_with(SIMULATED)
    batch, engine = whole_batch(plan, "first_token")
    assert engine.capabilities.likelihoods
    by_label, by_text = engine.score(batch), engine.likelihoods(batch)
    np.testing.assert_allclose(
        by_text.option_logprobs, by_label.label_logprobs[:, :, 0], rtol=1e-5, equal_nan=True
    )
    widths = np.array([len(QUESTIONS[q].choices) for q in batch.question])
    offered = np.arange(4) < widths[:, None]
    np.testing.assert_array_equal(by_text.option_tokens, offered)
    np.testing.assert_array_equal(np.isnan(by_text.option_logprobs), ~offered)
    expected = np.where(offered, (0.95 / widths)[:, None], np.nan)
    np.testing.assert_allclose(np.exp(by_text.baseline_logprobs), expected)


def test_an_impossible_option_is_not_an_absent_one() -> None:
    plan = plan_with({"id": "sim", "engine": "simulated", "ability": 2000.0, "question_sd": 0.0})
    batch, engine = whole_batch(plan, "first_token")
    logs = engine.score(batch).label_logprobs[:, :, 0]
    three = np.array([len(QUESTIONS[q].choices) == 3 for q in batch.question])
    assert np.isnan(logs[three, 3]).all()
    assert not np.isnan(logs[three, :3]).any()
    assert np.isneginf(logs[three, :3]).sum() == 2 * three.sum()
    assert not np.isnan(logs[~three]).any()


def test_every_token_is_returned_so_the_rest_is_empty_at_any_temperature() -> None:
    plan = plan_with(SIMULATED)
    batch, engine = whole_batch(plan, "first_token")
    assert engine.score(batch).tail_logsums is None
    sums = engine.score(replace(batch, heats=(0.5, 2.0))).tail_logsums
    assert sums.shape == (len(batch), 2)
    assert np.isneginf(sums).all()


def test_truncated_sampling_follows_the_truncated_distribution() -> None:
    flat = {"id": "sim", "engine": "simulated", "ability": 0.6, "position_bias": [0.5, 0.2]}
    factors = small_study()["factors"]
    factors[1]["levels"][1]["set"] = {"top_p": 0.8, "min_p": 0.3}
    plan = plan_with(flat, factors=factors, replicates=60)
    asked, engine = whole_batch(plan, "free")
    asked = part_of(asked, np.flatnonzero(asked.temperature == 1))
    # scores know no truncation, so the same prompt's untruncated distribution is at hand
    scores = engine.score(replace(asked, reading="first_token"))
    theta = answer_distribution(
        scores.label_logprobs,
        scores.other_logprobs,
        scores.tail_mass,
        Sampling(1.0, top_p=0.8, min_p=0.3),
    )
    made = engine.generate(asked)
    letters = np.array(["ABCDEF".find(_letter(text)) for text in made.texts])[made.text]
    chance = theta.options[np.arange(len(asked)), letters]
    assert chance.min() > 0  # nothing that is cut off is drawn
    assert (theta.options == 0).any()
    drawn = np.bincount(letters, minlength=4)
    expected = theta.options.sum(axis=0)
    assert np.abs(drawn - expected).max() < 5 * np.sqrt(expected.max())


def test_nothing_is_kept_so_everything_is_forgotten() -> None:
    plan = plan_with(SIMULATED)
    batch, engine = whole_batch(plan, "free")
    before = engine.generate(batch)
    assert engine.forget()
    np.testing.assert_array_equal(engine.generate(batch).text, before.text)
