"""Whether one factor changes the set of right questions more than configurations at large.

Source: S3, corrected. The IQ of a factor compares the L configurations of one setting of the other
factors. Exchanging the factor's *levels* within a question leaves every setting's counts, and so
this IQ, as they are: that exchange cannot test it. What can be tested is exchangeability of all K
configurations: then the expected IQ of any factor with L levels is the pooled IQ(L), and

    contrast = IQ of the factor - pooled IQ(L)

is above 0 where the factor's levels differ more from one another than configurations taken at
random, below 0 where they differ less. Its null distribution comes from one exchange of all K
configurations within a question (cluster), the same for all personas and replicates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nongrata.stats.accuracy import Array, Bools, Floats
from nongrata.stats.iq_rarefaction import sizes_at
from nongrata.stats.units import Units

FEW_CLUSTERS = 40
"""Up to here whole exchanges are drawn; beyond, a sum over so many clusters is nearly normal."""

MEASURED = 10_000
"""Exchanges, of all clusters together, from which the variance of the normal sum is measured."""


@dataclass(frozen=True, slots=True)
class FactorContrast:
    """IQ of one factor against the pooled IQ at as many configurations; shares.

    Parameters
    ----------
    value
        IQ of the factor less the pooled IQ(L); ``nan`` where no persona has a question right.
    sd
        Its standard deviation under exchange.
    p
        Two-sided p value; ``nan`` where exchange cannot change anything.
    """

    value: float
    sd: float
    p: float


def factor_contrasts(
    x: Array,
    present: Bools | None,
    units: Units,
    factors: Sequence[NDArray[np.intp]],
    draws: int,
    seed: int | tuple[int, ...],
) -> tuple[FactorContrast, ...]:
    """Contrast and test of every factor.

    Parameters
    ----------
    x
        Right or not, or theta; shape (P, K, Q).
    present
        Same shape, or None; questions complete over all configurations count for a persona.
    units
        Clusters.
    factors
        For each factor its settings, shape (S, L): all configurations, L of them in each.
    draws
        Exchanges drawn where clusters are few.
    seed
        Numbers that name the random numbers.

    Examples
    --------
    >>> x = np.zeros((1, 4, 60), dtype=bool)
    >>> x[0, :2, :30] = x[0, 2:, 30:] = True
    >>> first, second = [np.array([[0, 2], [1, 3]]), np.array([[0, 1], [2, 3]])]
    >>> [c.value.__round__(3) for c in factor_contrasts(x, None, Units.of(60), [first, second],
    ...                                                 99, 0)]
    [0.2, -0.8]
    """
    kept = [p for p in range(len(x)) if x[p][:, _complete(present, p)].any()]
    if not kept or not factors:
        return tuple(FactorContrast(np.nan, np.nan, np.nan) for _ in factors)
    values = x[kept]
    whole = None if present is None else np.asarray(present[kept].all(axis=1))
    if whole is not None:
        values = np.where(whole[:, None], values, np.zeros((), dtype=values.dtype))
    stats = [_Pooled.of(values, whole, units, settings) for settings in factors]
    literal = len(units) <= FEW_CLUSTERS
    exact = np.issubdtype(values.dtype, np.floating)
    times = draws if literal else max(8, -(-MEASURED // len(units)))
    rng = np.random.default_rng(seed)
    words = None if exact else _words(values)
    null = [np.empty(times) for _ in factors]
    sums = [np.zeros(len(units)) for _ in factors]
    square = [np.zeros(len(units)) for _ in factors]
    K = x.shape[1]
    for t in range(times):
        places = rng.random((K, len(units)), dtype=np.float32).argsort(axis=0)[:, units.cluster]
        moved = np.take_along_axis(values, places[None], axis=1) if exact else None
        for f, (settings, pooled) in enumerate(zip(factors, stats, strict=True)):
            both, either = (
                _products(moved, settings) if moved is not None else _bits(words, places, settings)  # type: ignore[arg-type]
            )
            if literal:
                null[f][t] = pooled.contrast(both.sum(axis=2), either.sum(axis=2))
            else:
                moved_by = pooled.linear(both, either, units)
                sums[f] += moved_by
                square[f] += moved_by**2
    out = []
    for f, pooled in enumerate(stats):
        # within clusters: what a cluster adds on average is no effect of the exchange
        spread = float((square[f] - sums[f] ** 2 / times).sum()) / (times - 1 or 1)
        sd = float(null[f].std()) if literal else max(spread, 0.0) ** 0.5
        out.append(FactorContrast(pooled.observed, sd, _p(pooled.observed, sd, null[f], literal)))
    return tuple(out)


def _complete(present: Bools | None, p: int) -> Array | slice:
    return slice(None) if present is None else present[p].all(axis=0)


def _p(observed: float, sd: float, null: Floats, literal: bool) -> float:
    from scipy.special import ndtr

    if sd < 1e-12:
        return float("nan")
    if not literal:
        return float(2.0 * ndtr(-abs(observed) / sd))
    near = 1e-9
    above = np.count_nonzero(null >= observed - near)
    below = np.count_nonzero(null <= observed + near)
    return float(min(1.0, 2.0 * (1 + min(above, below)) / (1 + len(null))))


@dataclass(frozen=True)
class _Pooled:
    """The pooled ratio of each persona at L, and the observed contrast."""

    share: Floats  # (P,) I/U
    union: Floats  # (P,) U
    observed: float

    @classmethod
    def of(cls, x: Array, whole: Bools | None, units: Units, settings: Array) -> _Pooled:
        K, L = x.shape[1], settings.shape[1]
        there = None if whole is None else np.broadcast_to(whole[:, None], x.shape)
        pooled = sizes_at(x, there, units, [np.arange(K)], [L])
        union = pooled.either[0].sum(axis=1)
        own = sizes_at(x, there, units, list(settings), [L])
        shape = (len(x), len(settings))
        made = cls(pooled.both[0].sum(axis=1) / union, union, 0.0)
        return cls(
            made.share,
            union,
            made.contrast(
                own.both[0].sum(axis=1).reshape(shape), own.either[0].sum(axis=1).reshape(shape)
            ),
        )

    def contrast(self, both: Array, either: Array) -> float:
        """Mean over personas and settings with a union of IQ, less the pooled one."""
        some = either > 0
        ratio = np.where(some, both / np.where(some, either, 1.0), 0.0).sum(axis=1)
        mine = 1.0 - ratio / np.maximum(some.sum(axis=1), 1)
        used = some.any(axis=1)
        return float((mine - (1.0 - self.share))[used].mean())

    def linear(self, both: Array, either: Array, units: Units) -> Floats:
        """What each cluster adds to the contrast, to the first order; shape (G,)."""
        a = self.share / self.union / len(self.union)
        b = 1.0 / self.union / len(self.union)
        of_any = either.mean(axis=1, dtype=np.float32)
        of_all = both.mean(axis=1, dtype=np.float32)
        return np.asarray(units.totals(a @ of_any - b @ of_all), dtype=np.float64)


def _words(correct: Array) -> NDArray[np.uint64]:
    """Right answers of a question as bits of words, one bit a configuration; (W, P, Q)."""
    P, K, Q = correct.shape
    out = np.zeros((-(-K // 64), P, Q), dtype=np.uint64)
    for c in range(K):
        out[c // 64] |= (correct[:, c] != 0).astype(np.uint64) << np.uint64(c % 64)
    return out


def _bits(words: NDArray[np.uint64], places: Array, settings: Array) -> tuple[Bools, Bools]:
    """Right in all and in any of each setting's configurations; (P, S, Q)."""
    W, P, Q = words.shape
    both = np.ones((P, len(settings), Q), dtype=np.bool_)
    either = np.zeros((P, len(settings), Q), dtype=np.bool_)
    for w in range(W):
        for s, setting in enumerate(settings):
            at = places[setting]
            bit = np.where(at // 64 == w, np.uint64(1) << (at % 64).astype(np.uint64), 0)
            mask = np.bitwise_or.reduce(bit.astype(np.uint64), axis=0)
            hit = words[w] & mask
            both[:, s] &= hit == mask
            either[:, s] |= hit != 0
    return both, either


def _products(theta: Array, settings: Array) -> tuple[Array, Array]:
    """Chances to be right in all and in any of each setting's configurations; (P, S, Q)."""
    both = np.stack([theta[:, s].prod(axis=1) for s in settings], axis=1)
    either = np.stack([1.0 - (1.0 - theta[:, s]).prod(axis=1) for s in settings], axis=1)
    return both, either
