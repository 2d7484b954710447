"""Orders of factors and of domains: by accuracy, squared differences, and IQ(2) excess.

A domain is compared with the mean of the other domains. Its accuracy is a conclusion in each
configuration; the two measures of sensitivity are summaries over configurations, so that such an
order is established or undecided.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nongrata.conclusions.cells import HALVES, Cells, mean_covariance, whole_splits
from nongrata.conclusions.draft import NOTHING_VARIED, Draft
from nongrata.conclusions.effects import NO_DIRECTION
from nongrata.conclusions.labels import ONE_CLUSTER, held_out_figure
from nongrata.conclusions.model import Family, Metric
from nongrata.conclusions.question_sets import question_sets
from nongrata.conclusions.squared_differences import (
    mean_squared_difference,
    mean_squared_noise,
    spread,
    usable,
)
from nongrata.stats.accuracy import Bools, Floats
from nongrata.stats.figure import Figure
from nongrata.stats.settings import all_together, one_factor_settings
from nongrata.stats.units import Units
from nongrata.stats.verdicts import judge
from nongrata.wording import say

DOMAIN_DRAWS = 300
"""Resamples behind a standard deviation of a domain's squared difference."""

OTHERS = say("the other domains")


@dataclass(frozen=True)
class Sized:
    """An estimate with what resamples make of it (standard deviation alone where drawn apart)."""

    value: float
    sd: float


def compared(
    family: Family,
    names: tuple[str, str],
    verb: str,
    metric: Metric,
    unit: str,
    value: float,
    sd: float,
    df: int,
    configurations: int,
    reason: str = "",
) -> Draft:
    """One order by a summary over configurations: the difference over its standard deviation.

    Parameters
    ----------
    names
        What is compared, `value` being the first less the second.
    verb
        The statement, with ``{first}`` and ``{second}``.
    """
    from scipy.special import stdtr

    first, second = names if value >= 0 else names[::-1]
    bad = reason or (ONE_CLUSTER if df < 1 else "")
    if not bad and (math.isnan(value) or math.isnan(sd)):
        bad = "too few questions are shared"
    p = math.nan
    if not bad:
        size = abs(value)
        p = min(2 * float(stdtr(df, -size / sd)), 1.0) if sd > 1e-12 else 1.0
    margin = 1.96 * sd
    size_known = not bad
    return Draft(
        family=family,
        subject=first,
        rival=second,
        statement=say(verb, first=first, second=second),
        metric=metric,
        unit=unit,
        estimate=Figure(abs(value)) if size_known else Figure.undefined(bad),
        low=Figure(abs(value) - margin) if size_known else Figure.undefined(bad),
        high=Figure(abs(value) + margin) if size_known else Figure.undefined(bad),
        share=Figure.undefined(bad or NO_DIRECTION),
        held_out=Figure.undefined(bad or NO_DIRECTION),
        claim="established",
        p=p,
        configurations=configurations,
        reason=bad,
    )


def factor_drafts(cells: Cells) -> list[Draft]:
    """Which factor moves accuracy more: every pair of factors."""
    kept = []
    for f, factor in enumerate(cells.data.cube.factors):
        settings = usable(one_factor_settings(cells.levels, f))
        if settings and len(cells.personas):
            noise = mean_squared_noise(cells.across, settings)
            value = float(mean_squared_difference(cells.accuracy, settings)) - noise
            drawn = mean_squared_difference(np.asarray(cells.bootstrap), settings)
            kept.append((factor, 1e4 * value, 1e4 * drawn))
    out = []
    for i, (first, a, drawn_a) in enumerate(kept):
        for second, b, drawn_b in kept[i + 1 :]:
            out.append(
                compared(
                    "orders",
                    (first, second),
                    "{first} moves accuracy more than {second}",
                    "squared difference of accuracy",
                    "points^2",
                    a - b,
                    spread(drawn_a - drawn_b),
                    cells.units.degrees_of_freedom,
                    len(cells.configurations),
                )
            )
    return out


