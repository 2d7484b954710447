"""The vLLM engine over vLLM itself and the demo model: marker ``vllm``."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conformance import Bench, EngineCase, conformance_plan, probabilities, texts_of

from nongrata.engines.base import Engine, Scores
from nongrata.engines.demo_model import fetch_smollm2
from nongrata.engines.vllm import VllmEngine
from nongrata.engines.vllm_library import import_vllm
from nongrata.errors import MissingExtraError, NongrataError
from nongrata.model_specs import LlamaCppSpec, TransformersSpec, VllmSpec
from nongrata.prompts import Decoding, Messages

pytestmark = [pytest.mark.vllm, pytest.mark.slow]

PEOPLE = ("nobody", "pirate")
# vLLM's float32 on a CPU is rougher than others': its probabilities add up to 1.00002
CLOSE = 5e-5


def require_vllm() -> None:
    """Skip without vLLM, or where the one that is there cannot be imported."""
    try:
        import_vllm()
        fetch_smollm2()
    except (MissingExtraError, NongrataError) as error:
        pytest.skip(str(error))


def describe(**changes: Any) -> VllmSpec:
    """The demo model in float32, without waiting for a compiler."""
    given: dict[str, Any] = {
        "id": "vllm",
        "engine": "vllm",
        "builtin": "smollm2-135m-instruct",
        "dtype": "float32",
        "context": 1024,
        "options": {"enforce_eager": True, "kv_cache_memory_bytes": 512 << 20},
    }
    return VllmSpec.model_validate(given | changes)


def bench_of(engine: Engine, spec: Any) -> Bench:
    return Bench(EngineCase("vllm", describe), engine, conformance_plan(spec))  # type: ignore[arg-type]


@dataclass(frozen=True)
class Visits:
    """What engines said that were opened and left before: vLLM holds one model a process."""

    rough: Scores
    full: Scores
    left_behind: dict[str, Any]
    freed: int


@pytest.fixture(scope="module")
def visits() -> Visits:
    psutil = pytest.importorskip("psutil")
    require_vllm()
    me = psutil.Process()

    def state() -> dict[str, Any]:
        return {
            "children": len(me.children(recursive=True)),
            "cores": os.sched_getaffinity(0),
            "environment": dict(os.environ),
        }

    spec = describe(dtype="bfloat16")
    with VllmEngine.open(spec, Path()) as engine:
        assert engine.identity["dtype"] == "bfloat16"
        rough = engine.score(bench_of(engine, spec).batch("letter", personas=PEOPLE))
    before = state()
    spec = describe(n_logprobs=-1)
    with VllmEngine.open(spec, Path()) as engine:
        assert engine.capabilities.label_logprobs == "full"
        every = bench_of(engine, spec).batch("letter", personas=PEOPLE)
        full = engine.score(replace(every, heats=(0.5, 1.0, 2.0)))
        held = me.memory_info().rss
    after = state()
    changed = {name: after[name] for name in after if after[name] != before[name]}
    return Visits(rough, full, changed, held - me.memory_info().rss)


@pytest.fixture(scope="module")
def outward() -> list[Any]:
    """Addresses outside this machine to which a connection was tried."""
    return []


@pytest.fixture(scope="module")
def bench(visits: Visits, outward: list[Any]) -> Iterator[Bench]:
    connect = socket.socket.connect

    def watched(self: socket.socket, address: Any) -> None:
        if self.family != socket.AF_UNIX and str(address[0]) not in ("127.0.0.1", "::1"):
            outward.append(address)
            raise ConnectionRefusedError("no network here")
        connect(self, address)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", watched)
        spec = describe()
        with VllmEngine.open(spec, Path()) as engine:
            yield bench_of(engine, spec)


def shares(scores: Scores) -> np.ndarray:
    """Each option's share of the probability of all labels."""
    p = probabilities(scores).sum(axis=2)
    return np.asarray(p / p.sum(axis=1, keepdims=True))


def test_a_model_that_vllm_cannot_load_is_one_sentence() -> None:
    require_vllm()
    spec = describe(options={"enforce_eager": True, "quantization": "no-such-thing"})
    with pytest.raises(NongrataError, match="cannot load the model"):
        VllmEngine.open(spec, Path()).__enter__()


