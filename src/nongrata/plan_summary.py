"""A plan in numbers: what a study asks, what that takes, and examples of what is sent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from nongrata.errors import NongrataError
from nongrata.estimates import ModelEstimate, estimate, price, why_not_timed
from nongrata.loading import LoadedStudy
from nongrata.plan import READINGS, Plan, build_plan
from nongrata.prompts import Messages
from nongrata.questions.model import QuestionSet
from nongrata.speeds import Speeds

# Measured over the three public question sets with the tokenizers of small open models; a plan is
# an estimate and says so.
CHARS_PER_TOKEN = 4.2
TEMPLATE_TOKENS = 14
# Bytes on disk per request and per generated token, measured on runs of the demo model over real
# questions (64 other tokens are kept per single pass); per prompt, on 3.2 million of them.
ROW_BYTES = {"first_token": 310.0, "cloze": 90.0, "free": 42.0}
TEXT_BYTES_PER_TOKEN = 2.0
PROMPT_BYTES = 4.0


@dataclass(frozen=True, slots=True)
class PlanSummary:
    """Counts of a study, for one model and for all.

    Parameters
    ----------
    study
        The study's name.
    models
        Ids of its models.
    labels, controls
        Persona labels, controls included, and how many of them are controls.
    factors
        Number of levels of each factor.
    configurations
        Product of the numbers of levels.
    evaluations_per_model
        Labels times configurations.
    questions
        Number of questions.
    questions_known
        False if the question files are not at hand and the declared numbers were used.
    replicates
        Draws of every cell at a positive temperature.
    answers_per_model, answers
        Answers of the design.
    answers_per_question
        By reading.
    distinct_prompts_per_question
        Prompts that differ in their text, for one question.
    passes_per_question
        Forward passes for one question, by reading.
    passes_per_model, passes
        Forward passes: what is asked of the engines.
    prompt_tokens_per_model, completion_tokens_per_model
        Estimates; the latter at most.
    disk_bytes
        Estimate for the whole run directory.
    passes_per_second
        Speed by model over all its passes, as given or measured; empty if unknown.
    hours
        By model, where the speed is known.
    engines
        How many engines are taken to work side by side.
    estimates
        More about a model's time and tokens, where its speed is known by reading.
    cost
        By model, where its description names prices: of measured tokens, or of the estimate.
    not_timed
        Why a model has no hours though speeds were given.
    """

    study: str
    models: tuple[str, ...]
    labels: int
    controls: int
    factors: Mapping[str, int]
    configurations: int
    evaluations_per_model: int
    questions: int
    questions_known: bool
    replicates: int
    answers_per_model: int
    answers: int
    answers_per_question: Mapping[str, int]
    distinct_prompts_per_question: int
    passes_per_question: Mapping[str, int]
    passes_per_model: int
    passes: int
    prompt_tokens_per_model: int
    completion_tokens_per_model: int
    disk_bytes: int
    passes_per_second: Mapping[str, float]
    hours: Mapping[str, float]
    engines: int
    estimates: Mapping[str, ModelEstimate]
    cost: Mapping[str, float]
    not_timed: Mapping[str, str]
    kind: str = "plan"

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        return (
            f"{self.study}: {len(self.models)} models x {self.labels} labels x "
            f"{self.configurations} configurations x {self.questions:,} questions = "
            f"{self.answers:,} answers from {self.passes:,} passes"
        )


def plan_study(loaded: LoadedStudy, limit: int | None = None) -> tuple[Plan, int, float, bool]:
    """Plan a study, with its questions or, where their files are absent, without.

    Returns
    -------
    plan, number of questions, mean characters of a question, whether the questions are known
    """
    personas = loaded.personas()
    if not loaded.questions_at_hand():
        sources = loaded.study.questions.sources
        for source in sources:
            if source.take is None:
                raise NongrataError(
                    f"the files of question source '{source.id}' are not here, and it does not say "
                    "how many questions to take",
                    where=loaded.document.where(["questions", "sources"]),
                    fix="fetch the files, or add 'take'",
                )
        takes = [source.take or 0 for source in sources]
        sizes = [source.mean_chars or 300.0 for source in sources]
        count = sum(takes)
        plan = build_plan(loaded.study, personas, QuestionSet(()))
        mean = float(np.average(sizes, weights=takes))
        return plan, count if limit is None else min(limit, count), mean, False
    questions = loaded.questions(limit)
    plan = build_plan(loaded.study, personas, questions)
    shown = [len(block.text) for row in plan.prompts.blocks for block in row]
    return plan, len(questions), float(np.mean(shown)), True


def summarise_plan(
    plan: Plan,
    questions: int,
    mean_chars: float,
    *,
    questions_known: bool,
    speeds: Mapping[str, float] | Speeds | None = None,
    engines: int = 1,
) -> PlanSummary:
    """Count what a plan asks.

    Parameters
    ----------
    plan, questions, mean_chars, questions_known
        As `plan_study` returns them.
    speeds
        Passes a second, by model; or speeds by model and reading.
    engines
        How many engines work side by side, each at that speed.
    """
    study = plan.study
    skeletons = plan.prompts.skeletons
    models = tuple(spec.id for spec in study.models)
    answers_by_reading: dict[str, int] = dict.fromkeys(READINGS, 0)
    per_configuration = [plan.answers_at(float(heat)) for heat in plan.temperature]
    for row in plan.skeleton_of:
        for skeleton, answers in zip(row, per_configuration, strict=True):
            answers_by_reading[skeletons[int(skeleton)].reading] += answers
    passes: dict[str, int] = dict.fromkeys(READINGS, 0)
    completion = 0
    prompt_chars = disk = 0.0
    for reading in READINGS:
        for row, heat in plan.passes[reading]:
            repeats = 1 if np.isnan(heat) else plan.answers_at(float(heat))
            frame = skeletons[int(row)]
            passes[reading] += repeats
            text = len(frame.system) + len(frame.before) + len(frame.after) + len(frame.prefill)
            prompt_chars += repeats * (text + mean_chars)
            disk += repeats * ROW_BYTES[reading]
            if reading == "free":
                completion += repeats * frame.decoding.max_tokens
                disk += repeats * frame.decoding.max_tokens * TEXT_BYTES_PER_TOKEN
    per_question = sum(passes.values())
    prompt_tokens = prompt_chars / CHARS_PER_TOKEN + per_question * TEMPLATE_TOKENS
    answers_per_model = sum(answers_by_reading.values()) * questions
    per_model = per_question * questions
    asked = {reading: count * questions for reading, count in passes.items() if count}
    estimates: dict[str, ModelEstimate] = {}
    not_timed: dict[str, str] = {}
    rates: dict[str, float] = {}
    if isinstance(speeds, Speeds):
        for model in models:
            reason = why_not_timed(model, asked, speeds)
            if reason is not None:
                not_timed[model] = reason
                continue
            found = estimate(asked, speeds.models[model], speeds.basis, engines)
            estimates[model] = found
            rates[model] = per_model / (found.hours * 3600)
    elif speeds:
        rates = {model: speeds[model] * engines for model in models if speeds.get(model)}
    estimated = (prompt_tokens * questions, completion * questions)
    cost = {}
    for spec in study.models:
        amount = price(spec, asked, estimated, estimates.get(spec.id))
        if amount is not None:
            cost[spec.id] = amount
    return PlanSummary(
        study=study.name,
        models=models,
        labels=len(plan.personas),
        controls=sum(persona.control for persona in plan.personas),
        factors={factor.name: len(factor.levels) for factor in study.factors},
        configurations=len(plan.temperature),
        evaluations_per_model=len(plan.personas) * len(plan.temperature),
        questions=questions,
        questions_known=questions_known,
        replicates=study.replicates,
        answers_per_model=answers_per_model,
        answers=answers_per_model * len(models),
        answers_per_question={name: count for name, count in answers_by_reading.items() if count},
        distinct_prompts_per_question=len(skeletons),
        passes_per_question={reading: count for reading, count in passes.items() if count},
        passes_per_model=per_model,
        passes=per_model * len(models),
        prompt_tokens_per_model=round(prompt_tokens * questions),
        completion_tokens_per_model=completion * questions,
        disk_bytes=round(
            disk * questions * len(models) + PROMPT_BYTES * len(skeletons) * questions
        ),
        passes_per_second=rates,
        hours={model: per_model / rate / 3600 for model, rate in rates.items()},
        engines=engines,
        estimates=estimates,
        cost=cost,
        not_timed=not_timed,
    )


@dataclass(frozen=True, slots=True)
class PromptExample:
    """One prompt as it will be sent, and what it stands for."""

    persona: str
    levels: Mapping[str, str]
    question: str
    reading: str
    system: str
    user: str
    prefill: str
    messages: Messages


def prompt_examples(plan: Plan, number: int) -> list[PromptExample]:
    """Examples spread evenly over the plan's distinct prompts, in a fixed order."""
    skeletons, questions = plan.prompts.skeletons, plan.prompts.questions
    if not len(questions):
        raise NongrataError(
            "the questions are not at hand, so no prompt can be shown",
            where=plan.study.name,
            fix="fetch the question files that the study names, or show another study",
        )
    total = len(skeletons) * len(questions)
    factors = [factor.name for factor in plan.study.factors]
    configurations = list(plan.study.configurations())
    examples = []
    for turn in range(min(number, total)):
        if number <= len(skeletons):
            skeleton, question = turn * len(skeletons) // number, turn % len(questions)
        else:
            skeleton, question = divmod(turn * total // min(number, total), len(questions))
        p, c = (int(index[0]) for index in np.nonzero(plan.skeleton_of == skeleton))
        messages = plan.prompts.messages(skeleton, question)
        levels = [level.id for level in configurations[c]]
        examples.append(
            PromptExample(
                persona=plan.personas[p].id,
                levels=dict(zip(factors, levels, strict=True)),
                question=questions[question].id,
                reading=skeletons[skeleton].reading,
                system=messages.system,
                user=messages.user,
                prefill=messages.prefill,
                messages=messages,
            )
        )
    return examples
