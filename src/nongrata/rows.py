"""What an engine returned -> rows of a shard: the form in which answers are kept.

One row per forward pass. A ``free`` row is one answer: its text, the option it chose, the outcome
and the rule that read it; where the study asks for it, also the next-token distribution at the
letter that decided. A ``first_token`` row is the next-token distribution, from which the answer
under every sampling and replicate follows. A ``cloze`` row is the log-likelihood of each option's
text. Log-probabilities are stored by *identity* of the option, whatever the order in which options
were shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nongrata.answers import Outcome, Parsed, final_letter, parse_answer
from nongrata.engines.base import Generations, Likelihoods, Scores
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

    def before_letter(self, skeleton: int, question: int, text: str, truncated: bool) -> str | None:
        """What was written before the letter that decided; None if none did."""
        shown = int(self.prompts.presentation_of[skeleton])
        block = self.prompts.blocks[shown][question]
        outcome, chosen, _ = self._read_one(skeleton, question, text, truncated)
        if OUTCOMES[outcome] != Outcome.ANSWERED:
            return None
        options = self.prompts.options(skeleton, question)
        at = final_letter(text, block.labels, options, block.order.index(chosen))
        # a label's own token may begin with the space before it
        return None if at is None else text[:at].rstrip(" ")

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


@dataclass(frozen=True, slots=True)
class FinalLetters:
    """Distributions at the letters that decided some of a block's texts.

    Parameters
    ----------
    row
        Which requests of the block they belong to, int64, shape (m,).
    scores
        The next token's distribution after the text before the letter, for m requests.
    """

    row: NDArray[np.int64]
    scores: Scores


def generation_rows(
    model: str,
    prompts: PromptTable,
    keys: U64,
    requests: Requests,
    result: Generations,
    reader: AnswerReader,
    final: FinalLetters | None = None,
    heats: tuple[float, ...] = (),
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
    }
    if final is not None:
        columns |= _spread(
            _distribution(prompts, requests.take_rows(final.row), final.scores, heats),
            final.row,
            len(requests),
        )
    return _ordered(columns, len(requests))


def score_rows(
    model: str,
    prompts: PromptTable,
    keys: U64,
    requests: Requests,
    result: Scores,
    heats: tuple[float, ...] = (),
) -> Any:
    """Rows of ``first_token`` requests, as a ``pyarrow.Table``."""
    columns = _common(model, prompts, keys, requests, result)
    columns |= _nothing_said(len(requests), result.errors, "first-token")
    columns |= _distribution(prompts, requests, result, heats)
    return _ordered(columns, len(requests))


def likelihood_rows(
    model: str, prompts: PromptTable, keys: U64, requests: Requests, result: Likelihoods
) -> Any:
    """Rows of ``cloze`` requests, as a ``pyarrow.Table``."""
    order = _order(prompts, requests)
    columns = _common(model, prompts, keys, requests, result)
    columns |= _nothing_said(len(requests), result.errors, "cloze")
    for name, values in (
        ("label_logprobs", result.option_logprobs.astype(np.float32)),
        ("baseline_logprobs", result.baseline_logprobs.astype(np.float32)),
        ("option_tokens", result.option_tokens.astype(np.int32)),
    ):
        by_identity = _by_identity(order, values[:, :, None])[:, :, 0]
        columns[name] = _lists(by_identity, _offered(order))
    return _ordered(columns, len(requests))


def _order(prompts: PromptTable, requests: Requests) -> NDArray[np.int8]:
    return prompts.orders[prompts.presentation_of[requests.skeleton], requests.question]


def _offered(order: NDArray[np.int8]) -> NDArray[np.bool_]:
    """Which identities are options of each request's question."""
    kept: NDArray[np.bool_] = np.arange(order.shape[1]) < (order >= 0).sum(axis=1)[:, None]
    return kept


def _by_identity(order: NDArray[np.int8], shown: NDArray[Any]) -> NDArray[Any]:
    """Values by identity of the option, from values by place shown; shape (n, options, ...)."""
    width = order.shape[1]
    blank = np.nan if shown.dtype.kind == "f" else 0
    result = np.full((len(order), width, shown.shape[2]), blank, dtype=shown.dtype)
    row, place = np.nonzero(order[:, : shown.shape[1]] >= 0)
    result[row, order[row, place]] = shown[row, place]
    return result


