"""Statements that the preprint is reported to make, checked against conclusions."""

from __future__ import annotations

from collections.abc import Sequence

from nongrata.conclusions.model import Claimed, Conclusion

TASK_FORMAT = "task_format"
SENSITIVE = ("mathematics", "social_reasoning")


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
    out += [_extreme(conclusions, which) for which in ("best", "worst")]
    return tuple(out)


def _task_format(conclusions: Sequence[Conclusion], factors: Sequence[str]) -> Claimed:
    statement = "the task format is the most influential factor"
    if TASK_FORMAT not in factors:
        return Claimed(statement, "not checkable", f"no factor is called {TASK_FORMAT}")
    orders = [c for c in conclusions if c.family == "orders"]
    about = [
        c for c in orders if TASK_FORMAT in (c.subject, c.rival) and c.statement.startswith(
            f"{c.subject} moves accuracy more than "
        )
    ]  # fmt: skip
    if not about:
        return Claimed(statement, "not checkable", "no other factor is varied")
    worse = [c for c in about if c.verdict == "shown" and c.rival == TASK_FORMAT]
    if worse:
        return Claimed(statement, "contradicted", worse[0].statement)
    if all(c.verdict == "shown" for c in about):
        return Claimed(statement, "confirmed", "it moves accuracy more than every other factor")
    open_ = next(c for c in about if c.verdict != "shown")
    return Claimed(statement, "undecided", f"not shown that {open_.statement}")


def _domain(conclusions: Sequence[Conclusion], name: str, domains: Sequence[str]) -> Claimed:
    statement = f"{name.replace('_', ' ')} questions are more sensitive than others"
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
    if found.verdict != "shown":
        return Claimed(statement, "undecided", f"not shown that {found.statement}")
    status = "confirmed" if found.subject == name else "contradicted"
    return Claimed(statement, "confirmed" if status == "confirmed" else "contradicted",
                   found.statement)  # fmt: skip


def _extreme(conclusions: Sequence[Conclusion], which: str) -> Claimed:
    statement = f"the {which} label changes with the configuration"
    word = "most" if which == "best" else "least"
    about = [
        c for c in conclusions
        if c.family == "extremes" and c.statement.endswith(f" {word} accurately of all labels")
    ]  # fmt: skip
    if not about:
        return Claimed(statement, "not checkable", "it takes two labels")
    found = about[0]
    if found.verdict == "fragile":
        return Claimed(statement, "confirmed", "another label is shown to be there in some")
    if found.verdict == "robust":
        return Claimed(statement, "contradicted", f"it is {found.subject} in nearly all")
    if found.verdict == "not rankable":
        return Claimed(statement, "undecided", "nothing can be ranked")
    return Claimed(statement, "undecided", "observed changes may be noise")
