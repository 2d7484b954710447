"""Rankings on disjoint halves of the questions: other configurations beside the same one.

Source: S5 (b). On the same questions two configurations agree also because a label's luck with a
question is theirs in common; on disjoint halves that is gone. And two rankings of *one*
configuration on disjoint halves differ too, for half of the questions is a small sample. So

    same       mean over splits and c of agreement(A1_c, A2_c)
    different  mean over splits and c != c' of agreement(A1_c, A2_c')

stand side by side: what `different` falls short of `same` is due to the configurations. Nothing is
divided: for tau, W, shift and best labels no ratio of the two is known to be unbiased. Halves are
of clusters, within strata.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from nongrata.stats.accuracy import Bools, Floats, ratio
from nongrata.stats.figure import Figure
from nongrata.stats.rank_agreement import PairAgreement, agreement, between, ordering, within
from nongrata.stats.settings import Settings

TIED = 1e-6
"""Half accuracies that differ by no more are tied: float32 sums are good to a tenth of it, and
shares of fewer than a million answers differ by more."""


@dataclass(frozen=True, slots=True)
class SameAndDifferent:
    """One measure of agreement on disjoint halves of the questions.

    Parameters
    ----------
    same
        The same configuration on both halves.
    different
        Different configurations, one on each half.
    """

    same: Figure
    different: Figure


def agreement_of_halves(
    totals: NDArray[np.floating],
    counts: NDArray[np.floating],
    halves: Bools,
) -> PairAgreement:
    """Agreement of each configuration on one half with each one on the other; mean over splits.

    Parameters
    ----------
    totals
        Right answers in each cluster, shape (P, K, G), of questions complete for all labels.
    counts
        Those questions in each cluster, shape (K, G), or (1, G) if they are the same everywhere.
    halves
        From `Units.halves`, shape (S, G).

    Returns
    -------
    PairAgreement
        [c, c']: c on the first half, c' on the second, and the halves exchanged. A split in which
        a coefficient is undefined is left out of its mean; ``nan`` if it is in all of them.

    Examples
    --------
    >>> totals = np.array([[[1.0, 1, 1, 0]], [[0.0, 0, 1, 0]]])
    >>> halves = np.array([[True, True, False, False], [True, False, True, False]])
    >>> agreement_of_halves(totals, np.ones((1, 4)), halves).shift.tolist()
    [[0.25]]
    """
    P, K, G = totals.shape
    rows = np.ascontiguousarray(totals, dtype=np.float32).reshape(P * K, G)
    n = np.asarray(counts, dtype=np.float32)
    names = [field.name for field in fields(PairAgreement)]
    sums = {name: np.zeros((K, K)) for name in names}
    found = {name: np.zeros((K, K), dtype=np.intp) for name in names}
    orders = []
    for half in (halves, ~halves):
        weight = half.astype(np.float32)
        right = (weight @ rows.T).reshape(len(half), P, K)
        orders.append([ordering(A, TIED) for A in ratio(right, (weight @ n.T)[:, None, :])])
    for first, second in zip(*orders, strict=True):
        one_way = agreement(first, second)
        for name in names:
            value = getattr(one_way, name)
            there = ~np.isnan(value)
            sums[name] += np.where(there, value, 0.0)
            found[name] += there
    return PairAgreement(
        **{name: ratio(sums[name] + sums[name].T, found[name] + found[name].T) for name in names}
    )


def same_and_different(matrix: Floats, settings: Settings, reason: str) -> SameAndDifferent:
    """One measure for the configurations of a study, or for the levels of one factor.

    Parameters
    ----------
    matrix
        A field of `agreement_of_halves`, shape (K, K).
    settings
        Sets of configurations; those of one configuration are left out.
    reason
        Why there is no value, where there is none.

    Examples
    --------
    >>> found = same_and_different(np.array([[0.9, 0.4], [0.6, 0.7]]), [np.array([0, 1])], "")
    >>> round(found.same.value, 3), round(found.different.value, 3)
    (0.8, 0.5)
    """
    used = [group for group in settings if len(group) > 1]
    if not used:
        alone = "one configuration has no other to agree with"
        everything = [np.arange(len(matrix), dtype=np.intp)]
        return SameAndDifferent(within(matrix, everything, reason), Figure.undefined(alone))
    return SameAndDifferent(within(matrix, used, reason), between(matrix, used, reason))
