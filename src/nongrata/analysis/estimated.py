"""An estimate with its standard error and its interval."""

from __future__ import annotations

import math
from dataclasses import dataclass

from nongrata.stats.figure import Figure


@dataclass(frozen=True, slots=True)
class Estimated:
    """An estimate, its standard error and its 95% interval, all in one unit.

    Parameters
    ----------
    estimate
        The number, or why there is none.
    se, low, high
        Standard error over questions, and interval; ``nan`` where there is none: without an
        estimate, with one cluster of questions, and where no two questions differ.
    """

    estimate: Figure
    se: float
    low: float
    high: float

    @classmethod
    def undefined(cls, reason: str) -> Estimated:
        """No estimate, because of `reason`.

        Examples
        --------
        >>> Estimated.undefined("one label").estimate.reason
        'one label'
        """
        return cls(Figure.undefined(reason), math.nan, math.nan, math.nan)

    @classmethod
    def around(cls, value: float, se: float, half: float, unit: float = 1.0) -> Estimated:
        """An interval of equal arms.

        Parameters
        ----------
        value, se, half
            Estimate, standard error, half width of the interval.
        unit
            What all three are multiplied by.

        Examples
        --------
        >>> Estimated.around(0.25, 0.125, 0.25, unit=100).low
        0.0
        """
        low, high = unit * (value - half), unit * (value + half)
        return cls(Figure(unit * value), unit * se, low, high)

    def record(self, name: str) -> dict[str, float | str | None]:
        """Columns of a table: the number, null beside its reason if there is none.

        Examples
        --------
        >>> sorted(Estimated.undefined("one label").record("u"))
        ['u', 'u_high', 'u_low', 'u_reason', 'u_se']
        """
        numbers = {"": self.estimate.value, "_se": self.se, "_low": self.low, "_high": self.high}
        out: dict[str, float | str | None] = {
            name + end: None if math.isnan(value) else value for end, value in numbers.items()
        }
        out[f"{name}_reason"] = self.estimate.reason or None
        return out
