"""Conclusions before their p values are adjusted for one another, and what makes them final."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from nongrata.conclusions.model import ALPHA, Conclusion, Except, Family, Metric, Verdict
from nongrata.stats.accuracy import Floats
from nongrata.stats.figure import Figure
from nongrata.stats.verdicts import questions_needed
from nongrata.stats.weighted_holm import family_weights, weighted_holm
from nongrata.wording import say

ALONE = 0.025
"""One-sided level at which a configuration supports a conclusion by itself."""

HOPELESS = 50
"""How many times as many questions are no advice any more."""

NOTHING_VARIED = "one configuration, so nothing was varied"


@dataclass(frozen=True)
class Draft:
    """A conclusion with unadjusted p values, and its differences configuration by configuration.

    Parameters
    ----------
    claim
        What it is if its p value is small: ``"robust"`` or ``"established"``.
    p, p_fragile
        Unadjusted; ``nan`` where there is no such test.
    by_configuration
        Differences in the direction of the conclusion, in its unit, shape (K,).
    p_here, p_opposite
        One-sided p values in each configuration, shape (K,).
    names
        Names of the configurations.
    allowed
        Whether it may be ranked at all.
    reason
        Why there is no test, as a clause; else empty.
    """

    family: Family
    subject: str
    rival: str
    statement: str
    metric: Metric
    unit: str
    estimate: Figure
    low: Figure
    high: Figure
    share: Figure
    held_out: Figure
    claim: Literal["robust", "established"]
    p: float
    p_fragile: float = math.nan
    by_configuration: Floats | None = None
    p_here: Floats | None = None
    p_opposite: Floats | None = None
    names: Sequence[str] = ()
    required: int = 0
    configurations: int = 0
    allowed: bool = True
    reason: str = ""


@dataclass(frozen=True)
class Basis:
    """What decides whether more questions would help: how many there are, and their freedom."""

    model: str
    questions: int
    df: int
    not_rankable: str = "accuracy is not shown to be above chance and the best constant answer"


def concluded(drafts: Sequence[Draft], basis: Basis, alpha: float = ALPHA) -> list[Conclusion]:
    """Adjust the p values of one set of conclusions for one another, and give the verdicts.

    Every family has the same share of `alpha`, divided equally among its members; what a rejected
    hypothesis had passes on to the rest (Holm with weights). So the chance of any false
    ``"robust"`` or ``"established"`` in the whole set is at most `alpha`, and so is, apart from
    it, that of any false ``"fragile"``. A conclusion that may not be ranked keeps its weight.

    Parameters
    ----------
    drafts
        The set.
    basis
        The model and its questions.
    alpha
        Two-sided level.
    """
    if not drafts:
        return []
    weights = family_weights([d.family for d in drafts])
    claims = np.array([d.p if d.allowed else math.nan for d in drafts])
    fragiles = np.array([d.p_fragile if d.allowed else math.nan for d in drafts])
    p, p_fragile = weighted_holm(claims, weights), weighted_holm(fragiles, weights)
    rejected = p <= alpha
    left = float(weights[~rejected].sum())
    return [
        _final(d, float(p[i]), float(p_fragile[i]), alpha, alpha * float(weights[i]) / left, basis)
        if not rejected[i]
        else _final(d, float(p[i]), float(p_fragile[i]), alpha, alpha, basis)
        for i, d in enumerate(drafts)
    ]


def _final(
    d: Draft, p: float, p_fragile: float, alpha: float, level: float, basis: Basis
) -> Conclusion:
    verdict: Verdict = "undecided"
    because, needed = "", Figure.undefined("it is decided")
    if not d.allowed:
        verdict, because = "not rankable", basis.not_rankable
        needed = Figure.undefined(because)
    elif p <= alpha:
        verdict = d.claim
    elif p_fragile <= alpha:
        verdict = "fragile"
    elif d.reason:
        because, needed = d.reason, Figure.undefined(d.reason)
    else:
        because, needed = _lacking(d, p, level, basis)
    return Conclusion(
        model=basis.model,
        **{
            name: getattr(d, name)
            for name in (
                *("family", "subject", "rival", "statement", "metric", "unit"),
                *("estimate", "low", "high", "share", "held_out", "configurations", "required"),
            )
        },
        typical=_in_points(d, d.estimate),
        typical_low=_in_points(d, d.low),
        typical_high=_in_points(d, d.high),
        same_way=_same_way(d),
        verdict=verdict,
        p=_figure(p, d.reason or because or "no test"),
        p_fragile=_figure(p_fragile, "no configuration could oppose it"),
        exceptions=_exceptions(d, verdict),
        because=because,
        needed=needed,
    )


def _same_way(d: Draft) -> Figure:
    if not d.share.defined:
        return d.share
    return Figure(float(round(d.share.value * d.configurations / 100)))


def _in_points(d: Draft, squared: Figure) -> Figure:
    """A squared difference as a root mean square; 0 where the noise taken off is larger."""
    if d.family != "effects" or d.unit != "points^2":
        return Figure.undefined("it is no squared difference of one kind")
    return Figure(math.sqrt(max(squared.value, 0.0))) if squared.defined else squared


def _figure(value: float, reason: str) -> Figure:
    return Figure.undefined(reason) if math.isnan(value) else Figure(value)


def _exceptions(d: Draft, verdict: Verdict) -> tuple[Except, ...]:
    """Configurations without it (robust), or are the other way (fragile)."""
    if verdict not in ("robust", "fragile") or d.by_configuration is None:
        return ()
    if d.p_here is None or d.p_opposite is None:
        return ()
    K = len(d.names)
    found = []
    for c, (value, p, q) in enumerate(
        zip(d.by_configuration.tolist(), d.p_here.tolist(), d.p_opposite.tolist(), strict=True)
    ):
        if K * q <= ALONE:
            found.append(Except(d.names[c], value, "the other way, established"))
        elif value < 0 and verdict == "robust":
            found.append(Except(d.names[c], value, "the other way"))
        elif not p <= ALONE and verdict == "robust":
            found.append(Except(d.names[c], value, "not established"))
    if verdict == "fragile" and not found:
        c = int(np.argmin(d.p_opposite))
        found.append(Except(d.names[c], float(d.by_configuration[c]), "the other way, established"))
    return tuple(found)


def _lacking(d: Draft, p: float, level: float, basis: Basis) -> tuple[str, Figure]:
    """Why it is undecided, and how many questions would decide it."""
    if d.claim == "established" or d.p_here is None:
        among: str = "no test is possible"
        if not math.isnan(p):
            among = say(
                "p = {p} where all conclusions about the model are taken together", p=f"{p:.2g}"
            )
        return among, Figure.undefined("it is no conclusion about each configuration")
    needed = questions_needed(d.p_here, level, basis.questions, basis.df, d.required)
    same = _same_way(d)
    numbers = {
        "same_way": f"{same.value:.0f}" if same.defined else "0",
        "configurations": d.configurations,
        "required": d.required,
    }
    if needed > HOPELESS * basis.questions:
        why = say(
            "the direction is the same in {same_way} of {configurations} configurations, more "
            "questions alone would not help",
            **numbers,
        )
        return why, Figure.undefined("more questions alone would not help")
    needed = max(needed, basis.questions + 1.0)
    digits = 1 - math.floor(math.log10(needed))
    why = say(
        "the direction is the same in {same_way} of {configurations} configurations, but not "
        "established in {required} of them",
        **numbers,
    )
    return why, Figure(round(needed, digits))
