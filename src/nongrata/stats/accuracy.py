"""Accuracy, with missing answers and with the bounds that unread answers allow.

Source: S1. ``A[p,c]`` is the mean over questions of x[p,c,q], where x is one draw (0 or 1) or the
exact probability theta that the answer is right.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

ANSWERED = 0
"""Outcome code of an answer that was read; 1-3 were not, and count as not correct."""

FIRST_MISSING = 4
"""Outcome codes from here on (error, not obtained) are missing data, never wrong answers."""


def is_present(outcome: NDArray[np.uint8]) -> Bools:
    """Whether there is an answer, read or not.

    Examples
    --------
    >>> is_present(np.array([0, 1, 2, 3, 4, 255], np.uint8)).tolist()
    [True, True, True, True, False, False]
    """
    return outcome < FIRST_MISSING


def accuracy(values: Array, present: Bools | None = None) -> Floats:
    """Share of right answers, A = sum of x over present questions / their number.

    Parameters
    ----------
    values
        Right (1) or not (0), or theta; shape (..., Q). What stands at missing places is ignored.
    present
        Where there is an answer, same shape; None: everywhere.

    Returns
    -------
    array
        Shape (...); a share, 0 to 1; ``nan`` where no question is present.

    Examples
    --------
    >>> accuracy(np.array([[1, 0, 1, 1]]), np.array([[True, True, True, False]])).tolist()
    [0.6666666666666666]
    """
    if present is None:
        total, n = sums(values), np.full(values.shape[:-1], values.shape[-1])
    else:
        total, n = sums(np.where(present, values, 0)), np.count_nonzero(present, axis=-1)
    return ratio(total, n)


def complete_accuracy(
    values: Array, present: Bools | None = None
) -> tuple[Floats, NDArray[np.intp]]:
    """Accuracies that can be ranked: on questions complete for all personas in a configuration.

    Parameters
    ----------
    values
        Right or not, or theta; shape (P, K, Q).
    present
        Where there is an answer, same shape; None: everywhere.

    Returns
    -------
    accuracy
        Shape (P, K), a share; a column of ``nan`` where no question is complete.
    questions
        Number of complete questions of each configuration, shape (K,).

    Examples
    --------
    >>> x = np.array([[[1, 1, 0]], [[1, 0, 0]]])
    >>> there = np.array([[[True, True, True]], [[True, True, False]]])
    >>> a, n = complete_accuracy(x, there)
    >>> a[:, 0].tolist(), n.tolist()
    ([1.0, 0.5], [2])
    """
    if present is None or present.all():
        return accuracy(values), np.full(values.shape[1], values.shape[2], dtype=np.intp)
    complete = present.all(axis=0)
    n = np.count_nonzero(complete, axis=-1)
    return ratio(sums(np.where(complete, values, 0)), n[None, :]), n


@dataclass(frozen=True, slots=True)
class AccuracyBounds:
    """What accuracy could be, for all that the unread answers say; shares, 0 to 1.

    Parameters
    ----------
    low
        Unread answers all wrong: the default everywhere else.
    high
        Unread answers all right.
    read_only
        Unread answers dropped: right answers over answers read.
    present
        Number of answers, read or not.
    """

    low: Floats
    high: Floats
    read_only: Floats
    present: NDArray[np.intp]


def accuracy_bounds(correct: Bools, outcome: NDArray[np.uint8]) -> AccuracyBounds:
    """Accuracy with unparsed, refused and truncated answers all wrong, all right, or dropped.

    Missing answers (error, not obtained) are in none of the three.

    Parameters
    ----------
    correct
        Whether the answer was read and right, shape (..., Q).
    outcome
        Outcome codes, same shape.

    Examples
    --------
    >>> b = accuracy_bounds(np.array([True, False, False]), np.array([0, 0, 1], np.uint8))
    >>> [round(float(v), 3) for v in (b.low, b.high, b.read_only)]
    [0.333, 0.667, 0.5]
    """
    right = np.count_nonzero(correct, axis=-1)
    read = np.count_nonzero(outcome == ANSWERED, axis=-1)
    present = np.count_nonzero(is_present(outcome), axis=-1)
    return AccuracyBounds(
        low=ratio(right, present),
        high=ratio(right + present - read, present),
        read_only=ratio(right, read),
        present=np.asarray(present),
    )


def sums(values: Array) -> Array:
    """Sum over the last axis: exact integers for draws, float64 for probabilities.

    Examples
    --------
    >>> sums(np.array([[True, True, False]])).tolist()
    [2]
    """
    if values.dtype == np.bool_:
        return np.asarray(np.count_nonzero(values, axis=-1))
    kind = np.float64 if np.issubdtype(values.dtype, np.floating) else np.int64
    return np.asarray(values.sum(axis=-1, dtype=kind))


def ratio(top: Array, bottom: Array) -> Floats:
    """``top / bottom``, ``nan`` where the bottom is 0.

    Examples
    --------
    >>> ratio(np.array([1, 0]), np.array([2, 0])).tolist()
    [0.5, nan]
    """
    shape = np.broadcast_shapes(np.shape(top), np.shape(bottom))
    out = np.full(shape, np.nan)
    np.divide(top, bottom, out=out, where=np.broadcast_to(np.asarray(bottom) != 0, shape))
    return out
