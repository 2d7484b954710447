"""From llama.cpp's answers to arrays."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nongrata.engines.base import Generations, Scores
from nongrata.engines.gathering import GatheredTexts, PromptCounts
from nongrata.engines.label_tokens import LabelTokens, prompt_digest
from nongrata.engines.llamacpp_calls import Finished

__all__ = ["LabelTokens", "collect_generations", "collect_scores", "prompt_digest"]

# On the demo's prompts, temperature 0.5 is then known to 1e-4 at worst (16 of them: 2e-3).
_OTHERS = 64


def collect_scores(
    labels: Sequence[Sequence[str]],
    tokens: LabelTokens,
    finished: Sequence[Finished],
    errors: Mapping[int, str],
    heats: Sequence[float] = (),
    vocabulary_size: int | None = None,
) -> Scores:
    """Sort the returned probabilities into labels, others and the mass of all the rest.

    Where the whole vocabulary was returned (``n_probs`` as large), the rest is summed exactly at
    each of `heats`.
    """
    n = len(labels)
    options = max((len(offered) for offered in labels), default=0)
    label_logprobs = np.full((n, options, len(tokens.variants)), np.nan, dtype=np.float32)
    other_logprobs = np.full((n, _OTHERS), np.nan, dtype=np.float32)
    tail_mass = np.full(n, np.nan)
    least = np.full(n, np.nan, dtype=np.float32)
    logsums = np.full((n, len(heats)), np.nan)
    problems = dict(errors)
    counts = PromptCounts(n)
    for result in finished:
        i = result.index
        returned = _returned(result.answer)
        if not returned:
            problems[i] = "llama.cpp returned no probabilities"
            continue
        chosen: set[int] = set()
        for j, label in enumerate(labels[i]):
            for k, token in enumerate(tokens.of(label)):
                if token is None:
                    label_logprobs[i, j, k] = -np.inf
                elif token in returned:
                    label_logprobs[i, j, k] = returned[token]
                    chosen.add(token)
        others = sorted((p for t, p in returned.items() if t not in chosen), reverse=True)
        other_logprobs[i, : len(others[:_OTHERS])] = others[:_OTHERS]
        least[i] = min(returned.values())
        kept = sum(math.exp(returned[token]) for token in chosen)
        kept += sum(map(math.exp, others[:_OTHERS]))
        # llama.cpp's probabilities add up to 1.0001 or so: what was returned and not kept is
        # certainly there, even where 1 - kept is less.
        tail_mass[i] = max(1.0 - kept, sum(map(math.exp, others[_OTHERS:])))
        if len(returned) == vocabulary_size:
            rest = np.array(others[_OTHERS:])
            logsums[i] = [_log_sum(rest / heat) for heat in heats]
        counts.add(i, result.tokens, _cached(result))
    return Scores(
        label_logprobs=label_logprobs,
        other_logprobs=other_logprobs,
        tail_mass=tail_mass,
        prompt_tokens=counts.prompt,
        cached_tokens=counts.cached,
        prompt_digest=counts.digest,
        errors=problems,
        tail_logsums=logsums if np.isfinite(logsums).any() else None,
        least_returned=least,
    )


def _log_sum(logs: NDArray[np.float64]) -> float:
    return float(np.logaddexp.reduce(logs)) if len(logs) else -math.inf


def collect_generations(
    n: int, finished: Sequence[Finished], errors: Mapping[int, str]
) -> Generations:
    """Gather texts, each distinct one once."""
    problems = dict(errors)
    counts, texts = PromptCounts(n), GatheredTexts(n)
    for result in sorted(finished, key=lambda result: result.index):
        i = result.index
        try:
            choice = result.answer["choices"][0]
            said, reason = str(choice["text"]), choice["finish_reason"]
            completion = result.answer["usage"]["completion_tokens"]
        except (KeyError, IndexError, TypeError):
            problems[i] = "llama.cpp returned no text"
            continue
        texts.add(i, said, truncated=reason == "length", completion_tokens=completion)
        counts.add(i, result.tokens, _cached(result))
    return texts.generations(counts, problems)


def _cached(result: Finished) -> int:
    """How many tokens of the prompt the server had computed before."""
    return int(result.answer.get("timings", {}).get("cache_n", 0))


def has_probabilities(result: Finished) -> bool:
    """Whether the server told the next token's probabilities."""
    return bool(_returned(result.answer))


def _returned(answer: Mapping[str, Any]) -> dict[int, float]:
    """Log-probability by token id, of the tokens that were returned."""
    try:
        top = answer["choices"][0]["logprobs"]["content"][0]["top_logprobs"]
        pairs = {int(entry["id"]): float(entry["logprob"]) for entry in top}
    except (KeyError, IndexError, TypeError):
        return {}
    return {token: value for token, value in pairs.items() if math.isfinite(value)}