def domain_drafts(cells: Cells, rankable: bool) -> list[Draft]:
    """Each domain against the mean of the others, by three metrics."""
    data, domains = cells.data, cells.data.cube.domains
    K = len(cells.configurations)
    if len(domains) < 2 or not K or not len(cells.personas):
        return []
    mean, shared = _label_mean(cells)
    where = [shared & (data.cube.domain == d) for d in domains]
    if not all(w.any(axis=1).all() for w in where):
        return []
    out = _by_accuracy(cells, list(domains), mean, where, rankable)
    squares = [_squared(cells, np.flatnonzero(data.cube.domain == d)) for d in domains]
    sets = [
        question_sets(
            data, cells.personas, cells.configurations,
            np.flatnonzero(data.cube.domain == d), DOMAIN_DRAWS,
        )
        for d in domains
    ]  # fmt: skip
    reason = next((s.reason for s in sets if s.reason), "")
    excess = [Sized(s.excess, spread(s.drawn)) for s in sets]
    verb = "accuracy on {first} moves more with the configuration than on {second}"
    metric: Metric = "squared difference of accuracy"
    out += _against_others(cells, domains, squares, verb, metric, "points^2", "")
    if not reason:
        verb = (
            "the set of right questions changes more with the configuration in {first} than in "
            "{second}"
        )
        out += _against_others(cells, domains, excess, verb, "IQ(2) excess", "per cent", "")
    return out


def _against_others(
    cells: Cells,
    domains: tuple[str, ...],
    found: list[Sized],
    verb: str,
    metric: Metric,
    unit: str,
    reason: str,
) -> list[Draft]:
    """Domains have no question in common, so their errors add up."""
    if len(cells.configurations) < 2:
        reason = NOTHING_VARIED
    n = len(domains) - 1
    out = []
    for d, name in enumerate(domains):
        rest = [s for e, s in enumerate(found) if e != d]
        value = found[d].value - sum(s.value for s in rest) / n
        sd = math.sqrt(found[d].sd ** 2 + sum(s.sd**2 for s in rest) / n**2)
        out.append(
            compared(
                "orders", (name, OTHERS), verb, metric, unit, value, sd,
                cells.units.degrees_of_freedom, len(cells.configurations), reason,
            )
        )  # fmt: skip
        if len(domains) == 2:
            break
    return out


def _label_mean(cells: Cells) -> tuple[NDArray[np.float32], Bools]:
    """Mean over labels of every answer, and where all labels have one, both (K, Q)."""
    data = cells.data
    total = np.zeros((len(cells.configurations), data.units.questions), np.float32)
    shared = np.ones(total.shape, dtype=np.bool_)
    for p in cells.personas:
        total += data.value[p, cells.configurations]
        if not data.complete:
            shared &= data.present[p, cells.configurations]
    return np.where(shared, total / len(cells.personas), np.float32(0)), shared


