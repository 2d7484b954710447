"""Oddities of single texts: white space, invisible characters, characters that break templates."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from nongrata.questions.checks.report import Finding, Severity, Unit
from nongrata.questions.model import Question

TEMPLATE_CHARACTERS = {
    "{": "brace",
    "$": "dollar",
    "%": "percent",
    "|": "bar",
    "\\": "backslash",
    '"': "double_quote",
    "<": "less_than",
    ">": "greater_than",
    "`": "backtick",
}
_C0 = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_C1 = re.compile("[\x80-\x9f]")
_BIDI = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_BLANK_LINE = re.compile(r"\n[ \t]*\n")
_ASKS = re.compile(r"\?[\s\"'\u201d\u2019)\]]*$")
_FORMULA = ("=", "+", "-", "@")
OPENING_SHARE = 0.95
"""A source asks in one form if this share of its questions contains the same opening words."""


def cells(question: Question) -> tuple[str, ...]:
    """Return the texts a model may be shown: context, question, choices."""
    return question.context, question.question, *question.choices


def text_findings(questions: Sequence[Question]) -> Iterable[Finding]:
    """Yield what is odd about single texts.

    Parameters
    ----------
    questions
        The questions.

    Examples
    --------
    >>> q = Question("a", "own", "IBS ", ("x", "=1"), 0)
    >>> [f.code for f in text_findings([q])]
    ['formula_cells', 'question_edge_whitespace']
    """
    for code, title, unit, severity, why, counter in _RULES:
        yield from _count(questions, code, title, unit, severity, why, counter)
    for character, name in TEMPLATE_CHARACTERS.items():
        yield from _count(
            questions,
            f"template_{name}",
            f"texts with {character}",
            "questions",
            "note",
            "templates, Markdown and spreadsheets may interpret it",
            lambda q, c=character: any(c in cell for cell in cells(q)),  # type: ignore[misc]
        )
    yield from _unasked(questions)


def _count(
    questions: Sequence[Question],
    code: str,
    title: str,
    unit: Unit,
    severity: Severity,
    why: str,
    counter: Callable[[Question], int],
) -> Iterable[Finding]:
    counts = [(q.id, int(counter(q))) for q in questions]
    ids = tuple(identity for identity, n in counts if n)
    if ids:
        yield Finding(code, title, severity, unit, sum(n for _, n in counts), ids, why)


def _has(pattern: re.Pattern[str]) -> Callable[[Question], int]:
    return lambda q: any(pattern.search(cell) for cell in cells(q))


def _contains(part: str) -> Callable[[Question], int]:
    return lambda q: any(part in cell for cell in cells(q))


_RULES: tuple[tuple[str, str, Unit, Severity, str, Callable[[Question], int]], ...] = (
    (
        "c0_controls",
        "control characters (C0)",
        "questions",
        "warning",
        "terminals act on them; some engines cut the text there",
        _has(_C0),
    ),
    (
        "c1_controls",
        "control characters (C1)",
        "questions",
        "warning",
        "mostly what is left of wrongly decoded quotes and dashes",
        _has(_C1),
    ),
    (
        "bidi_controls",
        "bidirectional controls",
        "questions",
        "warning",
        "they can make a text read differently from what is sent",
        _has(_BIDI),
    ),
    (
        "byte_order_marks",
        "U+FEFF inside a text",
        "questions",
        "note",
        "invisible, but a token of its own",
        _contains("\ufeff"),
    ),
    (
        "next_lines",
        "U+0085 inside a text",
        "questions",
        "note",
        "str.splitlines() breaks JSON Lines there",
        _contains("\x85"),
    ),
    (
        "carriage_returns",
        "carriage returns",
        "questions",
        "note",
        "CSV readers may end the row there",
        _contains("\r"),
    ),
    ("tabs", "tabs", "questions", "note", "tokenized differently from spaces", _contains("\t")),
    (
        "no_break_spaces",
        "no-break spaces (U+00A0)",
        "characters",
        "note",
        "look like spaces and are tokenized differently",
        lambda q: sum(cell.count("\xa0") for cell in cells(q)),
    ),
    (
        "non_ascii",
        "texts beyond ASCII",
        "questions",
        "note",
        "survive only where every step is UTF-8",
        lambda q: not all(cell.isascii() for cell in cells(q)),
    ),
    (
        "formula_cells",
        "texts that begin with =, +, - or @",
        "cells",
        "note",
        "a spreadsheet takes them for formulas",
        lambda q: sum(cell.startswith(_FORMULA) for cell in cells(q)),
    ),
    (
        "question_edge_whitespace",
        "questions that begin or end with white space",
        "questions",
        "note",
        "changes the tokens around it",
        lambda q: q.question != q.question.strip(),
    ),
    (
        "choice_edge_whitespace",
        "choices that begin or end with white space",
        "choices",
        "note",
        "an answer given as text may not match",
        lambda q: sum(choice != choice.strip() for choice in q.choices),
    ),
    (
        "context_edge_whitespace",
        "contexts that begin or end with white space",
        "questions",
        "note",
        "changes the tokens around it",
        lambda q: q.context != q.context.strip(),
    ),
    (
        "question_final_newline",
        "questions that end with a newline",
        "questions",
        "note",
        "leaves a blank line before the choices",
        lambda q: q.question.endswith("\n"),
    ),
    (
        "question_newlines",
        "questions with a newline",
        "questions",
        "note",
        "formats that show a question on one line change it",
        lambda q: "\n" in q.question,
    ),
    (
        "choice_newlines",
        "choices with a newline",
        "choices",
        "note",
        "one choice looks like several lines",
        lambda q: sum("\n" in choice for choice in q.choices),
    ),
    (
        "blank_lines",
        "texts with a blank line",
        "questions",
        "note",
        "a prompt that separates its parts by blank lines seems to have one more",
        _has(_BLANK_LINE),
    ),
    (
        "double_spaces",
        "texts with two spaces in a row",
        "cells",
        "note",
        "tokenized differently from one",
        lambda q: sum("  " in cell for cell in cells(q)),
    ),
    (
        "lower_case_contexts",
        "contexts that begin in lower case",
        "questions",
        "note",
        "they seem cut off",
        lambda q: q.context[:1].islower(),
    ),
    (
        "fill_in_blanks",
        "questions with a blank to fill in (___)",
        "questions",
        "note",
        "they are completed, not answered",
        lambda q: "___" in q.question,
    ),
)


def _unasked(questions: Sequence[Question]) -> Iterable[Finding]:
    by_source: dict[str, list[Question]] = {}
    for question in questions:
        by_source.setdefault(question.source, []).append(question)
    silent: list[str] = []
    unusual: list[str] = []
    for members in by_source.values():
        asking = [q for q in members if _ASKS.search(q.question)]
        if len(asking) < OPENING_SHARE * len(members):
            continue  # stems that are completed rather than asked are this source's habit
        silent += [q.id for q in members if not _ASKS.search(q.question)]
        opening = _common_opening(members)
        if opening is not None:
            unusual += [q.id for q in asking if opening not in q.question]
    if silent:
        yield Finding(
            "no_question",
            "texts that do not end with a question, in a source that asks",
            "warning",
            "questions",
            len(silent),
            tuple(silent),
            "there is nothing to answer",
        )
    if unusual:
        yield Finding(
            "unusual_question_form",
            "questions not in the form of their source",
            "note",
            "questions",
            len(unusual),
            tuple(unusual),
            "they may be read differently",
        )


def _common_opening(questions: Sequence[Question]) -> str | None:
    counts: dict[str, int] = {}
    for question in questions:
        last = re.split(r"(?<=[.!?])\s+", question.question.rstrip())[-1]
        opening = " ".join(last.split()[:2])
        counts[opening] = counts.get(opening, 0) + 1
    if len(questions) < 20:
        return None
    best = max(counts, key=lambda opening: counts[opening])
    return best if counts[best] >= OPENING_SHARE * len(questions) else None
