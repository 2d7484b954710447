"""A report on hostile names, texts and answers: all of it is shown, none of it acts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from browser.access import violations
from browser.looking import CHARTS, faults_of_charts, overflow
from browser.opening import Opener
from browser.runs import Made
from hostile import HOSTILE

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser

REPORTS = ["hostile", "hostile-table"]

# controls but tab and line ends, bidi and zero-width marks, tags: `terminal.visible` escapes them
UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]"
)

FOREIGN = """
() => [...document.querySelectorAll("*")].filter((each) =>
  ["IFRAME", "OBJECT", "EMBED", "AUDIO", "VIDEO", "BASE"].includes(each.tagName)
  || (each.tagName === "IMG" && !each.src.startsWith("data:") && !each.src.startsWith("blob:"))
  || (each.tagName === "A" && !/^(#|data:|blob:)/.test(each.getAttribute("href") ?? "#"))
  || [...each.attributes].some(({ name, value }) =>
    name.startsWith("on") || name === "srcdoc" || name === "autofocus"
    || value.trim().toLowerCase().startsWith("javascript:"))
).map((each) => each.outerHTML.slice(0, 200))
"""


def texts(page: Page) -> str:
    """Every text and attribute of a page, without its scripts and styles."""
    return str(
        page.evaluate(
            """() => [document.title].concat([...document.querySelectorAll("body *")].flatMap(
              (each) => each.closest("script, style") ? [] : [
                ...[...each.childNodes].filter((n) => n.nodeType === 3).map((n) => n.data),
                ...[...each.attributes].map((a) => a.value),
              ])).join("\\n")"""
        )
    )


@pytest.mark.parametrize("language", ["en", "es"])
@pytest.mark.parametrize("name", REPORTS)
def test_nothing_acts_and_no_unseen_mark_is_left(
    open_page: Opener, made: Made, name: str, language: str
) -> None:
    page = open_page(made.report(name, language)).page
    assert faults_of_charts(page) == {}
    assert page.evaluate(FOREIGN) == []
    shown = texts(page)
    assert UNSEEN.findall(shown) == []
    assert HOSTILE["script"] in shown
    assert page.locator("script").count() == 4


def test_pointing_and_choosing_do_not_wake_it(open_page: Opener, made: Made) -> None:
    page = open_page(made.report("hostile-table")).page
    page.locator("#show-everything").click()
    for chart in page.locator(CHARTS).all():
        if chart.is_visible():
            chart.scroll_into_view_if_needed()
            box = chart.bounding_box()
            assert box
            for across in (0.05, 0.3, 0.5, 0.7):
                for down in (0.2, 0.5, 0.8):
                    page.mouse.move(
                        box["x"] + across * box["width"], box["y"] + down * box["height"]
                    )
    for select in page.locator("select[data-facet]").all():
        for value in select.locator("option").evaluate_all("all => all.map((each) => each.value)"):
            select.select_option(value)
            page.wait_for_timeout(30)
            assert page.evaluate(FOREIGN) == []
            assert UNSEEN.findall(texts(page)) == []
        select.select_option(index=0)


@pytest.mark.parametrize("name", REPORTS)
def test_long_names_fit_a_phone(open_page: Opener, made: Made, name: str) -> None:
    page = open_page(made.report(name), width=390).page
    assert faults_of_charts(page) == {}
    assert overflow(page) == []


@pytest.mark.parametrize("name", REPORTS)
def test_axe_finds_nothing_serious(open_page: Opener, made: Made, name: str) -> None:
    page = open_page(made.report(name)).page
    assert faults_of_charts(page) == {}
    assert violations(page) == []
