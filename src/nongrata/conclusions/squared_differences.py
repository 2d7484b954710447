"""Noise-free mean squared difference of accuracy between configurations (S2), as used here.

V = mean over labels, settings and pairs of configurations c < c' of the setting of
D^2 - se^2(D), D = A[p,c] - A[p,c']: it estimates the mean squared true difference without bias,
whatever the noise, so it may be compared between factors, domains and models. Its standard
deviation over resamples of the questions is its standard error, a little too large near 0, where
the noise counts double.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nongrata.stats.accuracy import Floats
from nongrata.stats.settings import Settings


def mean_squared_difference(a: Floats, settings: Settings) -> Floats:
    """Mean over personas, settings and pairs of squared differences.

    Parameters
    ----------
    a
        Accuracies, shape (..., P, K).
    settings
        Sets of configurations that are compared with one another, two or more each.

    Returns
    -------
    array
        Shape (...).

    Examples
    --------
    >>> mean_squared_difference(np.array([[1.0, 3.0]]), [np.arange(2)]).tolist()
    4.0
    """
    total = np.zeros(a.shape[:-2])
    for setting in settings:
        n = len(setting)
        part = a[..., setting]
        part = part - part.mean(axis=-1, keepdims=True)
        # sum over pairs of D^2 = n sum of squared deviations
        total += (part.astype(np.float64) ** 2).sum(axis=-1).mean(axis=-1) * 2 / (n - 1)
    return np.asarray(total / len(settings))


def mean_squared_noise(covariance: Floats, settings: Settings) -> float:
    """What noise adds to `mean_squared_difference`: the mean of se^2(D).

    Parameters
    ----------
    covariance
        Covariance of the accuracies of one persona, mean over personas, shape (K, K).
    settings
        As there.

    Examples
    --------
    >>> mean_squared_noise(np.diag([1.0, 3.0]), [np.arange(2)])
    4.0
    """
    total = 0.0
    for setting in settings:
        C, n = covariance[np.ix_(setting, setting)], len(setting)
        # the mean over pairs of C_cc + C_c'c' - 2 C_cc'
        total += 2 / (n - 1) * (float(np.trace(C)) - float(C.sum()) / n)
    return total / len(settings)


def spread(drawn: Floats) -> float:
    """Standard deviation over resamples; ``nan`` where fewer than two have a figure.

    Examples
    --------
    >>> spread(np.array([1.0, 3.0, np.nan]))
    1.0
    """
    known = drawn[~np.isnan(drawn)]
    return float(known.std()) if len(known) > 1 else float("nan")


def usable(settings: Settings) -> Sequence[NDArray[np.intp]]:
    """The settings with something to compare."""
    return [group for group in settings if len(group) > 1]
