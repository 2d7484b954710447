"""Report on 41 labels x 48 configurations x 5,013 questions: 9.9 million simulated answers."""

from __future__ import annotations

import pytest

from browser.access import faults_of_tab_walk, violations
from browser.looking import faults_of_charts, ink, overflow, paper
from browser.opening import Opener
from browser.runs import Made

pytestmark = [pytest.mark.browser, pytest.mark.slow]

LARGEST = 6_000_000
"""Bytes of a report that can still be sent by mail."""


def test_it_opens_quickly_and_every_chart_is_drawn(open_page: Opener, made: Made) -> None:
    report = made.report("paper")
    assert report.stat().st_size <= LARGEST
    page = open_page(report).page
    shown = page.evaluate("performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd")
    assert shown < 10_000  # ms; about a tenth of it on a quiet machine
    assert faults_of_charts(page) == {}


@pytest.mark.parametrize("width", [390, 1366])
def test_nothing_sticks_out(open_page: Opener, made: Made, width: int) -> None:
    page = open_page(made.report("paper"), width=width).page
    assert faults_of_charts(page) == {}
    assert overflow(page) == []


def test_axe_finds_nothing_serious(open_page: Opener, made: Made) -> None:
    page = open_page(made.report("paper")).page
    assert faults_of_charts(page) == {}
    assert violations(page) == []


def test_the_tab_key_reaches_everything(open_page: Opener, made: Made) -> None:
    assert faults_of_tab_walk(open_page(made.report("paper")).page) == []


def test_paper_shows_no_blank_sheet(open_page: Opener, made: Made) -> None:
    sheets = [ink(sheet) for sheet in paper(open_page(made.report("paper")).page, scale=0.3)]
    assert len(sheets) > 1
    assert min(sheets) > 0.002, sheets
