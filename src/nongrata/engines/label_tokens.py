"""Which tokens choose a label, and what a prompt's tokens hash to."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from nongrata.engines.prompt_tokens import Vocabulary
from nongrata.errors import NongrataError

LISTED_LABELS = ("A", "B", "C", "D", "E", "F", "a", "b", "c", "d", "1", "2", "3", "4")
"""Labels whose tokens stand in an engine's identity."""


class LabelTokens:
    """Which tokens choose a label: the spellings of it that are one token.

    Parameters
    ----------
    vocabulary
        The model's tokens.
    variants
        Spellings, such as ``"{label}"`` and ``" {label}"``.

    Examples
    --------
    >>> vocabulary = Vocabulary(["A", "\u0120A", "B"], [1, 1, 1], "gpt2")
    >>> LabelTokens(vocabulary, ("{label}", " {label}")).of("B")
    (2, None)
    """

    def __init__(self, vocabulary: Vocabulary, variants: Sequence[str]) -> None:
        self._vocabulary = vocabulary
        self._known: dict[str, tuple[int | None, ...]] = {}
        self.variants = tuple(variants)

    def of(self, label: str) -> tuple[int | None, ...]:
        """The token of each spelling; None where it is not one token."""
        if label not in self._known:
            spellings = (variant.replace("{label}", label) for variant in self.variants)
            self._known[label] = tuple(self._vocabulary.id_of(text) for text in spellings)
        return self._known[label]

    def listed(self, labels: Sequence[str]) -> dict[str, list[int | None]]:
        """The tokens of some labels, as JSON values."""
        return {label: list(self.of(label)) for label in labels}

    def require(self, labels: Sequence[Sequence[str]]) -> None:
        """Refuse labels that no single token spells."""
        for label in dict.fromkeys(label for offered in labels for label in offered):
            if all(token is None for token in self.of(label)):
                raise NongrataError(
                    f"no single token of this model spells the label {label!r}, so it cannot be "
                    "read from next-token probabilities",
                    fix="set reading: free, or use other labels or label_variants",
                )


def prompt_digest(tokens: Sequence[int]) -> int:
    """64-bit hash of token ids.

    Examples
    --------
    >>> prompt_digest((1, 2)) == prompt_digest((2, 1))
    False
    """
    data = np.asarray(tokens, dtype="<i4").tobytes()
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "little")
