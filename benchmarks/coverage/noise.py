"""Tests of IA and IQ under both null hypotheses; coverage of excess, squared difference, IQ."""

from __future__ import annotations

from functools import cache
from math import erf, exp, pi, sqrt
from typing import Any

import numpy as np

from benchmarks.coverage.rows import Claim, Row
from benchmarks.coverage.studies import Simulated, simulate
from nongrata.stats.ia_floors import (
    equal_accuracy_floor,
    exchangeability_floor_of,
    mean_over_pairs,
    pairs_within,
)
from nongrata.stats.ia_pairs import pair_differences_of, residuals
from nongrata.stats.ia_tests import (
    cochran_q,
    cochran_q_together,
    equal_accuracy_p,
    exchange_covariance,
    exchangeability_p,
    mean_absolute_difference,
)
from nongrata.stats.iq_rarefaction import (
    bootstrap_curve,
    instability,
    interval,
    iq_curve,
    sizes_at,
)
from nongrata.stats.iq_same_configuration import same_configuration_sizes
from nongrata.stats.iq_tests import factor_contrasts
from nongrata.stats.settings import one_factor_settings
from nongrata.stats.squared_difference import squared_differences

DRAWS = 400


def _rejections(
    study: Simulated, seed: int, *, exchange: bool, factors: tuple[int, ...] = ()
) -> dict[str, float]:
    """Every test of IA over all configurations, and of the factors named."""
    x, units = study.x[0], study.units
    P, K, _ = x.shape
    r = residuals(x, None, units)
    weights = units.bootstrap_weights(DRAWS, (seed, 1))
    totals = np.asarray(units.totals(x), dtype=np.float32)
    accuracy = totals.sum(axis=2) / units.questions
    shifted = (weights @ totals.reshape(P * K, -1).T / units.questions).reshape(-1, P, K) - accuracy
    out: dict[str, float] = {}
    everything = np.arange(K)[None]
    levels = [np.array(one_factor_settings(study.levels, f)) for f in range(study.levels.shape[1])]
    for name, groups in [("", everything), *((f" factor {f + 1}", levels[f]) for f in factors)]:
        rows = r[:, groups]
        rows = (rows - rows.mean(axis=2, keepdims=True)).reshape(-1, *rows.shape[2:])
        if exchange or name:
            C = exchange_covariance(rows)
            out["IA, exchange" + name] = exchangeability_p(rows, C, DRAWS, (seed, 2)) <= 0.05
            out["Cochran, together" + name] = cochran_q_together(rows, C).p <= 0.05
        observed = float(mean_absolute_difference(accuracy[None][:, :, groups])[0])
        p = equal_accuracy_p(observed, shifted[:, :, groups])
        out["IA, equal accuracy" + name] = p <= 0.05
    if exchange:
        out["Cochran, one persona"] = float(np.mean([c.p <= 0.05 for c in cochran_q(r)]))
        for f, contrast in enumerate(factor_contrasts(x, None, units, levels, 100, (seed, 3))):
            out[f"IQ contrast, factor {f + 1}"] = contrast.p <= 0.05
    return {name: float(value) for name, value in out.items()}


def _null(
    name: str,
    claims: dict[str, Claim],
    *,
    exchange: bool,
    factors: tuple[int, ...] = (),
    **design: Any,
) -> Row:
    def study(seed: int) -> dict[str, float]:
        return _rejections(simulate(seed, **design), seed, exchange=exchange, factors=factors)

    return Row("noise", name, "rejection", claims, study)


def _effects(K: int, size: float) -> Any:
    """Accuracies of configurations, shares, with sd `size`."""
    c = np.linspace(-1, 1, K)
    return size * c / c.std()


