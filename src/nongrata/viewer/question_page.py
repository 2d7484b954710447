"""One question and what became of it in every cell of the design."""

from __future__ import annotations

from typing import Any

import numpy as np

from nongrata.errors import NongrataError
from nongrata.question_answers import QuestionAnswers
from nongrata.viewer.flips import FATES, fates_of
from nongrata.viewer.question_list import domain_of
from nongrata.viewer.run_on_disk import RunState


def place_of(state: RunState, question: str) -> int:
    """Place of a question in its run."""
    if question not in state.place_of:
        raise NongrataError(f"the run has no question '{question}'")
    return state.place_of[question]


def question_page(
    state: RunState, place: int, answers: QuestionAnswers, replicate: int
) -> dict[str, Any]:
    """A question's texts and a code for every cell, for JSON.

    ``fates`` and ``options`` hold one entry a label and configuration, label by label: the place
    of what became of the answer in ``outcomes``, and the identity of the option chosen, -1 where
    there is none. ``duplicates`` says likewise which cells send what an earlier one sends.
    """
    question = state.content.questions[place]
    # at temperature 0 there may be one answer, whatever the replicates
    asked = [state.plan.answers_at(float(heat)) for heat in state.plan.temperature]
    outcome, option = answers.outcome[:, :, 0].copy(), answers.option[:, :, 0].copy()
    if replicate:
        repeated = np.array(asked) > replicate
        outcome[:, repeated] = answers.outcome[:, repeated, replicate]
        option[:, repeated] = answers.option[:, repeated, replicate]
    right = np.array(question.answer, dtype=np.int8)
    return {
        "question": {
            "id": question.id,
            "source": question.source,
            "domain": domain_of(question),
            "subject": question.subject,
            "cluster": question.cluster,
            "context": question.context,
            "text": question.question,
            "choices": list(question.choices),
            "answer": question.answer,
        },
        "replicate": replicate,
        "outcomes": FATES,
        "personas": [persona.id for persona in state.content.personas],
        "configurations": [list(levels) for levels in state.levels],
        "replicates": asked,
        "fates": fates_of(outcome, option, right).ravel().tolist(),
        "options": option.ravel().tolist(),
        "duplicates": state.repeated.astype(int).ravel().tolist(),
    }
