from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import numpy as np
import pytest

from nongrata import calibrate as calibrate_module
from nongrata.calibrate import ALL, calibrate, shares, spread
from nongrata.engines.base import Batch, Capabilities, Generations, Scores
from nongrata.errors import NongrataError
from nongrata.plan_summary import plan_study, summarise_plan
from nongrata.questions.model import Question
from nongrata.speeds import ModelSpeed, Speeds, read_speeds, write_speeds
from nongrata.yaml_files import dump_yaml
from studies import SIMULATED, loaded, small_study


class Steps:
    def __init__(self) -> None:
        self.notes: list[str] = []
        self.told: list[tuple[int, int]] = []

    def note(self, text: str) -> None:
        self.notes.append(text)

    def step(self, name: str) -> Callable[[int, int], None]:
        return lambda done, total: self.told.append((done, total))


class Clockwork:
    """Answers at an exact speed by a clock of its own, and keeps what it was asked."""

    kind = "clockwork"
    capabilities = Capabilities("full", deterministic_at_zero=True, is_model=False)

    def __init__(self, pace: dict[str, float], block: int = 8, failing: bool = False) -> None:
        self.pace, self.block, self.failing = pace, block, failing
        self.identity = {"engine": self.kind}
        self.provenance: dict[str, Any] = {}
        self.now = 0.0
        self.asked: list[tuple[str, list[tuple[int, int, float]]]] = []
        self.closed = False

    def perf_counter(self) -> float:
        return self.now

    def _ask(self, batch: Batch) -> dict[str, Any]:
        n = len(batch)
        # the first block is slow: nothing of it may reach the result
        slow = 1.0 if self.asked else 10.0
        self.now += n * self.pace[batch.reading] * slow
        rows = zip(batch.skeleton, batch.question, batch.temperature, strict=True)
        self.asked.append((batch.reading, [(int(s), int(q), float(t)) for s, q, t in rows]))
        return {
            "prompt_tokens": np.full(n, 100, dtype=np.int32),
            "cached_tokens": np.full(n, 40, dtype=np.int32),
            "prompt_digest": np.zeros(n, dtype=np.uint64),
            "errors": dict.fromkeys(range(n), "no \x1b[31mroom") if self.failing else {},
        }

    def score(self, batch: Batch, tick: Any = None) -> Scores:
        n = len(batch)
        width = max(len(batch.labels(i)) for i in range(n))
        common = self._ask(batch)
        logs = np.full((n, width, 1), np.log(1 / width), dtype=np.float32)
        other = np.full((n, 1), np.nan, dtype=np.float32)
        return Scores(logs, other, np.zeros(n), **common)

    def generate(self, batch: Batch, tick: Any = None) -> Generations:
        n = len(batch)
        common = self._ask(batch)
        text, cut = np.zeros(n, dtype=np.int32), np.zeros(n, dtype=np.bool_)
        return Generations(["Answer: A"], text, cut, np.full(n, 7, dtype=np.int32), **common)

    def forget(self) -> bool:
        return True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.closed = True


@pytest.fixture
def clockwork(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Clockwork]:
    def install(**options: Any) -> Clockwork:
        engine = Clockwork({"first_token": 0.01, "free": 0.05}, **options)
        monkeypatch.setattr(calibrate_module, "open_engine", lambda *_, **__: engine)
        monkeypatch.setattr(calibrate_module.time, "perf_counter", engine.perf_counter)
        return engine

    return install


def a_study(**changes: Any) -> Any:
    sources = [{"id": "starter", "format": "starter", "take": 40}]
    return loaded(small_study(questions={"seed": 5, "sources": sources}) | changes)


def test_an_exact_speed_is_found_exactly(clockwork: Callable[..., Clockwork]) -> None:
    engine = clockwork()
    found = calibrate(a_study(), Steps(), seconds=20.0).models["sim"]
    assert found.engine == "clockwork"
    for reading, pace, generated in (("first_token", 0.01, None), ("free", 0.05, 7.0)):
        speed = found.readings[reading]  # type: ignore[index]
        assert speed.passes_per_second == pytest.approx(1 / pace)
        assert speed.halves == pytest.approx((1 / pace, 1 / pace))
        assert (speed.prompt_tokens, speed.cached_tokens) == (100, 40)
        assert speed.generated_tokens == generated
        assert speed.spread == pytest.approx(0, abs=1e-9)
    assert engine.closed


