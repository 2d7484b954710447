"""The analysis at the size of the paper: 9.87 million answers of one model."""

from __future__ import annotations

import resource
import time

import numpy as np
import pytest

from designs import responses
from nongrata.analysis import analyze


@pytest.fixture(scope="module")
def paper():
    ds = responses(personas=2, controls=2, questions=5013, duplicates=True,
                   factors={"persona_format": list("abcd"), "task_format": list("abcd"),
                            "temperature": [0.0, 0.5, 1.0]})  # fmt: skip
    ds = ds.isel(persona=[0, 1] * 19 + [0, 2, 3])
    return ds.assign_coords(persona=[f"p{i}" for i in range(41)])


@pytest.mark.slow
@pytest.mark.parametrize("lost", [0.0, 0.001])
def test_it_takes_seconds_and_less_than_two_gigabytes(paper, lost):
    ds = paper.copy(deep=True)
    if lost:
        gone = np.random.default_rng(0).random(ds["outcome"].shape, dtype=np.float32) < lost
        ds["outcome"].values[gone] = 4
    # Processor time, of all threads: wall time says how busy the machine is, and threads that
    # wait for one another by spinning show up here too.
    start = time.process_time()
    analysis = analyze(ds)
    assert time.process_time() - start < 60
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 2_000_000
    row = analysis.instability[2].rows[0]
    assert (row.personas, row.configurations, row.questions) == (41, 48, 5013)
    assert row.answers + sum(r.missing for r in analysis.outcomes.of("model")) == 9_865_584
