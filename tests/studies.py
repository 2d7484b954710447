"""Small studies for tests: built from plain values, answered by the simulated engine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nongrata.loading import LoadedStudy
from nongrata.study import Study
from nongrata.yaml_files import Document

SIMULATED = {
    "id": "sim",
    "engine": "simulated",
    "seed": 3,
    "ability": 0.4,
    "persona_sd": 0.3,
    "factor_sd": {"task": 0.5, "persona_format": 0.2},
    "question_configuration_sd": 0.3,
    "position_bias": [0.4, 0.0, -0.2],
    "unparsed": 0.05,
    "refused": 0.02,
    "truncated": 0.02,
}


def small_study(**changes: Any) -> dict[str, Any]:
    """Plain values of a study with 5 labels x 2 x 2 x 3 configurations x 8 questions."""
    study: dict[str, Any] = {
        "nongrata": 1,
        "name": "small",
        "seed": 11,
        "models": [SIMULATED],
        "questions": {"seed": 5, "sources": [{"id": "starter", "format": "starter", "take": 8}]},
        "personas": {
            "list": [
                {"id": "a-cook", "text": "a cook"},
                {"id": "a-pilot", "text": "a pilot"},
                {"id": "a-poet", "text": "a poet {x} $y %z"},
                {"id": "a-human", "text": "a human", "control": True},
                {"id": "no-persona", "text": None, "control": True},
            ]
        },
        "factors": [
            {
                "name": "persona_format",
                "levels": [
                    {"id": "you", "slots": {"persona_prompt": "You are {persona}."}},
                    {"id": "play", "slots": {"persona_prompt": "Play {persona}."}},
                ],
            },
            {
                "name": "task",
                "levels": [
                    {
                        "id": "answer",
                        "sub": {"elicitation": "answer-only"},
                        "set": {"reading": "first_token"},
                        "slots": {"instruction": "Reply with a letter.", "reminder": ""},
                    },
                    {
                        "id": "explain",
                        "sub": {"elicitation": "explain"},
                        "slots": {
                            "instruction": "Explain, then give a letter.",
                            "reminder": "You are still {persona}.",
                        },
                    },
                ],
            },
            {"name": "temperature", "sets": "temperature", "levels": [0, 0.5, 1]},
        ],
        "settings": {"max_tokens": 16},
    }
    return study | changes


def loaded(values: dict[str, Any], base: Path | None = None) -> LoadedStudy:
    """A study from plain values, as if it had been read from ``test.yaml``."""
    document = Document("test.yaml", values, {(): 1})
    return LoadedStudy(Study.model_validate(values), document, base or Path())


class Silent:
    """A watcher that keeps notes."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        self.notes.append(text)

    def begin(self, *_: object) -> None: ...

    def advance(self, *_: object) -> None: ...

    def committed(self, *_: object) -> None: ...

    def finish(self) -> None: ...
