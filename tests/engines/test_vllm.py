"""The vLLM engine over an imitation of ``vllm.LLM``: what is sent, and how answers are read."""

from __future__ import annotations

import json
import logging
import os
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from llamacpp_fakes import DECODING, batch, messages
from vllm_fakes import (
    END,
    SIZE,
    Library,
    OldSamplingParams,
    cloze_batch,
    engine,
    next_logprobs,
    request_output,
    spec,
)

from nongrata.engines.label_tokens import prompt_digest
from nongrata.engines.vllm_library import LoadedModel
from nongrata.errors import NongrataError
from nongrata.prompts import Decoding

PROMPTS = [messages("Q1"), messages("Q2"), messages("A longer one")]


def token_ids(text: str) -> tuple[int, ...]:
    return tuple(ord(c) for c in text)


def fields(params: Any) -> dict[str, Any]:
    return dict(vars(params))


# first_token


def test_scores_are_sorted_into_labels_others_and_the_rest() -> None:
    with engine(n_logprobs=100) as opened:
        scores = opened.score(batch(PROMPTS))
    truth = np.stack([next_logprobs(token_ids(m.user)) for m in PROMPTS])
    labels = truth[:, [ord("A"), ord("B"), ord("C")]]
    np.testing.assert_allclose(scores.label_logprobs[:, :, 0], labels, rtol=1e-5)
    assert np.isneginf(scores.label_logprobs[:, :, 1]).all()  # "({" is no token
    others = -np.sort(-np.delete(truth, [ord("A"), ord("B"), ord("C")], axis=1))
    np.testing.assert_allclose(scores.other_logprobs, others[:, :64], rtol=1e-5)
    kept = np.exp(labels).sum(axis=1) + np.exp(others[:, :64]).sum(axis=1)
    np.testing.assert_allclose(scores.tail_mass, 1 - kept, atol=1e-6)
    assert scores.tail_logsums is None
    assert scores.errors == {}
    assert scores.prompt_tokens.tolist() == [2, 2, 12]
    assert scores.cached_tokens.tolist() == [16, 16, 16]
    assert scores.prompt_digest[0] == prompt_digest(token_ids("Q1"))


def test_with_all_tokens_the_rest_is_exact_at_every_heat() -> None:
    heats = (0.5, 1.0, 2.0)
    with engine(n_logprobs=-1) as opened:
        assert opened.capabilities.label_logprobs == "full"
        scores = opened.score(replace(batch(PROMPTS), heats=heats))
    truth = next_logprobs(token_ids("Q1"))
    rest = np.sort(np.delete(truth, [ord("A"), ord("B"), ord("C")]))[: SIZE - 3 - 64]
    expected = [np.log(np.exp(rest / heat).sum()) for heat in heats]
    assert scores.tail_logsums is not None
    np.testing.assert_allclose(scores.tail_logsums[0], expected, rtol=1e-9)
    np.testing.assert_allclose(scores.tail_mass[0], np.exp(rest).sum(), rtol=1e-9)


def test_more_tokens_than_there_are_means_all() -> None:
    with engine(n_logprobs=SIZE) as opened:
        assert opened.identity["n_logprobs"] == -1


def test_a_score_request_names_every_parameter() -> None:
    library = Library()
    with engine(library, n_logprobs=50) as opened:
        library.engine.asked.clear()
        opened.score(batch(PROMPTS[:1], offered=("A",)))
        sent = fields(library.engine.asked[0][2])
    assert sent == {
        **NEUTRAL_FIELDS,
        "temperature": 0.0,
        "seed": 0,
        "stop": [],
        "max_tokens": 1,
        "logprobs": 50,
        "detokenize": False,
    }


NEUTRAL_FIELDS = {
    "n": 1,
    "presence_penalty": 0.0,
    "frequency_penalty": 0.0,
    "repetition_penalty": 1.0,
    "top_p": 1.0,
    "top_k": 0,
    "min_p": 0.0,
    "stop_token_ids": [END],
    "ignore_eos": False,
    "min_tokens": 0,
    "prompt_logprobs": None,
    "skip_special_tokens": True,
    "spaces_between_special_tokens": True,
    "include_stop_str_in_output": False,
    "logit_bias": None,
    "allowed_token_ids": None,
    "bad_words": [],
    "output_kind": "final_only",
    "flat_logprobs": True,
    "logprob_token_ids": None,
}


