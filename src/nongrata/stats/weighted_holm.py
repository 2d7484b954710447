"""Many tests at once, some more important than others: Holm's procedure with weights.

Source: Holm (1979), section 4. Sorted by p / w, the i-th hypothesis is rejected where
p_i / w_i <= alpha / (sum of the weights not rejected before). Bonferroni with weights, made
step-down: valid whatever the dependence between the tests, for any weights chosen beforehand.
"""

from __future__ import annotations

import numpy as np

from nongrata.stats.accuracy import Floats


def weighted_holm(p: Floats, weights: Floats) -> Floats:
    """Adjust p values so that those at most alpha hold together.

    Parameters
    ----------
    p
        One p value a test, shape (m,). A ``nan`` is a test that could not be done: it keeps its
        weight, so that what is left out because of the data makes nothing else easier.
    weights
        Positive, shape (m,); only their ratios matter. Equal weights give Holm's procedure.

    Returns
    -------
    array
        Adjusted p values; ``nan`` where `p` is.

    Examples
    --------
    >>> weighted_holm(np.array([0.01, 0.04, 0.03]), np.ones(3)).round(3).tolist()
    [0.03, 0.06, 0.06]
    >>> weighted_holm(np.array([0.02, 0.04]), np.array([3.0, 1.0])).round(3).tolist()
    [0.027, 0.04]
    """
    known = np.where(np.isnan(p), np.inf, np.asarray(p, dtype=np.float64))
    ratio = known / weights
    order = np.argsort(ratio, kind="stable")
    left = np.cumsum(weights[order][::-1])[::-1]
    adjusted = np.empty(len(known))
    adjusted[order] = np.minimum(np.maximum.accumulate(ratio[order] * left), 1.0)
    return np.where(np.isnan(p), np.nan, adjusted)


def family_weights(family: list[str]) -> Floats:
    """Weights that give every family the same share, divided equally among its members.

    Parameters
    ----------
    family
        The family of each test.

    Examples
    --------
    >>> family_weights(["pairs", "pairs", "best"]).tolist()
    [0.5, 0.5, 1.0]
    """
    sizes = {name: family.count(name) for name in set(family)}
    return np.array([1.0 / sizes[name] for name in family])
