"""The mean squared difference between configurations, without noise, and its standard error.

Source: S2. D^2 is too large by se^2(D) on average, whatever the true difference; taking it away
leaves an unbiased estimate of the mean over pairs of the squared *true* differences:

    T = mean over personas and pairs of D^2 - se^2(D)

It can be negative, by chance, where there is little to find. With h_g the residuals of cluster g
(all personas and configurations, above the mean over the configurations compared), T is a
U-statistic of degree two, proportional to the mean of h_g . h_g' over pairs of clusters, so

    Var(T) = scale^2 x (4 m'Cm + 2 tr C^2),    m = mean residuals, C = their covariance matrix

in which m'Cm is estimated without bias by (m'Cm of the estimates) - tr C^2, and is not below 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nongrata.stats.accuracy import Array
from nongrata.stats.units import Units

_ROWS = 512
"""Rows of a large matrix product at once."""

_LARGEST = 6000
"""Rows whose covariance matrix is kept, to be used for several comparisons."""


@dataclass(frozen=True, slots=True)
class SquaredDifference:
    """A noise-free mean squared difference, in squared points.

    Parameters
    ----------
    value
        Estimate; can be negative.
    se
        Its standard error.
    """

    value: float
    se: float

    @property
    def signed_root(self) -> float:
        """Its root with its sign, in points: for reading, not for tests.

        Examples
        --------
        >>> SquaredDifference(-4.0, 1.0).signed_root
        -2.0
        """
        return math.copysign(math.sqrt(abs(self.value)), self.value)


def squared_differences(
    residuals: NDArray[np.floating], units: Units, comparisons: Sequence[NDArray[np.intp]]
) -> list[SquaredDifference]:
    """Mean of D^2 - se^2(D) over personas (and settings) and pairs, for each comparison.

    Parameters
    ----------
    residuals
        Cluster totals, shape (P, K, G), from `ia_pairs.residuals`.
    units
        Clusters, at least two in every stratum.
    comparisons
        Each the configurations compared with one another, one row for each setting; shape (S, L),
        L at least 2.

    Examples
    --------
    >>> from nongrata.stats.ia_pairs import residuals
    >>> x = np.array([[[1, 1, 1, 0, 1, 1], [1, 0, 1, 0, 0, 0]]])
    >>> r = residuals(x, None, Units.of(6))
    >>> (found,) = squared_differences(r, Units.of(6), [np.array([[0, 1]])])
    >>> round(found.value), round(found.se)
    (2000, 2121)
    """
    P, K, G = residuals.shape
    centred = _centred(np.asarray(residuals, dtype=np.float32).reshape(P * K, G), units)
    mean = residuals.sum(axis=2, dtype=np.float64) / units.questions
    if not (P * K <= G and P * K <= _LARGEST and len(comparisons) > 1):
        return [_direct(centred.reshape(P, K, G), mean, groups) for groups in comparisons]
    gram = (centred @ centred.T).reshape(P, K, P, K)
    return [_from_gram(gram, mean, groups) for groups in comparisons]


def _direct(centred: NDArray[np.float32], mean: Array, groups: Array) -> SquaredDifference:
    P, K, G = centred.shape
    rows = centred
    if groups.shape != (1, K):
        rows = centred[:, groups]
        rows -= rows.mean(axis=2, keepdims=True)
    rows = rows.reshape(-1, G)
    m = _above_setting(mean, groups)
    along = m.astype(np.float32) @ rows
    return _found(
        float((m**2).sum()),
        float(np.einsum("ng,ng->", rows, rows, dtype=np.float64)),
        float((along.astype(np.float64) ** 2).sum()),
        _sum_of_squares_of_gram(rows),
        P * len(groups),
        groups.shape[1],
    )


def _from_gram(gram: NDArray[np.float32], mean: Array, groups: Array) -> SquaredDifference:
    P, K = gram.shape[:2]
    S, L = groups.shape
    C = gram
    if groups.shape != (1, K):
        order = groups.ravel()
        C = gram[:, order][:, :, :, order].reshape(P, S, L, P, S, L)
        C -= C.mean(axis=2, keepdims=True)
        C -= C.mean(axis=5, keepdims=True)
    C = C.reshape(P * S * L, P * S * L)
    m = _above_setting(mean, groups)
    return _found(
        float((m**2).sum()),
        float(np.trace(C, dtype=np.float64)),
        float(m @ C @ m),
        sum(float(np.vdot(row, row)) for row in C),
        P * S,
        L,
    )


def _above_setting(mean: Array, groups: Array) -> Array:
    part = mean[:, groups]
    return np.asarray((part - part.mean(axis=2, keepdims=True)).ravel())


def _found(
    square: float, noise: float, mcm: float, trace: float, rows: int, levels: int
) -> SquaredDifference:
    scale = 1e4 * 2.0 / (levels - 1) / rows
    variance = max(4.0 * mcm - 2.0 * trace, 2.0 * trace, 0.0)
    return SquaredDifference(scale * (square - noise), scale * math.sqrt(variance))


def _centred(rows: NDArray[np.float32], units: Units) -> NDArray[np.float32]:
    """Rows whose products are the covariances of the means: S less its stratum's mean, scaled."""
    slope, factor = np.empty_like(rows[:, : units.strata]), np.empty(len(units), dtype=np.float32)
    for h in range(units.strata):
        where = np.flatnonzero(units.stratum == h)
        n, total = len(where), units.sizes[where].sum()
        slope[:, h] = rows[:, where].sum(axis=1, dtype=np.float64) / total
        factor[where] = math.sqrt(n / (n - 1)) / units.questions if n > 1 else np.nan
    size = np.zeros((units.strata, len(units)), dtype=np.float32)
    size[units.stratum, np.arange(len(units))] = units.sizes
    out = slope @ size
    np.subtract(rows, out, out=out)
    out *= factor
    return out


def _sum_of_squares_of_gram(x: NDArray[np.float32]) -> float:
    """Sum of squares of x x', from the smaller of x x' and x' x, a block at a time."""
    if x.shape[1] < x.shape[0]:
        x = np.ascontiguousarray(x.T)
    total = 0.0
    for start in range(0, len(x), _ROWS):
        block = x[start : start + _ROWS] @ x[start:].T
        width = block.shape[0]
        own, rest = block[:, :width], block[:, width:]
        total += float(np.einsum("ij,ij->", own, own, dtype=np.float64))
        total += 2.0 * float(np.einsum("ij,ij->", rest, rest, dtype=np.float64))
    return total
