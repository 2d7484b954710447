r"""Whether IQ goes with agreement, or the two are one number written twice.

Source: S10. IQ and Fleiss' kappa of correctness are both computed from k, in how many of the K
configurations a question is right: a label's k decide both, its sampling noise goes into both. A
correlation over labels within one matrix of answers says how alike two formulas are, not how well
one *measurement* predicts another. So it is computed three ways:

- ``"same_answers"``: both from all answers;
- ``"question_halves"``: IQ from one random half of the questions, kappa from the other half;
- ``"configuration_halves"``: IQ from one random half of the configurations, kappa from another.

Beside the last two stands how well each figure agrees with itself between the halves: its
reliability. Measured apart, two figures that go together perfectly still correlate by no more than
the square root of the product of their reliabilities. Averaged over splits; in each, IQ of the
first half with kappa of the second and the other way round.

A correlation needs three labels and figures that differ between labels. Where more than one split
in twenty has none it is not estimable: the splits that do would be no fair sample of all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from nongrata.stats.accuracy import Array, Bools, Floats
from nongrata.stats.agreement import Terms, category_counts, coefficients, terms
from nongrata.stats.figure import Figure
from nongrata.stats.ranks import average_ranks
from nongrata.stats.units import Units
from nongrata.wording import say

Way = Literal["same_answers", "question_halves", "configuration_halves"]

FEWEST_LABELS = 3
_NO_SPREAD = 1e-9
_SPLITS_NEEDED = 0.95
SAME = "both halves would be the same answers"


@dataclass(frozen=True, slots=True)
class Link:
    """The correlation over labels of IQ with Fleiss' kappa of correctness, one way.

    Parameters
    ----------
    way
        Which answers IQ and kappa are computed from.
    pearson, spearman
        Correlation over labels of IQ and kappa: negative where labels with a high IQ agree less.
    reliability_iq, reliability_kappa
        Pearson correlation of the figure with itself between the two halves.
    labels, splits
        What it is computed from: labels, and splits that have a correlation.
    """

    way: Way
    pearson: Figure
    spearman: Figure
    reliability_iq: Figure
    reliability_kappa: Figure
    labels: int
    splits: int


def iq_against_kappa(
    correct: Bools,
    present: Bools | None = None,
    *,
    units: Units | None = None,
    splits: int = 100,
    seed: int | tuple[int, ...] = 0,
) -> tuple[Link, ...]:
    """Correlate IQ with Fleiss' kappa over labels: same answers, other questions, other formats.

    Parameters
    ----------
    correct
        Right or not, of one replicate, shape (P, K, Q).
    present
        Where there is an answer, same shape; None: everywhere. IQ uses questions complete over
        the configurations compared, kappa those with two answers.
    units
        Clusters and strata of the questions, which halves keep together; None: none.
    splits
        Number of random halves, S.
    seed
        Numbers that name the random numbers.

    Returns
    -------
    tuple of Link
        In the order of the three ways.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> ease = np.linspace(0.55, 0.95, 8)[:, None, None]
    >>> x = rng.random((8, 6, 200)) < ease
    >>> [round(link.pearson.value, 2) for link in iq_against_kappa(x, splits=20)]
    [0.16, 0.01, 0.1]
    """
    P, K, Q = correct.shape
    if present is not None and present.all():
        present = None
    groups = units or Units.of(Q)
    every = np.arange(K)
    rows = _rows(correct, present, every)
    iq, kappa = _figures(rows.rows.sum(axis=-1)[None], rows)
    same = Figure.undefined(SAME)
    pearson, spearman, used = _correlate(((iq, kappa),))
    out = [Link("same_answers", pearson, spearman, same, same, P, used)]

    first = groups.halves(splits, seed)[:, groups.cluster].astype(np.float32)
    flat = rows.rows.reshape(-1, Q)
    half = (first @ flat.T.astype(np.float32)).astype(np.float64).reshape(splits, P, -1)
    other = rows.rows.sum(axis=-1) - half
    out.append(_link("question_halves", _figures(half, rows), _figures(other, rows), P))

    out.append(_configuration_halves(correct, present, splits, seed))
    return tuple(out)


def _rows(correct: Bools, present: Bools | None, chosen: NDArray[np.intp]) -> Terms:
    """Terms of agreement of correctness, and whether a question is right in all, in any."""
    x = correct[:, chosen]
    there = None if present is None else present[:, chosen]
    counts = category_counts(x.view(np.uint8), 2, there)
    agreement_terms = terms(counts)
    k, complete = counts[:, 1], counts.sum(axis=1, dtype=np.int64) == len(chosen)
    sets = np.stack([complete & (k == len(chosen)), complete & (k > 0)], axis=1)
    return Terms(np.concatenate([sets, agreement_terms.rows], axis=1), 2, ())


def _figures(sums: Floats, rows: Terms) -> tuple[Floats, Floats]:
    """IQ and kappa of every label, each (S, P), from sums of shape (S, P, F)."""
    both, either = sums[..., 0], sums[..., 1]
    iq = 1 - np.divide(both, either, out=np.full(both.shape, np.nan), where=either > 0.5)
    return iq, coefficients(sums[..., 2:], rows)["fleiss"]


def _configuration_halves(
    correct: Bools, present: Bools | None, splits: int, seed: int | tuple[int, ...]
) -> Link:
    P, K, _ = correct.shape
    m = K // 2
    if m < 2:
        few = Figure.undefined("halves of fewer than four configurations hold no pair")
        return Link("configuration_halves", few, few, few, few, P, 0)
    named = (seed,) if isinstance(seed, int) else seed
    order = np.random.default_rng((*named, 1)).random((splits, K)).argsort(axis=1).argsort(axis=1)
    found = np.empty((2, 2, splits, P))
    for h in range(2):
        chosen = (order >= h * m) & (order < (h + 1) * m)
        for p in range(P):
            there = None if present is None else present[p]
            found[h, :, :, p] = _one_half(correct[p], there, chosen, m)
    first, second = found
    return _link("configuration_halves", (first[0], first[1]), (second[0], second[1]), P)


def _one_half(correct: Bools, present: Bools | None, chosen: Bools, m: int) -> Array:
    """IQ and kappa of one label in each split, shape (2, S); `chosen` is (S, K)."""
    pick = chosen.astype(np.float32)
    if present is None:
        sums = _complete_sums(pick @ correct.astype(np.float32), m)
    else:  # most questions are complete, and cheaper
        whole = present.all(axis=0)
        sums = _complete_sums(pick @ correct[:, whole].astype(np.float32), m)
        x, there = correct[:, ~whole], present[:, ~whole]
        wrong, right = pick @ (there & ~x), pick @ (there & x)
        counts = np.stack([wrong, right], axis=1).astype(np.intp)
        full = (counts.sum(axis=1) == m)[:, None]
        sets = np.concatenate([full & (counts[:, 1:] == m), full & (counts[:, 1:] > 0)], axis=1)
        rest = np.concatenate([sets, terms(counts).rows], axis=1)
        sums = sums + rest.sum(axis=-1)
    return np.array(_figures(sums, Terms(sums, 2, ())))


def _complete_sums(k: Array, m: int) -> Floats:
    """What `_rows` adds up to over complete questions, without the rows; k is (S, Q)."""
    n = float(k.shape[1])
    total = k.sum(axis=1, dtype=np.float64)
    split = m * total - np.einsum("sq,sq->s", k, k, dtype=np.float64)  # sum of k (m - k)
    sums = np.zeros((len(k), 2 + terms(np.zeros((2, 0), np.intp)).rows.shape[0]))
    sums[:, 0] = np.count_nonzero(k == m, axis=1)
    sums[:, 1] = np.count_nonzero(k, axis=1)
    sums[:, 2] = sums[:, 3] = n
    sums[:, 4] = n - 2 * split / (m * (m - 1))
    sums[:, 7] = n - total / m
    sums[:, 8] = total / m
    return sums


Pair = tuple[Floats, Floats]


def _link(way: Way, first: Pair, second: Pair, labels: int) -> Link:
    across = ((first[0], second[1]), (second[0], first[1]))
    pearson, spearman, used = _correlate(across)
    with_itself = [_correlate(((first[i], second[i]),))[0] for i in range(2)]
    return Link(way, pearson, spearman, with_itself[0], with_itself[1], labels, used)


def _correlate(pairs: tuple[Pair, ...]) -> tuple[Figure, Figure, int]:
    """Mean correlation over splits, of values and of ranks, and the splits that have one."""
    pearson, spearman, reasons = [], [], []
    for s in range(len(pairs[0][0])):
        here = [correlation(a[s], b[s]) for a, b in pairs]
        reasons += [value.reason for value, _ in here if value.reason]
        if all(value.defined for value, _ in here):
            pearson.append(np.mean([value.value for value, _ in here]))
            spearman.append(np.mean([value.value for _, value in here]))
    if not pearson or len(pearson) < _SPLITS_NEEDED * len(pairs[0][0]):
        why = Figure.undefined(reasons[0] if reasons else "there is no split")
        return why, why, len(pearson)
    return Figure(float(np.mean(pearson))), Figure(float(np.mean(spearman))), len(pearson)


def correlation(a: Array, b: Array) -> tuple[Figure, Figure]:
    """Pearson's and Spearman's correlation of those places where both have a number.

    Parameters
    ----------
    a, b
        Shape (P,).

    Examples
    --------
    >>> [f.value for f in correlation(np.array([1.0, 2, 4]), np.array([1.0, 2, 3]))][1]
    1.0
    >>> str(correlation(np.array([1.0, 1, 1]), np.array([1.0, 2, 3]))[0])
    'undefined: not estimable: the labels do not differ'
    """
    both = np.isfinite(a) & np.isfinite(b)
    if both.sum() < FEWEST_LABELS:
        few = Figure.undefined(
            say("not estimable: fewer than {n} labels have both figures", n=FEWEST_LABELS)
        )
        return few, few
    x, y = a[both], b[both]
    if x.std() < _NO_SPREAD or y.std() < _NO_SPREAD:
        flat = Figure.undefined("not estimable: the labels do not differ")
        return flat, flat
    ranks = average_ranks(np.column_stack([x, y]))
    return _pearson(x, y), _pearson(ranks[:, 0], ranks[:, 1])


def _pearson(x: Floats, y: Floats) -> Figure:
    x, y = x - x.mean(), y - y.mean()
    return Figure(float(np.clip(x @ y / np.sqrt((x @ x) * (y @ y)), -1.0, 1.0)))