def test_label_shares_are_those_of_transformers(bench: Bench) -> None:
    from nongrata.engines.transformers import TransformersEngine

    mine = bench.score(bench.batch("letter", personas=PEOPLE))
    spec = TransformersSpec(
        id="t", engine="transformers", builtin="smollm2-135m-instruct", context=1024, device="cpu"
    )
    with TransformersEngine.open(spec, Path()) as engine:
        other = bench_of(engine, spec)
        theirs = engine.score(other.batch("letter", personas=PEOPLE))
        texts = other.likelihoods(other.batch("cloze", personas=PEOPLE))
    np.testing.assert_array_equal(mine.prompt_digest, theirs.prompt_digest)
    assert np.abs(shares(mine) - shares(theirs)).max() < CLOSE
    assert np.abs(probabilities(mine) - probabilities(theirs)).max() < CLOSE
    np.testing.assert_allclose(mine.tail_mass, theirs.tail_mass, atol=CLOSE)
    own = bench.likelihoods(bench.batch("cloze", personas=PEOPLE))
    np.testing.assert_array_equal(own.option_tokens, texts.option_tokens)
    np.testing.assert_allclose(own.option_logprobs, texts.option_logprobs, atol=1e-4)
    np.testing.assert_allclose(own.baseline_logprobs, texts.baseline_logprobs, atol=1e-4)


def test_label_shares_are_those_of_llamacpp(bench: Bench) -> None:
    pytest.importorskip("xllamacpp")
    from nongrata.engines.llamacpp import LlamaCppEngine

    mine = bench.score(bench.batch("letter", personas=PEOPLE))
    spec = LlamaCppSpec(
        id="l", engine="llamacpp", builtin="smollm2-135m-instruct", context=1024, workers=1
    )
    with LlamaCppEngine.open(spec, Path()) as engine:
        theirs = engine.score(bench_of(engine, spec).batch("letter", personas=PEOPLE))
    np.testing.assert_array_equal(mine.prompt_digest, theirs.prompt_digest)
    assert np.abs(shares(mine) - shares(theirs)).max() < CLOSE


def test_bfloat16_differs_by_no_more_than_its_noise(bench: Bench, visits: Visits) -> None:
    mine = bench.score(bench.batch("letter", personas=PEOPLE))
    moved = np.abs(shares(mine) - shares(visits.rough)).max()
    assert 0 < moved < 0.05


def test_order_and_batch_do_not_matter_in_float32(bench: Bench) -> None:
    batch = bench.batch("letter", personas=PEOPLE)
    together = probabilities(bench.score(batch))
    bench.engine.forget()
    back = probabilities(bench.score(batch.take(np.arange(len(batch))[::-1])))[::-1]
    assert np.abs(back - together).max() < 1e-5
    bench.engine.forget()
    for i in range(0, len(batch), 3):
        alone = probabilities(bench.score(batch.take(np.array([i]))))[0]
        assert np.abs(alone - together[i, : len(alone)]).max() < 1e-5


def test_all_tokens_add_up_to_one_and_agree_with_the_most_probable(
    bench: Bench, visits: Visits
) -> None:
    full = visits.full
    total = probabilities(full).sum(axis=(1, 2))
    total += np.exp(full.other_logprobs.astype(float)).sum(axis=1) + full.tail_mass
    np.testing.assert_allclose(total, 1, atol=CLOSE)
    assert full.tail_logsums is not None
    np.testing.assert_allclose(np.exp(full.tail_logsums[:, 1]), full.tail_mass, rtol=1e-9)
    assert np.isfinite(full.label_logprobs[:, :3]).all()
    mine = bench.score(bench.batch("letter", personas=PEOPLE))
    known = np.isfinite(mine.label_logprobs)
    np.testing.assert_allclose(mine.label_logprobs[known], full.label_logprobs[known], atol=1e-4)
    np.testing.assert_allclose(mine.tail_mass, full.tail_mass, atol=CLOSE)


def test_labels_outside_the_most_probable_are_told_too(bench: Bench) -> None:
    assert isinstance(bench.engine, VllmEngine)
    mine = bench.score(bench.batch("letter", personas=PEOPLE))
    bench.engine._spec = describe(n_logprobs=10)
    try:
        few = bench.score(bench.batch("letter", personas=PEOPLE))
    finally:
        bench.engine._spec = describe()
    both = np.isfinite(few.label_logprobs) & np.isfinite(mine.label_logprobs)
    assert both[:, :3].any(axis=2).all()  # of each label a spelling, though ten tokens are few
    np.testing.assert_allclose(few.label_logprobs[both], mine.label_logprobs[both], atol=1e-4)
    known = probabilities(few).sum(axis=(1, 2))
    known += np.nansum(np.exp(few.other_logprobs.astype(float)), axis=1)
    np.testing.assert_allclose(known + few.tail_mass, 1, atol=CLOSE)


