"""Every analysis of one model, side by side, from the same resamples."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from typing import Any

from nongrata.analysis.accuracy_intervals import IntervalRow, accuracy_intervals_of
from nongrata.analysis.agreement import agreement_of
from nongrata.analysis.agreement_rows import ModelAgreement
from nongrata.analysis.compare_domains import DomainComparison, compare_domains_of
from nongrata.analysis.compare_factors import FactorComparison, compare_factors_of
from nongrata.analysis.components import ModelComponents, components_of
from nongrata.analysis.contrast_rows import ModelContrasts
from nongrata.analysis.contrasts import contrasts_of
from nongrata.analysis.held_out import held_out_of
from nongrata.analysis.held_out_rows import ModelHeldOut
from nongrata.analysis.instability import Value
from nongrata.analysis.model_data import ModelData
from nongrata.analysis.noise import noise_of
from nongrata.analysis.noise_rows import ModelNoise
from nongrata.analysis.ranking import ranking_of
from nongrata.analysis.ranking_rows import ModelRanking
from nongrata.analysis.task_format import task_format_of
from nongrata.analysis.task_format_rows import ModelTaskFormat

MOST_THREADS = 2
"""Analyses at a time. Each needs memory of its own, and most use both cores for their products."""


@dataclass(frozen=True)
class ModelParts:
    """One model's part of every result, labels only."""

    noise: ModelNoise
    accuracy_intervals: tuple[IntervalRow, ...]
    ranking: ModelRanking
    contrasts: ModelContrasts
    task_format: ModelTaskFormat
    components: ModelComponents
    agreement: ModelAgreement
    held_out: ModelHeldOut
    domains: DomainComparison
    factors: FactorComparison


def model_parts(
    data: ModelData, value: Value, smallest_effect: float, tell: Callable[[int, int], None]
) -> ModelParts:
    """Analyse one model.

    Parameters
    ----------
    data
        The model; its cached pieces are made first, so that the analyses share them.
    value
        What the instability figures are computed from.
    smallest_effect
        The smallest difference that matters, in points.
    tell
        Told how many of how many analyses are done.
    """
    # the longest first, so that they run side by side
    work: dict[str, Callable[[], Any]] = {
        "noise": lambda: noise_of(data, "labels", value),
        "agreement": lambda: agreement_of(data),
        "contrasts": lambda: contrasts_of(data, smallest_effect),
        "accuracy_intervals": lambda: accuracy_intervals_of(data),
        "components": lambda: components_of(data),
        "ranking": lambda: ranking_of(data),
        "domains": lambda: compare_domains_of(data),
        "factors": lambda: compare_factors_of(data),
        "held_out": lambda: held_out_of(data),
        "task_format": lambda: task_format_of(data),
    }
    data.prepare()
    with ThreadPoolExecutor(min(MOST_THREADS, os.cpu_count() or 1)) as pool:
        futures = {pool.submit(call): name for name, call in work.items()}
        found = {}
        for done, future in enumerate(as_completed(futures), start=1):
            found[futures[future]] = future.result()
            tell(done, len(work))
    return ModelParts(**found)
