"""Components of plain tables: simulation, loops, mixed models, replicates."""

from __future__ import annotations

import warnings
from itertools import permutations

import numpy as np
import pytest

from nongrata.stats.variance_components import (
    components_of_mean_squares,
    crossed_components,
    one_way,
)


def table_with(sizes, sigma, rng):
    """A table of random effects; `sigma` by tuple of axes."""
    x = np.zeros(sizes)
    for effect, sd in sigma.items():
        shape = [n if i in effect else 1 for i, n in enumerate(sizes)]
        x = x + rng.normal(0, sd, shape)
    return x


def test_estimates_are_unbiased():
    rng = np.random.default_rng(0)
    sigma = {(0,): 1.0, (0, 1): 0.7, (1, 2): 0.5, (0, 1, 2): 1.2}
    found = []
    for _ in range(600):
        x = table_with((5, 4, 3), sigma, rng)
        found.append(crossed_components(x, "abc").variances[1:])
    mean, se = np.mean(found, axis=0), np.std(found, axis=0) / 600**0.5
    # by number of the set: a, b, ab, c, ac, bc, abc
    truth = np.array([1.0, 0, 0.49, 0, 0, 0.25, 1.44])
    assert np.abs((mean - truth) / se).max() < 4


def test_against_a_mixed_model_where_both_estimates_are_positive():
    MixedLM = pytest.importorskip("statsmodels.regression.mixed_linear_model").MixedLM
    import pandas as pd

    rng = np.random.default_rng(8)
    x = table_with((8, 6), {(0,): 2.0, (1,): 1.5, (0, 1): 1.0}, rng)
    frame = pd.DataFrame({"y": x.ravel(), "a": np.repeat(range(8), 6), "b": np.tile(range(6), 8)})
    frame["all"] = 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = MixedLM.from_formula(
            "y ~ 1", frame, groups="all", re_formula="0",
            vc_formula={"a": "0 + C(a)", "b": "0 + C(b)"},
        ).fit(reml=True)  # fmt: skip
    found = crossed_components(x, "ab")
    assert found.variance("a") == pytest.approx(fit.vcomp[0], rel=1e-3)
    assert found.variance("b") == pytest.approx(fit.vcomp[1], rel=1e-3)
    assert found.variance("a", "b") == pytest.approx(fit.scale, rel=1e-3)


def test_order_of_facets_and_of_levels_does_not_matter():
    rng = np.random.default_rng(4)
    x = rng.normal(size=(3, 4, 2))
    found = crossed_components(x, "abc")
    for order in permutations(range(3)):
        moved = crossed_components(x.transpose(order), [("a", "b", "c")[i] for i in order])
        for effect in found.effects:
            assert moved.variance(*effect) == pytest.approx(found.variance(*effect))
    shuffled = crossed_components(x[rng.permutation(3)][:, rng.permutation(4)], "abc")
    assert shuffled.variances[1:] == pytest.approx(found.variances[1:])


def test_replicates_against_the_nested_analysis_of_variance():
    """x[a, b, r]: MS within cells is the noise; sigma2(ab) = (MS_ab - MS_within) / R."""
    rng = np.random.default_rng(6)
    p = rng.uniform(0.2, 0.8, (6, 5))
    x = (rng.random((6, 5, 10)) < p[:, :, None]).astype(float)
    a, b, R = 6, 5, 10
    cell, ra, rb, grand = x.mean(2), x.mean((1, 2)), x.mean((0, 2)), x.mean()
    within = ((x - cell[:, :, None]) ** 2).sum() / (a * b * (R - 1))
    ab = R * ((cell - ra[:, None] - rb + grand) ** 2).sum() / ((a - 1) * (b - 1))
    ms_a = b * R * ((ra - grand) ** 2).sum() / (a - 1)
    ms_b = a * R * ((rb - grand) ** 2).sum() / (b - 1)
    found = crossed_components(x, "ab", replicates=True)
    assert found.variance("a", "b") == pytest.approx((ab - within) / R)
    assert found.variance("a") == pytest.approx((ms_a - ab) / (b * R))
    assert found.variance("b") == pytest.approx((ms_b - ab) / (a * R))
    assert found.noise == pytest.approx(within / R)


def test_a_negative_component_is_kept():
    x = np.array([[1.0, 0.0], [0.0, 1.0]])
    found = crossed_components(x, "ab", noise=0.0)
    assert found.variance("a") == pytest.approx(-0.5)
    noisy = np.stack([x, 1 - x], axis=2)
    assert crossed_components(noisy, "ab", replicates=True).variance("a", "b") < 0


def test_a_lost_replicate_changes_the_noise_of_its_observation_alone():
    x = np.random.default_rng(7).normal(size=(3, 3, 4))
    whole = crossed_components(x[..., :3], "ab", replicates=True)
    padded = np.concatenate([x[..., :3], np.full((3, 3, 1), np.nan)], axis=2)
    assert crossed_components(padded, "ab", replicates=True).variances[1:] == pytest.approx(
        whole.variances[1:]
    )


@pytest.mark.parametrize(
    ("values", "replicates", "said"),
    [
        (np.zeros((1, 3)), False, "two levels"),
        (np.zeros(3), False, "two levels"),
        (np.full((2, 2), np.nan), False, "no missing"),
        (np.zeros((2, 2, 1)), True, "two replicates"),
    ],
)
def test_what_is_no_balanced_table_is_refused(values, replicates, said):
    with pytest.raises(ValueError, match=said):
        crossed_components(values, "ab", replicates=replicates)


def test_unequal_groups_are_unbiased():
    rng = np.random.default_rng(9)
    found = []
    for _ in range(800):
        groups = [rng.normal(rng.normal(0, 2), 1, n) for n in (2, 3, 5, 9, 4)]
        one = one_way(groups)
        found.append((one.between, one.within))
    mean, se = np.mean(found, axis=0), np.std(found, axis=0) / 800**0.5
    assert np.abs((mean - [4, 1]) / se).max() < 4


def test_one_way_equals_a_balanced_table_with_replicates():
    x = np.random.default_rng(10).normal(size=(5, 4))
    found, table = one_way(list(x)), crossed_components(x, "a", replicates=True)
    assert found.between == pytest.approx(table.variance("a"))
    assert found.within / 4 == pytest.approx(table.noise)


@pytest.mark.parametrize("groups", [[[1.0, 2.0]], [[1.0], [2.0]], [[1.0, 2.0], []]])
def test_what_is_no_layout_is_refused(groups):
    with pytest.raises(ValueError, match="one-way layout"):
        one_way([np.array(group) for group in groups])


def test_reml_of_unequal_groups_is_refused():
    with pytest.raises(ValueError, match="equal size"):
        one_way([np.array([1.0, 2.0]), np.array([1.0, 2.0, 3.0])], reml=True)


def test_mean_squares_alone_are_enough():
    x = np.random.default_rng(11).normal(size=(4, 3))
    found = crossed_components(x, "ab", noise=0.1)
    again = components_of_mean_squares("ab", (4, 3), found.mean_squares, 0.1)
    assert again.variances[1:] == pytest.approx(found.variances[1:])
    assert again.sums_of_squares.sum() == pytest.approx((x**2).sum())
