"""The answers of a model as `noise` needs them: one row for each persona and replicate."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nongrata.analysis.instability import Value
from nongrata.analysis.model_data import ModelData
from nongrata.analysis.selection import Selection, exact_probabilities
from nongrata.stats.accuracy import Array, Bools
from nongrata.stats.ia_pairs import residuals
from nongrata.stats.units import Units, Weights

CHUNK = 250
"""Resamples at once."""


@dataclass(frozen=True)
class Samples:
    """Answers of some questions; replicates stand as further rows, personas of each together.

    Parameters
    ----------
    x, present
        Right or not for each replicate, or theta; shape (R P, K, Q); `present` None: everywhere.
    mean, mean_present
        Mean over replicates, or theta where it is known; shape (P, K, Q). For what is about means
        alone: where probabilities and draws stand side by side, configurations do not exchange.
    replicates
        R.
    units
        Clusters of these questions.
    """

    x: Array
    present: Bools | None
    mean: Array
    mean_present: Bools | None
    replicates: int
    units: Units

    def on(self, questions: NDArray[np.intp]) -> Samples:
        """The same for some of the questions."""

        def part(values: Any) -> Any:
            return None if values is None else values[:, :, questions]

        x = part(self.x)
        mean = x if self.mean is self.x else part(self.mean)
        return Samples(
            x,
            part(self.present),
            mean,
            part(self.mean_present),
            self.replicates,
            self.units.on(questions),
        )

    @cached_property
    def totals(self) -> NDArray[np.float32]:
        """Right answers of each cluster, shape (R P, K, G); missing answers add nothing."""
        x = self.x if self.present is None else np.where(self.present, self.x, self.x.dtype.type(0))
        return np.asarray(self.units.totals(x), dtype=np.float32)

    @cached_property
    def residuals(self) -> NDArray[np.float32]:
        """Of `x`, shape (R P, K, G)."""
        if self.present is None:
            return np.asarray(self.totals - self.totals.mean(axis=1, keepdims=True))
        return residuals(self.x, self.present, self.units)

    @cached_property
    def mean_residuals(self) -> NDArray[np.float32]:
        """Of `mean`, shape (P, K, G)."""
        if self.mean is self.x:
            return self.residuals
        return residuals(self.mean, self.mean_present, self.units)

    @cached_property
    def drawn_residuals(self) -> NDArray[np.float32]:
        """Of `x`, mean over replicates, shape (P, K, G): drawn answers only, as exchange wants."""
        if self.replicates == 1:
            return self.residuals
        by_replicate = self.residuals.reshape(self.replicates, -1, *self.residuals.shape[1:])
        return np.asarray(by_replicate.mean(axis=0))

    def resampled(
        self, weights: Weights
    ) -> Iterator[tuple[NDArray[np.float32], NDArray[np.float32]]]:
        """Accuracies of resamples, and less those of the study; (b, R P, K) each, in chunks."""
        right = self.totals.reshape(-1, len(self.units))
        there = None
        if self.present is not None:
            there = np.asarray(self.units.totals(self.present), dtype=np.float32)
            there = there.reshape(right.shape)
        own = right.sum(axis=1, dtype=np.float64)
        size = self.units.questions if there is None else np.maximum(there.sum(axis=1), 1.0)
        own = (own / size).astype(np.float32).reshape(self.x.shape[:2])
        for start in range(0, len(weights), CHUNK):
            w = weights[start : start + CHUNK]
            a = w @ right.T
            n = np.float32(self.units.questions) if there is None else w @ there.T
            a = (a / np.maximum(n, 1e-6)).reshape(len(w), *own.shape).astype(np.float32)
            yield a, a - own


def samples_of(data: ModelData, selection: Selection, value: Value) -> Samples:
    """The answers of a selection of personas and configurations.

    Raises
    ------
    NongrataError
        If probabilities are asked for and a cell has none.
    """
    cells = np.ix_(selection.personas, selection.configurations)
    if value == "theta":
        theta, known = exact_probabilities(data.cube, data.model, data.answers, selection)
        present = None if known.all() else known
        x = theta if present is None else np.where(known, theta, np.float32(0))
        return Samples(x, present, x, present, 1, data.units)
    correct, there = data.answers.correct, data.answers.present
    used = [r for r in range(correct.shape[2]) if there[:, :, r][cells].any()] or [0]
    x = np.concatenate([correct[:, :, r][cells] for r in used])
    seen = np.concatenate([there[:, :, r][cells] for r in used])
    present = None if seen.all() else seen
    if len(used) == 1 and np.isnan(data.answers.theta[cells]).all():
        return Samples(x, present, x, present, 1, data.units)
    mean_there = data.present[cells]
    return Samples(
        x,
        present,
        data.value[cells],
        None if mean_there.all() else mean_there,
        len(used),
        data.units,
    )
