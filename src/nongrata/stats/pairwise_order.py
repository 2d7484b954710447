"""Which of two means is the higher one, for all pairs at once.

Source: S5; Romano & Wolf (2005), "Stepwise multiple testing as formalized data snooping"; Holm
(1979). The means are estimated on the same questions, so the variance of a difference is that of
the paired difference, V_jj + V_kk - 2 V_jk.

The family has *directed* hypotheses, H_jk: theta_j <= theta_k for every ordered pair (j, k), so
that a rejection states an order and a wrong order counts as an error. In the first step this is
the two-sided test of all pairs.

* z_jk = (A_j - A_k) / se_jk, turned from Student's t with `df` degrees of freedom to the normal
  deviate of the same p value, which matters where clusters are few.
* Holm: p_jk from z_jk; valid whatever the dependence.
* Step-down max-t: the critical value is a quantile of the largest deviate among the hypotheses not
  yet rejected, found from Gaussian draws with the covariance of the means. All differences follow
  from one P-dimensional draw, which is what makes this cheap. Never Holm on p values *counted* from
  draws: 1 / (B + 1) may not reach .05 / P(P-1).

Where the standard error of a difference is 0 there is no order: the pair is a tie. That is so of
two means that agree on every question, and of a difference that is the same on every question, for
which no standard error can be had.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nongrata.stats.accuracy import Bools, Floats
from nongrata.stats.multiplicity import holm

Noise = NDArray[np.float32]

NO_VARIANCE = 1e-11
"""A difference whose variance is this small a part of the means' variances has none: what is left
is rounding (1e-14). Two means over 48 x 5,013 answers that differ in one answer have 4e-7."""


@dataclass(frozen=True, slots=True)
class Differences:
    """All differences of P means.

    Parameters
    ----------
    estimate
        The means, shape (P,).
    difference
        estimate[j] - estimate[k] at [j, k], shape (P, P).
    se
        Standard errors of the differences; ``nan`` where there is none.
    z
        Normal deviate of the difference; 0 where there is no standard error.
    comparable
        Where there is a standard error above 0; False on the diagonal.
    df
        Degrees of freedom of the standard errors.
    """

    estimate: Floats
    difference: Floats
    se: Floats
    z: Floats
    comparable: Bools
    df: int

    @property
    def one_sided(self) -> Floats:
        """P value of theta_j <= theta_k at [j, k]; ``nan`` where there is none."""
        from scipy.special import ndtr

        return np.where(self.comparable, ndtr(-self.z), np.nan)


def differences(estimate: Floats, covariance: Floats, df: int) -> Differences:
    """All differences of means, their standard errors and their normal deviates.

    Parameters
    ----------
    estimate
        Means, shape (P,).
    covariance
        Their covariance matrix, shape (P, P).
    df
        Degrees of freedom: clusters less strata. Below 1 nothing is comparable.

    Examples
    --------
    >>> found = differences(np.array([0.6, 0.5]), np.diag([0.0009, 0.0016]), 500)
    >>> round(float(found.se[0, 1]), 3), round(float(found.z[0, 1]), 3)
    (0.05, 1.995)
    """
    from scipy.special import ndtri, stdtr

    own = np.diag(covariance)
    variance = own[:, None] + own - covariance - covariance.T
    known = np.isfinite(variance) & (df > 0)
    largest = np.maximum(own[:, None], own)
    comparable = known & (np.where(known, variance, 0) > NO_VARIANCE * np.where(known, largest, 0))
    np.fill_diagonal(comparable, val=False)
    se = np.sqrt(np.where(comparable, variance, np.nan))
    difference = estimate[:, None] - estimate
    t = np.where(comparable, difference / se, 0.0)
    tail = stdtr(df, -np.abs(t)) if df > 0 else np.full_like(t, 0.5)
    z = np.where(comparable, np.sign(t) * -ndtri(tail), 0.0)
    return Differences(estimate, difference, se, z, comparable, df)


def multiplier_noise(covariance: Floats, normals: NDArray[np.floating]) -> Noise:
    """Draws of the means' sampling error, jointly Gaussian.

    Parameters
    ----------
    covariance
        Shape (P, P).
    normals
        Independent standard normal numbers, shape (P, B).

    Returns
    -------
    array
        float32, shape (P, B).

    Examples
    --------
    >>> normals = np.random.default_rng(0).standard_normal((2, 4000))
    >>> np.cov(multiplier_noise(np.array([[4.0, 2.0], [2.0, 9.0]]), normals)).round(0).tolist()
    [[4.0, 2.0], [2.0, 9.0]]
    """
    values, vectors = np.linalg.eigh(covariance)
    root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    return np.asarray(root @ normals, dtype=np.float32)


def inverse(se: Floats) -> NDArray[np.float32]:
    """One over standard errors; those too small for single precision are kept inside it.

    Examples
    --------
    >>> bool(np.isfinite(inverse(np.array([0.5, 1e-60]))).all())
    True
    """
    return np.asarray(np.minimum(1.0 / se, 1e30), dtype=np.float32)


def critical_value(largest: Noise, alpha: float) -> NDArray[np.float64]:
    """Value that a deviate must exceed, from draws of the largest deviate along the last axis.

    The smallest one for which (1 + draws at least as large) / (B + 1) <= alpha: the Monte Carlo
    test is exact for any number of draws. Infinite where the draws are too few.

    Examples
    --------
    >>> critical_value(np.arange(1.0, 100.0), 0.05).tolist()
    95.0
    """
    draws = largest.shape[-1]
    allowed = int(np.floor(alpha * (draws + 1) + 1e-9)) - 1
    if allowed < 0:
        return np.full(largest.shape[:-1], np.inf)
    at = draws - allowed - 1
    return np.asarray(np.partition(largest, at, axis=-1)[..., at], dtype=np.float64)


def largest_deviate(found: Differences, noise: Noise, among: Bools) -> Noise:
    """Largest deviate of the directed differences [j, k] in `among`, in each draw.

    Parameters
    ----------
    found
        The differences.
    noise
        From `multiplier_noise`, shape (P, B).
    among
        Which, shape (P, P).

    Returns
    -------
    array
        float32, shape (B,); minus infinity if there is none.
    """
    out = np.full(noise.shape[1], -np.inf, dtype=np.float32)
    for j in range(len(noise)):
        k = np.flatnonzero(among[j])
        if len(k):
            scale = inverse(found.se[j, k])[:, None]
            np.maximum(out, ((noise[j] - noise[k]) * scale).max(axis=0), out=out)
    return out


def ordered_by_steps(found: Differences, noise: Noise, alpha: float = 0.05) -> Bools:
    """Step-down max-t over all ordered pairs.

    Parameters
    ----------
    found
        The differences.
    noise
        From `multiplier_noise`, shape (P, B).
    alpha
        Largest chance that any order stated is wrong.

    Returns
    -------
    array
        bool, shape (P, P): [j, k] is True where j is shown to be above k.

    Examples
    --------
    >>> covariance = np.eye(3) * 1e-4
    >>> found = differences(np.array([0.7, 0.5, 0.49]), covariance, 1000)
    >>> normals = np.random.default_rng(0).standard_normal((3, 999))
    >>> ordered_by_steps(found, multiplier_noise(covariance, normals)).astype(int).tolist()
    [[0, 1, 1], [0, 0, 0], [0, 0, 0]]
    """
    ordered = np.zeros_like(found.comparable)
    while True:
        left = found.comparable & ~ordered
        if not left.any():
            return ordered
        new = left & (found.z > critical_value(largest_deviate(found, noise, left), alpha))
        if not new.any():
            return ordered
        ordered |= new


def adjusted_by_steps(found: Differences, noise: Noise) -> Floats:
    """Adjusted p values of `ordered_by_steps`: [j, k] at most alpha where j is above k at alpha.

    Parameters
    ----------
    found
        The differences.
    noise
        From `multiplier_noise`, shape (P, B). Memory is P(P-1) x B numbers of 4 bytes.

    Returns
    -------
    array
        Shape (P, P); ``nan`` where there is no standard error.

    Examples
    --------
    >>> found = differences(np.array([0.7, 0.5]), np.eye(2) * 1e-4, 1000)
    >>> noise = multiplier_noise(np.eye(2) * 1e-4, np.random.default_rng(0).normal(size=(2, 999)))
    >>> adjusted_by_steps(found, noise).tolist()
    [[nan, 0.001], [1.0, nan]]
    """
    out = np.full(found.z.shape, np.nan)
    j, k = np.nonzero(found.comparable)
    if len(j) == 0:
        return out
    order = np.argsort(found.z[j, k], kind="stable")
    j, k = j[order], k[order]
    z, draws = found.z[j, k], noise.shape[1]
    largest = np.full(draws, -np.inf, dtype=np.float32)
    p = np.empty(len(z))
    for start in range(0, len(z), 256):  # upwards: the largest among this one and all below it
        rows = slice(start, start + 256)
        deviate = noise[j[rows]] - noise[k[rows]]
        deviate *= inverse(found.se[j[rows], k[rows]])[:, None]
        np.maximum(deviate[0], largest, out=deviate[0])
        np.maximum.accumulate(deviate, axis=0, out=deviate)
        largest = deviate[-1].copy()
        reached = np.count_nonzero(deviate >= z[rows].astype(np.float32)[:, None], axis=1)
        p[rows] = (1 + reached) / (draws + 1)
    out[j, k] = np.maximum.accumulate(p[::-1])[::-1]
    return out


def adjusted_by_holm(found: Differences) -> Floats:
    """Holm's adjusted p values of all directed hypotheses.

    Parameters
    ----------
    found
        The differences.

    Returns
    -------
    array
        Shape (P, P); ``nan`` where there is no standard error.

    Examples
    --------
    >>> found = differences(np.array([0.6, 0.5]), np.diag([0.0009, 0.0016]), 10**6)
    >>> adjusted_by_holm(found).round(4).tolist()
    [[nan, 0.0455], [0.9772, nan]]
    """
    return holm(found.one_sided.ravel()).reshape(found.z.shape)
