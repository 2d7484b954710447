"""What comparisons measure in a set of cells and questions of one model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nongrata.analysis.estimate_rows import Metric
from nongrata.analysis.model_data import ModelData
from nongrata.stats.accuracy import Array, Bools
from nongrata.stats.accuracy_intervals import average_accuracies
from nongrata.stats.influence import Estimates, scattered
from nongrata.stats.question_sets import instability_of_question_sets
from nongrata.stats.sensitivity import sensitivity
from nongrata.stats.settings import Settings
from nongrata.stats.units import Units

NO_DRAWS = "some cells have probabilities but no drawn answers"


@dataclass(frozen=True)
class Cells:
    """The answers that a comparison rests on.

    Parameters
    ----------
    value, present
        Best estimates of P(right), shape (P, K, Q), and where they are known; None: everywhere.
    draws
        Replicate by replicate right or not, and where present; empty if some cell was not drawn.
    units
        Of the questions.
    """

    value: Array
    present: Bools | None
    draws: tuple[tuple[Bools, Bools | None], ...]
    units: Units

    def on(self, questions: Array) -> Cells:
        """The same on some of the questions."""

        def some(x: Array | None) -> Array | None:
            return None if x is None else x[:, :, questions]

        return Cells(
            self.value[:, :, questions],
            some(self.present),
            tuple((x[:, :, questions], some(there)) for x, there in self.draws),
            self.units.on(questions),
        )


def cells_of(
    data: ModelData, personas: Array, configurations: Array, common: Bools | None = None
) -> Cells:
    """The cells of some personas and configurations.

    Parameters
    ----------
    data
        The model.
    personas, configurations
        Positions.
    common
        Where another model has an answer too, shape (P, K, Q) of those cells; None: no matter.
    """
    where = np.ix_(personas, configurations)

    def kept(there: Bools) -> Bools | None:
        if common is not None:
            there = there & common
        return None if there.all() else there

    present = None if data.complete and common is None else kept(data.present[where])
    value = data.value[where]
    if present is not None:
        value = np.where(present, value, np.float32(0))
    draws = []
    drawn = np.zeros((len(personas), len(configurations)), dtype=bool)
    for r in range(data.cube.replicates):
        there = data.answers.present[:, :, r][where]
        drawn |= there.any(axis=2)
        if there.any():
            draws.append((data.answers.correct[:, :, r][where], kept(there)))
    needed = np.ones(1, bool) if present is None else present.any(axis=2)
    complete = bool((drawn | ~needed).all())
    return Cells(value, present, tuple(draws) if complete else (), data.units)


def measured(
    cells: Cells,
    scopes: Sequence[Settings],
    metrics: Sequence[Metric],
    *,
    clusters: int | None = None,
    sharp: bool = False,
) -> dict[Metric, Estimates]:
    """Metrics as shares, one row a scope; drawn figures are means over replicates.

    Parameters
    ----------
    cells
        What they rest on.
    scopes
        Sets of configurations compared, as in `nongrata.stats.sensitivity`.
    metrics
        Which; ``accuracy`` is the same in every scope.
    clusters
        Size for ``ia_at_size``.
    sharp
        As in `nongrata.stats.sensitivity`.
    """
    out: dict[Metric, Estimates] = {}
    P, K, _ = cells.value.shape
    if "accuracy" in metrics:
        even = np.full((len(scopes), P, K), 1.0 / max(P * K, 1))
        out["accuracy"] = average_accuracies(cells.value, cells.present, cells.units, even)[0]
    found = None
    if "squared_difference" in metrics:
        found = sensitivity(cells.value, cells.present, cells.units, scopes, clusters, sharp=sharp)
        out["squared_difference"] = found.mean_squared
    wanted: list[Metric] = [m for m in ("ia", "ia_excess", "ia_at_size") if m in metrics]
    if wanted:
        one_draw = len(cells.draws) == 1 and _is_drawn(cells)
        each = [
            found
            if one_draw and found is not None
            else sensitivity(x, there, cells.units, scopes, clusters)
            for x, there in cells.draws
        ]
        for metric in wanted:
            parts = []
            for s in each:
                if metric == "ia_at_size":
                    parts.append(s.ia_at_size)
                else:
                    value = s.ia.value - (s.floor if metric == "ia_excess" else 0.0)
                    parts.append(Estimates(value, s.ia.influence, s.ia.df))
            out[metric] = _mean(parts, len(scopes), cells.units)
    for metric, m in (("iq_of_two", 2), ("iq_of_all", K)):
        if metric in metrics:
            sets = [
                instability_of_question_sets(x, there, cells.units, scopes, m)
                for x, there in cells.draws
            ]
            out[metric] = _mean(sets, len(scopes), cells.units)
    return out


def spread_over(
    parts: dict[Metric, Estimates], units: Units, questions: Array
) -> dict[Metric, Estimates]:
    """Estimates on some questions, placed among the clusters of all."""
    return {metric: scattered(part, units, questions) for metric, part in parts.items()}


def _is_drawn(cells: Cells) -> bool:
    """Whether the values are the one draw itself."""
    x, there = cells.draws[0]
    if (there is None) != (cells.present is None):
        return False
    return bool((cells.value == (x if there is None else x & there)).all())


def _mean(parts: list[Estimates], rows: int, units: Units) -> Estimates:
    """Mean over replicates, of those in which each row is defined."""
    if not parts:
        nothing = np.zeros((rows, len(units)))
        return Estimates(np.full(rows, np.nan), nothing, np.zeros(rows))
    if len(parts) == 1:
        return parts[0]
    known = np.stack([~np.isnan(part.value) for part in parts])
    share = known / np.maximum(known.sum(axis=0), 1)
    value = sum(
        np.where(k, part.value, 0.0) * w for k, w, part in zip(known, share, parts, strict=True)
    )
    influence = sum(w[:, None] * part.influence for w, part in zip(share, parts, strict=True))
    return Estimates(np.where(known.any(axis=0), value, np.nan), np.asarray(influence), parts[0].df)
