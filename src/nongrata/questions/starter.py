"""The package's own questions: three domains, checked answers, nothing to download."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

from nongrata.questions.model import Question, QuestionSet

_IN_A_QUESTION = frozenset(
    {"id", "source", "subject", "domain", "context", "question", "choices", "answer"}
)


def starter_questions() -> QuestionSet:
    """Return all starter questions; the domains take turns, so that any head of it is mixed.

    Each question's ``fields`` hold ``why``, a check of the right answer in one sentence, and, for
    the shortest ones, ``demo``.

    Examples
    --------
    >>> questions = starter_questions()
    >>> len(questions), sorted({q.domain for q in questions})
    (120, ['knowledge', 'mathematics', 'social_reasoning'])
    >>> questions[0].question, questions[0].choices[questions[0].answer]
    ('What is 7 x 8?', '56')
    """
    text = files("nongrata.questions").joinpath("starter.jsonl").read_text(encoding="utf-8")
    return QuestionSet(tuple(_question(json.loads(line)) for line in text.split("\n") if line))


def demo_questions() -> QuestionSet:
    """Return the six questions of the demo, two a domain, short for two CPU cores.

    Examples
    --------
    >>> [q.domain for q in demo_questions()].count("knowledge")
    2
    """
    return QuestionSet(tuple(q for q in starter_questions() if ("demo", "true") in q.fields))


def _question(row: dict[str, Any]) -> Question:
    extra = {name: value for name, value in row.items() if name not in _IN_A_QUESTION}
    return Question(
        id=row["id"],
        source=row["source"],
        subject=row["subject"],
        domain=row["domain"],
        context=row["context"],
        question=row["question"],
        choices=tuple(row["choices"]),
        answer=row["answer"],
        fields=tuple(
            (name, value if isinstance(value, str) else json.dumps(value))
            for name, value in extra.items()
        ),
    )
