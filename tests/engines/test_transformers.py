"""The transformers engine on random models of several architectures, against plain loops."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from llamacpp_fakes import batch, messages

pytest.importorskip("torch", reason="needs the extra transformers")
pytest.importorskip("transformers", reason="needs the extra transformers")

from hf_tiny import KINDS, cloze_batch, plain_logits, write_model
from scipy.special import log_softmax, logsumexp
from scipy.stats import chisquare

from nongrata.engines.transformers import TransformersEngine
from nongrata.errors import NongrataError
from nongrata.model_specs import TransformersSpec
from nongrata.prompts import Decoding

LONG = "the river the bridge and the harbour " * 2
PROMPTS = [
    messages("Q?", "Be brief."),
    messages("Which is it?\nA. a man\nB. a hat", "Be brief."),
    messages(LONG + "?", "Be brief."),
    messages(LONG + "!", "Be brief."),
    messages("Q?", ""),
    messages("another \u4f60 one", "", prefill="Answer:"),
]


def decoding(**changes: Any) -> Decoding:
    return replace(Decoding(max_tokens=8, top_k=0, top_p=1.0, min_p=0.0, stop=()), **changes)


def opened(folder: Path, **changes: Any) -> TransformersEngine:
    spec = TransformersSpec(
        id="tiny", engine="transformers", path=str(folder), device="cpu", **changes
    )
    return TransformersEngine.open(spec, Path(), cache=folder.parent / "cache")


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Iterator[None]:
    """Tiny tensors are slower on several threads, above all where cores are contested."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="module", params=KINDS)
def model(request: Any, tmp_path_factory: Any) -> Iterator[tuple[TransformersEngine, Any]]:
    folder = write_model(tmp_path_factory.mktemp("model") / request.param, request.param)
    with opened(folder) as engine:
        yield engine, plain_logits(folder)


@pytest.fixture(scope="module")
def llama_folder(tmp_path_factory: Any) -> Path:
    return write_model(tmp_path_factory.mktemp("llama") / "m")


@pytest.fixture
def engine(llama_folder: Path) -> Iterator[TransformersEngine]:
    with opened(llama_folder) as engine:
        yield engine


def texts(made: Any) -> list[str]:
    return [made.texts[row] for row in made.text]


def test_scores_are_the_plain_models_probabilities(model: tuple[TransformersEngine, Any]) -> None:
    engine, plain = model
    asked = replace(batch(PROMPTS, offered=("A", "B", "C")), heats=(0.5, 2.0))
    scores = engine.score(asked)
    assert not scores.errors
    a, b, c = ([engine.identity["label_tokens"][label][k] for k in (0, 1)] for label in "ABC")
    assert None not in (*a, *b)
    assert c[1] is None  # " C" is no token
    for i, prompt in enumerate(PROMPTS):
        expected = log_softmax(plain(engine.prompt_tokens(prompt))[-1])
        labels = [*a, *b, c[0]]
        np.testing.assert_allclose(
            scores.label_logprobs[i].ravel()[:5], expected[labels], atol=2e-5
        )
        assert scores.label_logprobs[i, 2, 1] == -np.inf
        rest = np.sort(np.delete(expected, labels))[::-1]
        np.testing.assert_allclose(scores.other_logprobs[i], rest[:64], atol=2e-5)
        np.testing.assert_allclose(scores.tail_mass[i], np.exp(rest[64:]).sum(), rtol=1e-4)
        for j, heat in enumerate((0.5, 2.0)):
            assert scores.tail_logsums is not None
            np.testing.assert_allclose(
                scores.tail_logsums[i, j], logsumexp(rest[64:] / heat), atol=1e-4
            )
    whole = np.exp(scores.label_logprobs).sum((1, 2)) + np.exp(scores.other_logprobs).sum(1)
    np.testing.assert_allclose(whole + scores.tail_mass, 1, atol=1e-5)


