"""How well rankings agree: Kendall's W, and tau-b, Spearman's rho and rank shift over pairs.

Source: S5; Kendall & Gibbons (1990), "Rank Correlation Methods", chapters 3 and 6. P labels are
ranked by each of K configurations; ties get average ranks.

    S      = sum over p of (R_p - mean R)^2,  R_p = sum over c of r[p,c]
    T_c    = sum over groups of t tied labels in c of (t^3 - t)
    W      = 12 S / (K^2 (P^3 - P) - K sum T_c);   uncorrected: all T_c = 0
    chi2   = K (P - 1) W  with P - 1 degrees of freedom

chi2 tests "in every configuration the labels are in random order, independently of the others".
Configurations that are asked the same questions are not independent: labels that do not differ in
accuracy agree across configurations as soon as a label's luck with a question is the same under
several of them. So it says nothing about labels beyond these questions.

W grows towards 0 only with K: for random orders its mean is 1/K. Compare W at equal K; tau-b, rho
and shift are means over pairs and do not depend on K.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nongrata.stats.accuracy import Bools, Floats
from nongrata.stats.figure import Figure, mean_figure
from nongrata.stats.settings import Settings, all_together


@dataclass(frozen=True, slots=True)
class Concordance:
    """Kendall's W of one set of rankings.

    Parameters
    ----------
    w, uncorrected
        With and without the correction for ties; 0 to 1.
    chi2, df, p
        The test of random orders; ``nan`` where W is undefined.
    """

    w: Figure
    uncorrected: Figure
    chi2: float
    df: int
    p: float


def concordance(ranks: Floats) -> Concordance:
    """Kendall's W.

    Parameters
    ----------
    ranks
        Average ranks, shape (P, K); columns with ``nan`` are left out.

    Examples
    --------
    >>> found = concordance(np.array([[1.0, 1.0], [2.0, 3.0], [3.0, 2.0]]))
    >>> round(found.w.value, 6), found.df, round(found.chi2, 6)
    (0.75, 2, 3.0)
    """
    r = ranks[:, ~np.isnan(ranks).any(axis=0)]
    P, K = r.shape
    if P < 2 or K < 2:
        few = "one label has no order" if P < 2 else "one configuration has no other to agree with"
        return Concordance(Figure.undefined(few), Figure.undefined(few), np.nan, 0, np.nan)
    totals = r.sum(axis=1)
    spread = 12 * float(((totals - totals.mean()) ** 2).sum())
    most = K**2 * (P**3 - P)
    untied = most - K * float(sum(_tie_sizes(column) for column in r.T))
    uncorrected = Figure(spread / most)
    if untied <= 0:
        none = Figure.undefined("all labels are tied in every configuration")
        return Concordance(none, uncorrected, np.nan, 0, np.nan)
    from scipy.special import chdtrc

    w = spread / untied
    chi2 = K * (P - 1) * w
    return Concordance(Figure(w), uncorrected, chi2, P - 1, float(chdtrc(P - 1, chi2)))


def _tie_sizes(column: Floats) -> int:
    _, t = np.unique(column, return_counts=True)
    return int((t.astype(np.int64) ** 3 - t).sum())


@dataclass(frozen=True, slots=True)
class PairAgreement:
    """Agreement of each configuration of one set with each of another, all of shape (K, L).

    ``nan`` where it is undefined: no accuracies, or all labels tied.

    Parameters
    ----------
    tau_b
        Kendall's rank correlation, corrected for ties.
    rho
        Spearman's rank correlation: Pearson's of the average ranks.
    w
        Kendall's W of the two, corrected for ties.
    shift
        Mean over labels of |rank - rank|.
    other_best, other_worst
        1 where no best (worst) label is shared, else 0.
    """

    tau_b: Floats
    rho: Floats
    w: Floats
    shift: Floats
    other_best: Floats
    other_worst: Floats


@dataclass(frozen=True, slots=True)
class Ordering:
    """The order of P labels in K configurations, in the parts that agreements are made of.

    Parameters
    ----------
    sign
        Sign of the difference of each pair of labels, shape (P(P-1)/2, K).
    ranks
        Shape (P, K).
    best, worst
        Shape (P, K), as 0 and 1.
    known
        Configurations that have accuracies, shape (K,).
    """

    sign: Floats
    ranks: Floats
    best: Floats
    worst: Floats
    known: Bools


def ordering(accuracy: Floats, tolerance: float = 1e-10) -> Ordering:
    """Take orders out of accuracies.

    Parameters
    ----------
    accuracy
        Shape (P, K), at least one label.
    tolerance
        Accuracies that differ by no more are tied.

    Examples
    --------
    >>> ordering(np.array([[0.5], [0.9], [0.5]])).ranks.ravel().tolist()
    [2.5, 1.0, 2.5]
    """
    known = np.asarray(~np.isnan(accuracy).any(axis=0))
    A = np.where(known, accuracy, 0.0)
    P = len(A)
    i, j = np.triu_indices(P, 1)
    gap = A[i] - A[j]
    sign = (gap > tolerance).astype(np.float64) - (gap < -tolerance)
    pairs = np.arange(len(i))
    incidence = np.zeros((P, len(i)))
    incidence[i, pairs], incidence[j, pairs] = 1.0, -1.0
    ranks = (P + 1) / 2 - incidence @ sign / 2
    top, bottom = A.max(axis=0), A.min(axis=0)
    best = (top - A <= tolerance).astype(np.float64)
    worst = (A - bottom <= tolerance).astype(np.float64)
    return Ordering(sign, ranks, best, worst, known)


def agreement(first: Ordering, second: Ordering) -> PairAgreement:
    """Agreement of every configuration of `first` with every one of `second`.

    Parameters
    ----------
    first, second
        From `ordering`, of the same labels.

    Examples
    --------
    >>> order = ordering(np.array([[0.9, 0.1], [0.5, 0.5], [0.1, 0.9]]))
    >>> found = agreement(order, order)
    >>> found.tau_b.tolist(), found.w.tolist(), round(float(found.shift[0, 1]), 3)
    ([[1.0, -1.0], [-1.0, 1.0]], [[1.0, 0.0], [0.0, 1.0]], 1.333)
    """
    known = first.known[:, None] & second.known
    untied = np.outer((first.sign**2).sum(axis=0), (second.sign**2).sum(axis=0))
    tau = _over(first.sign.T @ second.sign, np.sqrt(untied), known)
    P = len(first.ranks)
    a, b = first.ranks - (P + 1) / 2, second.ranks - (P + 1) / 2
    va, vb = (a**2).sum(axis=0)[:, None], (b**2).sum(axis=0)
    product = a.T @ b
    shift = np.zeros(known.shape)
    for x, y in zip(first.ranks, second.ranks, strict=True):
        shift += np.abs(x[:, None] - y)
    gone = np.where(known, 0.0, np.nan)
    return PairAgreement(
        tau_b=tau,
        rho=_over(product, np.sqrt(va * vb), known),
        w=_over((va + vb) / 2 + product, va + vb, known),
        shift=shift / P + gone,
        other_best=(first.best.T @ second.best == 0) + gone,
        other_worst=(first.worst.T @ second.worst == 0) + gone,
    )


def _over(top: Floats, bottom: Floats, known: Bools) -> Floats:
    out = np.full(top.shape, np.nan)
    np.divide(top, bottom, out=out, where=known & (bottom > 0))
    return out


@dataclass(frozen=True, slots=True)
class RankAgreement:
    """Agreement of the configurations of a study, or of the levels of one factor.

    Parameters
    ----------
    w, uncorrected
        Kendall's W with and without the correction for ties.
    chi2, df, p
        The test of random orders, with one setting only; else ``nan``, 0, ``nan``.
    tau_b, rho
        Means over pairs of configurations.
    shift
        Mean over labels and pairs of configurations of |rank - rank|, in ranks.
    """

    w: Figure
    uncorrected: Figure
    chi2: float
    df: int
    p: float
    tau_b: Figure
    rho: Figure
    shift: Figure


def rank_agreement(
    accuracy: Floats, settings: Settings | None = None, tolerance: float = 1e-10
) -> RankAgreement:
    """Agreement of rankings, averaged over settings.

    Pairs for which a coefficient is undefined (all labels tied in one of them) are left out of
    its mean.

    Parameters
    ----------
    accuracy
        From `complete_accuracy`: shares, shape (P, K); ``nan`` columns have no ranks.
    settings
        Sets of configurations, each treated alone; None: all together.
    tolerance
        Accuracies that differ by no more are tied.

    Examples
    --------
    >>> found = rank_agreement(np.array([[0.9, 0.8], [0.5, 0.3], [0.1, 0.4]]))
    >>> found.w.value, round(found.tau_b.value, 3), round(found.shift.value, 3)
    (0.75, 0.333, 0.667)
    """
    groups = all_together(accuracy.shape[1]) if settings is None else settings
    if accuracy.shape[0] < 2:
        return _without("one label has no order")
    groups = [group for group in groups if len(group) > 1]
    if not groups:
        return _without("one configuration has no other to agree with")
    order = ordering(accuracy, tolerance)
    ranks = np.where(order.known, order.ranks, np.nan)
    each = [concordance(ranks[:, group]) for group in groups]
    found = agreement(order, order)
    one = each[0] if len(each) == 1 else None
    tied = "all labels are tied in a configuration of every pair"
    return RankAgreement(
        w=mean_figure(c.w for c in each),
        uncorrected=mean_figure(c.uncorrected for c in each),
        chi2=one.chi2 if one else np.nan,
        df=one.df if one else 0,
        p=one.p if one else np.nan,
        tau_b=between(found.tau_b, groups, tied),
        rho=between(found.rho, groups, tied),
        shift=between(found.shift, groups, "fewer than two configurations have ranks"),
    )


def _without(reason: str) -> RankAgreement:
    none = Figure.undefined(reason)
    return RankAgreement(none, none, np.nan, 0, np.nan, none, none, none)


def between(matrix: Floats, settings: Settings, reason: str) -> Figure:
    """Mean over different configurations of the same setting, then over settings.

    Parameters
    ----------
    matrix
        Shape (K, K); ``nan`` is left out.
    settings
        Sets of configurations.
    reason
        Why there is none, if there is none.

    Examples
    --------
    >>> between(np.array([[9.0, 1.0], [2.0, 9.0]]), [np.array([0, 1])], "").value
    1.5
    """
    means = []
    for group in settings:
        part = matrix[np.ix_(group, group)].copy()
        np.fill_diagonal(part, np.nan)
        means.append(_mean(part, reason))
    return mean_figure(means) if means else Figure.undefined(reason)


def within(matrix: Floats, settings: Settings, reason: str) -> Figure:
    """Mean over the diagonal: each configuration with itself; averaged as in `between`.

    Examples
    --------
    >>> within(np.array([[9.0, 1.0], [2.0, 7.0]]), [np.array([0, 1])], "").value
    8.0
    """
    diagonal = np.diag(matrix)
    means = [_mean(diagonal[group], reason) for group in settings]
    return mean_figure(means) if means else Figure.undefined(reason)


def _mean(values: Floats, reason: str) -> Figure:
    there = values[~np.isnan(values)]
    return Figure(float(there.mean())) if len(there) else Figure.undefined(reason)
