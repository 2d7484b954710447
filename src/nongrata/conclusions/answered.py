"""The answer to the research question: three parts with a verdict each, and their numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from nongrata.stats.figure import Figure
from nongrata.wording import as_said, say

AnswerAbout = Literal["order", "accuracy", "questions"]
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
    "order": "Order of labels",
    "accuracy": "Accuracy",
    "questions": "Which questions are right",
}


@dataclass(frozen=True, slots=True)
class Answered:
    """One part of the answer to the research question.

    Parameters
    ----------
    about
        ``"order"`` of labels, ``"accuracy"``, or which ``"questions"`` are right.
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
    configurations, required
        How many, and in how many of them a robust conclusion must be established.
    pairs, pairs_robust, pairs_fragile, pairs_undecided
        How many pairs of labels.
    controls, controls_robust, controls_fragile
        How many comparisons of a label with a control.
    lowest, highest
        Least and greatest accuracy of a configuration, labels averaged, in per cent.
    typical, typical_low, typical_high
        Root mean square difference between two configurations, labels averaged, with its
        interval, in points; sampling noise removed.
    p
        Adjusted p value of "accuracy depends on the configuration".
    labels_typical, labels_typical_low, labels_typical_high
        Root mean square difference between two labels, configurations averaged, in points.
    iq, iq_floor, known
        IQ(2) of two configurations, and of one configuration asked twice, in per cent, and over
        how many configurations: those whose noise is known.
    iq_excess, iq_excess_low, iq_excess_high
        The first less the second with its interval, in points.
    """

    configurations: int
    required: int
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
    controls: int
    controls_robust: int
    controls_fragile: int
    iq: Figure
    iq_floor: Figure
    known: int
    iq_excess: Figure
    iq_excess_low: Figure
    iq_excess_high: Figure
