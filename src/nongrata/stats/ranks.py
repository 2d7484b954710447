"""Ranks, with ties shared."""

from __future__ import annotations

import numpy as np

from nongrata.stats.accuracy import Array, Floats

TIE_DECIMALS = 10
"""Accuracies that agree to this many decimals are tied. Shares of fewer than 10^9 questions that
differ at all differ by more; sums of probabilities in another order differ by less."""


def average_ranks(values: Array) -> Floats:
    """Rank within each column, 1 for the highest; ties get the mean of the ranks they share.

    Parameters
    ----------
    values
        Shape (P, K). A column that holds a ``nan`` has no ranks.

    Returns
    -------
    array
        Shape (P, K), float64; ``nan`` in columns without ranks.

    Examples
    --------
    >>> average_ranks(np.array([[0.5], [0.9], [0.5]])).ravel().tolist()
    [2.5, 1.0, 2.5]
    """
    rounded = np.round(np.asarray(values, dtype=np.float64), TIE_DECIMALS)
    out = np.full(rounded.shape, np.nan)
    for c in np.flatnonzero(~np.isnan(rounded).any(axis=0)):
        column = rounded[:, c]
        ordered = np.sort(column)
        below = np.searchsorted(ordered, column, side="left")
        up_to = np.searchsorted(ordered, column, side="right")
        out[:, c] = len(column) + 1 - (below + up_to + 1) / 2
    return out
