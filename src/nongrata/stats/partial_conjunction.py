"""Does a direction hold in nearly all configurations? Partial conjunction tests.

Source: S11; Benjamini & Heller (2008), "Screening for partial conjunction hypotheses". With one
p value for each of K configurations, sorted upwards, the hypothesis "fewer than u of them have the
effect" is rejected at level alpha where (K - u + 1) p_(u) <= alpha. If the hypothesis is true, at
least K - u + 1 configurations lack the effect, and p_(u) is at least the smallest of their p
values, so Bonferroni's inequality over those makes the test valid whatever the dependence between
configurations (here strong: all of them answer the same questions).

A share of configurations that point the same way is no test: with a difference of exactly zero
all configurations often point the same way, for they share their questions.
"""

from __future__ import annotations

import math

import numpy as np

from nongrata.stats.accuracy import Floats

SHARE = 0.9
"""Share of the configurations in which a robust conclusion must hold."""


def required(configurations: int, share: float = SHARE) -> int:
    """How many configurations are at least `share` of them, u = ceil(share K).

    Below 10 configurations that is all of them, for a share of .9.

    Examples
    --------
    >>> [required(K) for K in (1, 3, 9, 10, 12, 48)]
    [1, 3, 9, 9, 11, 44]
    """
    return math.ceil(share * configurations - 1e-9)


def partial_conjunction(p: Floats, u: int) -> Floats:
    """P value of "fewer than u of the K hypotheses are false": min(1, (K - u + 1) p_(u)).

    Parameters
    ----------
    p
        P values, shape (..., K). A ``nan`` counts as 1: what could not be tested supports nothing.
    u
        In how many the effect is to be shown, 1 ... K.

    Returns
    -------
    array
        Shape (...).

    Examples
    --------
    >>> partial_conjunction(np.array([0.001, 0.2, 0.004]), 2).tolist()
    0.008
    >>> partial_conjunction(np.array([0.001, 0.2, 0.004]), 3).tolist()
    0.2
    """
    known = np.where(np.isnan(p), 1.0, p)
    K = known.shape[-1]
    at = np.partition(known, u - 1, axis=-1)[..., u - 1]
    return np.asarray(np.minimum((K - u + 1) * at, 1.0))
