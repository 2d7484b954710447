"""The mean of a crossed table whose factors' levels are a sample of levels.

Source: S8, generalised and corrected. The four persona formats of a study can be read as four of
many. The uncertainty of a contrast then has two parts: other questions, and other formats. For a
table of N = n_1 ... n_F means over the same questions, with MS_f the mean square of factor f,

    Var = V_q + sum over f of max(MS_f - noise_f, 0) / N

V_q is the variance of the table's mean over questions; noise_f = tr(P_f C) / (n_f - 1) is what the
questions' sampling puts into MS_f, with C the covariance of the cells over questions and P_f the
projection onto the factor's main effect. Without it the question x format interactions would be
counted twice, in V_q and in MS_f. A mean square also holds the factor's interactions, which are so
counted once for each factor they belong to: that errs on the wide side. (Taking them out by
subtracting MS_AB gives an unbiased variance whose degrees of freedom collapse: with nothing but
interactions it covered 1.000 with intervals up to twice as wide.)

With n_f >= 4 throughout, Satterthwaite's degrees of freedom: .938 to .987 in 20,000 simulated
4 x 4 tables of each kind, where sd / sqrt(N) covered .3 to .7. With fewer levels they are too many
(.88 for two levels); then the interval is at least as wide as with a t of its own for every part
(Cochran), half width^2 = sum of t_f^2 part_f.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from nongrata.stats.accuracy import Floats

ENOUGH = 4
"""Levels from which on Satterthwaite's degrees of freedom are trusted."""

Parts = list[tuple[float, int]]


@dataclass(frozen=True, slots=True)
class SampledMean:
    """A mean, or a difference of means, over levels that are a sample.

    Parameters
    ----------
    estimate, se, low, high, p
        It, its standard error, 95% interval, and p value of "it is 0".
    df
        Satterthwaite's degrees of freedom.
    se_questions
        The part of the standard error that is due to questions.
    reason
        Why there is no interval, else empty.
    """

    estimate: float
    se: float
    low: float
    high: float
    p: float
    df: float
    se_questions: float
    reason: str = ""

    @classmethod
    def undefined(cls, reason: str, estimate: float = math.nan) -> SampledMean:
        """No interval, because of `reason`."""
        return cls(estimate, *(math.nan,) * 6, reason)

    def times(self, unit: float) -> SampledMean:
        """The same in another unit: 100 makes points of shares."""
        return SampledMean(
            unit * self.estimate, unit * self.se, unit * self.low, unit * self.high, self.p,
            self.df, unit * self.se_questions, self.reason,
        )  # fmt: skip


def mean_over_sampled_levels(table: Floats, covariance: Floats, df_questions: int) -> SampledMean:
    """Interval for the mean over all levels of which the table's are a sample.

    Parameters
    ----------
    table
        One mean for each combination of levels, one axis for each sampled factor, balanced.
    covariance
        Covariance of its cells over questions, in the order of ``table.ravel()``, shape (N, N).
    df_questions
        Degrees of freedom of that covariance, clusters less strata.

    Examples
    --------
    >>> table = np.arange(16.0).reshape(4, 4) % 5
    >>> result = mean_over_sampled_levels(table, 0.01 * np.eye(16), 99)
    >>> round(result.estimate, 3), round(result.se_questions, 3), round(result.se, 3)
    (1.875, 0.025, 0.227)
    """
    estimate, N = float(table.mean()), table.size
    v_q = float(covariance.mean())
    if not table.ndim:
        return SampledMean.undefined("no factor is read as a sample of levels", estimate)
    if min(table.shape) < 2:
        why = "a factor read as a sample has one level, so its spread is unknown"
        return SampledMean.undefined(why, estimate)
    if math.isnan(estimate):
        return SampledMean.undefined("not every combination has answers")
    if math.isnan(v_q):
        return SampledMean.undefined("one cluster of questions has no spread", estimate)
    parts, squares = [(v_q, df_questions)], v_q**2 / max(df_questions, 1)
    for axis, n in enumerate(table.shape):
        project = _main_effect(table.shape, axis)
        ms = float(table.ravel() @ project @ table.ravel()) / (n - 1)
        noise = float((project * covariance).sum()) / (n - 1)
        parts.append((max(ms - noise, 0.0) / N, n - 1))
        squares += (ms / N) ** 2 / (n - 1)
    return from_parts(estimate, parts, squares, min(table.shape) >= ENOUGH)


def from_parts(estimate: float, parts: Parts, squares: float, enough: bool) -> SampledMean:
    """Interval from the parts of a variance, the questions' part first.

    Parameters
    ----------
    estimate
        The estimate.
    parts
        Each part of its variance, and the degrees of freedom that it is estimated with.
    squares
        Sum over parts of (what was estimated, noise included)^2 / degrees of freedom.
    enough
        Whether Satterthwaite's degrees of freedom are enough; else the wider interval of theirs and
        of a t of its own for every part.

    Examples
    --------
    >>> found = from_parts(1.0, [(0.04, 1000), (0.05, 1000)], 4.1e-6, True)
    >>> round(found.se, 3), round(found.low, 2), round(found.df)
    (0.3, 0.41, 1976)
    """
    from scipy.special import stdtr, stdtrit

    variance = sum(part for part, _ in parts)
    if variance <= 1e-24:
        why = "neither questions nor levels vary, so there is no error to estimate"
        return SampledMean.undefined(why, estimate)
    df, se = max(variance**2 / squares, 1.0), math.sqrt(variance)
    size = np.array([part for part, _ in parts])
    own_df = np.array([max(own, 1) for _, own in parts], dtype=np.float64)

    def half(p: float) -> float:
        satterthwaite = float(-stdtrit(df, p / 2)) * se
        if enough:
            return satterthwaite
        return max(satterthwaite, math.sqrt(float((stdtrit(own_df, p / 2) ** 2 * size).sum())))

    away, wide, questions = abs(estimate), half(0.05), math.sqrt(parts[0][0])
    p = float(2 * stdtr(df, -away / se)) if enough else _where_half_is(away, half)
    return SampledMean(estimate, se, estimate - wide, estimate + wide, p, df, questions)


def _where_half_is(away: float, half: Callable[[float], float]) -> float:
    """The p value at which an interval of half width `half(p)` ends at 0."""
    low, high = -300.0, 0.0  # log10
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if half(10.0**middle) > away else (low, middle)
    return float(10.0**high)


def _main_effect(shape: tuple[int, ...], chosen: int) -> Floats:
    """Projection onto the main effect of one axis."""
    out = np.ones((1, 1))
    for axis, n in enumerate(shape):
        mean = np.full((n, n), 1.0 / n)
        out = np.kron(out, np.eye(n) - mean if axis == chosen else mean)
    return out
