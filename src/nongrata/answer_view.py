"""The prompt sent and the answer got, side by side over configurations, for one question."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from nongrata.errors import NongrataError
from nongrata.keys import uniforms
from nongrata.manifest import Manifest
from nongrata.plan import Plan
from nongrata.prompts import Messages
from nongrata.questions.model import Question
from nongrata.run_folder import duplicates, read_content
from nongrata.store import Store
from nongrata.temperature import answer_distribution, draw_options
from nongrata.yaml_files import did_you_mean


@dataclass(frozen=True, slots=True)
class AnswerView:
    """One cell's answer to one question.

    Parameters
    ----------
    model, persona, levels, replicate
        The cell.
    system, user, prefill
        What was sent.
    reading
        How the answer was read.
    outcome
        What became of it; None if it has not been asked yet.
    label, option, choice
        The label chosen, the identity of its option and that option's text.
    correct
        Whether it is right; None if there is no answer.
    rule
        The rule that read it.
    text
        The generated text.
    label_probabilities
        At the cell's temperature, by label, where the distribution is known.
    outside
        Probability that the next token is no label.
    error
        What went wrong.
    duplicate
        Whether an earlier cell sends the same request.
    """

    model: str
    persona: str
    levels: Mapping[str, str]
    replicate: int
    system: str
    user: str
    prefill: str
    reading: str
    outcome: str | None
    label: str | None
    option: int | None
    choice: str | None
    correct: bool | None
    rule: str | None
    text: str | None
    label_probabilities: Mapping[str, float] | None
    outside: float | None
    error: str | None
    duplicate: bool
    kind: str = "answer"

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return asdict(self)


def view_answers(
    folder: Path, question: str, *, persona: str | None = None, model: str | None = None
) -> tuple[Question, list[AnswerView]]:
    """Every answer of a run to one question.

    Parameters
    ----------
    folder
        The run directory.
    question
        The question's id.
    persona, model
        Only this persona or model.
    """
    manifest = Manifest.read(folder)
    content = read_content(folder)
    ids = [q.id for q in content.questions]
    place = _named(question, ids, "question", folder)
    personas = [p.id for p in content.personas]
    wanted = [_named(persona, personas, "persona", folder)] if persona else range(len(personas))
    models = [spec.id for spec in content.study.models]
    if model is not None:
        models = [models[_named(model, models, "model", folder)]]
    store = Store(folder)
    views: list[AnswerView] = []
    for name in models:
        record = manifest.models.get(name)
        plan = content.plan(deterministic_at_zero=record is None or record.deterministic_at_zero)
        rows = _rows_of(store, name, plan, place)
        levels = [[level.id for level in c] for c in plan.study.configurations()]
        repeated = duplicates(plan)
        views += [
            view
            for p in wanted
            for c in range(len(plan.temperature))
            for view in _views_of_cell(
                plan, rows, name, int(p), c, place, levels[c], duplicate=bool(repeated[p, c])
            )
        ]
    return content.questions[place], views


def _named(name: str, known: list[str], what: str, folder: Path) -> int:
    if name in known:
        return known.index(name)
    guess = did_you_mean(name, known)
    shown = ", ".join(known[:5]) + (" ..." if len(known) > 5 else "")
    raise NongrataError(
        f"the run has no {what} '{name}'",
        where=folder,
        fix=f"did you mean '{guess}'?" if guess else f"it has: {shown}",
    )


def _rows_of(store: Store, model: str, plan: Plan, place: int) -> dict[Any, dict[str, Any]]:
    """The question's rows by (skeleton hash, temperature or None, replicate)."""
    import polars as pl

    paths = store.paths(model)
    if not paths:
        return {}
    wanted = pl.lit(int(plan.prompts.question_hashes[place]), dtype=pl.UInt64)
    found = pl.scan_parquet(paths).filter(pl.col("question") == wanted).collect()
    return {
        (row["skeleton"], row["temperature"], row["replicate"]): row
        for row in found.iter_rows(named=True)
    }


def _views_of_cell(
    plan: Plan,
    rows: Mapping[Any, dict[str, Any]],
    model: str,
    p: int,
    c: int,
    place: int,
    levels: list[str],
    *,
    duplicate: bool,
) -> list[AnswerView]:
    skeleton = int(plan.skeleton_of[p, c])
    frame = plan.prompts.skeletons[skeleton]
    heat = float(plan.temperature[c])
    exact = frame.reading == "first_token"
    views = []
    for replicate in range(plan.answers_at(heat)):
        key = (int(plan.prompts.skeleton_digests[skeleton, 0]), None if exact else heat)
        row = rows.get((*key, 0 if exact else replicate))
        view = _view(plan, model, p, c, place, replicate, row, levels, duplicate=duplicate)
        views.append(view)
    return views


def _view(
    plan: Plan,
    model: str,
    p: int,
    c: int,
    place: int,
    replicate: int,
    row: dict[str, Any] | None,
    levels: list[str],
    *,
    duplicate: bool,
) -> AnswerView:
    skeleton = int(plan.skeleton_of[p, c])
    messages: Messages = plan.prompts.messages(skeleton, place)
    block = plan.prompts.block(skeleton, place)
    question: Question = plan.prompts.questions[place]
    factors = [factor.name for factor in plan.study.factors]
    outcome, option, probabilities, outside = None, None, None, None
    if row is not None:
        outcome, option = row["outcome"], row["option"]
        if row["label_logprobs"] is not None and row["error"] is None:
            option, by_option, outside = _at_temperature(plan, row, block.order, c, replicate)
            outcome = "answered" if option is not None else "unparsed"
            probabilities = {
                label: by_option[identity]
                for label, identity in zip(block.labels, block.order, strict=True)
            }
    return AnswerView(
        model=model,
        persona=plan.personas[p].id,
        levels=dict(zip(factors, levels, strict=True)),
        replicate=replicate,
        system=messages.system,
        user=messages.user,
        prefill=messages.prefill,
        reading=plan.prompts.skeletons[skeleton].reading,
        outcome=outcome,
        label=None if option is None else block.labels[block.order.index(option)],
        option=option,
        choice=None if option is None else question.choices[option],
        correct=None if outcome in {None, "error"} else option == question.answer,
        rule=None if row is None else row["rule"],
        text=None if row is None else row["text"],
        label_probabilities=probabilities,
        outside=outside,
        error=None if row is None else row["error"],
        duplicate=duplicate,
    )


def _at_temperature(
    plan: Plan, row: Mapping[str, Any], order: tuple[int, ...], c: int, replicate: int
) -> tuple[int | None, list[float], float]:
    heat = float(plan.temperature[c])
    labels = np.array(row["label_logprobs"], dtype=np.float32).reshape(1, len(order), -1)
    others = np.array(row["other_logprobs"] or [np.nan], dtype=np.float32)[None, :]
    result = answer_distribution(labels, others, np.array([row["tail_mass"]]), heat)
    key = np.array([[row["key_high"], row["key_low"]]], dtype=np.uint64)
    turn = 0 if heat == 0 and plan.answers_at(0.0) == 1 else replicate
    drawn = int(draw_options(result, uniforms(key, heat, turn, plan.study.seed))[0])
    return (
        None if drawn < 0 else drawn,
        [float(p) for p in result.options[0]],
        float(result.outside[0]),
    )
