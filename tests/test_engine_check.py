from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
import pytest

from nongrata.cli import main
from nongrata.engine_check import (
    SMALL_BATCH,
    check_engine,
    refuse_other_model,
    sample_scores,
    sample_texts,
    steps_of_check,
    store_check,
    stored_checks,
)
from nongrata.engines.base import Batch, Generations, Scores, Tick
from nongrata.engines.simulated import SimulatedEngine
from nongrata.errors import NongrataError
from nongrata.manifest import Manifest
from nongrata.numerical_floor import EngineCheck
from nongrata.plan import Plan, build_plan
from nongrata.runner import run_study
from studies import SIMULATED, Silent, loaded, small_study

CALM = {"id": "sim", "engine": "simulated", "persona_sd": 0.5, "position_bias": [0.3]}


def plan_of(model: dict[str, Any] = CALM, **changes: Any) -> Plan:
    values = loaded(small_study(models=[model], **changes))
    return build_plan(values.study, values.personas(), values.questions())


class Shaky:
    """The simulated engine, whose numbers move with the place in the batch by a known amount."""

    def __init__(self, plan: Plan, by: float = 1e-3, **can: Any) -> None:
        self.inner = SimulatedEngine(plan.study.models[0], plan)  # type: ignore[arg-type]
        self.kind, self.block = "shaky", 8
        self.identity = {**self.inner.identity, "dtype": "bfloat16", "backend": "none 1.0"}
        self.provenance = {"device": "abacus"}
        self.capabilities = replace(self.inner.capabilities, **can)
        self.by, self.forgotten, self.can_forget = by, 0, True
        self.batches: list[Batch] = []
        self.failing = -1

    def score(self, batch: Batch, tick: Tick | None = None) -> Scores:
        self.batches.append(batch)
        scores = self.inner.score(batch, tick)
        logs = scores.label_logprobs.copy()
        # request i of n, from both ends, so that order and size matter
        shift = self.by * np.arange(len(batch)) / 100
        logs[:, 0, 0] += shift.astype(np.float32)
        errors = {i: "no" for i, q in enumerate(batch.question) if q == self.failing}
        return replace(scores, label_logprobs=logs, errors=errors)

    def generate(self, batch: Batch, tick: Tick | None = None) -> Generations:
        self.batches.append(batch)
        made = self.inner.generate(batch, tick)
        if len(batch) == 1:  # a text of its own when it is alone
            return replace(made, texts=("alone",), text=np.zeros(1, dtype=np.int32))
        return made

    def likelihoods(self, batch: Batch, tick: Tick | None = None) -> Any:
        raise AssertionError

    def forget(self) -> bool:
        self.forgotten += 1
        return self.can_forget

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...


def test_an_engine_that_is_exact_has_a_floor_of_zero() -> None:
    plan = plan_of()
    engine = SimulatedEngine(plan.study.models[0], plan)  # type: ignore[arg-type]
    counted: list[int] = []
    check = check_engine(engine, plan, "sim", requests=20, texts=6, tick=counted.append)
    assert check.largest == check.mean == 0
    assert [c.condition for c in check.scores] == [
        "again", "reversed", "shuffled", "one at a time", "small batches", "cold caches",
    ]  # fmt: skip
    assert all(change.requests == 20 and change.flips == 0 for change in check.scores)
    assert [(change.texts, change.differ) for change in check.texts] == [(6, 0), (6, 0)]
    assert sum(counted) == steps_of_check(20, 6)
    assert check.effect.mean > 0.01
    assert "nothing moved at all" in str(check)


