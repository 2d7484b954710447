"""Estimates and differences with names and units: the rows of comparisons."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from nongrata.stats.accuracy import Array, Floats
from nongrata.stats.figure import Figure
from nongrata.stats.influence import Estimates
from nongrata.stats.paired_comparison import OTHERS, Differences

Metric = Literal[
    "accuracy", "squared_difference", "ia", "ia_excess", "ia_at_size", "iq_of_two", "iq_of_all"
]
"""What is compared.

``accuracy`` and ``iq_of_two`` (IQ(2)), ``iq_of_all`` (IQ(K)) in per cent; ``ia``, ``ia_excess``
(IA less its equal-accuracy floor) and ``ia_at_size`` (IA on as many clusters as the smallest
domain compared) in points; ``squared_difference`` (noise-free) in squared points.
"""

UNIT: dict[Metric, float] = {
    "accuracy": 100.0,
    "squared_difference": 10_000.0,
    "ia": 100.0,
    "ia_excess": 100.0,
    "ia_at_size": 100.0,
    "iq_of_two": 100.0,
    "iq_of_all": 100.0,
}
"""From shares to the unit shown."""

ALPHA = 0.05
"""A difference is decided if its adjusted p value is at most this."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """An estimate with its standard error and 95% interval, all in one unit.

    Parameters
    ----------
    value
        The estimate, or why there is none.
    se, low, high
        Standard error from clusters of questions, and interval; ``nan`` without an estimate.
    """

    value: Figure
    se: float
    low: float
    high: float

    @classmethod
    def undefined(cls, reason: str) -> Estimate:
        """No estimate, for a reason."""
        return cls(Figure.undefined(reason), math.nan, math.nan, math.nan)


def named(given: Estimates, metric: Metric, reasons: list[str]) -> list[Estimate]:
    """Estimates in the metric's unit, with t intervals.

    Parameters
    ----------
    given
        As shares. Where nothing varies over questions there is no interval.
    metric
        What they are.
    reasons
        For each row, why it has no value, should that be so.
    """
    unit = UNIT[metric]
    low, high = given.t_interval()
    se = given.se
    low, high = (np.where(se > 0, end, np.nan) for end in (low, high))
    return [
        Estimate.undefined(reason)
        if math.isnan(given.value[j])
        else Estimate(
            Figure(unit * float(given.value[j])),
            unit * float(se[j]),
            unit * float(low[j]),
            unit * float(high[j]),
        )
        for j, reason in enumerate(reasons)
    ]


@dataclass(frozen=True, slots=True)
class DifferenceRow:
    """First minus second in one metric.

    Parameters
    ----------
    metric
        What is compared; it says the unit.
    first, second
        Names; `second` is ``""`` for the mean of all others.
    difference, se, low, high
        With the 95% interval of this difference alone.
    joint_low, joint_high
        Intervals that hold together for all differences of the metric; ``nan`` if not made.
    p, p_holm
        P value, and adjusted (Holm) for all differences of the metric.
    decided
        Whether the adjusted p value is at most .05.
    reason
        Why there is no difference or no p value, else empty.
    """

    metric: Metric
    first: str
    second: str
    difference: Figure
    se: float
    low: float
    high: float
    joint_low: float
    joint_high: float
    p: float
    p_holm: float
    decided: bool
    reason: str = ""


def difference_rows(
    found: Differences, metric: Metric, names: list[str], which: Array | None = None
) -> list[DifferenceRow]:
    """Differences with names, in the metric's unit.

    Parameters
    ----------
    found
        As shares.
    metric
        What they are differences of.
    names
        Names of the rows compared.
    which
        Positions of those wanted; None: all.
    """
    unit = UNIT[metric]

    def scaled(values: Floats, j: int) -> float:
        return unit * float(values[j])

    rows = []
    for j in range(len(found)) if which is None else which:
        missing = bool(np.isnan(found.difference[j]))
        reason = ""
        if missing:
            reason = "one of the two is undefined"
        elif not found.se[j] > 0:
            reason = "nothing varies over questions, so there is no test"
        figure = Figure.undefined(reason) if missing else Figure(scaled(found.difference, j))
        second = int(found.second[j])
        rows.append(
            DifferenceRow(
                metric=metric,
                first=names[int(found.first[j])],
                second="" if second == OTHERS else names[second],
                difference=figure,
                se=scaled(found.se, j),
                low=scaled(found.low, j),
                high=scaled(found.high, j),
                joint_low=scaled(found.joint_low, j),
                joint_high=scaled(found.joint_high, j),
                p=float(found.p[j]),
                p_holm=float(found.p_holm[j]),
                decided=bool(found.p_holm[j] <= ALPHA),
                reason=reason,
            )
        )
    return rows


def root(squared: Estimate) -> Estimate:
    """A mean squared difference as a typical difference in points: the root of all its numbers.

    A negative estimate or end is 0: no difference beyond noise was seen. The standard error has
    no root and is ``nan``.

    Examples
    --------
    >>> root(Estimate(Figure(4.0), 1.0, -1.0, 9.0))
    Estimate(value=Figure(value=2.0, reason=''), se=nan, low=0.0, high=3.0)
    """
    if not squared.value.defined:
        return squared
    value, low, high = (
        math.sqrt(max(x, 0.0)) if not math.isnan(x) else math.nan
        for x in (squared.value.value, squared.low, squared.high)
    )
    return Estimate(Figure(value), math.nan, low, high)
