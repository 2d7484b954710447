"""Several estimates at once: one critical value for all of their intervals, from max |t|.

If t_1 ... t_M are the studentised errors of M estimates, all M intervals estimate +- c se hold
their targets together with probability .95 when c is the .95 quantile of max |t_m|. That uses how
the estimates depend on one another, so c is smaller than Bonferroni's, and never larger.

Source: S5 and S8; the single-step method is Westfall & Young (1993), the step-down one Romano &
Wolf (2005), "Exact and approximate stepdown methods for multiple hypothesis testing".

Estimates without spread (a standard error of 0) have no t: their column is ``nan`` and takes no
part.
"""

from __future__ import annotations

import numpy as np

from nongrata.errors import NongrataError
from nongrata.stats.accuracy import Array, Floats


def max_t_critical(statistics: Array, level: float = 0.95) -> float:
    """Critical value for simultaneous intervals: a quantile of the largest |t|.

    Parameters
    ----------
    statistics
        Draws of studentised errors, centred at 0, shape (B, M); a column of ``nan`` is no
        estimate.
    level
        Probability that all intervals together hold their targets.

    Returns
    -------
    float
        The smallest drawn maximum that is not exceeded by a share `level` of B + 1 draws, so that
        few draws err on the wide side; ``nan`` where there is no estimate.

    Examples
    --------
    >>> draws = np.array([[0.5, -2.0], [1.0, 0.1], [-3.0, 0.2]])
    >>> max_t_critical(draws, 0.5)
    2.0
    """
    largest = _largest(statistics)
    if largest is None:
        return float("nan")
    place = min(int(np.ceil(level * (len(largest) + 1))), len(largest)) - 1
    return float(np.partition(largest, place)[place])


def gaussian_max_t(
    covariance: Floats,
    draws: int = 10_000,
    seed: int | tuple[int, ...] = 0,
    level: float = 0.95,
    df: int | None = None,
) -> float:
    """Critical value for simultaneous intervals from the covariance of the estimates.

    Parameters
    ----------
    covariance
        Covariance of the estimates, shape (M, M); its scale does not matter.
    draws
        Number of random draws.
    seed
        Numbers that name the random numbers.
    level
        Probability that all intervals together hold their targets.
    df
        Degrees of freedom of the standard errors (clusters less strata): the draws are then of a
        multivariate t. None: they are Gaussian.

    Examples
    --------
    >>> round(gaussian_max_t(np.eye(1), 100_000), 1), round(gaussian_max_t(np.ones((3, 3))), 1)
    (2.0, 2.0)
    """
    return max_t_critical(gaussian_statistics(covariance, draws, seed, df), level)


def gaussian_statistics(
    covariance: Floats, draws: int, seed: int | tuple[int, ...] = 0, df: int | None = None
) -> Floats:
    """Draws of studentised errors with the correlations of `covariance`, shape (B, M).

    Parameters are those of `gaussian_max_t`. Estimates with variance 0 or ``nan`` give a column
    of ``nan``.

    Examples
    --------
    >>> t = gaussian_statistics(np.array([[4.0, 0.0], [0.0, 0.0]]), 5)
    >>> t.shape, np.isnan(t).all(axis=0).tolist()
    ((5, 2), [False, True])
    """
    covariance = np.asarray(covariance, dtype=np.float64)
    if covariance.ndim != 2 or covariance.shape[0] != covariance.shape[1]:
        raise NongrataError(
            f"a covariance of shape {covariance.shape} is not square",
            where="covariance",
            fix="give one row and one column for each estimate",
        )
    variance = np.diag(covariance)
    moving = np.flatnonzero(variance > 0)
    out = np.full((draws, len(covariance)), np.nan)
    if not len(moving):
        return out
    sd = np.sqrt(variance[moving])
    values, vectors = np.linalg.eigh(covariance[np.ix_(moving, moving)] / np.outer(sd, sd))
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    rng = np.random.default_rng(seed)
    t = rng.standard_normal((draws, len(moving))) @ root.T
    if df is not None:
        t *= heavy_tails(draws, df, rng)[:, None]
    out[:, moving] = t
    return out


def heavy_tails(draws: int, df: int, rng: np.random.Generator) -> Floats:
    """Factors that make Gaussian draws those of a multivariate t: sqrt(df / chi-square), (B,).

    Examples
    --------
    >>> heavy_tails(3, 10**9, np.random.default_rng(0)).round(2).tolist()
    [1.0, 1.0, 1.0]
    """
    return np.sqrt(max(df, 1) / rng.chisquare(max(df, 1), draws))


def single_step_p(t: Floats, statistics: Array) -> Floats:
    """P values that belong to simultaneous intervals: adjusted by the largest of all |t|.

    At most .05 together exactly where the simultaneous 95% interval leaves out 0, to Monte Carlo
    rounding.

    Parameters
    ----------
    t
        The observed statistics, shape (M,); ``nan`` is no test and stays.
    statistics
        Draws under no difference, shape (B, M).

    Returns
    -------
    array
        (1 + number of draws whose maximum reaches |t|) / (1 + B), shape (M,).

    Examples
    --------
    >>> draws = np.array([[0.5, -2.0], [1.0, 0.1], [-3.0, 0.2]])
    >>> single_step_p(np.array([2.5, 0.3]), draws).tolist()
    [0.5, 1.0]
    """
    out = np.full(len(t), np.nan)
    largest = _largest(statistics)
    if largest is None:
        return out
    for m in np.flatnonzero(~np.isnan(t)):
        out[m] = (1 + np.count_nonzero(largest >= abs(t[m]))) / (1 + len(largest))
    return out


def step_down_p(t: Floats, statistics: Array) -> Floats:
    """P values adjusted step by step (Romano & Wolf): never larger than `single_step_p`.

    The largest |t| is compared with the maximum of all draws, the next with the maximum over the
    statistics that are left, and so on; a p value is never below an earlier one.

    Parameters
    ----------
    t, statistics
        As in `single_step_p`; a statistic takes part if both of its are known.

    Examples
    --------
    >>> draws = np.array([[0.5, -2.0], [1.0, 0.1], [-3.0, 0.2]])
    >>> step_down_p(np.array([2.5, 0.3]), draws).tolist()
    [0.5, 0.5]
    """
    out = np.full(len(t), np.nan)
    known = ~np.isnan(t) & ~np.isnan(statistics).all(axis=0)
    order = np.flatnonzero(known)[np.argsort(np.abs(t[known]), kind="stable")]
    running = np.zeros(len(statistics), dtype=statistics.dtype)
    step = np.empty(len(order))
    for place, m in enumerate(order):
        np.fmax(running, np.abs(statistics[:, m]), out=running)
        step[place] = (1 + np.count_nonzero(running >= abs(t[m]))) / (1 + len(running))
    out[order] = np.maximum.accumulate(step[::-1])[::-1]
    return out


def _largest(statistics: Array) -> Array | None:
    """Largest |t| of each draw, over the columns that are estimates; None if there is none."""
    known = ~np.isnan(statistics).all(axis=0)
    if not known.any() or not len(statistics):
        return None
    return np.asarray(np.nanmax(np.abs(statistics[:, known]), axis=1))
