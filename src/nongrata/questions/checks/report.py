"""What a check of a question set found: typed, frozen, and the same for every reader of it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import polars as pl

Severity = Literal["error", "warning", "note"]
Unit = Literal[
    "questions", "choices", "cells", "groups", "characters", "subjects", "endings", "sources"
]


@dataclass(frozen=True, slots=True)
class Finding:
    """One kind of oddity, and where it occurs.

    Parameters
    ----------
    code
        Stable name: ``"conflicting_answers"``.
    title
        What it is, in words.
    severity
        ``error``: an answer cannot be right or told; ``warning``: it can bias or break a study;
        ``note``: worth knowing.
    unit
        What `count` counts.
    count
        How many there are.
    ids
        Every question concerned, in the order of the set.
    why
        What it does to a study.
    groups
        Where questions go together: their ids by group.
    """

    code: str
    title: str
    severity: Severity
    unit: Unit
    count: int
    ids: tuple[str, ...]
    why: str
    groups: tuple[tuple[str, ...], ...] = ()

    def __str__(self) -> str:
        return f"{self.title}: {self.count:,} {self.unit}"


@dataclass(frozen=True, slots=True)
class Ending:
    """A group of questions that end alike, and how their right answers are distributed.

    Parameters
    ----------
    source
        The source.
    text
        The final words they share.
    unless
        Longer endings that are reported on their own, and are not part of this group.
    n
        Number of questions.
    counts
        Label -> how many of the questions have it as the right one, in the order of `labels`.
    label
        The label most over- or under-represented.
    share, base
        Its share in this group and in all questions of the source.
    lift
        ``share / base``.
    p
        Two-sided hypergeometric p-value, corrected (Bonferroni) for labels and endings tried.
    """

    source: str
    text: str
    unless: tuple[str, ...]
    n: int
    counts: tuple[tuple[str, int], ...]
    label: str
    share: float
    base: float
    lift: float
    p: float

    def __str__(self) -> str:
        counts = ", ".join(f"{label} {n:,}" for label, n in self.counts if n)
        unless = "".join(f", not '… {text}'" for text in self.unless)
        p = f"p = {self.p:.1g}" if self.p > 1e-300 else "p < 1e-300"
        return f"'… {self.text}'{unless}: {counts} ({self.label}: lift {self.lift:.2f}, {p})"


@dataclass(frozen=True, slots=True)
class WordingLeak:
    """How far the ending of a question alone gives its answer away, in one source.

    Parameters
    ----------
    source
        The source.
    labels
        ``text`` where all its questions have the same choices, else ``position``.
    n
        Number of questions.
    endings
        The endings whose answers differ from the rest's, largest group first.
    guess
        Share of questions answered right by the commonest answer of their ending, learnt on one
        half of the questions and tried on the other, both ways.
    constant
        The same for one answer given to all questions.
    """

    source: str
    labels: Literal["text", "position"]
    n: int
    endings: tuple[Ending, ...]
    guess: float
    constant: float

    def __str__(self) -> str:
        return (
            f"{self.source}: guessing by the last words alone is right for {self.guess:.1%}; "
            f"one constant answer, for {self.constant:.1%}"
        )


@dataclass(frozen=True, slots=True)
class ClassOrder:
    """Whether rows with the same right answer stand together.

    Parameters
    ----------
    source
        The source.
    runs
        Number of runs of equal right answers in the order of the file.
    expected
        The number expected in a random order with the same answers.
    z
        ``(runs - expected) / sd``: far below 0 means grouped.
    counts
        Position of the right answer (from 1) -> number of questions.
    """

    source: str
    runs: int
    expected: float
    z: float
    counts: tuple[tuple[int, int], ...]

    @property
    def grouped(self) -> bool:
        """Whether a head of the file is no sample of it."""
        return self.z < -5 and self.runs < 0.8 * self.expected

    def __str__(self) -> str:
        counts = ", ".join(f"{position}: {n:,}" for position, n in self.counts)
        return (
            f"{self.source}: right answers at {counts}; {self.runs:,} runs in the order of the "
            f"file, {self.expected:,.0f} expected in a random order"
        )


@dataclass(frozen=True, slots=True)
class Lengths:
    """Extremes of length in one source, in characters.

    Parameters
    ----------
    source
        The source.
    shortest_question, longest_question, longest_choice
        Length and id.
    median, p99, largest
        Of context, question and choices together.
    """

    source: str
    shortest_question: tuple[int, str]
    longest_question: tuple[int, str]
    longest_choice: tuple[int, str]
    median: int
    p99: int
    largest: int

    def __str__(self) -> str:
        (least, least_id), (most, most_id) = self.shortest_question, self.longest_question
        return (
            f"{self.source}: questions of {least:,} ({least_id}) to {most:,} characters "
            f"({most_id}); with context and choices, median {self.median:,}, largest "
            f"{self.largest:,}"
        )


@dataclass(frozen=True, slots=True)
class QuestionsReport:
    """Everything a check found.

    Parameters
    ----------
    n, sha256
        Size and hash of the set.
    sources
        Source -> number of questions.
    domains
        Domain -> number of questions.
    choice_counts
        Number of choices -> number of questions.
    findings
        The oddities that occur, gravest first.
    leaks, order, lengths
        By source.
    notes
        Remarks of the loaders.
    """

    n: int
    sha256: str
    sources: tuple[tuple[str, int], ...]
    domains: tuple[tuple[str, int], ...]
    choice_counts: tuple[tuple[int, int], ...]
    findings: tuple[Finding, ...]
    leaks: tuple[WordingLeak, ...]
    order: tuple[ClassOrder, ...]
    lengths: tuple[Lengths, ...]
    notes: tuple[str, ...] = ()
    kind: Literal["questions_report"] = "questions_report"

    def __str__(self) -> str:
        grave = sum(finding.severity == "error" for finding in self.findings)
        return f"{self.n:,} questions, {len(self.findings)} kinds of oddity, {grave} of them grave"

    def finding(self, code: str) -> Finding | None:
        """Return the finding of that name, or None where the oddity does not occur."""
        return next((finding for finding in self.findings if finding.code == code), None)

    def to_dataframe(self) -> pl.DataFrame:
        """Return one row per finding."""
        import polars as pl

        columns = ("code", "title", "severity", "unit", "count", "why")
        return pl.DataFrame(
            {name: [getattr(finding, name) for finding in self.findings] for name in columns}
            | {"ids": [list(finding.ids) for finding in self.findings]},
            schema_overrides={"count": pl.Int64, "ids": pl.List(pl.String)},
        )

    def to_json(self) -> str:
        """Return everything as JSON text."""
        return json.dumps(asdict(self), ensure_ascii=True, indent=2)
