"""Averages of cell accuracies with clustered standard errors and bootstrap intervals.

Source: S6. An average sum_pc a_pc A[p,c] (a label over configurations, a configuration over
labels, a level, a domain, the model) is a mean over questions of z_q = sum_pc a_pc x[p,c,q]; every
cell of a question goes along with it when questions are resampled, so neither replicates nor
configurations are resampled on top. Where answers are missing A[p,c] is a ratio, right over
present, and z_q is its linearisation.
"""

from __future__ import annotations

import numpy as np

from nongrata.stats.accuracy import Array, Bools, Floats, ratio
from nongrata.stats.influence import Estimates, estimates
from nongrata.stats.units import Units


def average_accuracies(
    values: Array, present: Bools | None, units: Units, coefficients: Floats
) -> tuple[Estimates, Floats]:
    """Averages over cells, as shares, and the design effect of each.

    Parameters
    ----------
    values
        Right or not, a mean over replicates, or theta; shape (P, K, Q); 0 where not present.
    present
        Where it is known, same shape; None: everywhere.
    units
        Clusters and strata of the questions.
    coefficients
        Weight of each cell in each average, shape (M, P, K). Cells without an answer are left
        out and the others' weights made larger.

    Returns
    -------
    estimates
        ``nan`` where no cell of an average has an answer.
    design_effect
        Variance over what it would be, were every question on its own, shape (M,); ``nan`` where
        nothing varies.

    Examples
    --------
    >>> x = np.array([[[1, 0, 1, 1], [0, 0, 1, 1]]])
    >>> found, effect = average_accuracies(x, None, Units.of(4), np.array([[[0.5, 0.5]]]))
    >>> found.value.tolist(), found.se.round(4).tolist(), effect.tolist()
    ([0.625], [0.2394], [1.0])
    """
    P, K, Q = values.shape
    if present is not None and present.all():
        present = None
    n = np.full((P, K), float(Q)) if present is None else present.sum(axis=2, dtype=np.float64)
    known = n > 0
    a = np.where(known, coefficients, 0.0)
    total = a.sum(axis=(1, 2))
    a = a / np.where(total > 0, total, 1.0)[:, None, None]
    accuracy = np.zeros((P, K))
    z = np.zeros((len(a), Q))
    for p in range(P):
        rows = np.flatnonzero(a[:, p].any(axis=1))
        if not len(rows):
            continue
        x = np.asarray(values[p], dtype=np.float64)
        accuracy[p] = np.nan_to_num(ratio(x.sum(axis=1), n[p]))
        weight = a[rows, p] / np.maximum(n[p], 1.0)
        z[rows] += weight @ x
        if present is None:
            z[rows] -= ((weight * accuracy[p]).sum(axis=1))[:, None]
        else:
            z[rows] -= (weight * accuracy[p]) @ present[p]
    value = np.where(total > 0, (a * accuracy).sum(axis=(1, 2)), np.nan)
    found = estimates(value, units.totals(z), units)
    alone = (z**2).sum(axis=1) * Q / max(Q - 1, 1)
    together = (found.influence**2).sum(axis=1)
    still = alone <= 1e-20
    effect = np.divide(together, alone, out=np.full(len(a), np.nan), where=~still)
    return found, np.where(np.isnan(value), np.nan, effect)


def rare_rate_interval(
    rate: float, se: float, clusters: float, level: float = 0.95
) -> tuple[float, float]:
    """Interval of a rate that may be 0: exact binomial at the effective number of answers.

    Source: Korn & Graubard (1998). The rate is taken as a binomial one out of
    n = rate (1 - rate) / se^2 independent answers, a little fewer for few clusters, and the limits
    are Clopper and Pearson's. Where nothing varies, n is the number of clusters.

    Parameters
    ----------
    rate, se
        Shares.
    clusters
        Number of clusters, at least 2.

    Examples
    --------
    >>> [round(end, 4) for end in rare_rate_interval(0.0, 0.0, 100)]
    [0.0, 0.0362]
    """
    from scipy.special import betaincinv, stdtrit

    if np.isnan(rate) or clusters < 2:
        return float("nan"), float("nan")
    n = float(clusters)
    if se > 0 and 0 < rate < 1:
        n = rate * (1 - rate) / se**2
        few = stdtrit(max(n - 1, 1.0), 0.975) / stdtrit(clusters - 1, 0.975)
        n *= float(few) ** 2
    x, tail = rate * n, 0.5 - level / 2
    low = float(betaincinv(x, n - x + 1, tail)) if x > 0 else 0.0
    high = float(betaincinv(x + 1, n - x, 1 - tail)) if x < n else 1.0
    return low, high