def _by_accuracy(
    cells: Cells,
    domains: list[str],
    mean: NDArray[np.float32],
    where: list[Bools],
    rankable: bool,
) -> list[Draft]:
    from scipy.special import stdtrit

    units, resampling = cells.units, cells.data.resampling
    totals = [np.asarray(units.totals(mean * w), np.float64) for w in where]
    counts = [np.asarray(units.totals(w), np.float64) for w in where]
    a = np.stack([t.sum(axis=1) / n.sum(axis=1) for t, n in zip(totals, counts, strict=True)])
    residuals = np.stack(
        [
            (t - a[d][:, None] * n) * (units.questions / n.sum(axis=1))[:, None]
            for d, (t, n) in enumerate(zip(totals, counts, strict=True))
        ]
    )
    first = units.halves(resampling.splits, (resampling.seed, HALVES)).astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        one = np.stack([(first @ t.T) / (first @ n.T) for t, n in zip(totals, counts, strict=True)])
        two = np.stack(
            [((1 - first) @ t.T) / ((1 - first) @ n.T) for t, n in zip(totals, counts, strict=True)]
        )
    n, df, out = len(domains) - 1, units.degrees_of_freedom, []
    contrast = (np.eye(n + 1) * (n + 1) - 1) / n
    estimates = contrast @ a
    rows = np.einsum("de,ekg->dkg", contrast, residuals)
    se = np.sqrt(units.variance_of_total_mean(rows))
    pooled = np.sqrt(units.variance_of_total_mean(rows.mean(axis=1)))
    judged = judge(estimates, se, df, len(units))
    halves = [np.einsum("de,esk->dsk", contrast, h) for h in (one, two)]
    reason = ONE_CLUSTER if df < 1 else NOTHING_VARIED if a.shape[1] < 2 else ""
    for d, name in enumerate(domains):
        if n == 1 and d:
            break
        sign = judged.direction[d]
        value = 100 * float(estimates[d].mean())
        margin = 100 * float(pooled[d]) * float(stdtrit(max(df, 1), 0.975))
        held = agreement_of_halves(*(h[d] for h in halves))
        template = (
            "questions of {domain} are answered more accurately than of {rival}"
            if sign > 0
            else "questions of {domain} are answered less accurately than of {rival}"
        )
        rival = OTHERS if n > 1 else domains[1]
        none = Figure.undefined(ONE_CLUSTER)
        out.append(
            Draft(
                family="orders",
                subject=name,
                rival=rival,
                statement=say(template, domain=name, rival=rival),
                metric="accuracy",
                unit="points",
                estimate=Figure(value),
                low=Figure(value - margin) if df >= 1 else none,
                high=Figure(value + margin) if df >= 1 else none,
                share=Figure(100 * float(judged.share[d])),
                held_out=held_out_figure(held),
                claim="robust",
                p=float(judged.robust[d]),
                p_fragile=float(judged.fragile[d]),
                by_configuration=100 * estimates[d] * sign,
                p_here=judged.p[d],
                p_opposite=judged.opposite[d],
                names=cells.configuration_names,
                required=judged.required,
                configurations=a.shape[1],
                allowed=rankable,
                reason=reason,
            )
        )
    return out


def agreement_of_halves(first: Floats, second: Floats) -> float:
    """Share of one half's configurations with the direction of the other half, (S, K) each."""
    one, two = whole_splits(first, second)
    if not len(one):
        return math.nan
    return float(
        np.mean(
            [
                (np.sign(b) == np.sign(a.mean(axis=1))[:, None]).mean()
                for a, b in ((one, two), (two, one))
            ]
        )
    )


def _squared(cells: Cells, questions: NDArray[np.intp]) -> Sized:
    """V on the questions of one domain, and its standard deviation over resamples of them."""
    data = cells.data
    units = data.units.on(questions)
    totals, counts = _on(cells, questions, units)
    N = counts.sum(axis=1)
    settings = all_together(totals.shape[1])
    if totals.shape[1] < 2 or (N == 0).any():
        return Sized(math.nan, math.nan)
    a = totals.sum(axis=2, dtype=np.float64) / N
    left = totals - a.astype(np.float32)[:, :, None] * counts
    left *= (units.questions / N).astype(np.float32)[:, None]
    noise = mean_squared_noise(mean_covariance(left, units), settings)
    value = float(mean_squared_difference(a, settings)) - noise
    draws = min(DOMAIN_DRAWS, data.resampling.draws)
    weights = units.bootstrap_weights(draws, (data.resampling.seed, 42))
    P, K, G = totals.shape
    shift = (weights @ left.reshape(P * K, G).T).reshape(draws, P, K) / np.float32(units.questions)
    drawn = mean_squared_difference(a.astype(np.float32) + shift, settings)
    return Sized(1e4 * value, 1e4 * float(np.std(drawn)))


def _on(
    cells: Cells, questions: NDArray[np.intp], units: Units
) -> tuple[NDArray[np.float32], Floats]:
    data, personas, configurations = cells.data, cells.personas, cells.configurations
    if data.complete and units.singletons and data.units.singletons:
        counts = np.ones((len(configurations), len(questions)))
        return np.ascontiguousarray(cells.totals[:, :, questions]), counts
    shared = np.ones((len(configurations), len(questions)), dtype=np.bool_)
    for p in personas:
        shared &= data.present[p][np.ix_(configurations, questions)]
    rows = [
        units.totals(data.value[p][np.ix_(configurations, questions)] * shared) for p in personas
    ]
    return np.stack(rows).astype(np.float32), np.asarray(units.totals(shared), np.float64)
