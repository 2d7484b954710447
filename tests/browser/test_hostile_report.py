"""A report on hostile names, texts and answers: all of it is shown, none of it acts."""

from __future__ import annotations

import pytest

from browser.access import violations
from browser.hostility import foreign, texts, unseen
from browser.looking import CHARTS, faults_of_charts, overflow
from browser.opening import Opener
from browser.runs import Made
from hostile import HOSTILE

pytestmark = pytest.mark.browser


@pytest.mark.parametrize(
    ("name", "language", "width"),
    [("hostile", "en", 1366), ("hostile", "es", 390), ("hostile-table", "en", 390)],
)
def test_all_is_shown_nothing_acts_and_no_unseen_mark_is_left(
    open_page: Opener, made: Made, name: str, language: str, width: int
) -> None:
    page = open_page(made.report(name, language), width=width).page
    assert faults_of_charts(page) == {}
    assert foreign(page) == []
    assert unseen(page) == set()
    assert HOSTILE["script"] in texts(page)
    assert page.locator("script").count() == 4
    assert overflow(page) == []
    assert violations(page) == []


def test_pointing_and_choosing_do_not_wake_it(open_page: Opener, made: Made) -> None:
    page = open_page(made.report("hostile-table")).page
    page.locator("#show-everything").click()
    for chart in page.locator(CHARTS).all():
        if chart.is_visible():
            chart.scroll_into_view_if_needed()
            box = chart.bounding_box()
            assert box
            for x, y in [(x / 10, y / 10) for x in (1, 3, 5, 7) for y in (2, 5, 8)]:
                page.mouse.move(box["x"] + x * box["width"], box["y"] + y * box["height"])
    for select in page.locator("select[data-facet]").all():
        for value in select.locator("option").evaluate_all("all => all.map((each) => each.value)"):
            select.select_option(value)
            page.wait_for_timeout(30)
            assert foreign(page) == []
            assert unseen(page) == set()
        select.select_option(index=0)
