r"""Krippendorff's alpha for nominal, ordinal, interval and ratio values, with missing answers.

Source: S10; Krippendorff (2011), Computing Krippendorff's Alpha-Reliability. Units with at least
two answers; with n_uc answers c in unit u, n_u in all, and N their sum over units,

    o_ck  = sum_u n_uc (n_uk - [c = k]) / (n_u - 1)      coincidences,   n_c = sum_k o_ck
    alpha = 1 - (N - 1) sum_ck o_ck d_ck / sum_ck n_c n_k d_ck

and d_ck the squared difference of two values: nominal [c != k]; ordinal
(sum_{g=c}^{k} n_g - (n_c + n_k) / 2)^2; interval (c - k)^2; ratio ((c - k) / (c + k))^2.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from nongrata.errors import NongrataError
from nongrata.stats.accuracy import Array, Floats
from nongrata.stats.agreement import NO_PAIR, ONE_CATEGORY
from nongrata.stats.figure import Figure

Scale = Literal["nominal", "ordinal", "interval", "ratio"]
SCALES: tuple[Scale, ...] = ("nominal", "ordinal", "interval", "ratio")


def krippendorff_alpha(
    counts: Array, scale: Scale = "nominal", values: Array | None = None
) -> Figure:
    """Krippendorff's alpha.

    Parameters
    ----------
    counts
        n_uc, shape (J, U): categories, in ascending order of their values, by units.
    scale
        How different two values are.
    values
        The categories' values, for ``"interval"`` and ``"ratio"``, shape (J,), ascending; not
        negative for ``"ratio"``. None: 0, 1, ...

    Examples
    --------
    >>> counts = np.array([[2, 0, 1], [0, 2, 1]])
    >>> round(krippendorff_alpha(counts).value, 4)
    0.4444
    """
    if scale not in SCALES:
        raise NongrataError(
            f"unknown scale {scale!r}", where="scale", fix=f"use one of {', '.join(SCALES)}"
        )
    n = counts.sum(axis=0, dtype=np.float64)
    kept = counts[:, n >= 2].astype(np.float64)
    n = n[n >= 2]
    if not len(n):
        return Figure.undefined(NO_PAIR)
    by_unit = kept / (n - 1)
    coincidences = by_unit @ kept.T - np.diag(by_unit.sum(axis=1))
    total = kept.sum(axis=1)
    distance = _distance(scale, total, np.arange(len(kept)) if values is None else values)
    expected = float(total @ distance @ total)
    if expected <= 0:
        return Figure.undefined(ONE_CATEGORY)
    return Figure(1 - (float(total.sum()) - 1) * float((coincidences * distance).sum()) / expected)


def _distance(scale: Scale, total: Floats, values: Array) -> Floats:
    v = np.asarray(values, dtype=np.float64)
    if scale == "nominal":
        return 1.0 - np.eye(len(total))
    if scale == "ordinal":
        middle = np.cumsum(total) - total / 2
        return np.asarray(np.subtract.outer(middle, middle) ** 2)
    difference = np.subtract.outer(v, v)
    if scale == "ratio":
        if (v < 0).any():
            raise NongrataError(
                "a ratio scale has no negative values", where="values", fix="use 'interval'"
            )
        both = np.add.outer(v, v)
        difference = np.divide(difference, both, out=np.zeros_like(both), where=both > 0)
    return np.asarray(difference**2)
