"""IA, the instability of accuracy.

Source: S2, first line; missing data as in S1. The preprint's definition, for one draw per cell:
the mean, over personas p and over pairs of configurations c < c', of |A[p,c] - A[p,c']|, in points.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nongrata.stats.accuracy import Array, Bools, Floats, sums
from nongrata.stats.figure import Figure, mean_figure
from nongrata.stats.settings import Settings, all_together

_SINGLE_THREADED = 2**17
"""Multiplications below which a matrix product stays on one thread."""


@dataclass(frozen=True, slots=True)
class IA:
    """The instability of accuracy and what it rests on.

    Parameters
    ----------
    figure
        In points (0 to 100).
    fewest_questions
        Smallest number of questions behind any of its differences; 0 where there is none.
    """

    figure: Figure
    fewest_questions: int


def instability_of_accuracy(
    values: Array, present: Bools | None = None, settings: Settings | None = None
) -> IA:
    """IA = 100 x mean over p and c < c' of |A[p,c] - A[p,c']|.

    A pair is compared on the questions present in *both* of its configurations; a pair without
    any is left out. One configuration has no pair: undefined.

    Parameters
    ----------
    values
        Right (1) or not (0) for one replicate, or theta; shape (P, K, Q).
    present
        Where there is an answer, same shape; None: everywhere.
    settings
        Sets of configurations to be compared among themselves, from `one_factor_settings`; the
        result is the mean over those for which it is defined. None: all configurations together.

    Examples
    --------
    >>> x = np.array([[[1, 1, 0, 0], [1, 0, 0, 0], [1, 1, 1, 1]]])
    >>> round(instability_of_accuracy(x).figure.value, 6)
    50.0
    """
    if present is not None and present.all():
        present = None
    results = [
        _one_setting(values[:, group], None if present is None else present[:, group])
        for group in (all_together(values.shape[1]) if settings is None else settings)
    ]
    used = [result.fewest_questions for result in results if result.figure.defined]
    return IA(mean_figure(result.figure for result in results), min(used, default=0))


def _one_setting(values: Array, present: Bools | None) -> IA:
    personas, configurations, questions = values.shape
    if personas == 0:
        return IA(Figure.undefined("no persona is left"), 0)
    if configurations < 2:
        return IA(Figure.undefined("one configuration has no pair"), 0)
    if questions == 0:
        return IA(Figure.undefined("no question is left"), 0)
    if present is None:
        pairs = personas * configurations * (configurations - 1) / 2
        total = _sum_over_pairs(sums(values)) / questions
        return IA(Figure(100.0 * total / pairs), questions)
    total, terms, fewest = 0.0, 0, questions
    upper = np.triu_indices(configurations, 1)
    for difference, shared in _paired_differences(values, present):
        there = shared[upper] > 0
        total += float(np.abs(difference[upper][there]).sum())
        terms += int(there.sum())
        fewest = min(fewest, int(shared[upper][there].min(initial=questions)))
    if terms == 0:
        return IA(Figure.undefined("no question is present in two configurations"), 0)
    return IA(Figure(100.0 * total / terms), fewest)


def _sum_over_pairs(totals: Array) -> float:
    """Sum over rows and pairs of |a - b|: (2i - K + 1) x the i-th smallest; exact for counts."""
    ordered = np.sort(totals, axis=1)
    ordered = ordered - ordered[:, :1]
    K = ordered.shape[1]
    return float((ordered * (2 * np.arange(K) - K + 1)).sum())


def _paired_differences(values: Array, present: Bools) -> Iterator[tuple[Floats, Floats]]:
    """Per persona A[c] - A[c'] on shared questions, and their number; both (K, K)."""
    drawn = not np.issubdtype(values.dtype, np.floating)
    for x, m in zip(values, present, strict=True):
        if drawn:
            bits = _packed(m)
            right, shared = _common(_packed((x != 0) & m), bits), _common(bits, bits)
        else:
            mask = m.astype(np.float64)
            right = _product(np.where(m, x, 0.0).astype(np.float64), mask)
            shared = _product(mask, mask)
        yield (right - right.T) / np.maximum(shared, 1.0), shared


def _packed(rows: Bools) -> NDArray[np.uint64]:
    """Rows of bits as 64-bit words, shape (K, ceil(Q / 64))."""
    octets = np.packbits(rows, axis=1)
    spare = -octets.shape[1] % 8
    return np.pad(octets, ((0, 0), (0, spare))).view(np.uint64)


def _common(a: NDArray[np.uint64], b: NDArray[np.uint64]) -> Floats:
    """Number of bits set in both, for every pair of rows: an exact product without BLAS."""
    out = np.empty((len(a), len(b)))
    for c, row in enumerate(a):
        out[c] = np.bitwise_count(row & b).sum(axis=1, dtype=np.int64)
    return out


def _product(a: Floats, b: Floats) -> Floats:
    """``a @ b.T`` in pieces too small for BLAS to start threads, which starve one another.

    On a machine whose cores are busy, threaded products of this size took 15 times as long.
    """
    width = max(16, _SINGLE_THREADED // (len(a) * len(b)))
    out = np.zeros((len(a), len(b)))
    for start in range(0, a.shape[1], width):
        piece = slice(start, start + width)
        out += a[:, piece] @ b[:, piece].T
    return out


def expected_ia_of_one_draw(
    theta: Array, present: Bools | None = None, settings: Settings | None = None
) -> Figure:
    """What IA would be on average if each cell with probabilities theta were drawn once.

    For a pair, E|D| is the mean of a folded normal with mean mu = A_theta[c] - A_theta[c'] and
    variance s^2 = (1/Q^2) x sum of theta (1 - theta) over both cells (S1):
    s sqrt(2/pi) exp(-mu^2 / (2 s^2)) + mu erf(mu / (s sqrt 2)); |mu| where s = 0. A normal
    approximation, for comparing theta with draws; the raw IA of theta is not comparable.

    Parameters
    ----------
    theta
        Probability of a right answer, shape (P, K, Q).
    present, settings
        As in `instability_of_accuracy`.

    Examples
    --------
    >>> theta = np.full((1, 2, 100), 0.5)
    >>> round(expected_ia_of_one_draw(theta).value, 3)
    5.642
    """
    groups = all_together(theta.shape[1]) if settings is None else settings
    there = np.ones(theta.shape, dtype=bool) if present is None else present
    return mean_figure(_expected_one_setting(theta[:, g], there[:, g]) for g in groups)


def _expected_one_setting(theta: Array, present: Bools) -> Figure:
    plain = _one_setting(theta, present)
    if not plain.figure.defined:
        return plain.figure
    upper = np.triu_indices(theta.shape[1], 1)
    total, terms = 0.0, 0
    noise = np.where(present, theta.astype(np.float64) * (1.0 - theta), 0.0)
    for p, (difference, shared) in enumerate(_paired_differences(theta, present)):
        half = _product(noise[p], present[p].astype(np.float64))
        variance = (half + half.T) / np.maximum(shared, 1.0) ** 2
        use = shared[upper] > 0
        total += float(_folded_normal_mean(difference[upper][use], variance[upper][use]).sum())
        terms += int(use.sum())
    return Figure(100.0 * total / terms)


def _folded_normal_mean(mu: Floats, variance: Floats) -> Floats:
    noisy = variance > 0.0
    out = np.abs(mu)
    m, s = mu[noisy], np.sqrt(variance[noisy])
    erf = np.array([math.erf(z) for z in (m / (s * math.sqrt(2))).tolist()])
    out[noisy] = s * math.sqrt(2 / math.pi) * np.exp(-0.5 * (m / s) ** 2) + m * erf
    return out
