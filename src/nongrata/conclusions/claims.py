"""Statements that the preprint is reported to make, checked against conclusions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from nongrata.conclusions.model import Claimed, Conclusion
from nongrata.wording import say

TASK_FORMAT = "task_format"
SENSITIVE = ("mathematics", "social_reasoning")

MOST_INFLUENTIAL = "the task format is the most influential factor"
MORE_SENSITIVE = {
    "mathematics": "mathematics questions are more sensitive than others",
    "social_reasoning": "social reasoning questions are more sensitive than others",
}
CHANGES = {
    "best": "the best label changes with the configuration",
    "worst": "the worst label changes with the configuration",
}


def claims(
    conclusions: Sequence[Conclusion], factors: Sequence[str], domains: Sequence[str]
) -> tuple[Claimed, ...]:
    """What this study says of statements that the preprint is reported to make.

    Parameters
    ----------
    conclusions
        Those about one model.
    factors, domains
        Names in the study.
    """
    out = [_task_format(conclusions, factors)]
    out += [_domain(conclusions, name, domains) for name in SENSITIVE]
    extremes = [c for c in conclusions if c.family == "extremes"]
    out += [_extreme(extremes[:1], "best"), _extreme(extremes[1:], "worst")]
    return tuple(out)


def _task_format(conclusions: Sequence[Conclusion], factors: Sequence[str]) -> Claimed:
    statement = MOST_INFLUENTIAL
    if TASK_FORMAT not in factors:
        return Claimed(
            statement, "not checkable", say("no factor is called {factor}", factor=TASK_FORMAT)
        )
    about = [
        c
        for c in conclusions
        if c.family == "orders"
        and c.metric == "squared difference of accuracy"
        and TASK_FORMAT in (c.subject, c.rival)
        and {c.subject, c.rival} <= set(factors)
    ]
    if not about:
        return Claimed(statement, "not checkable", "no other factor is varied")
    worse = [c for c in about if c.verdict == "established" and c.rival == TASK_FORMAT]
    if worse:
        return Claimed(statement, "contradicted", worse[0].statement)
    if all(c.verdict == "established" for c in about):
        return Claimed(statement, "confirmed", "it moves accuracy more than every other factor")
    open_ = next(c for c in about if c.verdict != "established")
    return Claimed(statement, "undecided", _not_established(open_))


def _domain(conclusions: Sequence[Conclusion], name: str, domains: Sequence[str]) -> Claimed:
    statement = MORE_SENSITIVE[name]
    about = [
        c
        for c in conclusions
        if c.family == "orders"
        and name in (c.subject, c.rival)
        and c.metric == "squared difference of accuracy"
    ]
    if name not in domains or not about:
        return Claimed(statement, "not checkable", "the study has no such domain beside others")
    found = about[0]
    if found.verdict != "established":
        return Claimed(statement, "undecided", _not_established(found))
    status: Literal["confirmed", "contradicted"] = (
        "confirmed" if found.subject == name else "contradicted"
    )
    return Claimed(statement, status, found.statement)


def _not_established(c: Conclusion) -> str:
    return say("not established that {statement}", statement=c.statement)


def _extreme(about: Sequence[Conclusion], which: str) -> Claimed:
    statement = CHANGES[which]
    if not about:
        return Claimed(statement, "not checkable", "it takes two labels")
    found = about[0]
    if found.verdict == "fragile":
        return Claimed(
            statement,
            "confirmed",
            "another label is established to take its place in some configurations",
        )
    if found.verdict == "robust":
        why = say("it is {label} in nearly all configurations", label=found.subject)
        return Claimed(statement, "contradicted", why)
    if found.verdict == "not rankable":
        return Claimed(statement, "undecided", "nothing can be ranked")
    return Claimed(statement, "undecided", "observed changes may be noise")
