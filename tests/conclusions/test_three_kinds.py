"""Three kinds of study told apart, small; benchmarks/findings_simulation.py has 200 of each."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.findings_simulation import KINDS, auc, is_true, outcome, page, study
from nongrata.analysis.model_data import Resampling
from nongrata.conclusions import findings

SEEDS = range(1000, 1006)


@pytest.fixture(scope="module")
def outcomes():
    return [outcome((kind, seed)) for kind in KINDS for seed in SEEDS]


@pytest.mark.parametrize("kind", KINDS)
def test_findings_are_right(outcomes, kind):
    these = [o for o in outcomes if o.kind == kind]
    assert len(these) == len(SEEDS)
    assert [o.false for o in these] == [()] * len(SEEDS)
    assert sum(o.right for o in these) >= len(SEEDS) - 1


def test_iq_is_about_the_same(outcomes):
    iq = [np.mean([o.iq for o in outcomes if o.kind == kind]) for kind in KINDS]
    assert max(iq) - min(iq) < 3


def test_one_kind_s_conclusions_are_false_in_another():
    found = findings(study("labels", 1), Resampling(draws=100, splits=2))
    claimed = [c for c in found.conclusions if c.verdict in ("robust", "established")]
    assert claimed
    assert all(is_true("labels", c) for c in claimed)
    assert not any(is_true("noise", c) for c in claimed)
    assert not any(is_true("formats", c) for c in claimed)


def test_the_page_says_what_came_out(outcomes):
    text = page(outcomes)
    assert f"{len(SEEDS)} studies of each kind" in text
    assert "| labels | 100.0% |" in text or "| labels | 83.3% |" in text


def test_area_under_the_curve_by_counting():
    assert auc([1.0, 2.0], [0.0, 1.0]) == 0.875
    assert auc([1.0], [1.0]) == 0.5
