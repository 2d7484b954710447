"""Is anything different at all: labels, configurations, factors, the set of right questions.

These are statements about all configurations together: established, or undecided.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from nongrata.conclusions.cells import Cells
from nongrata.conclusions.draft import Draft
from nongrata.conclusions.model import Metric
from nongrata.conclusions.question_sets import QuestionSets
from nongrata.conclusions.squared_differences import usable
from nongrata.stats.accuracy import Array, Floats
from nongrata.stats.figure import Figure
from nongrata.stats.settings import Settings, all_together, one_factor_settings
from nongrata.stats.sum_of_squares import SumOfSquares, deviations_test, sum_of_squares_test
from nongrata.wording import say

NO_DIRECTION = "it has no direction"
LABELS = "labels"
CONFIGURATION = "the configuration"
INTERACTION = "labels x configuration"
QUESTIONS = "set of right questions"

MOMENT_DRAWS = 500
"""Resamples behind the variance of a sum of squares: they fix it to about 6%."""


@dataclass(frozen=True)
class Effect:
    """A test, and what turns its statistic into a mean squared difference."""

    subject: str
    statement: str
    test: SumOfSquares
    scale: float
    missing: str = ""


def effect_drafts(cells: Cells, sets: QuestionSets) -> list[Draft]:
    """Statements without a direction about one model.

    Parameters
    ----------
    cells
        The labels' cells.
    sets
        IQ(2) beside its floor.
    """
    found = [_draft(effect, cells) for effect in _effects(cells)]
    return [*found, _questions(sets, cells)]


def _effects(cells: Cells) -> list[Effect]:
    P, K = cells.accuracy.shape
    df = cells.units.degrees_of_freedom
    out = []
    if P > 1 and K:
        test = deviations_test(cells.accuracy.mean(axis=1), cells.of_mean, all_together(P), df)
        out.append(Effect(LABELS, "accuracy differs between labels", test, 2 / (P - 1)))
    if P and K > 1:
        over = cells.residuals.mean(axis=0)
        a, C = cells.accuracy.mean(axis=0), cells.covariance(over)
        out.append(
            Effect(
                CONFIGURATION,
                "overall accuracy depends on the configuration",
                deviations_test(a, C, all_together(K), df),
                2 / (K - 1),
            )
        )
        for f, factor in enumerate(cells.data.cube.factors):
            settings = usable(one_factor_settings(cells.levels, f))
            if settings and len(cells.data.cube.factors) > 1:
                out.append(
                    Effect(
                        factor,
                        say("overall accuracy depends on {factor}", factor=factor),
                        deviations_test(a, C, settings, df),
                        _per_pair(settings),
                    )
                )
    if P > 1 and K > 1:
        out.append(
            Effect(
                INTERACTION,
                "differences between labels depend on the configuration",
                _interaction(cells, df),
                2 / ((P - 1) * (K - 1)),
            )
        )
    return out


def _per_pair(settings: Settings) -> float:
    """From the sum of squared deviations to the mean over pairs of squared differences."""
    return 2 / sum(len(s) - 1 for s in settings)


def _interaction(cells: Cells, df: int) -> SumOfSquares:
    """Sum of squared deviations from additivity; its moments under additivity by the bootstrap.

    A resample's deviations less those of the study are noise alone; they give the variance. The
    covariance matrix of K P estimates itself would cost more than all the rest.
    """
    if df < 1:
        return sum_of_squares_test(0.0, math.nan, math.nan, df)
    R = _double_centred(cells.accuracy[None])[0]
    statistic = float((R**2).sum())
    K = len(cells.configurations)
    each = sum(_between(C) for C in cells.within)
    exact = each - K * _between(cells.of_mean)
    drawn = cells.bootstrap[:MOMENT_DRAWS]
    drawn = drawn[~np.isnan(drawn).any(axis=(1, 2))]
    if len(drawn) < 2:
        return SumOfSquares(statistic, exact, math.nan, reason="too few questions are shared")
    centred = _double_centred(drawn - cells.accuracy.astype(np.float32))
    noise = np.einsum("bpk,bpk->b", centred, centred).astype(np.float64)
    with_truth = np.einsum("bpk,pk->b", centred, R.astype(np.float32)).astype(np.float64)
    ratio = exact / noise.mean() if noise.mean() > 0 else 1.0
    variance = float(noise.var()) * ratio**2
    if exact <= 1e-9 * each:
        return sum_of_squares_test(statistic if statistic > 1e-12 else 0.0, 0.0, 0.0, df)
    slope = max(4 * float(with_truth.var()) - 2 * variance, 0.0)
    return sum_of_squares_test(statistic, exact, variance, df, math.sqrt(slope + variance))


def _between(C: Floats) -> float:
    """What noise adds to the sum of squared deviations from the mean."""
    return float(np.trace(C)) - float(C.sum()) / len(C)


def _double_centred(a: Array) -> Array:
    rows = a - a.mean(axis=1, keepdims=True)
    return np.asarray(rows - rows.mean(axis=2, keepdims=True))


def _draft(effect: Effect, cells: Cells) -> Draft:
    test, to_points = effect.test, 1e4 * effect.scale
    value = to_points * (test.statistic - test.expected)
    if math.isnan(test.p):
        size = low = high = Figure.undefined(test.reason)
    else:
        size = Figure(value)
        low = Figure(value - 1.96 * to_points * test.se)
        high = Figure(value + 1.96 * to_points * test.se)
    return _plain(
        effect.subject, effect.statement, "squared difference of accuracy", "points^2",
        (size, low, high), test.p, test.reason, cells,
    )  # fmt: skip


def _plain(
    subject: str,
    statement: str,
    metric: Metric,
    unit: str,
    size: tuple[Figure, Figure, Figure],
    p: float,
    reason: str,
    cells: Cells,
) -> Draft:
    return Draft(
        family="effects",
        subject=subject,
        rival="",
        statement=statement,
        metric=metric,
        unit=unit,
        estimate=size[0],
        low=size[1],
        high=size[2],
        share=Figure.undefined(NO_DIRECTION),
        held_out=Figure.undefined(NO_DIRECTION),
        claim="established",
        p=p,
        configurations=len(cells.configurations),
        names=cells.configuration_names,
        reason=reason,
    )


def _questions(sets: QuestionSets, cells: Cells) -> Draft:
    """IQ(2) above the same-configuration floor: one-sided, so doubled like everything else."""
    from scipy.special import stdtr

    statement = "which questions are right depends on the configuration, beyond mere repetition"
    p, reason, sd = math.nan, sets.reason, math.nan
    df = cells.units.degrees_of_freedom
    if not reason and df < 1:
        reason = "one cluster of questions has no spread"
    drawn = sets.drawn[~np.isnan(sets.drawn)]
    if not reason and len(drawn) < 2:
        reason = "too few questions are shared"
    if reason:
        none = Figure.undefined(reason)
        return _plain(
            QUESTIONS, statement, "IQ(2) excess", "per cent", (none, none, none), p, reason, cells
        )
    sd = float(drawn.std())
    if sd > 1e-9:
        p = min(2 * float(stdtr(df, -sets.excess / sd)), 1.0)
    else:
        p = 2.0 ** -(df + 1) if sets.excess > 1e-9 else 1.0
    low, high = np.percentile(drawn, [2.5, 97.5]).tolist()
    size = Figure(sets.excess), Figure(low), Figure(high)
    return _plain(QUESTIONS, statement, "IQ(2) excess", "per cent", size, p, "", cells)
