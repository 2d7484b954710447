"""What every engine must do, whoever answers: one suite, one case an engine."""

from __future__ import annotations

import os
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from conformance import (
    CONTROL,
    ODD,
    PLAIN,
    STOPS,
    Bench,
    EngineCase,
    bench_of,
    probabilities,
    texts_of,
    with_begun,
)

from nongrata.engines.base import Scores
from nongrata.errors import NongrataError
from nongrata.model_specs import (
    LlamaCppSpec,
    ModelSpec,
    OpenAISpec,
    SimulatedSpec,
    TransformersSpec,
    VllmSpec,
)
from nongrata.temperature import Sampling, answer_distribution

CONTEXT = 1024


@contextmanager
def simulated() -> Iterator[ModelSpec]:
    yield SimulatedSpec(
        id="sim", engine="simulated", ability=0.5, persona_sd=0.5, position_bias=(0.5, 0.2)
    )


@contextmanager
def llamacpp() -> Iterator[ModelSpec]:
    _require_demo_model()
    yield LlamaCppSpec(
        id="llamacpp", engine="llamacpp", builtin="smollm2-135m-instruct", context=CONTEXT
    )


@contextmanager
def transformers() -> Iterator[ModelSpec]:
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    _require_demo_model()
    yield TransformersSpec(
        id="transformers",
        engine="transformers",
        builtin="smollm2-135m-instruct",
        context=CONTEXT,
        device="cpu",
    )


