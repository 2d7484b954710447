"""Selection held out (S9): intervals of what was chosen, in sample and on other questions."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from benchmarks.coverage.rows import Row
from benchmarks.coverage.studies import Simulated, simulate
from nongrata.stats.held_out import (
    Halves,
    best_of_all,
    best_of_each,
    extreme,
    half_width,
    mean_difference_to_others,
    select_and_judge,
)


def stable_less_unstable(accuracy: Any, heat: Any) -> Any:
    """The two most stable configurations at the first level of heat less two at the last."""
    u = mean_difference_to_others(accuracy)
    low, high = np.flatnonzero(heat == 0), np.flatnonzero(heat == heat.max())
    w = np.zeros(len(u))
    w[low] += extreme(u[low], 2)
    w[high] -= extreme(u[high], 2, largest=True)
    return np.tile(w / len(accuracy), (len(accuracy), 1))


def _tried(study: Simulated, choose: Any, seed: int) -> dict[str, float]:
    x = study.units.totals(study.x[0].astype(np.float32))
    halves = Halves.of(x, None, study.units, study.units.halves(1, (seed, 77))[0])
    found = select_and_judge(halves, choose)
    w = found.weights
    out = {}
    for name, contrast, weights in (
        ("held out", found.held_out, (w[0] + w[1]) / 2),
        ("in sample", found.in_sample, w[2]),
    ):
        truth = float((weights * study.accuracy).sum())
        out[name] = float(abs(contrast.value - truth) <= half_width(contrast))
    return out


CONFIGURATIONS = np.linspace(-0.05, 0.05, 12)
LABELS = np.linspace(-0.04, 0.04, 6)


def _stable(seed: int, **design: Any) -> dict[str, float]:
    study = simulate(seed, **design)
    choose = partial(stable_less_unstable, heat=study.levels[:, -1])
    return _tried(study, choose, seed)


def _label(seed: int, choose: Any, **design: Any) -> dict[str, float]:
    return _tried(simulate(seed, **design), choose, seed)


def _row(name: str, study: Any, **parameters: Any) -> Row:
    claim = {"held out": "conservative", "in sample": "tabulated"}
    return Row("held out", name, "coverage", claim, partial(study, **parameters))  # type: ignore[arg-type]


ROWS: list[Row] = [
    _row("stable less unstable, configurations alike", _stable, question_cell=0.1),
    _row("stable less unstable, configurations differ", _stable,
         configuration=CONFIGURATIONS, question_cell=0.1),
    _row("stable less unstable, formats shared over labels", _stable,
         configuration=CONFIGURATIONS, question_factor={0: 0.1, 2: 0.05}),
    _row("stable less unstable, clusters of 3", _stable,
         cluster_size=3, configuration=CONFIGURATIONS, question_cell=0.1),
    _row("best label, labels alike", _label, choose=best_of_all, question_persona=0.1),
    _row("best label, labels differ", _label, choose=best_of_all,
         persona=LABELS, question_persona=0.1),
    _row("best label of each configuration, labels alike", _label, choose=best_of_each),
    _row("best label of each configuration, clusters of 3", _label, choose=best_of_each,
         cluster_size=3, persona=LABELS, question_persona=0.1),
]  # fmt: skip
