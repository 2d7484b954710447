"""Which factor moves accuracy, and the set of right questions, most."""

from __future__ import annotations

from dataclasses import dataclass

from nongrata.analysis.estimate_rows import (
    DifferenceRow,
    Estimate,
    Metric,
    difference_rows,
    named,
    root,
)
from nongrata.analysis.measured import NO_DRAWS, cells_of, measured
from nongrata.analysis.model_data import ModelData
from nongrata.analysis.selection import LeftOut, Personas
from nongrata.stats.paired_comparison import all_pairs
from nongrata.stats.settings import one_factor_settings

FACTOR_METRICS: tuple[Metric, ...] = ("squared_difference", "ia_excess", "iq_of_two")


@dataclass(frozen=True, slots=True)
class FactorRow:
    """How much one factor matters, the others held: means over pairs of its levels.

    Parameters
    ----------
    factor
        Its name.
    levels, settings
        Levels compared, and combinations of the other factors over which figures are averaged.
    squared_difference
        Noise-free mean squared difference of accuracy between two levels, in squared points.
    typical_difference
        Its root, in points.
    ia_excess
        Mean absolute difference less what equal accuracies would give, in points; drawn answers.
    iq_of_two
        IQ(2): per cent of the questions right at either of two levels that are not right at both.
        Holds the noise of drawing.
    """

    factor: str
    levels: int
    settings: int
    squared_difference: Estimate
    typical_difference: Estimate
    ia_excess: Estimate
    iq_of_two: Estimate


@dataclass(frozen=True, slots=True)
class FactorComparison:
    """The factors of one model, on the same questions.

    Parameters
    ----------
    model
        Its name.
    rows
        One a factor, in the study's order.
    differences
        All pairs of factors, metric by metric, adjusted within each.
    personas, questions, clusters
        What it rests on.
    left_out
        Personas and configurations that are not in it, and why.
    """

    model: str
    rows: tuple[FactorRow, ...]
    differences: tuple[DifferenceRow, ...]
    personas: int
    questions: int
    clusters: int
    left_out: tuple[LeftOut, ...]

    def of(self, metric: Metric) -> tuple[DifferenceRow, ...]:
        """The differences in one metric."""
        return tuple(row for row in self.differences if row.metric == metric)


def compare_factors_of(data: ModelData, personas: Personas = "labels") -> FactorComparison:
    """Compare the factors of one model.

    Parameters
    ----------
    data
        The model.
    personas
        Whose accuracies.
    """
    kept = data.selection(personas)
    cube = data.cube
    levels = cube.levels[kept.configurations]
    names = list(cube.factors)
    P, Q, G = len(kept.personas), data.units.questions, len(data.units)
    if P == 0 or len(levels) == 0:
        nothing = Estimate.undefined("no answers are left")
        rows = tuple(FactorRow(name, 0, 0, *(nothing,) * 4) for name in names)
        return FactorComparison(data.model, rows, (), P, Q, G, kept.left_out)
    scopes = [
        [group for group in one_factor_settings(levels, f) if len(group) > 1]
        for f in range(len(names))
    ]
    cells = cells_of(data, kept.personas, kept.configurations)
    found = measured(cells, scopes, FACTOR_METRICS)
    why = ["" if scope else "the factor has one level" for scope in scopes]
    drawn = "no difference is defined" if cells.draws else NO_DRAWS
    table = {
        metric: named(
            found[metric],
            metric,
            [w or ("no answers" if metric == "squared_difference" else drawn) for w in why],
        )
        for metric in FACTOR_METRICS
    }
    differences: list[DifferenceRow] = []
    for metric in FACTOR_METRICS:
        differences.extend(difference_rows(all_pairs(found[metric]), metric, names))
    rows = tuple(
        FactorRow(
            name,
            max((len(group) for group in scopes[f]), default=1),
            len(scopes[f]),
            table["squared_difference"][f],
            root(table["squared_difference"][f]),
            table["ia_excess"][f],
            table["iq_of_two"][f],
        )
        for f, name in enumerate(names)
    )
    return FactorComparison(data.model, rows, tuple(differences), P, Q, G, kept.left_out)