TINY_TEMPLATE = (
    "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)


@contextmanager
def openai_chat() -> Iterator[ModelSpec]:
    with _tiny_server() as url:
        yield OpenAISpec(
            id="openai",
            engine="openai",
            model="tiny",
            base_url=url,
            backoff=0.02,
            prefill="continue_final_message",
        )


@contextmanager
def openai_completions() -> Iterator[ModelSpec]:
    with _tiny_server() as url:
        yield OpenAISpec(
            id="openai",
            engine="openai",
            model="tiny",
            base_url=url,
            backoff=0.02,
            api="completions",
            template=TINY_TEMPLATE,
            echo=True,
        )


@contextmanager
def _tiny_server() -> Iterator[str]:
    """A server process of its own, on the loopback interface."""
    pytest.importorskip("openai")
    from openai_server import ServerProcess

    with tempfile.TemporaryDirectory() as folder, ServerProcess(Path(folder)) as server:
        yield server.url


@contextmanager
def vllm() -> Iterator[ModelSpec]:
    pytest.importorskip("vllm")
    _require_demo_model()
    yield VllmSpec(
        id="vllm",
        engine="vllm",
        builtin="smollm2-135m-instruct",
        dtype="float32",
        context=CONTEXT,
        # without waiting for a compiler
        options={"enforce_eager": True, "kv_cache_memory_bytes": 512 << 20},
    )


def _require_demo_model() -> None:
    from nongrata.engines.demo_model import fetch_smollm2

    try:
        fetch_smollm2()
    except NongrataError as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(f"no demo model: {error}")


CASES = [
    pytest.param(EngineCase("simulated", simulated, tolerance=1e-7, samples=2000), id="simulated"),
    pytest.param(EngineCase("llamacpp", llamacpp), id="llamacpp", marks=pytest.mark.model),
    pytest.param(
        EngineCase("transformers", transformers), id="transformers", marks=pytest.mark.model
    ),
    pytest.param(
        EngineCase(
            "openai, chat", openai_chat, tolerance=1e-6, server_templates=True, knows_context=False
        ),
        id="openai-chat",
    ),
    pytest.param(
        EngineCase("openai, completions", openai_completions, tolerance=1e-6, knows_context=False),
        id="openai-completions",
    ),
    pytest.param(EngineCase("vllm", vllm, tolerance=5e-5), id="vllm", marks=pytest.mark.vllm),
]


@pytest.fixture(scope="module", params=CASES)
def bench(request: pytest.FixtureRequest) -> Iterator[Bench]:
    with bench_of(request.param) as opened:
        yield opened


PEOPLE = ("nobody", "pirate")


def moved(bench: Bench, one: Scores, other: Scores) -> float:
    """Largest change of a label's probability, of what stands beside them and of the rest."""
    labels = np.abs(probabilities(one) - probabilities(other)).max()
    return max(float(labels), float(np.abs(one.tail_mass - other.tail_mass).max()))


# exactness


@pytest.mark.parametrize(
    ("way", "sampling"),
    [
        ("one", Sampling(0.7)),
        ("one", Sampling(1.0)),
        ("one-nucleus", Sampling(0.7, top_p=0.9)),
    ],
    ids=["T=0.7", "T=1", "top-p"],
)
def test_sampled_first_tokens_follow_the_scored_distribution(
    bench: Bench, way: str, sampling: Sampling
) -> None:
    from scipy.stats import chi2

    scores = bench.score(bench.batch("letter", ["sum"], personas=PEOPLE))
    theta = answer_distribution(
        scores.label_logprobs, scores.other_logprobs, scores.tail_mass, sampling
    )
    n = bench.case.samples // len(PEOPLE)
    asked = bench.batch(
        way, ["sum"], personas=PEOPLE, temperature=sampling.temperature, replicates=n
    )
    made = bench.generate(asked)
    assert made.errors == {}
    said = texts_of(made)
    labels = asked.labels(0)
    statistic, freedom = 0.0, 0
    for person in range(len(PEOPLE)):
        own = said[person * n : (person + 1) * n]
        counts = [sum(_chose(bench, text, label) for text in own) for label in labels]
        observed = np.array([*counts, n - sum(counts)], dtype=float)
        expected = n * np.array([*theta.options[person], theta.outside[person]])
        assert theta.error[person] < 0.02
        distance = np.abs(observed - expected).sum() / 2 / n
        assert distance < 2.5 * np.sqrt(len(observed) / n)
        few = expected < 5  # pooled: chi-square needs expected counts
        observed = np.array([*observed[~few], observed[few].sum()])
        expected = np.array([*expected[~few], expected[few].sum()])
        if expected[-1] < 1:
            assert observed[-1] <= 6
            observed, expected = observed[:-1], expected[:-1]
        statistic += ((observed - expected) ** 2 / expected).sum()
        freedom += len(observed) - 1
    assert freedom > 0
    assert chi2.sf(statistic, freedom) > 1e-3


def _chose(bench: Bench, text: str, label: str) -> bool:
    if not bench.engine.capabilities.is_model:  # it has no tokens: its texts declare an option
        return f"Answer: {label}" in text or f"({label})" in text or f"**{label}**" in text
    return text in (label, f" {label}")


def test_probabilities_are_probabilities(bench: Bench) -> None:
    scores = bench.score(bench.batch("letter", personas=PEOPLE))
    assert scores.errors == {}
    others = scores.other_logprobs.astype(np.float64)
    total = probabilities(scores).sum(axis=(1, 2))
    total += np.nan_to_num(np.exp(others)).sum(axis=1) + scores.tail_mass
    np.testing.assert_allclose(total, 1, atol=3e-4)
    assert (scores.tail_mass >= 0).all()
    for row in others:
        known = row[~np.isnan(row)]
        assert np.isnan(row[len(known) :]).all()
        assert (np.diff(known) <= 0).all()
        assert (known <= 0).all()


def test_options_that_are_not_offered_have_no_probability(bench: Bench) -> None:
    batch = bench.batch("letter", ["fruit", "sum"])
    scores = bench.score(batch)
    assert scores.label_logprobs.shape[:2] == (2, 4)
    assert np.isnan(scores.label_logprobs[0, 3]).all()
    best = np.nan_to_num(scores.label_logprobs[1], nan=-np.inf).max(axis=1)
    if bench.engine.capabilities.label_logprobs == "full":
        assert np.isfinite(best).all()


def test_the_sum_over_the_rest_bounds_what_it_stands_for(bench: Bench) -> None:
    scores = bench.score(replace(bench.batch("letter"), heats=(0.5, 1.0, 2.0)))
    if scores.tail_logsums is None:
        assert bench.engine.capabilities.label_logprobs != "full"
        pytest.skip(f"{bench.case.name} does not see the tokens it does not return")
    assert scores.tail_logsums.shape == (len(PLAIN), 3)
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(
            np.exp(scores.tail_logsums[:, 1]), scores.tail_mass, atol=2e-5, rtol=1e-3
        )
    sums = scores.tail_logsums[scores.tail_mass > 0]
    assert (sums[:, 0] <= sums[:, 1]).all()
    assert (sums[:, 1] <= sums[:, 2]).all()


# the same request has the same answer


def test_order_does_not_matter(bench: Bench) -> None:
    batch = bench.batch("letter", personas=PEOPLE)
    plain = bench.score(batch)
    n = len(batch)
    for order in (np.arange(n)[::-1], np.random.default_rng(1).permutation(n)):
        again = bench.score(batch.take(order))
        back = np.argsort(order)
        difference = np.abs(probabilities(again)[back] - probabilities(plain)).max()
        assert difference <= bench.case.tolerance
        np.testing.assert_array_equal(again.prompt_digest[back], plain.prompt_digest)


def test_the_size_of_a_batch_does_not_matter(bench: Bench) -> None:
    batch = bench.batch("letter", personas=PEOPLE)
    plain = probabilities(bench.score(batch))
    for size in (1, 3):
        parts = np.array_split(np.arange(len(batch)), -(-len(batch) // size))
        for part in parts:
            again = probabilities(bench.score(batch.take(part)))
            width = again.shape[1]
            assert np.abs(again - plain[part, :width]).max() <= bench.case.tolerance


def test_what_was_asked_before_does_not_matter(bench: Bench) -> None:
    batch = bench.batch("letter", personas=PEOPLE)
    plain = bench.score(batch)
    assert moved(bench, bench.score(batch), plain) <= bench.case.tolerance
    bench.engine.forget()
    assert moved(bench, bench.score(batch), plain) <= bench.case.tolerance


def test_an_empty_batch_is_answered(bench: Bench) -> None:
    batch = bench.batch("letter").take(np.zeros(0, dtype=np.int64))
    assert bench.score(batch).errors == {}
    texts = bench.batch("text", temperature=0.0).take(np.zeros(0, dtype=np.int64))
    assert len(bench.generate(texts).text) == 0


def test_repeats_at_zero_are_equal(bench: Bench) -> None:
    if not bench.engine.capabilities.deterministic_at_zero:
        pytest.skip(f"{bench.case.name} declares that it may not repeat itself at temperature 0")
    batch = bench.batch("text", ["fruit", "fish"], temperature=0.0, replicates=3)
    said = texts_of(bench.generate(batch))
    assert len(set(said[:3])) == len(set(said[3:])) == 1
    assert said[0] != said[3] or not bench.engine.capabilities.is_model
    assert texts_of(bench.generate(batch.take(np.arange(len(batch))[::-1]))) == said[::-1]


# seeds


def test_the_same_seed_gives_the_same_text_in_the_same_batch(bench: Bench) -> None:
    if not bench.engine.capabilities.seeds:
        pytest.skip(f"{bench.case.name} declares that it has no seeds")
    batch = bench.batch("text", ["fruit", "fish"], temperature=1.0, replicates=4)
    first, second = texts_of(bench.generate(batch)), texts_of(bench.generate(batch))
    same = np.mean([one == two for one, two in zip(first, second, strict=True)])
    # a draw within 1e-5 of the border between two tokens may fall to the other side
    assert same > 0.85 if bench.case.tolerance <= 1e-4 else same > 0.5


def test_replicates_and_other_seeds_give_other_texts(bench: Bench) -> None:
    batch = bench.batch("text", ["sum", "fish"], temperature=1.0, replicates=5)
    first = texts_of(bench.generate(batch))
    assert len(set(first[:5])) > 1 or len(set(first[5:])) > 1
    other = replace(batch, key=batch.key ^ np.uint64(0x5DEECE66D1234567))
    assert bench.engine.capabilities.seeds is False or (
        texts_of(bench.generate(replace(other, key=other.key * np.uint64(3)))) != first
    )


# turns


def test_the_system_text_reaches_the_model(bench: Bench) -> None:
    scores = bench.score(bench.batch("letter", ["fruit", "fish"], personas=PEOPLE))
    p = probabilities(scores).sum(axis=2)
    assert np.abs(p[:2] - p[2:]).max() > 1e-3


def test_an_empty_system_turn_is_not_the_templates_default_text(bench: Bench) -> None:
    bench.must_be_a_model()
    if bench.case.server_templates:
        pytest.skip(f"{bench.case.name}: the server applies the chat template")
    scores = bench.score(bench.batch("letter", ["fruit"], personas=("nobody", "default")))
    assert scores.prompt_tokens[1] > scores.prompt_tokens[0] + 8
    p = probabilities(scores)
    assert np.abs(p[0] - p[1]).max() > 1e-3


def test_the_prompt_begins_once(bench: Bench) -> None:
    check = bench.engine.provenance.get("self_check")
    if check is None:
        bench.must_be_a_model()
        pytest.skip(f"{bench.case.name} sends no tokens, so the server begins the prompt")
    assert check["begins_with_bos_twice"] is False


def test_text_is_never_control(bench: Bench) -> None:
    bench.must_be_a_model()
    scores = bench.score(bench.batch("letter", ["control-text", "no-control-text"]))
    if set(scores.errors) == {0}:  # it cannot be sent as text, and that is said
        assert CONTROL in scores.errors[0]
        return
    assert scores.errors == {}
    with_text, without = (int(count) for count in scores.prompt_tokens)
    assert with_text >= without + 3, f"{CONTROL} was sent as a control token"


# ends


def test_a_text_that_reaches_the_limit_is_truncated(bench: Bench) -> None:
    bench.must_be_a_model()
    made = bench.generate(bench.batch("one", temperature=0.0))
    assert made.truncated.all()
    assert (made.completion_tokens == 1).all()


def test_a_text_that_ends_by_itself_is_not_truncated(bench: Bench) -> None:
    bench.must_be_a_model()
    made = bench.generate(bench.batch("long", temperature=0.0))
    assert not made.truncated.all()
    assert (made.completion_tokens[~made.truncated] < 48).all()
    assert (made.completion_tokens[made.truncated] == 48).all()
    assert not any("<|" in text for text in texts_of(made))


def test_a_stop_text_ends_a_text_and_is_not_in_it(bench: Bench) -> None:
    bench.must_be_a_model()
    free = texts_of(bench.generate(bench.batch("text", temperature=0.0)))
    made = bench.generate(bench.batch("stopped", temperature=0.0))
    said = texts_of(made)
    ends = [min((w.find(s) for s in STOPS if s in w), default=-1) for w in free]
    assert max(ends) >= 0
    for whole, end, text, cut in zip(free, ends, said, made.truncated, strict=True):
        assert not any(stop in text for stop in STOPS)
        if bench.case.tolerance <= 1e-4:
            assert text == (whole if end < 0 else whole[:end])
            assert end < 0 or not cut


def test_an_answer_goes_on_from_where_it_has_begun(bench: Bench) -> None:
    bench.must_be_a_model()
    batch = bench.batch("text", temperature=0.0)
    first = bench.generate(batch)
    free = texts_of(first)
    # where a word begins, a token does; a whole text goes on with its end
    cuts = [text.rfind(" ", 1, max(2, len(text) - 4)) for text in free]
    rows = [i for i, cut in enumerate(cuts) if cut > 0 or not first.truncated[i]]
    assert rows, f"no text has a place to go on from: {free}"
    begun = [free[i][: cuts[i]] if cuts[i] > 0 else free[i] for i in rows]
    made = bench.generate(with_begun(batch.take(np.array(rows)), begun))
    for i, start, text in zip(rows, begun, texts_of(made), strict=True):
        rest = free[i].removeprefix(start)
        assert text.startswith(rest)
        assert first.truncated[i] or text == rest


def test_what_was_begun_is_part_of_the_prompt(bench: Bench) -> None:
    bench.must_be_a_model()
    batch = bench.batch("letter", ["fruit", "fish"])
    plain = bench.score(batch)
    nothing = bench.score(with_begun(batch, ["", ""]))
    assert moved(bench, plain, nothing) <= bench.case.tolerance
    begun = bench.score(with_begun(batch, ["The answer is", "The answer is"]))
    assert (begun.prompt_tokens > plain.prompt_tokens).all()
    assert (begun.prompt_digest != plain.prompt_digest).all()
    assert moved(bench, plain, begun) > 1e-3


# any text, and texts that cannot be sent


def test_any_text_is_sent_as_it_is(bench: Bench) -> None:
    scores = bench.score(bench.batch("letter", list(ODD)))
    assert scores.errors == {}
    assert np.isfinite(scores.tail_mass).all()
    made = bench.generate(bench.batch("text", list(ODD), temperature=0.0))
    assert made.errors == {}
    for text in made.texts:
        text.encode()
    if bench.engine.capabilities.is_model:
        assert len(set(scores.prompt_digest.tolist())) == len(ODD)
        # every ODD text is made of characters worth at least a token in four
        lengths = np.array([len(text.split()) for text in ODD.values()])
        assert (scores.prompt_tokens > lengths).all()


@pytest.mark.parametrize("way", ["letter", "text", "cloze"])
def test_a_request_that_cannot_be_sent_sinks_no_other(bench: Bench, way: str) -> None:
    bench.must_be_a_model()
    names = ["fruit", "surrogate", "fish", "too-long", "empty", "day"]
    heat = 0.0 if way == "text" else float("nan")
    batch, good = bench.batch(way, names, temperature=heat), [0, 2, 5]
    alone = bench.batch(way, [names[i] for i in good], temperature=heat)
    if way == "text":
        made = bench.generate(batch)
        texts = texts_of(made)
        assert [texts[i] for i in good] == texts_of(bench.generate(alone))
        errors = made.errors
    elif way == "letter":
        scores = bench.score(batch)
        expected = probabilities(bench.score(alone))
        assert np.abs(probabilities(scores)[good] - expected).max() <= bench.case.tolerance
        errors = scores.errors
    else:
        found = bench.likelihoods(batch)
        expected = bench.likelihoods(alone).option_logprobs
        np.testing.assert_allclose(
            np.exp(found.option_logprobs[good]), np.exp(expected), atol=bench.case.tolerance
        )
        errors = found.errors
    assert set(errors) - {4} == ({1, 3} if bench.case.knows_context else {1})
    assert "surrogate" in errors[1]
    assert all(message and "\n" not in message for message in errors.values())


# interrupts


def test_an_interrupt_is_prompt_and_leaves_nothing_running(bench: Bench) -> None:
    bench.must_be_a_model()
    batch = bench.batch("letter", personas=PEOPLE)
    plain = bench.score(batch)
    before = set(threading.enumerate())

    def interrupt(_: int) -> None:
        raise KeyboardInterrupt

    many = bench.batch("text", temperature=1.0, replicates=4)
    started = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        bench.generate(many, interrupt)
    interrupted = time.perf_counter() - started
    with pytest.raises(KeyboardInterrupt):
        bench.score(batch, interrupt)
    deadline = time.monotonic() + 5
    while (left := set(threading.enumerate()) - before) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not left
    assert moved(bench, bench.score(batch), plain) <= bench.case.tolerance
    assert interrupted < 60


def test_every_request_is_counted_once(bench: Bench) -> None:
    counted: list[int] = []
    batch = bench.batch("letter", ["fruit", "surrogate", "fish", "too-long"])
    bench.score(batch, counted.append)
    assert sum(counted) == len(batch)
    counted.clear()
    texts = bench.batch("one", ["fruit", "surrogate", "fish"], temperature=1.0, replicates=2)
    bench.generate(texts, counted.append)
    assert sum(counted) == len(texts)


# likelihoods of texts


# the texts are " A" and "A": the label's two spellings
@pytest.mark.parametrize(("way", "spelling"), [("cloze", 1), ("cloze-bare", 0)])
def test_a_one_token_text_is_as_likely_as_its_token(bench: Bench, way: str, spelling: int) -> None:
    found = bench.likelihoods(bench.batch(way, ["letters"], personas=PEOPLE))
    scores = bench.score(bench.batch("letter", ["letters"], personas=PEOPLE))
    if found.errors:  # a tokenizer that joins the prompt's end and the text: said, not guessed
        assert all("joins" in message for message in found.errors.values())
        return
    assert (found.option_tokens[:, :3] == 1).all()
    own = found.option_logprobs[:, :3]
    spellings = scores.label_logprobs.shape[2]
    scored = scores.label_logprobs[:, :3, min(spelling, spellings - 1)].astype(np.float64)
    known = ~np.isnan(scored)
    np.testing.assert_allclose(
        own[known], scored[known], atol=max(100 * bench.case.tolerance, 1e-5)
    )
    # what was not returned is less probable than all that was
    least = np.nanmin(scores.other_logprobs, axis=1, keepdims=True) if not known.all() else 0.0
    assert (known | (own <= least + 1e-3)).all()
    assert known.any() or way == "cloze"
    assert (found.baseline_logprobs[:, :3] < 0).all()
    if bench.engine.capabilities.is_model:
        np.testing.assert_array_equal(found.prompt_digest, scores.prompt_digest)


def test_likelihoods_do_not_depend_on_the_batch(bench: Bench) -> None:
    batch = bench.batch("cloze", personas=PEOPLE)
    plain = bench.likelihoods(batch)
    names = ("option_logprobs", "baseline_logprobs")
    for i in range(0, len(batch), 3):
        alone = bench.likelihoods(batch.take(np.array([i])))
        for name in names:
            one, all_of_them = getattr(alone, name)[0], getattr(plain, name)[i]
            np.testing.assert_allclose(
                one, all_of_them[: len(one)], atol=max(30 * bench.case.tolerance, 1e-5)
            )
    assert (plain.option_logprobs[~np.isnan(plain.option_logprobs)] <= 0).all()
    offered = plain.option_tokens > 0
    np.testing.assert_array_equal(offered, ~np.isnan(plain.option_logprobs))
    np.testing.assert_array_equal(offered.sum(axis=1), [3, 4, 3, 3] * 2)


# counts


def test_what_was_sent_is_counted_and_hashed(bench: Bench) -> None:
    bench.must_be_a_model()
    batch = bench.batch("letter", personas=PEOPLE)
    scores = bench.score(batch)
    assert (scores.prompt_tokens > 10).all()
    assert (scores.cached_tokens >= 0).all()
    assert (scores.cached_tokens <= scores.prompt_tokens).all()
    assert len(set(scores.prompt_digest.tolist())) == len(batch)
    made = bench.generate(bench.batch("one", personas=PEOPLE, temperature=0.0))
    # the same prompt, whatever is read from it
    np.testing.assert_array_equal(made.prompt_digest, scores.prompt_digest)
    np.testing.assert_array_equal(made.prompt_tokens, scores.prompt_tokens)
