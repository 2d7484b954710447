"""A figure that several results give is the same number in all of them."""

from __future__ import annotations

import pytest

from designs import mixed_responses
from nongrata.analysis import Resampling, analyze
from nongrata.conclusions import findings

FEW = Resampling(draws=100, splits=10, seed=5)


@pytest.fixture(scope="module", params=[0, 1])
def both(request):
    ds = mixed_responses(request.param)
    return analyze(ds, resampling=FEW), findings(ds, FEW)


def test_accuracy(both):
    analysis, _ = both
    plain = analysis.accuracy.models[0].accuracy
    assert analysis.accuracy_intervals.of("m0", "model")[0].accuracy.value == pytest.approx(plain)
    assert analysis.unread_bounds.of("m0")[0].accuracy.value == pytest.approx(plain)
    assert analysis.comparisons.models.rows[0].accuracy.value.value == pytest.approx(plain)


def test_instability(both):
    analysis, _ = both
    plain, noise = analysis.instability[0].rows[0], analysis.noise.of("m0").rows[0]
    other = analysis.comparisons.models.rows[0]
    assert noise.ia == plain.ia
    assert other.ia.value.value == pytest.approx(plain.ia.value)
    assert noise.iq[0].iq.figure.value == pytest.approx(plain.iq_at(2).value)
    assert other.iq_of_two.value.value == pytest.approx(plain.iq_at(2).value)


def test_squared_differences(both):
    analysis, found = both
    noise = {row.name: row for row in analysis.noise.of("m0").rows}
    square = {name: row.squared_difference.figure.value for name, row in noise.items()}
    assert analysis.comparisons.models.rows[0].squared_difference.value.value == pytest.approx(
        square[""], abs=1e-3
    )
    for row in analysis.comparisons.factors[0].rows:
        assert row.squared_difference.value.value == pytest.approx(square[row.factor], abs=1e-3)
    for c in found.of("m0").of("orders"):
        if c.metric == "squared difference of accuracy" and {c.subject, c.rival} <= set(square):
            apart = square[c.subject] - square[c.rival]
            assert c.estimate.value == pytest.approx(abs(apart), abs=1e-3)