def test_scores_do_not_depend_on_the_batch(model: tuple[TransformersEngine, Any]) -> None:
    engine, _ = model
    engine.forget()
    plain = engine.score(batch(PROMPTS))
    for seed in range(2):
        order = np.random.default_rng(seed).permutation(len(PROMPTS))
        again = engine.score(batch(PROMPTS, order=order))  # what was kept is used
        np.testing.assert_allclose(again.label_logprobs, plain.label_logprobs[order], atol=1e-5)
        np.testing.assert_array_equal(again.prompt_digest, plain.prompt_digest[order])
        assert (again.cached_tokens >= 1).any()
    engine.forget()
    for i, prompt in enumerate(PROMPTS):
        alone = engine.score(batch([prompt]))
        np.testing.assert_allclose(alone.label_logprobs[0], plain.label_logprobs[i], atol=1e-5)
        np.testing.assert_allclose(alone.tail_mass[0], plain.tail_mass[i], rtol=1e-4)


def test_greedy_texts_are_a_plain_loops(model: tuple[TransformersEngine, Any]) -> None:
    engine, plain = model
    prompts = [replace(p, decoding=decoding(max_tokens=5 + i)) for i, p in enumerate(PROMPTS)]
    made = engine.generate(batch(prompts, [0.0], replicates=2))
    for i, prompt in enumerate(prompts):
        tokens = list(engine.prompt_tokens(prompt))
        drawn: list[int] = []
        while len(drawn) < prompt.decoding.max_tokens:
            drawn.append(int(plain(tokens + drawn)[-1].argmax()))
            if drawn[-1] in engine.identity["end_tokens"]:
                break
        ended = drawn[-1] in engine.identity["end_tokens"]
        expected = engine._tokens.text(drawn[:-1] if ended else drawn)
        assert texts(made)[2 * i : 2 * i + 2] == [expected, expected]
        assert made.completion_tokens[2 * i] == len(drawn)
        assert made.truncated[2 * i] == (not ended)


def test_likelihoods_are_a_plain_loops(model: tuple[TransformersEngine, Any]) -> None:
    engine, plain = model
    options = [("a man", "the hat"), (" A", " B", "\u4f60"), ("x", "yy", "zzz", "")[:3]] * 2
    found = engine.likelihoods(cloze_batch(PROMPTS, options))
    assert not found.errors

    def oracle(prompt: Any, option: str) -> tuple[float, int]:
        before = engine.prompt_tokens(prompt)
        after = engine.prompt_tokens(replace(prompt, prefill=prompt.prefill + option))
        assert after[: len(before)] == before
        logprobs = log_softmax(plain(after), axis=1)
        places = range(len(before), len(after))
        return sum(logprobs[k - 1, after[k]] for k in places), len(places)

    for i, prompt in enumerate(PROMPTS):
        baseline = replace(PROMPTS[0], user="Answer.")
        for j, option in enumerate(options[i]):
            logprob, tokens = oracle(prompt, option)
            np.testing.assert_allclose(found.option_logprobs[i, j], logprob, atol=1e-4)
            assert found.option_tokens[i, j] == tokens
            np.testing.assert_allclose(
                found.baseline_logprobs[i, j], oracle(baseline, option)[0], atol=1e-4
            )
        assert np.isnan(found.option_logprobs[i, len(options[i]) :]).all()
        assert (found.option_tokens[i, len(options[i]) :] == 0).all()
        assert found.prompt_tokens[i] == len(engine.prompt_tokens(prompt))
    order = [3, 1, 5, 0, 2, 4]
    again = engine.likelihoods(cloze_batch(PROMPTS, options, order))
    np.testing.assert_allclose(again.option_logprobs, found.option_logprobs[order], atol=1e-4)
    np.testing.assert_array_equal(again.baseline_logprobs, found.baseline_logprobs[order])


def test_drawn_texts_depend_on_the_request_alone(engine: TransformersEngine) -> None:
    made = engine.generate(batch(PROMPTS, [0.7, 1.0], replicates=3))
    plain = texts(made)
    assert len(set(plain)) > len(plain) // 2  # seeds differ
    order = np.random.default_rng(1).permutation(len(plain))
    again = texts(engine.generate(batch(PROMPTS, [0.7, 1.0], order, replicates=3)))
    assert again == [plain[i] for i in order]
    for i in (0, 7, len(plain) - 1):
        one = batch(PROMPTS, [0.7, 1.0], replicates=3).take(np.array([i]))
        assert texts(engine.generate(one)) == [plain[i]]


