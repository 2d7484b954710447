"""Oddities between questions: duplicates, contradictions, order, balance, lengths, domains."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from nongrata.questions.checks.report import ClassOrder, Finding, Lengths, Severity, Unit
from nongrata.questions.clusters import duplicate_groups
from nongrata.questions.domains import OTHER
from nongrata.questions.model import Question

Groups = Sequence[Sequence[Question]]


def structure_findings(questions: Sequence[Question]) -> Iterable[Finding]:
    """Yield what is odd between questions.

    Parameters
    ----------
    questions
        The questions, with domains assigned.

    Examples
    --------
    >>> a = Question("a", "own", "1 + 1?", ("1", "2"), 1, domain="mathematics")
    >>> b = Question("b", "own", "1 + 1?", ("1", "2"), 0, domain="mathematics")
    >>> [f.code for f in structure_findings([a, b])]
    ['conflicting_answers', 'duplicates', 'shared_questions']
    """
    duplicates = duplicate_groups(questions)
    conflicting = [group for group in duplicates if len({q.choices[q.answer] for q in group}) > 1]
    reordered = [group for group in duplicates if len({q.choices for q in group}) > 1]
    yield from _grouped(
        "conflicting_answers",
        "exact duplicates with different right answers",
        "error",
        conflicting,
        "at most one of them can be right",
    )
    yield from _grouped(
        "duplicates",
        "exact duplicates",
        "warning",
        duplicates,
        "not independent; they share a cluster, and standard errors count it once",
    )
    yield from _grouped(
        "reordered_duplicates",
        "duplicates with their choices in another order",
        "note",
        reordered,
        "a comparison row by row does not find them",
    )
    yield from _grouped(
        "shared_questions",
        "question texts that several questions share",
        "note",
        _same(questions, lambda q: q.question),
        "the question's text is no key",
    )
    yield from _grouped(
        "shared_contexts",
        "contexts that several questions share",
        "note",
        _same([q for q in questions if q.context], lambda q: q.context),
        "questions about one passage are not independent; declare 'cluster' to treat them so",
    )
    unmapped = [q for q in questions if q.domain in ("", OTHER)]
    if unmapped:
        subjects = sorted({(q.source, q.subject) for q in unmapped})
        named = ", ".join(f"{source}/{subject}" for source, subject in subjects[:5])
        yield Finding(
            "unmapped_domains",
            "subjects that the domain mapping does not know",
            "note",
            "subjects",
            len(subjects),
            tuple(q.id for q in unmapped),
            f"reported under '{OTHER}': {named}{', ...' if len(subjects) > 5 else ''}",
        )


def _same(questions: Sequence[Question], key: Callable[[Question], str]) -> Groups:
    groups: dict[str, list[Question]] = {}
    for question in questions:
        groups.setdefault(key(question), []).append(question)
    return [group for group in groups.values() if len(group) > 1]


def _grouped(
    code: str, title: str, severity: Severity, groups: Groups, why: str
) -> Iterable[Finding]:
    unit: Unit = "groups"
    if groups:
        ids = tuple(tuple(q.id for q in group) for group in groups)
        flat = tuple(identity for group in ids for identity in group)
        yield Finding(code, title, severity, unit, len(groups), flat, why, ids)


def by_source(questions: Sequence[Question]) -> dict[str, list[Question]]:
    """Return the questions of each source, in order.

    Examples
    --------
    >>> q = Question("a", "own", "1 + 1?", ("1", "2"), 1)
    >>> list(by_source([q]))
    ['own']
    """
    found: dict[str, list[Question]] = {}
    for question in questions:
        found.setdefault(question.source, []).append(question)
    return found


def class_order(source: str, questions: Sequence[Question]) -> ClassOrder:
    r"""Count the runs of equal right answers, against a random order of the same answers.

    With :math:`n_k` questions of class k among n, the number of runs in a random order has mean
    :math:`1 + (n^2 - S_2)/n` and variance
    :math:`[S_2 (S_2 + n^2 + n) - 2 n S_3 - n^3] / [n^2 (n - 1)]`, where
    :math:`S_j = \sum_k n_k^j`.

    Parameters
    ----------
    source
        Name of the source.
    questions
        Its questions, in the order of the file.

    References
    ----------
    Barton, D. E., & David, F. N. (1957). Multiple runs. *Biometrika*, 44, 168-178.

    Examples
    --------
    >>> qs = [Question(str(i), "s", "?", ("a", "b"), int(i >= 5)) for i in range(10)]
    >>> order = class_order("s", qs)
    >>> order.runs, order.expected
    (2, 6.0)
    """
    answers = [q.answer for q in questions]
    counts = Counter(answers)
    n = len(answers)
    runs = 1 + sum(a != b for a, b in itertools.pairwise(answers))
    second = sum(c**2 for c in counts.values())
    third = sum(c**3 for c in counts.values())
    expected = 1 + (n * n - second) / n
    variance = (
        (second * (second + n * n + n) - 2 * n * third - n**3) / (n * n * (n - 1)) if n > 1 else 0.0
    )
    z = (runs - expected) / math.sqrt(variance) if variance > 0 else 0.0
    return ClassOrder(
        source, runs, expected, z, tuple(sorted((answer + 1, c) for answer, c in counts.items()))
    )


def class_findings(orders: Iterable[ClassOrder]) -> Iterable[Finding]:
    """Yield a finding for the sources whose rows are grouped by right answer."""
    grouped = [order for order in orders if order.grouped]
    if grouped:
        names = "; ".join(
            f"{o.source}: {o.runs:,} runs, {o.expected:,.0f} expected" for o in grouped
        )
        yield Finding(
            "class_order",
            "sources whose rows are grouped by right answer",
            "warning",
            "sources",
            len(grouped),
            (),
            f"the head of the file is no sample of it ({names}); draw with 'take'",
        )


def lengths(source: str, questions: Sequence[Question]) -> Lengths:
    """Return the extremes of length in one source.

    Examples
    --------
    >>> lengths("own", [Question("a", "own", "1 + 1?", ("1", "22"), 1)]).largest
    9
    """
    totals = sorted(len(q.context) + len(q.question) + sum(map(len, q.choices)) for q in questions)
    stems = [(len(q.question), q.id) for q in questions]
    return Lengths(
        source=source,
        shortest_question=min(stems),
        longest_question=max(stems),
        longest_choice=max((len(choice), q.id) for q in questions for choice in q.choices),
        median=totals[len(totals) // 2],
        p99=totals[int(0.99 * len(totals))],
        largest=totals[-1],
    )
