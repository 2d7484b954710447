from __future__ import annotations

import numpy as np

from nongrata.answers import Outcome
from nongrata.engines.base import Generations, Scores
from nongrata.plan import Requests, build_plan
from nongrata.questions.model import Question
from nongrata.rows import COLUMNS, OUTCOMES, AnswerReader, generation_rows, score_rows
from nongrata.study import Study
from studies import small_study

QUESTIONS = [
    Question("q0", "own", "?", ("red", "green", "blue"), 2),
    Question("q1", "own", "?", ("one", "two", "three", "four"), 0),
]


def requests(plan: object, reading: str, n: int) -> tuple[Requests, np.ndarray]:
    part = plan.slice(reading, 0, n)  # type: ignore[attr-defined]
    keys = np.arange(2 * len(part), dtype=np.uint64).reshape(-1, 2)
    return part, keys


def reversed_plan() -> object:
    study = Study.model_validate(
        small_study(settings={"max_tokens": 9, "choice_order": "reversed"})
    )
    return build_plan(study, study.personas.list, QUESTIONS)


def test_outcome_codes_are_those_of_the_analysis() -> None:
    assert OUTCOMES == ("answered", "unparsed", "refused", "truncated", "error")
    assert OUTCOMES.index(Outcome.ERROR) == 4


def test_label_probabilities_are_stored_by_identity_of_the_option() -> None:
    plan = reversed_plan()
    part, keys = requests(plan, "first_token", 2)
    shown = np.log(np.array([[0.5, 0.3, 0.1, np.nan], [0.4, 0.3, 0.2, 0.1]], dtype=np.float32))
    scores = Scores(
        label_logprobs=shown[:, :, None],
        other_logprobs=np.log(np.array([[0.1], [np.nan]], dtype=np.float32)),
        tail_mass=np.array([0.0, 0.0]),
        prompt_tokens=np.array([5, 6], dtype=np.int32),
        cached_tokens=np.array([0, 4], dtype=np.int32),
        prompt_digest=np.array([1, 2], dtype=np.uint64),
        errors={},
    )
    rows = score_rows("m", plan.prompts, keys, part, scores).to_pylist()
    assert list(rows[0]) == list(COLUMNS)
    # shown A B C were blue green red; stored as red green blue
    np.testing.assert_allclose(np.exp(rows[0]["label_logprobs"]), [0.1, 0.3, 0.5], rtol=1e-6)
    np.testing.assert_allclose(np.exp(rows[1]["label_logprobs"]), [0.1, 0.2, 0.3, 0.4], rtol=1e-6)
    np.testing.assert_allclose(np.exp(rows[0]["other_logprobs"]), [0.1], rtol=1e-6)
    assert rows[1]["other_logprobs"] == []
    assert rows[0]["temperature"] is None
    assert rows[0]["outcome"] is None


def test_a_letter_means_the_option_that_was_shown_there() -> None:
    plan = reversed_plan()
    part, keys = requests(plan, "free", 3)
    texts = ["Answer: A", "no idea at all", "Answer: B"]
    generated = Generations(
        texts=texts,
        text=np.array([0, 1, 2], dtype=np.int32),
        truncated=np.array([False, True, False]),
        completion_tokens=np.array([3, 9, 3], dtype=np.int32),
        prompt_tokens=np.zeros(3, dtype=np.int32),
        cached_tokens=np.zeros(3, dtype=np.int32),
        prompt_digest=np.zeros(3, dtype=np.uint64),
        errors={2: "the server \x1b said no"},
    )
    rows = generation_rows("m", plan.prompts, keys, part, generated, AnswerReader(plan.prompts))
    found = rows.to_pylist()
    assert [row["outcome"] for row in found] == ["answered", "truncated", "error"]
    assert [row["option"] for row in found] == [2, None, None]
    assert [row["text"] for row in found] == ["Answer: A", "no idea at all", None]
    assert [row["finish"] for row in found] == ["stop", "length", None]
    assert found[2]["error"] == "the server \x1b said no"
    assert found[2]["rule"] == "error"
