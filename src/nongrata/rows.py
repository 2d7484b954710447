"""What an engine returned -> rows of a shard: the form in which answers are kept.

One row per forward pass. A ``free`` row is one answer: its text, the option it chose, the outcome
and the rule that read it. A ``first_token`` row is the next-token distribution, from which the
answer at every temperature and replicate follows; it stores log-probabilities by *identity* of the
option, whatever the order in which options were shown.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nongrata.answers import Outcome, Parsed, parse_answer
from nongrata.engines.base import Generations, Scores
from nongrata.keys import U64
from nongrata.plan import Requests
from nongrata.prompts import PromptTable

OUTCOMES = tuple(outcome.value for outcome in Outcome)


@dataclass
class AnswerReader:
    """Parses each distinct text once per question block.

    Parameters
    ----------
    prompts
        Which labels and options a request offered.
    """

    prompts: PromptTable
    _known: dict[tuple[int, int, str, bool], tuple[int, int, str]] = field(default_factory=dict)

    def read(
        self, requests: Requests, result: Generations
    ) -> tuple[NDArray[np.int8], NDArray[np.int8], list[str]]:
        """Outcome code, identity of the chosen option (-1: none) and rule of each request."""
        shown = self.prompts.presentation_of[requests.skeleton].astype(np.int64)
        n_questions, n_texts = len(self.prompts.questions), len(result.texts)
        code = (shown * n_questions + requests.question) * n_texts + result.text
        code = code * 2 + result.truncated
        distinct, first, back = np.unique(code, return_index=True, return_inverse=True)
        outcome = np.empty(len(distinct), dtype=np.int8)
        option = np.empty(len(distinct), dtype=np.int8)
        rules = []
        for row, i in enumerate(first):
            outcome[row], option[row], rule = self._read_one(
                int(requests.skeleton[i]),
                int(requests.question[i]),
                result.texts[int(result.text[i])],
                bool(result.truncated[i]),
            )
            rules.append(rule)
        return outcome[back], option[back], [rules[row] for row in back]

    def _read_one(
        self, skeleton: int, question: int, text: str, truncated: bool
    ) -> tuple[int, int, str]:
        shown = int(self.prompts.presentation_of[skeleton])
        key = (shown, question, text, truncated)
        known = self._known.get(key)
        if known is None:
            block = self.prompts.blocks[shown][question]
            options = self.prompts.options(skeleton, question)
            parsed: Parsed = parse_answer(text, block.labels, options, truncated=truncated)
            chosen = -1 if parsed.option is None else block.order[parsed.option]
            known = (OUTCOMES.index(parsed.outcome), chosen, parsed.rule)
            if len(self._known) > 200_000:  # long runs of a chatty model: forget, do not grow
                self._known.clear()
            self._known[key] = known
        return known


def generation_rows(
    model: str,
    prompts: PromptTable,
    keys: U64,
    requests: Requests,
    result: Generations,
    reader: AnswerReader,
) -> Any:
    """Rows of ``free`` requests, as a ``pyarrow.Table``."""
    import pyarrow as pa

    outcome, option, rules = reader.read(requests, result)
    outcome, option = outcome.copy(), option.copy()
    failed = list(result.errors)
    outcome[failed] = OUTCOMES.index(Outcome.ERROR)
    option[failed] = -1
    for i in failed:
        rules[i] = "error"
    good = np.ones(len(requests), dtype=np.bool_)
    good[failed] = False
    texts = pa.DictionaryArray.from_arrays(
        pa.array(result.text, mask=~good), pa.array(list(result.texts), type=pa.string())
    ).cast(pa.string())
    finish = pa.DictionaryArray.from_arrays(
        pa.array(result.truncated.astype(np.int8), mask=~good), pa.array(["stop", "length"])
    )
    columns = _common(model, prompts, keys, requests, result) | {
        "outcome": pa.DictionaryArray.from_arrays(pa.array(outcome), pa.array(OUTCOMES)),
        "option": pa.array(option, mask=option < 0),
        "rule": pa.array(rules).dictionary_encode(),
        "text": texts,
        "finish": finish,
        "completion_tokens": pa.array(result.completion_tokens),
        "label_logprobs": pa.nulls(len(requests), pa.list_(pa.float32())),
        "other_logprobs": pa.nulls(len(requests), pa.list_(pa.float32())),
        "tail_mass": pa.nulls(len(requests), pa.float64()),
    }
    return _ordered(columns)


def score_rows(
    model: str, prompts: PromptTable, keys: U64, requests: Requests, result: Scores
) -> Any:
    """Rows of ``first_token`` requests, as a ``pyarrow.Table``."""
    import pyarrow as pa

    n = len(requests)
    shown = prompts.presentation_of[requests.skeleton]
    order = prompts.orders[shown, requests.question]
    width = order.shape[1]
    by_identity = np.full_like(result.label_logprobs[:, :width], np.nan)
    row, place = np.nonzero(order >= 0)
    by_identity[row, order[row, place]] = result.label_logprobs[row, place]
    offered = np.arange(width) < (order >= 0).sum(axis=1)[:, None]
    failed = list(result.errors)
    outcome = np.zeros(n, dtype=np.int8)
    outcome[failed] = OUTCOMES.index(Outcome.ERROR)
    error = outcome > 0
    variants = by_identity.shape[2]
    kept = np.repeat(offered[:, :, None], variants, axis=2).reshape(n, -1)
    columns = _common(model, prompts, keys, requests, result) | {
        "outcome": pa.DictionaryArray.from_arrays(
            pa.array(outcome, mask=~error), pa.array(OUTCOMES)
        ),
        "option": pa.nulls(n, pa.int8()),
        "rule": pa.DictionaryArray.from_arrays(
            pa.array(error.astype(np.int8)), pa.array(["first-token", "error"])
        ),
        "text": pa.nulls(n, pa.string()),
        "finish": pa.DictionaryArray.from_arrays(
            pa.nulls(n, pa.int8()), pa.array(["stop", "length"])
        ),
        "completion_tokens": pa.nulls(n, pa.int32()),
        "label_logprobs": _lists(by_identity.reshape(n, -1), kept),
        "other_logprobs": _lists(result.other_logprobs, ~np.isnan(result.other_logprobs)),
        "tail_mass": pa.array(result.tail_mass),
    }
    return _ordered(columns)


def _common(
    model: str, prompts: PromptTable, keys: U64, requests: Requests, result: Scores | Generations
) -> dict[str, Any]:
    import pyarrow as pa

    heat = requests.temperature
    errors = [result.errors.get(i) for i in range(len(requests))] if result.errors else None
    constant = pa.array(np.zeros(len(requests), dtype=np.int8))
    return {
        "model": pa.DictionaryArray.from_arrays(constant, pa.array([model])),
        "reading": pa.DictionaryArray.from_arrays(constant, pa.array([requests.reading])),
        "key_high": pa.array(keys[:, 0]),
        "key_low": pa.array(keys[:, 1]),
        "skeleton": pa.array(prompts.skeleton_digests[requests.skeleton, 0]),
        "question": pa.array(prompts.question_hashes[requests.question]),
        "temperature": pa.array(heat, mask=np.isnan(heat)),
        "replicate": pa.array(requests.replicate),
        "prompt_tokens": pa.array(result.prompt_tokens),
        "cached_tokens": pa.array(result.cached_tokens),
        "prompt_digest": pa.array(result.prompt_digest),
        "error": pa.array(errors, type=pa.string())
        if errors
        else pa.nulls(len(requests), pa.string()),
    }


def _lists(values: NDArray[np.float32], kept: NDArray[np.bool_]) -> Any:
    """Make one list per row of the values that are kept; nan becomes null."""
    import pyarrow as pa

    flat = values[kept]
    offsets = np.concatenate([[0], np.cumsum(kept.sum(axis=1))]).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(flat, mask=np.isnan(flat)))


COLUMNS = (
    "key_high", "key_low", "model", "reading", "skeleton", "question", "temperature", "replicate",
    "outcome", "option", "rule", "text", "finish", "prompt_tokens", "cached_tokens",
    "completion_tokens",
    "prompt_digest", "label_logprobs", "other_logprobs", "tail_mass", "error",
)  # fmt: skip
"""Columns of a shard, in order."""


def _ordered(columns: dict[str, Any]) -> Any:
    import pyarrow as pa

    return pa.table({name: columns[name] for name in COLUMNS})