def test_a_label_outside_the_most_probable_is_asked_for_by_name() -> None:
    library = Library()
    with engine(library, n_logprobs=10) as opened:
        library.engine.asked.clear()
        scores = opened.score(batch(PROMPTS))
    truth = np.stack([next_logprobs(token_ids(m.user)) for m in PROMPTS])
    labels = truth[:, [ord("A"), ord("B"), ord("C")]]
    np.testing.assert_allclose(scores.label_logprobs[:, :, 0], labels, rtol=1e-5)
    again = [params.logprob_token_ids or [] for _, _, params in library.engine.asked[3:]]
    assert again
    assert all(again)
    assert {token for tokens in again for token in tokens} <= {ord(c) for c in "ABC"}
    total = np.exp(labels).sum(axis=1) + np.nansum(np.exp(scores.other_logprobs), axis=1)
    np.testing.assert_allclose(total + scores.tail_mass, 1, atol=1e-6)


@pytest.mark.parametrize(("place", "asked"), [(0, False), (95, True)])
def test_a_missing_spelling_is_asked_for_only_if_it_could_matter(place: int, asked: bool) -> None:
    # on most prompts " A" is improbable where "A" is not; asking always would double the work
    library = Library()
    with engine(library, n_logprobs=100) as opened:
        order = np.argsort(-next_logprobs(token_ids("Q1")))
        opened._tokens.labels._known["A"] = (int(order[place]), int(order[-1]))
        library.engine.asked.clear()
        scores = opened.score(batch(PROMPTS[:1], offered=("A",)))
    assert len(library.engine.asked) == 1 + asked
    assert np.isfinite(scores.label_logprobs[0, 0]).tolist() == [True, asked]


def test_an_older_vllm_leaves_such_a_label_unknown() -> None:
    library = Library(params=OldSamplingParams)
    with engine(library, n_logprobs=10) as opened:
        assert opened.identity["labels_asked_by_name"] is False
        scores = opened.score(batch(PROMPTS))
    unknown = np.isnan(scores.label_logprobs[:, :, 0])
    assert unknown.any()
    assert scores.errors == {}
    truth = np.stack([next_logprobs(token_ids(m.user)) for m in PROMPTS])
    labels = truth[:, [ord("A"), ord("B"), ord("C")]]
    np.testing.assert_allclose(scores.label_logprobs[:, :, 0][~unknown], labels[~unknown], 1e-5)
    assert (np.exp(labels) * unknown <= scores.tail_mass[:, None]).all()


def test_a_label_that_no_token_spells_is_named() -> None:
    with engine() as opened, pytest.raises(NongrataError, match="'10'"):
        opened.score(batch(PROMPTS, offered=("1", "10")))


# free


def test_a_generation_request_names_every_parameter() -> None:
    library = Library()
    decoding = Decoding(max_tokens=24, top_k=40, top_p=0.9, min_p=0.0, stop=("\n",))
    asked = batch([messages("Q", decoding=decoding)], [0.7])
    with engine(library) as opened:
        library.engine.asked.clear()
        opened.generate(asked)
        sent = fields(library.engine.asked[0][2])
    assert sent == {
        **NEUTRAL_FIELDS,
        "temperature": 0.7,
        "top_k": 40,
        "top_p": 0.9,
        "seed": asked.seed(0),
        "stop": ["\n"],
        "max_tokens": 24,
        "logprobs": None,
        "detokenize": True,
    }


def test_temperature_zero_is_greedy_and_truncates_nothing() -> None:
    library = Library()
    decoding = Decoding(max_tokens=24, top_k=40, top_p=0.9, min_p=0.0, stop=())
    with engine(library) as opened:
        library.engine.asked.clear()
        opened.generate(batch([messages("Q", decoding=decoding)], [0.0]))
        sent = fields(library.engine.asked[0][2])
    assert (sent["temperature"], sent["top_k"], sent["top_p"]) == (0.0, 0, 1.0)


def test_every_request_has_its_own_seed_whatever_the_order() -> None:
    with engine() as opened:
        asked = batch(PROMPTS, [0.5, 1.0], replicates=2)
        one = opened.generate(asked)
        back = opened.generate(asked.take(np.arange(len(asked))[::-1]))
    texts = [one.texts[row] for row in one.text]
    assert texts == [str(asked.seed(i))[:8] for i in range(len(asked))]
    assert [back.texts[row] for row in back.text] == texts[::-1]
    assert len(set(texts)) == len(asked)


def test_how_a_text_ended() -> None:
    decoding = replace(DECODING, max_tokens=2)
    asked = batch([messages("Q"), messages("R", decoding=decoding)], [1.0])
    with engine() as opened:
        made = opened.generate(asked)
    assert made.truncated.tolist() == [False, True]
    assert made.completion_tokens.tolist() == [len(str(asked.seed(0))) + 1, 2]
    assert made.texts[made.text[1]] == str(asked.seed(1))[:2]


