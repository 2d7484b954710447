"""Many tests at once: Holm's step-down adjustment.

Source: Holm (1979), "A simple sequentially rejective multiple test procedure". Valid whatever the
dependence between the tests.
"""

from __future__ import annotations

import numpy as np

from nongrata.stats.accuracy import Floats


def holm(p: Floats) -> Floats:
    """Adjust p values, so that those at most alpha hold together.

    The chance of any false rejection in the family is then at most alpha. Sorted upwards, the
    i-th (from 0) of m becomes the largest so far of (m - i) p. A ``nan`` is no test and stays. If
    every p value of one family is at least that of another, so is every adjusted one.

    Parameters
    ----------
    p
        One p value a test, shape (m,).

    Examples
    --------
    >>> holm(np.array([0.01, 0.04, 0.03])).round(3).tolist()
    [0.03, 0.06, 0.06]
    """
    adjusted = np.asarray(p, dtype=np.float64).copy()
    tested = np.flatnonzero(~np.isnan(adjusted))
    order = tested[np.argsort(adjusted[tested], kind="stable")]
    steps = adjusted[order] * np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return adjusted
