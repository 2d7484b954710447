"""Where a declaration stands: whether its clause denies it, supposes it, or quotes it."""

from __future__ import annotations

import re
from typing import Literal

Denied = Literal["negated", "hypothetical"]
"""Why a declaration is none."""

_WINDOW = 90
_CONJUNCTIONS = (" but ", " so ", " therefore ", " thus ", " hence ", " because ")
_SUSPECTS = frozenset(
    {
        *("not", "never", "no", "neither", "nor", "cannot", "wrong", "incorrect", "worst", "least"),
        *("hardly", "almost", "nearly", "doubt", "unlikely", "other", "previous", "tempting"),
        *("if", "whether", "unless", "suppose", "supposing", "assume", "assuming", "might", "may"),
        *("could", "some", "others", "many", "people", "someone", "they", "one", "write", "format"),
        *("respond", "reply", "end", "(not", "(if"),
    }
)
"""Words without one of which (or "n't") a clause need not be looked at more closely."""

_NEGATION = re.compile(
    r"n't\b|\b(?:not(?! only)|never|no(?! doubt| question|\.)|neither|nor|cannot|wrong|incorrect"
    r"|worst|least|hardly|almost|nearly|(?<!no )(?<!without )(?<!without a )doubt|unlikely"
    r"|other than|other|previous|tempting)\b"
)
_SUPPOSITION = re.compile(
    r"\b(?:if|whether|unless|suppose|supposing|assume|assuming|might|may|could"
    r"|(?:some|others|many|people|someone|they|one) (?:\w+ )?(?:say|says|think|thinks|argue|claim)"
    r"|write|format|respond with|reply with|end with)\b"
)
_EXAMPLES = ("for example", "for instance", "e.g.", "example of", "in the format")


def clause_before(low: str, pos: int) -> str:
    """The part of the clause that stands before a position.

    Examples
    --------
    >>> clause_before("not sure, but the answer is b", 18)
    'the '
    """
    start = max(0, pos - _WINDOW)
    start = max(start, *(low.rfind(mark, start, pos) + 1 for mark in ".!?;:,\n"))
    clause = low[start:pos]
    for word in _CONJUNCTIONS:
        if word in clause:
            clause = clause.rpartition(word)[2]
    return clause


def denial(low: str, start: int, end: int) -> Denied | None:
    """Why what is declared from `start` to `end` is not declared; None if it is.

    Examples
    --------
    >>> denial("i don't think the answer is b", 18, 29)
    'negated'
    >>> denial("if the answer is b", 7, 18)
    'hypothetical'
    """
    clause = clause_before(low, start)
    if "n't" in clause or not _SUSPECTS.isdisjoint(clause.split()):
        if _NEGATION.search(clause.rpartition(" and ")[2]):
            return "negated"
        if _SUPPOSITION.search(clause):
            return "hypothetical"
    if low.startswith("?", end):
        return "hypothetical"
    window = low[max(0, start - _WINDOW) : start]
    for example in _EXAMPLES:
        at = window.rfind(example)
        if at >= 0 and not any(mark in window[at + len(example) :] for mark in (". ", "! ", "\n")):
            return "hypothetical"
    return None
