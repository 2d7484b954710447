"""One difference in all configurations at once: the specification curve and its joint tests.

Source: S8, after Simonsohn, Simmons & Nelson (2020), "Specification curve analysis". The K
differences of a label from a control, one for each configuration, are summed up by their median
and by how many point one way. Both are tested by sign flips of whole questions (`sign_flips`),
because the K differences rest on the same questions and are anything but independent.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nongrata.stats.accuracy import Array, Floats
from nongrata.stats.max_t import heavy_tails, max_t_critical
from nongrata.stats.sign_flips import TIE, Flips
from nongrata.stats.units import Units


@dataclass(frozen=True)
class Curve:
    """The differences of one label from one control in K configurations.

    Parameters
    ----------
    estimate, se
        Shape (K,), in the unit of the totals; ``nan`` where there are no answers.
    median
        Median of the estimates.
    lean
        Share of configurations with a positive difference less the share with a negative one.
    critical
        Half width, in standard errors, of intervals that hold all K differences together.
    flipped_median, flipped_lean
        Both in each sign flip, shape (B,).
    """

    estimate: Floats
    se: Floats
    median: float
    lean: float
    critical: float
    flipped_median: NDArray[np.float32]
    flipped_lean: NDArray[np.float32]


def curve(
    totals: Array,
    units: Units,
    flips: Flips,
    flipped: NDArray[np.float32] | None = None,
    seed: int | tuple[int, ...] = 0,
) -> Curve:
    """Differences in each configuration, with what sign flips make of them.

    Parameters
    ----------
    totals
        Cluster totals of the difference in each configuration, shape (K, G).
    units
        The clusters.
    flips
        The flips of its signs.
    flipped
        ``flips.signs @ totals.T`` where it is known already, shape (B, K).
    seed
        Numbers that name the random numbers.

    Examples
    --------
    >>> d = np.array([[1.0, 1.0, 0.0, 1.0], [1.0, 0.0, 0.0, 1.0], [0.0, 1.0, -1.0, 1.0]])
    >>> c = curve(d, Units.of(4), Flips.of(Units.of(4), 100))
    >>> c.median, c.lean, c.flipped_median.shape
    (0.5, 1.0, (7,))
    """
    Q = units.questions
    estimate = totals.sum(axis=1, dtype=np.float64) / Q
    known = ~np.isnan(estimate)
    se = np.full(len(totals), np.nan)
    se[known] = np.sqrt(units.variance_of_total_mean(totals[known]))
    nothing = np.zeros(0, dtype=np.float32)
    if not known.any() or not len(flips.signs):
        median, lean = (
            (float(np.median(estimate[known])), float(_lean(estimate[known])))
            if known.any()
            else (np.nan, np.nan)
        )
        return Curve(estimate, se, median, lean, np.nan, nothing, nothing)
    if flipped is None:
        flipped = flips.signs @ np.asarray(totals, dtype=np.float32).T
    means = flipped[:, known] / np.float32(Q)
    critical = _critical(np.asarray(totals[known]), means, se[known], units, flips, seed)
    return Curve(
        estimate, se, float(np.median(estimate[known])), float(_lean(estimate[known])),
        critical, np.median(means, axis=1), _lean(means).astype(np.float32),
    )  # fmt: skip


def _lean(values: Array) -> Array:
    K = values.shape[-1]
    up = np.count_nonzero(values > TIE, axis=-1)
    return np.asarray((up - np.count_nonzero(values < -TIE, axis=-1)) / K)


def _critical(
    totals: Array,
    means: Array,
    se: Floats,
    units: Units,
    flips: Flips,
    seed: int | tuple[int, ...],
) -> float:
    """Quantile of max |t| over configurations, by flipping deviations from the stratum's mean."""
    away = np.array(means, dtype=np.float64)
    for h in range(units.strata):
        inside = np.flatnonzero(units.stratum == h)
        size = units.sizes[inside].sum()
        mean = totals[:, inside].sum(axis=1, dtype=np.float64) / (size * units.questions)
        away -= np.outer(flips.questions[:, h], mean)
    df, G = units.degrees_of_freedom, len(units)
    rng = np.random.default_rng(seed)
    away *= (heavy_tails(len(away), df, rng) * np.sqrt(G / max(df, 1)))[:, None]
    return max_t_critical(away / np.where(se > 1e-12, se, np.nan))
