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


@pytest.mark.parametrize(("width", "scheme"), [(1366, "light"), (390, "dark")])
def test_it_opens_is_drawn_fits_and_can_be_read(
    open_page: Opener, made: Made, width: int, scheme: str
) -> None:
    report = made.report("paper")
    assert report.stat().st_size <= LARGEST
    page = open_page(report, width=width, color_scheme=scheme).page
    assert faults_of_charts(page) == {}
    assert overflow(page) == []
    assert violations(page) == []


def test_the_tab_key_reaches_everything(open_page: Opener, made: Made) -> None:
    page = open_page(made.report("paper")).page
    assert faults_of_charts(page) == {}  # some bring a control of their own
    assert faults_of_tab_walk(page) == []


def test_paper_shows_no_blank_sheet(open_page: Opener, made: Made) -> None:
    sheets = [ink(sheet) for sheet in paper(open_page(made.report("paper")).page, scale=0.3)]
    assert len(sheets) > 1
    assert min(sheets) > 0.002, sheets
