"""What taking factors apart says: levels, sub-factors, wordings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from nongrata.analysis.selection import LeftOut
from nongrata.stats.random_levels import SampledMean


@dataclass(frozen=True, slots=True)
class Difference:
    """A difference of accuracies in points, paired by question.

    Parameters
    ----------
    estimate, se
        The difference and its standard error.
    low, high
        95% interval on its own.
    low_together, high_together
        Intervals that hold the differences of one family together (max-t).
    p, p_together
        P values of "no difference", on its own and adjusted for the family.
    reason
        Why there is no interval, else empty.
    """

    estimate: float
    se: float
    low: float
    high: float
    low_together: float
    high_together: float
    p: float
    p_together: float
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Variance:
    """A variance between means, without the questions' sampling noise, in squared points.

    Parameters
    ----------
    variance
        Unbiased; negative where the noise was by chance larger.
    se, low, high
        Standard error and 95% interval, variance +- 1.96 se.
    sd
        Its square root in points; 0 where it is negative.
    reason
        Why there is none, else empty.
    """

    variance: float
    se: float
    low: float
    high: float
    sd: float
    reason: str = ""


@dataclass(frozen=True, slots=True)
class LevelEffect:
    """One level of a factor against the mean of its levels.

    Parameters
    ----------
    level
        The level.
    accuracy
        Mean over labels and settings, in per cent.
    effect
        That less the mean of all levels; the family is the factor's levels.
    """

    level: Any
    accuracy: float
    effect: Difference


@dataclass(frozen=True, slots=True)
class FactorEffect:
    """All levels of one factor.

    Parameters
    ----------
    settings
        Settings of the other factors that the levels are averaged over.
    levels
        One entry a level.
    between
        Variance between the levels' accuracies.
    range
        Highest less lowest accuracy, in points, as observed: noise makes it larger.
    reason
        Why there is nothing to compare, else empty.
    """

    factor: str
    settings: int
    levels: tuple[LevelEffect, ...]
    between: Variance
    range: float
    reason: str = ""


@dataclass(frozen=True, slots=True)
class LabelEffect:
    """An effect on one label's accuracy; the family is all labels."""

    persona: str
    effect: Difference


@dataclass(frozen=True, slots=True)
class SubEffect:
    """The effect of a sub-factor, or the interaction of two.

    Parameters
    ----------
    sub_factors
        Which.
    levels
        For each, the two levels compared: the first less the second.
    contexts
        Combinations of the other sub-factors averaged over; 0: the design has none.
    average
        The effect on the mean over labels; the family is all effects of the factor.
    over_wordings
        The same effect with the wordings read as a sample of wordings, in points.
    labels
        The effect on each label.
    between_labels
        Variance of the effect over labels.
    """

    kind: Literal["effect", "interaction"]
    sub_factors: tuple[str, ...]
    levels: tuple[tuple[str, str], ...]
    contexts: int
    average: Difference
    over_wordings: SampledMean
    labels: tuple[LabelEffect, ...]
    between_labels: Variance


@dataclass(frozen=True, slots=True)
class SameWording:
    """Levels that agree in all sub-factors, so differ in wording only.

    Parameters
    ----------
    sub_levels
        Level of each sub-factor.
    levels
        The factor's levels.
    accuracy
        Mean accuracy over labels of each, in per cent.
    range
        Highest less lowest, in points, as observed: noise makes it larger.
    """

    sub_levels: tuple[str, ...]
    levels: tuple[Any, ...]
    accuracy: tuple[float, ...]
    range: float


@dataclass(frozen=True, slots=True)
class Wording:
    """What wording alone does.

    Parameters
    ----------
    combinations
        Each combination of sub-factors and its wordings.
    of_average
        Variance between wordings of the accuracy averaged over labels.
    of_label
        The same for one label's accuracy, pooled over labels: it also holds what wording does to
        some labels and not to others.
    reason
        Why wording cannot be told from the sub-factors, else empty.
    """

    combinations: tuple[SameWording, ...]
    of_average: Variance
    of_label: Variance
    reason: str = ""


@dataclass(frozen=True, slots=True)
class FactorApart:
    """A factor whose levels differ in several things.

    Parameters
    ----------
    factor
        The factor.
    sub_factors
        What its levels differ in.
    effects
        Effects of the sub-factors and their interactions.
    wording
        What is left between levels that agree in all of them.
    """

    factor: str
    sub_factors: tuple[str, ...]
    effects: tuple[SubEffect, ...]
    wording: Wording


@dataclass(frozen=True, slots=True)
class ModelTaskFormat:
    """The factors of one model, and those that can be taken apart.

    Parameters
    ----------
    factors
        One entry a factor.
    apart
        One entry a factor with sub-factors.
    labels, configurations, questions, clusters, df
        What the figures rest on.
    fewest_questions
        Smallest number of questions answered in any cell.
    design_effect
        Variance of the mean accuracy over what it would be without clusters and strata.
    left_out
        What takes no part, and why.
    reason
        Why there is nothing to say, else empty.
    """

    model: str
    factors: tuple[FactorEffect, ...]
    apart: tuple[FactorApart, ...]
    labels: int
    configurations: int
    questions: int
    clusters: int
    df: int
    fewest_questions: int
    design_effect: float
    left_out: tuple[LeftOut, ...]
    reason: str = ""
