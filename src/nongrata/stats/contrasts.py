"""Differences of accuracies, paired by question, and what may be said about them.

Source: S8, S6. A contrast is a mean over questions of one number a question, such as "right under
this label less right under the control", averaged over configurations. Whatever is shared by the
two sides (the question's difficulty, one control cell that serves several configurations) drops
out of that number or stays in it once, so its spread over clusters of questions gives a standard
error that is right without any model of the dependence.

With z_g the cluster's total of that number, estimate = sum_g z_g / Q and se from
`Units.covariance_of_total_means`; t has (clusters - strata) degrees of freedom.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from nongrata.stats.accuracy import Array, Floats
from nongrata.stats.max_t import gaussian_statistics, max_t_critical, single_step_p, step_down_p
from nongrata.stats.units import Units

Verdict = Literal["differs", "equivalent", "differs, but within the smallest effect", "undecided"]
DRAWS = 20_000
"""Gaussian draws behind a critical value: its Monte Carlo error is then below 1%."""


def linear_totals(sums: Array, counts: Array | None, sizes: Array) -> Array:
    """Cluster totals that have the mean and the spread of a mean over the questions present.

    With N the number of questions present and D = sum of x over them / N, the total of cluster g
    becomes Q/N (sum x - D n_g) + D m_g, with n_g its questions present and m_g all of them: the
    linearised ratio. Its sum over clusters is Q D.

    Parameters
    ----------
    sums
        Sum of x over the questions of each cluster that are present, shape (..., G).
    counts
        Their number, same shape; None: nothing is missing, and `sums` come back as they are.
    sizes
        Questions of each cluster, shape (G,).

    Returns
    -------
    array
        Shape (..., G); ``nan`` where no question is present.

    Examples
    --------
    >>> z = linear_totals(np.array([1.0, 0.0, 1.0]), np.array([1, 1, 1]), np.array([1, 1, 2]))
    >>> float((z.sum() / 4).round(4))
    0.6667
    """
    if counts is None:
        return sums
    n = counts.sum(axis=-1, keepdims=True, dtype=np.float64)
    known = np.where(n > 0, n, np.nan)
    mean = sums.sum(axis=-1, keepdims=True, dtype=np.float64) / known
    return np.asarray(sizes.sum() / known * (sums - mean * counts) + mean * sizes)


@dataclass(frozen=True)
class Means:
    """Means over questions, each with intervals of its own and with intervals for all together.

    Parameters
    ----------
    estimate, se
        Shape (M,), in the unit of the totals.
    low, high
        95% intervals, each on its own.
    low_together, high_together
        95% intervals that hold all M targets together (max-t).
    p
        Two-sided p value of "the mean is 0", each on its own.
    p_together
        Adjusted for the number of means; at most .05 where `low_together` to `high_together`
        leaves out 0.
    p_step_down
        Adjusted step by step, which is never larger (Romano & Wolf).
    critical
        Half width of the intervals together, in standard errors.
    df
        Degrees of freedom of the standard errors.

    Where all clusters have the same total for every question there is no standard error that
    could be trusted: se is 0 and the rest is ``nan``.
    """

    estimate: Floats
    se: Floats
    low: Floats
    high: Floats
    low_together: Floats
    high_together: Floats
    p: Floats
    p_together: Floats
    p_step_down: Floats
    critical: float
    df: int


def means_with_intervals(
    totals: Array, units: Units, seed: int | tuple[int, ...] = 0, draws: int = DRAWS
) -> Means:
    """Intervals and tests of several means over the same questions.

    Parameters
    ----------
    totals
        Cluster totals, one row for each mean, shape (M, G); from `linear_totals` where answers
        are missing.
    units
        The clusters.
    seed
        Numbers that name the random numbers.
    draws
        Multivariate t draws behind the critical value.

    Examples
    --------
    >>> d = np.array([[1.0, 0.0, 1.0, -1.0, 1.0, 1.0, 0.0, 1.0]])
    >>> means = means_with_intervals(d, Units.of(8))
    >>> float(means.estimate[0]), round(float(means.se[0]), 4), round(float(means.p[0]), 4)
    (0.5, 0.2673, 0.1036)
    """
    from scipy.special import stdtr, stdtrit

    totals = np.asarray(totals, dtype=np.float64)
    covariance = units.covariance_of_total_means(totals)
    estimate, df = totals.sum(axis=1) / units.questions, units.degrees_of_freedom
    se = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    noise = 1e-9 * np.abs(totals).max(axis=1, initial=0.0)  # rounding is no spread
    se = np.where(se <= noise, 0.0, se)
    moving = se > 0
    errors = np.where(moving, se, np.nan)
    t = estimate / errors
    drawn = gaussian_statistics(
        np.where(np.outer(moving, moving), covariance, 0.0), draws, seed, max(df, 1)
    )
    critical = max_t_critical(drawn)
    if moving.sum() == 1:  # a quantile that needs no draws
        critical = float(stdtrit(df, 0.975))
    half, half_together = stdtrit(max(df, 1), 0.975) * errors, critical * errors
    p = 2 * stdtr(max(df, 1), -np.abs(t))
    alone = moving.sum() == 1
    return Means(
        estimate, se, estimate - half, estimate + half,
        estimate - half_together, estimate + half_together,
        p,
        p if alone else np.maximum(single_step_p(t, drawn), p),
        p if alone else np.maximum(step_down_p(t, drawn), p),
        critical, df,
    )  # fmt: skip


def verdict(low: float, high: float, smallest_effect: float) -> Verdict:
    """What a simultaneous interval says about a difference.

    Parameters
    ----------
    low, high
        The interval; ``nan`` says nothing.
    smallest_effect
        The smallest difference that matters, in the same unit, above 0.

    Returns
    -------
    str
        ``"equivalent"``: the interval is inside +- `smallest_effect`. ``"differs"``: it leaves
        out 0. Both, or neither.

    Examples
    --------
    >>> verdict(0.2, 3.0, 1.0), verdict(-0.4, 0.6, 1.0), verdict(0.1, 0.6, 1.0)
    ('differs', 'equivalent', 'differs, but within the smallest effect')
    >>> verdict(-0.4, 2.0, 1.0)
    'undecided'
    """
    differs = low > 0 or high < 0
    if low > -smallest_effect and high < smallest_effect:
        return "differs, but within the smallest effect" if differs else "equivalent"
    return "differs" if differs else "undecided"
