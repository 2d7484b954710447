"""G and D studies against Brennan's formulas, written out, and by trying every number."""

from __future__ import annotations

import math

import numpy as np
import pytest

from nongrata.stats.generalizability import decision, needed
from nongrata.stats.variance_components import Components, crossed_components

SIGMA = {"p": 4.0, "i": 3.0, "o": 0.5, "pi": 2.0, "po": 1.0, "io": 0.25, "pio": 6.0}


def components(noise=0.0, **changes) -> Components:
    sigma = SIGMA | changes
    order = ["", "p", "i", "pi", "o", "po", "io", "pio"]
    variances = np.array([math.nan, *(sigma[name] for name in order[1:])])
    ones = np.ones(8)
    return Components(("p", "i", "o"), (10, 4, 2), ones, ones, variances, noise)


def test_everything_random():
    found = decision(components(), "p", {"i": 8, "o": 3})
    relative = 2 / 8 + 1 / 3 + 6 / 24
    absolute = relative + 3 / 8 + 0.5 / 3 + 0.25 / 24
    assert found.universe == 4
    assert found.relative_error == pytest.approx(relative)
    assert found.absolute_error == pytest.approx(absolute)
    assert found.generalizability.value == pytest.approx(4 / (4 + relative))
    assert found.dependability.value == pytest.approx(4 / (4 + absolute))


def test_occasions_fixed():
    found = decision(components(), "p", {"i": 8}, fixed=["o"])
    assert found.universe == pytest.approx(4 + 1 / 2)
    assert found.relative_error == pytest.approx(2 / 8 + 6 / 16)
    # the occasions' own effect disturbs nothing: all of them are there
    assert found.absolute_error == pytest.approx(2 / 8 + 6 / 16 + 3 / 8 + 0.25 / 16)


def test_another_object():
    found = decision(components(), "i", {"p": 20, "o": 2})
    assert found.universe == 3
    assert found.relative_error == pytest.approx(2 / 20 + 0.25 / 2 + 6 / 40)


def test_noise_is_part_of_the_error_and_falls_with_replicates():
    as_it_was = decision(components(noise=0.8), "p", {"i": 1, "o": 1})
    assert as_it_was.relative_error == pytest.approx(2 + 1 + 6 + 0.8)
    four = decision(components(noise=0.8), "p", {"i": 1, "o": 1, "replicate": 4}, noise_of_one=1.6)
    assert four.relative_error == pytest.approx(2 + 1 + 6 + 0.4)
    with pytest.raises(ValueError, match="single answers"):
        decision(components(noise=math.nan), "p", {"replicate": 2})
    with pytest.raises(ValueError, match="noise of a single answer"):
        decision(components(noise=0.8), "p", {"replicate": 2})


@pytest.mark.parametrize("which", ["relative", "absolute"])
@pytest.mark.parametrize("facet", ["i", "o", "replicate"])
@pytest.mark.parametrize("goal", [0.3, 0.6, 0.7, 0.8, 0.85, 0.99])
def test_needed_by_trying_every_number(which, facet, goal):
    c = components(noise=1.0)
    found = needed(c, "p", facet, goal, which=which, noise_of_one=2.0)

    def at(n):
        one = decision(c, "p", {facet: n}, noise_of_one=2.0)
        return (one.generalizability if which == "relative" else one.dependability).value

    reached = [n for n in range(1, 3000) if at(n) >= goal - 1e-12]
    assert (found.levels.value == reached[0]) if reached else not found.levels.defined
    assert found.limit.value == pytest.approx(at(10**9), abs=1e-6)
    assert bool(reached) == (found.limit.value > goal)


def test_a_goal_beyond_the_limit_is_out_of_reach():
    found = needed(components(), "p", "o", 0.95)
    assert "beyond reach" in found.levels.reason
    assert found.limit.value == pytest.approx(4 / (4 + 2 / 4))


def test_no_coefficient_without_variance_between_objects():
    c = components(p=-0.1)
    assert "not above 0" in decision(c, "p").generalizability.reason
    assert "not above 0" in needed(c, "p", "i").levels.reason
    below = decision(components(pi=-40.0), "p")
    assert "below 0" in below.generalizability.reason


def test_what_cannot_be_chosen_is_refused():
    for bad in ({"x": 3}, {"o": 0}):
        with pytest.raises(ValueError, match=r"x|cannot have"):
            decision(components(), "p", bad)
    with pytest.raises(ValueError, match="cannot have 5"):
        decision(components(), "p", {"o": 5}, fixed=["o"])
    with pytest.raises(ValueError, match="random facet"):
        needed(components(), "p", "o", fixed=["o"])
    with pytest.raises(ValueError, match="random facet"):
        needed(components(), "p", "p")


def test_generalizability_of_persons_by_items_is_alpha():
    from nongrata.stats.intraclass import cronbach_alpha

    x = np.random.default_rng(2).normal(size=(12, 5)) + np.arange(12)[:, None]
    found = decision(crossed_components(x, "pi"), "p")
    assert found.generalizability.value == pytest.approx(cronbach_alpha(x).value)
