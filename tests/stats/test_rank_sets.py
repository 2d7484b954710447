"""Coverage, small enough for every run; benchmarks/coverage/ranks.py has the table."""

from __future__ import annotations

import numpy as np
import pytest

from nongrata.stats.pairwise_order import differences, multiplier_noise
from nongrata.stats.rank_sets import rank_sets
from nongrata.stats.units import Units


def covered(seed, theta, questions, cluster_size=1):
    rng = np.random.default_rng(seed)
    G = questions // cluster_size
    base = rng.uniform(-0.2, 0.2, G)
    own = rng.uniform(-0.2, 0.2, (len(theta), G))
    chance = np.repeat(theta[:, None] + base + own, cluster_size, axis=1)
    x = (rng.random(chance.shape) < chance).astype(float)
    units = Units.of(questions, np.repeat(np.arange(G), cluster_size))
    C = units.covariance_of_means(x)
    found = differences(x.mean(axis=1), C, units.degrees_of_freedom)
    sets = rank_sets(found, multiplier_noise(C, rng.standard_normal((len(theta), 399))))
    true = 1 + (theta[:, None] < theta).sum(axis=1)
    marginal = (sets.low <= true) & (true <= sets.high)
    together = ((sets.all_low <= true) & (true <= sets.all_high)).all()
    return marginal.mean(), together, sets.possibly_best[theta == theta.max()].mean()


@pytest.mark.parametrize(
    ("theta", "cluster_size"),
    [
        ([0.5, 0.5, 0.5, 0.5, 0.5], 1),
        ([0.55, 0.55, 0.5, 0.45, 0.45], 1),
        ([0.5, 0.5, 0.5, 0.5, 0.5], 5),
    ],
)
def test_sets_hold_the_true_ranks_with_ties_in_95_percent_of_studies(theta, cluster_size):
    studies = [covered(seed, np.array(theta), 150, cluster_size) for seed in range(200)]
    shares = np.mean(studies, axis=0)
    assert (shares >= 0.95 - 2.58 * np.sqrt(0.95 * 0.05 / 200)).all(), shares


def test_clear_orders_are_found():
    theta = np.array([0.62, 0.5, 0.38])
    ranks = [covered(seed, theta, 600) for seed in range(5)]
    assert np.mean(ranks) >= 0.9
    rng = np.random.default_rng(0)
    x = (rng.random((3, 600)) < theta[:, None]).astype(float)
    C = Units.of(600).covariance_of_means(x)
    found = differences(x.mean(axis=1), C, 599)
    sets = rank_sets(found, multiplier_noise(C, rng.standard_normal((3, 999))))
    assert sets.all_low.tolist() == sets.all_high.tolist() == [1, 2, 3]
