"""Accuracies that can be ranked, on questions complete for all labels, and their noise."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from nongrata.analysis.model_data import ModelData
from nongrata.analysis.ranking_rows import ConfigurationRanks
from nongrata.analysis.selection import LeftOut, Personas, Selection
from nongrata.stats.accuracy import Array, Floats, ratio
from nongrata.stats.figure import Figure
from nongrata.stats.rank_agreement import ordering
from nongrata.stats.units import Units

TIED = 1e-7
"""Accuracies that differ by no more are tied: values are float32, and shares of fewer than ten
million answers differ by more."""


@dataclass(frozen=True)
class RankingCells:
    """The cells of one model that are ranked.

    Parameters
    ----------
    data
        The model.
    selection
        Its labels, and its configurations with a question complete for all of them.
    totals
        Cluster totals of complete questions, shape (P, K, G).
    counts
        Complete questions in each cluster, shape (K, G), or (1, G) where nothing is missing.
    """

    data: ModelData
    selection: Selection
    totals: NDArray[np.float32]
    counts: NDArray[np.float32]

    @property
    def units(self) -> Units:
        """Clusters and strata of the questions."""
        return self.data.units

    @cached_property
    def questions(self) -> NDArray[np.intp]:
        """Complete questions of each configuration, shape (K,)."""
        n = self.counts.sum(axis=1, dtype=np.float64).astype(np.intp)
        return np.broadcast_to(n, self.totals.shape[1])

    @cached_property
    def accuracy(self) -> Floats:
        """Shares, shape (P, K)."""
        return ratio(self.totals.sum(axis=2, dtype=np.float64), self.questions)

    @cached_property
    def linear(self) -> NDArray[np.floating]:
        """Totals whose covariance of means is that of the accuracies, shape (P, K, G).

        With missing answers an accuracy is a ratio; these are its linearisation, scaled so that
        they add up to Q times the accuracy.
        """
        Q, size = self.units.questions, self.units.sizes
        if len(self.counts) == 1:
            return self.totals
        A = self.accuracy[:, :, None]
        scale = (Q / self.questions)[None, :, None]
        return np.asarray(A * size + scale * (self.totals - A * self.counts))

    @cached_property
    def noise(self) -> NDArray[np.float32]:
        """Accuracies in resamples of the questions less `accuracy`, shape (B, P, K)."""
        if len(self.counts) == 1 and self.data.complete:
            drawn = self.data.bootstrap_accuracy[:, self.selection.personas]
            drawn = drawn[:, :, self.selection.configurations]
            return np.asarray(drawn - self.accuracy.astype(np.float32))
        weights = self.data.weights
        rows = np.ascontiguousarray(self.totals).reshape(-1, self.totals.shape[2])
        right = (weights @ rows.T).reshape(len(weights), *self.totals.shape[:2])
        n = (weights @ self.counts.T)[:, None, :]
        drawn = np.divide(right, n, out=np.full(right.shape, np.nan, np.float32), where=n > 0)
        drawn -= self.accuracy.astype(np.float32)
        everywhere = np.flatnonzero(~np.isnan(drawn).any(axis=(1, 2)))
        return np.asarray(drawn[everywhere])

    def mean_over(self, configurations: NDArray[np.intp]) -> tuple[Floats, Floats]:
        """Mean accuracy over configurations, shape (P,), and its covariance, shape (P, P)."""
        mean = self.accuracy[:, configurations].mean(axis=1)
        if len(configurations) == 1:
            totals: Array = self.linear[:, configurations[0]]
        else:
            # one contiguous product for each label: no copy of the configurations chosen
            share = np.zeros(self.totals.shape[1], dtype=self.linear.dtype)
            share[configurations] = 1 / len(configurations)
            totals = np.stack([share @ part for part in self.linear])
        return mean, self.units.covariance_of_total_means(totals)

    @cached_property
    def design_effect(self) -> Figure:
        """Mean variance of differences between labels over that with every question alone."""
        if self.units.singletons and self.units.strata == 1:
            return Figure(1.0)
        value = np.stack([self._mean_value(int(p)) for p in self.selection.personas])
        together = _spread(self.units.covariance_of_means(value))
        alone = _spread(Units.of(self.units.questions).covariance_of_means(value))
        if not np.isfinite(together):
            return Figure.undefined("one cluster of questions has no spread")
        if alone <= 0:
            return Figure.undefined("labels differ alike on every question")
        return Figure(together / alone)

    def _mean_value(self, p: int) -> Floats:
        """One label's mean linearised value of each question, shape (Q,)."""
        columns = self.selection.configurations
        value = self.data.value[p][columns]
        if len(self.counts) == 1:
            return np.asarray(value.mean(axis=0, dtype=np.float64))
        there = self.data.present[self.selection.personas][:, columns].all(axis=0)
        A = ratio(np.where(there, value, 0).sum(axis=1, dtype=np.float64), self.questions)[:, None]
        scale = (self.units.questions / self.questions)[:, None]
        return np.asarray((A + scale * np.where(there, value - A, 0)).mean(axis=0))


def _spread(covariance: Floats) -> float:
    """P times the mean over pairs of the variance of a difference, up to a constant."""
    return float(np.trace(covariance) - covariance.sum() / len(covariance))


def ranking_cells(data: ModelData, personas: Personas) -> RankingCells:
    """The cells that are ranked; configurations without a complete question are left out.

    Parameters
    ----------
    data
        The model.
    personas
        Which personas.
    """
    chosen = data.selection(personas)
    rows, columns = chosen.personas, chosen.configurations
    size = data.units.sizes.astype(np.float32)[None]
    if data.complete or len(rows) == 0:
        return RankingCells(data, chosen, data.totals[np.ix_(rows, columns)], size)
    there = np.asarray(data.present[rows][:, columns].all(axis=0))
    ranked = np.flatnonzero(there.any(axis=1))
    gone = tuple(data.cube.label(int(c)) for c in np.delete(columns, ranked))
    why = "no question is complete for all labels"
    left_out = (*chosen.left_out, *([LeftOut("configuration", gone, why)] if gone else ()))
    chosen = Selection(rows, columns[ranked], left_out)
    there = there[ranked]
    if there.all():
        return RankingCells(data, chosen, data.totals[np.ix_(rows, columns[ranked])], size)
    totals = np.stack(
        [data.units.totals(np.where(there, data.value[p][columns[ranked]], 0)) for p in rows]
    )
    counts = np.asarray(data.units.totals(there), dtype=np.float32)
    return RankingCells(data, chosen, np.asarray(totals, dtype=np.float32), counts)


def configuration_ranks(cells: RankingCells) -> tuple[ConfigurationRanks, ...]:
    """The order of the labels in each configuration, ties as everywhere."""
    if not cells.accuracy.size:
        return ()
    cube, ranks = cells.data.cube, ordering(cells.accuracy, TIED).ranks
    return tuple(
        ConfigurationRanks(
            tuple(str(level) for level in cube.configuration(int(c))),
            int(cells.questions[i]),
            tuple(ranks[:, i].tolist()),
        )
        for i, c in enumerate(cells.selection.configurations)
    )
