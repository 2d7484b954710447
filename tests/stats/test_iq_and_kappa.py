from __future__ import annotations

import numpy as np
import pytest

from nongrata.stats.agreement import agreement, category_counts
from nongrata.stats.iq import instability_of_questions
from nongrata.stats.iq_and_kappa import correlation, iq_against_kappa
from nongrata.stats.units import Units


def answers(seed=0, P=8, K=6, Q=120, spread=0.15):
    rng = np.random.default_rng(seed)
    ease = rng.beta(2, 1, Q) + rng.normal(0, spread, (P, 1, 1))
    return rng.random((P, K, Q)) < np.clip(ease, 0, 1)


def plain(x, present=None):
    """IQ and kappa of each label from the functions for one label."""
    iq, kappa = [], []
    for p in range(len(x)):
        there = None if present is None else present[p : p + 1]
        iq.append(instability_of_questions(x[p : p + 1], there).figure.value / 100)
        counts = category_counts(x[p], 2, None if present is None else present[p])
        kappa.append(agreement(counts).fleiss.value)
    return np.array(iq), np.array(kappa)


@pytest.mark.parametrize("missing", [0.0, 0.05])
def test_the_same_answers(missing):
    x = answers()
    present = np.random.default_rng(1).random(x.shape) >= missing
    same = iq_against_kappa(x, present, splits=4)[0]
    iq, kappa = plain(x, present)
    assert same.pearson.value == pytest.approx(np.corrcoef(iq, kappa)[0, 1])
    assert "same answers" in same.reliability_iq.reason
    from scipy.stats import spearmanr

    assert same.spearman.value == pytest.approx(spearmanr(iq, kappa).statistic)


@pytest.mark.parametrize("missing", [0.0, 0.05])
def test_halves_of_the_questions(missing):
    x = answers(1)
    present = np.random.default_rng(1).random(x.shape) >= missing
    units = Units.of(120, np.arange(120) // 2)
    link = iq_against_kappa(x, present, units=units, splits=5, seed=3)[1]
    r, own = [], []
    for half in units.halves(5, 3):
        inside = half[units.cluster]
        (a, b), (c, d) = (plain(x[:, :, m], present[:, :, m]) for m in (inside, ~inside))
        r.append((np.corrcoef(a, d)[0, 1] + np.corrcoef(c, b)[0, 1]) / 2)
        own.append((np.corrcoef(a, c)[0, 1], np.corrcoef(b, d)[0, 1]))
    assert link.pearson.value == pytest.approx(np.mean(r))
    assert link.reliability_iq.value == pytest.approx(np.mean([a for a, _ in own]))
    assert link.reliability_kappa.value == pytest.approx(np.mean([b for _, b in own]))
    assert (link.labels, link.splits) == (8, 5)


@pytest.mark.parametrize("missing", [0.0, 0.05])
@pytest.mark.parametrize("K", [4, 7])
def test_halves_of_the_configurations(missing, K):
    x = answers(2, K=K)
    present = np.random.default_rng(1).random(x.shape) >= missing
    link = iq_against_kappa(x, present, splits=4, seed=(3, 1))[2]
    order = np.random.default_rng((3, 1, 1)).random((4, K)).argsort(axis=1).argsort(axis=1)
    r, own = [], []
    for place in order:
        first, second = place < K // 2, (place >= K // 2) & (place < 2 * (K // 2))
        (a, b), (c, d) = (plain(x[:, m], present[:, m]) for m in (first, second))
        r.append((np.corrcoef(a, d)[0, 1] + np.corrcoef(c, b)[0, 1]) / 2)
        own.append((np.corrcoef(a, c)[0, 1], np.corrcoef(b, d)[0, 1]))
    assert link.pearson.value == pytest.approx(np.mean(r), abs=1e-9)
    assert link.reliability_iq.value == pytest.approx(np.mean([a for a, _ in own]), abs=1e-9)
    assert link.reliability_kappa.value == pytest.approx(np.mean([b for _, b in own]), abs=1e-9)


def test_pure_noise_goes_together_only_in_the_same_answers():
    """Labels that do not differ: within one matrix IQ and kappa correlate, apart they do not."""
    same, apart = [], []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        x = rng.random((10, 8, 200)) < rng.beta(1.2, 0.8, 200)
        links = iq_against_kappa(x, splits=10, seed=99)
        same.append(links[0].pearson.value)
        apart.append(links[1].pearson.value)
    assert np.mean(same) < -0.4
    assert abs(np.mean(apart)) < 0.2


def test_what_cannot_be_estimated_says_why():
    x = answers(3)
    for link in iq_against_kappa(x[:2], splits=3):
        assert "fewer than 3 labels" in link.pearson.reason
    for link in iq_against_kappa(np.repeat(x[:1], 5, axis=0), splits=3):
        assert "do not differ" in link.pearson.reason
        assert link.splits == 0
    assert "fewer than four" in iq_against_kappa(x[:, :3], splits=3)[2].pearson.reason
    for link in iq_against_kappa(np.zeros((4, 4, 6), bool), splits=3):
        assert link.pearson.reason
        assert link.spearman.reason
    assert iq_against_kappa(x[:, :1], splits=2)[0].pearson.reason


def test_a_label_without_a_figure_is_left_out():
    a, b = np.array([1.0, 2, 3, np.nan]), np.array([1.0, 2, 3.5, 9])
    assert correlation(a, b) == correlation(a[:3], b[:3])
