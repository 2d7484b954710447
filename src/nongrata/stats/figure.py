"""A number that can be undefined, and then says why."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Figure:
    """One number, or ``nan`` with the reason why there is none. Never 0 for "unknown".

    Parameters
    ----------
    value
        The number; ``nan`` where it is undefined.
    reason
        Why it is undefined, as a clause; empty where it is defined.

    Examples
    --------
    >>> str(Figure(2.5)), str(Figure.undefined("one configuration has no pair"))
    ('2.5', 'undefined: one configuration has no pair')
    """

    value: float
    reason: str = ""

    def __post_init__(self) -> None:
        if math.isnan(self.value) != bool(self.reason):
            raise ValueError("a figure is either a number or nan with a reason")

    @classmethod
    def undefined(cls, reason: str) -> Figure:
        """A figure that does not exist, because of `reason`."""
        return cls(math.nan, reason)

    @property
    def defined(self) -> bool:
        """Whether there is a number."""
        return not self.reason

    def __str__(self) -> str:
        return f"undefined: {self.reason}" if self.reason else f"{self.value:.6g}"


def mean_figure(figures: Iterable[Figure]) -> Figure:
    """Mean of those figures that are defined.

    This is how settings of a factor and how replicates are averaged: the figure is computed for
    each, then averaged; those for which it is undefined are left out. Where none is defined the
    result is undefined for the first one's reason.

    Examples
    --------
    >>> mean_figure([Figure(1.0), Figure.undefined("no answer"), Figure(3.0)]).value
    2.0
    """
    given = list(figures)
    values = [figure.value for figure in given if figure.defined]
    if values:
        return Figure(math.fsum(values) / len(values))
    return Figure.undefined(given[0].reason if given else "nothing to average over")
