"""IA of some questions beside its floors: for all configurations, and factor by factor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nongrata.analysis.noise_rows import Estimate
from nongrata.analysis.noise_samples import Samples
from nongrata.stats.accuracy import Array, Floats
from nongrata.stats.figure import Figure, mean_figure
from nongrata.stats.ia import instability_of_accuracy
from nongrata.stats.ia_floors import (
    equal_accuracy_floor,
    exchangeability_floor,
    exchangeability_floor_of,
    mean_over_pairs,
    pairs_within,
    rerun_floor,
)
from nongrata.stats.ia_pairs import Pairs, pair_differences, pair_differences_of, residuals
from nongrata.stats.ia_tests import (
    cochran_q_together,
    exchange_covariance,
    exchangeability_p,
    fixed_share,
    mean_absolute_difference,
    monte_carlo_p,
)
from nongrata.stats.squared_difference import SquaredDifference, squared_differences
from nongrata.stats.units import Units, Weights

Comparison = NDArray[np.intp]
"""Configurations compared, one row for each setting of the other factors, shape (S, L)."""

WIDTH = 1.96
"""Standard errors on either side of an estimate."""

_STILL = "no question is answered differently in two configurations"
_FEW = "fewer than two clusters of questions"


@dataclass(frozen=True)
class IAPart:
    """What a `NoiseRow` says about IA."""

    ia: Figure
    rerun: Figure
    exchangeability: Figure
    equal_accuracy: Figure
    over_exchangeability: Estimate
    over_equal_accuracy: Estimate
    squared: Estimate
    typical: Figure
    p_exchangeability: Figure
    p_equal_accuracy: Figure
    cochran: Figure
    p_cochran: Figure
    design_effect: Figure

    @classmethod
    def undefined(cls, reason: str) -> IAPart:
        """Nothing is defined, because of `reason`."""
        f, e = Figure.undefined(reason), Estimate.undefined(reason)
        return cls(f, f, f, f, e, e, e, f, f, f, f, f, f)


def ia_parts(
    samples: Samples,
    comparisons: Sequence[Comparison],
    weights: Weights,
    noise: Array,
    seed: tuple[int, ...],
) -> list[IAPart]:
    """One part for each comparison; all on the same questions and resamples.

    Parameters
    ----------
    samples
        The answers.
    comparisons
        At least two configurations in each.
    weights
        Resamples of the clusters, shape (B, G).
    noise
        Variance of one answer, ``nan`` where not known, shape (P, K, Q).
    seed
        Numbers that name the random exchanges.
    """
    if samples.units.questions == 0:
        return [IAPart.undefined("no question is left") for _ in comparisons]
    enough = _enough(samples.units)
    if samples.present is None:
        pairs = pair_differences_of(samples.residuals, samples.units)
    else:
        pairs = pair_differences(samples.x, samples.present, samples.units)
    means = pairs
    if samples.mean_present is not None and samples.mean is not samples.x:
        means = pair_differences(samples.mean, samples.mean_present, samples.units)
    resampled, shifted = _resamples(samples, comparisons, weights, enough)
    squared: list[SquaredDifference | None] = [None] * len(comparisons)
    if enough:
        squared = [*squared_differences(samples.mean_residuals, samples.units, comparisons)]
    design_effect = _design_effect(samples)
    return [
        _part(samples, c, pairs, means, noise, a, d, s, design_effect, len(weights), (*seed, i))
        for i, (c, a, d, s) in enumerate(zip(comparisons, resampled, shifted, squared, strict=True))
    ]


def _enough(units: Units) -> bool:
    return bool(np.bincount(units.stratum, minlength=1).min() > 1)


def _resamples(
    samples: Samples, comparisons: Sequence[Comparison], weights: Weights, enough: bool
) -> tuple[list[Floats], list[Floats]]:
    """Per comparison, IA of the resamples and of their deviations, as shares."""
    ia: list[list[Floats]] = [[] for _ in comparisons]
    shift: list[list[Floats]] = [[] for _ in comparisons]
    if enough:
        for accuracy, deviation in samples.resampled(weights):
            for i, c in enumerate(comparisons):
                ia[i].append(mean_absolute_difference(accuracy[:, :, c]))
                shift[i].append(mean_absolute_difference(deviation[:, :, c]))
    none = np.full(1, np.nan)
    return (
        [np.concatenate(part) if part else none for part in ia],
        [np.concatenate(part) if part else none for part in shift],
    )


def _part(
    samples: Samples,
    groups: Comparison,
    pairs: Pairs,
    means: Pairs,
    noise: Array,
    resampled: Floats,
    shifted: Floats,
    square: SquaredDifference | None,
    design_effect: Figure,
    draws: int,
    seed: tuple[int, ...],
) -> IAPart:
    K, settings = samples.x.shape[1], list(groups)
    pair_weights = pairs_within(K, settings)
    ia = _ia(samples, settings)
    equal = equal_accuracy_floor(pairs, pair_weights)
    rows = _within(samples.residuals, groups)
    own = rows if samples.replicates == 1 else _within(samples.drawn_residuals, groups)
    covariance = exchange_covariance(rows)
    if samples.present is None:
        exchangeability = exchangeability_floor_of(np.diag(covariance), samples.units.questions)
    else:
        exchangeability = exchangeability_floor(samples.x, samples.present, samples.units, settings)
    cochran, p_cochran, p_exchange = _exchange_tests(rows, covariance, own, draws, seed)
    enough = _enough(samples.units)
    se = 100.0 * float(resampled.std(ddof=1)) if enough and len(resampled) > 1 else float("nan")
    shown = np.unique(groups)
    squared = _squared(samples, square, groups, means, pair_weights) if square else None
    return IAPart(
        ia=ia,
        rerun=_rerun(noise[:, shown], samples, shown),
        exchangeability=exchangeability,
        equal_accuracy=equal,
        over_exchangeability=_excess(ia, exchangeability, se),
        over_equal_accuracy=_excess(ia, equal, se),
        squared=squared[0] if squared else Estimate.undefined(_FEW),
        typical=Figure(squared[1]) if squared else Figure.undefined(_FEW),
        p_exchangeability=p_exchange,
        p_equal_accuracy=_equal_accuracy(samples, groups, shifted),
        cochran=cochran,
        p_cochran=p_cochran,
        design_effect=design_effect,
    )


def _ia(samples: Samples, settings: list[NDArray[np.intp]]) -> Figure:
    P = len(samples.x) // samples.replicates
    return mean_figure(
        instability_of_accuracy(
            samples.x[r * P : (r + 1) * P],
            None if samples.present is None else samples.present[r * P : (r + 1) * P],
            settings,
        ).figure
        for r in range(samples.replicates)
    )


def _within(residuals: NDArray[np.float32], groups: Comparison) -> NDArray[np.float32]:
    """Residuals above the mean of each setting, one row for each persona and setting."""
    if groups.shape == (1, residuals.shape[1]):
        return residuals
    rows = residuals[:, groups]
    rows -= rows.mean(axis=2, keepdims=True)
    return np.asarray(rows.reshape(-1, *rows.shape[2:]))


def _exchange_tests(
    rows: NDArray[np.float32],
    covariance: Floats,
    own: NDArray[np.float32],
    draws: int,
    seed: tuple[int, ...],
) -> tuple[Figure, Figure, Figure]:
    """Cochran's Q together, its p value, and that of IA under exchange."""
    if not (np.diag(covariance) > 1e-9).any():
        still = Figure.undefined(_STILL)
        return still, still, still
    fixed = fixed_share(rows, covariance)
    if own is rows:
        together = cochran_q_together(rows, covariance, fixed)
    else:
        together = cochran_q_together(own, exchange_covariance(own))
    return (
        _figure(together.q, _STILL),
        _figure(together.p, _STILL),
        Figure(exchangeability_p(rows, covariance, draws, seed, fixed)),
    )