def test_a_text_cut_at_a_stop_text_is_vllms_own() -> None:
    def answer(name: str, tokens: Any, params: Any) -> Any:
        output = request_output(name, token_ids("one. two"), params, finish_reason="stop")
        if params.stop:
            output.outputs[0].text, output.outputs[0].stop_reason = "one", "."
        return output

    stopping = replace(DECODING, stop=(".",))
    asked = batch([messages("Q", decoding=stopping), messages("Q")], [1.0])
    with engine(Library(answer=answer), n_logprobs=10) as opened:
        made = opened.generate(asked)
    assert [made.texts[row] for row in made.text] == ["one", "one. two"]
    assert not made.truncated.any()


@pytest.mark.parametrize(
    ("temperature", "says"),
    [(0.001, "temperature = 0.001.*0.01"), (2.5, r"\[0, 2\]"), (-1.0, "cannot be sampled")],
)
def test_a_temperature_that_vllm_would_change_is_refused(temperature: float, says: str) -> None:
    library = Library()
    with engine(library) as opened:
        library.engine.asked.clear()
        with pytest.raises(NongrataError, match=says):
            opened.generate(batch(PROMPTS, [temperature]))
        assert library.engine.asked == []


def test_top_p_with_min_p_is_refused_since_it_means_something_else() -> None:
    both = Decoding(max_tokens=4, top_k=0, top_p=0.9, min_p=0.1, stop=())
    with engine() as opened, pytest.raises(NongrataError, match="min-p before top-p"):
        opened.generate(batch([messages("Q", decoding=both)], [1.0]))


@pytest.mark.parametrize("top_k", [0, 8, 20])
@pytest.mark.parametrize(("top_p", "min_p"), [(1.0, 0.2), (0.7, 0.0), (0.7, 0.2)])
def test_the_order_of_samplers_matters_only_for_what_is_refused(
    top_k: int, top_p: float, min_p: float
) -> None:
    generator = np.random.default_rng(3)
    differ = False
    for _ in range(200):
        p = np.sort(generator.dirichlet(np.full(30, 0.5)))[::-1]
        ours = _min_p(_top_p(_top_k(p, top_k), top_p), min_p)
        theirs = _top_p(_top_k(_min_p(p, min_p), top_k), top_p)
        differ = differ or not np.allclose(ours, theirs)
    assert differ == (top_p < 1 and min_p > 0)


def _kept(p: np.ndarray, count: int) -> np.ndarray:
    kept = np.where(np.arange(len(p)) < count, p, 0.0)
    return np.asarray(kept / kept.sum())


def _top_k(p: np.ndarray, k: int) -> np.ndarray:
    return _kept(p, k) if k else p


def _top_p(p: np.ndarray, top: float) -> np.ndarray:
    return _kept(p, int((np.cumsum(p) < top).sum()) + 1) if top < 1 else p


def _min_p(p: np.ndarray, least: float) -> np.ndarray:
    return _kept(p, int((p >= least * p[0]).sum()))


# cloze


def test_likelihoods_are_sums_over_the_options_tokens() -> None:
    with engine() as opened:
        found = opened.likelihoods(cloze_batch(PROMPTS))

    def after(text: str, said: str) -> float:
        whole = token_ids(text + said)
        return float(sum(next_logprobs(whole[:i])[whole[i]] for i in range(len(text), len(whole))))

    for i, prompt in enumerate(PROMPTS):
        expected = [after(prompt.user, "xy"), after(prompt.user, "z")]
        np.testing.assert_allclose(found.option_logprobs[i], expected)
    np.testing.assert_allclose(found.baseline_logprobs, [[after("?", "xy"), after("?", "z")]] * 3)
    assert found.option_tokens.tolist() == [[2, 1]] * 3
    assert found.prompt_tokens.tolist() == [2, 2, 12]
    assert found.prompt_digest[2] == prompt_digest(token_ids("A longer one"))
    assert found.errors == {}


def test_each_text_is_asked_for_once() -> None:
    library = Library()
    counted: list[int] = []
    with engine(library) as opened:
        library.engine.asked.clear()
        opened.likelihoods(cloze_batch(PROMPTS * 2), counted.append)
        sent = [tokens for _, tokens, _ in library.engine.asked]
        assert fields(library.engine.asked[0][2])["prompt_logprobs"] == 0
    assert len(sent) == len(set(sent)) == 2 * 3 + 2
    assert sum(counted) == 6


