"""From next-token logits to the probabilities of labels, of other tokens and of all the rest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from nongrata.engines.base import Scores
from nongrata.engines.gathering import PromptCounts

OTHERS = 64
NOT_FINITE = "the model's probabilities are no numbers; another dtype may help"


class Counts(PromptCounts):
    """What every reading records of its prompts, of which several requests may share one.

    Examples
    --------
    >>> counts = Counts(3)
    >>> counts.share([0, 2], (5, 6, 7), cached=1)
    >>> counts.prompt.tolist(), counts.cached.tolist()
    ([3, 0, 3], [1, 0, 3])
    """

    def share(self, requests: Sequence[int], tokens: Sequence[int], cached: int) -> None:
        """Note requests of one prompt: what was computed was computed for the first of them."""
        for number, i in enumerate(requests):
            self.add(i, tokens, cached if number == 0 else len(tokens))


class ScoreTable:
    """Fills `Scores` row by row.

    Parameters
    ----------
    labels
        Tokens of each variant of each label of each request; None where it is not one token.
    variants
        Variants of a label.
    heats
        Temperatures at which the rest is summed too.
    """

    def __init__(
        self,
        labels: Sequence[Sequence[Sequence[int | None]]],
        variants: int,
        heats: Sequence[float],
    ) -> None:
        n = len(labels)
        options = max((len(offered) for offered in labels), default=0)
        self._labels, self._heats = labels, tuple(heats)
        self.label_logprobs = np.full((n, options, variants), np.nan, dtype=np.float32)
        self.other_logprobs = np.full((n, OTHERS), np.nan, dtype=np.float32)
        self.tail_mass = np.full(n, np.nan)
        self.tail_logsums = np.full((n, len(self._heats)), np.nan)
        self.counts = Counts(n)
        self.errors: dict[int, str] = {}

    def read(self, requests: Sequence[int], logits: Any) -> None:
        """Read one row of logits for each of some requests.

        Parameters
        ----------
        requests
            The requests.
        logits
            Float32, shape (requests, vocabulary).
        """
        import torch

        known = [
            [token for spellings in self._labels[i] for token in spellings if token is not None]
            for i in requests
        ]
        width = max(1, *(len(tokens) for tokens in known))
        # padded with the first of them: marking a token twice changes nothing
        ids = torch.tensor(
            [tokens + [tokens[0] if tokens else 0] * (width - len(tokens)) for tokens in known],
            device=logits.device,
        )
        logprobs = logits.log_softmax(dim=1)
        found = logprobs.gather(1, ids).cpu().numpy()
        rest = logprobs.clone()
        named = torch.tensor([bool(tokens) for tokens in known], device=logits.device)
        rest[named] = rest[named].scatter(1, ids[named], -torch.inf)
        top = rest.topk(min(OTHERS, rest.shape[1]), dim=1)
        rest.scatter_(1, top.indices, -torch.inf)
        tail = rest.double()
        mass = tail.logsumexp(dim=1).exp().cpu().numpy()
        sums = [(tail / heat).logsumexp(dim=1).cpu().numpy() for heat in self._heats]
        others = top.values.cpu().numpy()
        finite = np.isfinite(logprobs.max(dim=1).values.cpu().numpy())
        for row, i in enumerate(requests):
            if not finite[row]:
                self.errors[i] = NOT_FINITE
                continue
            at = 0
            for j, spellings in enumerate(self._labels[i]):
                for k, token in enumerate(spellings):
                    self.label_logprobs[i, j, k] = -np.inf if token is None else found[row, at]
                    at += token is not None
            self.other_logprobs[i, : others.shape[1]] = others[row]
            self.tail_mass[i] = mass[row]
            for j, column in enumerate(sums):
                self.tail_logsums[i, j] = column[row]

    def copy(self, source: int, target: int) -> None:
        """Give a request the answer of an equal one."""
        for table in (
            self.label_logprobs, self.other_logprobs, self.tail_mass, self.tail_logsums,
        ):  # fmt: skip
            table[target] = table[source]
        if source in self.errors:
            self.errors[target] = self.errors[source]

    def scores(self) -> Scores:
        """The finished tables."""
        return Scores(
            label_logprobs=self.label_logprobs,
            other_logprobs=self.other_logprobs,
            tail_mass=self.tail_mass,
            prompt_tokens=self.counts.prompt,
            cached_tokens=self.counts.cached,
            prompt_digest=self.counts.digest,
            errors=self.errors,
            tail_logsums=self.tail_logsums,
        )
