"""Variance components of a study: cells that are all asked the same sample of questions.

Source: S7. The design is crossed: cells (a grid of personas and factor levels) x questions, and
the question facet is the unit that is sampled, a cluster where there are clusters.

What a cluster contributes. With S_gc the sum over the questions of cluster g in cell c, n_gc the
number of those that have an answer, A_hc the accuracy in stratum h (G_h clusters), and N_hc its
number of answers,

    y_gc = A_hc + (S_gc - n_gc A_hc) G_h / N_hc.

Its mean over clusters is the accuracy, and its variance over clusters, divided by G_h, is the
sampling variance of the accuracy, whatever the sizes of the clusters. For clusters of one size
without missing answers it is the cluster's mean, so components are on the scale of single
questions and every question twice changes nothing. Means of clusters of unequal size would
estimate another accuracy, in which small clusters count as much as large ones.

With P_E the projection on an effect E of cells, s2_h(E) the variance |P_E y_g|^2 over the clusters
of h, and v_E = sum over h of (N_h / Q)^2 s2_h(E) / G_h the sampling variance of |P_E A|:

    MS_E = G |P_E A|^2 / df_E,   MS_{E x question} = G v_E / df_E.

With one stratum these are the mean squares of the textbook. With more the question facet is
*questions within their source*, in the proportions of the study.

Resampling. In a bootstrap |P_E A*|^2 has expectation |P_E A|^2 + (G-1)/G v_E, and v*_E has
(G-1)/G v_E; without a correction every component of cells is too large in resamples by what
sampling adds. MS*_E - G v*_E and G/(G-1) MS*_{E x question} are centred on the estimates, and the
standard deviation over resamples is the standard error.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from nongrata.stats.accuracy import Array, Floats, ratio
from nongrata.stats.squared_effects import squared_length_interval
from nongrata.stats.sums_of_squares import (
    degrees_of_freedom,
    holding_fixed,
    number_of,
    over_supersets,
    squared_projections,
)
from nongrata.stats.units import Units, Weights
from nongrata.stats.variance_components import Components

QUESTION = "question"
_CHUNK = 256


@dataclass(frozen=True)
class Contributions:
    """What each cluster contributes to the accuracy of each cell, apart from the accuracy.

    Parameters
    ----------
    means
        Accuracy of each cell in each stratum, shape (C, H), a share.
    centred
        y_gc less its stratum's mean, shape (C, G).
    scale
        G_h / N_hc, what a single answer weighs in y, shape (C, H).
    """

    means: Floats
    centred: NDArray[np.float32]
    scale: Floats


def contributions(totals: Array, units: Units, counts: Array | None = None) -> Contributions:
    """What each cluster contributes to the accuracy of each cell.

    Parameters
    ----------
    totals
        Sums over the questions of each cluster, shape (C, G).
    units
        The clusters, within strata.
    counts
        Questions of each cluster that have an answer, same shape; None: all have.

    Examples
    --------
    >>> units = Units.of(3, cluster=np.array([0, 0, 1]))
    >>> found = contributions(np.array([[2.0, 0.0]]), units)
    >>> found.means.round(3).tolist(), found.centred.astype(float).round(3).tolist()
    ([[0.667]], [[0.444, -0.444]])
    """
    C, G = totals.shape
    means, scale = np.empty((C, units.strata)), np.empty((C, units.strata))
    centred = np.empty((C, G), dtype=np.float32)
    for h in range(units.strata):
        where = _of_stratum(units, h)
        for start in range(0, C, 64):
            rows = slice(start, start + 64)
            total = np.asarray(totals[rows, where], dtype=np.float64)
            n: Array = units.sizes[where][None, :] if counts is None else counts[rows, where]
            answers = np.asarray(n, dtype=np.float64).sum(axis=1)
            mean = ratio(total.sum(axis=1), answers)
            weigh = ratio(np.full(len(mean), total.shape[1]), answers)
            means[rows, h], scale[rows, h] = mean, weigh
            centred[rows, where] = (total - n * mean[:, None]) * weigh[:, None]
    return Contributions(means, centred, scale)


@dataclass(frozen=True)
class QuestionComponents:
    """Components of cells x questions, and of every resample of the questions.

    Parameters
    ----------
    components
        The facets of the cells, then ``"question"``; variances of shares.
    draws
        Components in each resample, centred on the estimates, shape (B, 2^F).
    noise_draws
        `components.noise` in each resample, shape (B,); ``nan`` where it is not known.
    noise_of_one
        Sampling variance of a single answer, mean over cells; ``nan`` if it is not known.
    lengths, sampling, along
        Of each effect of the cells, shape (2^K,): |P_E A|^2, its part that is sampling, v_E, and
        the variance over resamples of (P_E A)'(P_E A*), for `squared_effects`.
    """

    components: Components
    draws: Floats
    noise_draws: Floats
    noise_of_one: float
    lengths: Floats
    sampling: Floats
    along: Floats

    def given(self, *fixed: str) -> QuestionComponents:
        """The same with the levels of some facets as given, not drawn from more."""
        facets, sizes = self.components.facets, self.components.sizes
        held = holding_fixed(self.draws.T, sizes, number_of(fixed, facets)).T
        return replace(self, components=self.components.given(*fixed), draws=held)

    def as_given_interval(self, *effect: str) -> tuple[float, float]:
        """Interval of an effect of the cells, every facet of the cells at the levels as given.

        Of the component `given` gives. Not symmetric: see `squared_effects`; the low end is 0, or
        the estimate where that is negative, if there may be no effect at all.
        """
        s = self.components.number(*effect)
        df = self.components.degrees_of_freedom[s]
        behind = df * math.prod(
            n
            for name, n in zip(self.components.facets, self.components.sizes, strict=True)
            if name not in (*effect, QUESTION)
        )
        low, high = squared_length_interval(self.lengths[s], self.sampling[s], self.along[s])
        estimate = float(self.lengths[s] - self.sampling[s])
        return float(min(low, estimate) / behind), float(high / behind)

    @property
    def standard_errors(self) -> Floats:
        """Standard deviation over resamples, shape (2^F,); ``nan`` where nothing varies."""
        sd = self.draws.std(axis=0, ddof=1)
        return np.where(sd > 1e-13, sd, np.nan)


def question_components(
    y: Contributions,
    units: Units,
    facets: Sequence[str],
    sizes: Sequence[int],
    weights: Weights,
    *,
    noise: Floats | None = None,
    noise_of_one: float = math.nan,
    lost: Floats | None = None,
) -> QuestionComponents:
    """Components of every effect of cells x questions.

    Parameters
    ----------
    y
        Contributions of the clusters; cells in the order of a grid of shape `sizes`.
    units
        The clusters, two or more in each stratum.
    facets, sizes
        Names of the facets of the cells, and levels of each, two or more.
    weights
        Bootstrap weights of the clusters, shape (B, G).
    noise
        Sampling variance of each cluster's contribution, mean over cells, shape (G,); None if it
        is not known.
    noise_of_one
        Sampling variance of a single answer, handed on.
    lost
        What missing answers add to the variance of each cluster's contribution, mean over cells,
        shape (G,); None: nothing is missing. It is taken off the interaction of all facets.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> units, x = Units.of(50), rng.random((6, 50)) < 0.5
    >>> found = question_components(
    ...     contributions(x, units), units, ["format", "heat"], [2, 3], units.bootstrap_weights(200)
    ... )
    >>> found.components.effects[:3], found.components.confounded
    ((('format',), ('heat',), ('question',)), True)
    """
    G, strata, K = len(units), units.strata, len(facets)
    share = np.bincount(units.stratum, units.sizes) / units.questions
    accuracy = y.means @ share
    lengths = _lengths_of_clusters(y.centred, sizes)
    grid = squared_projections(accuracy.reshape(sizes), K)
    B, E = len(weights), 1 << K
    sampling, plain, corrected = np.zeros(E), np.zeros((B, E)), np.zeros((B, E))
    moved = np.zeros((B, len(accuracy)))
    noises = np.stack([np.zeros(G) if each is None else each for each in (noise, lost)])
    extra, extra_draws = np.zeros(2), np.zeros((B, 2))
    for h in range(strata):
        where = _of_stratum(units, h)
        n = int(np.count_nonzero(units.stratum == h))
        times = np.ascontiguousarray(weights[:, where])
        times *= (n / times.sum(axis=1, dtype=np.float64)).astype(np.float32)[:, None]
        away = (times @ y.centred[:, where].T) / np.float32(n)
        part, a = share[h] ** 2 / n, lengths[:, where]
        sampling += part * a.sum(axis=1) / (n - 1)
        of_mean = _projected(away, sizes)
        again = (times @ a.T.astype(np.float32)).astype(np.float64) - n * of_mean
        plain += part * again / (n - 1)
        corrected += part * again * n / (n - 1) ** 2
        moved += share[h] * away
        extra += part * noises[:, where].mean(axis=1)
        extra_draws += part / n * (times @ noises[:, where].T.astype(np.float32))
    df = degrees_of_freedom(sizes)
    ms = np.concatenate([G * grid / df, G * sampling / df])
    again_grid, moved_grid = _projected(moved + accuracy, sizes), _projected(moved, sizes)
    # (P A)'(P moved), from |P (A + moved)|^2
    along = ((again_grid - grid - moved_grid) / 2).var(axis=0, ddof=1)
    ms_draws = np.concatenate([G * (again_grid - plain) / df, G * corrected / df], axis=1)
    everything = (*sizes, G)
    variances, draws = over_supersets(ms, everything), over_supersets(ms_draws.T, everything).T
    variances[-1] -= G * extra.sum()
    draws[:, -1] -= G * extra_draws.sum(axis=1)
    known = noise is not None
    components = Components(
        (*facets, QUESTION),
        everything,
        np.concatenate([df, df * (G - strata)]),
        ms,
        variances,
        float(G * extra[0]) if known else math.nan,
    )
    noise_draws = G * extra_draws[:, 0] if known else np.full(B, np.nan)
    of_one = noise_of_one if known else math.nan
    return QuestionComponents(
        components, draws, noise_draws, of_one, grid, sampling, along * (G / (G - 1))
    )


def _lengths_of_clusters(centred: NDArray[np.float32], sizes: Sequence[int]) -> Floats:
    """|P_E y_g|^2 of every effect of the cells and every cluster, shape (2^K, G)."""
    G = centred.shape[1]
    out = np.empty((1 << len(sizes), G))
    for start in range(0, G, _CHUNK):
        some = slice(start, start + _CHUNK)
        part = centred[:, some].astype(np.float64).reshape(*sizes, -1)
        out[:, some] = squared_projections(part, len(sizes))
    return out


def _projected(rows: Array, sizes: Sequence[int]) -> Floats:
    """|P_E|^2 of each row of cells, shape (B, 2^K)."""
    out = np.empty((len(rows), 1 << len(sizes)))
    for start in range(0, len(rows), _CHUNK):
        some = slice(start, start + _CHUNK)
        part = np.ascontiguousarray(rows[some].T, dtype=np.float64)
        out[some] = squared_projections(part.reshape(*sizes, -1), len(sizes)).T
    return out


def _of_stratum(units: Units, h: int) -> slice | NDArray[np.intp]:
    """Clusters of a stratum, all of them as a slice, which copies nothing."""
    return slice(None) if units.strata == 1 else np.flatnonzero(units.stratum == h)
