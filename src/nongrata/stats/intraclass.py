"""Intraclass correlations, and Cronbach's alpha (KR-20 of right and wrong answers).

Source: Shrout & Fleiss (1979), Psychological Bulletin 86:420-428; Cronbach (1951).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nongrata.stats.accuracy import Array
from nongrata.stats.figure import Figure


@dataclass(frozen=True, slots=True)
class Intraclass:
    """The six intraclass correlations of a table of targets x judges.

    Parameters
    ----------
    one_way, random_judges, fixed_judges
        ICC(1,1), ICC(2,1), ICC(3,1): of one judge's score; judges are different ones for each
        target, drawn from more, or all there are.
    one_way_mean, random_judges_mean, fixed_judges_mean
        ICC(1,k), ICC(2,k), ICC(3,k): of the mean of all judges.
    between_targets, within_targets, between_judges, residual
        Mean squares BMS, WMS, JMS and EMS.
    """

    one_way: Figure
    random_judges: Figure
    fixed_judges: Figure
    one_way_mean: Figure
    random_judges_mean: Figure
    fixed_judges_mean: Figure
    between_targets: float
    within_targets: float
    between_judges: float
    residual: float


def intraclass_correlations(scores: Array) -> Intraclass:
    """The six forms of Shrout and Fleiss.

    Parameters
    ----------
    scores
        Shape (targets, judges), two of each at least, nothing missing.

    Examples
    --------
    >>> found = intraclass_correlations(np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]]))
    >>> round(found.one_way.value, 4), round(found.fixed_judges.value, 4)
    (0.8209, 0.9677)
    """
    x = np.asarray(scores, dtype=np.float64)
    n, k = x.shape
    if n < 2 or k < 2 or np.isnan(x).any():
        raise ValueError("two targets and two judges are needed, and nothing may be missing")
    targets, judges, grand = x.mean(axis=1), x.mean(axis=0), x.mean()
    bms = float(k * ((targets - grand) ** 2).sum() / (n - 1))
    jms = float(n * ((judges - grand) ** 2).sum() / (k - 1))
    wms = float(((x - targets[:, None]) ** 2).sum() / (n * (k - 1)))
    left = x - targets[:, None] - judges[None, :] + grand
    ems = float((left**2).sum() / ((n - 1) * (k - 1)))
    bias = (jms - ems) / n
    return Intraclass(
        _ratio(bms - wms, bms + (k - 1) * wms),
        _ratio(bms - ems, bms + (k - 1) * ems + k * bias),
        _ratio(bms - ems, bms + (k - 1) * ems),
        _ratio(bms - wms, bms),
        _ratio(bms - ems, bms + bias),
        _ratio(bms - ems, bms),
        bms,
        wms,
        jms,
        ems,
    )


def cronbach_alpha(scores: Array, counts: Array | None = None) -> Figure:
    """Cronbach's alpha, k/(k-1) (1 - sum of the items' variances / variance of the sum).

    Of 0/1 scores this is Kuder-Richardson 20; it is also ICC(3,k), and the generalizability
    coefficient of persons x items.

    Parameters
    ----------
    scores
        Shape (persons, items), nothing missing.
    counts
        How many persons have each row of scores; None: one.

    Examples
    --------
    >>> round(cronbach_alpha(np.array([[1, 1, 1], [1, 0, 1], [0, 0, 0]])).value, 4)
    0.8571
    """
    x = np.asarray(scores, dtype=np.float64)
    if counts is not None:
        x = np.repeat(x, np.asarray(counts, dtype=int), axis=0)
    n, k = x.shape
    if n < 2 or k < 2:
        return Figure.undefined("it takes two persons and two items")
    total = float(x.sum(axis=1).var(ddof=1))
    if not total > 0:
        return Figure.undefined("all persons have the same sum")
    return Figure(k / (k - 1) * (1 - float(x.var(axis=0, ddof=1).sum()) / total))


def _ratio(top: float, bottom: float) -> Figure:
    if not bottom > 0:
        return Figure.undefined("the targets do not differ enough for a correlation")
    return Figure(top / bottom)
