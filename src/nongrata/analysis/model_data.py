"""One model's answers, ready for statistics: values, noise, units, and resamples made once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from nongrata.analysis.cube import Answers, Cube
from nongrata.analysis.selection import Personas, Selection, select
from nongrata.stats.accuracy import Bools, Floats, ratio
from nongrata.stats.units import Units, Weights


@dataclass(frozen=True)
class Resampling:
    """How intervals and tests draw at random.

    Parameters
    ----------
    draws
        Bootstrap resamples of the questions, and draws of every other Monte Carlo test.
    splits
        Random halves of the questions.
    seed
        Seed of all of them.
    """

    draws: int = 2000
    splits: int = 100
    seed: int = 0


@dataclass(frozen=True)
class Resamples:
    """Resamples of the questions, made when they are first needed and shared by all models."""

    units: Units
    resampling: Resampling

    @cached_property
    def weights(self) -> Weights:
        """Weights of the clusters, shape (B, G)."""
        return self.units.bootstrap_weights(self.resampling.draws, (self.resampling.seed, 1))


@dataclass(frozen=True)
class ModelData:
    """The answers of one model over all personas and configurations of a study.

    `value` is the best estimate of each cell's probability of a right answer: theta where it is
    known, else the mean over the replicates that have an answer. Instability of *drawn* answers
    (IA, IQ as in the preprint) is computed from `answers.correct`, replicate by replicate, never
    from `value`, in which probabilities and draws stand side by side.

    Parameters
    ----------
    cube, index
        The study, and which of its models.
    answers
        The model's answers.
    units
        Clusters and strata of the questions.
    resampling
        Numbers of draws, and the seed.
    resamples
        Weights of the clusters in every resample.
    """

    cube: Cube
    index: int
    answers: Answers
    units: Units
    resampling: Resampling
    resamples: Resamples

    @property
    def model(self) -> str:
        """The model's name."""
        return self.cube.models[self.index]

    @cached_property
    def value(self) -> NDArray[np.float32]:
        """Best estimate of P(right), shape (P, K, Q); 0 where `present` is False."""
        correct, there = self.answers.correct, self.answers.present
        theta = self.answers.theta
        out = np.zeros(theta.shape, dtype=np.float32)
        for p in range(len(theta)):
            n = there[p].sum(axis=1)
            mean = np.where(there[p], correct[p], False).sum(axis=1) / np.maximum(n, 1)
            out[p] = np.where(np.isnan(theta[p]), mean, theta[p])
        return out

    @cached_property
    def present(self) -> Bools:
        """Where `value` is known, shape (P, K, Q)."""
        return np.asarray(self.answers.present.any(axis=2) | ~np.isnan(self.answers.theta))

    @cached_property
    def complete(self) -> bool:
        """Whether nothing is missing."""
        return bool(self.present.all())

    @cached_property
    def exact(self) -> Bools:
        """Cells whose `value` holds no sampling noise: theta, or temperature 0; shape (P, K)."""
        theta = ~np.isnan(self.answers.theta)
        known = np.asarray((theta | ~self.present).all(axis=2) & theta.any(axis=2))
        heat = self.cube.temperature
        if heat is None:
            return known
        cold = np.flatnonzero(heat == 0)
        for p in range(len(known)):
            for c in cold:
                correct, there = self.answers.correct[p, c], self.answers.present[p, c]
                same = ~there | (
                    correct == correct[there.argmax(axis=0), np.arange(len(correct.T))]
                )
                known[p, c] |= bool(same.all())
        return known

    def noise(self, p: int) -> NDArray[np.float32]:
        """Sampling variance of one persona's `value`, shape (K, Q).

        0 in exact cells; s^2 / R of R >= 2 replicates; ``nan`` where an answer was drawn once, so
        that noise and interaction cannot be told apart; 0 where `present` is False.
        """
        correct, there = self.answers.correct[p], self.answers.present[p]
        n = there.sum(axis=1)
        share = np.where(there, correct, False).sum(axis=1) / np.maximum(n, 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            u = np.where(n > 1, share * (1 - share) / (n - 1), np.nan)
        u = np.where(np.isnan(self.answers.theta[p]) & ~self.exact[p][:, None], u, 0.0)
        return np.where(self.present[p], u, 0.0).astype(np.float32)

    @property
    def weights(self) -> Weights:
        """Bootstrap weights of the clusters, shape (B, G), the same for all models of a study."""
        return self.resamples.weights

    @cached_property
    def totals(self) -> NDArray[np.float32]:
        """Cluster totals of `value`, shape (P, K, G); missing answers add nothing."""
        return np.asarray(self.units.totals(self.value), dtype=np.float32)

    @cached_property
    def counts(self) -> NDArray[np.float32] | None:
        """Questions of each cluster that have an answer, shape (P, K, G); None if all have."""
        if self.complete:
            return None
        return np.asarray(self.units.totals(self.present), dtype=np.float32)

    @cached_property
    def accuracy(self) -> Floats:
        """Accuracy of each cell on the questions it has, a share, shape (P, K)."""
        right = self.totals.sum(axis=2, dtype=np.float64)
        if self.counts is None:
            return np.asarray(right / self.units.questions)
        return ratio(right, self.counts.sum(axis=2, dtype=np.float64))

    @cached_property
    def bootstrap_accuracy(self) -> NDArray[np.float32]:
        """`accuracy` in each resample of the questions, shape (B, P, K)."""
        right = self.resample(self.totals)
        if self.counts is None:
            return np.asarray(right / np.float32(self.units.questions))
        n = self.resample(self.counts)
        return np.divide(right, n, out=np.full(right.shape, np.nan, np.float32), where=n > 0)

    def resample(self, totals: NDArray[np.float32]) -> NDArray[np.float32]:
        """Weighted sums over clusters in each resample: (..., G) to (B, ...)."""
        rows = np.ascontiguousarray(totals, dtype=np.float32).reshape(-1, totals.shape[-1])
        product = self.weights @ rows.T
        return np.asarray(product.reshape(len(self.weights), *totals.shape[:-1]))

    def selection(self, personas: Personas = "labels") -> Selection:
        """Personas and configurations that an analysis rests on, and what is left out."""
        return select(self.cube, np.asarray(self.present.any(axis=2)), personas)

    def prepare(self) -> None:
        """Make what is shared now, so that several threads find it made."""
        for made in ("value", "present", "complete", "exact", "totals", "counts"):
            getattr(self, made)
        for made in ("weights", "accuracy", "bootstrap_accuracy"):
            getattr(self, made)

    def forget(self) -> None:
        """Give back the memory of all that was made; it is made again when it is asked for."""
        for holder in (self, self.answers):
            for name in [
                n for n, v in vars(type(holder)).items() if isinstance(v, cached_property)
            ]:
                vars(holder).pop(name, None)

    @property
    def controls(self) -> NDArray[np.intp]:
        """Positions of the controls."""
        return np.flatnonzero(self.cube.is_control)


def each_model(cube: Cube, resampling: Resampling | None = None) -> Iterator[ModelData]:
    """The models of a study, one after another.

    Parameters
    ----------
    cube
        The study.
    resampling
        Numbers of draws, and the seed.
    """
    units, how = (
        Units.of(len(cube.questions), cube.cluster, cube.source),
        resampling or Resampling(),
    )
    resamples = Resamples(units, how)
    for index in range(len(cube.models)):
        yield ModelData(cube, index, cube.answers(index), units, how, resamples)
