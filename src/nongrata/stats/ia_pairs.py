"""Differences of accuracy between configurations, each with its clustered variance.

Source: S1 (a pair is compared on the questions present in both) and S2 (se from the clustered
paired difference). For one persona and configurations c, c', with d_g the sum over the shared
questions of cluster g of x[c] - x[c'], n_g the number of them, n = sum n_g and D = sum d_g / n,

    se^2(D) = G / (G - 1) x sum_g (d_g - D n_g)^2 / n^2

within strata of fixed size where nothing is missing (as `Units.covariance_of_means`), over all
clusters together where something is: strata can then not be held at their size.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nongrata.stats.accuracy import Array, Bools, Floats
from nongrata.stats.units import Units


@dataclass(frozen=True)
class Pairs:
    """Every pair of configurations of every persona; shares, not points.

    Parameters
    ----------
    difference
        D, shape (P, K, K); ``nan`` where the two share no question.
    variance
        se^2(D), shape (P, K, K); ``nan`` where it is not known (fewer than two clusters).
    shared
        Questions that the two share, shape (P, K, K).
    """

    difference: Floats
    variance: Floats
    shared: NDArray[np.intp]


def pair_differences_of(residuals: NDArray[np.floating], units: Units) -> Pairs:
    """The same where nothing is missing, from `residuals`.

    Parameters
    ----------
    residuals
        Shape (P, K, G).
    units
        Clusters of the questions.

    Examples
    --------
    >>> x = np.array([[[1, 1, 0, 1], [1, 0, 0, 0]]])
    >>> pair_differences_of(residuals(x, None, Units.of(4)), Units.of(4)).difference[0, 0, 1].item()
    0.5
    """
    P, K, _ = residuals.shape
    D, V = np.empty((P, K, K)), np.empty((P, K, K))
    for p in range(P):
        D[p], V[p] = _complete(residuals[p], units)
    return Pairs(D, V, np.full((P, K, K), units.questions, dtype=np.intp))


def pair_differences(x: Array, present: Bools | None, units: Units) -> Pairs:
    """Paired differences of all configurations.

    Parameters
    ----------
    x
        Right or not, or theta; shape (P, K, Q).
    present
        Where there is an answer, same shape; None: everywhere.
    units
        Clusters of the questions.

    Examples
    --------
    >>> pairs = pair_differences(np.array([[[1, 1, 0, 1], [1, 0, 0, 0]]]), None, Units.of(4))
    >>> pairs.difference[0, 0, 1].item(), round(pairs.variance[0, 0, 1].item(), 6)
    (0.5, 0.083333)
    """
    P, K, Q = x.shape
    if present is not None and present.all():
        present = None
    shape = (P, K, K)
    D, V = np.full(shape, np.nan), np.full(shape, np.nan)
    n = np.full(shape, Q, dtype=np.intp)
    for p in range(P):
        if present is None or present[p].all():
            totals = np.asarray(units.totals(x[p]), dtype=np.float64)
            D[p], V[p] = _complete(totals - totals.mean(axis=0), units)
        else:
            D[p], V[p], n[p] = _shared(x[p], present[p], units)
    return Pairs(D, V, n)


def _complete(r: NDArray[np.floating], units: Units) -> tuple[Floats, Floats]:
    mean = r.sum(axis=1, dtype=np.float64) / max(units.questions, 1)
    C = units.covariance_of_total_means(r)
    own = np.diag(C)
    V = np.maximum(own[:, None] + own[None, :] - 2.0 * C, 0.0)
    np.fill_diagonal(V, 0.0)
    return mean[:, None] - mean[None, :], V


def _shared(x: Array, present: Bools, units: Units) -> tuple[Floats, Floats, NDArray[np.intp]]:
    K = len(x)
    values = np.where(present, x, 0).astype(np.float64)
    D, V = np.full((K, K), np.nan), np.full((K, K), np.nan)
    shared = np.zeros((K, K), dtype=np.intp)
    for c in range(K):
        here = present[c:] & present[c]
        d = units.totals(np.where(here, values[c] - values[c:], 0.0))
        n = np.asarray(units.totals(here), dtype=np.float64)
        total = n.sum(axis=1)
        G = np.count_nonzero(n, axis=1)
        some = np.maximum(total, 1.0)
        mean = d.sum(axis=1) / some
        ss = ((d - mean[:, None] * n) ** 2).sum(axis=1)
        var = np.where(G > 1, ss * G / np.maximum(G - 1, 1) / some**2, np.nan)
        D[c, c:] = np.where(total > 0, mean, np.nan)
        D[c:, c] = -D[c, c:]
        V[c, c:] = V[c:, c] = var
        shared[c, c:] = shared[c:, c] = total.astype(np.intp)
    return D, V, shared


def exchangeable_variance(x: Array, present: Bools | None, units: Units) -> Floats:
    """Variance of D if the cells of a question that are present could change places.

    2 sum_g s_g^2 n_g^2 / n^2, with s_g^2 the variance (ddof = 1) over configurations of the mean
    of cluster g and n_g the questions of it that the pair shares.

    Parameters
    ----------
    x
        The configurations that could change places, and no others; shape (P, K, Q).
    present, units
        As in `pair_differences`.

    Returns
    -------
    array
        Shape (P, K, K).

    Examples
    --------
    >>> x = np.array([[[1, 1, 0, 1], [1, 0, 0, 0]]])
    >>> exchangeable_variance(x, None, Units.of(4))[0, 0, 1].item()
    0.125
    """
    P, K, Q = x.shape
    out = np.zeros((P, K, K))
    for p in range(P):
        if present is None or present[p].all():
            totals = np.asarray(units.totals(x[p]), dtype=np.float64)
            r = totals - totals.mean(axis=0)
            out[p] = 2.0 * float((r**2).sum()) / max(K - 1, 1) / max(Q, 1) ** 2
            continue
        n = np.asarray(units.totals(present[p]), dtype=np.float64)
        sums = units.totals(np.where(present[p], x[p], 0).astype(np.float64))
        cell, there = sums / np.maximum(n, 1.0), n > 0
        k = there.sum(axis=0)
        mean = np.where(there, cell, 0.0).sum(axis=0) / np.maximum(k, 1)
        s2 = (np.where(there, cell - mean, 0.0) ** 2).sum(axis=0) / np.maximum(k - 1, 1)
        # n_g of a pair is n_gc n_gc' / max_c n_gc: exact for single questions and whole clusters
        total = n @ (n / np.maximum(n.max(axis=0), 1.0)).T
        size = np.maximum(n.max(axis=0), 1.0)
        out[p] = 2.0 * ((n**2 * (s2 / size**2)) @ (n**2).T) / np.maximum(total, 1.0) ** 2
    return out


def residuals(x: Array, present: Bools | None, units: Units) -> NDArray[np.float32]:
    """Cluster totals of what each configuration has above the question's mean over them.

    A missing answer stands at its question's mean, so it speaks for no configuration.

    Parameters
    ----------
    x
        Shape (P, K, Q).
    present, units
        As in `pair_differences`.

    Returns
    -------
    array
        float32, shape (P, K, G); sums over configurations are 0.

    Examples
    --------
    >>> residuals(np.array([[[1, 1], [1, 0]]]), None, Units.of(2)).tolist()
    [[[0.0, 0.5], [0.0, -0.5]]]
    """
    out = np.empty((*x.shape[:2], len(units)), dtype=np.float32)
    for p in range(len(x)):
        if present is None or present[p].all():
            totals = np.asarray(units.totals(x[p]), dtype=np.float64)
            out[p] = totals - totals.mean(axis=0) if len(totals) else totals
            continue
        there = present[p]
        values = np.where(there, x[p], 0).astype(np.float64)
        mean = values.sum(axis=0) / np.maximum(there.sum(axis=0), 1)
        out[p] = units.totals(np.where(there, values - mean, 0.0))
    return out
