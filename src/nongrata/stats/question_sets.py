r"""IQ(m) with the influence of every cluster of questions.

Source: S3. Per persona IQ(m) = 1 - I/U, a ratio of sums over questions,

    I = sum_q C(k_q, m) / C(K, m),   U = sum_q [1 - C(K - k_q, m) / C(K, m)],

so it needs no equal number of questions to be compared between domains. Its influence is that of
a ratio, -(i_q - (I/U) u_q) / U, averaged over the personas whose union is not empty and then over
the sets of configurations of a scope.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nongrata.stats.accuracy import Array, Bools
from nongrata.stats.influence import Estimates, estimates
from nongrata.stats.iq import inclusion
from nongrata.stats.settings import Settings
from nongrata.stats.units import Units


def instability_of_question_sets(
    correct: Array,
    present: Bools | None,
    units: Units,
    scopes: Sequence[Settings],
    m: int = 2,
) -> Estimates:
    """IQ(m) of drawn answers as a share, one row a scope.

    Parameters
    ----------
    correct
        Right or not, one draw a cell, bool, shape (P, K, Q).
    present
        Where there is an answer, same shape; None: everywhere. A persona's questions are those
        complete over the configurations compared.
    units
        Clusters and strata of the questions.
    scopes
        Each a list of sets of configurations; sets of fewer than `m` are left out.
    m
        Configurations whose sets of right questions are compared.

    Returns
    -------
    Estimates
        ``nan`` where no set is large enough or no persona has a question right.

    Examples
    --------
    >>> x = np.array([[[1, 1, 0, 0], [1, 0, 1, 0], [1, 1, 0, 0]]], dtype=bool)
    >>> both = instability_of_question_sets(x, None, Units.of(4), [[np.arange(3)]])
    >>> both.value.round(3).tolist()
    [0.5]
    """
    Q = correct.shape[2]
    value = np.full(len(scopes), np.nan)
    error = np.zeros((len(scopes), Q))
    if present is not None and present.all():
        present = None
    for s, scope in enumerate(scopes):
        found = []
        for group in scope:
            if len(group) < m:
                continue
            one, part = _one_set(correct, present, group, m)
            if not np.isnan(one):
                found.append(one)
                error[s] += part
        if found:
            value[s] = float(np.mean(found))
            error[s] /= len(found)
    return estimates(value, units.totals(error), units)


def _one_set(correct: Array, present: Bools | None, group: Array, m: int) -> tuple[float, Array]:
    chance = inclusion(len(group))[:, m - 1]
    both, either = chance, 1.0 - chance[::-1]
    whole = len(group) == correct.shape[1] and np.array_equal(group, np.arange(len(group)))
    right = (correct if whole else correct[:, group]).sum(axis=1, dtype=np.intp)
    complete: Bools | None = None
    if present is not None:
        complete = np.asarray((present if whole else present[:, group]).all(axis=1))
    error = np.zeros(correct.shape[2])
    values = []
    for p, k in enumerate(right):
        counted = k if complete is None else k[complete[p]]
        histogram = np.bincount(counted, minlength=len(chance))
        union = float(histogram @ either)
        if union <= 0:
            continue
        shared = float(histogram @ both) / union
        values.append(1.0 - shared)
        part = ((shared * either - both) / union)[k]
        error += part if complete is None else np.where(complete[p], part, 0.0)
    if not values:
        return np.nan, error
    return float(np.mean(values)), error / len(values)
