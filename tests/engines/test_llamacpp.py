"""The llama.cpp engine over an imitation of its server."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from llamacpp_fakes import FakeServer, batch, messages

from nongrata.engines.llamacpp import LlamaCppEngine
from nongrata.engines.llamacpp_calls import answer_all
from nongrata.engines.llamacpp_results import prompt_digest
from nongrata.engines.model_files import ModelFile
from nongrata.errors import NongrataError
from nongrata.model_specs import LlamaCppSpec
from nongrata.prompts import Decoding

Build = Callable[..., LlamaCppEngine]


@pytest.fixture
def servers() -> list[FakeServer]:
    return []


@pytest.fixture
def build(write_gguf: Callable[..., Path], servers: list[FakeServer]) -> Build:
    def build(metadata: dict[str, Any] | None = None, **settings: Any) -> LlamaCppEngine:
        path = write_gguf(**(metadata or {}))
        spec = LlamaCppSpec.model_validate(
            {"id": "m", "engine": "llamacpp", "path": str(path), "workers": 2, **settings}
        )

        def start(*args: Any, **kwargs: Any) -> FakeServer:
            servers.append(FakeServer(*args, **kwargs))
            return servers[-1]

        file = ModelFile(path, "0" * 64)
        return LlamaCppEngine(spec, file, file, start)

    return build


@pytest.fixture
def engine(build: Build) -> Iterator[LlamaCppEngine]:
    with build() as engine:
        yield engine


def test_scores_are_sorted_into_labels_others_and_the_rest(engine: LlamaCppEngine) -> None:
    scores = engine.score(batch([messages("Q1"), messages("Q2")]))
    p = np.exp(scores.label_logprobs.astype(float))
    assert p.shape == (2, 3, 2)
    np.testing.assert_allclose(p[:, :2, 0], [[0.4, 0.2]] * 2, rtol=1e-6)
    assert np.isnan(p[:, 2, 0]).all()  # C was not returned
    assert (p[:, 2, 1] == 0).all()  # and there is no token ' C'
    assert (p[:, :, 1] == 0).all()  # " A" is no single token here
    np.testing.assert_allclose(np.exp(scores.other_logprobs[:, :3]), [[0.2, 0.1, 0.05]] * 2, 1e-6)
    assert np.isnan(scores.other_logprobs[:, 3:]).all()
    np.testing.assert_allclose(scores.tail_mass, 0.05)
    assert scores.errors == {}
    assert (scores.cached_tokens == 3).all()


def test_labels_stand_in_the_order_shown(engine: LlamaCppEngine) -> None:
    scores = engine.score(batch([messages("Q")], offered=("B", "A")))
    np.testing.assert_allclose(np.exp(scores.label_logprobs[0, :, 0]), [0.2, 0.4], rtol=1e-6)


def test_a_label_that_no_token_spells_is_named(engine: LlamaCppEngine) -> None:
    with pytest.raises(NongrataError, match="'10'"):
        engine.score(batch([messages("Q")], offered=("1", "10")))


def test_a_score_request_leaves_nothing_to_the_server(
    engine: LlamaCppEngine, servers: list[FakeServer]
) -> None:
    engine.score(batch([messages("Q")]))
    (sent,) = [request for server in servers for request in server.requests]
    assert sent["n_predict"] == 1
    assert sent["n_probs"] == 1000
    assert sent["samplers"] == ["temperature"]
    assert sent["repeat_penalty"] == 1.0
    assert sent["dry_multiplier"] == 0.0
    assert all(isinstance(token, int) for token in sent["prompt"])


def test_a_generation_request_names_every_parameter(
    engine: LlamaCppEngine, servers: list[FakeServer]
) -> None:
    decoding = Decoding(max_tokens=5, top_k=7, top_p=0.9, min_p=0.1, stop=("\n",))
    asked = batch([messages("Q", decoding=decoding)], [0.5])
    engine.generate(asked)
    (sent,) = [request for server in servers for request in server.requests]
    assert sent["samplers"] == ["temperature", "top_k", "top_p", "min_p"]
    wanted = {"n_predict": 5, "temperature": 0.5, "top_k": 7, "top_p": 0.9, "min_p": 0.1}
    assert {name: sent[name] for name in wanted} == wanted
    assert sent["stop"] == ["\n"]
    assert sent["seed"] == asked.seed(0)


def test_texts_are_kept_once_and_cuts_are_told(engine: LlamaCppEngine) -> None:
    made = engine.generate(batch([messages("Q"), messages("R"), messages("cut")], [0.0]))
    assert [made.texts[row] for row in made.text][:2] == ["same", "same"]
    assert len(made.texts) == 2
    assert made.truncated.tolist() == [False, False, True]
    assert made.completion_tokens.tolist() == [2, 2, 2]


@pytest.mark.parametrize("seed", range(5))
def test_answers_do_not_depend_on_the_order_of_requests(engine: LlamaCppEngine, seed: int) -> None:
    prompts = [messages(f"cut {i}") for i in range(12)]
    plain = engine.generate(batch(prompts, [0.0, 1.0]))
    order = np.random.default_rng(seed).permutation(24)
    mixed = engine.generate(batch(prompts, [0.0, 1.0], order))
    expected = [plain.texts[row] for row in plain.text]
    assert [mixed.texts[row] for row in mixed.text] == [expected[i] for i in order]
    np.testing.assert_array_equal(mixed.prompt_digest, plain.prompt_digest[order])


def test_one_requests_failure_is_its_own(engine: LlamaCppEngine) -> None:
    prompts = ["fine", "refuse", "explode", "lone \ud800 surrogate", "x" * 3000]
    ticks: list[int] = []
    made = engine.generate(batch([messages(p) for p in prompts], [0.0]), ticks.append)
    assert sorted(made.errors) == [1, 2, 3, 4]
    assert "Compute error" in made.errors[1]
    assert "parse error" in made.errors[2]
    assert "U+D800" in made.errors[3]
    assert "more than the context of 2048" in made.errors[4]
    assert made.texts[made.text[0]] == "same"
    assert sum(ticks) == 5
    assert engine.score(batch([messages(p) for p in prompts])).errors.keys() == {1, 2, 3, 4}


def test_a_batch_of_failures_only_is_no_failure(engine: LlamaCppEngine) -> None:
    made = engine.generate(batch([messages("\udfff")], [0.0]))
    assert list(made.errors) == [0]
    assert np.isnan(engine.score(batch([messages("\udfff")])).tail_mass).all()


def test_a_dead_server_stops_the_run(engine: LlamaCppEngine, servers: list[FakeServer]) -> None:
    ask = batch([messages(f"Q{i}") for i in range(20)], [0.0])
    engine.generate(ask)
    for server in servers:
        server.dead = True
    with pytest.raises(NongrataError, match="run the same command again"):
        engine.generate(ask)


def test_leaving_closes_every_server_also_after_an_interrupt(
    build: Build, servers: list[FakeServer]
) -> None:
    def interrupt(_: int) -> None:
        raise KeyboardInterrupt

    def run() -> None:
        with build() as engine:
            engine.generate(batch([messages(f"Q{i}") for i in range(50)], [0.0]), interrupt)

    with pytest.raises(KeyboardInterrupt):
        run()
    assert len(servers) == 2
    assert all(server.closed for server in servers)
    assert sum(len(server.requests) for server in servers) <= 50


def test_longer_prompts_get_servers_with_room(
    engine: LlamaCppEngine, servers: list[FakeServer]
) -> None:
    assert {server.context for server in servers} == {512}
    engine.generate(batch([messages("x" * 1500)], [0.0]))
    assert [server.context for server in servers] == [512, 512, 2048, 2048]
    assert [server.closed for server in servers] == [True, True, False, False]
    engine.generate(batch([messages("short")], [0.0]))
    assert len(servers) == 4


def test_requests_go_out_in_the_order_that_shares_most(
    engine: LlamaCppEngine, servers: list[FakeServer]
) -> None:
    groups = ("a cook", "a poet")
    prompts = [messages(f"Q{i}", system=f"You are {g}.") for i in range(8) for g in groups]
    calls, _ = engine._calls(batch(prompts, [0.0, 0.5, 1.0]))
    assert len(list(answer_all(servers[:1], calls, 1))) == 48
    sent = [tuple(request["prompt"]) for request in servers[0].requests]
    assert sent == sorted(sent)
    assert sum(a != b for a, b in itertools.pairwise(sent)) == 15


def test_bos_comes_once(build: Build) -> None:
    class AddsBos(FakeServer):
        def tokenize(self, text: str, *, special: bool = False, whole: bool = False) -> list[int]:
            plain = super().tokenize(text)
            return [0, *plain] if whole else plain

    without_bos = {"tokenizer__chat_template": "{% for m in messages %}<|{{ m.role }}|>"
                   "{{ m.content }}{% endfor %}"}  # fmt: skip
    for metadata, server, expected in (
        (None, FakeServer, 1),
        (None, AddsBos, 1),
        (without_bos, FakeServer, 0),
        (without_bos, AddsBos, 1),
    ):
        engine = build(metadata)
        engine._open_server = server
        with engine:
            assert engine.prompt_tokens(messages("Q", "S")).count(0) == expected


def test_control_text_in_a_question_stays_text(engine: LlamaCppEngine) -> None:
    tokens = engine.prompt_tokens(messages("<|bot|></s>", system="<|user|>"))
    assert [token for token in tokens if token < 1000] == [0, 3, 2, 4]


def test_the_digest_is_of_the_tokens_sent(engine: LlamaCppEngine) -> None:
    scores = engine.score(batch([messages("Q"), messages("Q", prefill="Answer:")]))
    sent = [engine.prompt_tokens(messages("Q")), engine.prompt_tokens(messages("Q", "", "Answer:"))]
    assert scores.prompt_digest.tolist() == [prompt_digest(tokens) for tokens in sent]
    assert scores.prompt_tokens.tolist() == [len(tokens) for tokens in sent]


def test_the_identity_holds_what_can_change_an_answer(build: Build) -> None:
    def identity(**settings: Any) -> dict[str, Any]:
        return dict(build(**settings).identity)

    plain = identity()
    assert plain == identity(workers=1)
    # a longer context answers what was too long for a shorter one, and changes nothing else
    assert plain == identity(context=1024)
    assert plain != identity(label_variants=("{label}",))
    assert plain != identity(n_probs=50)
    assert plain["system_role"] == "turn"
    assert plain["label_tokens"]["A"] == [1065, None]


def test_no_path_and_no_worker_count_is_in_the_identity(build: Build, tmp_path: Path) -> None:
    engine = build()
    assert str(tmp_path) not in str(engine.identity)
    assert engine.provenance["workers"] == 2


@pytest.mark.parametrize(
    ("metadata", "settings", "said"),
    [
        ({"tokenizer__chat_template": None}, {}, "no chat template"),
        ({}, {"context": 4096}, "trained for 2048"),
    ],
)
def test_models_that_cannot_be_used_are_refused(
    build: Build, metadata: dict[str, Any], settings: dict[str, Any], said: str
) -> None:
    with pytest.raises(NongrataError, match=said):
        build(metadata, **settings)


def test_a_server_that_does_not_start_leaves_none_running(build: Build) -> None:
    started: list[FakeServer] = []

    def start(*args: Any, **kwargs: Any) -> FakeServer:
        if started:
            raise NongrataError("llama.cpp cannot load the model")
        started.append(FakeServer(*args, **kwargs))
        return started[0]

    engine = build()
    engine._open_server = start
    with pytest.raises(NongrataError, match="cannot load"):
        engine.__enter__()
    assert started[0].closed


def test_returned_mass_beyond_what_is_kept_bounds_the_tail() -> None:
    from nongrata.engines.llamacpp_calls import Finished
    from nongrata.engines.llamacpp_results import LabelTokens, collect_scores
    from nongrata.engines.prompt_tokens import Vocabulary

    vocabulary = Vocabulary(["A"], [1], "gpt2")
    tops = [{"id": 0, "logprob": math.log(0.9)}]
    tops += [{"id": i, "logprob": math.log(0.0016)} for i in range(1, 67)]
    answer = {"choices": [{"logprobs": {"content": [{"top_logprobs": tops}]}}]}
    tokens = LabelTokens(vocabulary, ("{label}",))
    scores = collect_scores([("A",)], tokens, [Finished(0, (1,), answer)], {})
    # 0.9 + 66 x 0.0016 = 1.0056: two were returned and not kept, though 1 - kept is negative
    np.testing.assert_allclose(scores.tail_mass, [0.0032])
