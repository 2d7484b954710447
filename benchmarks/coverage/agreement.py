"""Agreement between configurations (S10): intervals of coefficients over questions."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from benchmarks.coverage.rows import Claim, Row
from benchmarks.coverage.studies import Simulated, simulate
from nongrata.stats.agreement import Terms, category_counts, coefficients, terms

DRAWS = 2000
SIZE = 3


def _terms(x: Any, present: Any = None) -> Terms:
    return terms(category_counts(x, 2, present), sizes=(SIZE,))


def _truth(study: Simulated, design: dict[str, Any]) -> dict[str, float]:
    """Mean over labels of the coefficients in the population of questions, in closed form.

    Two answers to a question are independent given their thetas, whose covariance over questions
    is that of the terms that two configurations share.
    """
    K = len(study.levels)
    shared = np.full((K, K), design.get("question_sd", 0.1) ** 2)
    for f, sd in design.get("question_factor", {}).items():
        shared += sd**2 * (study.levels[:, f, None] == study.levels[:, f])
    found = []
    for a in study.accuracy:
        both = (np.outer(a, a) + shared)[np.triu_indices(K, 1)].mean()
        pi = a.mean()
        raw = 2 * both + 1 - 2 * pi
        by_chance, gwet = pi**2 + (1 - pi) ** 2, 2 * pi * (1 - pi)
        found.append((raw, (raw - by_chance) / (1 - by_chance), (raw - gwet) / (1 - gwet)))
    return dict(zip(("raw", "fleiss", "gwet"), np.mean(found, axis=0).tolist(), strict=True))


def _study(seed: int, *, missing: float = 0.0, **design: Any) -> dict[str, float]:
    study = simulate(seed, **design)
    truth = _truth(study, design)
    x = study.x[0]
    rng = np.random.default_rng((seed, 3))
    present = rng.random(x.shape) >= missing if missing else None
    parts = _terms(x, present)
    weights = study.units.bootstrap_weights(DRAWS, (seed, 1))
    totals = np.asarray(study.units.totals(parts.rows), dtype=np.float32)
    P, F, G = totals.shape
    sums = (weights @ totals.reshape(-1, G).T).reshape(DRAWS, P, F)
    found = coefficients(sums, parts)
    out = {}
    for name, true in truth.items():
        low, high = np.percentile(found[name].mean(axis=1), [2.5, 97.5])
        out[name] = float(low <= true <= high)
    return out


def _row(name: str, kappa: Claim = "nominal", **design: Any) -> Row:
    claim: dict[str, Claim] = {"raw": "nominal", "fleiss": kappa, "gwet": "nominal"}
    return Row("agreement", name, "coverage", claim, partial(_study, **design))


ROWS: list[Row] = [
    _row("questions differ, kappa small", question_sd=0.15),
    _row("questions differ much, 100 questions", question_sd=0.28, questions=100),
    # kappa's estimate lies a little low here, .09 standard errors at 300 questions
    _row(
        "formats differ by question",
        "tabulated",
        question_sd=0.1,
        question_factor={0: 0.12, 2: 0.06},
    ),
    _row("clusters of 3", question_sd=0.2, cluster_size=3, questions=600),
    _row("high accuracy", base=0.85, question_sd=0.08),
    _row("a tenth of the answers missing", question_sd=0.2, missing=0.1),
]
