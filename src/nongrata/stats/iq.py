r"""IQ, the instability of the set of questions answered right, and its rarefaction IQ(m).

Source: S3; missing data as in S1. For one persona, with k_q the number of the K configurations in
which question q is right,

    IQ    = 1 - |{q: k_q = K}| / |{q: k_q > 0}|
    IQ(m) = 1 - E|intersection of m| / E|union of m|,
    E|intersection| = sum_q C(k_q, m) / C(K, m),  E|union| = sum_q [1 - C(K - k_q, m) / C(K, m)]

over m configurations drawn without replacement. With probabilities theta instead of 0/1,
C(k_q, m) becomes e_m(theta_q), the elementary symmetric polynomial of the question's K cells, and
C(K - k_q, m) becomes e_m(1 - theta_q); then the expectation is over re-runs too.

IQ(m) is *per persona* a ratio of two expectations (not the expectation of the ratio), then
averaged over the personas whose union is not empty: the same personas at every m. So IQ(K) is the
preprint's IQ, and IQ(1) is 0. Both depend on the counts k_q only: no relabelling of
configurations within a question changes them, so by themselves they cannot tell an effect of
configurations from noise. Per-factor values are not invariant.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nongrata.stats.accuracy import Array, Bools, Floats
from nongrata.stats.figure import Figure, mean_figure
from nongrata.stats.settings import Settings, all_together

_BLOCK = 1024
"""Questions at once, so that their distributions stay in the processor's cache."""


@dataclass(frozen=True, slots=True)
class IQ:
    """The instability of questions and what it rests on.

    Parameters
    ----------
    figure
        IQ over all configurations of the setting, in per cent.
    curve
        IQ(1), IQ(2), ..., in per cent, as far as every setting has that many configurations;
        empty where IQ is undefined.
    personas
        Fewest personas it is averaged over: those whose union is not empty.
    fewest_questions
        Smallest number of complete questions any persona has.
    """

    figure: Figure
    curve: tuple[float, ...]
    personas: int
    fewest_questions: int


def instability_of_questions(
    values: Array, present: Bools | None = None, settings: Settings | None = None
) -> IQ:
    """IQ and its rarefaction curve, in per cent, averaged over personas.

    A persona's questions are those complete over the configurations compared; a persona with an
    empty union is left out. One configuration: 0 (its union is its intersection). No persona with
    a non-empty union: undefined.

    Parameters
    ----------
    values
        Right or not for one replicate (bool or integer), or theta (floating), shape (P, K, Q).
    present
        Where there is an answer, same shape; None: everywhere.
    settings
        Sets of configurations, each treated alone, from `one_factor_settings`; the result is the
        mean over those with at least two configurations for which it is defined. None: all
        configurations together.

    Examples
    --------
    >>> x = np.array([[[1, 1, 0, 0], [1, 0, 1, 0], [1, 1, 0, 0]]])
    >>> iq = instability_of_questions(x)
    >>> round(iq.figure.value, 3), [round(v, 3) for v in iq.curve]
    (66.667, [0.0, 50.0, 66.667])
    """
    if present is not None and present.all():
        present = None
    if settings is None:
        groups: Settings = all_together(values.shape[1])
    else:
        groups = [group for group in settings if len(group) > 1]
        if not groups:
            return IQ(Figure.undefined("the factor has one level"), (), 0, 0)
    results = [
        _one_setting(values[:, group], None if present is None else present[:, group])
        for group in groups
    ]
    used = [result for result in results if result.figure.defined]
    if not used:
        return results[0]
    shortest = min(len(result.curve) for result in used)
    return IQ(
        mean_figure(result.figure for result in used),
        tuple(float(np.mean([r.curve[m] for r in used])) for m in range(shortest)),
        min(result.personas for result in used),
        min(result.fewest_questions for result in used),
    )


def _one_setting(values: Array, present: Bools | None) -> IQ:
    personas, configurations, questions = values.shape
    if personas == 0:
        return IQ(Figure.undefined("no persona is left"), (), 0, 0)
    if configurations == 0:
        return IQ(Figure.undefined("no configuration is left"), (), 0, 0)
    fewest = questions
    if present is not None:
        fewest = int(np.count_nonzero(present.all(axis=1), axis=1).min())
    exact = np.issubdtype(values.dtype, np.floating)
    histogram = (expected_histogram if exact else right_count_histogram)(values, present)
    both, either = expected_sizes(histogram)
    some = either[:, -1] > 0
    if not some.any():
        return IQ(Figure.undefined(_why_empty(present, questions)), (), 0, fewest)
    curve = 100.0 * (1.0 - both[some] / either[some]).mean(axis=0)
    return IQ(Figure(float(curve[-1])), tuple(curve.tolist()), int(some.sum()), fewest)


