r"""Kappas that need to know which configuration gave which answer, and the test of Fleiss' kappa.

Source: S10. Where Fleiss' kappa expects chance agreement from the shares of categories of all
answers together, these two use each configuration's own shares p_rj:

    Conger = (raw - E) / (1 - E),  E = mean over pairs r < s of sum_j p_rj p_sj
    Light  = mean over pairs r < s of Cohen's kappa of the pair

Conger (1980), Psychological Bulletin 88, 322-328; Light (1971), Psychological Bulletin 76,
365-377; Fleiss, Nee & Landis (1979), Psychological Bulletin 86, 974-977, for the standard errors.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nongrata.errors import NongrataError
from nongrata.stats.accuracy import Array, Bools, Floats
from nongrata.stats.agreement import NO_PAIR, ONE_CATEGORY, agreement, category_counts
from nongrata.stats.figure import Figure


@dataclass(frozen=True, slots=True)
class FleissTest:
    """Fleiss' kappa against "no agreement beyond chance".

    Parameters
    ----------
    kappa, z
        Overall.
    category_kappas, category_z
        Of each category against all others, shape (J,); ``nan`` for one never or always used.
    """

    kappa: Figure
    z: Figure
    category_kappas: Floats
    category_z: Floats


@dataclass(frozen=True, slots=True)
class LightKappa:
    """Light's kappa.

    Parameters
    ----------
    kappa
        Mean of the pairs' kappas.
    pairs, undefined_pairs
        How many pairs it is the mean of, and how many have no kappa: both always give the same
        one category, or they share no unit.
    """

    kappa: Figure
    pairs: int
    undefined_pairs: int


def fleiss_test(counts: Array) -> FleissTest:
    """Fleiss' kappa overall and of each category, with z under no agreement beyond chance.

    kappa_j = 1 - sum_u n_uj (n - n_uj) / (U n (n - 1) p_j q_j). The standard errors hold for
    independent units that are answered at random; z is no test of anything a study asks (that
    configurations agree more than dice is certain), it is here to compare with other programs.

    Parameters
    ----------
    counts
        n_uj, shape (J, U), the same number of answers n >= 2 for every unit.

    Examples
    --------
    >>> found = fleiss_test(np.array([[3, 0, 2], [0, 3, 1]]))
    >>> round(found.z.value, 3), found.category_kappas.round(3).tolist()
    (1.65, [0.55, 0.55])
    """
    each = counts.sum(axis=0, dtype=np.int64)
    n, U = int(each.max(initial=0)), counts.shape[1]
    if n < 2 or (each != n).any():
        raise NongrataError(
            "z of Fleiss' kappa needs the same number of answers, at least two, for every unit",
            where="counts",
            fix="leave out units with missing answers, or use agreement(), which takes them",
        )
    p = counts.sum(axis=1, dtype=np.float64) / (U * n)
    pq = p * (1 - p)
    some = pq > 0
    split = (counts.astype(np.float64) * (n - counts.astype(np.float64))).sum(axis=1)
    per_category = np.full(len(p), np.nan)
    per_category[some] = 1 - split[some] / (U * n * (n - 1) * pq[some])
    kappa = agreement(counts).fleiss
    scale = np.sqrt(2 / (U * n * (n - 1)))
    if not kappa.defined:
        z = Figure.undefined(kappa.reason)
    else:
        spread = np.sqrt(pq.sum() ** 2 - (pq * (1 - 2 * p)).sum()) / pq.sum()
        z = Figure(float(kappa.value / (scale * spread)))
    return FleissTest(kappa, z, per_category, per_category / scale)


def conger_kappa(codes: Array, categories: int, present: Bools | None = None) -> Figure:
    """Conger's exact kappa: chance agreement from each configuration's own shares.

    Sum over pairs of sum_j p_rj p_sj = sum_j [(sum_r p_rj)^2 - sum_r p_rj^2] / 2. Missing answers:
    p_rj is over the units that r has; configurations without any are left out of E.

    Parameters
    ----------
    codes
        Shape (K, U).
    categories
        J.
    present
        Where there is an answer; None: everywhere.

    Examples
    --------
    >>> round(conger_kappa(np.array([[0, 1, 0], [0, 1, 1], [0, 1, 0]]), 2).value, 4)
    0.5714
    """
    there = np.ones(codes.shape, bool) if present is None else present
    raw = agreement(category_counts(codes, categories, present)).raw
    if not raw.defined:
        return raw
    answers = there.sum(axis=1)
    some = answers > 0
    right = np.array([((codes == j) & there).sum(axis=1) for j in range(categories)])
    shares = right[:, some] / answers[some]
    m = int(some.sum())
    by_chance = float((shares.sum(axis=1) ** 2 - (shares**2).sum(axis=1)).sum() / (m * (m - 1)))
    if 1 - by_chance < 1e-12:
        return Figure.undefined(ONE_CATEGORY)
    return Figure((raw.value - by_chance) / (1 - by_chance))


def light_kappa(codes: Array, categories: int, present: Bools | None = None) -> LightKappa:
    """Light's kappa: the mean over pairs of configurations of Cohen's kappa.

    Each pair is taken on the units that both have; a pair without a kappa is left out and counted.

    Parameters
    ----------
    codes
        Shape (K, U).
    categories
        J.
    present
        Where there is an answer; None: everywhere.

    Examples
    --------
    >>> found = light_kappa(np.array([[0, 1, 0], [0, 1, 1], [0, 1, 0]]), 2)
    >>> round(found.kappa.value, 4), found.pairs
    (0.6, 3)
    """
    K = len(codes)
    agree, chance = np.zeros((K, K)), np.zeros((K, K))
    if present is None:
        both = np.full((K, K), float(codes.shape[1]))
    else:
        seen = present.astype(np.float32)
        both = (seen @ seen.T).astype(np.float64)
    for j in range(categories):
        here = codes == j if present is None else (codes == j) & present
        chosen = here.astype(np.float32)  # sums of 0/1 below 2^24: exact
        agree += chosen @ chosen.T
        if present is None:
            total = here.sum(axis=1, dtype=np.float64)
            chance += np.outer(total, total)
        else:
            on_shared = (chosen @ seen.T).astype(np.float64)
            chance += on_shared * on_shared.T
    r, s = np.triu_indices(K, 1)
    n, agree, chance = both[r, s], agree[r, s], chance[r, s]
    known = (n > 0) & (n**2 - chance > 0.5)  # whole numbers
    if not known.any():
        return LightKappa(Figure.undefined(ONE_CATEGORY if n.any() else NO_PAIR), 0, len(n))
    n, agree, chance = n[known], agree[known] / n[known], chance[known] / n[known] ** 2
    kappa = (agree - chance) / (1 - chance)
    return LightKappa(Figure(float(kappa.mean())), len(n), int((~known).sum()))
