"""The rows of the coverage tables, in a small form: they run, and nothing is far off."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.coverage.__main__ import all_rows, band, judge

STUDIES = 12
ROWS = all_rows()


def test_there_are_rows_of_both_kinds():
    assert {row.kind for row in ROWS} == {"coverage", "rejection"}
    keys = [(row.family, row.name, row.kind) for row in ROWS]
    assert len(keys) == len(set(keys))


@pytest.mark.slow
@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.family}: {row.name} ({row.kind})")
def test_a_row_runs_and_is_not_far_off(row):
    found = [row.study(seed) for seed in range(STUDIES)]
    for name, claim in row.claim.items():
        values = np.array([study[name] for study in found])
        assert (((values >= 0) & (values <= 1)) | np.isnan(values)).all()
        if claim == "tabulated" or np.isnan(values).all():
            continue
        share = float(np.nanmean(values))
        # twelve studies: wrong by chance less than once in 10,000
        assert share >= 0.58 if row.kind == "coverage" else share <= 0.42


def test_bands_and_judgements():
    low, high = band("coverage", 500)
    assert low < 0.95 < high
    assert (round(low, 3), round(high, 3)) == (0.924, 0.974)
    assert judge("coverage", "nominal", 0.99, 500) == "NO"
    assert judge("coverage", "conservative", 0.99, 500) == "yes"
    assert judge("rejection", "nominal", 0.2, 500) == "NO"
    assert judge("rejection", "conservative", 0.0, 500) == "yes"
    assert judge("rejection", "tabulated", 0.5, 500) == "-"
