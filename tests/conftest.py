"""Fixtures for all tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

if "PYTEST_XDIST_WORKER" in os.environ:
    # workers share the cores: threads of two models on one core wait for one another
    os.environ.setdefault("OMP_NUM_THREADS", "1")

# seeded, and patient with a machine that is busy
settings.register_profile("nongrata", deadline=None, derandomize=True)
settings.load_profile("nongrata")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real question files, which is not part of the repository."""
    given = os.environ.get("NONGRATA_SHARED")
    folder = Path(given) if given else Path(__file__).parents[2] / "shared"
    if not (folder / "data").is_dir():
        pytest.skip("no shared data: set NONGRATA_SHARED to the folder that holds data/")
    return folder
