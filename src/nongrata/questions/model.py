"""A question and a set of questions: the form every loader produces."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, overload

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, slots=True)
class Question:
    """One multiple-choice question; every text is kept byte for byte.

    Parameters
    ----------
    id
        Stable identity, unique in a set: ``"mmlu/anatomy/17"``.
    source
        The data set it comes from; also the stratum of a composite.
    question
        The question as asked.
    choices
        The option texts, in the source's order. Position in this tuple is a choice's *identity*;
        the order in which options are shown is the study's business.
    answer
        Index into `choices` of the right option.
    context
        Text shown before the question: a passage, a country, a rule of thumb. May be empty.
    subject
        The source's own grouping, such as an MMLU subject or a country.
    domain
        The field it is reported under, from the published domain mapping.
    cluster
        Identity of the set of questions it is not independent of: exact duplicates share one.
        A question on its own is its own cluster.
    fields
        Further columns of the source, as text, by name.

    Examples
    --------
    >>> q = Question("own/1", "own", "What is 2 + 2?", ("3", "4"), 1)
    >>> q.cluster
    'own/1'
    """

    id: str
    source: str
    question: str
    choices: tuple[str, ...]
    answer: int
    context: str = ""
    subject: str = ""
    domain: str = ""
    cluster: str = ""
    fields: tuple[tuple[str, str], ...] = field(default=())

    def __post_init__(self) -> None:
        if not self.cluster:
            object.__setattr__(self, "cluster", self.id)

    def digest(self) -> bytes:
        """128-bit BLAKE2b hash of what a model can be shown: context, question, choices.

        The right answer, the identity and the grouping are not sent, so they are not part of it.
        """
        shown = json.dumps([self.context, self.question, self.choices], ensure_ascii=True)
        return hashlib.blake2b(shown.encode(), digest_size=16).digest()

    def field_text(self, name: str) -> str | None:
        """Text of a further column of the source, if it has one of that name.

        Examples
        --------
        >>> q = Question("a", "own", "1 + 1?", ("1", "2"), 1, fields=(("split", "test"),))
        >>> q.field_text("split")
        'test'
        """
        return next((value for key, value in self.fields if key == name), None)


@dataclass(frozen=True, slots=True)
class QuestionSet(Sequence[Question]):
    """Questions in a stated order, with a hash that names exactly this content.

    Parameters
    ----------
    questions
        The questions; their ids must be unique.
    notes
        What a reader of these questions should know about how they were loaded. Not part of
        their identity.

    Examples
    --------
    >>> s = QuestionSet((Question("a", "own", "1 + 1?", ("1", "2"), 1),))
    >>> len(s), s[0].id, len(s.sha256())
    (1, 'a', 64)
    """

    questions: tuple[Question, ...]
    notes: tuple[str, ...] = field(default=(), compare=False)

    @overload
    def __getitem__(self, index: int) -> Question: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Question, ...]: ...
    def __getitem__(self, index: int | slice) -> Question | tuple[Question, ...]:
        return self.questions[index]

    def __len__(self) -> int:
        return len(self.questions)

    def __iter__(self) -> Iterator[Question]:
        return iter(self.questions)

    def sha256(self) -> str:
        """SHA-256 over ids, texts, right answers and clusters, in order, as hexadecimal."""
        digest = hashlib.sha256()
        for q in self.questions:
            row = [q.id, q.source, q.context, q.question, q.choices, q.answer, q.cluster]
            digest.update(json.dumps(row, ensure_ascii=True).encode() + b"\n")
        return digest.hexdigest()

    def to_frame(self) -> pl.DataFrame:
        """Return one row per question, all columns, as a polars data frame.

        Examples
        --------
        >>> s = QuestionSet((Question("a", "own", "1 + 1?", ("1", "2"), 1),))
        >>> s.to_frame()["answer"].item()
        1
        """
        from nongrata.questions.storage import questions_to_frame

        return questions_to_frame(self)
