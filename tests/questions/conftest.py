"""The shared question files, loaded once."""

from __future__ import annotations

from pathlib import Path

import pytest

from nongrata.questions.checks import check_questions
from nongrata.questions.checks.report import QuestionsReport
from nongrata.questions.composite import load_all
from nongrata.questions.model import QuestionSet
from nongrata.questions.source import SourceSpec

SHARED_FILES = {
    "mmlu": "mmlu_test",
    "mmlu_dev": "mmlu_dev",
    "socialiqa": "socialiqa_dev",
    "normad_eti": "normad_eti",
}


def shared_source(name: str, condition: str = "rule_of_thumb") -> SourceSpec:
    return SourceSpec.model_validate(
        {
            "id": name,
            "format": "normalised",
            "path": f"data/{SHARED_FILES[name]}.jsonl.gz",
            "condition": condition if name == "normad_eti" else None,
        }
    )


@pytest.fixture(scope="session")
def shared_sets(shared: Path) -> dict[str, QuestionSet]:
    """Source -> all its questions, in the order of the file."""
    return {name: load_all([shared_source(name)], base=shared) for name in SHARED_FILES}


@pytest.fixture(scope="session")
def shared_reports(shared_sets: dict[str, QuestionSet]) -> dict[str, QuestionsReport]:
    """Source -> what the check finds in it."""
    return {name: check_questions(questions) for name, questions in shared_sets.items()}
