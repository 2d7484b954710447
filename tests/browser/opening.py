"""Chromium, and pages opened in it that are watched."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from browser.watching import Watched

if TYPE_CHECKING:
    from playwright.sync_api import Browser

FLAGS = (
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    # no name resolves, so that a request that is missed goes nowhere
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
)
PROGRAMS = ("chromium", "chromium-browser", "google-chrome")

Opener = Callable[..., Watched]


@contextmanager
def launched() -> Iterator[Browser]:
    """A browser: the system's, or the program that ``NONGRATA_CHROMIUM`` names.

    Where there is none, or no Playwright, the test skips; not if that variable is set.
    """
    named = os.environ.get("NONGRATA_CHROMIUM")
    if not named:
        pytest.importorskip("playwright.sync_api", reason="needs the extra `browser`")
    path = named or next(filter(None, map(shutil.which, PROGRAMS)), None)
    if path is None:
        pytest.skip("no Chromium: install the package chromium, or set NONGRATA_CHROMIUM")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as drivers:
        browser = drivers.chromium.launch(executable_path=path, args=list(FLAGS))
        yield browser
        browser.close()


@contextmanager
def watching(browser: Browser) -> Iterator[Opener]:
    """Opens watched pages; at the end none of them may have a complaint."""
    opened: list[Watched] = []

    def open_page(home: Path | str, width: int = 1366, height: int = 900, **how: Any) -> Watched:
        url = home.as_uri() if isinstance(home, Path) else home
        how = {"reduced_motion": "reduce", "locale": "en-US"} | how
        context = browser.new_context(viewport={"width": width, "height": height}, **how)
        watched = Watched(context.new_page(), url)
        opened.append(watched)
        watched.page.goto(url)
        return watched

    yield open_page
    complaints = {f"{watched.home}: {each}" for watched in opened for each in watched.complaints}
    for watched in opened:
        watched.page.context.close()
    if complaints:
        pytest.fail("\n".join(sorted(complaints)), pytrace=False)
