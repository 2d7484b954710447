"""Variance components of balanced crossed designs, from expected mean squares.

Source: S7; Brennan (2001), chapters 3 and 4. Every facet is read as random; `Components.given`
turns facets into fixed ones afterwards. Estimates are unbiased and can be negative: a negative
one is kept, because setting it to 0 makes every other figure built on it too large.

Noise of single answers sits in the interaction of all facets alone. An observation that is a mean
of R answers has sampling variance u = s^2 / R; each mean square is too large by the mean of u, so
the differences that give the other components are not, and sigma2(all facets) = MS - mean of u.
With one answer for each observation (R = 1) nothing tells the two apart: they are confounded.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from nongrata.stats.accuracy import Array, Floats
from nongrata.stats.sums_of_squares import (
    Effect,
    degrees_of_freedom,
    effects_of,
    holding_fixed,
    number_of,
    over_supersets,
    squared_projections,
)


@dataclass(frozen=True)
class Components:
    """Mean squares and components of every effect of a crossed design.

    Parameters
    ----------
    facets, sizes
        Names of the facets and their numbers of levels.
    degrees_of_freedom, mean_squares, variances
        Shape (2^F,), by number of the set (`sums_of_squares`); the first, the grand mean's, is
        no effect. Mean squares and variances are in squared units of the observations.
    noise
        Sampling variance of one observation, in the same unit: 0 where observations are exact,
        ``nan`` where it is not known, so that the interaction of all facets holds it.
    """

    facets: tuple[str, ...]
    sizes: tuple[int, ...]
    degrees_of_freedom: Floats
    mean_squares: Floats
    variances: Floats
    noise: float

    @property
    def effects(self) -> tuple[Effect, ...]:
        """Every effect, main effects first."""
        return effects_of(self.facets)

    @property
    def confounded(self) -> bool:
        """Whether the interaction of all facets holds the noise of single answers as well."""
        return math.isnan(self.noise)

    @cached_property
    def sums_of_squares(self) -> Floats:
        """Mean squares times degrees of freedom, shape (2^F,)."""
        return self.mean_squares * self.degrees_of_freedom

    def number(self, *effect: str) -> int:
        """Where an effect stands in the arrays."""
        return number_of(effect, self.facets)

    def variance(self, *effect: str) -> float:
        """Component of an effect, given by its facets in any order."""
        return float(self.variances[self.number(*effect)])

    def given(self, *fixed: str) -> Components:
        """The same with the levels of some facets as given, not drawn from more.

        Examples
        --------
        >>> table = np.array([[1.0, 2.0, 4.0], [2.0, 2.0, 3.0], [5.0, 7.0, 8.0]])
        >>> found = crossed_components(table, ["p", "i"])
        >>> round(found.variance("p"), 4), round(found.given("i").variance("p"), 4)
        (6.1111, 6.2593)
        """
        held = holding_fixed(self.variances, self.sizes, number_of(fixed, self.facets))
        return replace(self, variances=held)


def components_of_mean_squares(
    facets: Sequence[str], sizes: Sequence[int], mean_squares: Array, noise: float = 0.0
) -> Components:
    """Components from a table of mean squares, by number of the set.

    Parameters
    ----------
    facets, sizes
        Names of the facets and their numbers of levels.
    mean_squares
        Shape (2^F,); the first is ignored.
    noise
        Sampling variance of one observation; ``nan`` if it is not known.

    Examples
    --------
    >>> found = components_of_mean_squares(["p", "i"], [5, 10], np.array([0, 11.0, 6.0, 1.0]), 0.25)
    >>> found.variance("p"), found.variance("i", "p")
    (1.0, 0.75)
    """
    ms = np.asarray(mean_squares, dtype=np.float64)
    variances = over_supersets(ms, sizes)
    if not math.isnan(noise):
        variances[-1] -= noise
    return Components(
        tuple(facets), tuple(sizes), degrees_of_freedom(sizes), ms, variances, float(noise)
    )


def crossed_components(
    values: Array, facets: Sequence[str], *, noise: float = math.nan, replicates: bool = False
) -> Components:
    """Components of a complete table with one axis for each facet.

    Parameters
    ----------
    values
        Shape (n_1, ..., n_F), or (n_1, ..., n_F, R) with `replicates`. Nothing may be missing,
        but a replicate may (``nan``) where two others are there; every observation then has the
        mean of what it has, as if all had equally many (analysis of unweighted means).
    facets
        Names, each of a facet of at least two levels.
    noise
        Sampling variance of one observation, if it is known: 0 for exact values.
    replicates
        Whether the last axis holds repeated answers; they say how large the noise is.

    Examples
    --------
    >>> once = crossed_components(np.array([[1.0, 2.0, 4.0], [2.0, 2.0, 3.0]]), ["p", "i"])
    >>> once.confounded, round(once.variance("p", "i"), 4)
    (True, 0.5)
    >>> twice = np.array([[[1.0, 3.0], [2.0, 4.0]], [[0.0, 0.0], [5.0, 5.0]]])
    >>> found = crossed_components(twice, ["p", "i"], replicates=True)
    >>> found.noise, found.variance("p", "i")
    (0.5, 3.5)
    """
    x = np.asarray(values, dtype=np.float64)
    if replicates:
        n = (~np.isnan(x)).sum(axis=-1)
        if n.min() < 2:
            raise ValueError("every observation needs two replicates")
        noise = float((np.nanvar(x, axis=-1, ddof=1) / n).mean())
        x = np.nanmean(x, axis=-1)
    if x.ndim != len(facets) or min(x.shape) < 2:
        raise ValueError("values need one axis of two levels or more for each facet")
    if np.isnan(x).any():
        raise ValueError("a balanced table has no missing values")
    squares = squared_projections(x, x.ndim)
    ms = squares / degrees_of_freedom(x.shape)
    return components_of_mean_squares(facets, x.shape, ms, noise)


@dataclass(frozen=True, slots=True)
class OneWay:
    """Components of a one-way layout: groups, and observations within them.

    Parameters
    ----------
    between, within
        Components, in squared units of the observations.
    mean_square_between, mean_square_within
        Mean squares.
    typical_size
        n_0 = (N - sum of n_i^2 / N) / (k - 1), the group size in the expected mean square.
    """

    between: float
    within: float
    mean_square_between: float
    mean_square_within: float
    typical_size: float


def one_way(groups: Sequence[Array], *, reml: bool = False) -> OneWay:
    """Components between and within groups, of equal size or not.

    between = (MS_between - MS_within) / n_0, which can be negative. Source: Searle, Casella &
    McCulloch (1992), Variance Components, chapter 3.

    Parameters
    ----------
    groups
        Two or more arrays of observations.
    reml
        The restricted maximum likelihood estimate instead, which is never negative; for groups of
        equal size. Where the estimate above is negative, it is 0 between, and within it is the
        variance of all observations.

    Examples
    --------
    >>> found = one_way([np.array([1.0, 3.0]), np.array([4.0, 8.0])])
    >>> found.between, found.within
    (5.5, 5.0)
    """
    sizes = np.array([len(group) for group in groups], dtype=float)
    k, N = len(groups), sizes.sum()
    if k < 2 or k >= N or sizes.min() < 1:
        raise ValueError("a one-way layout needs two groups, and one with two observations")
    if reml and np.ptp(sizes):
        raise ValueError("the closed form of REML is for groups of equal size")
    means = np.array([np.mean(group) for group in groups], dtype=float)
    grand = float(sizes @ means / N)
    ss_between = float(sizes @ (means - grand) ** 2)
    ss_within = math.fsum(
        float(np.square(np.asarray(group, dtype=float) - mean).sum())
        for group, mean in zip(groups, means, strict=True)
    )
    ms_between, ms_within = ss_between / (k - 1), ss_within / (N - k)
    n0 = float((N - (sizes**2).sum() / N) / (k - 1))
    between, within = (ms_between - ms_within) / n0, ms_within
    if reml and between < 0:
        between, within = 0.0, (ss_between + ss_within) / (N - 1)
    return OneWay(float(between), float(within), ms_between, float(ms_within), n0)
