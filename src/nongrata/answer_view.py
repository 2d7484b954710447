"""The prompt sent and the answer got, side by side over configurations, for one question."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from nongrata.errors import NongrataError
from nongrata.factors import Level
from nongrata.manifest import Manifest
from nongrata.plan import Plan
from nongrata.prompts import Messages
from nongrata.question_answers import Row, plan_of, rows_of
from nongrata.questions.model import Question
from nongrata.run_folder import duplicates, read_content
from nongrata.run_path import run_path
from nongrata.store import Store
from nongrata.stored_passes import StoredPasses
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
        Under the cell's sampling, by label, where the distribution is known; of a generated text,
        at the letter that decided, given the text before it.
    outside
        Probability that the token there is no label.
    bound
        Largest error of these probabilities that unseen tokens can cause.
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
    bound: float | None
    error: str | None
    duplicate: bool
    kind: str = "answer"

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of the design, by the places of its persona and configuration in the plan."""

    model: str
    persona: int
    configuration: int
    replicate: int


def view_answers(
    folder: str | Path, question: str, *, persona: str | None = None, model: str | None = None
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
    folder = run_path(folder)
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
    plan = plan_of(content.plan(), [content.questions[place]])
    repeated = duplicates(plan)
    views: list[AnswerView] = []
    for name in models:
        rows = _rows_by_request(store.paths(name), plan)
        size = vocabulary_of(manifest, name)
        views += [
            view_cell(
                plan,
                Cell(name, int(p), c, replicate),
                rows.get(_request(plan, int(p), c, replicate)),
                vocabulary=size,
                duplicate=bool(repeated[p, c]),
            )
            for p in wanted
            for c, heat in enumerate(plan.temperature)
            for replicate in range(plan.answers_at(float(heat)))
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


def _levels(plan: Plan, c: int) -> tuple[Level, ...]:
    places = np.unravel_index(c, plan.study.shape)
    return tuple(f.levels[i] for f, i in zip(plan.study.factors, places, strict=True))


def vocabulary_of(manifest: Manifest, model: str) -> int | None:
    """Number of a model's tokens, if the run knows it."""
    record = manifest.models.get(model)
    return None if record is None else record.identity.get("vocabulary_size")


def _rows_by_request(paths: list[Path], plan: Plan) -> dict[Any, Row]:
    """The question's rows by (skeleton hash, temperature or None, replicate)."""
    return {
        (row["skeleton"], row["temperature"], row["replicate"]): row
        for row in rows_of(paths, plan).iter_rows(named=True)
    }


def _request(plan: Plan, p: int, c: int, replicate: int) -> tuple[int, float | None, int]:
    skeleton = int(plan.skeleton_of[p, c])
    digest = int(plan.prompts.skeleton_digests[skeleton, 0])
    if plan.prompts.skeletons[skeleton].reading == "free":
        return digest, float(plan.temperature[c]), replicate
    return digest, None, 0


def view_cell(
    plan: Plan, cell: Cell, row: Row | None, *, vocabulary: int | None, duplicate: bool
) -> AnswerView:
    """One cell's prompt and answer.

    Parameters
    ----------
    plan
        A plan of one question (`nongrata.question_answers.plan_of`).
    cell
        Which cell.
    row
        The row that answers it; None if there is none yet.
    vocabulary
        Number of the model's tokens, if known.
    duplicate
        Whether an earlier cell sends the same request.
    """
    p, c, replicate, place = cell.persona, cell.configuration, cell.replicate, 0
    skeleton = int(plan.skeleton_of[p, c])
    messages: Messages = plan.prompts.messages(skeleton, place)
    block = plan.prompts.block(skeleton, place)
    question: Question = plan.prompts.questions[place]
    factors = [factor.name for factor in plan.study.factors]
    levels = [level.id for level in _levels(plan, c)]
    outcome, option = (None, None) if row is None else (row["outcome"], row["option"])
    probabilities, outside, bound = None, None, None
    if row is not None and row["label_logprobs"] is not None and row["error"] is None:
        passes = StoredPasses.of_row(row, len(block.order), vocabulary)
        sampling, score = plan.sampling[c], plan.prompts.skeletons[skeleton].cloze_score
        if score:
            texts = plan.prompts.by_identity(skeleton, place)
            size = np.array([[len(text.encode("utf-8", "surrogatepass")) for text in texts]])
            found = passes.texts(sampling, score, size.astype(np.float64))
        else:
            found = passes.letters(sampling)
        if row["reading"] != "free":
            drawn = int(passes.draw(found, sampling, replicate, plan.study.seed)[0])
            option = None if drawn < 0 else drawn
            outcome = "answered" if option is not None else "unparsed"
        probabilities = {
            label: float(found.options[0, identity])
            for label, identity in zip(block.labels, block.order, strict=True)
        }
        outside, bound = float(found.outside[0]), float(found.error[0])
    return AnswerView(
        model=cell.model,
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
        bound=bound,
        error=None if row is None else row["error"],
        duplicate=duplicate,
    )