@pytest.mark.parametrize(
    ("temperature", "top_k", "top_p", "min_p"),
    [(1.0, 0, 1.0, 0.0), (0.5, 0, 1.0, 0.0), (2.0, 6, 0.9, 0.1)],
)
def test_drawn_tokens_have_the_right_frequencies(
    engine: TransformersEngine, temperature: float, top_k: int, top_p: float, min_p: float
) -> None:
    how = decoding(max_tokens=1, top_k=top_k, top_p=top_p, min_p=min_p)
    prompt = replace(PROMPTS[1], decoding=how)
    logits = plain_logits(engine._folder.path)(engine.prompt_tokens(prompt))[-1]
    p = np.exp(log_softmax(logits / temperature))
    order = np.argsort(-p, kind="stable")
    if top_k:
        p[order[top_k:]] = 0
        p /= p.sum()
    p[order[np.cumsum(p[order]) - p[order] >= top_p]] = 0
    p[p < min_p * p.max()] = 0
    p /= p.sum()
    n = 600
    made = engine.generate(batch([prompt], [temperature], replicates=n))
    names: dict[str, float] = {}
    for token, share in enumerate(p):
        text = "" if token in engine.identity["end_tokens"] else engine._tokens.text([token])
        names[text] = names.get(text, 0.0) + share
    said = texts(made)
    assert all(names[text] > 0 for text in said)
    likely = [name for name, share in names.items() if share * n >= 5]
    counts = [said.count(name) for name in likely]
    observed = np.array([*counts, n - sum(counts)], dtype=float)
    expected = n * np.array([*(names[name] for name in likely), 0.0])
    expected[-1] = max(n - expected.sum(), 0)
    if expected[-1] < 1e-6:
        assert observed[-1] == 0
        observed, expected = observed[:-1], expected[:-1]
    assert chisquare(observed, expected).pvalue > 1e-3


def test_a_stop_text_ends_and_leaves_the_text(engine: TransformersEngine) -> None:
    plain = engine.generate(batch(PROMPTS, [0.0]))
    i = next(i for i, text in enumerate(texts(plain)) if len(text) > 4 and text[3] != text[0])
    whole = texts(plain)[i]
    stop = whole[2:4]
    cut = replace(PROMPTS[i], decoding=decoding(stop=("never said", stop)))
    made = engine.generate(batch([cut], [0.0]))
    assert texts(made) == [whole[: whole.index(stop)]]
    assert not made.truncated[0]
    assert made.completion_tokens[0] < plain.completion_tokens[i]


def test_what_cannot_be_sent_is_an_error_of_its_request(engine: TransformersEngine) -> None:
    bad = [
        messages("fine"),
        messages("x" * 300),
        messages("a \ud800 b"),
        messages("fine, too"),
    ]
    scores = engine.score(batch(bad))
    assert sorted(scores.errors) == [1, 2]
    assert "more than the context of 256" in scores.errors[1]
    assert "lone surrogate, U+D800" in scores.errors[2]
    assert np.isfinite(scores.tail_mass[[0, 3]]).all()
    assert np.isnan(scores.tail_mass[[1, 2]]).all()
    made = engine.generate(batch(bad, [0.0]))
    assert sorted(made.errors) == [1, 2]
    assert [made.texts[row] for row in made.text[[1, 2]]] == ["", ""]
    found = engine.likelihoods(cloze_batch(bad, [("a", "b")] * 3 + [("a", "")]))
    assert sorted(found.errors) == [1, 2, 3]
    assert np.isfinite(found.option_logprobs[0]).all()


def test_what_was_computed_before_is_counted(engine: TransformersEngine) -> None:
    shared = "the same long instruction before every question of them all, word by word: " * 2
    prompts = [messages(shared + text) for text in ("one", "two", "six")]
    scores = engine.score(batch([*prompts, prompts[0]]))
    lengths = scores.prompt_tokens
    own = 5  # three letters, the end of the turn, the assistant
    assert len(set(lengths)) == 1
    # everything before is computed once, and an equal prompt not at all
    assert (lengths - scores.cached_tokens).sum() == lengths[0] - own + 3 * own
    assert (lengths - scores.cached_tokens).max() > 100
    again = engine.score(batch([messages(shared + "four")]))
    assert again.cached_tokens[0] == lengths[0] - own
    assert engine.forget()
    assert engine.score(batch([messages(shared + "four")])).cached_tokens[0] == 0


