"""IQ at equal m of some questions: its floor, excess, and what a factor has above the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nongrata.analysis.noise_rows import CurvePoint, Estimate, IQAt
from nongrata.analysis.noise_samples import Samples
from nongrata.stats.accuracy import Array, Bools
from nongrata.stats.figure import Figure
from nongrata.stats.iq_rarefaction import (
    Ratio,
    instability,
    interval,
    iq_curve,
    sizes_at,
)
from nongrata.stats.iq_same_configuration import (
    same_configuration_curve,
    same_configuration_sizes,
)
from nongrata.stats.units import Units
from nongrata.wording import say

_NONE_RIGHT = "no persona has a question right in any configuration"
_FEW = "fewer than two clusters of questions"


@dataclass(frozen=True)
class Repeats:
    """What is known of asking the same cell again.

    Parameters
    ----------
    theta
        Probability of a right answer where it is known, or 0 or 1 where answers are not drawn;
        ``nan`` elsewhere; shape (P, K, Q).
    right, replicates
        Right answers, and answers there are, same shape.
    known
        Cells with theta, shape (P, K).
    """

    theta: Array
    right: Array
    replicates: Array
    known: Bools

    def on(self, questions: NDArray[np.intp]) -> Repeats:
        """The same for some of the questions."""
        return Repeats(
            self.theta[:, :, questions],
            self.right[:, :, questions],
            self.replicates[:, :, questions],
            self.known,
        )

    def why_not(self, m: int, configurations: NDArray[np.intp]) -> str:
        """Why the floor at m cannot be estimated; empty if it can."""
        enough = self.known | (self.replicates.max(axis=2, initial=0) >= m)
        without = ~enough[:, configurations]
        if not without.any():
            return ""
        return say(
            "not estimable: {missing} of {cells} cells have neither probabilities nor {m} "
            "replicates",
            missing=int(without.sum()),
            cells=without.size,
            m=m,
        )


def iq_points(samples: Samples, repeats: Repeats, groups: NDArray[np.intp]) -> tuple[IQAt, ...]:
    """IQ at m = 2 and at m = L, with floor and excess.

    Parameters
    ----------
    samples, repeats
        The answers.
    groups
        Configurations compared, one row for each setting, shape (S, L).
    """
    L = groups.shape[1]
    at = [2] if L == 2 else [2, L]
    Q, units, settings = samples.units.questions, samples.units, list(groups)
    own = instability(sizes_at(samples.x, samples.present, units, settings, at), Q)
    shown = np.unique(groups)
    out = []
    for i, m in enumerate(at):
        iq = _estimate(own, i, units)
        reason = repeats.why_not(m, shown)
        floor = Figure.undefined(reason or _NONE_RIGHT)
        excess = Estimate.undefined(reason or iq.figure.reason or _NONE_RIGHT)
        if not reason:
            same = instability(
                same_configuration_sizes(
                    repeats.theta, repeats.right, repeats.replicates, units, settings, [m]
                ),
                Q,
            )
            if same.rows:
                floor = Figure(100.0 * float(same.value[0]))
            if same.rows and own.rows:
                both = Ratio(
                    own.value[i : i + 1] - same.value,
                    own.influence[i : i + 1] - same.influence,
                    own.rows,
                )
                excess = _estimate(both, 0, units, share=False)
        out.append(IQAt(m, iq, floor, excess))
    return tuple(out)


def _width(units: Units) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(max(units.degrees_of_freedom, 1), 0.975))


def _estimate(ratio: Ratio, i: int, units: Units, *, share: bool = True) -> Estimate:
    if ratio.rows == 0:
        return Estimate.undefined(_NONE_RIGHT)
    value, variance = float(ratio.value[i]), float(units.variance_of_total_mean(ratio.influence[i]))
    if np.isnan(variance):
        return Estimate.undefined(_FEW)
    if not share:
        return Estimate.around(100.0 * value, 100.0 * variance**0.5, _width(units))
    low, high = interval(value, variance**0.5, _width(units))
    return Estimate(Figure(100.0 * value), 100.0 * variance**0.5, 100.0 * low, 100.0 * high)


def curve_with_intervals(samples: Samples, repeats: Repeats) -> tuple[CurvePoint, ...]:
    """IQ(1) ... IQ(K) over all configurations, with floors; empty where IQ is undefined."""
    ratio = iq_curve(samples.x, samples.present, samples.units)
    if ratio.rows == 0:
        return ()
    se = np.sqrt(samples.units.variance_of_total_mean(ratio.influence)).tolist()
    width = _width(samples.units)
    ends = [interval(v, e, width) for v, e in zip(ratio.value.tolist(), se, strict=True)]
    floors = _floors(repeats, len(ends))
    return tuple(
        CurvePoint(m + 1, 100.0 * float(ratio.value[m]), 100.0 * low, 100.0 * high, floors[m])
        for m, (low, high) in enumerate(ends)
    )


def _floors(repeats: Repeats, most: int) -> list[Figure]:
    """The same-configuration floor at m = 1 ... `most`."""
    every = np.arange(most)
    reasons = [repeats.why_not(m + 1, every) for m in range(most)]
    # what m answers are too few for, more are too few for as well
    known = sum(not reason for reason in reasons)
    curve = same_configuration_curve(repeats.theta, repeats.right, repeats.replicates, known)
    floors = [
        Figure.undefined(_NONE_RIGHT) if np.isnan(share) else Figure(100.0 * share)
        for share in curve.tolist()
    ]
    return [*floors, *(Figure.undefined(reason) for reason in reasons[known:])]


def equal_settings(settings: Sequence[NDArray[np.intp]]) -> NDArray[np.intp] | None:
    """The settings with the most levels, at least two, as one array; None if there is none.

    Where configurations were left out, settings with fewer levels are not compared with the rest.
    """
    most = max(map(len, settings), default=0)
    if most < 2:
        return None
    return np.array([group for group in settings if len(group) == most], dtype=np.intp)
