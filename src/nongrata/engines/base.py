"""What an engine is: it states what it can do, and does it.

An engine answers *batches* of requests of one reading. It decides nothing: which requests there
are, in which order, with which parameters, and what a text means is settled above it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any, Literal, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from nongrata.factors import Reading
from nongrata.prompts import Messages, PromptTable

Tick = Callable[[int], None]
"""Called by an engine with the number of requests it has just finished."""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What an engine can do.

    Parameters
    ----------
    label_logprobs
        ``"full"``: the probability of every token is known; ``"top_n"``: of the most probable
        ones, the rest as one sum; ``"none"``: only text.
    deterministic_at_zero
        Whether a repeat at temperature 0 gives the same text, so that it needs no second pass.
    is_model
        False for engines that only imitate a model; shown wherever their output is shown.
    likelihoods
        Whether the likelihood of a given text can be had, which the reading ``cloze`` needs.
    generates
        Whether texts can be generated.
    seeds
        Whether a seed given with a request decides what is drawn.
    """

    label_logprobs: Literal["full", "top_n", "none"]
    deterministic_at_zero: bool
    is_model: bool
    likelihoods: bool = False
    generates: bool = True
    seeds: bool = True


@dataclass(frozen=True, slots=True)
class Batch:
    """Requests of one reading, in the order in which they are best answered.

    Parameters
    ----------
    reading
        The reading all of them have.
    prompts
        Where a request's text comes from.
    skeleton, question
        Row of each request in ``prompts.skeletons`` and ``prompts.questions``; int32, shape (n,).
    temperature
        Sampling temperature, shape (n,); ``nan`` for readings that serve all of them.
    replicate
        0-based replicate, int16, shape (n,); 0 for readings that serve all of them.
    key
        The request hash, uint64, shape (n, 2). Seeds derive from it.
    begun
        Text, generated before, with which each request's answer has begun, after the prefill.
    heats
        Positive temperatures at which the sum over unreturned tokens is wanted, if the engine can
        tell it (`Scores.tail_logsums`).
    """

    reading: Reading
    prompts: PromptTable
    skeleton: NDArray[np.int32]
    question: NDArray[np.int32]
    temperature: NDArray[np.float64]
    replicate: NDArray[np.int16]
    key: NDArray[np.uint64]
    begun: Sequence[str] | None = None
    heats: tuple[float, ...] = ()

    def __len__(self) -> int:
        return len(self.skeleton)

    def messages(self, i: int) -> Messages:
        """The text of request `i`, turn by turn."""
        messages = self.prompts.messages(int(self.skeleton[i]), int(self.question[i]))
        if self.begun is None:
            return messages
        return replace(messages, prefill=messages.prefill + self.begun[i])

    def same_prompt(self, i: int) -> tuple[int, int, str]:
        """What tells the prompt of request `i` from others: equal for equal prompts."""
        begun = "" if self.begun is None else self.begun[i]
        return int(self.skeleton[i]), int(self.question[i]), begun

    def labels(self, i: int) -> tuple[str, ...]:
        """The labels offered in request `i`, in the order shown: ``("A", "B", "C")``."""
        return self.prompts.labels(int(self.skeleton[i]), int(self.question[i]))

    def continuations(self, i: int) -> tuple[str, ...]:
        """For ``cloze``: the answers whose likelihood is asked for, in the order shown."""
        return self.prompts.continuations(int(self.skeleton[i]), int(self.question[i]))

    def baseline(self, i: int) -> Messages:
        """For ``cloze``: the prompt of request `i` without its question."""
        return self.prompts.baseline(int(self.skeleton[i]))

    def take(self, which: NDArray[np.int64]) -> Batch:
        """The requests at the given places, in that order."""
        begun = None if self.begun is None else [self.begun[int(i)] for i in which]
        return replace(
            self,
            skeleton=self.skeleton[which],
            question=self.question[which],
            temperature=self.temperature[which],
            replicate=self.replicate[which],
            key=self.key[which],
            begun=begun,
        )

    def seed(self, i: int) -> int:
        """A 31-bit seed for request `i`, derived from its key."""
        return int(self.key[i, 0] ^ self.key[i, 1]) & 0x7FFFFFFF


