"""The units that are sampled: clusters of questions, within strata of fixed size.

Source: S1, last lines, and S6. A cluster is a set of questions that share a passage or are
duplicates of one another; they stand or fall together. A stratum is a source that fills a fixed
part of a composite, so a resample has as many questions of it as the study. Everything else is
not resampled: personas, configurations and replicates are what they are.

With n_g questions in cluster g of stratum h, N_h = sum of n_g over h, and w_g the number of times
g is drawn (G_h draws with replacement from the G_h clusters of h), the weight used is
w_g N_h / sum_{g in h} w_g n_g: every stratum keeps its number of questions whatever the sizes of
its clusters. Weights follow the order in which clusters first appear, so a change of names
changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from nongrata.stats.accuracy import Array, Bools, Floats

Ints = NDArray[np.integer]
Weights = NDArray[np.float32]


@dataclass(frozen=True)
class Units:
    """Clusters of questions and the strata that they are drawn within.

    Parameters
    ----------
    cluster
        Number of each question's cluster, 0 ... G - 1 in order of first appearance, shape (Q,).
    stratum
        Number of each cluster's stratum, 0 ... H - 1, shape (G,).

    Examples
    --------
    >>> units = Units.of(4, cluster=np.array([7, 7, 3, 5]))
    >>> units.cluster.tolist(), len(units), units.sizes.tolist()
    ([0, 0, 1, 2], 3, [2, 1, 1])
    """

    cluster: NDArray[np.intp]
    stratum: NDArray[np.intp]

    @classmethod
    def of(cls, questions: int, cluster: Ints | None = None, stratum: Ints | None = None) -> Units:
        """Make units from codes.

        Strata are ignored where a cluster reaches over two of them or a stratum has one cluster:
        within such a stratum nothing could vary.

        Parameters
        ----------
        questions
            Number of questions, Q.
        cluster, stratum
            Any codes, shape (Q,); questions with the same code belong together. None: every
            question is a cluster of its own; all are one stratum.
        """
        alone = np.arange(questions, dtype=np.intp)
        of_question = alone if cluster is None else _in_order(cluster)
        G = int(of_question.max(initial=-1)) + 1
        one = np.zeros(G, dtype=np.intp)
        if stratum is None or G == 0:
            return cls(of_question, one)
        h = _in_order(stratum)
        of_cluster = np.zeros(G, dtype=np.intp)
        of_cluster[of_question] = h
        if (of_cluster[of_question] != h).any() or np.bincount(of_cluster).min() < 2:
            return cls(of_question, one)
        return cls(of_question, of_cluster)

    def __len__(self) -> int:
        """Number of clusters, G."""
        return len(self.stratum)

    @property
    def questions(self) -> int:
        """Number of questions, Q."""
        return len(self.cluster)

    @cached_property
    def sizes(self) -> NDArray[np.intp]:
        """Questions in each cluster, shape (G,)."""
        return np.bincount(self.cluster, minlength=len(self))

    @cached_property
    def strata(self) -> int:
        """Number of strata, H."""
        return int(self.stratum.max(initial=0)) + 1

    @property
    def degrees_of_freedom(self) -> int:
        """Clusters less strata, G - H."""
        return len(self) - self.strata

    @cached_property
    def singletons(self) -> bool:
        """Whether every question is a cluster of its own."""
        return len(self) == self.questions

    def on(self, questions: NDArray[np.integer] | Bools) -> Units:
        """The units of some of the questions.

        Examples
        --------
        >>> Units.of(3, cluster=np.array([0, 0, 1])).on(np.array([1, 2])).cluster.tolist()
        [0, 1]
        """
        cluster = self.cluster[questions]
        return Units.of(len(cluster), cluster, self.stratum[cluster])

    def totals(self, x: Array) -> Array:
        """Sum over the questions of each cluster.

        Parameters
        ----------
        x
            Shape (..., Q).

        Returns
        -------
        array
            Shape (..., G): `x` itself where every question is its own cluster, else float64 or, of
            booleans and integers, int64.

        Examples
        --------
        >>> Units.of(3, cluster=np.array([0, 1, 0])).totals(np.array([[1, 0, 1]])).tolist()
        [[2, 0]]
        """
        if self.singletons:
            return x
        kind = np.float64 if np.issubdtype(x.dtype, np.floating) else np.int64
        # one pass for each place in a cluster: most clusters are small, and those of one question
        # need no sum at all
        out = x[..., self._members[self._starts]].astype(kind)
        for place in range(1, int(self.sizes.max(initial=0))):
            more = np.flatnonzero(self.sizes > place)
            out[..., more] += x[..., self._members[self._starts[more] + place]]
        return np.asarray(out)

    @cached_property
    def _members(self) -> NDArray[np.intp]:
        """Questions, cluster by cluster."""
        return np.argsort(self.cluster, kind="stable")

    @cached_property
    def _starts(self) -> NDArray[np.intp]:
        """Where each cluster begins among the members."""
        return np.searchsorted(self.cluster[self._members], np.arange(len(self)))

    def bootstrap_weights(self, draws: int, seed: int | tuple[int, ...] = 0) -> Weights:
        """Weights of clusters in resamples of the questions.

        Parameters
        ----------
        draws
            Number of resamples, B.
        seed
            Numbers that name the random numbers.

        Returns
        -------
        array
            float32, shape (B, G). The weighted number of questions of every stratum is that of the
            study, to rounding.

        Examples
        --------
        >>> units = Units.of(5, cluster=np.array([0, 0, 1, 2, 2]))
        >>> weights = units.bootstrap_weights(4)
        >>> (weights @ units.sizes).round(4).tolist()
        [5.0, 5.0, 5.0, 5.0]
        """
        rng = np.random.default_rng(seed)
        out = np.zeros((draws, len(self)), dtype=np.float32)
        for h in range(self.strata):
            where = np.flatnonzero(self.stratum == h)
            n = len(where)
            # counted from single draws: multinomial() takes one binomial draw for each cluster
            for start in range(0, draws, 256):
                rows = min(256, draws - start)
                drawn = rng.integers(0, n, (rows, n)) + np.arange(rows)[:, None] * n
                times = np.bincount(drawn.ravel(), minlength=rows * n).reshape(rows, n)
                size = self.sizes[where]
                scale = size.sum() / (times @ size)
                out[start : start + rows, where] = times * scale[:, None]
        return out

    def halves(self, splits: int, seed: int | tuple[int, ...] = 0) -> Bools:
        """Random halves of the clusters, within strata; True is the first half.

        A stratum with an odd number of clusters gives the one left over to either half by chance.

        Parameters
        ----------
        splits
            Number of splits, S.
        seed
            Numbers that name the random numbers.

        Returns
        -------
        array
            bool, shape (S, G).

        Examples
        --------
        >>> Units.of(6).halves(3).sum(axis=1).tolist()
        [3, 3, 3]
        """
        rng = np.random.default_rng(seed)
        out = np.zeros((splits, len(self)), dtype=np.bool_)
        for h in range(self.strata):
            where = np.flatnonzero(self.stratum == h)
            n = len(where)
            place = rng.random((splits, n)).argsort(axis=1).argsort(axis=1)
            first = n // 2 + (rng.random(splits) < 0.5) * (n % 2)
            out[:, where] = place < first[:, None]
        return out

    def covariance_of_means(self, x: Array) -> Floats:
        """Covariance matrix of means over questions, clustered and within strata.

        With S_g the cluster total of x minus its stratum's mean for every question, the sum over
        strata of G_h / (G_h - 1) sum_{g in h} S_g S_g' / Q^2: the linearised variance of a mean of
        strata of fixed size.

        Parameters
        ----------
        x
            One row for each mean, shape (M, Q); no missing values.

        Returns
        -------
        array
            Shape (M, M).

        Examples
        --------
        >>> x = np.array([[0.0, 1.0, 0.0, 1.0]])
        >>> Units.of(4).covariance_of_means(x).round(6).tolist()
        [[0.083333]]
        """
        return self.covariance_of_total_means(self.totals(np.asarray(x, dtype=np.float64)))

    def covariance_of_total_means(self, totals: Array) -> Floats:
        """As `covariance_of_means`, from cluster totals of shape (M, G)."""
        M = len(totals)
        out = np.zeros((M, M))
        for h in range(self.strata):
            where = np.flatnonzero(self.stratum == h)
            n, size = len(where), self.sizes[where]
            if n < 2:
                return np.full((M, M), np.nan)
            part = np.asarray(totals[:, where], dtype=np.float64)
            part = part - (part.sum(axis=1) / size.sum())[:, None] * size
            out += n / (n - 1) * (part @ part.T)
        return out / self.questions**2

    def variance_of_mean(self, x: Array) -> Floats:
        """Variance of each row's mean: the diagonal of `covariance_of_means`, any leading shape.

        Parameters
        ----------
        x
            Shape (..., Q).

        Examples
        --------
        >>> Units.of(4).variance_of_mean(np.array([0.0, 1.0, 0.0, 1.0])).round(6).tolist()
        0.083333
        """
        return self.variance_of_total_mean(self.totals(np.asarray(x, dtype=np.float64)))

    def variance_of_total_mean(self, totals: Array) -> Floats:
        """As `variance_of_mean`, from cluster totals of shape (..., G)."""
        out = np.zeros(totals.shape[:-1])
        for h in range(self.strata):
            where = np.flatnonzero(self.stratum == h)
            n, size = len(where), self.sizes[where]
            if n < 2:
                return np.full(totals.shape[:-1], np.nan)
            part = np.asarray(totals[..., where], dtype=np.float64)
            part = part - (part.sum(axis=-1) / size.sum())[..., None] * size
            out += n / (n - 1) * (part**2).sum(axis=-1)
        return np.asarray(out / self.questions**2)

    def design_effect(self, x: Array) -> Floats:
        """Variance of the mean over what it would be, were every question on its own.

        Parameters
        ----------
        x
            Shape (..., Q).

        Returns
        -------
        array
            Shape (...); 1 without clusters and strata, ``nan`` where nothing varies.

        Examples
        --------
        >>> twice = Units.of(4, cluster=np.array([0, 0, 1, 1]))
        >>> float(twice.design_effect(np.array([0.0, 0.0, 1.0, 1.0])).round(6))
        3.0
        """
        alone = Units.of(self.questions).variance_of_mean(x)
        together = self.variance_of_mean(x)
        return np.asarray(
            np.divide(together, alone, out=np.full(np.shape(together), np.nan), where=alone > 0)
        )


def _in_order(codes: Ints) -> NDArray[np.intp]:
    """Codes as numbers 0, 1, ... in order of first appearance."""
    if len(codes) and (codes.min() < 0 or codes.max() > 8 * len(codes)):
        codes = np.unique(codes, return_inverse=True)[1].ravel()
    n = len(codes)
    first = np.full(int(codes.max(initial=-1)) + 1, n, dtype=np.intp)
    first[codes[::-1]] = np.arange(n - 1, -1, -1)  # of several places the first is written last
    rank = np.empty(len(first), dtype=np.intp)
    rank[np.argsort(first, kind="stable")] = np.arange(len(first))
    return np.asarray(rank[codes])
