"""IO, the instability of outcome: a declared reconstruction, with its two parts apart.

Source: S4. The preprint gives no formula that is available to us; this one follows its description,
a weighted deviation of the labels' ranks whose weights, and a final factor, depend on the spread of
accuracy between personas. With r[p,c] the rank of persona p in configuration c (ties shared),

    d[c] = mean over p and c' != c of |r[p,c] - r[p,c']|          rank part
    w[c] = sd over p of A[p,c], ddof = 0, in points               spread part
    IO   = (sum_c w[c] d[c] / sum_c w[c]) x mean_c w[c]  =  mean_c (w[c] d[c])

So IO is a product of rank change and spread, and no measure of rank change alone: read the parts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from nongrata.stats.accuracy import Floats
from nongrata.stats.figure import Figure, mean_figure
from nongrata.stats.ranks import average_ranks
from nongrata.stats.settings import Settings, all_together

Weights = Literal["spread", "uniform"]
Factor = Literal["spread", "none", "persona_sd"]


@dataclass(frozen=True, slots=True)
class IO:
    """The instability of outcome and its parts.

    Parameters
    ----------
    figure
        IO; ranks times points with the default factor.
    rank_shift
        Rank part: mean_c d[c], in ranks.
    expected_rank_shift
        What `rank_shift` would be on average if the ranks of every configuration, ties as they
        are, were dealt out at random: (P^2 - 1) / (3P) without ties, less with them.
    relative_rank_shift
        `rank_shift` over `expected_rank_shift`: 0 for no change, 1 for ranks at random.
    spread
        Spread part: mean_c w[c], in points.
    configurations
        Fewest configurations with ranks in any setting used.
    """

    figure: Figure
    rank_shift: Figure
    expected_rank_shift: Figure
    relative_rank_shift: Figure
    spread: Figure
    configurations: int

    @classmethod
    def undefined(cls, reason: str) -> IO:
        """No part exists, because of `reason`."""
        none = Figure.undefined(reason)
        return cls(none, none, none, none, none, 0)


def instability_of_outcome(
    accuracy: Floats,
    settings: Settings | None = None,
    *,
    weights: Weights = "spread",
    factor: Factor = "spread",
) -> IO:
    """IO and its parts.

    One configuration (or one with ranks): undefined, whatever else. One persona, or no spread
    anywhere: 0. A configuration without a question complete for all personas has no ranks and is
    left out.

    Parameters
    ----------
    accuracy
        From `complete_accuracy`: shares, shape (P, K), ``nan`` columns where there are no ranks.
    settings
        Sets of configurations, each treated alone, from `one_factor_settings`; every part is the
        mean over those for which it is defined. None: all configurations together.
    weights
        ``"spread"``: w[c]; ``"uniform"``: all configurations alike.
    factor
        ``"spread"``: mean_c w[c]; ``"none"``: 1; ``"persona_sd"``: sd over personas of their mean
        accuracy over configurations, in points.

    Examples
    --------
    >>> io = instability_of_outcome(np.array([[0.6, 0.4], [0.4, 0.6]]))
    >>> round(io.figure.value, 6), io.rank_shift.value, io.relative_rank_shift.value
    (10.0, 1.0, 2.0)
    """
    ranks = average_ranks(accuracy)
    groups = all_together(accuracy.shape[1]) if settings is None else settings
    results = [_one_setting(accuracy[:, g], ranks[:, g], weights, factor) for g in groups]
    used = [result for result in results if result.figure.defined]
    if not used:
        return results[0] if results else IO.undefined("no configuration is left")
    shift = mean_figure(result.rank_shift for result in used)
    expected = mean_figure(result.expected_rank_shift for result in used)
    return IO(
        figure=mean_figure(result.figure for result in used),
        rank_shift=shift,
        expected_rank_shift=expected,
        relative_rank_shift=Figure(shift.value / expected.value)
        if expected.value > 0
        else Figure.undefined("all labels are tied everywhere, so ranks cannot change"),
        spread=mean_figure(result.spread for result in used),
        configurations=min(result.configurations for result in used),
    )


def _one_setting(accuracy: Floats, ranks: Floats, weights: Weights, factor: Factor) -> IO:
    if accuracy.shape[0] == 0:
        return IO.undefined("no persona is left")
    if accuracy.shape[1] < 2:
        return IO.undefined("one configuration has no other to compare ranks with")
    ranked = ~np.isnan(ranks).any(axis=0)
    if np.count_nonzero(ranked) < 2:
        return IO.undefined("fewer than two configurations have a question that all personas share")
    A, r = accuracy[:, ranked], ranks[:, ranked]
    d = _mean_shift(r)
    w = 100.0 * A.std(axis=0)
    omega = w if weights == "spread" else np.ones_like(w)
    total = float(omega.sum())
    weighted = float(omega @ d) / total if total > 0 else 0.0
    scale = {
        "spread": float(w.mean()),
        "none": 1.0,
        "persona_sd": 100.0 * float(A.mean(axis=1).std()),
    }[factor]
    shift, expected = float(d.mean()), _expected_shift(r)
    return IO(
        figure=Figure(weighted * scale),
        rank_shift=Figure(shift),
        expected_rank_shift=Figure(expected),
        relative_rank_shift=Figure(shift / expected)
        if expected > 0
        else Figure.undefined("all labels are tied everywhere, so ranks cannot change"),
        spread=Figure(float(w.mean())),
        configurations=A.shape[1],
    )


def _mean_shift(ranks: Floats) -> Floats:
    """d[c], shape (K,); one persona at a time, so that memory stays K^2."""
    P, K = ranks.shape
    total = np.zeros(K)
    for row in ranks:
        total += np.abs(row[:, None] - row[None, :]).sum(axis=1)
    shift: Floats = total / (P * (K - 1))
    return shift


def _expected_shift(ranks: Floats) -> float:
    """Mean |r - r'| over one rank from each of two different configurations, drawn at random.

    Sums over all pairs of values minus the pairs within a configuration, each by sorting.
    """
    P, K = ranks.shape
    between = _sum_over_pairs(ranks.ravel()) - math.fsum(_sum_over_pairs(c) for c in ranks.T)
    return float(between / (P * P * K * (K - 1) / 2))


def _sum_over_pairs(values: Floats) -> float:
    # Ranks are multiples of 1/2, so twice the ranks are integers and the sum is exact.
    doubled = np.sort(np.rint(2 * values).astype(np.int64))
    n = len(doubled)
    return int((doubled * (2 * np.arange(n) - n + 1)).sum()) / 2
