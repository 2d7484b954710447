"""Which domains are more accurate, and which more sensitive to the configuration."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nongrata.analysis.estimate_rows import (
    DifferenceRow,
    Estimate,
    Metric,
    difference_rows,
    named,
    root,
)
from nongrata.analysis.measured import NO_DRAWS, cells_of, measured, spread_over
from nongrata.analysis.model_data import ModelData
from nongrata.analysis.selection import LeftOut, Personas
from nongrata.stats.influence import Estimates, effective_df, stacked
from nongrata.stats.paired_comparison import against_others, all_pairs
from nongrata.stats.settings import all_together

DOMAIN_METRICS: tuple[Metric, ...] = (
    "accuracy",
    "squared_difference",
    "ia_at_size",
    "iq_of_two",
)

FEWEST_CLUSTERS = 20
"""Clusters, counted as in `effective_df`, from which on a domain is compared."""

PAIRS_LISTED = 12
"""Domains up to which every pair is listed; of more, pairs are counted only."""


@dataclass(frozen=True, slots=True)
class DomainRow:
    """One domain: its accuracy, and its sensitivity over all configurations.

    Parameters
    ----------
    domain
        Its name.
    questions, clusters
        How many it has.
    compared
        Whether it has enough clusters to be compared with others.
    accuracy
        Mean over labels and configurations, in per cent.
    squared_difference, typical_difference
        Noise-free mean squared difference of accuracy between two configurations, in squared
        points, and its root, in points: free of the number of questions.
    ia_at_size
        IA on as many clusters as the smallest domain compared, in points; undefined elsewhere.
    iq_of_two
        IQ(2), in per cent.
    """

    domain: str
    questions: int
    clusters: int
    compared: bool
    accuracy: Estimate
    squared_difference: Estimate
    typical_difference: Estimate
    ia_at_size: Estimate
    iq_of_two: Estimate


@dataclass(frozen=True, slots=True)
class PairCount:
    """How many pairs of domains are told apart in a metric.

    Parameters
    ----------
    metric
        In what.
    pairs
        Pairs tested.
    decided
        Those that differ, at 5% for all pairs together (Holm).
    """

    metric: Metric
    pairs: int
    decided: int


@dataclass(frozen=True, slots=True)
class DomainComparison:
    """The domains of one model.

    Parameters
    ----------
    model
        Its name.
    rows
        One a domain, in alphabetical order.
    not_compared
        Domains with too few clusters.
    against_others
        Every compared domain minus the mean of the others, metric by metric, adjusted within each.
    pair_counts
        Over all pairs of compared domains.
    pairs
        The pairs themselves if there are at most `PAIRS_LISTED` domains, else empty.
    clusters_equal
        Clusters on which ``ia_at_size`` is taken; 0 if nothing is compared.
    personas, configurations, questions
        What it rests on.
    left_out
        Personas and configurations that are not in it, and why.
    """

    model: str
    rows: tuple[DomainRow, ...]
    not_compared: tuple[str, ...]
    against_others: tuple[DifferenceRow, ...]
    pair_counts: tuple[PairCount, ...]
    pairs: tuple[DifferenceRow, ...]
    clusters_equal: int
    personas: int
    configurations: int
    questions: int
    left_out: tuple[LeftOut, ...]

    def of(self, metric: Metric) -> tuple[DifferenceRow, ...]:
        """Domains against the others in one metric."""
        return tuple(row for row in self.against_others if row.metric == metric)


def compare_domains_of(data: ModelData, personas: Personas = "labels") -> DomainComparison:
    """Compare the domains of one model.

    Parameters
    ----------
    data
        The model.
    personas
        Whose accuracies.
    """
    kept = data.selection(personas)
    names = list(data.cube.domains)
    positions = [np.flatnonzero(data.cube.domain == name) for name in names]
    units = [data.units.on(where) for where in positions]
    enough = [effective_df(u) + u.strata >= FEWEST_CLUSTERS for u in units]
    P, K = len(kept.personas), len(kept.configurations)
    sizes = [len(u) for u, good in zip(units, enough, strict=True) if good]
    equal = min(sizes, default=0)
    parts: list[dict[Metric, Estimates]] = []
    drawn = True
    if P and K:
        cells = cells_of(data, kept.personas, kept.configurations)
        drawn = bool(cells.draws)
        scopes = [all_together(K)]
        for where, u in zip(positions, units, strict=True):
            clusters = equal if 0 < equal <= len(u) else None
            found = measured(cells.on(where), scopes, DOMAIN_METRICS, clusters=clusters, sharp=True)
            parts.append(spread_over(found, data.units, where))
    else:
        nothing = Estimates(np.full(1, np.nan), np.zeros((1, len(data.units))), np.zeros(1))
        parts = [dict.fromkeys(DOMAIN_METRICS, nothing) for _ in names]
    all_of = {metric: stacked(*(part[metric] for part in parts)) for metric in DOMAIN_METRICS}
    usable = np.flatnonzero(enough)
    if not drawn:
        cause = NO_DRAWS
    else:
        cause = "no answers are left" if not (P and K) else "no pair of configurations has answers"
    table: dict[Metric, list[Estimate]] = {
        metric: named(all_of[metric], metric, [cause] * len(names)) for metric in DOMAIN_METRICS
    }
    against: list[DifferenceRow] = []
    counts: list[PairCount] = []
    pairs: list[DifferenceRow] = []
    chosen = [names[j] for j in usable]
    for metric in DOMAIN_METRICS:
        compared = all_of[metric].take(usable)
        if len(usable) < 2:
            break
        against.extend(difference_rows(against_others(compared), metric, chosen))
        every = all_pairs(compared)
        tested = ~np.isnan(every.p)
        decided = every.p_holm[tested] <= 0.05
        counts.append(PairCount(metric, int(tested.sum()), int(decided.sum())))
        if len(usable) <= PAIRS_LISTED:
            pairs.extend(difference_rows(every, metric, chosen))
    few = f"fewer than {FEWEST_CLUSTERS} clusters"
    rows = tuple(
        DomainRow(
            domain=name,
            questions=len(positions[j]),
            clusters=len(units[j]),
            compared=bool(enough[j]),
            accuracy=table["accuracy"][j],
            squared_difference=table["squared_difference"][j],
            typical_difference=root(table["squared_difference"][j]),
            ia_at_size=table["ia_at_size"][j] if enough[j] else Estimate.undefined(few),
            iq_of_two=table["iq_of_two"][j],
        )
        for j, name in enumerate(names)
    )
    return DomainComparison(
        model=data.model,
        rows=rows,
        not_compared=tuple(name for name, good in zip(names, enough, strict=True) if not good),
        against_others=tuple(against),
        pair_counts=tuple(counts),
        pairs=tuple(pairs),
        clusters_equal=equal,
        personas=P,
        configurations=K,
        questions=data.units.questions,
        left_out=kept.left_out,
    )
