from __future__ import annotations

from itertools import pairwise

from nongrata.report.sections.configurations import configurations_of
from report.first_screen_studies import study


def test_the_factor_that_moves_accuracy_most_comes_first():
    found = configurations_of(study("formats"), "sim")
    assert found.factors[found.nesting[0]] == "persona_format"
    places = found.order(found.nesting[0])
    by_place = [found.levels[places.index(place)][found.nesting[0]] for place in range(len(found))]
    # every level of the first factor is one stretch
    changes = sum(a != b for a, b in pairwise(by_place))
    assert changes == len(set(by_place)) - 1
