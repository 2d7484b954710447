"""Is there anything to rank? Accuracy against chance and against the best constant answer.

Source: section 5 of the study and S11: where accuracy is not above both, nothing is ranked.

The observation is a question: y_q = mean of x over the answers to q that are present, minus what
the baseline gets on q. Chance gets 1 / (number of options); the constant answer "position j" gets
1 where the right option stands at j and 0 elsewhere. A position is an option's place in the
source's order; where options are shown in other orders the caller gives, by question, the share of
answers whose right option stood at each place shown. Questions without any answer are left out.

Questions that share a cluster are one observation; sources are strata of fixed size. With S_g the
sum over a cluster of y_q minus its stratum's mean, the variance of mean(y) is
sum over strata of G/(G - 1) sum_g S_g^2 / Q^2, and t = mean / se has sum(G - 1) degrees of freedom.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nongrata.stats.accuracy import Floats
from nongrata.stats.units import Units

Ints = NDArray[np.integer]


@dataclass(frozen=True, slots=True)
class OneSidedTest:
    """Whether a mean is above 0.

    Parameters
    ----------
    mean
        The mean, in the unit of the observations.
    se
        Its standard error; ``nan`` where it cannot be had.
    df
        Degrees of freedom.
    p
        One-sided p value; ``nan`` where it cannot be had.
    reason
        Why p cannot be had; else empty.
    """

    mean: float
    se: float
    df: int
    p: float
    reason: str = ""


def mean_above_zero(y: Floats, cluster: Ints, stratum: Ints | None = None) -> OneSidedTest:
    """Test of mean(y) <= 0 against mean(y) > 0, clustered, within strata.

    Where clusters reach over strata, or a stratum has a single cluster, strata are ignored. Where
    all observations are equal t has no meaning; p is then 2^-G if they are positive (all G
    clusters on one side), else 1.

    Parameters
    ----------
    y
        One value a question, shape (Q,).
    cluster, stratum
        Codes of equal length; questions with the same code belong together.

    Examples
    --------
    >>> result = mean_above_zero(np.array([1.0, 0.0, 1.0, 1.0]), np.arange(4))
    >>> result.mean, result.df, round(result.p, 4)
    (0.75, 3, 0.0288)
    """
    return _above_zero(y, Units.of(len(y), cluster, stratum))


def _above_zero(y: Floats, units: Units) -> OneSidedTest:
    if len(y) == 0:
        return OneSidedTest(math.nan, math.nan, 0, math.nan, "no question has an answer")
    mean = float(y.mean())
    if len(units) < 2:
        return OneSidedTest(mean, math.nan, 0, math.nan, "one cluster of questions has no spread")
    se, df = math.sqrt(float(units.variance_of_mean(y))), units.degrees_of_freedom
    if se > 1e-12:
        return OneSidedTest(mean, se, df, student_t_upper(mean / se, df))
    return OneSidedTest(mean, se, df, 2.0 ** -len(units) if mean > 1e-12 else 1.0)


def student_t_upper(t: float, df: int) -> float:
    """P(T > t) for Student's t with a whole number of degrees of freedom.

    The finite series of Abramowitz & Stegun (1964), 26.7.3 and 26.7.4, in theta = atan(t/sqrt df).
    Beyond 2,000 degrees of freedom the normal tail, which is then within 2e-4 of it.

    Examples
    --------
    >>> round(student_t_upper(2.0, 10), 6)
    0.036694
    """
    if df > 2000:
        return 0.5 * math.erfc(t / math.sqrt(2.0))
    angle = math.atan2(abs(t), math.sqrt(df))
    sine, cosine = math.sin(angle), math.cos(angle)
    term = 1.0 if df % 2 == 0 else cosine
    total = 0.0 if df == 1 else term
    for i in range(2 if df % 2 == 0 else 3, df - 1, 2):
        term *= (i - 1) / i * cosine**2
        total += term
    inside = sine * total if df % 2 == 0 else 2 / math.pi * (angle + sine * total)
    tail = max(0.0, (1.0 - inside) / 2.0)
    return tail if t >= 0 else 1.0 - tail


@dataclass(frozen=True, slots=True)
class AgainstChance:
    """Accuracy beside guessing; shares, 0 to 1."""

    accuracy: float
    chance: float
    test: OneSidedTest


def against_chance(
    right: Floats, n_options: Ints, cluster: Ints, stratum: Ints | None = None
) -> AgainstChance:
    """Test accuracy against the mean of 1 / n_options.

    Parameters
    ----------
    right
        Share of right answers to each question, shape (Q,); ``nan``: no answer.
    n_options
        Number of options of each question.
    cluster, stratum
        As in `mean_above_zero`.

    Examples
    --------
    >>> result = against_chance(np.array([1.0, 0.5, 1.0]), np.array([2, 2, 4]), np.arange(3))
    >>> round(result.accuracy, 3), round(result.chance, 3)
    (0.833, 0.417)
    """
    there = ~np.isnan(right)
    guess = 1.0 / n_options[there]
    test = mean_above_zero(
        right[there] - guess, cluster[there], None if stratum is None else stratum[there]
    )
    if not there.any():
        return AgainstChance(math.nan, math.nan, test)
    return AgainstChance(float(right[there].mean()), float(guess.mean()), test)


@dataclass(frozen=True, slots=True)
class AgainstConstant:
    """Accuracy beside always giving the same option; shares, 0 to 1.

    Parameters
    ----------
    positions
        The best positions, 0-based, all of them where several are equally good.
    constant
        Their accuracy.
    p
        One-sided p value of "accuracy is not above *every* constant answer": the largest of the
        tests against each position, so that picking the best one needs no correction.
    reason
        Why p cannot be had; else empty.
    """

    positions: tuple[int, ...]
    constant: float
    p: float
    reason: str = ""


def against_constant(
    right: Floats,
    answer: Ints,
    n_options: Ints,
    cluster: Ints,
    stratum: Ints | None = None,
    gold: Floats | None = None,
) -> AgainstConstant:
    """Test accuracy against the best constant answer.

    Parameters
    ----------
    right
        Share of right answers to each question, shape (Q,); ``nan``: no answer.
    answer
        Position of the right option in the source's order.
    n_options, cluster, stratum
        As in `against_chance`.
    gold
        Where options are shown in several orders: share of the answers to each question whose
        right option stood at each place, shape (Q, places); it replaces `answer`.

    Examples
    --------
    >>> right, answer = np.array([1.0, 1.0, 0.0]), np.array([0, 0, 1])
    >>> result = against_constant(right, answer, np.full(3, 2), np.arange(3))
    >>> result.positions, round(result.constant, 3)
    ((0,), 0.667)
    """
    there = ~np.isnan(right)
    if not there.any():
        return AgainstConstant((), math.nan, math.nan, "no question has an answer")
    right, cluster = right[there], cluster[there]
    stratum = None if stratum is None else stratum[there]
    if gold is None:
        places = np.arange(int(n_options[there].max()))
        gold = (answer[there][:, None] == places).astype(np.float64)
    else:
        gold = gold[there]
    share = gold.mean(axis=0)
    units = Units.of(len(right), cluster, stratum)
    tests = [_above_zero(right - column, units) for column in gold.T]
    best = tuple(int(j) for j in np.flatnonzero(share >= share.max() - 1e-12))
    reason = next((test.reason for test in tests if test.reason), "")
    return AgainstConstant(
        best, float(share.max()), math.nan if reason else max(test.p for test in tests), reason
    )