def _distribution(
    prompts: PromptTable, requests: Requests, result: Scores, heats: tuple[float, ...]
) -> dict[str, Any]:
    """Columns of next-token distributions."""
    import pyarrow as pa

    n = len(requests)
    order = _order(prompts, requests)
    labels = _by_identity(order, result.label_logprobs)
    kept = np.repeat(_offered(order)[:, :, None], labels.shape[2], axis=2).reshape(n, -1)
    columns = {
        "label_logprobs": _lists(labels.reshape(n, -1), kept),
        "other_logprobs": _lists(result.other_logprobs, ~np.isnan(result.other_logprobs)),
        "tail_mass": pa.array(result.tail_mass),
    }
    if result.least_returned is not None:
        columns["least_returned"] = pa.array(result.least_returned)
    if result.tail_logsums is not None and heats:
        every = np.ones((n, len(heats)), dtype=np.bool_)
        columns["tail_heats"] = _lists(np.tile(np.array(heats), (n, 1)), every)
        columns["tail_logsums"] = _lists(result.tail_logsums, every)
    return columns


def _spread(columns: dict[str, Any], rows: NDArray[np.int64], n: int) -> dict[str, Any]:
    """Columns of n rows, null but for the given ones."""
    import pyarrow as pa

    place = np.full(n, -1, dtype=np.int64)
    place[rows] = np.arange(len(rows))
    index = pa.array(place, mask=place < 0)
    return {name: column.take(index) for name, column in columns.items()}


def _nothing_said(n: int, errors: Mapping[int, str], rule: str) -> dict[str, Any]:
    """Columns of requests for which nothing is generated."""
    import pyarrow as pa

    failed = np.zeros(n, dtype=np.bool_)
    failed[list(errors)] = True
    outcome = np.where(failed, OUTCOMES.index(Outcome.ERROR), 0).astype(np.int8)
    return {
        "outcome": pa.DictionaryArray.from_arrays(
            pa.array(outcome, mask=~failed), pa.array(OUTCOMES)
        ),
        "rule": pa.DictionaryArray.from_arrays(
            pa.array(failed.astype(np.int8)), pa.array([rule, "error"])
        ),
    }


def _common(
    model: str,
    prompts: PromptTable,
    keys: U64,
    requests: Requests,
    result: Scores | Generations | Likelihoods,
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


def _lists(values: NDArray[Any], kept: NDArray[np.bool_]) -> Any:
    """Make one list per row of the values that are kept; nan becomes null."""
    import pyarrow as pa

    flat = values[kept]
    offsets = np.concatenate([[0], np.cumsum(kept.sum(axis=1))]).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(flat, mask=np.isnan(flat)))


COLUMNS: Mapping[str, str] = {
    "key_high": "uint64",
    "key_low": "uint64",
    "model": "name",
    "reading": "name",
    "skeleton": "uint64",
    "question": "uint64",
    "temperature": "float64",
    "replicate": "int16",
    "outcome": "name",
    "option": "int8",
    "rule": "name",
    "text": "string",
    "finish": "name",
    "prompt_tokens": "int32",
    "cached_tokens": "int32",
    "completion_tokens": "int32",
    "prompt_digest": "uint64",
    "label_logprobs": "list<float>",
    "other_logprobs": "list<float>",
    "tail_mass": "float64",
    "least_returned": "float32",
    "tail_heats": "list<double>",
    "tail_logsums": "list<double>",
    "baseline_logprobs": "list<float>",
    "option_tokens": "list<int32>",
    "error": "string",
}
"""Columns of a shard, in order, and their types; ``name`` is a dictionary of strings."""


def _ordered(columns: dict[str, Any], n: int) -> Any:
    """All columns, those that this reading does not have being null."""
    import pyarrow as pa

    types = {
        "name": pa.dictionary(pa.int8(), pa.string()),
        "list<float>": pa.list_(pa.float32()),
        "list<double>": pa.list_(pa.float64()),
        "list<int32>": pa.list_(pa.int32()),
        "string": pa.string(),
        "int32": pa.int32(),
        "int8": pa.int8(),
        "float64": pa.float64(),
        "float32": pa.float32(),
    }
    return pa.table(
        {
            name: columns[name] if name in columns else pa.nulls(n, types[kind])
            for name, kind in COLUMNS.items()
        }
    )