def test_a_text_without_likelihood_is_an_error_of_its_requests() -> None:
    def answer(name: str, tokens: Any, params: Any) -> Any:
        bad = tokens == token_ids("Q1z")
        given = None if bad else [None] + [{t: _Known(-1.0)} for t in tokens[1:]]
        return request_output(name, [1], params, prompt_logprobs=given, logprobs=[{1: _Known(0)}])

    counted: list[int] = []
    with engine(Library(answer=answer)) as opened:
        found = opened.likelihoods(cloze_batch(PROMPTS), counted.append)
    assert list(found.errors) == [0]
    assert np.isnan(found.option_logprobs[0]).all()
    np.testing.assert_allclose(found.option_logprobs[1:], [[-2, -1]] * 2)
    assert sum(counted) == 3


class _Known:
    def __init__(self, logprob: float) -> None:
        self.logprob = logprob


# one bad request


BAD = [messages("Q1"), messages("bad \ud83d"), messages("x" * 300), messages(""), messages("Q2")]


@pytest.mark.parametrize("reading", ["first_token", "free"])
def test_a_request_that_cannot_be_sent_sinks_no_other(reading: str) -> None:
    counted: list[int] = []
    with engine() as opened:
        if reading == "free":
            made = opened.generate(batch(BAD, [1.0]), counted.append)
            assert made.texts[made.text[0]] != made.texts[made.text[4]]
            assert made.texts[made.text[1]] == ""
            errors = made.errors
        else:
            scores = opened.score(batch(BAD), counted.append)
            assert np.isfinite(scores.tail_mass[[0, 4]]).all()
            errors = scores.errors
    assert sum(counted) == 5
    assert set(errors) == {1, 2, 3}
    assert "surrogate" in errors[1]
    assert "300 tokens" in errors[2]
    assert "context of 200" in errors[2]
    assert errors[3] == "vLLM: The decoder prompt cannot be empty"


def test_an_option_too_many_is_an_error_of_its_request() -> None:
    with engine() as opened:
        found = opened.likelihoods(cloze_batch([messages("Q"), messages("x" * 199)]))
    assert set(found.errors) == {1}
    assert "context of 200" in found.errors[1]


def test_an_aborted_request_is_an_error() -> None:
    def answer(name: str, tokens: Any, params: Any) -> Any:
        return request_output(name, [1], params, finish_reason="abort")

    with engine(Library(answer=answer)) as opened:
        scores = opened.score(batch(PROMPTS))
    assert set(scores.errors) == {0, 1, 2}
    assert "abort" in scores.errors[0]


# work


def test_neighbours_share_prefixes_and_few_requests_wait_in_vllm() -> None:
    library = Library()
    asked = [messages(f"{i % 7} question {i}") for i in range(60)]
    with engine(library) as opened:
        library.engine.asked.clear()
        opened.score(batch(asked))
        sent = [tokens for _, tokens, params in library.engine.asked if params.logprobs]
    assert sent == sorted(sent)
    assert library.engine.most == 16  # four times as many as are computed at once


def test_an_interrupt_leaves_nothing_under_way() -> None:
    def interrupt(_: int) -> None:
        raise KeyboardInterrupt

    library = Library()
    with engine(library) as opened:
        with pytest.raises(KeyboardInterrupt):
            opened.generate(batch(PROMPTS * 4, [1.0]), interrupt)
        assert library.engine.waiting == {}
        assert library.engine.aborted
        assert opened.generate(batch(PROMPTS, [1.0])).errors == {}


def test_a_vllm_that_stops_working_ends_the_run_with_a_sentence() -> None:
    library = Library()
    with engine(library) as opened:
        library.engine.fails_at_step = library.engine.steps + 2
        with pytest.raises(
            NongrataError, match=r"stopped working \(RuntimeError: out of memory\);"
        ):
            opened.score(batch(PROMPTS * 4))
        assert library.engine.waiting == {}


def test_forgetting_is_vllms() -> None:
    library = Library()
    with engine(library) as opened:
        before = library.engine.forgotten
        assert opened.forget() is True
        assert library.engine.forgotten == before + 1


# loading


def test_how_the_model_is_loaded() -> None:
    library = Library()
    changes: dict[str, Any] = {
        "dtype": "float16",
        "tensor_parallel_size": 2,
        "gpu_memory_utilization": 0.8,
        "options": {"quantization": "awq", "seed": 3},
    }
    with engine(library, **changes):
        pass
    assert library.arguments == {
        "model": "m",
        "tokenizer": "m",
        "dtype": "float16",
        "max_model_len": 200,
        "tensor_parallel_size": 2,
        "max_logprobs": 200,
        "logprobs_mode": "raw_logprobs",
        "generation_config": "vllm",
        "enable_prefix_caching": True,
        "trust_remote_code": False,
        "seed": 3,
        "disable_log_stats": True,
        "use_tqdm_on_load": False,
        "gpu_memory_utilization": 0.8,
        "quantization": "awq",
    }


