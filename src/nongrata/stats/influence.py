r"""Estimates together with what each cluster of questions contributes to them.

Source: S6 and the infinitesimal jackknife. A smooth function of means over questions has, to first
order, the error sum_g psi_g, where psi_g is the influence of cluster g. With psi centred within
strata and scaled by sqrt(G_h / (G_h - 1)),

    Var(estimate)        = sum_g psi_g^2,
    Cov(one, another)    = sum_g psi_g psi'_g,
    estimate in resample = estimate + sum_g w_g psi_g,  w the bootstrap weights of the clusters,

so estimates of one model over the same questions, of several models over the same questions and
of domains with questions of their own are compared by subtracting rows; nothing is computed
again. For a mean all of this is exact (`Units.variance_of_mean`); for a ratio of means it is the
usual linearisation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nongrata.stats.accuracy import Array, Floats
from nongrata.stats.units import Units, Weights


@dataclass(frozen=True)
class Estimates:
    """Some estimates and the influence of every cluster on each.

    Parameters
    ----------
    value
        Shape (M,); ``nan`` where there is none.
    influence
        Centred and scaled, shape (M, G); 0 where a cluster has no part.
    df
        Degrees of freedom of each variance, shape (M,).

    Examples
    --------
    >>> units = Units.of(4)
    >>> x = np.array([[1.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 0.0]])
    >>> both = means(x, units)
    >>> both.value.tolist(), both.se.round(4).tolist()
    ([0.5, 0.25], [0.2887, 0.25])
    >>> both.contrasts(np.array([[1.0, -1.0]])).se.round(4).tolist()
    [0.25]
    """

    value: Floats
    influence: Floats
    df: Floats

    def __len__(self) -> int:
        return len(self.value)

    @property
    def se(self) -> Floats:
        """Standard errors; ``nan`` where there is no estimate or fewer than two clusters."""
        out = np.sqrt((self.influence**2).sum(axis=1))
        return np.where(np.isnan(self.value) | (self.df < 1), np.nan, out)

    @property
    def covariance(self) -> Floats:
        """Covariance matrix, shape (M, M)."""
        return np.asarray(self.influence @ self.influence.T)

    def take(self, rows: Array) -> Estimates:
        """Some of the rows."""
        return Estimates(self.value[rows], self.influence[rows], self.df[rows])

    def contrasts(self, coefficients: Floats) -> Estimates:
        """Linear combinations of the rows, for coefficients of shape (N, M).

        Degrees of freedom are Satterthwaite's if the rows share no cluster, as domains do, else
        the smallest of the rows that have a part.
        """
        variance = (self.influence**2).sum(axis=1)
        parts = coefficients**2 * variance
        with np.errstate(divide="ignore", invalid="ignore"):
            welch = parts.sum(axis=1) ** 2 / (parts**2 / self.df).sum(axis=1)
            smallest = np.where(coefficients != 0, self.df, np.inf).min(axis=1)
        disjoint = not ((self.influence != 0).sum(axis=0) > 1).any()
        df = np.where(np.isfinite(welch) & disjoint, welch, smallest)
        used = np.where(coefficients != 0, self.value, 0.0)
        return Estimates((coefficients * used).sum(axis=1), coefficients @ self.influence, df)

    def t_interval(self, level: float = 0.95) -> tuple[Floats, Floats]:
        """Estimate -+ t quantile x standard error."""
        from scipy.special import stdtrit

        df = np.where(self.df >= 1, self.df, np.nan)
        reach = stdtrit(df, 0.5 + level / 2) * self.se
        return self.value - reach, self.value + reach

    def p_values(self) -> Floats:
        """Two-sided p of the estimate being 0, from t; ``nan`` where the standard error is 0."""
        from scipy.special import stdtr

        se = self.se
        t = np.divide(self.value, se, out=np.full(len(se), np.nan), where=se > 0)
        return np.asarray(2.0 * stdtr(np.where(self.df >= 1, self.df, np.nan), -np.abs(t)))

    def percentile_interval(self, weights: Weights, level: float = 0.95) -> tuple[Floats, Floats]:
        """Percentiles over resamples of the clusters, moved outwards as t is from the normal.

        The scale in `influence` already makes up for G_h - 1 in place of G_h; with few clusters
        the percentiles Phi(-+t) are taken in place of Phi(-+z) (Hesterberg 2015, "expanded
        percentiles"). With 1,000 clusters both change nothing that can be seen.

        Parameters
        ----------
        weights
            Shape (B, G), from `Units.bootstrap_weights`.
        """
        from scipy.special import ndtr, stdtrit

        M = len(self)
        low, high = np.full(M, np.nan), np.full(M, np.nan)
        if len(weights) == 0 or M == 0:
            return low, high
        moved = weights @ self.influence.T.astype(np.float32)
        for j in np.flatnonzero(~np.isnan(self.se)):
            tail = float(ndtr(stdtrit(self.df[j], 0.5 - level / 2)))
            low[j], high[j] = self.value[j] + np.quantile(moved[:, j], [tail, 1 - tail])
        return low, high


def stacked(*parts: Estimates) -> Estimates:
    """Rows of several one below another, over the same clusters."""
    return Estimates(
        np.concatenate([part.value for part in parts]),
        np.concatenate([part.influence for part in parts]),
        np.concatenate([part.df for part in parts]),
    )


def means(x: Array, units: Units) -> Estimates:
    """Means over questions, for rows of shape (M, Q) without missing values."""
    values = np.asarray(x, dtype=np.float64)
    return estimates(values.mean(axis=1), units.totals(values) / units.questions, units)


def estimates(value: Floats, totals: Array, units: Units) -> Estimates:
    """Estimates from each cluster's part in their error, not yet centred.

    Parameters
    ----------
    value
        Shape (M,).
    totals
        Cluster totals of the linearised error, as sum x / Q for a mean, shape (M, G).
    """
    df = np.full(len(value), effective_df(units))
    return Estimates(np.asarray(value, dtype=np.float64), centred(totals, units), df)


def centred(totals: Array, units: Units) -> Floats:
    """Totals less their stratum's mean for every question, scaled by sqrt(G_h / (G_h - 1)).

    The sum over clusters of products of two rows is their covariance, as in
    `Units.covariance_of_total_means`.

    Parameters
    ----------
    totals
        Shape (..., G).

    Examples
    --------
    >>> r = centred(np.array([1.0, 0.0, 0.0, 1.0]) / 4, Units.of(4))
    >>> float((r**2).sum().round(6))
    0.083333
    """
    out = np.empty(totals.shape, dtype=np.float64)
    for h in range(units.strata):
        where = slice(None) if units.strata == 1 else np.flatnonzero(units.stratum == h)
        part, size = totals[..., where], units.sizes[where]
        n = len(size)
        total = part.sum(axis=-1, keepdims=True, dtype=np.float64)
        scale = np.sqrt(n / (n - 1)) if n > 1 else 0.0
        out[..., where] = scale * (part - total / max(size.sum(), 1) * size)
    return out


def effective_df(units: Units) -> float:
    """Degrees of freedom of a variance over clusters of unequal size.

    Clusters less strata, with clusters counted as (sum v_g)^2 / sum v_g^2: their number if all are
    of one size, less if a few hold most questions. That is Satterthwaite's formula where the
    variance of a cluster's total is v_g; v_g = n_g^1.5 lies between questions that know nothing
    of one another (n_g) and clusters that stand or fall as a whole (n_g^2). Simulated coverage of
    .95 intervals with G - 1 falls to .91 in 103 clusters of which three hold 31% of the questions;
    with this count it is .95 to .98 (docs/statistics/accuracy.md).

    Examples
    --------
    >>> effective_df(Units.of(10))
    9.0
    >>> round(effective_df(Units.of(10, np.array([0, 0, 0, 0, 0, 1, 2, 3, 4, 5]))), 2)
    1.01
    """
    if len(units) < 2:
        return 0.0
    v = units.sizes.astype(np.float64) ** 1.5
    return float(v.sum() ** 2 / (v**2).sum() - units.strata)


def scattered(part: Estimates, units: Units, questions: NDArray[np.integer]) -> Estimates:
    """Estimates on some of the questions, their influence placed among all clusters.

    Parameters
    ----------
    part
        Over the clusters of ``units.on(questions)``.
    units
        Of all questions.
    questions
        Positions of the questions used.
    """
    own = units.cluster[questions]
    _, first = np.unique(own, return_index=True)
    clusters = own[np.sort(first)]  # in the order in which `Units.on` numbers them
    out = np.zeros((len(part), len(units)))
    out[:, clusters] = part.influence
    return Estimates(part.value, out, part.df)
