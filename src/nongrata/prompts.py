"""persona x formats x question -> the messages that are sent. (Being built.)"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Decoding:
    """Every sampling parameter but temperature and seed, resolved. 0/1 values mean 'off'."""

    max_tokens: int = 24
    top_k: int = 0
    top_p: float = 1.0
    min_p: float = 0.0
    stop: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Messages:
    """One prompt, turn by turn; texts arrive at the model byte for byte, and only as text.

    Parameters
    ----------
    system
        Text of the system turn; an empty text is an explicit, empty system turn.
    user
        Text of the user turn.
    prefill
        Text with which the assistant's turn is begun for it; usually empty.
    decoding
        The skeleton's sampling parameters.
    """

    system: str
    user: str
    prefill: str
    decoding: Decoding


class PromptTable:
    """Skeletons x questions: the prompts of a study, rendered when asked for. (Being built.)"""

    skeletons: Sequence[Any]
    questions: Sequence[Any]

    def messages(self, skeleton: int, question: int) -> Messages:
        raise NotImplementedError

    def labels(self, skeleton: int, question: int) -> tuple[str, ...]:
        raise NotImplementedError
