"""From vLLM's outputs to arrays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nongrata.engines.base import Generations, Scores
from nongrata.engines.gathering import GatheredTexts, PromptCounts
from nongrata.engines.hf_tokens import HfTokens
from nongrata.engines.label_tokens import LabelTokens
from nongrata.engines.vllm_calls import Finished

# Of the tokens that are no label. On the demo's prompts, temperature 0.5 is then known to 1e-4.
_OTHERS = 64
_NEGLIGIBLE = 1e-3


@dataclass(frozen=True, slots=True)
class Returned:
    """The next tokens that vLLM returned for one prompt.

    Parameters
    ----------
    tokens
        Their ids, shape (k,).
    logprobs
        Natural log-probabilities at temperature 1, float64, shape (k,).
    """

    tokens: NDArray[np.int64]
    logprobs: NDArray[np.float64]

    def of(self, token: int) -> float | None:
        """Log-probability of a token; None if it was not returned."""
        place = np.flatnonzero(self.tokens == token)
        return float(self.logprobs[place[0]]) if len(place) else None


def returned_tokens(output: Any) -> Returned | None:
    """The tokens of the first generated position, each once; None if there are none.

    Parameters
    ----------
    output
        A ``vllm.RequestOutput``.
    """
    positions = output.outputs[0].logprobs
    if not positions:
        return None
    if hasattr(positions, "token_ids"):  # FlatLogprobs: one list for all positions
        end = positions.end_indices[0]
        tokens, logprobs = positions.token_ids[:end], positions.logprobs[:end]
    else:
        tokens = list(positions[0])
        logprobs = [entry.logprob for entry in positions[0].values()]
    # the sampled token stands first, and a second time at its rank
    ids, first = np.unique(np.asarray(tokens, dtype=np.int64), return_index=True)
    values = np.asarray(logprobs, dtype=np.float64)[first]
    known = ~np.isnan(values)
    return Returned(ids[known], values[known]) if known.any() else None


class ScoreRows:
    """Scores of a batch, filled in row by row.

    Parameters
    ----------
    labels
        Labels offered in each request, in the order shown.
    tokens
        Which tokens choose them.
    complete
        Whether every token is returned, so that nothing of the rest is unknown.
    heats
        As `Batch.heats`.
    """

    def __init__(
        self,
        labels: Sequence[Sequence[str]],
        tokens: LabelTokens,
        *,
        complete: bool,
        heats: Sequence[float],
    ) -> None:
        n = len(labels)
        options = max((len(offered) for offered in labels), default=0)
        self._labels, self._tokens, self._complete = labels, tokens, complete
        self._powers = 1.0 / np.asarray(heats, dtype=np.float64)
        self._label_logprobs = np.full((n, options, len(tokens.variants)), np.nan, np.float32)
        self._other_logprobs = np.full((n, _OTHERS), np.nan, np.float32)
        self._tail_mass = np.full(n, np.nan)
        self._tail_logsums = np.full((n, len(heats)), np.nan)
        self._counts = PromptCounts(n)

    def add(self, finished: Finished) -> list[int]:
        """Sort one answer's tokens into labels, others and the rest.

        Returns
        -------
        list of int
            Spellings of labels that vLLM did not return, and that could change what is known of
            the labels: of labels without any, or all if they may be worth more than a
            thousandth of all labels together.

        Raises
        ------
        ValueError
            If it returned none at all.
        """
        returned = returned_tokens(finished.output)
        if returned is None:
            raise ValueError("vLLM returned no probabilities")
        i = finished.call.index
        unknown: list[tuple[int, int]] = []
        is_label = np.zeros(len(returned.tokens), dtype=np.bool_)
        for j, label in enumerate(self._labels[i]):
            for k, token in enumerate(self._tokens.of(label)):
                value = -np.inf if token is None else returned.of(token)
                if value is not None:
                    self._label_logprobs[i, j, k] = value
                    is_label |= returned.tokens == (-1 if token is None else token)
                elif token is not None:
                    unknown.append((j, token))
        known = np.isfinite(self._label_logprobs[i]).any(axis=1)
        total = np.exp(returned.logprobs[is_label]).sum()
        matter = np.exp(returned.logprobs.min()) > _NEGLIGIBLE * total
        others = -np.sort(-returned.logprobs[~is_label])
        shown, rest = others[:_OTHERS], others[_OTHERS:]
        self._other_logprobs[i, : len(shown)] = shown
        kept = np.exp(returned.logprobs[is_label]).sum() + np.exp(shown).sum()
        unkept = np.exp(rest).sum()
        self._tail_mass[i] = unkept if self._complete else max(1.0 - kept, unkept)
        if self._complete:
            self._tail_logsums[i] = [_logsum(rest * power) for power in self._powers]
        self._counts.add(i, finished.call.tokens, cached_tokens(finished.output))
        return [token for j, token in unknown if matter or not known[j]]

    def fill(self, i: int, output: Any) -> None:
        """Put in labels that stood outside the most probable tokens, and take them off the rest."""
        returned = returned_tokens(output)
        if returned is None:
            return
        for j, label in enumerate(self._labels[i]):
            for k, token in enumerate(self._tokens.of(label)):
                if token is None or not np.isnan(self._label_logprobs[i, j, k]):
                    continue
                value = returned.of(token)
                if value is not None:
                    self._label_logprobs[i, j, k] = value
                    self._tail_mass[i] = max(0.0, self._tail_mass[i] - np.exp(value))

    def scores(self, errors: Mapping[int, str]) -> Scores:
        """All of them."""
        return Scores(
            label_logprobs=self._label_logprobs,
            other_logprobs=self._other_logprobs,
            tail_mass=self._tail_mass,
            prompt_tokens=self._counts.prompt,
            cached_tokens=self._counts.cached,
            prompt_digest=self._counts.digest,
            errors=dict(errors),
            tail_logsums=self._tail_logsums if self._complete else None,
        )


def collect_generations(
    n: int, finished: Iterable[Finished], errors: Mapping[int, str], tokens: HfTokens
) -> Generations:
    """Gather texts, each distinct one once."""
    counts, texts = PromptCounts(n), GatheredTexts(n)
    for result in sorted(finished, key=lambda result: result.call.index):
        i, answer = result.call.index, result.output.outputs[0]
        texts.add(
            i,
            _text(answer, tokens),
            truncated=answer.finish_reason == "length",
            completion_tokens=len(answer.token_ids),
        )
        counts.add(i, result.call.tokens, cached_tokens(result.output))
    return texts.generations(counts, errors)


def _text(answer: Any, tokens: HfTokens) -> str:
    if isinstance(answer.stop_reason, str):  # cut at a stop text, which tokens need not end at
        return str(answer.text)
    said = list(answer.token_ids)
    if answer.finish_reason == "stop" and said and said[-1] in tokens.ends:
        said.pop()
    return tokens.text(said)


def continuation_logprob(finished: Finished, start: int) -> float:
    """Log-probability of the tokens of a call from a place on, given those before them.

    Raises
    ------
    ValueError
        If vLLM did not return one of them.
    """
    tokens, positions = finished.call.tokens, finished.output.prompt_logprobs
    if positions is None or len(positions) != len(tokens):
        raise ValueError("vLLM returned no probabilities of the text")
    total = 0.0
    for place in range(start, len(tokens)):
        entry = positions[place]
        if entry is None or tokens[place] not in entry:
            raise ValueError("vLLM returned no probability of a token of the text")
        total += float(entry[tokens[place]].logprob)
    return total


def cached_tokens(output: Any) -> int:
    """How many tokens of the prompt vLLM had computed before."""
    return int(getattr(output, "num_cached_tokens", None) or 0)


def _logsum(values: NDArray[np.float64]) -> float:
    if not len(values) or np.isneginf(values.max()):
        return -np.inf
    top = float(values.max())
    return float(top + np.log(np.exp(values - top).sum()))