def test_what_prompts_share_is_computed_once(bench: Bench) -> None:
    batch = bench.batch("letter", personas=("pirate",))
    bench.engine.forget()
    first = bench.score(batch)
    assert first.cached_tokens[0] == 0
    again = bench.score(batch)
    assert (again.cached_tokens == (again.prompt_tokens - 1) // 32 * 32).all()
    assert again.cached_tokens.min() >= 32


def test_seeds_decide_texts(bench: Bench) -> None:
    batch = bench.batch("text", ["fruit", "fish"], temperature=1.0, replicates=4)
    first, second = (texts_of(bench.generate(batch)) for _ in range(2))
    assert np.mean([one == two for one, two in zip(first, second, strict=True)]) > 0.8
    assert len(set(first)) > 4


def test_seeded_texts_survive_more_tokens_than_one_step_holds(bench: Bench) -> None:
    # vLLM's CPU backend stops working where it divides a seeded prompt
    batch = bench.batch("one", temperature=1.0, personas=PEOPLE, replicates=40)
    made = bench.generate(batch)
    assert made.errors == {}
    assert (made.prompt_tokens - made.cached_tokens).sum() > 4096


def test_texts_end_where_the_turn_ends(bench: Bench) -> None:
    made = bench.generate(bench.batch("long", temperature=0.0))
    assert not made.truncated.all()
    assert not any("<|" in text for text in made.texts)


def test_stop_texts_cut_as_if_from_the_whole_text(bench: Bench) -> None:
    whole = texts_of(bench.generate(bench.batch("text", temperature=0.0)))
    stopped = bench.generate(bench.batch("stopped", temperature=0.0))
    assert texts_of(stopped) == [text.partition("e")[0] for text in whole]
    found = ["e" in text for text in whole]
    assert any(found)
    assert not stopped.truncated[found].any()


def test_bos_is_sent_once(bench: Bench) -> None:
    check = bench.engine.provenance["self_check"]
    assert check == {
        "same_tokens_as_whole_prompt": True,
        "begins_with_bos": True,
        "begins_with_bos_twice": False,
    }


def test_unicode_and_what_is_too_long(bench: Bench) -> None:
    names = ["emoji", "right-to-left", "too-long", "surrogate", "cjk"]
    scores = bench.score(bench.batch("letter", names))
    assert set(scores.errors) == {2, 3}
    assert np.isfinite(scores.tail_mass[[0, 1, 4]]).all()


def test_every_sampling_parameter_is_taken_as_it_is(bench: Bench) -> None:
    assert isinstance(bench.engine, VllmEngine)
    decoding = Decoding(max_tokens=5, top_k=7, top_p=0.9, min_p=0.0, stop=("x",))
    params = bench.engine._sampling(decoding, 0.01, 3)
    assert (params.top_k, params.top_p, params.temperature, params.seed) == (7, 0.9, 0.01, 3)
    with pytest.raises(NongrataError, match=r"temperature = 0\.005"):
        bench.engine._sampling(decoding, 0.005, 3)


def test_nothing_was_asked_of_the_network(bench: Bench, outward: list[Any]) -> None:
    bench.score(bench.batch("letter"))
    assert outward == []


def test_leaving_frees_everything(visits: Visits) -> None:
    assert visits.left_behind == {}
    assert visits.freed > 400 << 20  # bytes; weights and cache are 1,000 MiB


def test_a_second_model_is_refused_and_harms_nothing(bench: Bench) -> None:
    with pytest.raises(NongrataError, match="cannot hold two"):
        VllmEngine.open(describe(), Path()).__enter__()
    assert bench.score(bench.batch("letter")).errors == {}


def test_a_prompt_can_be_read_back(bench: Bench) -> None:
    assert isinstance(bench.engine, VllmEngine)
    decoding = Decoding(max_tokens=1, top_k=0, top_p=1.0, min_p=0.0, stop=())
    tokens = bench.engine.prompt_tokens(Messages("", "caf\u00e9 \u4f60", "", decoding))
    assert "caf\u00e9 \u4f60" in bench.engine.tokens.text(tokens)
