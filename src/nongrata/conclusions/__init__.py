"""Conclusions: which of them survive a change of configuration, and which do not."""

from nongrata.conclusions.answered import Answered, AnswerNumbers
from nongrata.conclusions.findings import findings
from nongrata.conclusions.model import (
    Claimed,
    Conclusion,
    Counts,
    Findings,
    ModelFindings,
    Tally,
)

__all__ = [
    "AnswerNumbers",
    "Answered",
    "Claimed",
    "Conclusion",
    "Counts",
    "Findings",
    "ModelFindings",
    "Tally",
    "findings",
]
