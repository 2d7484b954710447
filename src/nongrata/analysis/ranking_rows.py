"""What a ranking of labels consists of, and its tables.

A place in an order of prompts is a property of prompts, questions and one model; it says nothing
about people.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from nongrata.analysis.result import factor_columns
from nongrata.analysis.selection import LeftOut
from nongrata.stats.figure import Figure
from nongrata.stats.split_agreement import SameAndDifferent

RankScope = Literal["overall", "level", "configuration"]
AgreementScope = Literal["overall", "factor"]


@dataclass(frozen=True, slots=True)
class LabelRank:
    """Where one label stands, and where it could stand; rank 1 is the highest accuracy.

    Parameters
    ----------
    persona
        The label.
    accuracy
        In per cent, on questions complete for all labels.
    se
        Its standard error, in points.
    rank
        Rank of the estimate; ties share the mean of their ranks.
    low, high
        95% confidence set for the true rank of this label: every rank from `low` to `high`.
    all_low, all_high
        The same, for all labels at once: the sets of all labels hold together in 95% of studies.
    possibly_best, possibly_worst
        Whether "no label is above it" ("below it") is not rejected at 5%.
    """

    persona: str
    accuracy: float
    se: Figure
    rank: float
    low: int
    high: int
    all_low: int
    all_high: int
    possibly_best: bool
    possibly_worst: bool


@dataclass(frozen=True, slots=True)
class RankingOfLabels:
    """The labels ranked by one accuracy.

    Parameters
    ----------
    scope
        ``"overall"``: mean over configurations; ``"level"``: mean over those with one level of a
        factor; ``"configuration"``: one of them.
    factor, name
        The factor, and the level or the configuration; empty overall.
    configurations
        How many the accuracy is a mean over.
    questions
        Fewest questions complete for all labels in any of them.
    labels
        In the study's order.
    pairs, ordered
        Pairs of labels, and how many of them are ordered (all statements together at 5%).
    reason
        Why there are no labels, else empty.
    """

    scope: RankScope
    factor: str
    name: str
    configurations: int
    questions: int
    labels: tuple[LabelRank, ...]
    pairs: int
    ordered: int
    reason: str = ""

    @property
    def possibly_best(self) -> tuple[str, ...]:
        """Labels that may be the best one."""
        return tuple(label.persona for label in self.labels if label.possibly_best)

    @property
    def possibly_worst(self) -> tuple[str, ...]:
        """Labels that may be the worst one."""
        return tuple(label.persona for label in self.labels if label.possibly_worst)


@dataclass(frozen=True, slots=True)
class ConfigurationRanks:
    """The labels in order in one configuration: estimates, without what is certain about them.

    Parameters
    ----------
    levels
        Level of each factor.
    questions
        Questions complete for all labels.
    ranks
        Rank of each label, in the order of `ModelRanking.personas`; 1 is the highest accuracy, and
        ties share the mean of their ranks.
    """

    levels: tuple[str, ...]
    questions: int
    ranks: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class AgreementRow:
    """How well the rankings under different configurations agree, on the same questions.

    There are no intervals: resampling adds noise to ranks, so that intervals from it lie too low.

    Parameters
    ----------
    scope, name
        All configurations, or one factor: its levels, averaged over settings of the others.
    compared
        Configurations compared with one another.
    settings
        Settings averaged over; 1 overall.
    kendall_w, kendall_w_uncorrected
        Kendall's W with and without correction for ties; 1 / `compared` on average for random
        orders, so compare it at equal `compared` only.
    chi2, df, p
        Test of random orders, independent in each configuration. Configurations share questions,
        so it is no test of the labels.
    tau_b, spearman
        Mean rank correlations over pairs of configurations.
    shift
        Mean change of rank over labels and pairs of configurations.
    """

    scope: AgreementScope
    name: str
    compared: int
    settings: int
    kendall_w: Figure
    kendall_w_uncorrected: Figure
    chi2: Figure
    df: int
    p: Figure
    tau_b: Figure
    spearman: Figure
    shift: Figure


@dataclass(frozen=True, slots=True)
class HalvesRow:
    """Agreement on disjoint halves of the questions: same configuration and different ones.

    Parameters
    ----------
    scope, name, compared, settings
        As in `AgreementRow`.
    correlation
        Noise-free covariance over labels between configurations, over the noise-free variance
        within: 1 if configurations change nothing, not clipped.
    correlation_low, correlation_high
        Its 95% interval (Fieller); None where it is not estimable.
    between, between_se, within, within_se
        The two parts, in points squared, and their standard errors.
    tau_b, kendall_w, shift
        Agreement of two rankings, one from each half, mean over random splits.
    best_changes, worst_changes
        Share of pairs of rankings, one from each half, that have no best (worst) label in common,
        per cent.
    """

    scope: AgreementScope
    name: str
    compared: int
    settings: int
    correlation: Figure
    correlation_low: float
    correlation_high: float
    between: float
    between_se: float
    within: float
    within_se: float
    tau_b: SameAndDifferent
    kendall_w: SameAndDifferent
    shift: SameAndDifferent
    best_changes: SameAndDifferent
    worst_changes: SameAndDifferent


@dataclass(frozen=True, slots=True)
class LabelPair:
    """Two labels, the one with the higher mean accuracy first.

    Parameters
    ----------
    higher, lower
        The labels.
    difference, se
        In points; the standard error is that of the paired difference.
    p
        Two-sided, not adjusted.
    p_steps, p_holm
        Adjusted for all pairs in both directions: step-down max-t, and Holm.
    ordered
        Whether `p_steps` is at most .05: then the order holds, together with all others stated.
    """

    higher: str
    lower: str
    difference: float
    se: Figure
    p: Figure
    p_steps: Figure
    p_holm: Figure
    ordered: bool


@dataclass(frozen=True, slots=True)
class PairwiseOrder:
    """Which labels are in order, by mean accuracy over configurations.

    Parameters
    ----------
    pairs
        All of them.
    ordered, ordered_holm
        How many are ordered at 5% by step-down max-t, and by Holm.
    without_se
        Pairs without a standard error (the difference is the same on every question, mostly 0).
    rows
        All pairs, the largest differences first.
    """

    pairs: int
    ordered: int
    ordered_holm: int
    without_se: int
    rows: tuple[LabelPair, ...]


@dataclass(frozen=True, slots=True)
class ModelRanking:
    """The ranking of labels under one model.

    Parameters
    ----------
    model
        Its name.
    labels, configurations, questions, clusters
        What it rests on.
    design_effect
        Variance of the differences between labels over what it would be, were every question on
        its own: mean over pairs.
    splits, draws
        Random halves, and draws behind critical values.
    rankings
        Overall, by level, and, if asked for, by configuration.
    factors, personas
        Names of the factors, and of the labels ranked.
    by_configuration
        The labels' ranks in each configuration, in the study's order.
    agreement, halves
        Overall and by factor.
    order
        All pairs of labels.
    left_out
        Personas and configurations that are not ranked, and why.
    """

    model: str
    labels: int
    configurations: int
    questions: int
    clusters: int
    design_effect: Figure
    splits: int
    draws: int
    rankings: tuple[RankingOfLabels, ...]
    factors: tuple[str, ...]
    personas: tuple[str, ...]
    by_configuration: tuple[ConfigurationRanks, ...]
    agreement: tuple[AgreementRow, ...]
    halves: tuple[HalvesRow, ...]
    order: PairwiseOrder
    left_out: tuple[LeftOut, ...]

    @property
    def overall(self) -> RankingOfLabels:
        """The ranking by mean accuracy over configurations."""
        return self.rankings[0]


def label_records(part: ModelRanking) -> list[dict[str, Any]]:
    """One record for each label of each ranking."""
    return [
        {
            "model": part.model,
            "scope": ranking.scope,
            "factor": ranking.factor or None,
            "name": ranking.name or None,
            "persona": label.persona,
            "accuracy": label.accuracy,
            "se": label.se.value if label.se.defined else None,
            **{
                field: getattr(label, field)
                for field in (
                    *("rank", "low", "high", "all_low", "all_high"),
                    *("possibly_best", "possibly_worst"),
                )
            },
        }
        for ranking in part.rankings
        for label in ranking.labels
    ]


def rank_records(part: ModelRanking) -> list[dict[str, Any]]:
    """One record for each configuration and label."""
    names = factor_columns(part.factors, ("model", "questions", "persona", "rank"))
    return [
        {"model": part.model, **dict(zip(names, one.levels, strict=True))}
        | {"questions": one.questions, "persona": persona, "rank": rank}
        for one in part.by_configuration
        for persona, rank in zip(part.personas, one.ranks, strict=True)
    ]