def test_without_a_gpu_short_prompts_share_blocks_and_memory_is_bounded() -> None:
    library = Library(device="cpu")
    with engine(library) as opened:
        assert opened.block < engine().block
    assert library.arguments["block_size"] == 32
    assert library.arguments["enable_chunked_prefill"] is False
    assert 0 < library.arguments["kv_cache_memory_bytes"] <= 8 << 30


def test_the_identity_names_what_can_change_an_answer() -> None:
    with engine(options={"quantization": "awq"}) as opened:
        identity = dict(opened.identity)
    assert json.loads(json.dumps(identity)) == identity
    expected = {
        "engine": "vllm",
        "backend": "vllm 0.0.0",
        "weights_sha256": "f" * 64,
        "dtype": "bfloat16",
        "quantization": "awq",
        "attention_backend": "FLASH_ATTN",
        "tensor_parallel_size": 1,
        "options": {"quantization": "awq"},
        "n_logprobs": -1,  # 200 are more than there are
        "vocabulary_size": SIZE,
        "template_sha256": "0" * 64,
        "samplers": ["temperature", "min_p", "top_k", "top_p"],
    }
    assert {name: identity[name] for name in expected} == expected


def test_how_it_is_served_is_no_part_of_the_identity() -> None:
    with engine() as plain, engine(gpu_memory_utilization=0.5, max_num_seqs=8) as served:
        assert plain.identity == served.identity
        assert served.provenance["served"]["max_num_seqs"] == 8


def test_outside_its_block_it_answers_nothing() -> None:
    opened = engine()
    with pytest.raises(RuntimeError, match="outside"):
        opened.score(batch(PROMPTS))
    with pytest.raises(RuntimeError, match="outside"):
        _ = opened.identity


def test_leaving_ends_vllm_and_puts_everything_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "0")
    level = logging.getLogger("vllm").level
    seen: dict[str, str | None] = {}

    class Watching(Library):
        def LLM(self, **arguments: Any) -> Any:  # noqa: N802
            names = ("VLLM_ENABLE_V1_MULTIPROCESSING", "VLLM_NO_USAGE_STATS", "HF_HUB_OFFLINE")
            seen.update({name: os.environ.get(name) for name in names})
            os.environ["VLLM_LEFT_BEHIND"] = "1"
            return super().LLM(**arguments)

    library = Watching()
    before = dict(os.environ)
    with engine(library):
        assert os.environ["HF_HUB_OFFLINE"] == "0"
    assert list(seen.values()) == ["0", "1", "1"]
    assert dict(os.environ) == before
    assert library.engine.shut_down == 1
    assert logging.getLogger("vllm").level == level


def test_a_users_own_setting_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VLLM_ENABLE_V1_MULTIPROCESSING", "1")
    seen: list[str] = []

    class Watching(Library):
        def LLM(self, **arguments: Any) -> Any:  # noqa: N802
            seen.append(os.environ["VLLM_ENABLE_V1_MULTIPROCESSING"])
            return super().LLM(**arguments)

    with engine(Watching()):
        pass
    assert seen == ["1"]


def test_a_model_that_cannot_be_loaded_is_one_sentence() -> None:
    before = dict(os.environ)
    said = "1 validation error for ModelConfig\n  Value error, max_model_len \x1b[31m [type=x]"
    with pytest.raises(NongrataError, match="cannot load the model: Value error, max_model_len"):
        engine(Library(refuses=ValueError(said))).__enter__()
    assert dict(os.environ) == before


def test_an_error_after_loading_ends_vllm_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: LoadedModel) -> dict[str, Any]:
        raise RuntimeError("no facts")

    monkeypatch.setattr(LoadedModel, "facts", fail)
    library = Library()
    with pytest.raises(RuntimeError, match="no facts"):
        engine(library).__enter__()
    assert library.engine.shut_down == 1


# the description


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"options": {"dtype": "auto"}}, "use dtype"),
        ({"options": {"max_model_len": 5}}, "use context"),
        ({"options": {"generation_config": "auto"}}, "cannot be set"),
        ({"options": {"logprobs_mode": "processed_logprobs"}}, "cannot be set"),
        ({"n_logprobs": 3}, "at least 10"),
        ({"gpu_memory_utilization": 1.5}, "less than or equal to 1"),
    ],
)
def test_a_description_that_cannot_be_meant_is_refused(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        spec(**changes)
