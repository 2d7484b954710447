"""A stored pass -> the distribution of its answer under one sampling, and draws from it.

Every reading but generated text stores something from which the answer under any sampling
follows: the next token's probabilities, or the likelihood of each option's text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nongrata.keys import U64, uniforms
from nongrata.temperature import AnswerDistribution, Sampling, answer_distribution, draw_options

Floats = NDArray[np.float64]

COLUMNS = (
    "key_high", "key_low", "label_logprobs", "other_logprobs", "tail_mass", "least_returned",
    "tail_heats", "tail_logsums", "baseline_logprobs", "option_tokens",
)  # fmt: skip
"""Columns of a shard that `StoredPasses.read` needs."""


@dataclass(frozen=True)
class StoredPasses:
    """Rows of a shard that hold distributions, all over the same number of options.

    Parameters
    ----------
    keys
        Request keys, shape (n, 2).
    labels
        Log-probabilities by option and variant, shape (n, options, variants); for ``cloze`` the
        log-likelihood of each option's text.
    others, tail, least_returned
        As in `nongrata.temperature.answer_distribution`.
    heats, logsums
        Temperatures, and the sums over unseen tokens at them, shape (n, heats); ``nan`` where not
        told.
    baseline, tokens
        For ``cloze``: log-likelihood without the question, and number of tokens, by option.
    vocabulary
        Number of the model's tokens, if known.
    """

    keys: U64
    labels: NDArray[np.float32]
    others: NDArray[np.float32]
    tail: Floats
    least_returned: Floats
    heats: Floats
    logsums: Floats
    baseline: NDArray[np.float32]
    tokens: NDArray[np.float32]
    vocabulary: int | None = None

    @classmethod
    def read(
        cls, table: Any, which: NDArray[np.bool_], options: int, vocabulary: int | None = None
    ) -> StoredPasses:
        """Read the rows at which `which` is true from a table with `COLUMNS`."""
        n = int(which.sum())
        keys = np.stack([table["key_high"].to_numpy(), table["key_low"].to_numpy()], axis=1)[which]
        heats = _matrix(table["tail_heats"], which).astype(np.float64)
        return cls(
            keys=keys,
            labels=_matrix(table["label_logprobs"], which, options).reshape(n, options, -1),
            others=_matrix(table["other_logprobs"], which),
            tail=table["tail_mass"].to_numpy()[which],
            least_returned=table["least_returned"].to_numpy()[which].astype(np.float64),
            heats=heats,
            logsums=_matrix(table["tail_logsums"], which, dtype=np.float64),
            baseline=_matrix(table["baseline_logprobs"], which, options),
            tokens=_matrix(table["option_tokens"], which, options),
            vocabulary=vocabulary,
        )

    @classmethod
    def of_row(
        cls, row: Mapping[str, Any], options: int, vocabulary: int | None = None
    ) -> StoredPasses:
        """The one row that a mapping from `COLUMNS` holds."""

        def values(name: str, dtype: Any = np.float32) -> NDArray[Any]:
            listed = [np.nan if value is None else value for value in row[name] or ()]
            return np.array(listed, dtype=dtype)[None, :]

        def one(name: str) -> Floats:
            return np.array([np.nan if row[name] is None else row[name]], dtype=np.float64)

        return cls(
            keys=np.array([[row["key_high"], row["key_low"]]], dtype=np.uint64),
            labels=values("label_logprobs").reshape(1, options, -1),
            others=values("other_logprobs"),
            tail=one("tail_mass"),
            least_returned=one("least_returned"),
            heats=values("tail_heats", np.float64),
            logsums=values("tail_logsums", np.float64),
            baseline=values("baseline_logprobs"),
            tokens=values("option_tokens"),
            vocabulary=vocabulary,
        )

    def take(self, which: NDArray[np.bool_]) -> StoredPasses:
        """The rows at which `which` is true."""
        if which.all():
            return self
        return StoredPasses(
            self.keys[which],
            self.labels[which],
            self.others[which],
            self.tail[which],
            self.least_returned[which],
            self.heats[which],
            self.logsums[which],
            self.baseline[which],
            self.tokens[which],
            self.vocabulary,
        )

    def letters(self, sampling: Sampling) -> AnswerDistribution:
        """The distribution of the letter, from next-token probabilities."""
        logsum = None
        if self.heats.shape[1] and sampling.temperature > 0:
            told = np.where(self.heats == sampling.temperature, self.logsums, np.nan)
            # at most one temperature of a row is this one
            logsum = np.where(np.isnan(told), -np.inf, told).max(axis=1, initial=-np.inf)
            known = (self.heats == sampling.temperature).any(axis=1)
            logsum = np.where(known, logsum, np.nan)
            logsum = None if np.isnan(logsum).all() else logsum
        return answer_distribution(
            self.labels,
            self.others,
            self.tail,
            sampling,
            tail_logsum=logsum,
            vocabulary=self.vocabulary,
            least_returned=self.least_returned,
        )

    def texts(self, sampling: Sampling, score: str, option_bytes: Floats) -> AnswerDistribution:
        """The distribution of the option, from the likelihood of the options' texts.

        With s_i the score of option i, its probability at temperature T is proportional to
        exp(s_i / T); at 0 the largest score has it all. Only for ``total`` is this the model's own
        probability of the text, given that it is one of the options.

        Parameters
        ----------
        sampling
            Only its temperature matters: there are no other tokens to leave out.
        score
            ``total``, ``per_token``, ``per_byte`` or ``corrected``.
        option_bytes
            UTF-8 bytes of each option's text, shape (n, options).
        """
        scores = cloze_scores(
            self.labels[:, :, 0].astype(np.float64), self.baseline, self.tokens, option_bytes, score
        )
        n = len(scores)
        if sampling.temperature == 0:
            options = np.zeros_like(scores)
            good = ~np.isnan(scores).any(axis=1)
            options[good, scores[good].argmax(axis=1)] = 1.0
        else:
            scaled = scores / sampling.temperature
            weights = np.exp(scaled - scaled.max(axis=1, keepdims=True))
            options = weights / weights.sum(axis=1, keepdims=True)
        return AnswerDistribution(options, np.zeros(n), np.zeros(n))

    def draw(
        self, found: AnswerDistribution, sampling: Sampling, replicate: int, seed: int
    ) -> NDArray[np.int8]:
        """One option per row, -1 for a token that is no label, from the row's own number."""
        luck = uniforms(self.keys, sampling.temperature, replicate, seed, stream_of(sampling))
        return draw_options(found, luck)


