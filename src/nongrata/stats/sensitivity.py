r"""How far accuracy moves with the configuration: with and without noise, and at equal size.

Source: S2. For one persona and a pair of configurations let D be the difference of their
accuracies and s its clustered, paired standard error. Means over pairs and personas of

    |D|                        IA, the preprint's figure: holds noise
    sqrt(2/pi) s               what |D| would be on average, were D 0: the equal-accuracy floor
    D^2 - s^2                  the noise-free mean squared difference: its expectation is the
                               squared difference of the true accuracies, however few the questions
    E|N(D, s^2 (G/n - 1))|     IA on n of the G clusters: an average over subsamples, by a normal
                               approximation, so that domains of different sizes can be compared

All influences are linear in the accuracies' (see `nongrata.stats.influence`): 2 D for D^2, the
sign of D for |D|, erf(D / (s' sqrt 2)) for the folded normal. The noise terms' own variability
is of smaller order and left out. Near D = 0 this standard error is too large, never too small:
up to sqrt(2) x for D^2 - s^2 (the jackknife counts the quadratic part twice) and sqrt(pi/(pi-2))
x for |D|.

`sharp` takes the second count of the quadratic part of D^2 - s^2 away again. With e_g the influence
of cluster g on all cells and L the quadratic form of the mean over pairs, that part has the
variance V_q = 2 sum_{g != g'} (e_g' L e_g')^2, so the variance becomes max(V - V_q, V_q), and the
row of influences is made smaller accordingly. That is right for a row alone and for differences of
rows that share no cluster, such as domains; not for paired differences.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nongrata.stats.accuracy import Array, Bools, Floats, ratio
from nongrata.stats.influence import Estimates, centred, effective_df
from nongrata.stats.settings import Settings
from nongrata.stats.units import Units

_BLOCK = 2**21
"""Cells times clusters worked on at once."""

_ROWS = 256
"""Clusters from which on V_q is taken from every n-th row of its double sum."""


@dataclass(frozen=True)
class Sensitivity:
    """The figures of some scopes, as shares (squared shares for `mean_squared`); one row a scope.

    Parameters
    ----------
    mean_squared
        Noise-free mean squared difference.
    ia
        Mean absolute difference, noise included.
    floor
        What `ia` would be on average with equal accuracies, shape (S,).
    ia_at_size
        `ia` on the smaller number of clusters asked for.
    """

    mean_squared: Estimates
    ia: Estimates
    floor: Floats
    ia_at_size: Estimates


def sensitivity(
    values: Array,
    present: Bools | None,
    units: Units,
    scopes: Sequence[Settings],
    clusters: int | None = None,
    *,
    sharp: bool = False,
) -> Sensitivity:
    """Differences of accuracy between configurations, scope by scope.

    Parameters
    ----------
    values
        Right or not, a mean over replicates, or theta; shape (P, K, Q).
    present
        Where it is known, same shape; None: everywhere. Each cell's accuracy is taken on the
        questions it has.
    units
        Clusters and strata of the questions.
    scopes
        Each a list of sets of configurations compared among themselves; a scope's figure is the
        mean over its sets of the mean over personas and pairs.
    clusters
        Size for `ia_at_size`; None: all.
    sharp
        Whether the standard error of `mean_squared` is to be right near 0 as well; not for paired
        differences.

    Examples
    --------
    >>> x = np.array([[[1, 1, 0, 0, 1, 0], [1, 0, 0, 0, 1, 0]]])
    >>> found = sensitivity(x, None, Units.of(6), [[np.array([0, 1])]])
    >>> found.ia.value.round(4).tolist(), found.floor.round(4).tolist()
    ([0.1667], [0.133])
    >>> (found.mean_squared.value.round(6) + 0.0).tolist()
    [0.0]
    """
    P, K, _ = values.shape
    totals, counts = _totals(values, present, units)
    n = np.full((P, K), float(units.questions)) if counts is None else counts.sum(axis=2)
    accuracy = ratio(totals.sum(axis=2, dtype=np.float64), n)
    shares = np.stack([_pair_weights(scope, ~np.isnan(accuracy)) for scope in scopes])
    S, G = len(scopes), len(units)
    some = shares.any(axis=(1, 2, 3))
    sums = np.zeros((4, S))
    influence = np.zeros((3, S, G))
    some_rows = np.arange(0, G, -(-G // _ROWS)) if sharp and G else np.arange(0)
    gram = np.zeros((S, len(some_rows), G))
    step = max(1, _BLOCK // max(K * G, 1))
    for start in range(0, P, step):
        block = slice(start, start + step)
        cell = np.nan_to_num(accuracy[block])
        error = np.asarray(totals[block], dtype=np.float64)
        if counts is not None:
            error = error - cell[:, :, None] * counts[block]
        error = centred(error / np.maximum(n[block], 1.0)[:, :, None], units)
        covariance = error @ error.transpose(0, 2, 1)
        variance = np.einsum("pcc->pc", covariance)
        noise = variance[:, :, None] + variance[:, None, :] - 2.0 * covariance
        noise = np.maximum(noise, 0.0)
        D = cell[:, :, None] - cell[:, None, :]
        smaller = np.sqrt(noise * max(G / (clusters or G) - 1.0, 0.0))
        folded, slope = _folded_normal(D, smaller)
        w = shares[:, block]
        for j, term in enumerate((D**2 - noise, np.abs(D), np.sqrt(2 / np.pi * noise), folded)):
            sums[j] += np.einsum("spcd,pcd->s", w, term) / 2
        flat = error.reshape(-1, G)
        for j, derivative in enumerate((2.0 * D, np.sign(D), slope)):
            influence[j] += np.einsum("spcd,pcd->spc", w, derivative).reshape(S, -1) @ flat
        if sharp:
            form = w.sum(axis=3)[..., None] * np.eye(K) - w
            for s in range(S):
                gram[s] += (form[s] @ error[:, :, some_rows]).reshape(len(flat), -1).T @ flat
    if sharp:
        influence[0] *= _without_double_count(influence[0], gram, some_rows)[:, None]
    sums[:, ~some] = np.nan
    df = np.full(S, effective_df(units))
    squared, ia, at_size = (Estimates(sums[j], influence[i], df) for i, j in enumerate((0, 1, 3)))
    return Sensitivity(squared, ia, sums[2], at_size)


def _without_double_count(influence: Floats, gram: Floats, rows: NDArray[np.intp]) -> Floats:
    """Factor on influences that counts the quadratic part of their variance once, shape (S,)."""
    variance = (influence**2).sum(axis=1)
    gram[:, np.arange(len(rows)), rows] = 0.0
    quadratic = 2.0 * (gram**2).sum(axis=(1, 2)) * influence.shape[1] / max(len(rows), 1)
    kept = np.maximum(variance - quadratic, quadratic)
    share = np.divide(kept, variance, out=np.zeros(len(kept)), where=variance > 0)
    return np.asarray(np.sqrt(share))


def _totals(values: Array, present: Bools | None, units: Units) -> tuple[Array, Array | None]:
    if present is None or present.all():
        return units.totals(values), None
    return units.totals(np.where(present, values, 0)), units.totals(present)


def _pair_weights(scope: Settings, known: Bools) -> Floats:
    """Weight of each persona's ordered pair of configurations, (P, K, K), summing to 2 or 0."""
    P, K = known.shape
    out = np.zeros((P, K, K))
    used = 0
    for group in scope:
        there = known[:, group]
        pairs = (there[:, :, None] & there[:, None, :]) & ~np.eye(len(group), dtype=bool)
        number = pairs.sum() / 2
        if number:
            out[np.ix_(np.arange(P), group, group)] += pairs / number
            used += 1
    return out / max(used, 1)


def _folded_normal(mean: Floats, sd: Floats) -> tuple[Floats, Floats]:
    """E|N(mean, sd^2)| and its derivative in the mean; |mean| and its sign where sd = 0."""
    if not sd.any():
        return np.abs(mean), np.sign(mean)
    from scipy.special import erf

    noisy = sd > 0
    z = np.divide(mean, sd * np.sqrt(2.0), out=np.full(mean.shape, np.inf), where=noisy)
    slope = np.where(noisy, erf(z), np.sign(mean))
    bump = np.where(noisy, sd * np.sqrt(2 / np.pi) * np.exp(-(np.minimum(z, 40.0) ** 2)), 0.0)
    return np.where(noisy, mean * slope + bump, np.abs(mean)), slope
