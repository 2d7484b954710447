"""Pictures of a run's report and viewer, to look at: phone, laptop and paper; light, dark and grey.

One picture a section of the report, so that each can be looked at in its own size, and one of the
first screen; `report-*.pdf` is what printing gives. Needs Chromium and the extra `browser`.

Run: python scripts/screenshots.py RUN OUT [--only report|viewer] [--lang en|es]
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

WIDTHS = {"phone": 390, "laptop": 1366}
HEIGHTS = {"phone": 844, "laptop": 768}
LOOKS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("light", {"color_scheme": "light"}),
    ("dark", {"color_scheme": "dark"}),
    ("grey", {"color_scheme": "light"}),
)
A4_WIDTH = 794
"""Pixels of 1/96 inch."""


@contextmanager
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    path = os.environ.get("NONGRATA_CHROMIUM") or shutil.which("chromium")
    with sync_playwright() as drivers:
        opened = drivers.chromium.launch(executable_path=path, args=["--disable-gpu"])
        yield opened
        opened.close()


def open_page(
    chromium: Any, url: str, size: str, look: str, how: dict[str, Any], said: Counter[str]
) -> Any:
    viewport = {"width": WIDTHS[size], "height": HEIGHTS[size]}
    # pages forbid styles that are not their own
    how = {"viewport": viewport, "reduced_motion": "reduce", "bypass_csp": True} | how
    context = chromium.new_context(**how)
    page = context.new_page()
    page.on("console", lambda message: said.update([f"{message.type}: {message.text}"]))
    page.on("pageerror", lambda error: said.update([f"page error: {error}"]))
    page.goto(url)
    page.add_style_tag(content=".bar { position: static !important }")
    if look == "grey":
        page.add_style_tag(content="html { filter: grayscale(1) }")
    return page


def draw_charts(page: Any) -> None:
    for chart in page.locator("[data-chart]").all():
        if chart.is_visible():
            chart.scroll_into_view_if_needed()
            chart.locator("canvas, svg").first.wait_for(state="visible", timeout=20_000)


def report_pictures(chromium: Any, report: Path, out: Path, said: Counter[str]) -> None:
    for size in WIDTHS:
        for look, how in LOOKS:
            page = open_page(chromium, report.as_uri(), size, look, how, said)
            page.wait_for_timeout(500)
            page.screenshot(path=out / f"report-{size}-{look}-0-first-screen.png")
            draw_charts(page)
            for place, section in enumerate(page.locator("main section").all(), start=1):
                name = section.get_attribute("id")
                section.screenshot(path=out / f"report-{size}-{look}-{place:02}-{name}.png")
            page.context.close()
    page = open_page(chromium, report.as_uri(), "laptop", "light", {}, said)
    page.pdf(path=out / "report-print.pdf", format="A4", prefer_css_page_size=True)
    page.set_viewport_size({"width": A4_WIDTH, "height": 1123})
    page.emulate_media(media="print")
    page.screenshot(path=out / "report-print-first-screen.png")
    page.context.close()


def viewer_pictures(chromium: Any, address: str, out: Path, said: Counter[str]) -> None:
    for size in WIDTHS:
        for look, how in LOOKS:
            page = open_page(chromium, address, size, look, how, said)
            page.locator("#results .found").wait_for()
            while page.locator("#results .counting").count():
                page.wait_for_timeout(200)
            page.screenshot(path=out / f"viewer-{size}-{look}-1-list.png")
            page.locator("ol.questions a").first.click()
            cells = page.locator("td[data-name]")
            cells.first.wait_for()
            page.screenshot(path=out / f"viewer-{size}-{look}-2-question.png")
            cells.nth(cells.count() // 2).click()
            page.locator("article.cell").first.wait_for()
            page.screenshot(path=out / f"viewer-{size}-{look}-3-cell.png", full_page=True)
            cells.nth(5).click(modifiers=["Shift"])
            page.locator("article.cell").nth(1).wait_for()
            page.screenshot(path=out / f"viewer-{size}-{look}-4-two-cells.png", full_page=True)
            page.context.close()


@contextmanager
def viewer(run: Path) -> Iterator[str]:
    command = [sys.executable, "-m", "nongrata", "view", str(run), "--port", "0", "--no-browser"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr
        try:
            yield next(word for word in process.stderr.readline().split() if "://" in word)
        finally:
            process.send_signal(signal.SIGINT)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", type=Path, help="a run directory, or a report's HTML file")
    parser.add_argument("out", type=Path)
    parser.add_argument("--only", choices=("report", "viewer"))
    parser.add_argument("--lang", default="en")
    given = parser.parse_args()
    said: Counter[str] = Counter()
    given.out.mkdir(parents=True, exist_ok=True)
    with browser() as chromium:
        if given.only != "viewer":
            report = given.run
            if report.is_dir():
                report = (given.out / f"report-{given.lang}.html").absolute()
                words = ["report", str(given.run), "-o", str(report), "--lang", given.lang]
                subprocess.run([sys.executable, "-m", "nongrata", *words], check=True)
            report_pictures(chromium, report.absolute(), given.out, said)
        if given.only != "report" and given.run.is_dir():
            with viewer(given.run) as address:
                viewer_pictures(chromium, address, given.out, said)
    for message, times in said.most_common():
        print(f"{times} x {message}")


if __name__ == "__main__":
    main()
