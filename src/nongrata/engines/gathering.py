"""What came back for the requests of a batch, in any order -> arrays in the batch's order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from nongrata.engines.base import Generations
from nongrata.engines.label_tokens import prompt_digest


class PromptCounts:
    """What is recorded of a prompt under every reading.

    Parameters
    ----------
    n
        Requests in the batch.

    Examples
    --------
    >>> counts = PromptCounts(2)
    >>> counts.add(1, (7, 8, 9), cached=2)
    >>> counts.prompt.tolist(), counts.cached.tolist()
    ([0, 3], [0, 2])
    """

    def __init__(self, n: int) -> None:
        self.prompt: NDArray[np.int32] = np.zeros(n, dtype=np.int32)
        self.cached: NDArray[np.int32] = np.zeros(n, dtype=np.int32)
        self.digest: NDArray[np.uint64] = np.zeros(n, dtype=np.uint64)

    def add(self, i: int, tokens: Sequence[int], cached: int = 0) -> None:
        """Record the prompt of request `i`, and how much of it had been computed before."""
        self.prompt[i] = len(tokens)
        self.cached[i] = cached
        self.digest[i] = prompt_digest(tokens)


class GatheredTexts:
    """Generated texts, each distinct one kept once.

    Parameters
    ----------
    n
        Requests in the batch.

    Examples
    --------
    >>> texts = GatheredTexts(2)
    >>> texts.add(1, "B", truncated=False, completion_tokens=1)
    >>> found = texts.generations(PromptCounts(2), {0: "too long"})
    >>> [found.texts[i] for i in found.text]
    ['', 'B']
    """

    def __init__(self, n: int) -> None:
        self._texts: dict[str, int] = {}
        self._text: NDArray[np.int32] = np.zeros(n, dtype=np.int32)
        self._truncated: NDArray[np.bool_] = np.zeros(n, dtype=np.bool_)
        self._completion: NDArray[np.int32] = np.zeros(n, dtype=np.int32)

    def add(self, i: int, said: str, *, truncated: bool, completion_tokens: int) -> None:
        """Record the text of request `i`."""
        self._text[i] = self._texts.setdefault(said, len(self._texts))
        self._truncated[i] = truncated
        self._completion[i] = completion_tokens

    def generations(self, counts: PromptCounts, errors: Mapping[int, str]) -> Generations:
        """All of them. Requests that failed point at an empty text, so that each points somewhere.

        Parameters
        ----------
        counts
            What was recorded of the prompts.
        errors
            What went wrong, by request.
        """
        if errors:
            self._text[list(errors)] = self._texts.setdefault("", len(self._texts))
        return Generations(
            texts=tuple(self._texts),
            text=self._text,
            truncated=self._truncated,
            completion_tokens=self._completion,
            prompt_tokens=counts.prompt,
            cached_tokens=counts.cached,
            prompt_digest=counts.digest,
            errors=dict(errors),
        )
