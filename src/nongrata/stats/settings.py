"""Configurations that differ in one factor only."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Settings = Sequence[NDArray[np.intp]]
"""Sets of configurations, each an array of their positions."""


def one_factor_settings(levels: NDArray[np.integer], factor: int) -> list[NDArray[np.intp]]:
    """Group configurations that agree in everything but one factor.

    A per-factor figure varies one factor, holds the others, and is averaged over their settings:
    it is the mean, over the groups returned here, of the figure computed on the group alone.

    Parameters
    ----------
    levels
        Level of each factor in each configuration, shape (K, F).
    factor
        Column of the factor that varies.

    Returns
    -------
    list of arrays
        Positions of the configurations of each setting, in order of first appearance.

    Examples
    --------
    >>> levels = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    >>> [group.tolist() for group in one_factor_settings(levels, 1)]
    [[0, 1], [2, 3]]
    """
    groups: dict[tuple[int, ...], list[int]] = {}
    for configuration, row in enumerate(np.delete(levels, factor, axis=1).tolist()):
        groups.setdefault(tuple(row), []).append(configuration)
    return [np.array(group, dtype=np.intp) for group in groups.values()]


def all_together(configurations: int) -> list[NDArray[np.intp]]:
    """The one setting that holds every configuration.

    Examples
    --------
    >>> [group.tolist() for group in all_together(3)]
    [[0, 1, 2]]
    """
    return [np.arange(configurations, dtype=np.intp)]
