"""Differences between models, domains and factors: coverage, and rejections without any."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial
from typing import Any

import numpy as np

from benchmarks.coverage.rows import Claim, Row
from benchmarks.coverage.studies import Simulated, simulate
from nongrata.analysis.estimate_rows import Metric
from nongrata.analysis.measured import Cells, measured, spread_over
from nongrata.stats.influence import stacked
from nongrata.stats.paired_comparison import Differences, against_others, all_pairs
from nongrata.stats.sensitivity import sensitivity
from nongrata.stats.settings import all_together, one_factor_settings
from nongrata.stats.units import Units

METRICS: tuple[Metric, ...] = ("accuracy", "squared_difference", "ia_excess", "iq_of_two")
DOMAIN: tuple[Metric, ...] = ("accuracy", "squared_difference", "ia_at_size", "iq_of_two")
SLOPE = np.linspace(-0.08, 0.08, 12)
FLAT = np.zeros(12)


def _cells(x: Any, units: Units) -> Cells:
    return Cells(x.astype(np.float32), None, ((x, None),), units)


def _squared(accuracy: Any, scope: Sequence[Any]) -> float:
    """True mean squared difference over pairs within each set, as a share."""
    found = []
    for group in scope:
        D = accuracy[:, group][:, :, None] - accuracy[:, group][:, None, :]
        found.append((D**2).sum() / (len(accuracy) * len(group) * (len(group) - 1)))
    return float(np.mean(found))


def _models(seed: int, slopes: Sequence[Any], shifts: Sequence[float], **settings: Any) -> Any:
    """Models on the same questions: personas 0 - 2 are the first model's, and so on."""
    M = len(slopes)
    cell = np.repeat(np.stack(slopes) + np.array(shifts)[:, None], 3, axis=0)
    s = simulate(seed, personas=3 * M, cell=cell, question_sd=0.15, question_cell=0.05, **settings)
    parts = [
        measured(_cells(s.x[0][3 * m : 3 * m + 3], s.units), [all_together(12)], METRICS)
        for m in range(M)
    ]
    truth = {
        "accuracy": np.array([s.accuracy[3 * m : 3 * m + 3].mean() for m in range(M)]),
        "squared_difference": np.array(
            [_squared(s.accuracy[3 * m : 3 * m + 3], all_together(12)) for m in range(M)]
        ),
    }
    return {k: stacked(*(part[k] for part in parts)) for k in METRICS}, truth


def _model_coverage(seed: int, **settings: Any) -> dict[str, float]:
    found, truth = _models(seed, (SLOPE, FLAT, 0.5 * SLOPE), (0.05, 0.0, -0.03), **settings)
    out = {}
    for metric, true in truth.items():
        pairs = all_pairs(found[metric], joint=True, seed=seed)
        apart = true[pairs.first] - true[pairs.second]
        one, joint = _holds(pairs, apart)
        out[metric], out[f"{metric}, joint"] = float(one.mean()), float(joint.all())
    return out


def _holds(pairs: Differences, truth: Any) -> tuple[Any, Any]:
    one = (pairs.low <= truth) & (truth <= pairs.high)
    return one, (pairs.joint_low <= truth) & (truth <= pairs.joint_high)


def _any(pairs: Differences) -> float:
    return float((pairs.p_holm <= 0.05).any())


def _model_null(seed: int, slope: Any, **settings: Any) -> dict[str, float]:
    found, _ = _models(seed, (slope,) * 3, (0.0,) * 3, **settings)
    return {str(k): _any(all_pairs(v)) for k, v in found.items()}


def _domains(
    seed: int, sizes: Sequence[int], slopes: Sequence[Any], bases: Sequence[float], **settings: Any
) -> Any:
    parts, drawn = [], []
    for d, (size, slope, base) in enumerate(zip(sizes, slopes, bases, strict=True)):
        drawn.append(_domain(1000 * seed + d, size, slope, base, **settings))
    start, G, Q = 0, 0, sum(sizes)
    cluster = []
    for s in drawn:
        cluster.append(s.units.cluster + G)
        G += len(s.units)
    units = Units.of(Q, np.concatenate(cluster))
    least = min(len(s.units) for s in drawn)
    for s in drawn:
        where = np.arange(start, start + s.units.questions)
        start += s.units.questions
        own = measured(
            _cells(s.x[0], s.units), [all_together(12)], DOMAIN, clusters=least, sharp=True
        )
        parts.append(spread_over(own, units, where))
    return {k: stacked(*(part[k] for part in parts)) for k in DOMAIN}, drawn


