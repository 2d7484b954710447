"""One factor taken apart into what its levels differ in.

Source: section 5 of the study. The levels of a factor such as the task format can differ in
several things at once, its *sub-factors* (elicitation: answer only or explain first; reminder:
with or without), and several levels that agree in all of them differ in *wording* only.

Every effect is a linear combination of the levels' means, in which levels of one combination of
sub-factors (wordings) count together as one:

- effect of a sub-factor, two of its levels compared: the mean difference over those combinations
  of the other sub-factors in which both occur;
- interaction of two sub-factors: how much the difference in the one depends on the other;
- wording: sigma2 = mean over pairs of wordings of one combination of (D^2 - se^2(D)) / 2, the
  variance between wordings without the questions' sampling noise; unbiased, so it can be negative.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from nongrata.stats.accuracy import Floats
from nongrata.stats.random_levels import ENOUGH, SampledMean, from_parts

Codes = NDArray[np.intp]


@dataclass(frozen=True)
class Effect:
    """A comparison of a factor's levels.

    Parameters
    ----------
    kind
        ``"effect"`` of one sub-factor or ``"interaction"`` of two.
    sub_factors
        Their positions.
    levels
        For each, the two levels compared: the first less the second.
    coefficients
        Weight of each level of the factor, shape (L,); all 0 where nothing can be compared.
    contexts
        Combinations of the other sub-factors that the comparison is averaged over; 0: there is
        none, the levels never differ in this alone.
    """

    kind: Literal["effect", "interaction"]
    sub_factors: tuple[int, ...]
    levels: tuple[tuple[int, int], ...]
    coefficients: Floats
    contexts: int


def effects(sub: Codes) -> list[Effect]:
    """All effects of the sub-factors and all their two-way interactions.

    Parameters
    ----------
    sub
        Level of each sub-factor at each level of the factor, numbered 0, 1, ..., shape (L, S).

    Examples
    --------
    >>> for effect in effects(np.array([[0, 0], [0, 1], [1, 0], [1, 1]])):
    ...     print(effect.kind, effect.coefficients.tolist())
    effect [-0.5, -0.5, 0.5, 0.5]
    effect [-0.5, 0.5, -0.5, 0.5]
    interaction [1.0, -1.0, -1.0, 1.0]
    """
    S = sub.shape[1]
    counts = sub.max(axis=0, initial=-1) + 1
    pairs = [[(b, a) for a, b in combinations(range(n), 2)] for n in counts.tolist()]
    out = [_compare(sub, (s,), (pair,)) for s in range(S) for pair in pairs[s]]
    out += [
        _compare(sub, (s, t), (one, other))
        for s, t in combinations(range(S), 2)
        for one in pairs[s]
        for other in pairs[t]
    ]
    return out


def _compare(sub: Codes, which: tuple[int, ...], levels: tuple[tuple[int, int], ...]) -> Effect:
    rest = np.delete(sub, which, axis=1).tolist()
    groups: dict[tuple[int, ...], dict[tuple[int, ...], list[int]]] = {}
    for level, context in enumerate(rest):
        here = tuple(sub[level, list(which)].tolist())
        groups.setdefault(tuple(context), {}).setdefault(here, []).append(level)
    corners = _corners(levels)
    coefficients = np.zeros(len(sub))
    contexts = [found for found in groups.values() if all(c in found for c, _ in corners)]
    for found in contexts:
        for corner, sign in corners:
            members = found[corner]
            coefficients[members] += sign / len(members) / len(contexts)
    kind: Literal["effect", "interaction"] = "effect" if len(which) == 1 else "interaction"
    return Effect(kind, which, levels, coefficients, len(contexts))


def _corners(levels: tuple[tuple[int, int], ...]) -> list[tuple[tuple[int, ...], int]]:
    out: list[tuple[tuple[int, ...], int]] = [((), 1)]
    for up, down in levels:
        out = [((*c, x), s * sign) for c, s in out for x, sign in ((up, 1), (down, -1))]
    return out


@dataclass(frozen=True, slots=True)
class Component:
    """A variance without sampling noise, in squared units of the means.

    Parameters
    ----------
    variance
        Unbiased; it can be negative, where the noise was by chance larger.
    se, low, high
        Its standard error and 95% interval, estimate +- 1.96 se.
    """

    variance: float
    se: float
    low: float
    high: float


def variance_between(
    means: Floats, covariance: Floats, groups: Sequence[NDArray[np.intp]]
) -> Component | None:
    """Variance between the means of a group, pooled over groups, less sampling noise.

    With M the matrix for which x'Mx is the pooled sample variance (ddof = 1 in each group):
    x'Mx - tr(MC) is unbiased for m'Mm, and its variance is 4 m'MCMm + 2 tr(MCMC), in which
    m'MCMm is estimated by x'MCMx - tr(MCMC).

    Parameters
    ----------
    means
        Shape (M,).
    covariance
        Their covariance over questions, shape (M, M).
    groups
        Positions of the means of each group; a group of one says nothing.

    Returns
    -------
    Component or None
        None where every group has one member.

    Examples
    --------
    >>> found = variance_between(np.array([1.0, 3.0]), 0.5 * np.eye(2), [np.array([0, 1])])
    >>> found.variance
    1.5
    """
    df = sum(len(group) - 1 for group in groups)
    if df < 1:
        return None
    M = np.zeros_like(covariance)
    for group in groups:
        n = len(group)
        if n > 1:
            M[np.ix_(group, group)] = (np.eye(n) - 1.0 / n) / df
    MC = M @ covariance
    twice = float((MC * MC.T).sum())
    variance = float(means @ M @ means) - float(np.trace(MC))
    spread = float(means @ MC @ M @ means) - twice
    se = math.sqrt(max(4 * spread + 2 * twice, 2 * twice))
    return Component(variance, se, variance - 1.96 * se, variance + 1.96 * se)


def effect_over_wordings(
    coefficients: Floats,
    means: Floats,
    covariance: Floats,
    groups: Sequence[NDArray[np.intp]],
    df_questions: int,
) -> SampledMean:
    """An effect whose wordings are a sample of wordings, so that it may hold for others too.

    Var = V_q + max(s2 - noise, 0) sum of squared coefficients: s2 is the pooled variance
    between the wordings of one combination of sub-factors, V_q the effect's variance over
    questions for the wordings as they are. Degrees of freedom are Satterthwaite's. Wordings are
    taken to vary as much in one combination as in another.

    Parameters
    ----------
    coefficients
        Of an `Effect`, shape (L,).
    means, covariance, groups
        As in `variance_between`: the levels, and which of them differ in wording only.
    df_questions
        Clusters less strata.

    Examples
    --------
    >>> groups = [np.array([0, 1]), np.array([2, 3])]
    >>> effect = np.array([-0.5, -0.5, 0.5, 0.5])
    >>> found = effect_over_wordings(
    ...     effect, np.array([1.0, 2.0, 4.0, 6.0]), 0.01 * np.eye(4), groups, 99
    ... )
    >>> found.estimate, round(found.se, 3), round(found.df, 1)
    (3.5, 1.118, 2.0)
    """
    estimate = float(coefficients @ means)
    v_q = float(coefficients @ covariance @ coefficients)
    df = sum(len(group) - 1 for group in groups)
    between = variance_between(means, covariance, groups)
    if between is None:
        why = "each combination has one wording, so other wordings cannot be spoken for"
        return SampledMean.undefined(why, estimate)
    if math.isnan(v_q):
        return SampledMean.undefined("one cluster of questions has no spread", estimate)
    square = float(coefficients @ coefficients)
    s2 = sum(float(((means[g] - means[g].mean()) ** 2).sum()) for g in groups) / df
    squares = v_q**2 / max(df_questions, 1) + (s2 * square) ** 2 / df
    parts = [(v_q, df_questions), (max(between.variance, 0.0) * square, df)]
    return from_parts(estimate, parts, squares, df >= ENOUGH - 1)


def wordings(sub: Codes) -> list[NDArray[np.intp]]:
    """Levels that agree in all sub-factors, in order of first appearance.

    Examples
    --------
    >>> [group.tolist() for group in wordings(np.array([[0, 0], [1, 0], [0, 0]]))]
    [[0, 2], [1]]
    """
    groups: dict[tuple[int, ...], list[int]] = {}
    for level, row in enumerate(sub.tolist()):
        groups.setdefault(tuple(row), []).append(level)
    return [np.array(group, dtype=np.intp) for group in groups.values()]


def level_weights(levels: NDArray[np.integer], factor: int) -> tuple[Floats, int]:
    """Weights that average configurations by level of one factor, the others held equal.

    Only settings of the other factors that occur with every level that occurs are used, so that
    no level is compared under other circumstances than another.

    Parameters
    ----------
    levels
        Level of each factor in each configuration, shape (K, F).
    factor
        Column of the factor.

    Returns
    -------
    weights
        Shape (L, K): each row sums to 1, or is all 0 where a level does not occur or no setting
        occurs with all levels.
    settings
        Number of settings used.

    Examples
    --------
    >>> weights, settings = level_weights(np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), 1)
    >>> weights.tolist(), settings
    ([[0.5, 0.0, 0.5, 0.0], [0.0, 0.5, 0.0, 0.5]], 2)
    """
    column = levels[:, factor]
    occurring = set(column.tolist())
    L = int(column.max(initial=-1)) + 1
    groups: dict[tuple[int, ...], list[int]] = {}
    for c, row in enumerate(np.delete(levels, factor, axis=1).tolist()):
        groups.setdefault(tuple(row), []).append(c)
    used = [
        members for members in groups.values() if {int(column[c]) for c in members} == occurring
    ]
    weights = np.zeros((L, len(levels)))
    for members in used:
        for c in members:
            weights[column[c], c] += 1.0 / len(used)
    return weights, len(used)