def _why_empty(present: Bools | None, questions: int) -> str:
    if questions == 0:
        return "no question is left"
    if present is not None and not present.all(axis=1).any():
        return "no question is complete over the configurations for any persona"
    return "no persona has a question right in any configuration"


def right_count_histogram(correct: Array, present: Bools | None = None) -> NDArray[np.int64]:
    """How many complete questions are right in exactly k of the K configurations.

    Parameters
    ----------
    correct
        Right (1) or not (0), shape (P, K, Q).
    present
        Where there is an answer; None: everywhere. A question missing anywhere is not counted.

    Returns
    -------
    array
        Shape (P, K + 1): persona by k.

    Examples
    --------
    >>> right_count_histogram(np.array([[[1, 1, 0], [1, 0, 0]]])).tolist()
    [[1, 1, 1]]
    """
    personas, configurations, _ = correct.shape
    out = np.zeros((personas, configurations + 1), dtype=np.int64)
    for p in range(personas):
        k = (correct[p] != 0).sum(axis=0, dtype=np.int64)
        if present is not None:
            k = k[present[p].all(axis=0)]
        out[p] = np.bincount(k, minlength=configurations + 1)
    return out


def expected_sizes(histogram: NDArray[np.integer] | Floats) -> tuple[Floats, Floats]:
    """Expected intersection and union of m of the K configurations, for m = 1 ... K.

    Parameters
    ----------
    histogram
        Number (or probability) of questions right in exactly k configurations, shape (P, K + 1).

    Returns
    -------
    intersection, union
        In questions, shape (P, K); column m - 1 is m configurations.

    Examples
    --------
    >>> both, either = expected_sizes(np.array([[0, 1, 1]]))
    >>> both.tolist(), either.tolist()
    ([[1.5, 1.0]], [[1.5, 2.0]])
    """
    weights = np.asarray(histogram, dtype=np.float64)
    inside = inclusion(weights.shape[1] - 1)
    both, either = weights @ inside, weights @ (1.0 - inside[::-1])
    either[:, 0] = both[:, 0]  # one configuration is its own union, to the last bit
    return both, either


def inclusion(K: int) -> Floats:
    """C(k, m) / C(K, m): the chance that all m of K configurations are among k given ones.

    Returns
    -------
    array
        Shape (K + 1, K): row k, column m - 1. A running product of (k - i) / (K - i), so that
        neither a factorial nor its logarithm is formed, and 0 and 1 are exact.

    Examples
    --------
    >>> inclusion(3)[2].round(3).tolist()
    [0.667, 0.333, 0.0]
    """
    k = np.arange(K + 1)[:, None]
    i = np.arange(K)[None, :]
    return np.asarray(np.cumprod(np.maximum(k - i, 0) / (K - i), axis=1), dtype=np.float64)


def expected_histogram(theta: Array, present: Bools | None = None) -> Floats:
    """Expected number of complete questions right in exactly k of the K configurations.

    Per question the number of right answers is Poisson-binomial; its distribution is built up one
    configuration at a time, P_j(k) = (1 - theta_j) P_{j-1}(k) + theta_j P_{j-1}(k - 1), so nothing
    cancels. With it e_m(theta) / C(K, m) = sum_k P(k) C(k, m) / C(K, m): probabilities need no
    other formula than draws.

    Parameters
    ----------
    theta
        Probability of a right answer, shape (P, K, Q).
    present
        Where it is known; None: everywhere. A question missing anywhere is not counted.

    Returns
    -------
    array
        Shape (P, K + 1): persona by k, as from `right_count_histogram`.

    Examples
    --------
    >>> expected_histogram(np.array([[[0.5], [0.5]]])).tolist()
    [[0.25, 0.5, 0.25]]
    """
    personas, configurations, _ = theta.shape
    out = np.zeros((personas, configurations + 1))
    for p in range(personas):
        cells = theta[p] if present is None else theta[p][:, present[p].all(axis=0)]
        for start in range(0, cells.shape[1], _BLOCK):
            block = cells[:, start : start + _BLOCK].astype(np.float64)
            chances = np.zeros((configurations + 1, block.shape[1]))
            chances[0] = 1.0
            for j, x in enumerate(block):
                right = chances[: j + 1] * x
                chances[: j + 1] *= 1.0 - x
                chances[1 : j + 2] += right
            out[p] += chances.sum(axis=1)
    return out
