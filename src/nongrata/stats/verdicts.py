"""Verdicts: does a conclusion about a difference survive a change of configuration.

Source: S11. For one difference in K configurations, with an estimate and a clustered standard
error in each:

    direction  sign of the mean of the K estimates
    p_c        one-sided p value in configuration c, in that direction, Student's t with the
               degrees of freedom of the clusters
    robust     min(1, 2 (K - u + 1) p_(u)), u = ceil(.9 K): shown in u of K at least
               (`partial_conjunction`); doubled, because the data choose the direction
    fragile    min(1, 2 K max(min_c p_c, min_c q_c)), q_c = 1 - p_c: both signs are shown, each
               somewhere. The 2 K makes them simultaneous over configurations and directions

At 5%, these are (K - u + 1) p_(u) <= .025 and simultaneous two-sided 95% bounds. The bounds are
Bonferroni's and not max-t: with many conclusions the p values are adjusted for all of them, and a
Monte Carlo quantile from 2,000 draws could never reach .05 / 741.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nongrata.stats.accuracy import Floats
from nongrata.stats.partial_conjunction import SHARE, partial_conjunction, required

ROUNDING = 1e-10
"""Differences of shares, and their standard errors, below this are rounding."""


@dataclass(frozen=True)
class Judged:
    """What M differences in K configurations show, before any adjustment for their number.

    Parameters
    ----------
    direction
        1 or -1, shape (M,).
    p
        One-sided p values in that direction, shape (M, K).
    opposite
        One-sided p values in the other direction, shape (M, K).
    robust, fragile
        P values, shape (M,); ``nan`` where one configuration only is compared, or none.
    share
        Share of the configurations whose own estimate has the direction, shape (M,).
    required
        In how many configurations a robust conclusion must be shown, u.
    """

    direction: Floats
    p: Floats
    opposite: Floats
    robust: Floats
    fragile: Floats
    share: Floats
    required: int


def judge(estimate: Floats, se: Floats, df: int, clusters: int, share: float = SHARE) -> Judged:
    """Test M differences over K configurations.

    Parameters
    ----------
    estimate, se
        Differences and their standard errors, shape (M, K).
    df
        Degrees of freedom of the standard errors.
    clusters
        Number of clusters behind them; see `upper_tail`.
    share
        Share of the configurations in which a robust conclusion must hold.

    Examples
    --------
    >>> found = judge(np.array([[0.2, 0.3], [0.2, -0.2]]), np.full((2, 2), 0.05), 99, 100)
    >>> found.direction.tolist(), (found.robust < 0.05).tolist(), (found.fragile < 0.05).tolist()
    ([1.0, 1.0], [True, False], [False, True])
    """
    M, K = estimate.shape
    mean = estimate.mean(axis=1) if K else np.zeros(M)
    direction = np.where(mean < 0, -1.0, 1.0)
    p = upper_tail(estimate * direction[:, None], se, df, clusters)
    opposite = upper_tail(-estimate * direction[:, None], se, df, clusters)
    u = required(K, share)
    if K < 2:
        nothing = np.full(M, np.nan)
        robust, fragile = nothing, nothing
    else:
        robust = np.minimum(2 * partial_conjunction(p, u), 1.0)
        both = np.maximum(_smallest(p), _smallest(opposite))
        fragile = np.minimum(2 * K * both, 1.0)
    same = (estimate * direction[:, None] > ROUNDING).mean(axis=1) if K else np.full(M, np.nan)
    return Judged(direction, p, opposite, robust, fragile, np.asarray(same), u)


def upper_tail(estimate: Floats, se: Floats, df: int, clusters: int) -> Floats:
    """One-sided p values of "not above 0".

    Where all clusters have the same difference its standard error is 0 and t has no meaning: p is
    2^-G if they are above 0, else 1. ``nan`` where there is no standard error.

    Parameters
    ----------
    estimate, se
        Of any equal shape.
    df
        Degrees of freedom.
    clusters
        G.

    Examples
    --------
    >>> upper_tail(np.array([2.0, 0.0, 1.0]), np.array([1.0, 0.0, 0.0]), 10, 5).round(4).tolist()
    [0.0367, 1.0, 0.0312]
    """
    from scipy.special import stdtr

    still = (se <= ROUNDING) & ~np.isnan(estimate)
    t = np.divide(estimate, se, out=np.full(np.shape(estimate), np.nan), where=se > ROUNDING)
    p = np.asarray(stdtr(max(df, 1), -t), dtype=np.float64)
    p = np.where(still, np.where(estimate > ROUNDING, 2.0**-clusters, 1.0), p)
    return np.where(df < 1, np.nan, p)


def questions_needed(p: Floats, level: float, questions: int, df: int, u: int) -> float:
    """How many questions it would take, were every difference as it was observed.

    A standard error shrinks with the square root of the number of questions, so a t value of t
    becomes t sqrt(n / Q). The u-th smallest p value must come down to level / (2 (K - u + 1)).

    Parameters
    ----------
    p
        One-sided p values of one difference, shape (K,).
    level
        Two-sided level that the conclusion must pass.
    questions, df
        Q and the degrees of freedom now.
    u
        In how many configurations it must be shown.

    Returns
    -------
    float
        ``inf`` where the u-th configuration does not even point that way: more questions do not
        help then, as far as these answers tell.

    Examples
    --------
    >>> round(questions_needed(np.array([0.05, 0.05]), 0.05, 100, 99, 2))
    139
    >>> questions_needed(np.array([0.01, 0.9]), 0.05, 100, 99, 2)
    inf
    """
    from scipy.special import ndtri, stdtrit

    known = np.sort(np.where(np.isnan(p), 1.0, p))
    at = float(known[u - 1])
    if at >= 0.5 or df < 1:
        return float("inf")
    t = -float(stdtrit(df, at))
    wanted = -float(ndtri(level / (2 * (len(known) - u + 1))))
    return questions * (wanted / t) ** 2


def _smallest(p: Floats) -> Floats:
    known = np.where(np.isnan(p), 1.0, p)
    return np.asarray(known.min(axis=1))
