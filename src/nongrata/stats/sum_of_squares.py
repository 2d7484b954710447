"""A sum of squared deviations against what noise alone gives: is anything different at all.

T = sum of squares of linear combinations of estimates, that is a' M a for estimates a with
covariance C and a symmetric M. Where the combinations are truly 0, T is a weighted sum of
chi-square variables with mean tr(M C) and variance 2 tr(M C M C). By Satterthwaite, T / mean is
compared with F(nu, df), nu = 2 mean^2 / variance and df the degrees of freedom of C.

Source: S2 (Cochran's Q for all personas together); Satterthwaite (1946).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from nongrata.stats.accuracy import Floats
from nongrata.stats.settings import Settings


@dataclass(frozen=True, slots=True)
class SumOfSquares:
    """A test that all of several differences are 0.

    Parameters
    ----------
    statistic
        T.
    expected
        What T is on average where nothing differs.
    p
        P value; ``nan`` where there is no test, with `reason`.
    se
        Standard error of T - expected, which estimates the sum of the squared true differences.
    """

    statistic: float
    expected: float
    p: float
    se: float = math.nan
    reason: str = ""


def sum_of_squares_test(
    statistic: float, mean: float, variance: float, df: int, se: float = math.nan
) -> SumOfSquares:
    """Test T from the mean and variance that it has where nothing differs.

    Parameters
    ----------
    statistic
        T.
    mean, variance
        Of T under the hypothesis.
    df
        Degrees of freedom of the covariance.
    se
        Standard error of T less its mean, where it is known.

    Examples
    --------
    >>> round(sum_of_squares_test(3.84, 1.0, 2.0, 10**9).p, 3)
    0.05
    """
    from scipy.special import fdtrc

    if df < 1 or math.isnan(mean):
        return SumOfSquares(statistic, mean, math.nan, se, "one cluster of questions has no spread")
    if mean <= 0 or variance <= 0:
        if statistic <= 1e-18:
            return SumOfSquares(statistic, 0.0, 1.0, 0.0)
        return SumOfSquares(statistic, 0.0, 2.0 ** -(df + 1), 0.0)
    nu = 2 * mean**2 / variance
    return SumOfSquares(statistic, mean, float(fdtrc(nu, df, statistic / mean)), se)


def deviations_test(a: Floats, covariance: Floats, groups: Settings, df: int) -> SumOfSquares:
    """Test that estimates do not differ within groups.

    T is the sum over groups of sum (a - mean of the group)^2. For true values mu its variance is
    4 mu' M C M mu + 2 tr(M C M C); a' M C M a is too large by tr(M C M C), which is taken off.

    Parameters
    ----------
    a, covariance
        Estimates, shape (n,), and their covariance, shape (n, n).
    groups
        Positions of the estimates compared with one another; no estimate in two of them.
    df
        Degrees of freedom of the covariance.

    Examples
    --------
    >>> test = deviations_test(np.array([0.0, 4.0]), np.eye(2), [np.arange(2)], 1000)
    >>> test.statistic, test.expected, round(test.p, 4)
    (8.0, 1.0, 0.0048)
    """
    M = np.zeros_like(covariance)
    for group in groups:
        at = np.asarray(group, dtype=np.intp)
        M[np.ix_(at, at)] += np.eye(len(at)) - 1.0 / len(at)
    MC = M @ covariance
    mean, variance = float(np.trace(MC)), 2 * float((MC * MC.T).sum())
    scale = float(np.abs(covariance).max(initial=0.0))
    if mean <= 1e-12 * scale:
        mean = variance = 0.0
    Ma = M @ a  # M is a projection, so that a' M a is the sum of squares of this
    slope = max(float(Ma @ covariance @ Ma) - variance / 2, 0.0)
    return sum_of_squares_test(float(Ma @ Ma), mean, variance, df, math.sqrt(4 * slope + variance))
