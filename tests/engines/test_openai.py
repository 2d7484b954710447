"""The openai engine against a server process of its own."""

from __future__ import annotations

import logging
import math
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from llamacpp_fakes import batch, messages
from openai_server import MODEL, TOKENS, ServerProcess, logits, softmax

from nongrata.engines.base import Batch
from nongrata.errors import NongrataError
from nongrata.model_specs import OpenAISpec
from nongrata.prompts import Decoding, Messages

pytest.importorskip("openai")

from nongrata.engines.openai import OpenAIEngine

KEY = "sk-test-0123456789abcdef"
ONE = Decoding(max_tokens=1, top_k=0, top_p=1.0, min_p=0.0, stop=())
SOME = Decoding(max_tokens=6, top_k=0, top_p=1.0, min_p=0.0, stop=())
PROMPTS = [messages(f"Question {i}?", "You are a cook.", decoding=SOME) for i in range(6)]
TEMPLATE = (
    "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)


def text_of(prompt: Messages) -> str:
    """What the server makes of a chat."""
    return f"<system>{prompt.system}<user>{prompt.user}<assistant>{prompt.prefill}"


def truth(prompt: Messages) -> dict[str, float]:
    return dict(zip(TOKENS, softmax(logits(text_of(prompt))), strict=True))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    with ServerProcess(tmp_path_factory.mktemp("server")) as process:
        yield process


def spec_for(url: str, **changes: Any) -> OpenAISpec:
    values = {
        "id": "m", "engine": "openai", "model": MODEL, "base_url": url, "top_logprobs": 8,
        "timeout": 5.0, "backoff": 0.02,
    }  # fmt: skip
    return OpenAISpec.model_validate(values | changes)


def opened(url: str, notify: Callable[[str], None] | None = None, **changes: Any) -> OpenAIEngine:
    return OpenAIEngine.open(spec_for(url, **changes), Path(), notify=notify)


@contextmanager
def serving(folder: Path, **options: Any) -> Iterator[ServerProcess]:
    with ServerProcess(folder, **options) as process:
        yield process


def said(engine: OpenAIEngine, asked: Batch) -> list[str | None]:
    result = engine.generate(asked)
    return [None if i in result.errors else result.texts[row] for i, row in enumerate(result.text)]


# What is read


def test_scores_are_the_model_s_probabilities_and_nothing_is_renormalised(
    server: ServerProcess,
) -> None:
    with opened(server.url) as engine:
        scores = engine.score(batch(PROMPTS))
    assert not scores.errors
    some_are_missing = False
    for i, prompt in enumerate(PROMPTS):
        known = truth(prompt)
        returned = sorted(known.values(), reverse=True)[:8]
        for j, label in enumerate("ABC"):
            for k, spelling in enumerate((label, f" {label}")):
                found = scores.label_logprobs[i, j, k]
                if math.isnan(found):
                    some_are_missing = True
                    assert known[spelling] <= np.exp(np.nanmin(scores.other_logprobs[i])) + 1e-7
                    assert known[spelling] <= scores.tail_mass[i]
                else:
                    assert math.exp(found) == pytest.approx(known[spelling], rel=1e-5)
        told = np.exp(scores.label_logprobs[i]).ravel(), np.exp(scores.other_logprobs[i])
        total = sum(np.nansum(part) for part in told) + scores.tail_mass[i]
        assert total == pytest.approx(1.0, abs=1e-6)
        assert scores.tail_mass[i] >= 1 - math.fsum(returned) - 1e-2
    assert some_are_missing
    assert len(set(scores.prompt_digest.tolist())) == len(PROMPTS)
    assert (scores.prompt_tokens > 0).all()


@pytest.mark.parametrize("api", ["chat", "completions"])
@pytest.mark.parametrize(("temperature", "top_p"), [(0.5, 1.0), (1.0, 1.0), (0.7, 0.9)])
def test_sampled_tokens_follow_the_scores(
    server: ServerProcess, api: str, temperature: float, top_p: float
) -> None:
    from scipy.stats import chisquare

    prompt = replace(PROMPTS[0], decoding=replace(ONE, top_p=top_p))
    more = {"api": api, "template": TEMPLATE} if api == "completions" else {}
    with opened(server.url, top_logprobs=len(TOKENS), **more) as engine:
        scores = engine.score(batch([prompt]))
        drawn = said(engine, batch([prompt], [temperature], replicates=300))
    labels = np.exp(scores.label_logprobs[0].astype(float) / temperature).ravel()
    others = scores.other_logprobs[0][~np.isnan(scores.other_logprobs[0])].astype(float)
    others = np.exp(others / temperature)
    everything = np.concatenate([labels, others])
    total = everything.sum()
    probabilities = everything / total
    order = np.argsort(-probabilities)
    before = np.concatenate([[0.0], np.cumsum(probabilities[order])[:-1]])
    kept = np.zeros(len(everything))
    kept[order] = np.where(before < top_p, probabilities[order], 0.0)
    kept /= kept.sum()
    names = ["A", " A", "B", " B", "C", " C"]
    counts = np.array([*(drawn.count(name) for name in names), 0])
    counts[-1] = len(drawn) - counts.sum()
    expected = np.array([*kept[:6], kept[6:].sum()]) * len(drawn)
    enough = expected > 0
    assert not counts[~enough].any()
    assert chisquare(counts[enough], expected[enough]).pvalue > 1e-3


def test_order_and_company_change_nothing(server: ServerProcess) -> None:
    with opened(server.url) as engine:
        asked = batch(PROMPTS, [0.0, 0.8], replicates=3)
        plain, scored = said(engine, asked), engine.score(batch(PROMPTS))
        order = np.random.default_rng(3).permutation(len(asked))
        shuffled = said(engine, batch(PROMPTS, [0.0, 0.8], order, replicates=3))
        assert shuffled == [plain[i] for i in order]
        alone = engine.score(batch([PROMPTS[2]]))
        np.testing.assert_array_equal(alone.label_logprobs[0], scored.label_logprobs[2])
    replicates = {tuple(plain[i : i + 3]) for i in range(0, len(plain), 3)}
    assert any(len(set(texts)) > 1 for texts in replicates)  # each has a seed of its own


def test_both_apis_agree(server: ServerProcess) -> None:
    with opened(server.url) as chat:
        one, texts = chat.score(batch(PROMPTS)), said(chat, batch(PROMPTS, [0.9]))
    with opened(server.url, api="completions", template=TEMPLATE) as completions:
        two = completions.score(batch(PROMPTS))
        assert said(completions, batch(PROMPTS, [0.9])) == texts
    np.testing.assert_allclose(one.label_logprobs, two.label_logprobs, rtol=1e-6)


def test_a_begun_answer_is_gone_on_with(server: ServerProcess) -> None:
    begun = [replace(prompt, prefill="The answer is") for prompt in PROMPTS]
    with opened(server.url, prefill="continue_final_message") as engine:
        scores = engine.score(batch(begun))
        late = replace(batch(PROMPTS), begun=["The answer is"] * len(PROMPTS))
        again = engine.score(late)
    np.testing.assert_array_equal(scores.label_logprobs, again.label_logprobs)
    found = math.exp(np.nanmax(scores.label_logprobs[0]))
    assert any(found == pytest.approx(p, rel=1e-5) for p in truth(begun[0]).values())
    with opened(server.url) as engine, pytest.raises(NongrataError, match="continue_final_message"):
        engine.score(batch(begun))


@dataclass(frozen=True)
class Cloze:
    """Stands for a PromptTable whose options have texts."""

    options: tuple[str, ...]

    def messages(self, skeleton: int, question: int) -> Messages:
        return messages(f"Question {question}?")

    def baseline(self, skeleton: int) -> Messages:
        return messages("")

    def continuations(self, skeleton: int, question: int) -> tuple[str, ...]:
        return self.options


def test_likelihoods_come_from_the_echoed_prompt(server: ServerProcess) -> None:
    asked = replace(batch(PROMPTS[:2]), prompts=Cloze(("in the sea", "up")))  # type: ignore[arg-type]
    asked = replace(asked, reading="cloze")
    template = TEMPLATE.replace("<assistant>", "<assistant> ")
    ticks: list[int] = []
    with opened(server.url, api="completions", template=template, echo=True) as engine:
        assert engine.capabilities.likelihoods
        found = engine.likelihoods(asked, ticks.append)
        joined = engine.likelihoods(
            replace(asked, prompts=Cloze(("A",)))  # type: ignore[arg-type]
        )
    assert not found.errors
    assert found.option_tokens.tolist() == [[10, 2], [10, 2]]
    assert (found.option_logprobs < 0).all()
    assert (found.option_logprobs[0] != found.option_logprobs[1]).all()
    np.testing.assert_array_equal(found.baseline_logprobs[0], found.baseline_logprobs[1])
    assert sum(ticks) == 2
    assert all("joins" in sentence for sentence in joined.errors.values())
    assert len(joined.errors) == 2
    with opened(server.url) as engine, pytest.raises(NongrataError, match="echo"):
        engine.likelihoods(asked)


# What is sent


def sent(server: ServerProcess, word: str) -> list[dict[str, Any]]:
    return [entry["body"] for entry in server.entries() if word in entry["prompt"]]


@pytest.mark.parametrize(
    ("owner", "extra"),
    [
        ("vllm", {"top_k": -1, "min_p": 0.0, "repetition_penalty": 1.0}),
        ("llamacpp", {"top_k": 0, "min_p": 0.0, "repeat_penalty": 1.0, "xtc_probability": 0.0}),
        ("somebody", {}),
    ],
)
def test_every_sampling_parameter_is_sent(
    tmp_path: Path, owner: str, extra: dict[str, Any]
) -> None:
    with serving(tmp_path, owner=owner) as server:
        with opened(server.url) as engine:
            engine.generate(batch([replace(PROMPTS[0], decoding=replace(SOME, top_p=0.9))], [0.7]))
            identity = engine.identity
        (body,) = sent(server, "Question 0")
    given = {
        "temperature": 0.7, "top_p": 0.9, "presence_penalty": 0.0, "frequency_penalty": 0.0,
        "max_tokens": 6,
    }  # fmt: skip
    assert given.items() <= body.items()
    assert isinstance(body["seed"], int)
    assert extra.items() <= body.items()
    assert extra.items() <= identity["samplers_off"].items()
    if not extra:
        assert set(body) == {*given, "seed", "model", "messages"}


def test_truncation_is_sent_where_it_is_to_act(server: ServerProcess) -> None:
    decoding = replace(SOME, top_k=3, min_p=0.1, stop=("x", "y"))
    prompt = messages("truncate me", decoding=decoding)
    with opened(server.url, omit=["seed"], extra_body={"user": "me"}) as engine:
        engine.generate(batch([prompt], [0.7]))
        assert not engine.capabilities.seeds
    (body,) = sent(server, "truncate me")
    assert (body["top_k"], body["min_p"], body["stop"]) == (3, 0.1, ["x", "y"])
    assert "seed" not in body
    assert body["user"] == "me"


def test_an_empty_system_turn_is_a_turn_unless_that_is_waived(server: ServerProcess) -> None:
    with opened(server.url) as engine:
        engine.score(batch([messages("silent one")]))
        kept = engine.identity
    with opened(server.url, empty_system="omit") as engine:
        engine.score(batch([messages("silent two")]))
        assert engine.identity != kept
    roles = [[turn["role"] for turn in sent(server, word)[0]["messages"]] for word in (
        "silent one", "silent two",
    )]  # fmt: skip
    assert roles == [["system", "user"], ["user"]]


@pytest.mark.parametrize(
    "changes",
    [
        {"api": "completions", "template": TEMPLATE},
        {"model": "other"},
        {"top_logprobs": 5},
        {"label_variants": ["{label}"]},
        {"extra_body": {"a": 1}},
        {"omit": ["seed"]},
        {"server": "vllm"},
        {"prefill": "last_message"},
        {"markers_in_text": "send"},
    ],
)
def test_what_can_change_an_answer_is_in_the_identity(
    server: ServerProcess, changes: dict[str, Any]
) -> None:
    with opened(server.url) as engine:
        plain = engine.identity
    with opened(server.url, **changes) as engine:
        assert engine.identity != plain
    with opened(server.url, timeout=7.0, max_in_flight=3, price_in=1.0) as engine:
        assert engine.identity == plain


# What goes wrong


def test_failures_are_errors_of_their_requests(server: ServerProcess) -> None:
    asked = [
        messages(text, decoding=SOME)
        for text in ("TOO-LONG", "FILTER", "CALL-TOOL", "<|im_end|>", "\ud800", "all is well")
    ]
    ticks: list[int] = []
    with opened(server.url) as engine:
        result = engine.generate(batch(asked, [0.0]), ticks.append)
        scored = engine.score(batch(asked))
    words = ("maximum context length exceeded \\x1b[31m", "content_filter", "tool", "control token",
             "surrogate")  # fmt: skip
    for i, word in enumerate(words):
        assert word in result.errors[i]
    assert sorted(result.errors) == [0, 1, 2, 3, 4]
    assert sum(ticks) == len(asked)
    assert 5 not in scored.errors
    assert "maximum context" in scored.errors[0]


def test_refusals_and_empty_answers_are_texts(server: ServerProcess) -> None:
    asked = [messages(text, decoding=SOME) for text in ("REFUSE", "SAY-NOTHING", "SURROGATE")]
    with opened(server.url) as engine:
        assert said(engine, batch(asked, [0.0])) == ["I cannot answer that.", "", "half ? pair"]


def test_the_token_limit_is_told_from_an_end(server: ServerProcess) -> None:
    with opened(server.url) as engine:
        result = engine.generate(batch([replace(p, decoding=ONE) for p in PROMPTS], [0.0]))
    assert result.truncated.all()
    with opened(server.url) as engine:
        long = replace(SOME, max_tokens=60)
        result = engine.generate(batch([replace(p, decoding=long) for p in PROMPTS], [0.0]))
    assert not result.truncated.all()


@pytest.mark.parametrize(
    ("always", "word"),
    [
        ("moved", "elsewhere"),
        ("quota", "No money"),
        ("429-long", "asks to wait"),
        ("unknown-field", "does not take seed"),
        ("wrong", "probabilit"),
        ("not-json", "not JSON"),
    ],
)
def test_what_no_request_survives_ends_the_run(tmp_path: Path, always: str, word: str) -> None:
    with serving(tmp_path, always=always) as server, opened(server.url) as engine:
        with pytest.raises(NongrataError, match=word) as caught:
            engine.score(batch(PROMPTS))
        assert "models.m" in str(caught.value)
    assert len(server.entries()) < 40


@pytest.mark.parametrize("always", ["500", "503", "reset", "truncated", "200-error", "stall"])
def test_patience_ends(tmp_path: Path, always: str) -> None:
    with (
        serving(tmp_path, always=always, stall=0.5) as server,
        opened(server.url, attempts=3, timeout=0.3) as engine,
    ):
        result = engine.score(batch(PROMPTS[:2]))
        assert sorted(result.errors) == [0, 1]
        assert np.isnan(result.label_logprobs).all()
        time.sleep(0.6 if always == "stall" else 0.1)  # it notes a request when it is done with it
    assert len(server.entries()) == 6


def test_an_address_without_a_server(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    before = time.monotonic()
    with pytest.raises(NongrataError, match=r"no server at .*start it"), opened(url):
        pass
    assert time.monotonic() - before < 10
    assert not request_threads()


def test_a_wrong_path_and_a_wrong_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "sk-wrong-0123456789abcdef")
    with serving(tmp_path, key=KEY) as server:
        with pytest.raises(NongrataError, match=r"401.*MY_KEY") as caught:
            opened(server.url, key_env="MY_KEY").__enter__()
        assert "sk-wrong" not in str(caught.value)
        assert "[key]" in str(caught.value)
        with pytest.raises(NongrataError, match=r"401.*key_env"):
            opened(server.url).__enter__()


def test_a_server_that_goes_away_ends_the_run(tmp_path: Path) -> None:
    with serving(tmp_path) as server, opened(server.url, attempts=3) as engine:
        engine.score(batch(PROMPTS))
        server.stop()
        with pytest.raises(NongrataError, match="no server at"):
            engine.score(batch(PROMPTS))


def test_without_probabilities_first_tokens_cannot_be_read(server: ServerProcess) -> None:
    with opened(server.url, top_logprobs=0) as engine:
        assert engine.capabilities.label_logprobs == "none"
        with pytest.raises(NongrataError, match="top_logprobs is 0"):
            engine.score(batch(PROMPTS))


def test_another_model_is_noted_and_can_be_refused(server: ServerProcess) -> None:
    notes: list[str] = []
    asked = batch([messages("x"), messages("OTHER-MODEL")], [0.0])
    with opened(server.url, notes.append, max_in_flight=1) as engine:
        engine.generate(asked)
        assert engine.provenance["answered_as"] == {"tiny": 1, "tiny-other": 1}
        assert engine.provenance["system_fingerprints"] == {"fp-1": 2}
    assert notes == ["the server now answers as 'tiny-other', before as 'tiny'"]
    with (
        opened(server.url, answers_as="tiny") as engine,
        pytest.raises(NongrataError, match="answers as 'tiny-other'"),
    ):
        engine.generate(asked)


# A flaky server


def test_a_flaky_server_gives_the_same_answers(tmp_path: Path, server: ServerProcess) -> None:
    asked = batch(PROMPTS, [0.0, 0.8], replicates=2)
    with opened(server.url) as engine:
        texts, scores = said(engine, asked), engine.score(batch(PROMPTS))
    with serving(tmp_path, flaky=0.4, seed=5, stall=1.0) as flaky:
        with opened(flaky.url, timeout=0.5) as engine:
            assert said(engine, asked) == texts
            again = engine.score(batch(PROMPTS))
            troubles = engine.provenance["troubles"]
        np.testing.assert_array_equal(again.label_logprobs, scores.label_logprobs)
        np.testing.assert_array_equal(again.tail_mass, scores.tail_mass)
        assert not again.errors
        answered = [entry["digest"] for entry in flaky.entries() if entry["answered"]]
        # on a busy machine an answer may come later than the client waits, and is asked for again
        assert len(set(answered)) == len(asked) + len(PROMPTS)
    assert len(troubles) >= 4, troubles


def test_never_more_under_way_than_allowed(tmp_path: Path) -> None:
    with serving(tmp_path, delay=0.1) as server:
        with opened(server.url, max_in_flight=12) as engine:
            engine.score(batch([messages(f"n{i}") for i in range(120)]))
            assert engine.provenance["most_in_flight"] == {"first_token": 12}
        under_way = [entry["under_way"] for entry in server.entries()]
    assert 4 < max(under_way) <= 12
    assert max(under_way[:2]) <= 4


def request_threads() -> list[str]:
    return [t.name for t in threading.enumerate() if t.name == "openai-requests"]


def test_an_interrupt_leaves_nothing_behind(tmp_path: Path) -> None:
    with serving(tmp_path, delay=0.2) as server:
        timer = threading.Timer(0.6, os.kill, (os.getpid(), signal.SIGINT))
        before = time.monotonic()
        with opened(server.url, max_in_flight=2) as engine:
            timer.start()
            with pytest.raises(KeyboardInterrupt):
                engine.score(batch([messages(f"n{i}") for i in range(200)]))
            assert time.monotonic() - before < 5
            seen = len(server.entries())
            again = engine.score(batch(PROMPTS[:3]))  # and it can be used again
            assert not again.errors
        timer.join()
        assert not request_threads()
        time.sleep(0.5)
        assert len(server.entries()) <= seen + 2 + 3


def test_an_error_in_a_caller_s_tick_ends_the_batch(server: ServerProcess) -> None:
    def tick(count: int) -> None:
        raise RuntimeError("enough")

    with opened(server.url) as engine, pytest.raises(RuntimeError, match="enough"):
        engine.score(batch(PROMPTS), tick)
    assert not request_threads()


# The key


def test_the_key_is_sent_and_seen_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("MY_KEY", f" {KEY}\n")
    caplog.set_level(logging.DEBUG)
    with (
        serving(tmp_path, key=KEY, flaky=0.3, stall=1.0) as server,
        opened(server.url, key_env="MY_KEY", timeout=0.5) as engine,
    ):
        scores = engine.score(batch(PROMPTS))
        seen = [engine.identity, engine.provenance, scores.errors, vars(engine), engine._spec]
        assert KEY not in repr(seen)
    assert not scores.errors
    # the server sends it back in a header, which the HTTP library writes to its log
    assert "[key]" in caplog.text
    assert KEY not in caplog.text


def test_no_key_is_sent_to_a_server_that_was_not_given_one(
    server: ServerProcess, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    caplog.set_level(logging.DEBUG)
    with opened(server.url) as engine:
        engine.score(batch(PROMPTS[:1]))
    assert KEY not in caplog.text
    assert "none" in caplog.text  # what the server got as Authorization, and sends back


def test_a_key_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MY_KEY", raising=False)
    with pytest.raises(NongrataError, match=r"MY_KEY.*not set"):
        opened("http://localhost:1/v1", key_env="MY_KEY")
    monkeypatch.setenv("MY_KEY", "two\nlines")
    with pytest.raises(NongrataError, match="cannot be sent") as caught:
        opened("http://localhost:1/v1", key_env="MY_KEY")
    assert "lines" not in str(caught.value).replace("line breaks", "")