def test_no_request_is_asked_twice_and_all_are_the_plans(
    clockwork: Callable[..., Clockwork],
) -> None:
    study = a_study()
    engine = clockwork()
    calibrate(study, Steps(), seconds=30.0)
    plan, *_ = plan_study(study)
    planned = {tuple(row) for row in np.nan_to_num(plan.passes["free"], nan=-1).tolist()}
    planned |= {tuple(row) for row in np.nan_to_num(plan.passes["first_token"], nan=-1).tolist()}
    asked = [(reading, request) for reading, block in engine.asked for request in block]
    seen = [(reading, s, q, -1.0 if np.isnan(t) else t) for reading, (s, q, t) in asked]
    assert len(seen) == len(set(seen)) > 100
    assert {(s, t) for _, s, _, t in seen} <= planned


def test_the_time_is_kept_and_the_costly_reading_gets_more_of_it(
    clockwork: Callable[..., Clockwork],
) -> None:
    clockwork()
    found = calibrate(a_study(), Steps(), seconds=10.0).models["sim"].readings
    spent = {reading: speed.seconds or 0.0 for reading, speed in found.items()}
    assert 8 <= sum(spent.values()) <= 16
    assert spent["free"] > 3 * spent["first_token"]


@pytest.mark.parametrize("questions", [1, 2, 3])
def test_a_study_smaller_than_the_measurement_is_measured_whole(
    clockwork: Callable[..., Clockwork], questions: int
) -> None:
    clockwork()
    sources = [{"id": "starter", "format": "starter", "take": questions}]
    persona = {"list": [{"id": "no-persona", "text": None, "control": True}]}
    study = a_study(questions={"sources": sources}, personas=persona)
    found = calibrate(study, Steps(), seconds=500.0).models["sim"].readings
    for reading, speed in found.items():
        assert speed.passes_per_second == pytest.approx({"first_token": 100, "free": 20}[reading])


def test_requests_that_fail_are_not_speed(clockwork: Callable[..., Clockwork]) -> None:
    clockwork(failing=True)
    with pytest.raises(NongrataError, match="requests of reading: first_token failed"):
        calibrate(a_study(), Steps(), seconds=1.0)


def test_progress_never_ends_before_the_measurement(clockwork: Callable[..., Clockwork]) -> None:
    clockwork()
    steps = Steps()
    calibrate(a_study(), steps, seconds=30.0)
    assert all(done < total for done, total in steps.told)
    assert [done for done, _ in steps.told] == sorted(done for done, _ in steps.told)


def test_a_model_that_cannot_be_opened_is_named_beside_the_others(tmp_path: Path) -> None:
    lost = {"id": "lost", "engine": "llamacpp", "path": str(tmp_path / "no.gguf")}
    steps = Steps()
    found = calibrate(loaded(small_study(models=[lost, SIMULATED])), steps, seconds=0.1)
    assert set(found.models) == {"sim"}
    assert "no.gguf" in found.failed["lost"]
    assert any("lost could not be measured" in note for note in steps.notes)


def test_if_none_can_be_opened_that_is_one_sentence(tmp_path: Path) -> None:
    lost = {"id": "lost", "engine": "llamacpp", "path": str(tmp_path / "no.gguf")}
    with pytest.raises(NongrataError, match=r"no\.gguf"):
        calibrate(loaded(small_study(models=[lost])), Steps(), seconds=0.1)


def test_an_unpinned_model_is_refused_as_in_a_run() -> None:
    hub = {"repo": "a/b", "revision": None}
    free = {"id": "free", "engine": "vllm", "hub": hub}
    with pytest.raises(NongrataError, match=r"has no revision.*nongrata pin"):
        calibrate(loaded(small_study(models=[free])), Steps(), seconds=0.1)


