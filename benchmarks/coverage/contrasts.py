"""Contrasts with a control, formats as a sample, specification curve, task format taken apart."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.coverage.rows import Row
from benchmarks.coverage.studies import simulate
from nongrata.stats.contrasts import means_with_intervals, verdict
from nongrata.stats.random_levels import mean_over_sampled_levels
from nongrata.stats.sign_flips import Flips, flip_p, flip_p_together
from nongrata.stats.specification_curve import curve
from nongrata.stats.task_format import (
    effect_over_wordings,
    effects,
    variance_between,
    wordings,
)

DRAWS = 4000
FLIPS = 500
LABELS = 6


def _contrasts(study: Any, shared: bool = False, theta: bool = False) -> tuple[Any, Any]:
    """Cluster totals of label less control, (labels, K, G), and the true differences (labels, K).

    The control is the last persona. `shared`: it is one prompt under every level of the first
    factor, so that its answers there are those under the first level.
    """
    value = study.theta if theta else study.x.mean(axis=0)
    control, truth = value[-1], study.accuracy[-1]
    if shared:
        per_level = len(study.levels) // (study.levels[:, 0].max() + 1)
        control = np.tile(control[:per_level], (study.levels[:, 0].max() + 1, 1))
        truth = np.tile(truth[:per_level], study.levels[:, 0].max() + 1)
    totals = study.units.totals(value[:-1] - control)
    return totals, study.accuracy[:-1] - truth


def _averages(shared: bool, theta: bool, **how: Any) -> Any:
    persona = np.array([0.05, 0.02, 0.0, 0.0, -0.03, 0.01, 0.0])

    def study(seed: int) -> dict[str, float]:
        made = simulate(seed, personas=LABELS + 1, persona=persona, factors=(4, 3), **how)
        totals, truth = _contrasts(made, shared, theta)
        means = means_with_intervals(totals.mean(axis=1), made.units, seed, DRAWS)
        target = truth.mean(axis=1)
        alone = (means.low <= target) & (target <= means.high)
        together = (means.low_together <= target) & (target <= means.high_together)
        return {"each on its own": float(alone.mean()), "all together": float(together.all())}

    return study


def _curve(seed: int) -> dict[str, float]:
    from scipy.special import stdtrit

    cells = np.random.default_rng(seed).normal(0, 0.03, (2, 12))
    made = simulate(
        seed, personas=2, factors=(4, 3), cell=cells, question_persona=0.08, question_cell=0.05,
        questions=120,
    )  # fmt: skip
    totals, truth = _contrasts(made)
    flips = Flips.of(made.units, FLIPS, seed)
    found = curve(totals[0], made.units, flips, seed=seed)
    away = np.abs(found.estimate - truth[0]) / found.se
    alone = stdtrit(made.units.degrees_of_freedom, 0.975)
    return {
        "each on its own": float((away <= alone).mean()),
        "all together": float((away <= found.critical).all()),
    }


def _joint(**how: Any) -> Any:
    def study(seed: int) -> dict[str, float]:
        made = simulate(seed, personas=LABELS + 1, factors=(4, 3), **how)
        totals, _ = _contrasts(made)
        flips = Flips.of(made.units, FLIPS, seed)
        curves = [curve(t, made.units, flips) for t in totals]
        means = means_with_intervals(totals.mean(axis=1), made.units, seed, DRAWS)
        median = flip_p_together(
            np.array([c.median for c in curves]) / means.se,
            np.stack([c.flipped_median for c in curves], axis=1) / means.se,
        )
        sign = flip_p_together(
            np.array([c.lean for c in curves]),
            np.stack([c.flipped_lean for c in curves], axis=1),
        )
        return {
            "median, one label": float(flip_p(curves[0].median, curves[0].flipped_median) <= 0.05),
            "share of sign, one label": float(
                flip_p(curves[0].lean, curves[0].flipped_lean) <= 0.05
            ),
            "median, any label": float((median <= 0.05).any()),
            "share of sign, any label": float((sign <= 0.05).any()),
            "average, one label": float(means.p[0] <= 0.05),
            "average, any label": float((means.p_together <= 0.05).any()),
            "average, any label, step-down": float((means.p_step_down <= 0.05).any()),
        }

    return study


def _equivalence(seed: int) -> dict[str, float]:
    """All labels are exactly the smallest effect away, so none is equivalent."""
    smallest = 0.04
    persona = np.array([smallest] * LABELS + [0.0])
    made = simulate(
        seed, personas=LABELS + 1, persona=persona, factors=(4, 3), question_persona=0.1,
        questions=400,
    )  # fmt: skip
    totals, _ = _contrasts(made, theta=True)
    means = means_with_intervals(totals.mean(axis=1), made.units, seed, DRAWS)
    said = [
        verdict(low, high, smallest) != "undecided" and high < smallest
        for low, high in zip(means.low_together, means.high_together, strict=True)
    ]
    return {"one label equivalent": float(said[0]), "any label equivalent": float(any(said))}


def _formats(main: float, interaction: float, noise: float, levels: tuple[int, int]) -> Any:
    """Formats drawn anew in every study, three fixed temperatures; the target is their mean."""
    A, B = levels

    def study(seed: int) -> dict[str, float]:
        rng = np.random.default_rng((seed, 7))
        table = rng.normal(0, main, (A, 1)) + rng.normal(0, main, (1, B))
        table = table + rng.normal(0, interaction, (A, B))
        cell = np.stack([np.repeat(table.ravel(), 3), np.zeros(A * B * 3)])
        made = simulate(
            seed, personas=2, persona=np.array([0.02, 0.0]), factors=(A, B, 3), cell=cell,
            question_sd=0.05, question_persona=0.03, question_cell=noise, questions=100,
        )  # fmt: skip
        totals, _ = _contrasts(made)
        cells = totals[0].reshape(A * B, 3, -1).mean(axis=1)
        units = made.units
        covariance = units.covariance_of_total_means(cells)
        values = cells.sum(axis=1).reshape(A, B) / units.questions
        found = mean_over_sampled_levels(values, covariance, units.degrees_of_freedom)
        away = abs(found.estimate - 0.02)
        return {
            "formats a sample": float(found.low <= 0.02 <= found.high),
            "questions alone": float(away <= 1.96 * found.se_questions),
            "sd of formats alone": float(away <= 1.96 * values.std(ddof=1) / (A * B) ** 0.5),
        }

    return study


def _task_format(wording: float, cluster_size: int = 1) -> Any:
    """2 x 2 sub-factors with 3 wordings each, drawn anew in every study."""
    sub = np.array([[e, r] for e in range(2) for r in range(2) for _ in range(3)])
    groups = wordings(sub)

    def study(seed: int) -> dict[str, float]:
        words = np.random.default_rng((seed, 8)).normal(0, wording, 12)
        truth = 0.04 * sub[:, 0] - 0.01 * sub[:, 1] + 0.02 * sub[:, 0] * sub[:, 1]
        made = simulate(
            seed, personas=4, factors=(12, 2), configuration=np.repeat(truth + words, 2),
            question_sd=0.06, question_factor={0: 0.06}, questions=150, cluster_size=cluster_size,
        )  # fmt: skip
        totals = made.units.totals(made.x[0].astype(float))
        levels = totals.mean(axis=0).reshape(12, 2, -1).mean(axis=1)
        given = made.accuracy.mean(axis=0).reshape(12, 2).mean(axis=1)
        found = effects(sub)
        target = np.array([e.coefficients @ given for e in found])
        family = np.array([e.coefficients @ levels for e in found])
        means = means_with_intervals(family, made.units, seed, DRAWS)
        accuracy = levels.sum(axis=1) / made.units.questions
        covariance = made.units.covariance_of_total_means(levels)
        between = variance_between(accuracy, covariance, groups)
        assert between is not None
        true_between = float(np.mean([given[g].var(ddof=1) for g in groups]))
        over = effect_over_wordings(found[0].coefficients, accuracy, covariance, groups, means.df)
        of_all = float(found[0].coefficients @ truth)
        alone = (means.low <= target) & (target <= means.high)
        together = (means.low_together <= target) & (target <= means.high_together)
        return {
            "effects, each": float(alone.mean()),
            "effects, together": float(together.all()),
            "variance of wordings": float(between.low <= true_between <= between.high),
            "effect for other wordings": float(over.low <= of_all <= over.high),
        }

    return study


_NOMINAL: Any = {"each on its own": "nominal", "all together": "nominal"}
_TESTS: Any = {
    "median, one label": "nominal",
    "share of sign, one label": "conservative",
    "median, any label": "conservative",
    "share of sign, any label": "conservative",
    "average, one label": "nominal",
    "average, any label": "nominal",
    "average, any label, step-down": "nominal",
}
_SAMPLE: Any = {
    "formats a sample": "conservative",
    "questions alone": "tabulated",
    "sd of formats alone": "tabulated",
}
_APART: Any = {
    "effects, each": "nominal",
    "effects, together": "nominal",
    "variance of wordings": "tabulated",
    "effect for other wordings": "conservative",
}

ROWS: list[Row] = [
    Row(
        "contrasts", "6 labels, one draw a cell, 150 questions", "coverage", _NOMINAL,
        _averages(False, False, questions=150, question_persona=0.08),
    ),
    Row(
        "contrasts", "control asked once for 4 formats, 60 clusters of 3 questions", "coverage",
        _NOMINAL,
        _averages(True, False, questions=180, cluster_size=3, question_persona=0.08),
    ),
    Row(
        "contrasts", "probabilities known, 100 questions", "coverage", _NOMINAL,
        _averages(False, True, questions=100, question_persona=0.08, question_cell=0.05),
    ),
    Row("contrasts", "specification curve of 12 configurations", "coverage", _NOMINAL, _curve),
    Row(
        "contrasts", "no difference, configurations exchangeable", "rejection", _TESTS,
        _joint(questions=150),
    ),
    Row(
        "contrasts", "no difference, answers correlated within question and label", "rejection",
        _TESTS,
        _joint(questions=150, question_persona=0.1, question_factor={0: 0.06}),
    ),
    Row(
        "contrasts", "all labels at the smallest effect", "rejection",
        {"one label equivalent": "conservative", "any label equivalent": "conservative"},
        _equivalence,
    ),
    Row(
        "contrasts", "formats differ (sd 3 points a factor)", "coverage", _SAMPLE,
        _formats(0.03, 0.0, 0.03, (4, 4)),
    ),
    Row(
        "contrasts", "formats differ (sd 2 a factor), and together (sd 2)", "coverage", _SAMPLE,
        _formats(0.02, 0.02, 0.03, (4, 4)),
    ),
    Row(
        "contrasts", "formats differ only together (sd 4)", "coverage", _SAMPLE,
        _formats(0.0, 0.04, 0.03, (4, 4)),
    ),
    Row(
        "contrasts", "formats do not differ", "coverage", _SAMPLE, _formats(0.0, 0.0, 0.1, (4, 4)),
    ),
    Row(
        "contrasts", "2 x 3 formats, which differ (sd 3 points a factor)", "coverage", _SAMPLE,
        _formats(0.03, 0.0, 0.03, (2, 3)),
    ),
    Row(
        "task format", "3 wordings a combination, sd 2 points", "coverage", _APART,
        _task_format(0.02),
    ),
    Row(
        "task format", "wordings do not differ, clusters of 2", "coverage", _APART,
        _task_format(0.0, 2),
    ),
    Row(
        "task format", "3 wordings a combination, sd 4 points", "coverage", _APART,
        _task_format(0.04),
    ),
]  # fmt: skip
