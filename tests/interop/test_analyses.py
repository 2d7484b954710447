"""That the analyses take what was imported, and say what they cannot know."""

from __future__ import annotations

import io
import json
from typing import Any

import numpy as np
import polars as pl
import pytest
from rich.console import Console

from nongrata.analysis import analyze
from nongrata.interop import from_table
from nongrata.report.terminal.analysis import render_analysis


def answers(accuracy: float = 0.8, items: int = 60) -> pl.DataFrame:
    rng = np.random.default_rng(1)
    rows = []
    for q in range(items):
        for who in ("nurse", "pilot"):
            for fmt in ("plain", "role"):
                right = bool(rng.random() < accuracy)
                said = q % 4 if right else (q + int(rng.integers(1, 4))) % 4
                rows.append((f"q{q}", who, fmt, "ABCD"[said], "ABCD"[q % 4], str(int(right))))
    return pl.DataFrame(rows, schema=["id", "who", "fmt", "said", "key", "ok"], orient="row")


def chance_of(dataset: Any) -> Any:
    return analyze(dataset).chance.of("model")


CORRECT = {"item": "id", "persona": "who", "factors": ["fmt"], "correct": "ok"}
ANSWER = {"item": "id", "persona": "who", "factors": ["fmt"], "answer": "said", "gold": "key"}


def test_labels_with_declared_options_are_held_against_both_baselines() -> None:
    row = chance_of(from_table(answers(), **ANSWER, options=list("ABCD")))
    assert (row.verdict, row.chance, row.constant) == ("above both", 25.0, 25.0)


def test_without_the_number_of_options_nothing_is_ranked_and_it_says_why() -> None:
    row = chance_of(from_table(answers(), **CORRECT))
    assert row.verdict == "unknown"
    assert not row.rankable
    assert "how many options" in row.sentence()
    assert row.accuracy == pytest.approx(100 * np.mean([int(v) for v in answers()["ok"]]))


def test_right_and_wrong_alone_are_held_against_chance_alone() -> None:
    row = chance_of(from_table(answers(), **CORRECT, options=4))
    assert (row.verdict, row.rankable) == ("above chance", True)
    assert np.isnan(row.constant)
    assert "best constant answer not known" in row.sentence()
    assert chance_of(from_table(answers(0.25), **CORRECT, options=4)).verdict == "not above chance"


def test_the_same_answers_as_letters_or_as_correctness_have_the_same_figures() -> None:
    letters = analyze(from_table(answers(), **ANSWER, options=list("ABCD")))
    correct = analyze(from_table(answers(), **CORRECT, options=4))
    assert letters.instability[0].as_dict() == correct.instability[0].as_dict()
    assert letters.chance.of("model").p_chance == correct.chance.of("model").p_chance


@pytest.mark.parametrize(
    "mapping",
    [
        {"item": "id", "correct": "ok", "options": 4},
        {"item": "id", "correct": "ok", "persona": "who"},
        {"item": "id", "answer": "said", "gold": "key", "factors": ["fmt"]},
        {"item": "id", "correct": "ok", "persona": "who", "controls": ["nurse"]},
    ],
)
def test_no_persona_no_factor_no_options_make_no_warning(mapping: dict[str, Any]) -> None:
    found = analyze(from_table(answers(items=12), **mapping))
    json.dumps(found.as_dict(), allow_nan=False)
    screen = Console(width=80, file=io.StringIO())
    screen.print(render_analysis(found))
    assert "model" in screen.file.getvalue()


def test_holes_stay_holes() -> None:
    frame = answers(items=20).with_row_index().filter(pl.col("index") % 7 != 0)
    found = analyze(from_table(frame, **ANSWER, options=list("ABCD")))
    missing = next(notice for notice in found.notices if notice.about == "missing")
    assert f"{80 - frame.height} of 80 answers are missing" in missing.text
