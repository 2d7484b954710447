"""Interval of the squared length of an effect from its estimate and the noise in it.

An effect estimated as d = delta + e, with noise e of covariance V, has |d|^2 of mean
|delta|^2 + tr V, and is skewed: "estimate +- 1.96 standard errors" covers a true 0 in more than
99.9% of studies, because the standard error over resamples grows with the noise in d, and a true
effect of about three standard errors in 91%. Instead |d|^2 is read as c times a noncentral
chi-square with n degrees of freedom (Patnaik's matching of moments):

    c = d' V d / d' d, n = tr V / c, so that the mean is right, and the variance for effects that
    lie where d points,

and the interval holds every |delta|^2 = c lambda under which |d|^2 is within its central 95%. With
one degree of freedom and normal noise this is exact.
"""

from __future__ import annotations

import math

import numpy as np

_MANY = 400.0


def squared_length_interval(
    length: float, noise: float, along: float, level: float = 0.95
) -> tuple[float, float]:
    """Interval of a squared length.

    Parameters
    ----------
    length
        Squared length of the estimated effect, |d|^2.
    noise
        Trace of its covariance matrix, tr V.
    along
        d' V d, the variance of d's component along itself times its squared length.
    level
        Of the interval.

    Returns
    -------
    tuple
        Both ends, not below 0; ``nan`` where there is no noise.

    Examples
    --------
    >>> low, high = squared_length_interval(9.0, 1.0, 9.0)  # d = 3, variance 1
    >>> round(low**0.5, 2), round(high**0.5, 2)
    (1.04, 4.96)
    """
    if not (length > 0 and noise > 0 and along > 0):
        return math.nan, math.nan
    c = along / length
    n = noise / c
    tails = ((1 + level) / 2, (1 - level) / 2)
    low, high = (c * _noncentrality(length / c, n, tail) for tail in tails)
    return float(low), float(high)


def _noncentrality(x: float, n: float, p: float) -> float:
    """The noncentrality at which a noncentral chi-square is below x with probability p; or 0."""
    if _below(x, n, 0.0) <= p:
        return 0.0
    low, high = 0.0, max(x, 1.0)
    while _below(x, n, high) > p:
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        if _below(x, n, middle) > p:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _below(x: float, n: float, noncentrality: float) -> float:
    from scipy.special import chndtr, ndtr

    if n + noncentrality < _MANY:
        return float(chndtr(x, n, noncentrality))
    # Sankaran (1963): a power of x that is nearly normal; here its error is below 1e-4
    one, two, three = (n + k * noncentrality for k in (1, 2, 3))
    h = 1 - 2 * one * three / (3 * two**2)
    p = two / one**2
    m = (h - 1) * (1 - 3 * h)
    centre = 1 + h * p * (h - 1 - (2 - h) * m * p / 2)
    spread = h * math.sqrt(2 * p) * (1 + m * p / 2)
    return float(ndtr(((x / one) ** h - centre) / spread))


def ratio_of_positive(
    top: tuple[float, float, float], bottom: tuple[float, float, float]
) -> tuple[float, float]:
    """Interval of a ratio from an interval of each part (MOVER-R).

    Source: Donner & Zou (2012), Statistical Methods in Medical Research 21:347-359: each end moves
    both parts from their estimates towards the ends that drive the ratio there, so that intervals
    which are not symmetric stay so.

    Parameters
    ----------
    top, bottom
        Estimate, low and high end; estimates above 0.

    Returns
    -------
    tuple
        Both ends, not below 0; ``nan`` where the bottom is not told from 0.

    Examples
    --------
    >>> low, high = ratio_of_positive((4.0, 2.0, 8.0), (1.0, 0.8, 1.25))
    >>> round(low, 2), round(high, 2)
    (1.94, 8.33)
    """
    (u, lu, uu), (v, lv, uv) = top, bottom
    ends = np.array([u, lu, uu, v, lv, uv])
    if not np.isfinite(ends).all() or not u > 0 or not lv > 0:
        return math.nan, math.nan
    lu = max(lu, 0.0)
    # the ends of u / v solve (u - r v)^2 = (u - end of u)^2 + r^2 (v - end of v)^2
    low = _end(u, v, (u - lu) ** 2, (uv - v) ** 2, -1)
    high = _end(u, v, (uu - u) ** 2, (v - lv) ** 2, 1)
    return max(low, 0.0), high


def _end(u: float, v: float, du: float, dv: float, sign: int) -> float:
    a = v**2 - dv
    root = (u * v) ** 2 - a * (u**2 - du)
    if not a > 0 or root < 0:
        return 0.0 if sign < 0 else math.inf
    return (u * v + sign * math.sqrt(root)) / a
