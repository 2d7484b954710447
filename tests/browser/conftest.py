"""A browser, pages that are watched, and runs to open in them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from browser.opening import Opener, launched, watching
from browser.runs import Made

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """One browser for a file of tests: Playwright's event loop must not outlive the file."""
    with launched() as browser:
        yield browser


@pytest.fixture
def open_page(chromium: Browser) -> Iterator[Opener]:
    """Open a file or an address: ``open_page(path, width=390, color_scheme="dark")``."""
    with watching(chromium) as opens:
        yield opens


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """Runs and reports, shared by all processes of this test run.

    ``NONGRATA_MADE`` names a folder that keeps them, for whoever changes tests, not reports.
    """
    kept = os.environ.get("NONGRATA_MADE")
    if kept:
        return Made(Path(kept))
    base = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        base = base.parent
    return Made(base / "made")
