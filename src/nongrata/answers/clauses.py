"""Where a declaration stands: whether its clause denies it, supposes it, or quotes it."""

from __future__ import annotations

import re
from typing import Literal

Denied = Literal["negated", "hypothetical"]
"""Why a declaration is none."""

_WINDOW = 90
_CLAUSE_STARTS = re.compile(r"[.!?;:,\n](?!\d)|\b(?:but|so|therefore|thus|hence|because)\b")
_SENTENCE_STARTS = re.compile(r"[.!?\n](?!\w)")
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
_EXAMPLE = re.compile(r"\b(?:for example|for instance|e\.g\.|example of|in the format)")


def clause_before(low: str, pos: int) -> str:
    """The part of the clause that stands before a position.

    Examples
    --------
    >>> clause_before("not sure, but the answer is b", 14)
    ' '
    """
    window = low[max(0, pos - _WINDOW) : pos]
    start = 0
    for mark in _CLAUSE_STARTS.finditer(window):
        start = mark.end()
    return window[start:]


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
    if _NEGATION.search(clause.rpartition(" and ")[2]):
        return "negated"
    if _SUPPOSITION.search(clause):
        return "hypothetical"
    window = low[max(0, start - _WINDOW) : start]
    sentence = 0
    for mark in _SENTENCE_STARTS.finditer(window):
        sentence = mark.end()
    if _EXAMPLE.search(window, sentence):
        return "hypothetical"
    return "hypothetical" if low.startswith("?", end) else None
