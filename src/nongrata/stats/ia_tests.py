"""Tests of IA against its two nulls, and Cochran's Q.

Source: S2. *Exchangeability*: within a question the configurations could change places, one and
the same exchange for all personas, settings and replicates (an exchange of its own for each
persona would take away the correlation between personas, and reject true nulls far too often).
*Equal accuracy*: all configurations have the same accuracy in the population of questions, but may
answer single questions differently.

A row below is one persona (and replicate, and setting of the other factors); r[m,c,g] is its
cluster total in configuration c, above the mean over the configurations compared. Under exchange
within clusters the sums over clusters have mean 0 and covariance C (x) (I - 11'/K),
C[m,m'] = sum_g sum_c r[m,c,g] r[m',c,g] / (K - 1), and are nearly normal for many clusters.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nongrata.stats.accuracy import Floats

FEW_CLUSTERS = 40
"""Up to here the exchanges themselves are drawn, beyond them normal sums."""


_ROUNDING = 1e-6
"""Residuals up to here are rounding."""


def mean_absolute_difference(values: NDArray[np.floating]) -> Floats:
    """Mean over pairs of the last axis of |a - b|, then over all other axes but the first.

    Examples
    --------
    >>> mean_absolute_difference(np.array([[[0.0, 1.0, 3.0]]])).tolist()
    [2.0]
    """
    K = values.shape[-1]
    weights = (2 * np.arange(K) - K + 1).astype(values.dtype) / (K * (K - 1) / 2)
    sums: Floats = np.asarray(np.sort(values, axis=-1) @ weights).reshape(len(values), -1)
    return np.asarray(sums.mean(axis=1), dtype=np.float64)


def exchange_covariance(residuals: NDArray[np.floating]) -> Floats:
    """C, from residuals of shape (M, K, G); shape (M, M).

    Examples
    --------
    >>> exchange_covariance(np.array([[[0.5, 0.5], [-0.5, -0.5]]])).tolist()
    [[1.0]]
    """
    M, K, G = residuals.shape
    flat = residuals.reshape(M, K * G)
    C: Floats = np.asarray(flat @ flat.T, dtype=np.float64)
    C /= K - 1
    return C


def exchanged(
    residuals: NDArray[np.floating], covariance: Floats, draws: int, seed: int | tuple[int, ...]
) -> NDArray[np.float32]:
    """Sums over clusters after exchanging configurations within each, at random.

    Parameters
    ----------
    residuals
        Shape (M, K, G).
    covariance
        From `exchange_covariance`.
    draws
        Number of exchanges, B.
    seed
        Numbers that name the random numbers.

    Returns
    -------
    array
        Shape (B, M, K). Literally exchanged for few clusters in which anything varies, else normal.

    Examples
    --------
    >>> r = np.array([[[0.5, 0.5, 0.0], [-0.5, -0.5, 0.0]]])
    >>> sorted({*exchanged(r, exchange_covariance(r), 50, 0).ravel().tolist()})
    [-1.0, 0.0, 1.0]
    """
    M, K, _ = residuals.shape
    rng = np.random.default_rng(seed)
    if _literal(residuals):
        moving = _moving(residuals)
        r = np.asarray(residuals[:, :, moving], dtype=np.float32)
        out = np.empty((draws, M, K), dtype=np.float32)
        cluster = np.arange(len(moving))
        for b in range(draws):
            places = rng.random((K, len(moving))).argsort(axis=0)
            out[b] = r[:, places, cluster].sum(axis=2)
        return out
    root = _root(covariance)
    z = rng.standard_normal((draws, K, root.shape[1]), dtype=np.float32)
    z -= z.mean(axis=1, keepdims=True)
    return np.ascontiguousarray((z @ root.T).transpose(0, 2, 1))


def _moving(residuals: NDArray[np.floating]) -> NDArray[np.intp]:
    """Clusters in which anything varies."""
    return np.flatnonzero(np.abs(residuals).max(axis=(0, 1), initial=0.0) > _ROUNDING)


def _literal(residuals: NDArray[np.floating]) -> bool:
    return len(_moving(residuals)) <= FEW_CLUSTERS


def _root(covariance: Floats) -> NDArray[np.float32]:
    """A matrix whose product with its transpose is the covariance, without its null space."""
    values, vectors = np.linalg.eigh(covariance)
    keep = values > max(float(values[-1]), 0.0) * 1e-9
    return np.asarray(vectors[:, keep] * np.sqrt(values[keep]), dtype=np.float32)


def fixed_share(residuals: NDArray[np.floating], covariance: Floats) -> float:
    """Share of a normal null's variance of sums of squares that an exchange does not have.

    A cluster's own sum of squares stays as it is under exchange; only products of two clusters
    vary. With z_g the residuals of a cluster over the sd of their rows, the share is
    sum_g |z_g' z_g|^2 / |sum_g z_g z_g'|^2. It is small for many clusters and few rows, and
    without it tests with as many rows as clusters hardly ever reject.

    Parameters
    ----------
    residuals
        Shape (M, K, G).
    covariance
        From `exchange_covariance`.

    Examples
    --------
    >>> r = np.array([[[0.5, 0.5], [-0.5, -0.5]]])
    >>> fixed_share(r, exchange_covariance(r))
    0.5
    """
    M, K, G = residuals.shape
    own = np.diag(covariance)
    scale = np.where(own > 1e-9, np.maximum(own, 1e-9) ** -0.5, 0.0)
    whole = float(((covariance * np.outer(scale, scale)) ** 2).sum()) * (K - 1) ** 2
    if not whole:
        return 0.0
    fixed = 0.0
    for start in range(0, G, 1024):
        z = residuals[:, :, start : start + 1024].transpose(2, 1, 0) * scale.astype(np.float32)
        gram = z @ z.transpose(0, 2, 1) if K <= M else z.transpose(0, 2, 1) @ z
        fixed += float(np.einsum("gij,gij->", gram, gram, dtype=np.float64))
    return float(min(fixed / whole, 1.0))


def monte_carlo_p(observed: float, draws: Floats) -> float:
    """(1 + draws at least as large) / (1 + draws): valid, never 0.

    Examples
    --------
    >>> monte_carlo_p(2.0, np.array([1.0, 3.0, 0.0]))
    0.5
    """
    tied = observed - 1e-6 * abs(observed)
    return float((1 + np.count_nonzero(draws >= tied)) / (1 + len(draws)))


def exchangeability_p(
    residuals: NDArray[np.floating],
    covariance: Floats,
    draws: int,
    seed: int | tuple[int, ...],
    fixed: float | None = None,
) -> float:
    """One-sided Monte Carlo p value of IA under exchange within clusters.

    Parameters are those of `exchanged`, and `fixed`, from `fixed_share` if that is at hand.

    Examples
    --------
    >>> r = np.full((1, 2, 30), 0.5) * np.array([1, -1])[None, :, None]
    >>> exchangeability_p(r, exchange_covariance(r), 999, 0)
    0.001
    """
    observed = residuals.sum(axis=2, dtype=np.float64)[None]
    null = mean_absolute_difference(exchanged(residuals, covariance, draws, seed))
    if not _literal(residuals):
        # to the first order |sum| varies as its square does
        share = fixed_share(residuals, covariance) if fixed is None else fixed
        null = null.mean() + (null - null.mean()) * (1.0 - share) ** 0.5
    return monte_carlo_p(float(mean_absolute_difference(observed)[0]), null)


@dataclass(frozen=True, slots=True)
class CochranQ:
    """Cochran's Q, or its sum over rows, referred to (a multiple of) chi squared.

    Parameters
    ----------
    q
        The statistic; ``nan`` where nothing varies.
    df
        Degrees of freedom: K - 1 for one row; for several, Satterthwaite's.
    p
        p value.
    """

    q: float
    df: float
    p: float


def cochran_q(residuals: NDArray[np.floating]) -> tuple[CochranQ, ...]:
    """Cochran's Q of each row, generalised to clusters and to values other than 0 and 1.

    Q = sum_c R_c^2 / C[m,m] with R_c the sum of r[m,c,g] over clusters; for 0/1 and singletons it
    is (K - 1) (K sum_c G_c^2 - T^2) / (K T - sum_q k_q^2), Cochran's own.

    Parameters
    ----------
    residuals
        Shape (M, K, G).

    Examples
    --------
    >>> r = np.array([[1, 1, 1, 0], [0, 1, 0, 0]]) * 1.0
    >>> found = cochran_q((r - r.mean(axis=0))[None])[0]
    >>> found.q, found.df, round(found.p, 4)
    (2.0, 1, 0.1573)
    """
    from scipy.special import chdtrc

    K = residuals.shape[1]
    total = (residuals.sum(axis=2, dtype=np.float64) ** 2).sum(axis=1)
    own = np.einsum("mcg,mcg->m", residuals, residuals, dtype=np.float64) / (K - 1)
    out = []
    for top, bottom in zip(total.tolist(), own.tolist(), strict=True):
        q = top / bottom if bottom > 1e-9 else float("nan")
        out.append(CochranQ(q, K - 1, float(chdtrc(K - 1, q)) if bottom > 1e-9 else float("nan")))
    return tuple(out)


def cochran_q_together(
    residuals: NDArray[np.floating], covariance: Floats, fixed: float | None = None
) -> CochranQ:
    """The sum of Cochran's Q over rows, whose dependence is in their covariance.

    Under exchange the sum is that of lambda_i chi^2(K-1), lambda the eigenvalues of corr(C), M in
    sum. Satterthwaite: a multiple of one chi squared with df = (K - 1) M^2 / sum lambda^2, in which
    sum lambda^2 is taken without the part that no exchange varies (`fixed_share`).

    Parameters
    ----------
    residuals
        Shape (M, K, G).
    covariance
        From `exchange_covariance`.
    fixed
        From `fixed_share`, if that is at hand.

    Returns
    -------
    CochranQ
        `q` is the sum; `df` Satterthwaite's, to which q df / (M (K - 1)) is referred.

    Examples
    --------
    >>> r = np.array([[1, 1, 1, 0], [0, 1, 0, 0]]) * 1.0
    >>> twice = np.array([r - r.mean(axis=0)] * 2)
    >>> both = cochran_q_together(twice, exchange_covariance(twice))
    >>> both.q, round(both.df, 6), round(both.p, 4)
    (4.0, 2.0, 0.1353)
    """
    from scipy.special import chdtrc

    K = residuals.shape[1]
    own = np.diag(covariance)
    varies = own > 1e-9
    M = int(varies.sum())
    if M == 0:
        return CochranQ(float("nan"), float("nan"), float("nan"))
    total = (residuals.sum(axis=2, dtype=np.float64) ** 2).sum(axis=1)[varies]
    q = float((total / own[varies]).sum())
    sd = np.sqrt(own[varies])
    lambda2 = float(((covariance[np.ix_(varies, varies)] / np.outer(sd, sd)) ** 2).sum())
    lambda2 *= 1.0 - (fixed_share(residuals, covariance) if fixed is None else fixed)
    if lambda2 < 1e-9:  # one cluster, whose exchange leaves the sum as it is
        return CochranQ(q, float("nan"), float("nan"))
    df = (K - 1) * M * M / lambda2
    return CochranQ(q, df, float(chdtrc(df, q * df / (M * (K - 1)))))


def equal_accuracy_p(observed: float, deviations: NDArray[np.floating]) -> float:
    """One-sided p value of IA against IA of what resampling alone does to accuracies.

    Parameters
    ----------
    observed
        Mean absolute difference of the accuracies.
    deviations
        A* - A, shape (B, M, K): accuracies of resamples less those of the study.

    Examples
    --------
    >>> noise = np.random.default_rng(0).normal(size=(999, 1, 4))
    >>> equal_accuracy_p(5.0, noise)
    0.001
    """
    return monte_carlo_p(observed, mean_absolute_difference(deviations))