def _figure(value: float, reason: str) -> Figure:
    return Figure.undefined(reason) if np.isnan(value) else Figure(value)


def _excess(ia: Figure, floor: Figure, se: float) -> Estimate:
    for figure in (ia, floor):
        if not figure.defined:
            return Estimate.undefined(figure.reason)
    if np.isnan(se):
        return Estimate.undefined(_FEW)
    return Estimate.around(ia.value - floor.value, se, WIDTH)


def _squared(
    samples: Samples, found: SquaredDifference, groups: Comparison, means: Pairs, weights: Floats
) -> tuple[Estimate, float]:
    value, se = found.value, found.se
    if samples.mean_present is not None:
        value = 1e4 * mean_over_pairs(means.difference**2 - means.variance, weights)
        # residuals of missing answers are 0, which shrinks differences by the share present
        se /= max(float(samples.mean_present[:, np.unique(groups)].mean()), 1e-9) ** 2
    if np.isnan(value):
        nothing = "no question is present in two configurations"
        return Estimate.undefined(nothing), 0.0
    root = float(np.sign(value) * np.sqrt(abs(value)))
    return Estimate.around(value, se, WIDTH), root


def _rerun(noise: Array, samples: Samples, shown: NDArray[np.intp]) -> Figure:
    there = samples.mean_present
    seen = np.ones(noise.shape, dtype=bool) if there is None else there[:, shown]
    return rerun_floor(noise, seen)


def _equal_accuracy(samples: Samples, groups: Comparison, shifted: Floats) -> Figure:
    if np.isnan(shifted).any():
        return Figure.undefined(_FEW)
    if not shifted.any():
        return Figure.undefined(_STILL)
    x, there = samples.x, samples.present
    if there is None:
        accuracy = x.mean(axis=2, dtype=np.float64)
    else:
        n = np.maximum(there.sum(axis=2), 1)
        accuracy = np.where(there, x, 0).sum(axis=2, dtype=np.float64) / n
    observed = float(mean_absolute_difference(accuracy[None][:, :, groups])[0])
    return Figure(monte_carlo_p(observed, shifted))


def _design_effect(samples: Samples) -> Figure:
    """Mean over pairs of se^2(D), over the same for independent questions in one stratum.

    The mean over all pairs is proportional to the sum of the residuals' variances.
    """
    units = samples.units
    if units.singletons and units.strata == 1:
        return Figure(1.0)
    if not _enough(units):
        return Figure.undefined(_FEW)
    single = Units.of(units.questions)
    top = bottom = 0.0
    for p in range(len(samples.x)):
        there = None if samples.present is None else samples.present[p : p + 1]
        rows = residuals(samples.x[p : p + 1], there, single)
        bottom += float(single.variance_of_total_mean(rows).sum())
        top += float(units.variance_of_mean(rows).sum())
    return Figure(top / bottom) if bottom > 0 else Figure.undefined(_STILL)
