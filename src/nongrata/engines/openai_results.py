"""From a server's answers to arrays."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from nongrata.engines.base import Generations, Likelihoods, Scores
from nongrata.engines.gathering import GatheredTexts, PromptCounts
from nongrata.engines.openai_answers import Text, TopTokens
from nongrata.engines.openai_usage import tokens_of

_OTHERS = 64


@dataclass(frozen=True, slots=True)
class Read:
    """What was read from one answer.

    Parameters
    ----------
    result
        What was asked for.
    tokens
        Prompt, cached and generated tokens.
    """

    result: Any
    tokens: tuple[int, int, int]

    @classmethod
    def of(cls, answer: Mapping[str, Any], result: Any) -> Read:
        """Something read from an answer, with the answer's token counts."""
        return cls(result, tokens_of(answer))


class Counts(PromptCounts):
    """What every reading records of a prompt; the server counts the tokens."""

    def __init__(self, digests: Mapping[int, int], n: int) -> None:
        super().__init__(n)
        for i, digest in digests.items():
            self.digest[i] = digest

    def count(self, i: int, tokens: tuple[int, int, int]) -> None:
        """Record the token counts of one answer."""
        self.prompt[i], self.cached[i], _ = tokens


def collect_scores(
    labels: Sequence[Sequence[str]],
    variants: Sequence[str],
    found: Mapping[int, Read],
    counts: Counts,
    errors: Mapping[int, str],
) -> Scores:
    """Sort the returned probabilities into labels, others and the mass of all the rest.

    A spelling that was not returned is unknown, not impossible.

    Parameters
    ----------
    labels
        Labels offered in each request.
    variants
        Their spellings.
    found
        `TopTokens` by request.
    counts, errors
        What else is known of the requests.
    """
    n = len(labels)
    options = max((len(offered) for offered in labels), default=0)
    widest = max((len(read.result.entries) for read in found.values()), default=0)
    label_logprobs = np.full((n, options, len(variants)), np.nan, dtype=np.float32)
    other_logprobs = np.full((n, min(widest, _OTHERS)), np.nan, dtype=np.float32)
    tail_mass = np.full(n, np.nan)
    for i, read in found.items():
        top: TopTokens = read.result
        spelled: dict[bytes, list[float]] = {}
        for text, value in [*top.entries, *([top.beyond] if top.beyond else [])]:
            spelled.setdefault(text, []).append(value)
        chosen: set[bytes] = set()
        for j, label in enumerate(labels[i]):
            for k, variant in enumerate(variants):
                text = variant.replace("{label}", label).encode()
                if text in spelled:
                    label_logprobs[i, j, k] = np.logaddexp.reduce(spelled[text])
                    chosen.add(text)
        # Only tokens of known rank: no token that was not returned is more probable than these.
        others = [value for text, value in top.entries if text not in chosen][:_OTHERS]
        other_logprobs[i, : len(others)] = others
        kept = math.fsum(math.exp(v) for text in chosen for v in spelled[text])
        kept += math.fsum(map(math.exp, others))
        returned = math.fsum(math.exp(value) for _, value in top.entries)
        tail_mass[i] = max(1.0 - kept, returned - kept, 0.0)
        counts.count(i, read.tokens)
    return Scores(
        label_logprobs=label_logprobs,
        other_logprobs=other_logprobs,
        tail_mass=tail_mass,
        prompt_tokens=counts.prompt,
        cached_tokens=counts.cached,
        prompt_digest=counts.digest,
        errors=dict(errors),
    )


def collect_generations(
    n: int, found: Mapping[int, Read], counts: Counts, errors: Mapping[int, str]
) -> Generations:
    """Gather texts, each distinct one once."""
    texts = GatheredTexts(n)
    for i in sorted(found):
        read: Text = found[i].result
        written = found[i].tokens[2]
        texts.add(i, read.said, truncated=read.truncated, completion_tokens=written)
        counts.count(i, found[i].tokens)
    return texts.generations(counts, errors)


def collect_likelihoods(
    options: Sequence[int],
    found: Mapping[tuple[int, int, bool], Read],
    counts: Counts,
    errors: Mapping[int, str],
) -> Likelihoods:
    """Put log-likelihoods in place.

    Parameters
    ----------
    options
        Number of options of each request.
    found
        Log-likelihood and number of tokens, by request, option and whether it is of the baseline.
    counts, errors
        What else is known of the requests.
    """
    n, width = len(options), max(options, default=0)
    shape = (n, width)
    values = {False: np.full(shape, np.nan), True: np.full(shape, np.nan)}
    tokens = np.zeros(shape, dtype=np.int32)
    for (i, j, baseline), read in found.items():
        if i in errors:
            continue
        values[baseline][i, j], length = read.result
        if not baseline:
            tokens[i, j] = length
            prompt, cached, _ = read.tokens
            counts.count(i, (max(prompt - length, 0), min(cached, max(prompt - length, 0)), 0))
    return Likelihoods(
        option_logprobs=values[False],
        baseline_logprobs=values[True],
        option_tokens=tokens,
        prompt_tokens=counts.prompt,
        cached_tokens=counts.cached,
        prompt_digest=counts.digest,
        errors=dict(errors),
    )