@dataclass(frozen=True, slots=True)
class Scores:
    """Next-token probabilities at temperature 1, before any truncation of the distribution.

    Parameters
    ----------
    label_logprobs
        Natural log-probability of each variant of each offered label, in the order *shown*;
        float32, shape (n, options, variants). ``-inf`` where the model has no such token, ``nan``
        where there is no such option, or where the engine did not return that token: its
        probability is then at most that of the least of the others, and at most `tail_mass`.
    other_logprobs
        The most probable tokens that are no label, in falling order; float32, shape (n, others),
        padded with ``nan``. They make every other temperature computable.
    tail_mass
        Probability of all tokens that stand in neither of the above, float64, shape (n,).
    prompt_tokens, cached_tokens
        Tokens sent, and how many of them the engine had computed before; int32, shape (n,).
    prompt_digest
        64-bit hash of exactly the token ids (or bytes) sent; uint64, shape (n,).
    errors
        What went wrong, by request; requests not named here succeeded.
    tail_logsums
        ``log(sum of p ** (1 / T))`` over the tokens of `tail_mass`, for each T of the batch's
        `heats`; float64, shape (n, heats). None if the engine does not see those tokens.
    least_returned
        Log-probability that no token exceeds that the engine did not return; float32, shape (n,).
        None: that of the least of `other_logprobs`.
    """

    label_logprobs: NDArray[np.float32]
    other_logprobs: NDArray[np.float32]
    tail_mass: NDArray[np.float64]
    prompt_tokens: NDArray[np.int32]
    cached_tokens: NDArray[np.int32]
    prompt_digest: NDArray[np.uint64]
    errors: Mapping[int, str]
    tail_logsums: NDArray[np.float64] | None = None
    least_returned: NDArray[np.float32] | None = None

    def take(self, which: NDArray[np.int64]) -> Scores:
        """The requests at the given places, in that order."""
        errors = {j: self.errors[int(i)] for j, i in enumerate(which) if int(i) in self.errors}
        return Scores(
            self.label_logprobs[which],
            self.other_logprobs[which],
            self.tail_mass[which],
            self.prompt_tokens[which],
            self.cached_tokens[which],
            self.prompt_digest[which],
            errors,
            None if self.tail_logsums is None else self.tail_logsums[which],
            None if self.least_returned is None else self.least_returned[which],
        )


@dataclass(frozen=True, slots=True)
class Likelihoods:
    """Log-likelihoods of the options' own texts, for the reading ``cloze``.

    Parameters
    ----------
    option_logprobs
        Natural log-probability of each continuation (`Batch.continuations`) after the prompt, all
        its tokens together, in the order *shown*; float64, shape (n, options), ``nan`` where there
        is no such option.
    baseline_logprobs
        The same after the prompt without its question (`Batch.baseline`).
    option_tokens
        Tokens of each continuation, int32, shape (n, options), 0 where there is none.
    prompt_tokens, cached_tokens, prompt_digest, errors
        As in `Scores`; of the prompt without continuation.
    """

    option_logprobs: NDArray[np.float64]
    baseline_logprobs: NDArray[np.float64]
    option_tokens: NDArray[np.int32]
    prompt_tokens: NDArray[np.int32]
    cached_tokens: NDArray[np.int32]
    prompt_digest: NDArray[np.uint64]
    errors: Mapping[int, str]


@dataclass(frozen=True, slots=True)
class Generations:
    """Generated texts.

    Parameters
    ----------
    texts
        Distinct texts, without the prompt and without the prefill.
    text
        Row of each request in `texts`; int32, shape (n,).
    truncated
        Whether the text ended because the token limit was reached; bool, shape (n,).
    completion_tokens
        Tokens generated, int32, shape (n,).
    prompt_tokens, cached_tokens, prompt_digest, errors
        As in `Scores`.
    """

    texts: Sequence[str]
    text: NDArray[np.int32]
    truncated: NDArray[np.bool_]
    completion_tokens: NDArray[np.int32]
    prompt_tokens: NDArray[np.int32]
    cached_tokens: NDArray[np.int32]
    prompt_digest: NDArray[np.uint64]
    errors: Mapping[int, str]


class Engine(Protocol):
    """Who answers. Used as a context manager; leaving it frees what it holds.

    Attributes
    ----------
    kind
        Name of the engine: ``"llamacpp"``.
    capabilities
        What it can do.
    identity
        Everything about the model and the engine that can change an answer, as JSON values:
        weight hash, backend and version, dtype, template hash, label variants. Part of every
        request's hash.
    provenance
        What is worth recording but cannot change an answer: file path, threads, load time, notes
        on what was detected in the chat template.
    block
        How many requests it likes to be given at once, at first; the runner adapts it to time.
    """

    # properties, so that an engine may have plain attributes or compute them
    @property
    def kind(self) -> str: ...  # noqa: D102
    @property
    def capabilities(self) -> Capabilities: ...  # noqa: D102
    @property
    def identity(self) -> Mapping[str, Any]: ...  # noqa: D102
    @property
    def provenance(self) -> Mapping[str, Any]: ...  # noqa: D102
    @property
    def block(self) -> int: ...  # noqa: D102

    def score(self, batch: Batch, tick: Tick | None = None) -> Scores:
        """Next-token probabilities for a batch of reading ``first_token``."""
        ...

    def generate(self, batch: Batch, tick: Tick | None = None) -> Generations:
        """Texts for a batch of reading ``free``."""
        ...

    def likelihoods(self, batch: Batch, tick: Tick | None = None) -> Likelihoods:
        """Log-likelihoods of the options' texts for a batch of reading ``cloze``."""
        ...

    def forget(self) -> bool:
        """Drop what was computed for earlier prompts; False if that is not in its power."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...
