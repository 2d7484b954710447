"""A study with replicates, drawn many times from the probabilities of its answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from nongrata.analysis.answer_chances import AnswerChances
from nongrata.analysis.cube import Answers
from nongrata.stats.accuracy import Bools, Floats
from nongrata.stats.rerun import Redrawn, redraw

Metric = Literal[
    "accuracy", "ia", "io", "rank_shift", "spread", "iq", "iq_of_two", "best_flips", "worst_flips"
]
METRICS: dict[Metric, str] = {
    "accuracy": "per cent, mean over labels and configurations",
    "ia": "points",
    "io": "ranks x points",
    "rank_shift": "ranks",
    "spread": "points",
    "iq": "per cent",
    "iq_of_two": "per cent",
    "best_flips": "per cent of pairs of configurations",
    "worst_flips": "per cent of pairs of configurations",
}
"""Figures of a re-run and their units."""


@dataclass(frozen=True)
class Drawn:
    """Figures of a study with replicates, which are averaged over.

    Parameters
    ----------
    figures
        By metric, one entry a draw.
    accuracy
        Of each label, in per cent, shape (draws, P).
    """

    figures: dict[Metric, Floats]
    accuracy: Floats


def draw_study(
    chances: AnswerChances, draws: int, seed: tuple[int, ...], tell: Callable[[int, int], None]
) -> Drawn:
    """Draw the whole study, replicate by replicate.

    Parameters
    ----------
    chances
        Probabilities of its answers.
    draws, seed
        How many times, and the numbers that name the random numbers.
    tell
        Told how many of how many steps are done.
    """
    R = len(chances.present)
    parts = []
    for r in range(R):

        def told(done: int, total: int, before: int = r) -> None:
            tell(before * total + done, R * total)

        parts.append(
            _figures(
                redraw(
                    chances.theta,
                    _mask(chances, r),
                    draws=draws,
                    seed=(*seed, r),
                    cells=chances.cells,
                    progress=told,
                )
            )
        )
    return _mean(parts)


def observed_study(chances: AnswerChances, answers: Answers) -> Drawn:
    """Figures of the run itself, from its answers: a study drawn once, from certainties.

    Parameters
    ----------
    chances
        Which cells, and which answers are missing.
    answers
        The run's answers.
    """
    kept = chances.selection
    right = answers.correct[np.ix_(kept.personas, kept.configurations)]
    return _mean(
        [
            _figures(redraw(right[:, :, r].astype(np.float32), _mask(chances, r), draws=1, seed=()))
            for r in range(len(chances.present))
        ]
    )


def _mask(chances: AnswerChances, replicate: int) -> Bools | None:
    present = chances.present[replicate]
    return None if present.all() else present


def _figures(drawn: Redrawn) -> Drawn:
    figures: dict[Metric, Floats] = {
        metric: getattr(drawn, metric) for metric in METRICS if metric != "accuracy"
    }
    figures["accuracy"] = (
        drawn.accuracy.mean(axis=1)
        if drawn.accuracy.shape[1]
        else np.full(len(drawn.accuracy), np.nan)
    )
    return Drawn(figures, drawn.accuracy)


def _mean(parts: list[Drawn]) -> Drawn:
    """Means over replicates, of those for which a figure is defined."""
    return Drawn(
        {metric: _defined_mean([part.figures[metric] for part in parts]) for metric in METRICS},
        _defined_mean([part.accuracy for part in parts]),
    )


def _defined_mean(values: list[Floats]) -> Floats:
    each = np.stack(values)
    n = (~np.isnan(each)).sum(axis=0)
    out = np.full(each.shape[1:], np.nan)
    np.divide(np.nansum(each, axis=0), n, out=out, where=n > 0)
    return out
