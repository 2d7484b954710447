"""What a study lets one conclude: conclusions with a verdict each, as frozen results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from nongrata.analysis.result import Result
from nongrata.conclusions.answered import Answered, AnswerNumbers
from nongrata.stats.figure import Figure

if TYPE_CHECKING:
    import polars as pl

Verdict = Literal["robust", "fragile", "undecided", "not rankable", "established"]
Family = Literal["controls", "pairs", "extremes", "orders", "effects", "models"]
Metric = Literal[
    "accuracy",
    "squared difference of accuracy",
    "IQ(2) excess",
]
FAMILIES: dict[Family, str] = {
    "effects": "does anything differ",
    "extremes": "best and worst label",
    "controls": "label against control",
    "pairs": "label against label",
    "orders": "domains and factors",
    "models": "model against model",
}
"""Families of conclusions, in the order in which they are shown."""

ALPHA = 0.05
"""Chance that any robust or established conclusion of one model is false (two-sided)."""


@dataclass(frozen=True, slots=True)
class Except:
    """A configuration in which a conclusion does not hold, or is not established.

    Parameters
    ----------
    configuration
        Its levels, as one text.
    estimate
        The difference there in the conclusion's direction: below 0 it is the other way.
    what
        ``"the other way"``: its own direction is the opposite one; ``"the other way,
        established"``: and that with every configuration taken into account; ``"not
        established"``: the same direction, but one-sided p > .025 there.
    """

    configuration: str
    estimate: float
    what: Literal["the other way", "the other way, established", "not established"]


@dataclass(frozen=True, slots=True)
class Conclusion:
    """One conclusion, what it rests on, and whether it survives a change of configuration.

    Parameters
    ----------
    model, family
        Which model (two, "A, B", where models are compared), and which family of tests.
    subject, rival
        What is compared with what; `rival` is empty where nothing is.
    statement
        The conclusion in its direction, as a clause.
    metric, unit
        What is compared, and in which unit `estimate` is.
    estimate, low, high
        Its size, a mean over configurations, and a 95% interval of its own (not adjusted for the
        number of conclusions); undefined where the data choose what is compared.
    typical, typical_low, typical_high
        Of a squared difference of the family "effects" in points: the root mean square of the
        difference between two configurations (labels, levels), and its interval; 0 where the
        noise taken off is larger.
    configurations
        How many it is judged over.
    required
        In how many of them a robust conclusion must be established; 0 where it has no direction.
    same_way
        In how many of them its own direction is the conclusion's.
    share
        The same in per cent of them.
    held_out
        The same where the direction comes from one half of the questions and the share from
        the other, averaged over random halves.
    verdict
        ``"robust"``: established in at least 90% of the configurations; ``"fragile"``: established
        one way in some and the other way in others; ``"established"``: a statement about all
        configurations together, without a direction in each; ``"undecided"``;
        ``"not rankable"``.
    p
        P value of "robust" or "established", adjusted for all conclusions of the model.
    p_fragile
        P value of "fragile", adjusted in the same way among themselves.
    exceptions
        Configurations in which a robust conclusion is not established, or that oppose a fragile
        one.
    because
        Why it is undecided, not rankable, or what else is to be known, as a clause.
    needed
        Questions it would take, were all differences as observed; undefined where more of them
        would not help, where there is no such number, and where it is decided.
    """

    model: str
    family: Family
    subject: str
    rival: str
    statement: str
    metric: Metric
    unit: str
    estimate: Figure
    low: Figure
    high: Figure
    typical: Figure
    typical_low: Figure
    typical_high: Figure
    configurations: int
    required: int
    same_way: Figure
    share: Figure
    held_out: Figure
    verdict: Verdict
    p: Figure
    p_fragile: Figure
    exceptions: tuple[Except, ...]
    because: str
    needed: Figure

    @property
    def decided(self) -> bool:
        """Whether there is a verdict that says something."""
        return self.verdict in ("robust", "fragile", "established")

    @property
    def sentence(self) -> str:
        """The conclusion as one plain sentence."""
        tail = f": {self.because}" if self.because else ""
        if self.verdict in ("robust", "established"):
            return f"{self.statement} ({self.verdict}){_without(self.exceptions)}"
        if self.verdict == "fragile":
            there = "; ".join(e.configuration for e in self.exceptions)
            return f"{self.statement} on average, but it is the other way in {there} (fragile)"
        return (
            f"not decided whether {self.statement}{tail}"
            if self.verdict == "undecided"
            else (f"{self.subject}: not rankable{tail}")
        )


def _without(exceptions: tuple[Except, ...]) -> str:
    if not exceptions:
        return ""
    return "; exceptions: " + "; ".join(f"{e.configuration} ({e.what})" for e in exceptions)


@dataclass(frozen=True, slots=True)
class Counts:
    """How many conclusions came out how."""

    total: int
    robust: int
    fragile: int
    established: int
    undecided: int
    not_rankable: int

    @classmethod
    def of(cls, verdicts: Sequence[Verdict]) -> Counts:
        """Count verdicts.

        Examples
        --------
        >>> Counts.of(["robust", "established", "robust"]).robust
        2
        """
        words: tuple[Verdict, ...] = (
            *("robust", "fragile", "established"),
            *("undecided", "not rankable"),
        )
        return Counts(len(verdicts), *(verdicts.count(word) for word in words))


@dataclass(frozen=True, slots=True)
class Tally(Counts):
    """How the conclusions of one family came out."""

    family: Family


@dataclass(frozen=True, slots=True)
class Claimed:
    """A statement of the preprint, and what this study says of it.

    Parameters
    ----------
    statement
        As the seed document reports it.
    status
        ``"confirmed"``, ``"contradicted"``, ``"undecided"``, or ``"not checkable"`` with this
        study.
    because
        On what ground, as a clause.
    """

    statement: str
    status: Literal["confirmed", "contradicted", "undecided", "not checkable"]
    because: str


@dataclass(frozen=True, slots=True)
class ModelFindings:
    """All conclusions about one model.

    Parameters
    ----------
    model
        Its name.
    rankable
        Whether its accuracy is above chance and above the best constant answer.
    labels, configurations, questions, clusters
        What the conclusions rest on.
    design_effect
        Variance of the mean accuracy over what it were without clusters and strata.
    headline
        The answer to the research question in one or two sentences: whether conclusions about
        labels survive, and whether a ranking is defensible.
    answer
        Three texts: order of labels, accuracy, which questions are right; then the remarks.
    answers
        The same three with their verdicts apart.
    remarks
        What else must be known, as sentences.
    numbers
        The numbers in the answers.
    conclusions
        All of them but those of pairs of labels that are not decided.
    tallies
        How many came out how, by family.
    total
        The same, all families together.
    claims
        Statements of the preprint.
    """

    model: str
    rankable: bool
    labels: int
    configurations: int
    questions: int
    clusters: int
    design_effect: Figure
    headline: str
    answer: tuple[str, ...]
    answers: tuple[Answered, ...]
    remarks: tuple[str, ...]
    numbers: AnswerNumbers
    conclusions: tuple[Conclusion, ...]
    tallies: tuple[Tally, ...]
    total: Counts
    claims: tuple[Claimed, ...]

    def of(self, family: Family) -> tuple[Conclusion, ...]:
        """The conclusions of one family."""
        return tuple(c for c in self.conclusions if c.family == family)


@dataclass(frozen=True, slots=True)
class Findings(Result):
    """Which conclusions of a study survive a change of configuration, and which do not.

    Parameters
    ----------
    models
        One part for each model.
    between_models
        Conclusions about pairs of models; a family of tests of its own.
    alpha
        Chance that any robust or established conclusion about one model is false.
    """

    models: tuple[ModelFindings, ...]
    between_models: tuple[Conclusion, ...]
    alpha: float = ALPHA
    kind: Literal["findings"] = "findings"

    @property
    def conclusions(self) -> tuple[Conclusion, ...]:
        """All conclusions, model by model, those between models last."""
        return tuple(c for m in self.models for c in m.conclusions) + self.between_models

    @property
    def sentences(self) -> tuple[str, ...]:
        """The answer to the research question, model by model."""
        return tuple(f"{m.model}: {said}" for m in self.models for said in (m.headline, *m.answer))

    def of(self, model: str) -> ModelFindings:
        """The findings about one model."""
        return next(m for m in self.models if m.model == model)

    def __str__(self) -> str:
        parts = []
        for m in self.models:
            counts = {
                name: getattr(m.total, name)
                for name in ("robust", "established", "fragile", "undecided", "not_rankable")
            }
            said = ", ".join(f"{n} {name.replace('_', ' ')}" for name, n in counts.items() if n)
            parts.append(f"{m.model}: {said or 'nothing to conclude'}")
        return "; ".join(parts)

    def to_dataframe(self) -> pl.DataFrame:
        """One row for each conclusion; what is undefined is null."""
        import polars as pl

        numbers = (
            *("estimate", "low", "high", "typical", "typical_low", "typical_high"),
            *("same_way", "share", "held_out", "p", "p_fragile", "needed"),
        )
        rows: list[dict[str, Any]] = []
        for c in self.conclusions:
            record: dict[str, Any] = {
                name: getattr(c, name)
                for name in Conclusion.__dataclass_fields__
                if name not in (*numbers, "exceptions")
            }
            for name in numbers:
                figure: Figure = getattr(c, name)
                record[name] = figure.value if figure.defined else None
            record["exceptions"] = [e.configuration for e in c.exceptions]
            record["sentence"] = c.sentence
            rows.append(record)
        types: dict[str, Any] = dict.fromkeys(numbers, pl.Float64)
        types["exceptions"] = pl.List(pl.String)
        return pl.DataFrame(rows, schema_overrides=types, infer_schema_length=None)