def test_what_moves_is_found_and_measured() -> None:
    plan = plan_of()
    engine = Shaky(plan)
    check = check_engine(engine, plan, "sim", requests=20, texts=6)
    by_name = {change.condition: change for change in check.scores}
    assert by_name["again"].share_max == 0
    # the last of twenty moves to the first place: by .19 per mille of its log-probability
    assert by_name["reversed"].log_odds_max == pytest.approx(1.9e-4, rel=1e-2)
    assert 1e-6 < by_name["reversed"].share_mean < by_name["reversed"].share_max < 1e-4
    alone = by_name["one at a time"]
    reference = engine.batches[0]
    assert len(reference) == 20
    p = np.exp(engine.inner.score(reference).label_logprobs[:, :, 0].astype(float))
    p = p / np.nansum(p, axis=1, keepdims=True)
    # a first-order change of log p moves the shares by p (1 - p) of it
    expected = p[:, 0] * (1 - p[:, 0]) * np.arange(20) * 1e-5
    assert alone.share_max == pytest.approx(expected.max(), rel=1e-2)
    assert alone.share_mean == pytest.approx(expected.mean(), rel=1e-2)
    assert check.largest == max(change.share_max for change in check.scores)
    assert [(c.condition, c.differ) for c in check.texts] == [("reversed", 0), ("one at a time", 6)]
    assert (check.precision, check.device, check.backend) == ("bfloat16", "abacus", "none 1.0")
    assert "times smaller" in check.sentence()


def test_a_floor_as_high_as_the_effect_is_named() -> None:
    plan = plan_of(CALM | {"persona_sd": 1e-6})
    check = check_engine(Shaky(plan, by=5.0), plan, "sim", requests=20, texts=0)
    assert "so differences may be rounding" in check.sentence()


def test_conditions_are_what_they_say() -> None:
    plan = plan_of()
    engine = Shaky(plan)
    check_engine(engine, plan, "sim", requests=20, texts=0)
    sizes = [len(batch) for batch in engine.batches]
    small = [SMALL_BATCH, SMALL_BATCH, 20 - 2 * SMALL_BATCH]
    assert sizes == [20, 20, 20, 20, *[1] * 20, *small, *small]
    reference, again, back, mixed = engine.batches[:4]
    np.testing.assert_array_equal(reference.key, again.key)
    np.testing.assert_array_equal(reference.key[::-1], back.key)
    assert not np.array_equal(reference.key, mixed.key)
    assert sorted(mixed.key[:, 0]) == sorted(reference.key[:, 0])
    assert engine.forgotten == 3  # once before each cold batch


def test_what_an_engine_cannot_is_said() -> None:
    plan = plan_of()
    engine = Shaky(plan, label_logprobs="none", generates=False)
    check = check_engine(engine, plan, "sim")
    assert (check.scores, check.texts) == ((), ())
    assert math.isnan(check.largest)
    assert "gives no probabilities" in check.sentence()
    engine = Shaky(plan)
    engine.can_forget = False
    check = check_engine(engine, plan, "sim", requests=20)
    assert check.scores[-1].not_asked == "caches cannot be dropped"
    assert math.isnan(check.scores[-1].share_max)
    assert not math.isnan(check.largest)


def test_requests_that_fail_are_left_out_and_counted() -> None:
    plan = plan_of()
    engine = Shaky(plan)
    engine.failing = 0
    check = check_engine(engine, plan, "sim", requests=20, texts=0)
    failed = int((engine.batches[0].question == 0).sum())
    assert failed
    assert check.errors == failed
    assert check.scores[0].requests == 20 - failed


def test_a_study_without_first_tokens_says_so() -> None:
    factors = small_study()["factors"]
    factors[1]["levels"] = factors[1]["levels"][1:]
    plan = plan_of(factors=factors)
    check = check_engine(Shaky(plan), plan, "sim", requests=20, texts=4)
    assert check.scores == ()
    assert "no prompt read by its first token" in check.sentence()
    assert len(check.texts) == 2


def test_requests_are_spread_over_formats_questions_and_personas() -> None:
    plan = plan_of()
    sample = sample_scores(plan, 18)
    assert len(sample) == 18
    assert len(set(zip(sample.skeleton, sample.question, strict=True))) == 18
    assert len(set(sample.question)) >= 6
    people = [plan.coordinates[s] for s in sample.skeleton]
    assert {person for person, _ in people} == {"a-cook", "a-pilot", "a-poet"}  # no controls
    for cell in set(sample.cell):
        rows = np.flatnonzero(sample.cell == cell)
        assert len({int(q) for q in sample.question[rows]}) == 1
        assert len({people[i][1] for i in rows}) == 1  # the same formats
        assert len({people[i][0] for i in rows}) == len(rows)
    assert len({levels for _, levels in people}) == 2
    everything = sample_scores(plan, 10_000)
    assert len(everything) == 3 * 2 * 8
    assert len(sample_texts(plan, 10_000)) == len(set(plan.passes["free"][:, 0])) * 8
    texts = sample_texts(plan, 12)
    assert len(set(zip(texts.skeleton, texts.question, strict=True))) == 12
    assert len(set(texts.skeleton)) == 9
    assert len(set(texts.question)) >= 6


