"""Whether a model prefers a place, whatever stands there.

The favourite is the place chosen most often. Its *excess* is the share of the answers that choose
it minus the share whose right option stands there: the answers that a preference, not the question,
sends there at least. Against it stands what the model knows beyond its places: the share right
minus the share that would be right if the same choices of places were dealt out blindly among the
questions with the same number of options, sum_n w_n sum_j chosen_nj gold_nj (the numerator of
Cohen's kappa between the chosen and the right place). The bias *dominates* where the excess is
larger, and is itself above 0 by a test over questions. So a favourite that is often right is no
bias, and neither is a small preference of a model that knows much.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from nongrata.stats.accuracy import Floats, ratio
from nongrata.stats.chance import Ints, mean_above_zero


@dataclass(frozen=True, slots=True)
class PositionBias:
    """Whether one position is preferred; shares, 0 to 1.

    Parameters
    ----------
    position
        The position chosen most often, 0-based (the first of several); -1 without any answer.
    chosen
        Share of the answers read that choose it.
    gold
        Share of those answers whose question has its right option there.
    right
        Share of the answers read that are right.
    blind
        Share that would be right if the same choices of places were dealt out blindly.
    p
        One-sided p value of "it is chosen no more often than it is right", times the number of
        places, for the favourite is picked by looking; ``nan`` where it cannot be had.
    """

    position: int
    chosen: float
    gold: float
    right: float
    blind: float
    p: float

    @property
    def excess(self) -> float:
        """How much more often it is chosen than it is right."""
        return self.chosen - self.gold

    @property
    def knowledge(self) -> float:
        """How much more often the answer is right than by these places alone."""
        return self.right - self.blind

    def dominates(self, alpha: float) -> bool:
        """Whether the preference moves more answers than the question does."""
        return bool(self.p <= alpha and self.excess > self.knowledge)


def position_bias(
    choices: Ints,
    gold: Ints,
    right: Ints,
    n_options: Ints,
    cluster: Ints,
    stratum: Ints | None = None,
) -> PositionBias:
    """Share of the most chosen position against the share of right options there.

    Parameters
    ----------
    choices
        How many answers read chose each position in each question, shape (Q, positions).
    gold
        How many of the answers read had the right option there, same shape.
    right
        How many of them are right, shape (Q,).
    n_options, cluster, stratum
        As in `nongrata.stats.chance.against_chance`.

    Examples
    --------
    >>> choices, gold = np.array([[3, 1], [4, 0]]), np.array([[4, 0], [0, 4]])
    >>> bias = position_bias(choices, gold, np.array([3, 0]), np.full(2, 2), np.arange(2))
    >>> bias.position, bias.chosen, bias.gold, bias.excess, bias.right, bias.blind
    (0, 0.875, 0.5, 0.375, 0.375, 0.5)
    """
    read = choices.sum(axis=1)
    total = int(read.sum())
    if total == 0:
        return PositionBias(-1, math.nan, math.nan, math.nan, math.nan, math.nan)
    position = int(choices.sum(axis=0).argmax())
    there = read > 0
    excess = ratio(choices[there, position] - gold[there, position], read[there])
    test = mean_above_zero(excess, cluster[there], None if stratum is None else stratum[there])
    places = int((choices.sum(axis=0) + gold.sum(axis=0) > 0).sum())
    return PositionBias(
        position=position,
        chosen=float(choices[:, position].sum() / total),
        gold=float(gold[:, position].sum() / total),
        right=float(right.sum() / total),
        blind=_blind(choices, gold, n_options) / total,
        p=min(1.0, test.p * places) if not math.isnan(test.p) else math.nan,
    )


def _blind(choices: Ints, gold: Ints, n_options: Ints) -> float:
    """Expected number of right answers if places were dealt out within equal numbers of options."""
    found: list[Floats] = []
    for n in np.unique(n_options):
        chosen = choices[n_options == n].sum(axis=0).astype(np.float64)
        if chosen.sum() > 0:
            found.append(chosen * gold[n_options == n].sum(axis=0) / chosen.sum())
    return math.fsum(float(part.sum()) for part in found)