def test_a_gated_model_is_one_sentence_about_the_token(monkeypatch: pytest.MonkeyPatch) -> None:
    import huggingface_hub
    from huggingface_hub import errors

    def refuse(*_: object, **__: object) -> str:
        raise errors.GatedRepoError.__new__(errors.GatedRepoError)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", refuse)
    monkeypatch.setattr(huggingface_hub, "try_to_load_from_cache", lambda *_, **__: None)
    from nongrata.engines.hf_files import locate_folder
    from nongrata.model_specs import VllmSpec
    from nongrata.presets import load_preset

    spec = load_preset("paper-vllm-1gpu").models[0]
    assert isinstance(spec, VllmSpec)
    with pytest.raises(NongrataError) as caught:
        locate_folder(spec, Path())
    assert str(caught.value).startswith("Hub model meta-llama/Llama-3.2-1B-Instruct: ")
    assert "HF_TOKEN" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_only_the_models_named_are_measured() -> None:
    study = loaded(small_study(models=[SIMULATED, SIMULATED | {"id": "other"}]))
    assert set(calibrate(study, Steps(), models=["other"], seconds=0.1).models) == {"other"}
    assert set(calibrate(study, Steps(), models=[ALL], seconds=0.1).models) == {"sim", "other"}
    with pytest.raises(NongrataError, match="did you mean 'other'"):
        calibrate(study, Steps(), models=["othr"], seconds=0.1)


def test_a_real_clock_and_a_known_delay() -> None:
    slow = SIMULATED | {"delay": 0.002, "block": 16}
    started = time.perf_counter()
    found = calibrate(a_study(models=[slow]), Steps(), seconds=1.0).models["sim"].readings
    assert time.perf_counter() - started < 20
    for speed in found.values():
        # a sleep takes at least as long as it says, and much longer only on a busy machine
        assert speed.passes_per_second <= 500
        assert speed.prompt_tokens is None  # this engine counts no tokens


@pytest.mark.parametrize("most", [5, 64])
def test_any_questions_in_a_row_are_spread_over_all(most: int) -> None:
    questions = [Question(f"q{i}", "s", "?", ("a", "b"), 0) for i in range(1000)]
    places = [int(question.id[1:]) for question in spread(questions, most)]
    assert len(set(places)) == most
    for width in (5, 16):
        for start in range(0, most - width + 1, width):
            part = sorted(places[start : start + width])
            gaps = np.diff([part[-1] - 1000, *part])
            assert gaps.max() < 3 * 1000 / width


def test_no_reading_is_left_without_time() -> None:
    found = shares(60.0, {"first_token": 1e-6, "cloze": 1e-6, "free": 1.0})
    assert sum(found.values()) == pytest.approx(60)
    assert min(found.values()) == pytest.approx(4)


def speeds(**changes: Any) -> Speeds:
    readings = {
        "first_token": {
            "passes_per_second": 100,
            "halves": (80, 120),
            "prompt_tokens": 50,
            "cached_tokens": 20,
        },
        "free": {
            "passes_per_second": 10,
            "halves": (10, 10),
            "prompt_tokens": 60,
            "cached_tokens": 30,
            "generated_tokens": 5,
        },
    }
    model = ModelSpeed.model_validate({"readings": readings})
    return Speeds(kind="speeds", basis="measured", models={"sim": model}, **changes)


def test_hours_and_tokens_follow_from_the_speed_of_each_reading() -> None:
    plan, questions, mean, known = plan_study(loaded(small_study()))

    def summary(**options: Any) -> Any:
        return summarise_plan(plan, questions, mean, questions_known=known, **options)

    found = summary(speeds=speeds())
    single = found.passes_per_question["first_token"] * questions
    texts = found.passes_per_question["free"] * questions
    estimate = found.estimates["sim"]
    assert found.hours["sim"] * 3600 == pytest.approx(single / 100 + texts / 10)
    low, high = estimate.hours_between
    assert (low * 3600, high * 3600) == pytest.approx(
        (single / 120 + texts / 10, single / 80 + texts / 10)
    )
    assert estimate.prompt_tokens == 50 * single + 60 * texts
    assert estimate.cached_tokens == 20 * single + 30 * texts
    assert estimate.generated_tokens == 5 * texts
    rate = found.passes_per_second["sim"]
    assert found.passes_per_model / rate == pytest.approx(found.hours["sim"] * 3600)
    halved = summary(speeds=speeds(), engines=2)
    assert halved.hours["sim"] == pytest.approx(found.hours["sim"] / 2)
    given = summary(speeds={"sim": 5.0}, engines=2)
    assert given.hours["sim"] * 3600 == pytest.approx(found.passes_per_model / 10)