def test_a_check_reads_what_it_wrote() -> None:
    plan = plan_of()
    check = check_engine(Shaky(plan), plan, "sim", requests=6, texts=2)
    value = json.loads(json.dumps(check.as_dict(), allow_nan=False))
    assert value["kind"] == "engine_check"
    assert value["sentence"] == check.sentence()
    assert EngineCheck.from_dict(value) == check
    engine = Shaky(plan, label_logprobs="none")
    empty = check_engine(engine, plan, "sim")
    again = EngineCheck.from_dict(json.loads(json.dumps(empty.as_dict(), allow_nan=False)))
    assert again.sentence() == empty.sentence()


@pytest.fixture
def run(tmp_path: Path) -> Path:
    folder = tmp_path / "run"
    run_study(loaded(small_study()), folder, Silent())
    return folder


def test_a_check_is_kept_in_the_manifest_of_its_run(run: Path) -> None:
    plan = plan_of(SIMULATED)
    engine = SimulatedEngine(plan.study.models[0], plan)  # type: ignore[arg-type]
    refuse_other_model(run, "sim", engine)
    check = check_engine(engine, plan, "sim", requests=6, texts=2)
    assert stored_checks(Manifest.read(run)) == ()
    store_check(run, check)
    assert stored_checks(Manifest.read(run)) == (check,)
    run_study(loaded(small_study()), run, Silent())  # going on keeps it
    assert stored_checks(Manifest.read(run)) == (check,)
    store_check(run, replace(check, digest="00"))  # of another model: not shown
    assert stored_checks(Manifest.read(run)) == ()


def test_a_check_of_another_model_is_refused(run: Path) -> None:
    plan = plan_of(SIMULATED | {"seed": 4})
    engine = SimulatedEngine(plan.study.models[0], plan)  # type: ignore[arg-type]
    with pytest.raises(NongrataError, match="is not the one that answered the run: truth differs"):
        refuse_other_model(run, "sim", engine)
    with pytest.raises(NongrataError, match="no answers of a model 'other'"):
        refuse_other_model(run, "other", engine)


def command(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr("sys.argv", ["nongrata", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0)


def test_the_command_checks_a_run_and_stores_the_figures(
    run: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ("check-engine", str(run), "--requests", "6", "--texts", "2")
    assert command(monkeypatch, *arguments) == 0
    said = capsys.readouterr().out
    for text in ("cold caches", "persona effect here", "nothing moved at all", "stored in"):
        assert text in said
    assert len(stored_checks(Manifest.read(run))) == 1
    assert command(monkeypatch, *arguments, "--json") == 0
    value = json.loads(capsys.readouterr().out)
    assert value["kind"] == "engine_checks"
    assert value["checks"][0]["model"] == "sim"


def test_the_command_says_what_is_no_study(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(monkeypatch, "check-engine", str(tmp_path)) == 2
    assert "holds no run" in capsys.readouterr().err


def test_the_analysis_of_a_run_shows_the_floor_beside_effects(tmp_path: Path) -> None:
    from nongrata.analysis import analyze
    from nongrata.responses import load_run

    values = loaded(small_study(models=[CALM]))
    run_study(values, tmp_path / "run", Silent())
    plan = plan_of()
    assert not [n for n in analyze(load_run(tmp_path / "run")).notices if "batch" in n.text]
    store_check(
        tmp_path / "run", check_engine(SimulatedEngine(plan.study.models[0], plan), plan, "sim")
    )  # type: ignore[arg-type]
    (notice,) = (
        n for n in analyze(load_run(tmp_path / "run")).notices if n.about == "numerical_floor"
    )
    assert "nothing moved at all" in notice.text
