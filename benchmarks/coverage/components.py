"""Coverage of the intervals of variance components and of the generalizability coefficient."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from benchmarks.coverage.rows import Claim, Row
from benchmarks.coverage.studies import Simulated, simulate
from nongrata.stats.generalizability import decision, weighing
from nongrata.stats.question_components import (
    QUESTION,
    QuestionComponents,
    contributions,
    question_components,
)
from nongrata.stats.squared_effects import ratio_of_positive
from nongrata.stats.sums_of_squares import holding_fixed
from nongrata.stats.units import Units
from nongrata.stats.variance_components import Components, crossed_components

FACTORS = (2, 2, 3)
NAMES = ("format", "task", "heat")
PERSONAS = 6
DRAWS = 400
Z = 1.959963984540054


def estimated(study: Simulated, values: str) -> QuestionComponents:
    """Components from exact probabilities, from one draw, or from all replicates."""
    if values == "theta":
        x, u = study.theta, np.zeros(study.theta.shape)
    else:
        n = 1 if values == "draw" else len(study.x)
        x = study.x[:n].mean(axis=0)
        u = x * (1 - x) / (n - 1) if n > 1 else None
    C, units = x.shape[0] * x.shape[1], study.units
    y = contributions(units.totals(x.reshape(C, -1).astype(float)), units)
    noise = None
    if u is not None:
        weight = np.square(y.scale[0, 0])
        noise = units.totals(u.reshape(C, -1).mean(axis=0)) * weight
    weights = units.bootstrap_weights(DRAWS, 5)
    sizes = (PERSONAS, *FACTORS)
    return question_components(y, units, ("persona", *NAMES), sizes, weights, noise=noise)


def truth_of(study: Simulated, found: Components, q: Mapping[tuple[str, ...], float]) -> Any:
    """True components: of the cells from the true accuracies, with questions as simulated."""
    cells = crossed_components(study.accuracy.reshape(PERSONAS, *FACTORS), found.facets[:-1])
    out = np.zeros(len(found.variances))
    out[: len(cells.variances)] = np.nan_to_num(cells.variances)
    for effect, sd in q.items():
        out[found.number(*effect, QUESTION)] = sd**2
    return out


def covered(found: QuestionComponents, truth: Any) -> Any:
    """Estimate and 1.96 standard errors."""
    away = np.abs(found.components.variances - truth)
    return away <= Z * found.draws.std(axis=0, ddof=1)


def covered_as_given(found: QuestionComponents, truth: Any) -> Any:
    """The intervals of effects of the cells at the levels as given."""
    hit = np.zeros(len(truth), dtype=bool)
    for effect in found.components.effects:
        if QUESTION not in effect:
            low, high = found.as_given_interval(*effect)
            s = found.components.number(*effect)
            hit[s] = low - 1e-12 <= truth[s] <= high + 1e-12
    return hit


def tried(
    seed: int, values: str, q: Mapping[tuple[str, ...], float], **how: Any
) -> dict[str, float]:
    """Simulate a study and try all intervals, in groups of effects of one kind."""
    factor = {NAMES.index(e[0]): sd for e, sd in q.items() if len(e) == 1 and e[0] in NAMES}
    study = simulate(
        seed,
        factors=FACTORS,
        personas=PERSONAS,
        question_sd=q.get((), 0.0),
        question_persona=q.get(("persona",), 0.0),
        question_factor=factor,
        question_cell=q.get(("persona", *NAMES), 0.0),
        **how,
    )
    found = estimated(study, values)
    facets = found.components.facets
    truth = truth_of(study, found.components, q)
    held_truth = holding_fixed(truth, found.components.sizes, (1 << len(facets) - 1) - 1)
    hit, held_hit = covered(found, truth), covered_as_given(found, held_truth)
    half = len(truth) // 2
    s = np.arange(len(truth))
    cells, with_q = (s > 0) & (s < half), (s >= half) & (s < len(truth) - 1)
    no_effect = np.abs(held_truth) < 1e-12

    def mean(which: Any, of: Any = hit) -> float:
        return float(of[which].mean()) if which.any() else math.nan

    out = {
        "cells, null": mean(cells & no_effect & (np.abs(truth) < 1e-12)),
        "cells, levels as given, null": mean(cells & no_effect, held_hit),
        "cells": mean(cells & ~no_effect),
        "cells, levels as given": mean(cells & ~no_effect, held_hit),
        "questions, null": mean(with_q & (np.abs(truth) < 1e-12)),
        "questions": mean(with_q & (np.abs(truth) >= 1e-12)),
    }
    if values != "draw":
        out["all facets"] = float(hit[-1])
    now = decision(found.components, "persona", fixed=NAMES)
    w = weighing(found.components, "persona", {}, NAMES)
    error = np.nan_to_num(found.draws) @ w.relative
    if not found.components.confounded:
        error = error + found.noise_draws * w.relative[-1]
    ends = found.as_given_interval("persona")
    reach = Z * float(error.std(ddof=1))
    low, high = ratio_of_positive(
        (now.universe, *ends),
        (now.relative_error, now.relative_error - reach, now.relative_error + reach),
    )
    true_noise = 0.0
    if values != "theta":
        n = 1 if values == "draw" else len(study.x)
        size = study.units.questions / len(study.units)
        sd2 = sum(sd**2 for sd in q.values())
        a = study.accuracy
        true_noise = float((a * (1 - a) - sd2).mean()) / (n * size) * w.relative[-1]
    true_universe = float(w.universe @ truth)
    true_error = float(w.relative @ truth) + true_noise
    ratio = max(true_universe, 0.0) / true_error
    out["generalizability"] = math.nan if math.isnan(low) else float(low <= ratio <= high)
    return out


Q_ALL = {
    (): 0.08,
    ("persona",): 0.04,
    ("format",): 0.02,
    ("task",): 0.03,
    ("heat",): 0.02,
    ("persona", *NAMES): 0.04,
}
ABILITY = np.linspace(-0.03, 0.03, PERSONAS)
SHIFTS = (
    np.array([-0.02, 0.02])[:, None, None]
    + np.array([-0.015, 0.015])[None, :, None]
    + np.array([0.015, 0.0, -0.015])[None, None, :]
).ravel()
CELL = np.random.default_rng(1).uniform(-0.02, 0.02, (PERSONAS, len(SHIFTS)))

_NULL: dict[str, Claim] = {
    "cells, null": "conservative",
    "cells, levels as given, null": "conservative",
    "questions, null": "nominal",
    "questions": "nominal",
    # only studies in which the coefficient is defined, which is a choice by what came out
    "generalizability": "tabulated",
}
_EFFECTS: dict[str, Claim] = {
    "cells": "tabulated",
    "cells, levels as given": "nominal",
    "questions, null": "nominal",
    "questions": "nominal",
    "generalizability": "nominal",
}


def _null_draws(seed: int) -> dict[str, float]:
    return tried(seed, "draw", Q_ALL, questions=200)


def _null_theta(seed: int) -> dict[str, float]:
    return tried(seed, "theta", Q_ALL, questions=200)


def _effects_draws(seed: int) -> dict[str, float]:
    return tried(
        seed, "draw", Q_ALL, questions=200, persona=ABILITY, configuration=SHIFTS, cell=CELL
    )


def _effects_replicates(seed: int) -> dict[str, float]:
    return tried(
        seed, "all", Q_ALL, questions=150, persona=ABILITY, configuration=SHIFTS, replicates=3
    )


def _effects_clusters(seed: int) -> dict[str, float]:
    return tried(
        seed,
        "all",
        Q_ALL,
        questions=300,
        cluster_size=3,
        persona=ABILITY,
        configuration=SHIFTS,
        cell=CELL,
        replicates=2,
    )


def _effects_unequal_clusters(seed: int) -> dict[str, float]:
    """One to six questions that share everything, in a cluster: 120 clusters."""
    study = simulate(
        seed,
        questions=120,
        factors=FACTORS,
        personas=PERSONAS,
        persona=ABILITY,
        configuration=SHIFTS,
        cell=CELL,
        question_sd=0.08,
        question_persona=0.04,
        question_factor={0: 0.02, 1: 0.03, 2: 0.02},
        question_cell=0.04,
    )
    rng = np.random.default_rng((seed, 1))
    cluster = np.repeat(np.arange(120), rng.integers(1, 7, 120))
    theta = study.theta[:, :, cluster]
    units = Units.of(len(cluster), cluster)
    x = rng.random((1, *theta.shape)) < theta
    found = estimated(Simulated(theta, x, study.levels, units, study.accuracy), "draw")
    truth = truth_of(study, found.components, {})
    cells = (1 << len(found.components.facets) - 1) - 1
    hit = covered_as_given(found, holding_fixed(truth, found.components.sizes, cells))
    return {"cells, levels as given": float(hit[1 : cells + 1].mean())}


ROWS: list[Row] = [
    Row("components", "no effect of any cell, one draw", "coverage", _NULL, _null_draws),
    Row(
        "components",
        "no effect of any cell, exact probabilities",
        "coverage",
        {**_NULL, "all facets": "nominal"},
        _null_theta,
    ),
    Row("components", "every effect, one draw", "coverage", _EFFECTS, _effects_draws),
    Row(
        "components",
        "main effects, three replicates",
        "coverage",
        {
            **_EFFECTS,
            "cells, null": "conservative",
            "cells, levels as given, null": "conservative",
            "all facets": "nominal",
        },
        _effects_replicates,
    ),
    Row(
        "components",
        "every effect, clusters of three, two replicates",
        "coverage",
        {**_EFFECTS, "all facets": "nominal"},
        _effects_clusters,
    ),
    Row(
        "components",
        "every effect, clusters of one to six, one draw",
        "coverage",
        {"cells, levels as given": "nominal"},
        _effects_unequal_clusters,
    ),
]
