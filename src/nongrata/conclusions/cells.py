"""The cells that conclusions about labels rest on: shared questions, residuals, halves."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from nongrata.analysis.model_data import ModelData
from nongrata.stats.accuracy import Array, Floats
from nongrata.stats.units import Units
from nongrata.stats.verdicts import ROUNDING

HALVES = 41
"""A number of this module's own for the seed of random halves."""


@dataclass(frozen=True)
class Cells:
    """Accuracies of some personas in some configurations, on the questions they all share.

    Missing answers: in a configuration only those questions count that are present for all of the
    personas (S1), so that every comparison is of the same questions.

    Parameters
    ----------
    data
        The model.
    personas, configurations
        Positions in the study.
    totals
        Cluster totals of `ModelData.value` on the questions shared, shape (P, K, G).
    counts
        Questions shared, shape (K, G).
    parent
        Cells of which these are the first personas, with all that was computed of them already.
    """

    data: ModelData
    personas: NDArray[np.intp]
    configurations: NDArray[np.intp]
    totals: NDArray[np.float32]
    counts: NDArray[np.float32]
    parent: Cells | None = None

    def first(self, personas: int) -> Cells:
        """The cells of the first personas, on the same questions."""
        return Cells(
            self.data,
            self.personas[:personas],
            self.configurations,
            self.totals[:personas],
            self.counts,
            self,
        )

    @property
    def units(self) -> Units:
        """Clusters and strata of the questions."""
        return self.data.units

    @property
    def names(self) -> list[str]:
        """Names of the personas."""
        return [self.data.cube.personas[p] for p in self.personas]

    @property
    def configuration_names(self) -> list[str]:
        """The configurations, each as one text."""
        return [self.data.cube.label(int(c)) for c in self.configurations]

    @property
    def levels(self) -> NDArray[np.intp]:
        """Position of each factor's level in each configuration, shape (K, F)."""
        return self.data.cube.levels[self.configurations]

    @cached_property
    def questions(self) -> Floats:
        """Questions shared in each configuration, shape (K,)."""
        return np.asarray(self.counts.sum(axis=1, dtype=np.float64))

    @cached_property
    def accuracy(self) -> Floats:
        """Shape (P, K), shares."""
        return np.asarray(self.totals.sum(axis=2, dtype=np.float64) / self.questions)

    @cached_property
    def residuals(self) -> NDArray[np.float32]:
        """What each cluster adds to the error of each accuracy, shape (P, K, G).

        (S_g - A n_g) Q / N with N the questions shared: cluster totals of which the mean over Q
        questions is the linearised accuracy.
        """
        if self.parent is not None:
            return self.parent.residuals[: len(self.personas)]
        scale = (self.units.questions / self.questions).astype(np.float32)
        left = self.totals - self.accuracy.astype(np.float32)[:, :, None] * self.counts
        return np.asarray(left * scale[:, None], dtype=np.float32)

    def covariance(self, rows: Array) -> Floats:
        """Covariance of means from rows of residuals, (M, G) to (M, M); of rounding alone, 0."""
        found = self.units.covariance_of_total_means(rows)
        return np.where(np.abs(found) < ROUNDING**2, 0.0, found)

    @cached_property
    def within(self) -> Floats:
        """Covariance of the personas' accuracies in each configuration, shape (K, P, P)."""
        P, K = len(self.personas), len(self.configurations)
        if self.parent is not None:
            return self.parent.within[:, :P, :P]
        each = [self.covariance(self.residuals[:, c]) for c in range(K)]
        return np.stack(each) if each else np.zeros((0, P, P))

    @cached_property
    def of_mean(self) -> Floats:
        """Covariance of the personas' mean accuracies over configurations, shape (P, P)."""
        P = len(self.personas)
        if self.parent is not None:
            return self.parent.of_mean[:P, :P]
        return self.covariance(self.residuals.mean(axis=1))

    @cached_property
    def across(self) -> Floats:
        """Covariance of the accuracies of one persona, mean over personas, shape (K, K)."""
        return mean_covariance(self.residuals, self.units)

    @cached_property
    def halves(self) -> tuple[Floats, Floats]:
        """Accuracies on random halves of the questions, each (S, P, K)."""
        if self.parent is not None:
            first_half, second_half = self.parent.halves
            P = len(self.personas)
            return first_half[:, :P], second_half[:, :P]
        resampling = self.data.resampling
        first = self.units.halves(resampling.splits, (resampling.seed, HALVES)).astype(np.float32)
        S, (P, K, G) = len(first), self.totals.shape
        right = (first @ self.totals.reshape(P * K, G).T).reshape(S, P, K).astype(np.float64)
        n = (first @ self.counts.T).astype(np.float64)[:, None]
        other, m = self.totals.sum(axis=2, dtype=np.float64) - right, self.questions - n
        with np.errstate(divide="ignore", invalid="ignore"):
            return right / n, other / m

    @cached_property
    def bootstrap(self) -> NDArray[np.float32]:
        """Accuracies in each resample of the questions, shape (B, P, K)."""
        if self.data.complete:
            return self.data.bootstrap_accuracy[:, self.personas][:, :, self.configurations]
        n = self.data.resample(self.counts)[:, None]
        right = self.data.resample(self.totals)
        return np.divide(right, n, out=np.full(right.shape, np.nan, np.float32), where=n > 0)


def whole_splits(first: Floats, second: Floats) -> tuple[Floats, Floats]:
    """Without the splits of the questions, axis 0, that leave an accuracy undefined."""
    inner = tuple(range(1, first.ndim))
    whole = ~(np.isnan(first) | np.isnan(second)).any(axis=inner)
    return first[whole], second[whole]


def mean_covariance(residuals: NDArray[np.float32], units: Units) -> Floats:
    """Mean over personas of the covariance of their accuracies, (P, K, G) to (K, K)."""
    return np.asarray(np.mean([units.covariance_of_total_means(r) for r in residuals], axis=0))


def cells_of(
    data: ModelData, personas: NDArray[np.intp], configurations: NDArray[np.intp]
) -> Cells:
    """Take the cells of some personas; configurations without a shared question are left out.

    Parameters
    ----------
    data
        The model.
    personas, configurations
        Positions in the study.
    """
    grid = np.ix_(personas, configurations)
    if data.complete:
        sizes = np.broadcast_to(data.units.sizes, (len(configurations), len(data.units)))
        return Cells(data, personas, configurations, data.totals[grid], sizes.astype(np.float32))
    shared = np.ones((len(configurations), data.units.questions), dtype=np.bool_)
    for p in personas:
        shared &= data.present[p, configurations]
    kept = shared.any(axis=1)
    configurations, shared = configurations[kept], shared[kept]
    totals = (
        np.stack(
            [
                np.asarray(
                    data.units.totals(data.value[p, configurations] * shared), dtype=np.float32
                )
                for p in personas
            ]
        )
        if len(personas)
        else np.zeros((0, len(configurations), len(data.units)), np.float32)
    )
    counts = np.asarray(data.units.totals(shared), dtype=np.float32)
    return Cells(data, personas, configurations, totals, counts)
