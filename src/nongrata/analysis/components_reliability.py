"""How dependable a comparison of the labels' mean accuracies is, and what it would take.

Two readings. *Other questions*: the same prompts in the same configurations, asked other questions.
*Other questions and prompts*: a study that draws other formats of the same kind as well. Factors
that set the temperature are fixed in both: their levels are chosen, nobody draws temperatures.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from nongrata.analysis.components_inputs import PERSONA
from nongrata.stats.accuracy import Floats
from nongrata.stats.figure import Figure
from nongrata.stats.generalizability import (
    REPLICATE,
    Needed,
    decision,
    needed,
    weighing,
)
from nongrata.stats.question_components import QUESTION, QuestionComponents
from nongrata.stats.squared_effects import ratio_of_positive

GOAL = 0.8
_Z = 1.959963984540054
Reading = Literal["other_questions", "other_questions_and_prompts"]


@dataclass(frozen=True, slots=True)
class Reliability:
    """How dependable the labels' mean accuracies are under one reading.

    Parameters
    ----------
    reading
        What another study would draw anew.
    random, fixed
        Facets drawn anew, and facets that keep their levels.
    universe, relative_error, absolute_error
        Variances in squared points: of the labels' true means; of what disturbs differences
        between labels; of what disturbs the labels' values.
    generalizability, generalizability_low, generalizability_high
        Share of the variance of the observed means that is true, for comparing labels, 0 to 1.
        The 95% interval is over samples of questions; ``nan`` where there is none.
    dependability, dependability_low, dependability_high
        The same for the values themselves.
    needed
        How many levels of each random facet would reach the goal, the others as they are.
    """

    reading: Reading
    random: tuple[str, ...]
    fixed: tuple[str, ...]
    universe: float
    relative_error: float
    absolute_error: float
    generalizability: Figure
    generalizability_low: float
    generalizability_high: float
    dependability: Figure
    dependability_low: float
    dependability_high: float
    needed: tuple[Needed, ...]


def reliability_of(
    found: QuestionComponents,
    chosen: Sequence[str],
    replicates: int,
    with_interval: bool,
    goal: float = GOAL,
) -> tuple[Reliability, ...]:
    """Both readings, or the first alone where they are the same.

    Parameters
    ----------
    found
        Components of cells x questions; the personas are a facet of it.
    chosen
        Factors that are fixed in either reading.
    replicates
        Answers to each prompt.
    with_interval
        Whether there are enough clusters for intervals.
    goal
        The coefficient that "how many are needed" is about.
    """
    facets = found.components.facets
    factors = tuple(name for name in facets if name not in (PERSONA, QUESTION))
    fixed = tuple(name for name in factors if name in chosen)
    out = [_reading(found, "other_questions", factors, replicates, with_interval, goal)]
    if fixed != factors:
        wide: Reading = "other_questions_and_prompts"
        out.append(_reading(found, wide, fixed, replicates, with_interval, goal))
    return tuple(out)


def _reading(
    found: QuestionComponents,
    reading: Reading,
    fixed: tuple[str, ...],
    replicates: int,
    with_interval: bool,
    goal: float,
) -> Reliability:
    components = found.components
    now = decision(components, PERSONA, fixed=fixed)
    w = weighing(components, PERSONA, {}, fixed)
    ends = [(math.nan, math.nan)] * 2
    if with_interval and now.universe > 0:
        universe = _universe(found, now.universe, w.universe, fixed)
        errors = ((w.relative, now.relative_error), (w.absolute, now.absolute_error))
        ends = [_coefficient_interval(found, universe, weights, error) for weights, error in errors]
    random = tuple(name for name in components.facets if name not in (PERSONA, *fixed))
    choices: list[Needed] = []
    for name in (QUESTION, *(f for f in random if f != QUESTION)):
        choices += [
            needed(components, PERSONA, name, goal, which="relative", fixed=fixed),
            needed(components, PERSONA, name, goal, which="absolute", fixed=fixed),
        ]
    if replicates > 1 and components.noise > 0 and found.noise_of_one > 0:
        of_one = found.noise_of_one
        choices += [
            needed(
                components, PERSONA, REPLICATE, goal, which="relative", fixed=fixed,
                noise_of_one=of_one,
            ),
            needed(
                components, PERSONA, REPLICATE, goal, which="absolute", fixed=fixed,
                noise_of_one=of_one,
            ),
        ]  # fmt: skip
    return Reliability(
        reading=reading,
        random=random,
        fixed=fixed,
        universe=1e4 * now.universe,
        relative_error=1e4 * now.relative_error,
        absolute_error=1e4 * now.absolute_error,
        generalizability=now.generalizability,
        generalizability_low=ends[0][0],
        generalizability_high=ends[0][1],
        dependability=now.dependability,
        dependability_low=ends[1][0],
        dependability_high=ends[1][1],
        needed=tuple(choices),
    )


def _universe(
    found: QuestionComponents, estimate: float, weights: Floats, fixed: Sequence[str]
) -> tuple[float, float, float]:
    """Variance of the universe score, and an interval of it."""
    if len(fixed) == len(found.components.facets) - 2:  # the questions alone are drawn
        return estimate, *found.as_given_interval(PERSONA)
    reach = _Z * float((np.nan_to_num(found.draws) @ weights).std(ddof=1))
    return estimate, estimate - reach, estimate + reach


def _coefficient_interval(
    found: QuestionComponents,
    universe: tuple[float, float, float],
    weights: Floats,
    error: float,
) -> tuple[float, float]:
    draws = np.nan_to_num(found.draws) @ weights  # the grand mean's place, whose weight is 0
    if not found.components.confounded:
        draws = draws + found.noise_draws * weights[-1]
    reach = _Z * float(draws.std(ddof=1))
    low, high = ratio_of_positive(universe, (error, error - reach, error + reach))
    return low / (1 + low), 1.0 if math.isinf(high) else high / (1 + high)
