"""A viewer that runs as a reader starts it, and the parts of its pages that tests name."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from inspect import getsource
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page


@contextmanager
def viewer(run: Path) -> Iterator[str]:
    """Run `nongrata view` on a free port; gives its address, and ends it as Ctrl-C does."""
    command = [sys.executable, "-m", "nongrata", "view", str(run), "--port", "0", "--no-browser"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr
        said = process.stderr.readline()
        found = re.search(r"http://127\.0\.0\.1:\d+/", said)
        try:
            assert found, said + process.stderr.read()
            yield found[0]
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(timeout=20)


def until(page: Page, holds: Callable[[], bool], seconds: float = 30) -> None:
    """Wait until something holds; the page's policy forbids Playwright's own way of waiting."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, f"not within {seconds} s: {getsource(holds).strip()}"
        page.wait_for_timeout(30)


def counted(page: Page) -> None:
    """Wait until the list has the figures of all questions."""
    page.locator("#results .found").wait_for()
    until(page, lambda: page.locator("#results .counting").count() == 0, seconds=120)


def cells(page: Page) -> Locator:
    """The cells of a question's matrix: labels x configurations."""
    found = page.locator("td[data-name]")
    found.first.wait_for()
    return found


def opened_cell(page: Page) -> Locator:
    """The answer that is looked at."""
    found = page.locator("article.cell")
    found.first.wait_for()
    return found


def content(page: Page) -> str:
    """What stands in the page now, but for what the pointer is at."""
    until(page, lambda: page.locator("main[aria-busy]").count() == 0)
    text: str = page.locator("main").evaluate(
        """(main) => {
          const copy = main.cloneNode(true);
          copy.querySelector("#readout")?.remove();
          return copy.textContent;
        }"""
    )
    return text