def _domain(seed: int, size: int, slope: Any, base: float, **settings: Any) -> Simulated:
    return simulate(
        seed, questions=size, personas=3, base=base, configuration=slope, question_sd=0.15,
        question_cell=0.05, **settings,
    )  # fmt: skip


@cache
def _true_iq(slope: tuple[float, ...], base: float) -> float:
    s = _domain(10**9, 40_000, np.array(slope), base)
    own = measured(_cells(s.x[0], s.units), [all_together(12)], ("iq_of_two",))
    return float(own["iq_of_two"].value[0])


def _domain_coverage(seed: int, sizes: Sequence[int], **settings: Any) -> dict[str, float]:
    slopes, bases = (SLOPE, FLAT, 0.5 * SLOPE), (0.5, 0.6, 0.45)
    found, drawn = _domains(seed, sizes, slopes, bases, **settings)
    truth = {
        "accuracy": np.array([s.accuracy.mean() for s in drawn]),
        "squared_difference": np.array([_squared(s.accuracy, all_together(12)) for s in drawn]),
    }
    if not settings:
        truth["iq_of_two"] = np.array(
            [_true_iq(tuple(slope), base) for slope, base in zip(slopes, bases, strict=True)]
        )
    out = {}
    for metric, true in truth.items():
        low, high = found[metric].t_interval()
        out[f"{metric}, one"] = float(((low <= true) & (true <= high)).mean())
        pairs = all_pairs(found[metric])
        apart = true[pairs.first] - true[pairs.second]
        out[f"{metric}, difference"] = float(_holds(pairs, apart)[0].mean())
    return out


def _domain_null(seed: int, sizes: Sequence[int], slope: Any, **settings: Any) -> dict[str, float]:
    n = len(sizes)
    found, _ = _domains(seed, sizes, (slope,) * n, (0.5,) * n, **settings)
    out = {f"{k}, pairs": _any(all_pairs(v)) for k, v in found.items()}
    return out | {f"{k}, others": _any(against_others(v)) for k, v in found.items()}


def _factors(seed: int, effects: Sequence[float], **settings: Any) -> Any:
    shape = (2, 2, 3)
    levels = np.array(list(np.ndindex(*shape)))
    slope = sum(
        e * (levels[:, f] - (n - 1) / 2) / (n - 1)
        for f, (e, n) in enumerate(zip(effects, shape, strict=True))
    )
    s = simulate(seed, personas=4, configuration=slope, question_sd=0.15, **settings)
    scopes = [one_factor_settings(s.levels, f) for f in range(3)]
    wanted: tuple[Metric, ...] = ("squared_difference", "iq_of_two")
    truth = np.array([_squared(s.accuracy, scope) for scope in scopes])
    return measured(_cells(s.x[0], s.units), scopes, wanted), truth


def _factor_coverage(seed: int, **settings: Any) -> dict[str, float]:
    found, true = _factors(seed, (0.15, 0.08, 0.0), question_factor={0: 0.05}, **settings)
    low, high = found["squared_difference"].t_interval()
    pairs = all_pairs(found["squared_difference"])
    return {
        "squared_difference, one": float(((low <= true) & (true <= high)).mean()),
        "squared_difference, difference": float(
            _holds(pairs, true[pairs.first] - true[pairs.second])[0].mean()
        ),
    }


def _factor_null(seed: int, **settings: Any) -> dict[str, float]:
    found, _ = _factors(seed, (0.0, 0.0, 0.0), question_cell=0.05, **settings)
    return {str(k): _any(all_pairs(v)) for k, v in found.items()}


def _which_interval(seed: int, reach: float, **settings: Any) -> dict[str, float]:
    """Four intervals for one mean squared difference; `reach` is half the range of accuracies."""
    s = simulate(
        seed, personas=3, configuration=reach * np.linspace(-1, 1, 12), question_sd=0.15,
        question_cell=0.05, **settings,
    )  # fmt: skip
    x, units, scopes = s.x[0], s.units, [all_together(12)]
    true = _squared(s.accuracy, scopes[0])
    weights = units.bootstrap_weights(400, seed)
    a = (weights @ units.totals(x).reshape(36, -1).T / units.questions).reshape(-1, 3, 12)
    again = 2.0 * a.var(axis=2, ddof=1).mean(axis=1)  # the mean of D^2 over pairs
    plain, sharp = (
        sensitivity(x, None, units, scopes, sharp=on).mean_squared for on in (False, True)
    )
    value = float(plain.value[0])
    ends = {
        "percentiles": tuple(np.quantile(again, [0.025, 0.975])),
        "1.96 bootstrap sd": (value - 1.96 * again.std(), value + 1.96 * again.std()),
        "influence, t": tuple(float(end[0]) for end in plain.t_interval()),
        "influence, sharp, t": tuple(float(end[0]) for end in sharp.t_interval()),
    }
    return {name: float(low <= true <= high) for name, (low, high) in ends.items()}


