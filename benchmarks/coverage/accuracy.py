"""Coverage of intervals for accuracy: clusters, unequal clusters, strata, few clusters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from benchmarks.coverage.rows import Claim, Row
from benchmarks.coverage.studies import simulate
from nongrata.stats.accuracy_intervals import average_accuracies
from nongrata.stats.influence import Estimates
from nongrata.stats.units import Units

DRAWS = 2000


def _covered(found: Estimates, units: Units, truth: Any, seed: int) -> dict[str, float]:
    weights = units.bootstrap_weights(DRAWS, (seed, 1))
    low, high = found.percentile_interval(weights)
    t_low, t_high = found.t_interval()
    moved = weights @ found.influence.T.astype(np.float32) * np.sqrt(1 - 1 / len(units))
    raw = found.value[:, None] + np.quantile(moved, [0.025, 0.975], axis=0).T
    return {
        "interval": float(((low <= truth) & (truth <= high)).mean()),
        "t": float(((t_low <= truth) & (truth <= t_high)).mean()),
        "plain percentiles": float(((raw[:, 0] <= truth) & (truth <= raw[:, 1])).mean()),
    }


def _averages(P: int, K: int, which: str) -> Any:
    if which == "model":
        return np.full((1, P, K), 1 / (P * K))
    if which == "label":
        return np.eye(P)[:, :, None] * np.full(K, 1 / K)
    if which == "configuration":
        return np.eye(K)[:, None, :] * np.full((P, 1), 1 / P)
    return np.eye(P * K).reshape(-1, P, K)


def _study(seed: int, which: str, lost: float = 0.0, **settings: Any) -> dict[str, float]:
    s = simulate(
        seed,
        persona=np.linspace(-0.05, 0.05, 6),
        configuration=np.linspace(-0.08, 0.08, 12),
        question_sd=0.15,
        question_factor={1: 0.05},
        **settings,
    )
    P, K = s.accuracy.shape
    present = np.random.default_rng((seed, 9)).random(s.x[0].shape) >= lost if lost else None
    values = s.x[0] if present is None else s.x[0] & present
    a = _averages(P, K, which)
    found, _ = average_accuracies(values, present, s.units, a)
    return _covered(found, s.units, (a * s.accuracy).sum(axis=(1, 2)), seed)


def _unequal(seed: int, sizes: Sequence[int]) -> dict[str, float]:
    s = simulate(seed, questions=len(sizes), question_sd=0.2, personas=3)
    cluster = np.repeat(np.arange(len(sizes)), sizes)
    rng = np.random.default_rng((seed, 3))
    x = rng.random((*s.accuracy.shape, len(cluster))) < s.theta[:, :, cluster]
    units = Units.of(len(cluster), cluster)
    a = _averages(3, 12, "model")
    found, _ = average_accuracies(x, None, units, a)
    return _covered(found, units, (a * s.accuracy).sum(axis=(1, 2)), seed)


def _strata(seed: int) -> dict[str, float]:
    easy = simulate(seed, questions=60, personas=3, base=0.75, question_sd=0.05)
    hard = simulate(seed + 10**6, questions=60, personas=3, base=0.35, question_sd=0.05)
    x = np.concatenate([easy.x[0], hard.x[0]], axis=2)
    units = Units.of(120, stratum=np.repeat([0, 1], 60))
    a = _averages(3, 12, "model")
    found, _ = average_accuracies(x, None, units, a)
    truth = (a * (easy.accuracy + hard.accuracy) / 2).sum(axis=(1, 2))
    return _covered(found, units, truth, seed)


def _row(name: str, study: Callable[[int], dict[str, float]], claim: Claim = "nominal") -> Row:
    claims: dict[str, Claim] = {"interval": claim, "t": claim, "plain percentiles": "tabulated"}
    return Row("accuracy", name, "coverage", claims, study)


ROWS: list[Row] = [
    _row("labels, 300 questions", partial(_study, which="label")),
    _row("configurations, 300 questions", partial(_study, which="configuration")),
    _row("cells, 300 questions", partial(_study, which="cell")),
    _row("model, 100 clusters of 3", partial(_study, which="model", cluster_size=3)),
    _row("model, 5% of answers missing", partial(_study, which="model", lost=0.05)),
    _row("model, 20 clusters of 3", partial(_study, which="model", questions=60, cluster_size=3)),
    _row("model, 10 questions", partial(_study, which="model", questions=10)),
    _row("cells, 20 questions", partial(_study, which="cell", questions=20), "tabulated"),
    _row("two strata of 60, far apart", _strata),
    _row("clusters of 1 to 10 questions, 40", partial(_unequal, sizes=list(range(1, 11)) * 4)),
    _row(
        "100 questions alone and 3 clusters of 15",
        partial(_unequal, sizes=[1] * 100 + [15] * 3),
        "conservative",
    ),
    _row("20 clusters, four hold half", partial(_unequal, sizes=[12] * 4 + [3] * 16), "tabulated"),
]
