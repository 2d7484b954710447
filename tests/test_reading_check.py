from __future__ import annotations

import json

import numpy as np
import pytest

from nongrata.engines.simulated import SimulatedEngine
from nongrata.errors import NongrataError
from nongrata.model_specs import SimulatedSpec
from nongrata.plan import Plan, build_plan
from nongrata.questions.model import Question
from nongrata.reading_check import ReadingCheck, check_reading
from nongrata.study import Study
from studies import SIMULATED, small_study

QUESTIONS = [
    Question(f"q{i}", "own", f"What {i}?", ("red", "green", "blue", "black")[: 3 + i % 2], i % 3)
    for i in range(12)
]


def check(prompts: int = 500, **truth: object) -> tuple[ReadingCheck, Plan]:
    values = SIMULATED | {"unparsed": 0, "refused": 0, "truncated": 0} | truth
    study = Study.model_validate(small_study(models=[values]))
    plan = build_plan(study, study.personas.list, QUESTIONS)
    spec = SimulatedSpec.model_validate(values)
    with SimulatedEngine(spec, plan) as engine:
        return check_reading(engine, plan, "sim", prompts=prompts), plan


def test_a_model_that_means_what_it_says_never_disagrees() -> None:
    found, plan = check()
    row = found.overall
    assert row.prompts == row.texts_read == plan.size("first_token")
    assert (row.disagree, row.unread, row.no_label) == (0, 0, 0)
    assert row.accuracy_first_token == row.accuracy_text
    assert row.low == 0 < row.high < 0.05


def test_disagreement_is_counted_among_the_texts_that_were_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    honest = SimulatedEngine.generate

    def says_a_third_of_the_time_the_next_option(self, batch, tick=None):  # type: ignore[no-untyped-def]
        from dataclasses import replace

        result = honest(self, batch, tick)
        texts = [
            "no idea" if i % 6 == 1 else "Answer: A" if i % 3 == 0 else result.texts[result.text[i]]
            for i in range(len(batch))
        ]
        return replace(result, texts=texts, text=np.arange(len(batch), dtype=np.int32))

    monkeypatch.setattr(SimulatedEngine, "generate", says_a_third_of_the_time_the_next_option)
    found, _ = check(prompts=60)
    row = found.overall
    assert row.prompts == 60
    assert row.texts_read == 50
    assert row.unread == pytest.approx(10 / 60)
    assert 0 < row.disagree <= 20
    assert row.share == row.disagree / 50
    assert row.low < row.share < row.high


def test_mass_outside_the_labels_is_shown() -> None:
    found, _ = check(unparsed=0.7, prompts=40)
    row = found.overall
    assert row.label_mass == pytest.approx(0.3, abs=1e-6)
    assert row.no_label > 0.5


def test_rows_of_levels_add_up_to_all() -> None:
    found, _ = check(prompts=30)
    assert json.dumps(found.as_dict())
    levels = [row for row in found.rows if row.factor == "persona_format"]
    # a control without a persona belongs to no persona format
    assert sum(row.prompts for row in levels) <= found.overall.prompts
    assert {row.level for row in levels} == {"you", "play"}
    assert "prompts" in str(found)


def test_a_study_without_letters_has_nothing_to_compare() -> None:
    values = small_study()
    values["factors"][1]["levels"][0]["set"] = {"reading": "free"}
    study = Study.model_validate(values)
    plan = build_plan(study, study.personas.list, QUESTIONS)
    engine = SimulatedEngine(SimulatedSpec.model_validate(SIMULATED), plan)
    with pytest.raises(NongrataError, match="nothing to compare"):
        check_reading(engine, plan, "sim")
