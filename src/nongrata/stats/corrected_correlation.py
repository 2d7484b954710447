"""How far labels' accuracies go together under different configurations, noise taken out.

Source: S5 (b). With A1, A2 the accuracies on two disjoint halves of the questions and cov_p the
covariance over labels,

    rho = mean over c != c' of cov_p(A1_c, A2_c')  /  mean over c of cov_p(A1_c, A2_c)

averaged over all splits. Above: what labels have in common under different configurations; below:
how far labels really lie apart under one. Noise of either half is independent of the other's, so
both are unbiased; on the same questions the noise that a label has in common under several
configurations would count as agreement.

The mean over *all* splits needs no split. With equal cluster sizes it is the U statistic over pairs
of different clusters, which is (Acov the covariance of means over questions, clustered)

    C[c,c'] = cov_p(A_c, A_c') - sum_p Acov(A_pc - mean_p A, A_pc' - mean_p A) / P

Intervals. N (above) and D (below) are quadratic in the accuracies, A = alpha + e. Their variances
come from resamples e* of e: the linear part 2 <A, e*> holds A's own noise and has too much of
it, by exactly what the quadratic part <e*, e*> has twice over; so

    Cov(N, D) = Cov*(linear) - Cov*(quadratic),  at least Cov*(quadratic)

The interval of rho is Fieller's: all r for which |N - r D| <= t se(N - r D). It is bounded
exactly where the interval of D lies above 0, and else rho is not estimable.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nongrata.stats.accuracy import Floats
from nongrata.stats.figure import Figure
from nongrata.stats.settings import Settings
from nongrata.stats.units import Units


@dataclass(frozen=True, slots=True)
class CorrectedCorrelation:
    """Correlation over labels between configurations, without noise.

    Parameters
    ----------
    rho
        Not clipped: it may come out above 1.
    low, high
        Its 95% interval; ``nan`` where rho is not estimable.
    between, between_se
        Noise-free covariance over labels between different configurations, shares squared.
    within, within_se
        Noise-free variance over labels within a configuration, shares squared.
    """

    rho: Figure
    low: float
    high: float
    between: float
    between_se: float
    within: float
    within_se: float

    @classmethod
    def undefined(cls, reason: str) -> CorrectedCorrelation:
        """Nothing can be had, because of `reason`."""
        return cls(Figure.undefined(reason), *[math.nan] * 6)


def noise_free_covariances(accuracy: Floats, totals: NDArray[np.floating], units: Units) -> Floats:
    """Covariance over labels between configurations on different questions.

    Parameters
    ----------
    accuracy
        Shares, shape (P, K).
    totals
        Cluster totals whose sum over clusters is Q times the accuracy, shape (P, K, G).
    units
        Clusters and strata.

    Returns
    -------
    array
        Shape (K, K), shares squared; ``nan`` with fewer than two clusters.

    Examples
    --------
    >>> x = np.array([[[1.0, 1.0, 0.0]], [[0.0, 1.0, 0.0]]])
    >>> noise_free_covariances(x.mean(axis=2), x, Units.of(3)).tolist()
    [[0.0]]
    """
    P = len(accuracy)
    A = accuracy - accuracy.mean(axis=0)
    middle = totals.mean(axis=0, dtype=np.float64)
    noise = sum(units.covariance_of_total_means(totals[p] - middle) for p in range(P))
    return np.asarray((A.T @ A - noise) / P)


def corrected_correlation(
    covariances: Floats,
    accuracy: Floats,
    noise: NDArray[np.floating],
    settings: Settings,
    df: int,
) -> CorrectedCorrelation:
    """Noise-free correlation between configurations, with its interval.

    Parameters
    ----------
    covariances
        From `noise_free_covariances`, shape (K, K).
    accuracy
        Shares, shape (P, K).
    noise
        Accuracies in resamples of the questions minus `accuracy`, shape (B, P, K).
    settings
        Sets of configurations; those of one configuration are left out. N and D are means over
        settings.
    df
        Degrees of freedom: clusters less strata.

    Examples
    --------
    >>> A = np.array([[0.9, 0.8], [0.5, 0.6], [0.1, 0.1]])
    >>> e = 0.02 * np.random.default_rng(0).standard_normal((500, 3, 2))
    >>> found = corrected_correlation(np.cov(A.T, ddof=0), A, e, [np.array([0, 1])], 400)
    >>> round(found.rho.value, 2), round(found.low, 1), round(found.high, 1)
    (0.97, 0.9, 1.0)
    """
    used = [group for group in settings if len(group) > 1]
    if len(accuracy) < 2:
        return CorrectedCorrelation.undefined("one label has no spread")
    if not used:
        return CorrectedCorrelation.undefined("one configuration has no other to go with")
    if df < 1 or not np.isfinite(covariances).all():
        return CorrectedCorrelation.undefined("one cluster of questions has no spread")
    from scipy.special import stdtrit

    N = float(np.mean([_off_diagonal(covariances[np.ix_(g, g)]) for g in used]))
    D = float(np.mean([np.diag(covariances)[g].mean() for g in used]))
    V = _covariance_of_parts(accuracy, noise, used)
    se_n, se_d = math.sqrt(V[0, 0]), math.sqrt(V[1, 1])
    t2 = float(stdtrit(df, 0.975)) ** 2
    a = D**2 - t2 * V[1, 1]
    if D <= 0 or a <= 1e-12 * D**2:
        reason = "labels are not shown to differ within a configuration, so there is no ratio"
        none = Figure.undefined(reason)
        return CorrectedCorrelation(none, math.nan, math.nan, N, se_n, D, se_d)
    b = N * D - t2 * V[0, 1]
    root = math.sqrt(max(b**2 - a * (N**2 - t2 * V[0, 0]), 0.0))
    low, high = float((b - root) / a), float((b + root) / a)
    return CorrectedCorrelation(Figure(N / D), low, high, N, se_n, D, se_d)


def _off_diagonal(matrix: Floats) -> float:
    n = len(matrix)
    return float((matrix.sum() - np.trace(matrix)) / (n * (n - 1)))


def _covariance_of_parts(
    accuracy: Floats, noise: NDArray[np.floating], settings: Settings
) -> Floats:
    """Covariance matrix of (N, D), shape (2, 2)."""
    P = len(accuracy)
    A = accuracy - accuracy.mean(axis=0)
    e = noise - noise.mean(axis=1, keepdims=True, dtype=np.float64).astype(noise.dtype)
    linear = np.zeros((2, len(e)))
    quadratic = np.zeros((2, len(e)))
    own_linear = np.einsum("bpc,pc->bc", e, A.astype(e.dtype)).astype(np.float64)
    own_quadratic = np.einsum("bpc,bpc->bc", e, e).astype(np.float64)
    for g in settings:
        m, sum_a, sum_e = len(g), A[:, g].sum(axis=1), e[:, :, g].sum(axis=2, dtype=np.float64)
        lin, quad = own_linear[:, g].sum(axis=1), own_quadratic[:, g].sum(axis=1)
        linear += np.stack([(sum_e @ sum_a - lin) / (m - 1), lin]) / m
        quadratic += np.stack([((sum_e**2).sum(axis=1) - quad) / (m - 1), quad]) / m
    scale = P * len(settings)
    twice = np.cov(2 * linear / scale)
    once = np.cov(quadratic / scale)
    values, vectors = np.linalg.eigh(twice - 2 * once)
    signal = (vectors * np.maximum(values, 0.0)) @ vectors.T
    return np.asarray(once + signal)
