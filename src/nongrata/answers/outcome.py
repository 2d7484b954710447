"""What became of a request, and what a text says."""

from __future__ import annotations

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