@cache
def _truth(
    K: int, questions: int, cluster: int, size: float, base: float, sds: tuple[float, ...]
) -> tuple[float, float, float]:
    """Excess over both floors and mean squared difference, in points, in closed form.

    d of a pair has the variance of the interactions and of the draws; E|D| is folded normal.
    """
    qsd, qcell = sds
    means = base + _effects(K, size)
    drawn = means * (1 - means) - qsd**2 - qcell**2
    n, G = cluster, questions // cluster
    per = n * n * qcell**2 + n * drawn
    total, equal, square = 0.0, 0.0, 0.0
    pairs = [(i, j) for i in range(K) for j in range(i)]
    for i, j in pairs:
        mu, s = means[i] - means[j], sqrt(G * (per[i] + per[j])) / questions
        total += s * sqrt(2 / pi) * exp(-0.5 * (mu / s) ** 2) + mu * erf(mu / s / sqrt(2))
        equal += s * sqrt(2 / pi)
        square += mu**2
    v = G * (n * n * (means.var() + (K - 1) / K * qcell**2) + n * (K - 1) / K * drawn.mean())
    exchange = 2 * sqrt(K * v / (pi * (K - 1))) / questions
    m = len(pairs)
    return 100 * (total / m - exchange), 100 * (total / m - equal / m), 1e4 * square / m


def _estimates(name: str, *, K: int, size: float, cluster: int = 1, questions: int = 200) -> Row:
    qsd, qcell = 0.12, 0.05

    def study(seed: int) -> dict[str, float]:
        s = simulate(
            seed, questions=questions, cluster_size=cluster, factors=(K,), personas=5, base=0.5,
            configuration=_effects(K, size), question_sd=qsd, question_cell=qcell,
        )  # fmt: skip
        x, units = s.x[0], s.units
        P = len(x)
        r = residuals(x, None, units)
        pairs, weights = pair_differences_of(r, units), pairs_within(K, None)
        ia = 100 * mean_over_pairs(np.abs(pairs.difference), weights)
        exchange = exchangeability_floor_of(np.diag(exchange_covariance(r)), units.questions)
        equal = equal_accuracy_floor(pairs, weights)
        totals = np.asarray(units.totals(x), dtype=np.float32).reshape(P * K, -1)
        w = units.bootstrap_weights(DRAWS, (seed, 1))
        again = (w @ totals.T / units.questions).reshape(-1, P, K)
        se = 100 * float(mean_absolute_difference(again).std(ddof=1))
        (squared,) = squared_differences(r, units, [np.arange(K)[None]])
        truth = _truth(K, questions, cluster, size, 0.5, (qsd, qcell))
        found = {
            "over exchangeability": (ia - exchange.value, se),
            "over equal accuracy": (ia - equal.value, se),
            "squared difference": (squared.value, squared.se),
        }
        return {
            what: float(abs(value - true) <= 1.96 * error)
            for (what, (value, error)), true in zip(found.items(), truth, strict=True)
        }

    claim: dict[str, Claim] = dict.fromkeys(
        ("over exchangeability", "over equal accuracy", "squared difference"), "tabulated"
    )
    return Row("noise", name, "coverage", claim, study)


_IQ_DESIGN: dict[str, Any] = {
    "factors": (2, 2, 3), "personas": 4, "base": 0.55, "question_sd": 0.17,
    "question_factor": {1: 0.05}, "configuration": _effects(12, 0.02),
}  # fmt: skip


@cache
def _iq_truth() -> tuple[Any, float]:
    """IQ(m) and the excess of IQ(2) in the population of questions, from 40,000 of them."""
    big = simulate(987_654_321, questions=40_000, **_IQ_DESIGN)
    curve, _ = bootstrap_curve(big.theta, None, big.units, np.ones((1, 40_000), np.float32))
    every = [np.arange(12)]
    same = same_configuration_sizes(big.theta, None, None, big.units, every, [2])
    return curve, float(curve[1] - instability(same, 40_000).value[0])


