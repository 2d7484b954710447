r"""Agreement between the levels of one factor, the others held, at equal numbers of levels.

Source: S10. Within each setting of the other factors the levels of one factor answer the same
questions; n_uj of a question's n_u answers there fall in category j. Over questions, settings and
labels together,

    total(m) = mean of sum_j C(n_uj, m) / C(n_u, m)      those with n_u >= m

so that a factor with three levels and one with five are compared by how often m of their levels,
picked at random, all agree. Fleiss' kappa is computed for each label and setting, then averaged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nongrata.stats.accuracy import Array, Bools, Floats, ratio
from nongrata.stats.agreement import category_counts
from nongrata.stats.iq import inclusion
from nongrata.stats.settings import Settings


@dataclass(frozen=True)
class FactorAgreement:
    """What agreement within settings is made of, question by question.

    Parameters
    ----------
    alike, possible
        Sums over labels and settings of the chance that m answers are alike, and of the settings
        with m answers; shape (M, Q), a row for each m.
    kappas
        Fleiss' kappa of each label and setting, ``nan`` where undefined.
    """

    alike: Floats
    possible: Floats
    kappas: Floats

    @property
    def total(self) -> Floats:
        """total(m) for each m; ``nan`` where no question has m answers."""
        n = self.possible.sum(axis=1)
        return ratio(self.alike.sum(axis=1), n)


def factor_agreement(
    codes: Array,
    present: Bools | None,
    categories: int,
    settings: Settings,
    sizes: Sequence[int],
) -> FactorAgreement:
    """Agreement between the configurations of each setting.

    Parameters
    ----------
    codes
        Categories 0 ... J - 1, or right or not, shape (P, K, Q).
    present
        Where there is an answer; None: everywhere.
    categories
        J.
    settings
        From `nongrata.stats.settings.one_factor_settings`; those of one configuration are left
        out.
    sizes
        The m, each at least 2.

    Examples
    --------
    >>> codes = np.array([[[0, 1], [0, 2], [1, 1], [1, 1]]])
    >>> pairs = [np.array([0, 1]), np.array([2, 3])]
    >>> factor_agreement(codes, None, 3, pairs, (2,)).total.tolist()
    [0.75]
    """
    P, _, Q = codes.shape
    alike, possible = np.zeros((len(sizes), Q)), np.zeros((len(sizes), Q))
    kappas: list[Floats] = []
    for length in sorted({len(group) for group in settings if len(group) > 1}):
        groups = np.array([group for group in settings if len(group) == length])
        chances = {n: inclusion(n) for n in range(2, length + 1)}
        for p in range(P):
            there = None if present is None else present[p][groups]
            if there is not None and there.all():
                there = None
            counts = category_counts(codes[p][groups], categories, there)
            n = np.full((len(groups), Q), length) if there is None else there.sum(axis=1)
            pairs, has_pair = np.zeros(len(groups)), np.zeros(len(groups))
            for size in [length] if there is None else range(2, length + 1):
                here = None if there is None else n == size
                units = np.full(Q, len(groups)) if here is None else here.sum(axis=0)
                if not units.any():
                    continue
                has_pair += Q if here is None else here.sum(axis=1)
                for i, m in enumerate(sizes):
                    possible[i] += units if m <= size else 0
                for v in range(2, size + 1):
                    exactly = (counts == v).view(np.uint8).sum(axis=1, dtype=np.uint8)
                    if here is not None:
                        exactly = exactly * here
                    of_unit = exactly.sum(axis=0, dtype=np.int64)
                    pairs += chances[size][v, 1] * exactly.sum(axis=1, dtype=np.int64)
                    for i, m in enumerate(sizes):
                        if m <= v:
                            alike[i] += chances[size][v, m - 1] * of_unit
            kappas.append(_kappas(counts, n, pairs, has_pair))
    return FactorAgreement(
        alike, possible, np.concatenate(kappas) if kappas else np.empty(0, dtype=np.float64)
    )


def _kappas(counts: Array, n: Array, pairs: Floats, has_pair: Floats) -> Floats:
    """Fleiss' kappa of each setting; counts (S, J, Q), n (S, Q)."""
    some = (n > 0).sum(axis=1)
    if (n == n.flat[0]).all() if n.size else True:
        share = counts.sum(axis=-1, dtype=np.int64) / max(int(n.max(initial=0)), 1)
    else:
        weight = np.divide(1.0, n, out=np.zeros(n.shape), where=n > 0)
        share = np.einsum("sjq,sq->sj", counts, weight)
    by_chance = ((share / np.maximum(some, 1)[:, None]) ** 2).sum(axis=1)
    raw = ratio(pairs, has_pair)
    left = 1 - by_chance
    return ratio(raw - by_chance, np.where(left > 1e-9, left, 0.0))