def cloze_scores(
    total: Floats,
    baseline: NDArray[np.float32],
    tokens: NDArray[np.float32],
    option_bytes: Floats,
    score: str,
) -> Floats:
    """The score of each option's text, by which the reading ``cloze`` chooses.

    Parameters
    ----------
    total
        Log-likelihood of each option's text after the prompt, shape (n, options).
    baseline
        The same after the prompt without its question.
    tokens, option_bytes
        Lengths of each text.
    score
        ``total``; ``per_token`` and ``per_byte``, divided by a length; or ``corrected``, the
        difference to `baseline` (domain-conditional mutual information: Holtzman, West, Shwartz,
        Choi & Zettlemoyer 2021).

    Examples
    --------
    >>> total, bytes_ = np.array([[-4.0, -6.0]]), np.array([[2.0, 6.0]])
    >>> none = np.zeros((1, 2), dtype=np.float32)
    >>> cloze_scores(total, none, none, bytes_, "per_byte").tolist()
    [[-2.0, -1.0]]
    """
    if score == "total":
        return total
    if score == "corrected":
        return total - baseline.astype(np.float64)
    lengths = option_bytes if score == "per_byte" else tokens.astype(np.float64)
    return total / np.maximum(lengths, 1)


def stream_of(sampling: Sampling) -> str:
    """Name of the stream of random numbers of a sampling; empty without truncation."""
    if not sampling.truncates:
        return ""
    return f"top_k {sampling.top_k}, top_p {sampling.top_p!r}, min_p {sampling.min_p!r}"


def _matrix(
    column: Any, which: NDArray[np.bool_], least: int = 0, dtype: Any = np.float32
) -> NDArray[Any]:
    """Lists of the rows wanted, padded with nan to the longest, or to `least`."""
    import pyarrow as pa

    lists = column.combine_chunks().filter(pa.array(which))
    lengths = lists.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
    flat = lists.flatten().to_numpy(zero_copy_only=False).astype(dtype)
    width = max(int(lengths.max(initial=0)), least)
    if least and width % least:
        width += least - width % least
    result = np.full((len(lengths), width), np.nan, dtype=dtype)
    result[np.arange(width) < lengths[:, None]] = flat
    return result
