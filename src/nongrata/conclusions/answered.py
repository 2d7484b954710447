"""The answer to the research question: three parts with a verdict each, and their numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from nongrata.conclusions.sentences import as_said
from nongrata.stats.figure import Figure
from nongrata.wording import say

AnswerAbout = Literal["accuracy", "order", "questions"]
AnswerVerdict = Literal[
    "depends on the configuration",
    "the same in all configurations",
    "robust",
    "partly robust",
    "part robust, part fragile",
    "partly fragile",
    "fragile",
    "undecided",
    "not rankable",
]
ANSWER_HEADINGS: dict[AnswerAbout, str] = {
    "accuracy": "Accuracy",
    "order": "Order of labels",
    "questions": "Set of right questions",
}


@dataclass(frozen=True, slots=True)
class Answered:
    """One part of the answer to the research question.

    Parameters
    ----------
    about
        ``"accuracy"``, ``"order"`` of labels, or set of right ``"questions"``.
    verdict
        In a few words.
    details
        The sentences after it.
    """

    about: AnswerAbout
    verdict: AnswerVerdict
    details: str

    @property
    def sentence(self) -> str:
        """All of it as one text."""
        return say(
            "{heading}: {verdict}. {details}",
            heading=say(ANSWER_HEADINGS[self.about]),
            verdict=say(self.verdict),
            details=as_said(self.details),
        )


@dataclass(frozen=True, slots=True)
class AnswerNumbers:
    """The numbers of the answer to the research question.

    A number in a sentence of the answer has the name of its field here.

    Parameters
    ----------
    configurations, pairs, pairs_robust, pairs_fragile, pairs_undecided
        How many, the pairs being of labels.
    lowest, highest
        Least and greatest accuracy of a configuration, labels averaged, in per cent.
    typical, typical_low, typical_high
        Root mean square difference between two configurations, labels averaged, with its
        interval, in points; noise taken off.
    p
        Adjusted p value of "accuracy depends on the configuration".
    labels_typical, labels_typical_low, labels_typical_high
        Root mean square difference between two labels, configurations averaged, in points.
    iq, iq_floor, known
        IQ(2) of two configurations, and of one configuration asked twice, in per cent, and over
        how many configurations: those whose noise is known.
    """

    configurations: int
    lowest: Figure
    highest: Figure
    typical: Figure
    typical_low: Figure
    typical_high: Figure
    p: Figure
    labels_typical: Figure
    labels_typical_low: Figure
    labels_typical_high: Figure
    pairs: int
    pairs_robust: int
    pairs_fragile: int
    pairs_undecided: int
    iq: Figure
    iq_floor: Figure
    known: int
