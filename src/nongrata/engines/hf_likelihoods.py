"""How likely given texts are after a prompt: all options of a prompt in one row."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from nongrata.engines.base import Likelihoods
from nongrata.engines.hf_prefixes import Tokens
from nongrata.engines.hf_readout import NOT_FINITE, Counts
from nongrata.engines.hf_runner import Runner, Text
from nongrata.engines.hf_tokens import Continued

_REMEMBERED = 1 << 16


@dataclass(frozen=True, slots=True)
class Likely:
    """Log-likelihoods of a prompt's continuations.

    Parameters
    ----------
    number
        Which of the prompts asked for.
    logprobs
        Of each continuation, all its tokens together.
    cached
        Tokens of the prompt that had been computed before.
    error
        Why there are none.
    """

    number: int
    logprobs: tuple[float, ...]
    cached: int
    error: str | None = None


def likelihoods(runner: Runner, asked: Sequence[Continued]) -> Iterator[Likely]:
    """Log-likelihood of each continuation of each prompt.

    The options of one prompt follow it in one row, side by side: each sees the prompt and itself.

    Parameters
    ----------
    runner
        Computes.
    asked
        Prompts with their continuations, each one once.
    """
    import torch

    texts = [
        Text(one.texts[0][: one.start], tuple(tokens[one.start : -1] for tokens in one.texts))
        for one in asked
    ]
    for computed in runner.run(texts):
        logprobs = computed.logits.log_softmax(dim=2)
        rows: list[int] = []
        columns: list[int] = []
        targets: list[int] = []
        for row, member in enumerate(computed.members):
            one, text = asked[member], texts[member]
            at = logprobs.shape[1] - text.added
            for tokens in one.texts:
                own = tokens[one.start :]
                rows += [row] * len(own)
                # its first token follows the prompt, each further one the token before
                columns += [logprobs.shape[1] - text.added - 1, *range(at, at + len(own) - 1)]
                targets += own
                at += len(own) - 1
        where = (torch.tensor(x, device=logprobs.device) for x in (rows, columns, targets))
        found = logprobs[tuple(where)].double().cpu().numpy()
        at = 0
        for row, member in enumerate(computed.members):
            sums = []
            for tokens in asked[member].texts:
                length = len(tokens) - asked[member].start
                sums.append(float(found[at : at + length].sum()))
                at += length
            bad = not np.isfinite(sums).all()
            yield Likely(
                member, tuple(sums), computed.cached[row], error=NOT_FINITE if bad else None
            )


class Remembered:
    """Likelihoods that were computed before: of options after prompts without their question."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[Tokens, int], float] = OrderedDict()

    def missing(self, one: Continued) -> Continued | None:
        """The same prompt with the continuations that are not known; None if all are."""
        unknown = tuple(t for t in dict.fromkeys(one.texts) if (t, one.start) not in self._known)
        return Continued(one.prompt, one.start, unknown) if unknown else None

    def add(self, one: Continued, logprobs: Sequence[float]) -> None:
        """Keep what was computed."""
        for tokens, logprob in zip(one.texts, logprobs, strict=True):
            self._known[tokens, one.start] = logprob

    def of(self, one: Continued) -> list[float] | None:
        """What is known of a prompt's continuations; None if one of them is not."""
        found = [self._known.get((tokens, one.start)) for tokens in one.texts]
        known = [value for value in found if value is not None]
        return known if len(known) == len(found) else None

    def trim(self) -> None:
        """Drop the oldest beyond what is worth keeping."""
        while len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)

    def clear(self) -> None:
        """Forget all."""
        self._known.clear()


class LikelihoodTable:
    """Fills `Likelihoods` row by row.

    Parameters
    ----------
    n
        Requests.
    options
        Most options of one.
    """

    def __init__(self, n: int, options: int) -> None:
        self._option = np.full((n, options), np.nan)
        self._baseline = np.full((n, options), np.nan)
        self._tokens = np.zeros((n, options), dtype=np.int32)
        self.counts = Counts(n)

    def add(
        self, i: int, one: Continued, option: Sequence[float], baseline: Sequence[float]
    ) -> None:
        """Note the answer of a request."""
        self._option[i, : len(option)] = option
        self._baseline[i, : len(baseline)] = baseline
        self._tokens[i, : len(one.texts)] = [len(text) - one.start for text in one.texts]

    def likelihoods(self, errors: Mapping[int, str]) -> Likelihoods:
        """The finished tables."""
        return Likelihoods(
            option_logprobs=self._option,
            baseline_logprobs=self._baseline,
            option_tokens=self._tokens,
            prompt_tokens=self.counts.prompt,
            cached_tokens=self.counts.cached,
            prompt_digest=self.counts.digest,
            errors=errors,
        )
