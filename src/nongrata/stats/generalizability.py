"""How dependable the averages behind a comparison are, and how many levels it would take.

Source: S7; Brennan (2001), chapters 1-4. The object of measurement is the facet that is compared,
such as personas; an average over n' levels of each other facet is what is compared. Facets are
random (drawn from more; another study draws others) or fixed (all there are).

    universe score     sigma2(tau) = sigma2 of the object, what interacts with fixed facets included
    relative error     sigma2(delta) = sum of sigma2(D)/n'(D) over effects D with the object and a
                       random facet: what disturbs differences between objects
    absolute error     sigma2(Delta) = the same over every effect D with a random facet: what
                       disturbs the objects' values
    generalizability   G = sigma2(tau) / (sigma2(tau) + sigma2(delta))
    dependability      Phi = sigma2(tau) / (sigma2(tau) + sigma2(Delta))

n'(D) is the product of the numbers of levels of D's facets other than the object. All of these are
linear in the components, so they are kept as weights on the components.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from nongrata.stats.accuracy import Floats
from nongrata.stats.figure import Figure
from nongrata.stats.variance_components import Components
from nongrata.wording import say

Coefficient = Literal["relative", "absolute"]
REPLICATE = "replicate"
_NO_UNIVERSE = "the variance between the levels of {} is not above 0"
_NO_ERROR = "the error variance is estimated below 0"


_ROUNDING = 1e-12
"""Variances below this share of all of them are rounding errors."""


@dataclass(frozen=True)
class Weighing:
    """Universe score and error variances as weights on the components, shape (2^F,) each.

    The last position, the interaction of all facets, weighs its component without the noise of
    single answers; `noise` is added for both errors.
    """

    universe: Floats
    relative: Floats
    absolute: Floats


@dataclass(frozen=True)
class Decision:
    """What averages over given numbers of levels would be worth.

    Parameters
    ----------
    levels
        Levels averaged over, by facet; ``"replicate"``: answers to one and the same prompt.
    universe, relative_error, absolute_error
        Variances, in squared units of the observations.
    generalizability, dependability
        Coefficients G and Phi; undefined where the universe score's variance is not above 0, or
        an error variance is estimated below 0.
    """

    levels: dict[str, int]
    universe: float
    relative_error: float
    absolute_error: float
    generalizability: Figure
    dependability: Figure


@dataclass(frozen=True)
class Needed:
    """How many levels of one facet reach a target, the others as they are.

    Parameters
    ----------
    facet, coefficient, target
        Which facet, which coefficient, and what it shall reach.
    levels
        The smallest number; undefined where no number is enough, or there is no coefficient.
    limit
        The coefficient with more and more levels of the facet.
    """

    facet: str
    coefficient: Coefficient
    target: float
    levels: Figure
    limit: Figure


def weighing(
    components: Components, target: str, levels: Mapping[str, int], fixed: Sequence[str] = ()
) -> Weighing:
    """Weights of the components in universe score and errors.

    Parameters
    ----------
    components
        With every facet random.
    target
        The object of measurement.
    levels
        Levels averaged over, by facet; those of the study where a facet is not named.
    fixed
        Facets that have no more levels than the study's.

    Examples
    --------
    >>> from nongrata.stats.variance_components import components_of_mean_squares
    >>> found = components_of_mean_squares(["p", "i"], [5, 10], np.array([0, 11.0, 6.0, 1.0]))
    >>> weighing(found, "p", {"i": 20}).absolute.tolist()
    [0.0, 0.0, 0.05, 0.05]
    """
    facets = components.facets
    n = dict(zip(facets, components.sizes, strict=True)) | dict(levels)
    out = np.zeros((3, len(components.variances)))
    for effect in components.effects:
        averaged = [name for name in effect if name != target]
        weight = 1 / math.prod(n[name] for name in averaged)
        disturbed = any(name not in fixed for name in averaged)
        which = components.number(*effect)
        if target in effect:
            out[1 if disturbed else 0, which] = weight
        if disturbed:
            out[2, which] = weight
    return Weighing(out[0], out[1], out[2])


def decision(
    components: Components,
    target: str,
    levels: Mapping[str, int] | None = None,
    *,
    fixed: Sequence[str] = (),
    noise_of_one: float | None = None,
) -> Decision:
    """Universe score, errors and coefficients of averages over given numbers of levels.

    Parameters
    ----------
    components
        With every facet random.
    target
        The object of measurement, one of the facets.
    levels
        Levels averaged over; those of the study where a facet is not named. ``"replicate"`` is how
        many answers to the same prompt make one observation, where `noise_of_one` is given.
    fixed
        Facets that have no more levels than the study's; they keep their number of levels.
    noise_of_one
        Sampling variance of a single answer; None: an observation stays as noisy as it was.

    Examples
    --------
    >>> from nongrata.stats.variance_components import components_of_mean_squares
    >>> found = components_of_mean_squares(["p", "i"], [5, 10], np.array([0, 11.0, 6.0, 1.0]))
    >>> decision(found, "p", {"i": 4}).generalizability.value
    0.8
    """
    n = _levels(components, target, levels or {}, fixed)
    w = weighing(components, target, n, fixed)
    values = np.where(np.isnan(components.variances), 0.0, components.variances)
    noise = _noise(components, noise_of_one, n)
    observations = math.prod(count for name, count in n.items() if name not in (target, REPLICATE))
    universe = float(w.universe @ values)
    if abs(universe) <= _ROUNDING * float(np.abs(values).sum()):
        universe = 0.0  # mean squares that cancel leave rounding errors of either sign
    relative = float(w.relative @ values) + noise / observations
    absolute = float(w.absolute @ values) + noise / observations
    return Decision(
        n,
        universe,
        relative,
        absolute,
        coefficient(universe, relative, target),
        coefficient(universe, absolute, target),
    )


def coefficient(universe: float, error: float, target: str = "the object") -> Figure:
    """Universe score variance over itself and an error variance.

    Examples
    --------
    >>> coefficient(4.0, 1.0).value, str(coefficient(-1.0, 1.0))
    (0.8, 'undefined: the variance between the levels of the object is not above 0')
    """
    if not universe > 0:
        return Figure.undefined(_NO_UNIVERSE.format(target))
    if error < 0:
        return Figure.undefined(_NO_ERROR)
    return Figure(universe / (universe + error))


def needed(
    components: Components,
    target: str,
    facet: str,
    goal: float = 0.8,
    *,
    which: Coefficient = "relative",
    levels: Mapping[str, int] | None = None,
    fixed: Sequence[str] = (),
    noise_of_one: float | None = None,
) -> Needed:
    """The smallest number of levels of a facet at which a coefficient reaches a goal.

    An error variance is a + b/n' in the number of levels n' of one facet, so n' is b / (e - a)
    with e = sigma2(tau) (1 - goal) / goal, the error that the goal allows; where a >= e no number
    is enough.

    Parameters
    ----------
    components, target, levels, fixed, noise_of_one
        As for `decision`.
    facet
        A random facet, or ``"replicate"``.
    goal
        Between 0 and 1.
    which
        ``"relative"``: G, for comparing; ``"absolute"``: Phi.

    Examples
    --------
    >>> from nongrata.stats.variance_components import components_of_mean_squares
    >>> found = components_of_mean_squares(["p", "i"], [5, 10], np.array([0, 11.0, 6.0, 1.0]))
    >>> needed(found, "p", "i", 0.9).levels.value
    9.0
    """
    if facet == target or facet in fixed:
        raise ValueError("only the number of levels of a random facet can be chosen")

    def error(n: int) -> tuple[float, float]:
        chosen = {**(levels or {}), facet: n}
        found = decision(components, target, chosen, fixed=fixed, noise_of_one=noise_of_one)
        return found.universe, (
            found.relative_error if which == "relative" else found.absolute_error
        )

    universe, at_one = error(1)
    b = 2 * (at_one - error(2)[1])
    a = at_one - b
    allowed = universe * (1 - goal) / goal
    limit = coefficient(universe, a, target)
    if not universe > 0:
        return Needed(facet, which, goal, limit, limit)
    # a relative margin for rounding, so that a goal reached exactly counts as reached
    slack = 1e-9 * max(abs(allowed), abs(at_one))
    if at_one <= allowed + slack:
        return Needed(facet, which, goal, Figure(1.0), limit)
    if a >= allowed - slack or b <= 0:
        reason = say("no number of levels is enough: {goal} is beyond reach", goal=f"{goal:g}")
        return Needed(facet, which, goal, Figure.undefined(reason), limit)
    return Needed(facet, which, goal, Figure(float(math.ceil(b / (allowed - a) - 1e-9))), limit)


def _levels(
    components: Components, target: str, levels: Mapping[str, int], fixed: Sequence[str]
) -> dict[str, int]:
    known = dict(zip(components.facets, components.sizes, strict=True))
    strange = set(levels) - set(known) - {REPLICATE} | {target, *fixed} - set(known)
    if strange or target in fixed:
        raise ValueError(f"not a facet that can be chosen here: {sorted(strange or {target})}")
    for name, n in levels.items():
        if n < 1 or (name in fixed and n != known[name]):
            raise ValueError(f"{name} cannot have {n} levels")
    return known | {name: n for name, n in levels.items() if name != target}


def _noise(components: Components, noise_of_one: float | None, n: Mapping[str, int]) -> float:
    """Noise of an observation that is a mean of so many answers."""
    if components.confounded:
        if n.get(REPLICATE, 1) != 1:
            raise ValueError("with single answers, more replicates cannot be reckoned with")
        return 0.0  # it is part of the interaction of all facets
    if REPLICATE not in n:
        return components.noise
    if noise_of_one is None:
        raise ValueError("replicates need the noise of a single answer")
    return noise_of_one / n[REPLICATE]
