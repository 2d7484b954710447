"""The openai engine on llama.cpp's own server with the demo model, beside the engine llamacpp."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from llamacpp_fakes import batch, messages

from nongrata.engines.llamacpp import LlamaCppEngine
from nongrata.engines.llamacpp_server import LlamaServer
from nongrata.model_specs import OpenAISpec
from nongrata.prompts import Decoding

pytest.importorskip("openai")

from nongrata.engines.openai import OpenAIEngine

pytestmark = pytest.mark.model

SHORT = Decoding(max_tokens=6, top_k=0, top_p=1.0, min_p=0.0, stop=())
QUESTIONS = [
    "Which is a fruit?\nA. stone\nB. apple\nC. chair",
    "What is 2 + 3?\nA. 4\nB. 6\nC. 5",
    "Où est la mer \U0001f30a?\nA. {x}\nB. %s\nC. <b>",
]
PROMPTS = [
    messages(question, system, decoding=SHORT)
    for system in ("", "You are a cook.")
    for question in QUESTIONS
]
BEGUN = [messages(QUESTIONS[0], "You are a cook.", "The answer is", decoding=SHORT)]


def opened(engine: LlamaCppEngine, monkeypatch: pytest.MonkeyPatch, **changes: Any) -> OpenAIEngine:
    """The engine over the port of a llama.cpp server that is in this process already."""
    server = engine._servers[0]
    assert isinstance(server, LlamaServer)
    monkeypatch.setenv("LLAMA_KEY", server._key)
    values = {
        "id": "port", "engine": "openai", "key_env": "LLAMA_KEY", "top_logprobs": 200,
        "model": str(engine.used.path), "base_url": f"{server._server.listening_address}/v1",
        "max_in_flight": 2,
    }  # fmt: skip
    return OpenAIEngine.open(OpenAISpec.model_validate(values | changes), Path())


def assert_close(found: Any, expected: Any) -> None:
    """Equal where both are known; the engines may ask for different numbers of tokens."""
    both = ~np.isnan(found) & ~np.isnan(expected)
    assert both.any(axis=2).all()
    np.testing.assert_allclose(np.exp(found[both]), np.exp(expected[both]), atol=1e-5)


@pytest.mark.parametrize("api", ["chat", "completions"])
def test_the_port_says_what_the_engine_says(
    demo_engine: LlamaCppEngine, monkeypatch: pytest.MonkeyPatch, api: str
) -> None:
    expected = demo_engine.score(batch(PROMPTS))
    texts = demo_engine.generate(batch(PROMPTS, [0.0]))
    begun = demo_engine.score(batch(BEGUN))
    changes: dict[str, Any] = {"api": "chat", "prefill": "last_message"}
    if api == "completions":
        changes = {"api": "completions", "template": demo_engine.template.source}
    with opened(demo_engine, monkeypatch, **changes) as engine:
        assert engine.identity["server"] == "llama-server"
        found = engine.score(batch(PROMPTS))
        assert not found.errors
        assert not expected.errors
        assert_close(found.label_logprobs, expected.label_logprobs)
        np.testing.assert_allclose(found.tail_mass, expected.tail_mass, atol=1e-3)
        # the same prompt, token for token: one BOS or none, an empty system turn, no default text
        np.testing.assert_array_equal(found.prompt_tokens, expected.prompt_tokens)
        said = engine.generate(batch(PROMPTS, [0.0]))
        assert [said.texts[i] for i in said.text] == [texts.texts[i] for i in texts.text]
        assert said.truncated.tolist() == texts.truncated.tolist()
        again = engine.score(batch(BEGUN))
        assert_close(again.label_logprobs, begun.label_logprobs)
        assert engine.generate(batch(BEGUN, [0.0])).texts == (
            demo_engine.generate(batch(BEGUN, [0.0])).texts
        )


def test_sampled_frequencies_are_the_tempered_softmax(
    demo_engine: LlamaCppEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    from scipy.stats import chisquare

    one = Decoding(max_tokens=1, top_k=0, top_p=1.0, min_p=0.0, stop=())
    prompt = messages(QUESTIONS[0], "Answer with the letter only.", decoding=one)
    with opened(demo_engine, monkeypatch, top_logprobs=2000) as engine:
        scores = engine.score(batch([prompt]))
        result = engine.generate(batch([prompt], [0.5], replicates=150))
    power = {
        label: float(np.exp(2 * scores.label_logprobs[0, j, 0])) for j, label in enumerate("ABC")
    }
    # tokens beyond the 64 kept ones have next to no weight at temperature 0.5
    other = float(np.nansum(np.exp(2 * scores.other_logprobs[0].astype(float))))
    other += float(np.nansum(np.exp(2 * scores.label_logprobs[0, :, 1].astype(float))))
    drawn = [result.texts[i] for i in result.text]
    counts = [drawn.count(label) for label in "ABC"]
    weights = np.array([*power.values(), other])
    expected = weights / weights.sum() * len(drawn)
    seen = np.array([*counts, len(drawn) - sum(counts)])
    rare = expected < 2
    seen = np.append(seen[~rare], seen[rare].sum())
    expected = np.append(expected[~rare], expected[rare].sum())
    filled = expected > 0
    assert chisquare(seen[filled], expected[filled]).pvalue > 1e-3
