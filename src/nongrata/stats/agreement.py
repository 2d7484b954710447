r"""Agreement between configurations that answer the same questions, corrected for chance or not.

Source: S10. Units are questions, raters are configurations. With n_uj the number of a unit's n_u
answers that fall in category j, J categories, and means over units,

    a_u    = sum_j n_uj (n_uj - 1) / (n_u (n_u - 1))    units with n_u >= 2
    raw    = mean a_u                  share of pairs of configurations that agree
    pi_j   = mean n_uj / n_u           units with n_u >= 1
    Fleiss = (raw - sum_j pi_j^2) / (1 - sum_j pi_j^2)
    AC1    = (raw - E) / (1 - E),      E = sum_j pi_j (1 - pi_j) / (J - 1)
    alpha  = 1 - D_o / D_e,            Krippendorff, nominal; see `krippendorff`
    total(m) = mean over units with n_u >= m of sum_j C(n_uj, m) / C(n_u, m)

total(m) is the chance that m of a unit's answers, drawn without replacement, are all alike: exact,
and comparable between sets of different size, as "all answers alike" is not. total(2) is raw.

Fleiss (1971), Psychological Bulletin 76, 378-382; Gwet (2008), British Journal of Mathematical and
Statistical Psychology 61, 29-48, and with missing answers Gwet (2014), Handbook of Inter-Rater
Reliability; Krippendorff (2011), Computing Krippendorff's Alpha-Reliability.

All of these are functions of sums over units of a few terms, so that resamples and halves of the
units need no more than a matrix product. They depend on the counts n_uj only: relabelling
configurations within a question changes none of them, so by themselves they cannot tell an effect
of configurations from noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nongrata.stats.accuracy import Array, Bools, Floats
from nongrata.stats.figure import Figure
from nongrata.stats.iq import inclusion

NO_PAIR = "no question has two answers"
ONE_CATEGORY = "all answers fall in one category, so that all agreement is expected by chance"
TOO_FEW = "no question has that many answers"

_NOTHING = 1e-6
"""Disagreement expected by chance below this is none: resampled sums hold rounding errors."""

_HEAD = 5
"""Rows before the shares of categories: units with 1, with 2 answers, a_u, n_u, n_u a_u."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far the answers to the same question agree; all but `raw` have no unit.

    Parameters
    ----------
    raw
        Share of pairs of answers that agree, 0 to 1.
    fleiss, gwet, alpha
        Fleiss' kappa, Gwet's AC1, Krippendorff's alpha (nominal): 1 is full agreement, 0 what
        each of them expects by chance.
    """

    raw: Figure
    fleiss: Figure
    gwet: Figure
    alpha: Figure


def category_counts(codes: Array, categories: int, present: Bools | None = None) -> Array:
    """How many answers of each unit fall in each category.

    Parameters
    ----------
    codes
        Category of each answer, 0 ... J - 1, or True/False; shape (..., K, U). Other codes are
        not counted.
    categories
        J.
    present
        Where there is an answer, same shape; None: everywhere.

    Returns
    -------
    array
        Smallest unsigned integers that hold K, shape (..., J, U).

    Examples
    --------
    >>> category_counts(np.array([[0, 1], [0, 2], [1, 2]]), 3).tolist()
    [[2, 0], [1, 1], [0, 2]]
    """
    kind = np.min_scalar_type(codes.shape[-2])
    out = np.empty((*codes.shape[:-2], categories, codes.shape[-1]), dtype=kind)
    for j in range(categories):
        here = codes == j
        if present is not None:
            here &= present
        out[..., j, :] = here.view(np.uint8).sum(axis=-2, dtype=kind)
    return out


@dataclass(frozen=True)
class Terms:
    """What has to be added up over units.

    Parameters
    ----------
    rows
        Shape (..., F, U).
    categories
        J.
    sizes
        The m of total(m).
    """

    rows: Floats
    categories: int
    sizes: tuple[int, ...]


def terms(counts: Array, sizes: Sequence[int] = ()) -> Terms:
    """Terms of every unit; their sums over units give all coefficients.

    Parameters
    ----------
    counts
        n_uj, shape (..., J, U), from `category_counts`.
    sizes
        The m of total(m), each at least 2.

    Examples
    --------
    >>> parts = terms(np.array([[2, 0], [1, 3]]), sizes=(3,))
    >>> coefficients(parts.rows.sum(axis=-1), parts)["raw"].round(3).tolist()
    0.667
    """
    J = counts.shape[-2]
    n = counts.sum(axis=-2, dtype=np.int64)
    same = (counts * (counts.astype(np.int64) - 1)).sum(axis=-2)
    out = np.zeros((*n.shape[:-1], _HEAD + 2 * J + 2 * len(sizes), n.shape[-1]))
    one, two = n >= 1, n >= 2
    pairs = np.divide(same, n * (n - 1), out=np.zeros(n.shape), where=two)
    paired = np.where(two, n, 0)
    for row, values in enumerate((one, two, pairs, paired, paired * pairs)):
        out[..., row, :] = values
    np.divide(counts, n[..., None, :], out=out[..., _HEAD : _HEAD + J, :], where=one[..., None, :])
    out[..., _HEAD + J : _HEAD + 2 * J, :] = np.where(two[..., None, :], counts, 0)
    for i, m in enumerate(sizes):
        at = _HEAD + 2 * J + 2 * i
        out[..., at, :] = n >= m
        out[..., at + 1, :] = all_alike(counts, m)
    return Terms(out, J, tuple(sizes))


def complete_rows(categories: int, sizes: Sequence[int]) -> NDArray[np.intp]:
    """Rows of `terms` from which all others follow where every unit has the same answers.

    Examples
    --------
    >>> complete_rows(2, (3,)).tolist()
    [2, 5, 6, 10]
    """
    first_size = _HEAD + 2 * categories
    kept = [2, *range(_HEAD, _HEAD + categories)]
    kept += [first_size + 2 * i + 1 for i in range(len(sizes))]
    return np.array(kept, dtype=np.intp)


def fill_complete(
    kept: Array, answers: int, units: int, categories: int, sizes: Sequence[int]
) -> Array:
    """Sums of all rows of `terms` from those of `complete_rows`.

    Parameters
    ----------
    kept
        Sums over units, shape (..., 1 + J + sizes).
    answers, units
        Answers of every unit, at least two and the largest size; (weighted) number of units.

    Examples
    --------
    >>> parts = terms(np.array([[2, 0], [1, 3]]), sizes=(3,))
    >>> sums = parts.rows.sum(axis=-1)
    >>> again = fill_complete(sums[complete_rows(2, (3,))], 3, 2, 2, (3,))
    >>> bool(np.allclose(sums, again))
    True
    """
    J = categories
    out = np.empty((*kept.shape[:-1], _HEAD + 2 * J + 2 * len(sizes)), dtype=kept.dtype)
    out[..., :_HEAD] = units
    out[..., 2] = kept[..., 0]
    out[..., 3] *= answers
    out[..., 4] = answers * kept[..., 0]
    out[..., _HEAD : _HEAD + J] = kept[..., 1 : 1 + J]
    out[..., _HEAD + J : _HEAD + 2 * J] = answers * kept[..., 1 : 1 + J]
    out[..., _HEAD + 2 * J :: 2] = units
    out[..., _HEAD + 2 * J + 1 :: 2] = kept[..., 1 + J :]
    return out


def all_alike(counts: Array, m: int) -> Floats:
    """Chance that m of a unit's answers are all alike, sum_j C(n_uj, m) / C(n_u, m); 0 if n_u < m.

    Parameters
    ----------
    counts
        Shape (..., J, U).
    m
        At least 1.

    Examples
    --------
    >>> all_alike(np.array([[3, 2], [1, 2]]), 2).round(4).tolist()
    [0.5, 0.3333]
    """
    n = counts.sum(axis=-2, dtype=np.int64)
    most = int(n.max(initial=0))
    out = np.zeros(n.shape)
    if most < m:
        return out
    for size in np.unique(n[n >= m]).tolist():
        chance = inclusion(size)[:, m - 1]
        here = n == size
        if here.all():
            return np.asarray(chance[counts].sum(axis=-2))
        out[here] = chance[np.moveaxis(counts, -2, -1)[here]].sum(axis=-1)
    return out


def coefficients(sums: Array, parts: Terms) -> dict[str, Array]:
    """Every coefficient from (weighted) sums of terms over units.

    Parameters
    ----------
    sums
        Sums over units of `parts.rows`, shape (..., F): of all, of a resample, of a half.
    parts
        What was summed.

    Returns
    -------
    dict
        ``"raw"``, ``"fleiss"``, ``"gwet"``, ``"alpha"``, ``"total"`` with one more axis, for the
        sizes; ``nan`` where undefined.

    Examples
    --------
    >>> parts = terms(np.array([[2, 0], [0, 2]]))
    >>> float(coefficients(parts.rows.sum(axis=-1), parts)["fleiss"])
    1.0
    """
    J = parts.categories
    one, two, pairs, paired, agreeing = np.moveaxis(sums[..., :_HEAD], -1, 0)
    shares = sums[..., _HEAD : _HEAD + J]
    used = sums[..., _HEAD + J : _HEAD + 2 * J]
    rest = sums[..., _HEAD + 2 * J :]
    raw = _over(pairs, two)
    pi = _over(shares, one[..., None])
    by_chance = (pi**2).sum(axis=-1)
    gwet_chance = (pi * (1 - pi)).sum(axis=-1) / (J - 1) if J > 1 else np.full_like(raw, np.nan)
    observed = _over(paired - agreeing, paired)
    expected = _over(paired**2 - (used**2).sum(axis=-1), paired * (paired - 1))
    return {
        "raw": raw,
        "fleiss": _over(raw - by_chance, _some(1 - by_chance)),
        "gwet": _over(raw - gwet_chance, _some(1 - gwet_chance)),
        "alpha": 1 - _over(observed, _some(expected)),
        "total": _over(rest[..., 1::2], rest[..., ::2]),
    }


def agreement(counts: Array) -> Agreement:
    """Raw agreement, Fleiss' kappa, Gwet's AC1 and Krippendorff's nominal alpha.

    Units with one answer count for the shares of categories of kappa and AC1 (as Gwet has it),
    and nowhere else.

    Parameters
    ----------
    counts
        n_uj, shape (J, U): **categories by units**, as `category_counts` gives them.

    Examples
    --------
    >>> found = agreement(np.array([[3, 0, 2], [0, 3, 1]]))
    >>> round(found.raw.value, 4), round(found.fleiss.value, 4)
    (0.7778, 0.55)
    """
    parts = terms(counts)
    found = coefficients(parts.rows.sum(axis=-1), parts)
    raw = figure(float(found["raw"]), NO_PAIR)
    why = ONE_CATEGORY if raw.defined else NO_PAIR
    return Agreement(raw, *(figure(float(found[k]), why) for k in ("fleiss", "gwet", "alpha")))


def total_agreement(counts: Array, m: int) -> Figure:
    """Chance that m of a unit's answers are all alike, averaged over units with m answers.

    Parameters
    ----------
    counts
        Shape (J, U).
    m
        Number of answers, at least 2.

    Examples
    --------
    >>> total_agreement(np.array([[3, 2], [1, 2]]), 3).value
    0.125
    """
    enough = counts.sum(axis=-2, dtype=np.int64) >= m
    return figure(float(_over(all_alike(counts, m).sum(), enough.sum())), TOO_FEW)


def figure(value: float, why: str) -> Figure:
    """A number as a figure; ``nan`` with the reason given.

    Examples
    --------
    >>> str(figure(float("nan"), "no pair"))
    'undefined: no pair'
    """
    return Figure.undefined(why) if np.isnan(value) else Figure(value)


def _over(a: Array, b: Array) -> Array:
    """Quotient a / b; ``nan`` where b is 0 or ``nan``."""
    a, b = np.broadcast_arrays(a, b)
    kind = np.result_type(a.dtype, b.dtype, np.float32)
    with np.errstate(invalid="ignore"):
        return np.divide(a, b, out=np.full(a.shape, np.nan, kind), where=~(b == 0))


def _some(disagreement: Array) -> NDArray[np.floating]:
    """Disagreement expected by chance, 0 where it is rounding error."""
    return np.where(disagreement > _NOTHING, disagreement, 0.0)