def _iq(name: str, *, cluster: int, questions: int, replicates: int) -> Row:
    def study(seed: int) -> dict[str, float]:
        from scipy.special import stdtrit

        s = simulate(
            seed, questions=questions, cluster_size=cluster, replicates=replicates, **_IQ_DESIGN
        )
        truth, over = _iq_truth()
        w = s.units.bootstrap_weights(DRAWS, (seed, 1))
        x = np.concatenate(s.x)
        _, again = bootstrap_curve(x, None, s.units, w)
        low, high = np.percentile(again, (2.5, 97.5), axis=0)
        curve = iq_curve(x, None, s.units)
        width = float(stdtrit(s.units.degrees_of_freedom, 0.975))
        every, right, out = [np.arange(12)], s.x.sum(axis=0), {}
        errors = np.sqrt(s.units.variance_of_total_mean(curve.influence))
        for m in (2, 4, 12):
            true = truth[m - 1]
            out[f"IQ({m}), percentiles"] = float(low[m - 1] <= true <= high[m - 1])
            ends = interval(float(curve.value[m - 1]), float(errors[m - 1]), width)
            out[f"IQ({m})"] = float(ends[0] <= true <= ends[1])
        own = instability(sizes_at(x, None, s.units, every, [2]), questions)
        same = instability(
            same_configuration_sizes(
                None, right, np.full(right.shape, replicates), s.units, every, [2]
            ),
            questions,
        )
        se = float(s.units.variance_of_total_mean(own.influence - same.influence)[0]) ** 0.5
        out["excess of IQ(2)"] = float(abs(own.value[0] - same.value[0] - over) <= width * se)
        return out

    claim: dict[str, Claim] = dict.fromkeys(("IQ(2)", "IQ(4)", "IQ(12)"), "nominal")
    claim |= {f"IQ({m}), percentiles": "tabulated" for m in (2, 4, 12)}
    if cluster > 1:
        claim["IQ(12)"] = "tabulated"  # .937 of 3,000 further studies: few clusters, m = K
    return Row("noise", name, "coverage", claim | {"excess of IQ(2)": "nominal"}, study)


_EXCHANGE: dict[str, Claim] = {
    "IA, exchange": "nominal",
    "IA, equal accuracy": "conservative",
    "Cochran, together": "nominal",
    "Cochran, one persona": "nominal",
    "IQ contrast, factor 1": "nominal",
    "IQ contrast, factor 2": "nominal",
    "IQ contrast, factor 3": "nominal",
}


# literal exchanges of few questions: the p values are coarse, and two-sided ones are doubled
_SMALL: dict[str, Claim] = dict.fromkeys(
    (f"IQ contrast, factor {f}" for f in (1, 2, 3)), "conservative"
)


def _of_factor(*factors: int) -> dict[str, Claim]:
    out: dict[str, Claim] = {}
    for f in factors:
        out[f"IA, exchange factor {f}"] = "nominal"
        out[f"Cochran, together factor {f}"] = "nominal"
        out[f"IA, equal accuracy factor {f}"] = "conservative"
    return out


ROWS: list[Row] = [
    _null(
        "null: exchangeable, questions x personas", _EXCHANGE | _of_factor(1, 3),
        exchange=True, factors=(0, 2), questions=150, question_sd=0.15, question_persona=0.1,
    ),
    _null(
        "null: exchangeable, clusters of 3, 50 of them", _EXCHANGE | _of_factor(1, 3),
        exchange=True, factors=(0, 2), questions=150, cluster_size=3, question_sd=0.15,
        question_persona=0.1,
    ),
    _null(
        "null: exchangeable, 30 questions", _EXCHANGE | _of_factor(1, 3) | _SMALL,
        exchange=True, factors=(0, 2), questions=30, question_sd=0.15, question_persona=0.1,
    ),
    _null(
        "null: equal accuracy, blocks question x factor 1",
        {"IA, equal accuracy": "conservative"} | _of_factor(3),
        exchange=False, factors=(2,), questions=150, question_sd=0.1, question_factor={0: 0.15},
    ),
    _null(
        "null: equal accuracy, blocks of all factors, clusters of 3",
        {"IA, equal accuracy": "conservative"},
        exchange=False, questions=180, cluster_size=3, question_sd=0.05,
        question_factor={0: 0.09, 1: 0.09, 2: 0.05},
    ),
    *(
        _estimates(f"{K} configurations, effect sd {100 * size:g} points", K=K, size=size)
        for K in (3, 12)
        for size in (0.0, 0.02, 0.05, 0.1)
    ),
    _estimates("12 configurations, sd 5 points, clusters of 4", K=12, size=0.05, cluster=4),
    _iq("IQ: 150 questions, 2 replicates", cluster=1, questions=150, replicates=2),
    _iq("IQ: 240 questions in clusters of 3, 3 replicates", cluster=3, questions=240, replicates=3),
]  # fmt: skip
