"""A worker, without a cluster: it is a plain object."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nongrata.asking import answer_block
from nongrata.engines import open_engine
from nongrata.executors.ray_worker import (
    Answered,
    Job,
    Opened,
    Refused,
    Ticker,
    Worker,
    _Ticks,
    fitted,
)
from nongrata.keys import model_digest
from nongrata.missing import Missing
from nongrata.model_specs import LlamaCppSpec
from nongrata.rows import AnswerReader
from nongrata.run_folder import RunContent, prompts_digest
from nongrata.store import DoneKeys, done_keys
from studies import loaded, small_study

pytest.importorskip("ray", reason="needs ray")


class Tell:
    """As a handle of a ticker."""

    def __init__(self) -> None:
        self.ticker = Ticker()
        self.add = self

    def remote(self, attempt: int, count: int) -> None:
        self.ticker.add(attempt, count)


def job(**changes: Any) -> Job:
    study = loaded(small_study(**changes))
    content = RunContent(study.study, study.personas(), study.questions(None))
    return Job(study.study.models[0], content, Path(), 1)


def test_a_worker_answers_as_this_process_would() -> None:
    from nongrata.keys import U64
    from nongrata.plan import Requests

    worker = Worker(job(), Tell())
    opened = worker.open()
    assert isinstance(opened, Opened)
    plan = job().content.plan()
    assert opened.prompts == prompts_digest(plan.prompts)
    nothing: DoneKeys = done_keys([])
    missing = Missing(plan, model_digest(opened.identity), nothing)
    blocks: list[tuple[U64, Requests]] = list(missing.blocks(lambda: 50))
    assert {requests.reading for _, requests in blocks} == {"first_token", "free"}
    with open_engine(job().spec, plan, Path()) as engine:
        reader = AnswerReader(plan.prompts)
        for number, (keys, requests) in enumerate(blocks):
            answered = worker.answer(number, keys, requests)
            assert isinstance(answered, Answered)
            here = answer_block(engine, plan, reader, "sim", keys, requests)
            assert answered.rows.equals(here)
    worker.close()


def test_an_engine_that_cannot_open_is_a_sentence_with_its_machine(tmp_path: Path) -> None:
    model = {"id": "m", "engine": "llamacpp", "path": str(tmp_path / "none.gguf")}
    refused = Worker(job(models=[model]), Tell()).open()
    assert isinstance(refused, Refused)
    assert "none.gguf" in str(refused.error())
    assert f"on {refused.host}: " in str(refused.error())


def test_ticks_are_gathered(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("nongrata.executors.ray_worker.time.monotonic", lambda: now[0])
    sent: list[int] = []
    ticks = _Ticks(sent.append)
    for _ in range(10):
        ticks(1)
    assert sent == []
    now[0] = 10.0
    ticks(1)
    assert sent == [11]


def test_a_ticker_gives_what_came_since() -> None:
    ticker = Ticker()
    for attempt, count in ((1, 2), (2, 5), (1, 3)):
        ticker.add(attempt, count)
    assert ticker.take() == {1: 5, 2: 5}
    assert ticker.take() == {}


def test_a_worker_has_no_more_servers_than_cores() -> None:
    spec = LlamaCppSpec(id="m", engine="llamacpp", builtin="smollm2-135m-instruct")
    assert fitted(spec, 3).workers == 3  # type: ignore[union-attr]
    assert fitted(spec.model_copy(update={"workers": 8}), 3).workers == 8  # type: ignore[union-attr]