def test_ticks_add_up(engine: TransformersEngine) -> None:
    bad = [*PROMPTS, PROMPTS[0], messages("\ud800")]
    calls: list[Callable[..., Any]] = [
        lambda tick: engine.score(batch(bad), tick),
        lambda tick: engine.generate(batch(bad, [0.0, 1.0]), tick),
        lambda tick: engine.likelihoods(cloze_batch(bad, [("a", "b")] * len(bad)), tick),
    ]
    for call, total in zip(calls, (8, 16, 8), strict=True):
        ticks: list[int] = []
        call(ticks.append)
        assert sum(ticks) == total


def test_an_interrupt_leaves_the_engine_usable(engine: TransformersEngine) -> None:
    def stop(_: int) -> None:
        raise KeyboardInterrupt

    expected = engine.score(batch(PROMPTS))
    for ask in (engine.score, engine.generate):
        asked = batch(PROMPTS, [0.5] if ask == engine.generate else ())
        with pytest.raises(KeyboardInterrupt):
            ask(asked, stop)
    again = engine.score(batch(PROMPTS))
    np.testing.assert_allclose(again.label_logprobs, expected.label_logprobs, atol=1e-5)


def test_labels_without_a_token_are_refused(engine: TransformersEngine) -> None:
    with pytest.raises(NongrataError, match="spells the label 'ZZ'"):
        engine.score(batch(PROMPTS, offered=("A", "ZZ")))


def test_small_batches_give_the_same_answers(llama_folder: Path) -> None:
    with opened(llama_folder) as wide, opened(llama_folder, batch_tokens=64) as narrow:
        assert wide.identity == narrow.identity
        a, b = wide.score(batch(PROMPTS)), narrow.score(batch(PROMPTS))
        np.testing.assert_allclose(a.label_logprobs, b.label_logprobs, atol=1e-5)
        asked = batch(PROMPTS, [0.0, 0.8], replicates=2)
        assert texts(wide.generate(asked)) == texts(narrow.generate(asked))


def test_what_can_change_an_answer_is_in_the_identity(llama_folder: Path, tmp_path: Path) -> None:
    identity = opened(llama_folder).identity
    for changes in ({"dtype": "bfloat16"}, {"label_variants": ("{label}.",)}):
        assert opened(llama_folder, **changes).identity != identity
    assert opened(llama_folder, context=128, batch_tokens=64).identity == identity
    other = write_model(tmp_path / "other", seed=1)
    assert opened(other).identity["model_sha256"] != identity["model_sha256"]


def test_bfloat16_answers_nearly_the_same(llama_folder: Path) -> None:
    with opened(llama_folder) as exact, opened(llama_folder, dtype="bfloat16") as fast:
        a, b = (np.exp(e.score(batch(PROMPTS)).label_logprobs) for e in (exact, fast))
    assert 0 < np.abs(a - b).max() < 0.3


@pytest.mark.parametrize(
    ("changes", "said"),
    [({"context": 1000}, "trained for 256"), ({"device": "cuda:7"}, "is asked for")],
)
def test_what_the_machine_or_model_cannot_do_is_refused(
    llama_folder: Path, changes: dict[str, Any], said: str
) -> None:
    spec = TransformersSpec(id="t", engine="transformers", path=str(llama_folder), **changes)
    with pytest.raises(NongrataError, match=said):
        TransformersEngine.open(spec, Path(), cache=llama_folder.parent / "cache")


def test_a_folder_that_is_no_model_is_refused_in_one_sentence(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "m")
    (folder / "config.json").write_text('{"model_type": "no-such-model"}')
    with pytest.raises(NongrataError, match="cannot be loaded") as caught:
        opened(folder)
    assert "\n" not in str(caught.value)
    folder = write_model(tmp_path / "n")
    (folder / "model.safetensors").write_bytes(b"not weights")
    with pytest.raises(NongrataError, match="cannot be loaded"), opened(folder):
        pass
