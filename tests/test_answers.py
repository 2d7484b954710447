"""What a text says: the corpus case by case, invariants, hostile texts, speed."""

from __future__ import annotations

import re
import string
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from nongrata.answers import RULES, Outcome, Parsed, parse_answer, parse_many
from nongrata.errors import NongrataError

CORPUS = Path(__file__).with_name("answers_corpus.yaml")
PARSING_PAGE = Path(__file__).parents[1] / "docs" / "parsing.md"
CITIES = ("London", "Paris", "Rome", "Berlin")


@dataclass(frozen=True)
class Case:
    id: str
    kind: str
    text: str
    labels: tuple[str, ...]
    options: tuple[str, ...]
    truncated: bool
    expected: Parsed


def _case(raw: dict[str, Any], sets: dict[str, Any]) -> Case:
    unknown = set(raw) - {"id", "kind", "of", "text", "is", "rule", "truncated", "note"}
    assert not unknown, f"{raw['id']}: {unknown}"
    labels = tuple(sets[raw["of"]]["labels"])
    if raw["is"] in labels:
        expected = Parsed(Outcome.ANSWERED, labels.index(raw["is"]), raw["rule"])
    else:
        expected = Parsed(Outcome(raw["is"]), None, raw["rule"])
    return Case(
        id=raw["id"],
        kind=raw["kind"],
        text=raw["text"],
        labels=labels,
        options=tuple(sets[raw["of"]]["options"]),
        truncated=raw.get("truncated", False),
        expected=expected,
    )


def _corpus() -> list[Case]:
    raw = yaml.safe_load(CORPUS.read_text(encoding="utf-8"))
    return [_case(case, raw["sets"]) for case in raw["cases"]]


CASES = _corpus()


@pytest.mark.parametrize("case", CASES, ids=[case.id for case in CASES])
def test_case(case: Case) -> None:
    parsed = parse_answer(case.text, case.labels, case.options, truncated=case.truncated)
    assert parsed == case.expected
