"""Models side by side: the same labels, configurations and questions for both of each pair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from nongrata.analysis.estimate_rows import (
    DifferenceRow,
    Estimate,
    Metric,
    difference_rows,
    named,
    root,
)
from nongrata.analysis.measured import NO_DRAWS, Cells, cells_of, measured
from nongrata.analysis.model_data import ModelData
from nongrata.analysis.selection import Personas
from nongrata.stats.accuracy import Array
from nongrata.stats.influence import Estimates, stacked
from nongrata.stats.paired_comparison import Differences, all_pairs, paired
from nongrata.stats.settings import all_together

MODEL_METRICS: tuple[Metric, ...] = (
    "accuracy",
    "squared_difference",
    "ia",
    "ia_excess",
    "iq_of_two",
    "iq_of_all",
)


@dataclass(frozen=True, slots=True)
class ModelRow:
    """One model on the cells it has; see `DifferenceRow` for what models have in common.

    Parameters
    ----------
    model
        Its name.
    accuracy
        Mean over labels and configurations, in per cent.
    squared_difference, typical_difference
        Noise-free mean squared difference of accuracy between two configurations, in squared
        points, and its root, in points.
    ia, ia_excess
        IA, and IA less what equal accuracies would give, in points; drawn answers.
    iq_of_two, iq_of_all
        IQ(2) and IQ(K), in per cent; drawn answers.
    personas, configurations, questions, clusters
        What it rests on.
    """

    model: str
    accuracy: Estimate
    squared_difference: Estimate
    typical_difference: Estimate
    ia: Estimate
    ia_excess: Estimate
    iq_of_two: Estimate
    iq_of_all: Estimate
    personas: int
    configurations: int
    questions: int
    clusters: int


@dataclass(frozen=True, slots=True)
class ModelComparison:
    """All models of a study, in pairs.

    Parameters
    ----------
    rows
        One a model.
    differences
        All pairs, metric by metric, each on the cells and questions that both models have;
        adjusted, and with joint intervals, within each metric.
    """

    rows: tuple[ModelRow, ...]
    differences: tuple[DifferenceRow, ...]

    def of(self, metric: Metric) -> tuple[DifferenceRow, ...]:
        """The differences in one metric."""
        return tuple(row for row in self.differences if row.metric == metric)


def compare_models(models: Sequence[ModelData], personas: Personas = "labels") -> ModelComparison:
    """Compare models with one another.

    Parameters
    ----------
    models
        Of one study: the same personas, configurations and questions.
    personas
        Whose accuracies.
    """
    own = [_own(data, personas) for data in models]
    rows = tuple(_row(data, personas, part) for data, part in zip(models, own, strict=True))
    differences: list[DifferenceRow] = []
    names = [data.model for data in models]
    if len(models) > 1:
        sides = _pairs(models, personas, own)
        seed = models[0].resampling.seed
        for j, metric in enumerate(MODEL_METRICS):
            found: Differences
            if sides is None:
                together = stacked(*(part[metric] for part in own if part is not None))
                found = all_pairs(together, joint=True, seed=(seed, 700 + j))
            else:
                first, second = (stacked(*(pair[i][metric] for pair in sides)) for i in (0, 1))
                found = paired(first, second, len(models), seed=(seed, 700 + j))
            differences.extend(difference_rows(found, metric, names))
    return ModelComparison(rows, tuple(differences))


def _measure(cells: Cells) -> dict[Metric, Estimates]:
    return measured(cells, [all_together(cells.value.shape[1])], MODEL_METRICS)


def _own(data: ModelData, personas: Personas) -> dict[Metric, Estimates] | None:
    kept = data.selection(personas)
    if not len(kept.personas) or not len(kept.configurations):
        return None
    return _measure(cells_of(data, kept.personas, kept.configurations))


def _row(data: ModelData, personas: Personas, part: dict[Metric, Estimates] | None) -> ModelRow:
    kept = data.selection(personas)
    table: dict[Metric, Estimate] = {}
    for metric in MODEL_METRICS:
        if part is None:
            table[metric] = Estimate.undefined("no answers yet")
            continue
        no_pair = len(kept.configurations) < 2 and metric != "accuracy"
        reason = "one configuration has no pair" if no_pair else NO_DRAWS
        if metric in ("accuracy", "squared_difference") and not no_pair:
            reason = "no answers yet"
        elif metric in ("iq_of_two", "iq_of_all") and not no_pair:
            reason = f"{NO_DRAWS}, or no label has a complete question right"
        table[metric] = named(part[metric], metric, [reason])[0]
    return ModelRow(
        model=data.model,
        typical_difference=root(table["squared_difference"]),
        personas=len(kept.personas),
        configurations=len(kept.configurations),
        questions=data.units.questions,
        clusters=len(data.units),
        **table,
    )


def _pairs(
    models: Sequence[ModelData], personas: Personas, own: list[dict[Metric, Estimates] | None]
) -> list[tuple[dict[Metric, Estimates], dict[Metric, Estimates]]] | None:
    """Both sides of each pair on what is common to them; None if that is all of every model."""
    kept = [data.selection(personas) for data in models]

    def same(a: Array, b: Array) -> bool:
        return np.array_equal(a, b)

    alike = all(
        same(k.personas, kept[0].personas) and same(k.configurations, kept[0].configurations)
        for k in kept
    )
    if alike and all(data.complete for data in models) and all(part is not None for part in own):
        return None
    out = []
    for a, b in combinations(range(len(models)), 2):
        rows = np.intersect1d(kept[a].personas, kept[b].personas)
        columns = np.intersect1d(kept[a].configurations, kept[b].configurations)
        if not len(rows) or not len(columns):
            out.append((_nothing(models[a]), _nothing(models[b])))
            continue
        where = np.ix_(rows, columns)
        common = models[a].present[where] & models[b].present[where]
        out.append(
            (
                _measure(cells_of(models[a], rows, columns, common)),
                _measure(cells_of(models[b], rows, columns, common)),
            )
        )
    return out


def _nothing(data: ModelData) -> dict[Metric, Estimates]:
    nothing = Estimates(np.full(1, np.nan), np.zeros((1, len(data.units))), np.zeros(1))
    return dict.fromkeys(MODEL_METRICS, nothing)
