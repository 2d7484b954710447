"""What a comparison with a control says: label by label, configuration by configuration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from nongrata.analysis.selection import LeftOut
from nongrata.stats.contrasts import Verdict
from nongrata.stats.random_levels import SampledMean


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """The contrast in one configuration, in points.

    Parameters
    ----------
    configuration
        Its place in `ModelContrasts.configurations`.
    estimate, se
        The difference and its standard error.
    low, high
        95% interval of this configuration on its own.
    low_together, high_together
        Intervals that hold the differences in all configurations together.
    """

    configuration: int
    estimate: float
    se: float
    low: float
    high: float
    low_together: float
    high_together: float


@dataclass(frozen=True, slots=True)
class ContrastCurve:
    """The specification curve: the contrast in each configuration, from lowest to highest.

    Parameters
    ----------
    median
        Median over configurations, in points.
    positive, negative
        Per cent of configurations with a difference above (below) 0.
    above, below
        Number of configurations whose interval, together with all others, is above (below) 0.
    p_median, p_sign
        P values of "no difference in any configuration" by flipping the signs of whole questions:
        from the median, and from how many configurations lean one way.
    p_median_together, p_sign_together
        The same adjusted for the number of labels.
    points
        The curve.
    """

    median: float
    positive: float
    negative: float
    above: int
    below: int
    p_median: float
    p_median_together: float
    p_sign: float
    p_sign_together: float
    points: tuple[CurvePoint, ...]


@dataclass(frozen=True, slots=True)
class LabelContrast:
    """One label against one control, in points; a property of prompts, never of people.

    Parameters
    ----------
    estimate, se
        Mean difference over configurations, for the configurations as they are.
    low, high
        95% interval of this label on its own.
    low_together, high_together
        95% intervals that hold all labels of this control together (max-t).
    p, p_together, p_step_down
        P values of "no difference": on its own, adjusted as the intervals together are, and
        adjusted step by step (Romano & Wolf), which is never larger.
    verdict
        From the interval together: ``"differs"``, ``"equivalent"``, ``"undecided"`` or
        ``"differs, but within the smallest effect"``.
    configurations
        Configurations in which both have answers.
    fewest_questions
        Smallest number of questions that both answered in one of them.
    design_effect
        Variance of the contrast over what it would be without clusters and strata; 1 if there
        are none.
    as_sample
        The same difference with the formats read as a sample of formats.
    curve
        The difference in each configuration.
    reason
        Why there is no interval, else empty.
    """

    persona: str
    estimate: float
    se: float
    low: float
    high: float
    low_together: float
    high_together: float
    p: float
    p_together: float
    p_step_down: float
    verdict: Verdict
    configurations: int
    fewest_questions: int
    design_effect: float
    as_sample: SampledMean
    curve: ContrastCurve
    reason: str


@dataclass(frozen=True, slots=True)
class ControlContrasts:
    """All labels against one control.

    Parameters
    ----------
    control
        The control.
    distinct_cells
        Configurations in which it was asked something of its own: a control that is one prompt
        under several formats is asked once for all of them, and every label is compared with that
        answer; the pairing by question counts it once.
    critical
        Half width of the intervals together, in standard errors.
    labels
        One entry a label.
    """

    control: str
    distinct_cells: int
    critical: float
    labels: tuple[LabelContrast, ...]

    def of(self, persona: str) -> LabelContrast:
        """The contrast of one label."""
        return next(label for label in self.labels if label.persona == persona)


@dataclass(frozen=True, slots=True)
class ModelContrasts:
    """The contrasts of one model.

    Parameters
    ----------
    controls
        One entry a control.
    configurations
        Levels of each configuration, one for each factor.
    sampled, fixed
        Factors whose levels `as_sample` reads as a sample, and those that it does not.
    questions, clusters, df
        What the standard errors rest on, and their degrees of freedom.
    left_out
        What takes no part, and why.
    reason
        Why there are no contrasts, else empty.
    """

    model: str
    controls: tuple[ControlContrasts, ...]
    configurations: tuple[tuple[Any, ...], ...]
    sampled: tuple[str, ...]
    fixed: tuple[str, ...]
    questions: int
    clusters: int
    df: int
    left_out: tuple[LeftOut, ...]
    reason: str = ""

    def of(self, control: str) -> ControlContrasts:
        """The contrasts with one control."""
        return next(each for each in self.controls if each.control == control)
