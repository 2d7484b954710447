"""Tests by flipping the sign of a question's differences: all of them at once.

Source: S8. Where two prompts are equally good, a question's differences D_q (one for each
configuration) are as likely as -D_q. So the sign of the *whole* vector of a question (cluster) is
flipped, the same for all configurations and all labels. Flipping each difference on its own would
treat the answers to one question in 48 configurations as 48 questions.

With few clusters all flips are gone through and the p value is exact. A flip and its opposite give
the same two-sided statistic, so only one of the two is made, and the flip that changes nothing is
left out: it is the study itself, which a p value counts by its "1 +".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nongrata.stats.accuracy import Array, Floats
from nongrata.stats.max_t import step_down_p
from nongrata.stats.units import Units

TIE = 1e-7
"""Statistics closer than this are equal: they differ in the order of summation."""


def sign_flips(clusters: int, draws: int, seed: int | tuple[int, ...] = 0) -> NDArray[np.float32]:
    """Signs of each cluster in each flip.

    Parameters
    ----------
    clusters
        Number of clusters, G.
    draws
        Number of random flips, B.
    seed
        Numbers that name the random numbers.

    Returns
    -------
    array
        +1 or -1, shape (B, G); all 2^(G-1) - 1 different flips where these are no more than B.

    Examples
    --------
    >>> sign_flips(3, 10).tolist()
    [[1.0, -1.0, 1.0], [1.0, 1.0, -1.0], [1.0, -1.0, -1.0]]
    >>> sign_flips(100, 5).shape
    (5, 100)
    """
    if clusters < 2:
        return np.ones((0, clusters), dtype=np.float32)
    if clusters < 31 and 2 ** (clusters - 1) - 1 <= draws:
        number = np.arange(1, 2 ** (clusters - 1))
        down = (number[:, None] >> np.arange(-1, clusters - 1).clip(0)) & 1
        down[:, 0] = 0
        return np.asarray(1 - 2 * down, dtype=np.float32)
    down = np.random.default_rng(seed).integers(0, 2, (draws, clusters), dtype=np.int8)
    return (1 - 2 * down).astype(np.float32)


@dataclass(frozen=True)
class Flips:
    """Sign flips of the clusters of a study, made once for all labels.

    Parameters
    ----------
    signs
        Shape (B, G).
    questions
        Sum over the clusters of each stratum of sign x questions, shape (B, H): what a flip makes
        of a difference that is the same for every question.

    Examples
    --------
    >>> flips = Flips.of(Units.of(3, cluster=np.array([0, 0, 1])), 10)
    >>> flips.signs.tolist(), flips.questions.tolist()
    ([[1.0, -1.0]], [[1.0]])
    """

    signs: NDArray[np.float32]
    questions: NDArray[np.float32]

    @classmethod
    def of(cls, units: Units, draws: int, seed: int | tuple[int, ...] = 0) -> Flips:
        """The flips of `sign_flips` for these units."""
        signs = sign_flips(len(units), draws, seed)
        sizes = np.zeros((len(units), units.strata), dtype=np.float32)
        sizes[np.arange(len(units)), units.stratum] = units.sizes
        return cls(signs, signs @ sizes)


def flip_p(observed: float, flipped: Array) -> float:
    """Two-sided p value: share of flips, the study among them, that reach |observed|.

    Parameters
    ----------
    observed
        The statistic.
    flipped
        The statistic in each flip, shape (B,).

    Examples
    --------
    >>> flip_p(1.0, np.array([-1.0, 0.5, 0.2]))
    0.5
    """
    if not len(flipped) or np.isnan(observed):
        return float("nan")
    return float(
        (1 + np.count_nonzero(np.abs(flipped) >= abs(observed) - TIE)) / (1 + len(flipped))
    )


def flip_p_together(observed: Floats, flipped: Array) -> Floats:
    """P values of several labels, adjusted step by step for there being several.

    The flips are the same for all labels, so the largest statistic of each flip is what the
    largest observed one is compared with (Romano & Wolf).

    Parameters
    ----------
    observed
        One statistic a label, on one scale, shape (M,).
    flipped
        Shape (B, M).

    Examples
    --------
    >>> flip_p_together(np.array([1.0, 0.4]), np.array([[-1.0, 0.2], [0.5, 0.3], [0.2, 0.1]]))
    array([0.5, 0.5])
    """
    if not len(flipped):
        return np.full(len(observed), np.nan)
    return step_down_p(np.maximum(np.abs(observed) - TIE, 0.0), flipped)
