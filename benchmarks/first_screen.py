"""Three simulated studies with different truths, and their reports, for new readers.

A reader who has not seen the project is given a report and asked, from the first screen alone,
what is robust and what is not. The titles do not say what is true; `truth.txt` does:

    study-1  noise    the probability of a right answer depends on the question only
    study-2  formats  it also depends on the task format, for all labels alike
    study-3  labels   it also depends on the label: two labels are best and worst everywhere, the
                      others change places with the task format

Run from the repository root:

    python -m benchmarks.first_screen FOLDER
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from nongrata.cli.reports import write_report
from nongrata.loading import load_study
from nongrata.report.languages.language import LANGUAGES
from nongrata.runner import run_study
from nongrata.study_results import study_results
from nongrata.yaml_files import dump_yaml

QUESTIONS = 600
LABELS = (
    *("an-expert-in-math", "a-doctor", "a-lawyer", "a-teacher", "a-7-year-old"),
    *("an-atheist-person", "a-religious-person", "an-artist"),
)
CONTROLS = ("a-human", "no-persona")
PERSONA_FORMATS = {
    "statement": "You are {persona}.",
    "role-play": "Play the part of {persona} in all that follows.",
    "perspective": "Answer each question the way {persona} would.",
    "interview": "This is an interview with {persona}. You are the one being interviewed.",
}
TASK_FORMATS = {
    "plain": "Answer the multiple-choice question with the letter of one option.",
    "polite": "Please answer this multiple-choice question with the letter of one option.",
    "exam": "This is an exam. Give the letter of the one right option.",
}


@dataclass(frozen=True)
class Truth:
    """What is true in a study: parameters of the simulated engine, and the same in words."""

    kind: str
    words: str
    parameters: dict[str, Any]


TRUTHS = (
    Truth(
        "noise",
        "Nothing depends on the label or on the configuration.",
        {"ability": 1.6, "question_sd": 2.5},
    ),
    Truth(
        "formats",
        "Accuracy depends on task_format alone (exam above plain above polite), for all labels "
        "alike.",
        {
            "ability": 1.6,
            "question_sd": 2.5,
            "factor_effects": {"task_format": {"plain": 0.0, "polite": -0.6, "exam": 0.6}},
        },
    ),
    Truth(
        "labels",
        "an-expert-in-math is best and a-7-year-old worst in every configuration; the other labels "
        "change places with task_format.",
        {
            "ability": 1.6,
            "question_sd": 2.5,
            "persona_effects": {"an-expert-in-math": 2.5, "a-7-year-old": -2.5},
            "persona_factor_sd": {"task_format": 0.8},
        },
    ),
)


def study(number: int, truth: Truth) -> dict[str, Any]:
    """The study file of one truth."""
    return {
        "nongrata": 1,
        "name": f"study-{number}",
        "title": f"Study {number}",
        "seed": number,
        "models": [{"id": "model-a", "engine": "simulated", "seed": number} | truth.parameters],
        "questions": {
            "seed": 1,
            "sources": [{"id": "made", "format": "normalised", "path": "questions.jsonl"}],
        },
        "personas": {"preset": "published", "only": [*LABELS, *CONTROLS]},
        "prompt": {
            "system": ["persona_prompt"],
            "user": ["instruction", "question"],
            "persona_slots": ["persona_prompt"],
        },
        "settings": {"temperature": 1, "max_tokens": 24, "top_k": 0, "top_p": 1.0, "min_p": 0.0,
                     "reading": "free", "role_placement": "system", "labels": "A",
                     "choice_order": "as_given"},
        "factors": [
            {
                "name": "persona_format",
                "levels": [
                    {"id": name, "slots": {"persona_prompt": text}}
                    for name, text in PERSONA_FORMATS.items()
                ],
            },
            {
                "name": "task_format",
                "levels": [
                    {"id": name, "slots": {"instruction": text}}
                    for name, text in TASK_FORMATS.items()
                ],
            },
        ],
        "replicates": 2,
    }  # fmt: skip


def questions(number: int = QUESTIONS) -> list[dict[str, Any]]:
    """Questions without content, in three domains; four options each."""
    rng = np.random.default_rng(0)
    domains = ("arithmetic", "history", "language")
    return [
        {
            "id": f"made/{i}",
            "question": f"Made-up question {i}?",
            "choices": [f"option {i}-{k}" for k in range(4)],
            "answer": int(rng.integers(4)),
            "domain": domains[i % 3],
        }
        for i in range(number)
    ]


def make(folder: Path, number: int, truth: Truth, size: int = QUESTIONS) -> Path:
    """Run one study into a folder; the folder of its answers.

    Parameters
    ----------
    folder
        Where to put it.
    number
        Of the study.
    truth
        What is true in it.
    size
        How many questions.
    """
    folder.mkdir(parents=True, exist_ok=True)
    lines = (json.dumps(question) for question in questions(size))
    (folder / "questions.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    file = folder / f"study-{number}.yaml"
    file.write_text(dump_yaml(study(number, truth)), encoding="utf-8")
    run = folder / f"study-{number}"
    run_study(load_study(str(file)), run)
    return run


def main(arguments: Sequence[str] | None = None) -> None:
    """Make the three studies and their reports."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder: Path = parser.parse_args(arguments).folder
    said = []
    for number, truth in enumerate(TRUTHS, 1):
        results = study_results(make(folder, number, truth))
        for code in LANGUAGES:
            page = folder / f"study-{number}.{code}.html"
            write_report(results, page, code)
            print(page)
        said.append(f"study-{number}  {truth.kind}: {truth.words}\n")
    (folder / "truth.txt").write_text("".join(said), encoding="utf-8")


if __name__ == "__main__":
    main()