def test_a_speed_that_is_not_known_is_said_and_not_guessed() -> None:
    plan, questions, mean, known = plan_study(loaded(small_study()))
    half = ModelSpeed.model_validate({"readings": {"free": {"passes_per_second": 1}}})
    only = Speeds(kind="speeds", basis="assumed", models={"sim": half})
    found = summarise_plan(plan, questions, mean, questions_known=known, speeds=only)
    assert not found.hours
    assert "first_token" in found.not_timed["sim"]


def test_cost_of_a_priced_model() -> None:
    priced = {"id": "sim", "engine": "openai", "model": "m", "price_in": 2.0, "price_out": 8.0}
    plan, questions, mean, known = plan_study(loaded(small_study(models=[priced])))

    def cost(**options: Any) -> float:
        found = summarise_plan(plan, questions, mean, questions_known=known, **options)
        single = found.passes_per_question["first_token"] * questions
        texts = found.passes_per_question["free"] * questions
        if options:
            prompt, written = 50 * single + 60 * texts, 5 * texts
        else:
            prompt = found.prompt_tokens_per_model
            written = found.completion_tokens_per_model
        assert found.cost["sim"] == pytest.approx(
            (2 * prompt + 8 * (written + single)) / 1e6, rel=1e-3
        )
        return float(found.cost["sim"])

    assert cost() > cost(speeds=speeds()) > 0


def test_a_file_of_speeds_comes_back_as_it_went(tmp_path: Path) -> None:
    path = tmp_path / "speeds.json"
    write_speeds(path, speeds(failed={"lost": "why"}))
    assert read_speeds(path) == speeds(failed={"lost": "why"})
    path.write_text("kind: speeds\nbasis: assumed\nmodels: {m: {readings: {fre: {}}}}\n", "utf-8")
    with pytest.raises(NongrataError, match=r"speeds\.json:3"):
        read_speeds(path)


def nongrata(*arguments: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "nongrata", *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=120)


def test_on_the_command_line(tmp_path: Path) -> None:
    study = small_study(models=[SIMULATED | {"delay": 0.001, "block": 16}])
    (tmp_path / "s.yaml").write_text(dump_yaml(study), encoding="utf-8")
    arguments = ("plan", "s.yaml", "--calibrate", "sim", "--calibrate-seconds", "0.5")
    measured = nongrata(*arguments, "--save-speeds", "speeds.json", "--json", cwd=tmp_path)
    assert measured.returncode == 0, measured.stderr
    value = json.loads(measured.stdout)
    assert value["estimates"]["sim"]["basis"] == "measured"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["s.yaml", "speeds.json"]
    again = nongrata("plan", "s.yaml", "--speed-from", "speeds.json", "--json", cwd=tmp_path)
    assert json.loads(again.stdout)["hours"] == pytest.approx(value["hours"])
    shown = nongrata("plan", "s.yaml", "--speed-from", "speeds.json", cwd=tmp_path).stdout
    assert "Speeds, measured" in shown
    assert "generations" in shown
    twice = nongrata(*arguments, "--speed", "3", cwd=tmp_path)
    assert twice.returncode == 2
    assert "give one of them" in twice.stderr


@pytest.mark.model
@pytest.mark.slow
def test_a_real_model_is_measured_with_its_tokens() -> None:
    from nongrata.loading import load_study

    found = calibrate(load_study("demo"), Steps(), seconds=2.0).models["smollm2-135m-instruct"]
    single, texts = found.readings["first_token"], found.readings["free"]
    for speed in (single, texts):
        assert speed.prompt_tokens is not None
        assert speed.cached_tokens is not None
        assert 40 < speed.prompt_tokens < 300
        assert 0 <= speed.cached_tokens < speed.prompt_tokens
        assert speed.errors == 0
    assert texts.generated_tokens is not None
    assert 1 <= texts.generated_tokens <= 24
    assert single.generated_tokens is None
