"""Likelihoods of the options' texts: what is asked for reading ``cloze``, each text once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import numpy as np

from nongrata.engines.base import Batch, Likelihoods
from nongrata.engines.gathering import PromptCounts
from nongrata.engines.hf_tokens import Continued, HfTokens
from nongrata.engines.vllm_calls import Call, Finished, likelihood_params, sampling_params
from nongrata.engines.vllm_results import continuation_logprob

_Text = tuple[tuple[int, ...], int]


class Continuations:
    """The texts whose likelihood a batch asks for, and where each result belongs.

    An option's text is asked for after the prompt and after the prompt without its question. The
    second is the same for many questions, and asked once.

    Parameters
    ----------
    batch
        The requests.
    tokens
        The model's tokenizer.
    limit
        Longest text in tokens, with one to answer.
    library
        The module ``vllm``.

    Attributes
    ----------
    errors
        Requests that cannot be asked, and why.
    """

    def __init__(self, batch: Batch, tokens: HfTokens, limit: int, library: Any) -> None:
        self.errors: dict[int, str] = {}
        self._batch, self._tokens, self._limit, self._library = batch, tokens, limit, library
        self._prompts: dict[int, tuple[Continued, Continued]] = {}
        self._baselines: dict[tuple[int, tuple[str, ...]], Continued] = {}
        self._wanted: dict[_Text, list[tuple[int, int, int]]] = defaultdict(list)
        self._left: dict[int, int] = {}
        for i in range(len(batch)):
            try:
                self._add_request(i)
            except ValueError as error:
                self.errors[i] = str(error)
        self._texts = list(self._wanted)
        n = len(batch)
        options = max((len(own.texts) for own, _ in self._prompts.values()), default=0)
        self._logprobs = np.full((2, n, options), np.nan)
        self._sizes = np.zeros((n, options), dtype=np.int32)
        self._counts = PromptCounts(n)
        for i, (own, _) in self._prompts.items():
            for j, text in enumerate(own.texts):
                self._sizes[i, j] = len(text) - own.start

    def calls(self) -> list[Call]:
        """One call for each distinct text."""
        asked = sampling_params(self._library, likelihood_params(self._tokens.ends))
        return [Call(number, text, asked) for number, (text, _) in enumerate(self._texts)]

    def add(self, finished: Finished) -> int:
        """Put a result where it belongs; return how many requests it completes."""
        text = self._texts[finished.call.index]
        try:
            value = continuation_logprob(finished, text[1])
        except ValueError as error:
            return self.fail({finished.call.index: str(error)})
        completed = 0
        for kind, i, j in self._wanted[text]:
            self._logprobs[kind, i, j] = value
            self._left[i] -= 1
            completed += self._left[i] == 0 and i not in self.errors
        return completed

    def fail(self, problems: Mapping[int, str]) -> int:
        """Note why calls have no result; return how many more requests have failed."""
        failed = 0
        for number, problem in problems.items():
            for _, i, _ in self._wanted[self._texts[number]]:
                failed += i not in self.errors
                self.errors.setdefault(i, problem)
        return failed

    def likelihoods(self) -> Likelihoods:
        """All of them."""
        for i, (own, _) in self._prompts.items():
            self._counts.add(i, own.prompt)
        for i in self.errors:
            self._logprobs[:, i] = np.nan
            self._sizes[i] = 0
        return Likelihoods(
            option_logprobs=self._logprobs[0],
            baseline_logprobs=self._logprobs[1],
            option_tokens=self._sizes,
            prompt_tokens=self._counts.prompt,
            cached_tokens=self._counts.cached,
            prompt_digest=self._counts.digest,
            errors=dict(self.errors),
        )

    def _add_request(self, i: int) -> None:
        batch = self._batch
        options = batch.continuations(i)
        own = self._tokens.continued(batch.messages(i), options)
        key = int(batch.skeleton[i]), options
        if key not in self._baselines:
            self._baselines[key] = self._tokens.continued(batch.baseline(i), options)
        baseline = self._baselines[key]
        longest = max(len(text) for text in (*own.texts, *baseline.texts))
        if longest + 1 > self._limit:
            raise ValueError(
                f"the prompt with an option has {longest} tokens: more than fit into the context "
                f"of {self._limit}"
            )
        self._prompts[i] = own, baseline
        self._left[i] = 0
        for kind, continued in enumerate((own, baseline)):
            for j, text in enumerate(continued.texts):
                self._wanted[text, continued.start].append((kind, i, j))
                self._left[i] += 1
