"""From sums over answers to the points of a curve of accuracy over temperature."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nongrata.analysis.estimated import Estimated
from nongrata.analysis.temperature_rows import (
    UNBOUNDED,
    LabelCurve,
    SettingWithout,
    TemperatureCurve,
    TemperaturePoint,
)
from nongrata.stats.accuracy import Bools, Floats
from nongrata.stats.figure import Figure
from nongrata.stats.units import Units
from nongrata.temperature import Sampling


@dataclass(frozen=True)
class Setting:
    """One setting of the factors that do not set the temperature.

    Parameters
    ----------
    levels
        Its levels.
    reading
        How answers are read.
    truncation
        What is left out above temperature 0; its temperature is of no matter.
    heats
        Temperatures at which the study has it.
    prompts
        Which prompt frame each persona sends, shape (P,).
    earlier
        Whether each persona sends the same in an earlier setting, shape (P,).
    """

    levels: tuple[str, ...]
    reading: str
    truncation: Sampling
    heats: frozenset[float]
    prompts: NDArray[np.intp]
    earlier: Bools


@dataclass(frozen=True)
class Sums:
    """Probabilities summed over the answers there are.

    Parameters
    ----------
    present
        Whether there is an answer, shape (prompt frames, questions).
    right, read, error
        Sums over questions of the probability of the right label, of any label, and of what
        unseen tokens can change, shape (temperatures, prompt frames); ``nan`` if without bound.
    worst
        Largest `error` of any answer, same shape.
    """

    present: Bools
    right: Floats
    read: Floats
    error: Floats
    worst: Floats


@dataclass(frozen=True)
class Personas:
    """Names of the personas, and which of them are controls, shape (P,)."""

    names: tuple[str, ...]
    control: Bools


def shares_of_labels(setting: Setting, personas: Personas, present: Bools) -> Floats:
    """Weight of each prompt frame's answers in the mean over labels, shape (prompt frames,).

    With Q questions that any label answered and Q_p that label p did, an answer of p counts
    Q / Q_p: then the mean over the Q questions of the sum over labels is the sum of their means.
    """
    used = _labels(setting, personas, present)
    frames = setting.prompts[used]
    asked = present[frames].any(axis=0).sum()
    weight = np.zeros(len(present))
    np.add.at(weight, frames, asked / present[frames].sum(axis=1))
    return weight


def _labels(setting: Setting, personas: Personas, present: Bools) -> NDArray[np.intp]:
    """Labels that have any answer."""
    return np.flatnonzero(~personas.control & present[setting.prompts].any(axis=1))


def curve_of(
    setting: Setting,
    personas: Personas,
    sums: Sums,
    by_question: Floats,
    units: Units,
    temperatures: Sequence[float],
) -> TemperatureCurve | SettingWithout:
    """One setting's curve.

    Parameters
    ----------
    setting, personas
        Which.
    sums
        Over the answers of one model.
    by_question
        Answers of labels summed by question with `shares_of_labels`, shape (temperatures, Q).
    units
        Clusters and strata of all questions.
    temperatures
        The grid.
    """
    n = sums.present.sum(axis=1)
    if not n[setting.prompts].any():
        return SettingWithout(setting.levels, "no answers yet")
    labels = _labels(setting, personas, sums.present)
    asked = np.asarray(sums.present[setting.prompts[labels]].any(axis=0))
    frames = setting.prompts[labels]
    with np.errstate(invalid="ignore"):
        right, read, error = (x / n for x in (sums.right, sums.read, sums.error))
    shown = np.flatnonzero(n[setting.prompts] > 0)
    of_asked = units.on(asked)
    estimates = [Estimated.undefined("no label has an answer")] * len(temperatures)
    if len(labels):
        residuals = _around_means(right, sums.present, setting, labels, by_question)[:, asked]
        estimates = _estimates(right[:, frames].mean(axis=1), residuals, of_asked)

    def mean(x: Floats, t: int) -> Figure:
        value = 100.0 * float(x[t, frames].mean()) if len(labels) else float("nan")
        reason = UNBOUNDED if len(labels) else "no label has an answer"
        return Figure.undefined(reason) if np.isnan(value) else Figure(value)

    return TemperatureCurve(
        levels=setting.levels,
        reading=setting.reading,
        top_k=setting.truncation.top_k,
        top_p=setting.truncation.top_p,
        min_p=setting.truncation.min_p,
        labels=len(labels),
        questions=int(asked.sum()),
        fewest_questions=int(n[frames].min(initial=len(asked))) if len(labels) else 0,
        clusters=len(of_asked) if len(labels) else 0,
        duplicate=bool(len(labels)) and bool(setting.earlier[labels].all()),
        points=tuple(
            TemperaturePoint(
                temperature=float(heat),
                studied=heat in setting.heats,
                accuracy=estimates[t],
                unreadable=mean(1.0 - read, t),
                error=mean(error, t),
                largest_error=_largest(sums.worst[t, frames]),
            )
            for t, heat in enumerate(temperatures)
        ),
        by_label=tuple(
            LabelCurve(
                persona=personas.names[p],
                control=bool(personas.control[p]),
                questions=int(n[setting.prompts[p]]),
                duplicate=bool(setting.earlier[p]),
                accuracy=_per_cent(right[:, setting.prompts[p]]),
                unreadable=_per_cent(1.0 - read[:, setting.prompts[p]]),
                error=100.0 * float(np.nanmax(error[:, setting.prompts[p]])),
            )
            for p in shown
        ),
    )


def _around_means(
    right: Floats,
    present: Bools,
    setting: Setting,
    labels: NDArray[np.intp],
    by_question: Floats,
) -> Floats:
    """What each question moves in the mean over labels, shape (temperatures, Q).

    With missing answers a label's accuracy is a ratio; this is its linearisation,
    Q / Q_p present (theta - A_p), summed over labels, with their number taken out.
    """
    frames = setting.prompts[labels]
    there = present[frames]
    asked = there.any(axis=0).sum()
    level = (right[:, frames] * (asked / there.sum(axis=1))) @ there
    return np.asarray((by_question - level) / len(labels))


def _estimates(mean: Floats, residuals: Floats, units: Units) -> list[Estimated]:
    from scipy.special import stdtrit

    width = float(stdtrit(max(units.degrees_of_freedom, 1), 0.975))
    found = []
    for value, variance in zip(
        mean.tolist(), units.variance_of_mean(residuals).tolist(), strict=True
    ):
        if np.isnan(value):
            found.append(Estimated.undefined(UNBOUNDED))
            continue
        se = variance**0.5
        # rounding errors of single precision are no spread
        half = width * se if se > 1e-9 else float("nan")
        one = Estimated.around(value, se, half, unit=100.0)
        low, high = (
            min(max(end, 0.0), 100.0) if end == end else end for end in (one.low, one.high)
        )
        found.append(Estimated(one.estimate, one.se, low, high))
    return found


def _largest(worst: Floats) -> Figure:
    if not len(worst):
        return Figure.undefined("no label has an answer")
    largest = float(worst.max())
    return Figure.undefined(UNBOUNDED) if np.isnan(largest) else Figure(100.0 * largest)


def _per_cent(shares: Floats) -> tuple[float, ...]:
    return tuple((100.0 * shares).tolist())
