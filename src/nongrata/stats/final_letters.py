"""Accuracy from the distribution of each text's final letter, beside that from the letters drawn.

A generated text ends in a letter that was drawn; the text before it, t, is the larger part of what
varies. Let g = P(right | t, some label is drawn there) = final / mass, `mass` being the probability
of all labels together. The letter is looked for only in texts in which a label was drawn there
and decided. For these E[x | t, a label was drawn] = g, for all others x itself is kept (unread is
not right), so mean(g) estimates exactly what mean(x) estimates, and by the law of total variance
with less noise (Rao-Blackwell): Var(x) = Var(g) + E[g (1 - g)].

Not `final` itself: averaged over texts in which a label *was* drawn it is too small, by the factor
`mass`, against accuracies from the letters drawn. And what is written after the letter must not
take it back: then another letter there would have had another chance to decide.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from nongrata.stats.accuracy import Array, Bools, accuracy


@dataclass(frozen=True, slots=True)
class LetterAccuracy:
    """One cell; shares, 0 to 1.

    Parameters
    ----------
    from_letters, sampled
        Mean over replicates of the accuracy from letters' distributions, and from letters drawn.
    letter_variance
        Variance of `sampled` that is due to drawing the letters alone, the texts before them
        given.
    variance_ratio
        Sampling variance of `from_letters` over that of `sampled`; ``nan`` where it cannot be had.
    letters
        Answers whose letter was read as a distribution.
    reason
        Why there is no ratio, else empty.
    """

    from_letters: float
    sampled: float
    letter_variance: float
    variance_ratio: float
    letters: int
    reason: str = ""


def letter_accuracy(correct: Bools, present: Bools, letters: Array) -> LetterAccuracy:
    """Accuracy of one cell from its letters' distributions.

    The ratio compares, over the questions with at least two answers, the mean variance between
    replicates V of g (ddof = 1) with V + W, W the mean of g (1 - g): the variance of x without
    the noise of estimating it from few draws.

    Parameters
    ----------
    correct
        Whether the answer was read and right, shape (R, Q).
    present
        Where there is an answer, same shape.
    letters
        g, same shape; ``nan`` where no letter decided.

    Examples
    --------
    >>> right = np.array([[True, False], [True, True]])
    >>> g = np.array([[0.9, 0.4], [0.7, 0.6]])
    >>> found = letter_accuracy(right, np.ones((2, 2), bool), g)
    >>> round(found.from_letters, 3), found.sampled, round(found.variance_ratio, 3)
    (0.65, 0.75, 0.093)
    """
    read = present & ~np.isnan(letters)
    g = np.where(read, letters, correct).astype(np.float64)
    noise = np.where(read, g * (1.0 - g), 0.0)
    n = present.sum(axis=1)
    used = n > 0
    if not used.any():
        return LetterAccuracy(math.nan, math.nan, math.nan, math.nan, 0, "no answers yet")
    drawn = noise[used].sum(axis=1) / n[used].astype(np.float64) ** 2
    ratio, reason = _variance_ratio(g, noise, present)
    return LetterAccuracy(
        from_letters=float(accuracy(g, present)[used].mean()),
        sampled=float(accuracy(correct, present)[used].mean()),
        letter_variance=float(drawn.sum()) / int(used.sum()) ** 2,
        variance_ratio=ratio,
        letters=int(read.sum()),
        reason=reason,
    )


def _variance_ratio(g: Array, noise: Array, present: Bools) -> tuple[float, str]:
    n = present.sum(axis=0)
    several = n > 1
    if not several.any():
        return math.nan, "one replicate does not tell how much the texts before the letter vary"
    m = n[several]
    g, noise, present = g[:, several], noise[:, several], present[:, several]
    mean = np.where(present, g, 0.0).sum(axis=0) / m
    squares = np.where(present, (g - mean) ** 2, 0.0).sum(axis=0) / (m - 1)
    between, within = float(squares.mean()), float((noise.sum(axis=0) / m).mean())
    if between + within <= 0:
        return math.nan, "nothing varies: the answers are drawn at temperature 0, or all certain"
    return between / (between + within), ""