def _claims(*names: str, loose: str = "conservative") -> dict[str, Claim]:
    """Nominal for accuracy and IQ, `loose` for figures whose standard error is too large near 0."""
    out: dict[str, Claim] = {}
    for name in names:
        exact = name.startswith(("accuracy", "iq_of_two"))
        out[name] = "nominal" if exact else loose  # type: ignore[assignment]
    return out


def _coverage(name: str, study: Any, *names: str, **loose: str) -> Row:
    return Row("comparisons", name, "coverage", _claims(*names, **loose), study)


def _null(name: str, study: Any, *names: str) -> Row:
    claim: dict[str, Claim] = dict.fromkeys(names, "conservative")
    return Row("comparisons", name, "rejection", claim, study)


_PAIRS = ("accuracy", "accuracy, joint", "squared_difference", "squared_difference, joint")
_EACH = tuple(
    f"{m}, {what}"
    for m in ("accuracy", "squared_difference", "iq_of_two")
    for what in ("one", "difference")
)
_TESTS = tuple(f"{m}, {what}" for what in ("pairs", "others") for m in DOMAIN)
_FACTOR = ("squared_difference, one", "squared_difference, difference")

_INTERVALS = ("percentiles", "1.96 bootstrap sd", "influence, t", "influence, sharp, t")

ROWS: list[Row] = [
    _coverage("three models, 150 questions", partial(_model_coverage, questions=150), *_PAIRS),
    _coverage(
        "three models, 50 clusters of 3",
        partial(_model_coverage, questions=150, cluster_size=3), *_PAIRS,
    ),
    _null(
        "three models alike, no effect of configurations",
        partial(_model_null, slope=FLAT, questions=150), *METRICS,
    ),
    _null(
        "three models alike, configurations matter",
        partial(_model_null, slope=SLOPE, questions=150), *METRICS,
    ),
    _coverage(
        "domains of 25, 60 and 150 questions",
        partial(_domain_coverage, sizes=(25, 60, 150)), *_EACH, loose="tabulated",
    ),
    _coverage(
        "domains of 25, 40 and 50 clusters of 3",
        partial(_domain_coverage, sizes=(75, 120, 150), cluster_size=3), *_EACH[:4],
        loose="tabulated",
    ),
    _null(
        "8 domains of 20 to 100 questions alike, no effect of configurations",
        partial(_domain_null, sizes=(20, 25, 30, 40, 50, 60, 80, 100), slope=FLAT), *_TESTS,
    ),
    _null(
        "8 domains of 20 to 100 questions alike, configurations matter",
        partial(_domain_null, sizes=(20, 25, 30, 40, 50, 60, 80, 100), slope=SLOPE), *_TESTS,
    ),
    _coverage("factors that differ, 150 questions", partial(_factor_coverage, questions=150),
              *_FACTOR),
    _coverage(
        "factors that differ, 50 clusters of 3",
        partial(_factor_coverage, questions=150, cluster_size=3), *_FACTOR,
    ),
    _null(
        "factors without effect, 150 questions",
        partial(_factor_null, questions=150), "squared_difference", "iq_of_two",
    ),
    *(
        Row(
            "comparisons", f"which interval for a squared difference: {words}", "coverage",
            dict.fromkeys(_INTERVALS, "tabulated"), partial(_which_interval, reach=reach, **size),
        )
        for words, reach, size in (
            ("no effect, 150 questions", 0.0, {"questions": 150}),
            ("4 points, 150 questions", 0.02, {"questions": 150}),
            ("10 points, 150 questions", 0.05, {"questions": 150}),
            ("20 points, 150 questions", 0.1, {"questions": 150}),
            ("no effect, 50 clusters of 3", 0.0, {"questions": 150, "cluster_size": 3}),
            ("20 points, 50 clusters of 3", 0.1, {"questions": 150, "cluster_size": 3}),
        )
    ),
]  # fmt: skip
