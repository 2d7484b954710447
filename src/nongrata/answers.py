"""A text -> a choice and an outcome, and by which rule. (Being built.)"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class Outcome(StrEnum):
    """What became of a request. Order is the code stored on disk."""

    ANSWERED = "answered"
    UNPARSED = "unparsed"
    REFUSED = "refused"
    TRUNCATED = "truncated"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Parsed:
    """What a text says.

    Parameters
    ----------
    outcome
        Never `Outcome.ERROR`, which is no property of a text.
    option
        Index of the chosen option in the order shown; None unless answered.
    rule
        Name of the rule that decided.
    """

    outcome: Outcome
    option: int | None
    rule: str


def parse_answer(
    text: str, labels: Sequence[str], options: Sequence[str], *, truncated: bool = False
) -> Parsed:
    """Read an answer out of a generated text."""
    raise NotImplementedError
