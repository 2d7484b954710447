"""Rank sets, pairwise orders and the correlation without noise, tried on simulated studies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from benchmarks.coverage.rows import Claim, Row
from benchmarks.coverage.studies import Simulated, simulate
from nongrata.stats.corrected_correlation import corrected_correlation, noise_free_covariances
from nongrata.stats.pairwise_order import (
    adjusted_by_holm,
    adjusted_by_steps,
    differences,
    multiplier_noise,
)
from nongrata.stats.rank_agreement import rank_agreement
from nongrata.stats.rank_sets import rank_sets

DRAWS = 400
TIED = [0.0] * 6
GROUPS = [0.04, 0.04, 0.0, 0.0, -0.04, -0.04]
APART = [0.06, 0.03, 0.01, -0.01, -0.03, -0.06]


def _study(seed: int, label: Sequence[float], **more: Any) -> Simulated:
    """Labels that share luck with a question over all configurations."""
    return simulate(
        seed, **{"questions": 150, "persona": np.array(label), "question_persona": 0.12, **more}
    )


def _ranks(study: Simulated, seed: int) -> dict[str, float]:
    true = study.accuracy.mean(axis=1).round(9)
    C = study.units.covariance_of_means(study.x[0].mean(axis=1))
    A = study.x[0].mean(axis=(1, 2))
    found = differences(A, C, study.units.degrees_of_freedom)
    normals = np.random.default_rng((seed, 1)).standard_normal((len(A), DRAWS))
    noise = multiplier_noise(C, normals)
    sets = rank_sets(found, noise)
    rank = 1 + (true[:, None] < true).sum(axis=1)
    held = (sets.low <= rank) & (rank <= sets.high)
    all_held = (sets.all_low <= rank) & (rank <= sets.all_high)
    wrong = true[:, None] <= true
    return {
        "marginal": held.mean(),
        "simultaneous": float(all_held.all()),
        "possibly best": sets.possibly_best[true == true.max()].mean(),
        "possibly worst": sets.possibly_worst[true == true.min()].mean(),
        "steps": float((wrong & (adjusted_by_steps(found, noise) <= 0.05)).any()),
        "holm": float((wrong & (adjusted_by_holm(found) <= 0.05)).any()),
    }


_SETS = ("marginal", "simultaneous", "possibly best", "possibly worst")


def _rows(
    name: str, label: Sequence[float], claim: Claim = "conservative", **more: Any
) -> list[Row]:
    def study(seed: int) -> dict[str, float]:
        return _ranks(_study(seed, label, **more), seed)

    def only(names: Sequence[str]) -> Callable[[int], dict[str, float]]:
        return lambda seed: {key: value for key, value in study(seed).items() if key in names}

    return [
        Row(
            "ranks",
            f"rank sets: {name}",
            "coverage",
            dict.fromkeys(_SETS, claim),
            only(_SETS),
        ),
        Row(
            "ranks",
            f"any wrong order among all pairs: {name}",
            "rejection",
            dict.fromkeys(("steps", "holm"), claim),
            only(("steps", "holm")),
        ),
    ]


def _correlation(label_sd: float, cell_sd: float, **more: Any) -> Callable[[int], dict[str, float]]:
    fixed = np.random.default_rng(2)
    label, cell = fixed.normal(size=8), fixed.normal(size=(8, 6))
    label, cell = label - label.mean(), cell - cell.mean(axis=0)
    cell -= cell.mean(axis=1, keepdims=True)
    true = label_sd * label[:, None] / label.std() + cell_sd * cell / cell.std()
    C = np.cov(true.T, ddof=0)
    off = (C.sum() - np.trace(C)) / 30

    def study(seed: int) -> dict[str, float]:
        s = simulate(
            seed,
            **{
                "questions": 300,
                "factors": (2, 3),
                "personas": 8,
                "cell": true,
                "question_persona": 0.08,
                **more,
            },
        )
        x, units = s.x[0], s.units
        totals = np.asarray(units.totals(x), dtype=np.float32)
        A = x.mean(axis=2)
        weights = units.bootstrap_weights(DRAWS, (seed, 1))
        drawn = (weights @ totals.reshape(48, -1).T).reshape(-1, 8, 6) / units.questions
        found = corrected_correlation(
            noise_free_covariances(A, totals, units),
            A,
            drawn - A.astype(np.float32),
            [np.arange(6)],
            units.degrees_of_freedom,
        )
        if label_sd == cell_sd == 0:
            return {"a ratio is given": float(found.rho.defined)}
        r = off / (np.trace(C) / 6)
        held = float(found.low <= r <= found.high) if found.rho.defined else np.nan
        return {"interval": held}

    return study


def _chi_square(luck: float) -> Callable[[int], dict[str, float]]:
    def study(seed: int) -> dict[str, float]:
        s = _study(seed, TIED, question_persona=luck, question_sd=0.05)
        return {"chi-square of W": float(rank_agreement(s.x[0].mean(axis=2)).p <= 0.05)}

    return study


ROWS: list[Row] = [
    *_rows("all labels equal", TIED),
    *_rows("three pairs of equal labels", GROUPS),
    *_rows("all labels different", APART),
    *_rows("equal labels, 60 clusters of 5", TIED, questions=300, cluster_size=5),
    *_rows("equal labels, 30 clusters of 5 (few)", TIED, "tabulated", cluster_size=5),
    *_rows("equal labels, 15 clusters of 10 (few)", TIED, "tabulated", cluster_size=10),
    Row(
        "ranks",
        "correlation without noise .69",
        "coverage",
        {"interval": "conservative"},
        _correlation(0.05, 0.0305),
    ),
    Row(
        "ranks",
        "correlation without noise .69, 60 clusters of 5",
        "coverage",
        {"interval": "tabulated"},
        _correlation(0.05, 0.0305, cluster_size=5),
    ),
    Row(
        "ranks",
        "correlation without noise 1",
        "coverage",
        {"interval": "conservative"},
        _correlation(0.05, 0.0),
    ),
    Row(
        "ranks",
        "a correlation where labels do not differ",
        "rejection",
        {"a ratio is given": "conservative"},
        _correlation(0.0, 0.0),
    ),
    Row(
        "ranks",
        "Kendall's W of equal labels, independent answers",
        "rejection",
        {"chi-square of W": "tabulated"},
        _chi_square(0.0),
    ),
    Row(
        "ranks",
        "Kendall's W of equal labels that share luck with questions (not valid here)",
        "rejection",
        {"chi-square of W": "tabulated"},
        _chi_square(0.12),
    ),
]
