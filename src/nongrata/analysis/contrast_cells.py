"""The numbers behind contrasts: differences by question, cell by cell, for each control."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from nongrata.analysis.cube import Cube
from nongrata.analysis.model_data import ModelData
from nongrata.analysis.selection import Selection
from nongrata.analysis.temperature_factors import temperature_factors
from nongrata.errors import NongrataError
from nongrata.stats.accuracy import Array, Floats
from nongrata.stats.contrasts import Means, linear_totals, means_with_intervals
from nongrata.stats.random_levels import SampledMean, mean_over_sampled_levels
from nongrata.stats.sign_flips import Flips, flip_p, flip_p_together
from nongrata.stats.specification_curve import Curve, curve
from nongrata.wording import say

_FLIPS, _TOGETHER = 41, 42
"""What the random numbers of the sign flips and of the critical values are named after."""


@dataclass(frozen=True)
class LabelCells:
    """One label less one control, as shares.

    Parameters
    ----------
    persona
        Position of the label.
    questions
        Questions that both answered, shape (K,).
    curve, as_sample, design_effect
        As in `LabelContrast`.
    p_median, p_median_together, p_sign, p_sign_together
        As in `ContrastCurve`.
    """

    persona: int
    questions: NDArray[np.intp]
    curve: Curve
    as_sample: SampledMean
    design_effect: float
    p_median: float = float("nan")
    p_median_together: float = float("nan")
    p_sign: float = float("nan")
    p_sign_together: float = float("nan")


@dataclass(frozen=True)
class CellsOfControl:
    """All labels less one control.

    Parameters
    ----------
    control
        Position of the control.
    distinct_cells
        Configurations in which it is no repeat of another one.
    labels
        One entry a label.
    means
        Averages over configurations, one for each label.
    """

    control: int
    distinct_cells: int
    labels: tuple[LabelCells, ...]
    means: Means


def sampled_factors(cube: Cube, fixed: Sequence[str] | None = None) -> tuple[int, ...]:
    """Positions of the factors whose levels are a sample: all but the fixed ones.

    Parameters
    ----------
    cube
        The study.
    fixed
        Names of the fixed factors; None: those that change the temperature, which is a quantity
        with the levels that one chose.
    """
    if fixed is None:
        fixed = temperature_factors(cube.factors, cube.levels, cube.temperature)
    unknown = [name for name in fixed if name not in cube.factors]
    if unknown:
        raise NongrataError(
            f"the study has no factor {unknown[0]!r}",
            where="fixed",
            fix=f"its factors are {', '.join(cube.factors)}",
        )
    return tuple(f for f, name in enumerate(cube.factors) if name not in fixed)


def cells_of_controls(
    data: ModelData, selection: Selection, sampled: tuple[int, ...]
) -> tuple[CellsOfControl, ...]:
    """Compare labels with all controls.

    Parameters
    ----------
    data
        One model's answers.
    selection
        Labels and configurations to compare.
    sampled
        Factors whose levels are a sample.
    """
    kept, units = selection.configurations, data.units
    flips = Flips.of(units, data.resampling.draws, (data.resampling.seed, _FLIPS))
    tables = _Tables.of(data.cube, kept, sampled)
    of_control = {int(c): _flip(data, int(c), kept, flips) for c in data.controls}
    found: dict[int, list[LabelCells]] = {int(c): [] for c in data.controls}
    averages: dict[int, list[Array]] = {int(c): [] for c in data.controls}
    for p in selection.personas.tolist():
        flipped = _flip(data, p, kept, flips)
        for control, theirs in of_control.items():
            totals, questions = _difference(data, p, control, kept)
            both = None if flipped is None or theirs is None else flipped - theirs
            known = questions > 0
            seed = (data.resampling.seed, _TOGETHER)
            found[control].append(
                LabelCells(
                    p, questions, curve(totals, units, flips, both, seed),
                    tables.sampled_mean(totals, data),
                    _design_effect(data, p, control, kept),
                )
            )  # fmt: skip
            averages[control].append(
                totals[known].mean(axis=0, dtype=np.float64)
                if known.any()
                else np.full(len(units), np.nan)
            )
    return tuple(
        CellsOfControl(
            control,
            int((~data.cube.duplicate[control, kept]).sum()),
            _with_tests(found[control], means),
            means,
        )
        for control in found
        for means in [_means(np.array(averages[control]), data)]
    )


def _means(averages: Floats, data: ModelData) -> Means:
    seed, draws = (data.resampling.seed, _TOGETHER), 10 * data.resampling.draws
    return means_with_intervals(averages, data.units, seed, draws)


def _flip(
    data: ModelData, p: int, kept: NDArray[np.intp], flips: Flips
) -> NDArray[np.float32] | None:
    """Flipped totals of one persona, (B, K); None where pairs of cells differ in questions."""
    return np.asarray(flips.signs @ data.totals[p, kept].T) if data.complete else None


def _difference(
    data: ModelData, p: int, control: int, kept: NDArray[np.intp]
) -> tuple[Array, NDArray[np.intp]]:
    """Cluster totals of label less control on the questions both answered, and their number."""
    if data.complete:
        totals = data.totals[p, kept] - data.totals[control, kept]
        return totals, np.full(len(kept), data.units.questions, dtype=np.intp)
    both = data.present[p, kept] & data.present[control, kept]
    apart = np.where(both, data.value[p, kept] - data.value[control, kept], np.float32(0))
    sums, counts = data.units.totals(apart), data.units.totals(both)
    return linear_totals(sums, counts, data.units.sizes), np.asarray(both.sum(axis=1))


def _design_effect(data: ModelData, p: int, control: int, kept: NDArray[np.intp]) -> float:
    if data.units.singletons and data.units.strata == 1:
        return 1.0
    apart = data.value[p, kept].mean(axis=0, dtype=np.float64)
    apart -= data.value[control, kept].mean(axis=0, dtype=np.float64)
    return float(data.units.design_effect(apart))


def _with_tests(labels: list[LabelCells], means: Means) -> tuple[LabelCells, ...]:
    """Add the p values of the joint tests, by label and adjusted for the number of labels."""
    medians = np.array([label.curve.median for label in labels])
    leans = np.array([label.curve.lean for label in labels])
    tested = [m for m, label in enumerate(labels) if len(label.curve.flipped_median)]
    medians_together, leans_together = np.full((2, len(labels)), np.nan)
    if tested:
        scale = np.where(means.se > 0, means.se, np.nan)[tested]
        by_median = np.stack([labels[m].curve.flipped_median for m in tested], axis=1)
        by_lean = np.stack([labels[m].curve.flipped_lean for m in tested], axis=1)
        medians_together[tested] = flip_p_together(medians[tested] / scale, by_median / scale)
        leans_together[tested] = flip_p_together(leans[tested], by_lean)
    return tuple(
        replace(
            label,
            p_median=flip_p(label.curve.median, label.curve.flipped_median),
            p_median_together=float(medians_together[m]),
            p_sign=flip_p(label.curve.lean, label.curve.flipped_lean),
            p_sign_together=float(leans_together[m]),
        )
        for m, label in enumerate(labels)
    )


@dataclass(frozen=True)
class _Tables:
    """How configurations become a table of the sampled factors' levels.

    Parameters
    ----------
    weights
        Shape (cells of the table, K).
    shape
        Levels of each sampled factor.
    reason
        Why there is no table, else empty.
    """

    weights: Floats
    shape: tuple[int, ...]
    reason: str

    @classmethod
    def of(cls, cube: Cube, kept: NDArray[np.intp], sampled: tuple[int, ...]) -> _Tables:
        """The table over all sampled factors, averaged over the fixed ones."""
        levels = (
            np.stack(
                [
                    np.unique(cube.levels[kept, f], return_inverse=True)[1]
                    for f in range(len(cube.factors))
                ],
                axis=1,
            )
            if len(kept)
            else np.zeros((0, len(cube.factors)), dtype=np.intp)
        )
        sizes = [int(column.max(initial=-1)) + 1 for column in levels.T]
        shape = tuple(sizes[f] for f in sampled)
        nothing = np.zeros((0, len(kept)))
        if not sampled:
            return cls(nothing, (), "no factor is read as a sample of levels")
        for f in sampled:
            if sizes[f] < 2:
                why = say("{f} has one level, so its spread is unknown", f=cube.factors[f])
                return cls(nothing, shape, why)
        if len(np.unique(levels, axis=0)) < int(np.prod(sizes)):
            return cls(nothing, shape, "not every combination of levels was asked")
        place = np.ravel_multi_index(tuple(levels[:, f] for f in sampled), shape)
        weights = np.zeros((int(np.prod(shape)), len(kept)))
        weights[place, np.arange(len(kept))] = 1.0
        return cls(weights / weights.sum(axis=1, keepdims=True), shape, "")

    def sampled_mean(self, totals: Array, data: ModelData) -> SampledMean:
        """The mean of one contrast with its formats as a sample."""
        if self.reason:
            return SampledMean.undefined(self.reason)
        cells = self.weights @ np.asarray(totals, dtype=np.float64)
        covariance = data.units.covariance_of_total_means(cells)
        table = cells.sum(axis=1).reshape(self.shape) / data.units.questions
        return mean_over_sampled_levels(table, covariance, data.units.degrees_of_freedom)
