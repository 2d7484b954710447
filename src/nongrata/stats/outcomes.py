"""What became of the requests: counts and rates of outcomes.

Source: section 3 of the study. Unparsed, refused and truncated answers exist but could not be read;
an error, or a request not yet carried out, is missing data.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nongrata.stats.accuracy import Floats, ratio

OUTCOMES = ("answered", "unparsed", "refused", "truncated", "error", "not_obtained")
"""Names of the outcomes, in the order of `outcome_counts`."""

CODES = (0, 1, 2, 3, 4, 255)
"""Their codes."""


def outcome_counts(outcome: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Count each outcome over the last axis.

    Parameters
    ----------
    outcome
        Codes, shape (..., N).

    Returns
    -------
    array
        Shape (..., 6), in the order of `OUTCOMES`.

    Examples
    --------
    >>> outcome_counts(np.array([0, 0, 1, 255], np.uint8)).tolist()
    [2, 1, 0, 0, 0, 1]
    """
    counts = [np.count_nonzero(outcome == code, axis=-1) for code in CODES]
    return np.stack([np.asarray(c) for c in counts], axis=-1).astype(np.int64)


def outcome_rates(counts: NDArray[np.int64]) -> Floats:
    """Shares of outcomes.

    The first five are shares of what was attempted (everything but ``not_obtained``); the sixth
    is the share of all answers wanted. ``nan`` where nothing was attempted, or nothing wanted.

    Parameters
    ----------
    counts
        From `outcome_counts`, shape (..., 6).

    Examples
    --------
    >>> outcome_rates(np.array([2, 1, 0, 0, 1, 4])).tolist()
    [0.5, 0.25, 0.0, 0.0, 0.25, 0.5]
    """
    wanted = counts.sum(axis=-1, keepdims=True)
    attempted = wanted - counts[..., 5:]
    return np.concatenate([ratio(counts[..., :5], attempted), ratio(counts[..., 5:], wanted)], -1)
