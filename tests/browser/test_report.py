"""The report in a browser: the demo's design, one model, English and Spanish."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from browser.access import faults_of_tab_walk, violations
from browser.looking import CHARTS, faults_of_charts, ink, overflow, paper
from browser.opening import Opener
from browser.runs import Made

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser

# report, language, width, scheme: everything is opened at every size and in every form, each once
OPENINGS = [
    ("demo", "en", 1366, "light"),
    ("demo", "en", 320, "dark"),
    ("demo", "es", 390, "light"),
    ("two-models", "en", 768, "dark"),
]


@pytest.mark.parametrize(("name", "language", "width", "scheme"), OPENINGS)
def test_it_opens_is_drawn_fits_and_can_be_read(
    open_page: Opener, made: Made, name: str, language: str, width: int, scheme: str
) -> None:
    page = open_page(made.report(name, language), width=width, color_scheme=scheme).page
    assert page.locator("html").get_attribute("lang") == language
    assert page.locator("main section h2").count() > 10
    assert page.locator("[data-chart]").count() > 10
    assert faults_of_charts(page) == {}
    assert overflow(page) == []
    assert violations(page) == []


@pytest.mark.parametrize("width", [390, 1366])
def test_the_tab_key_reaches_everything(open_page: Opener, made: Made, width: int) -> None:
    page = open_page(made.report("demo"), width=width).page
    assert faults_of_charts(page) == {}
    assert faults_of_tab_walk(page) == []


def test_paper_shows_every_chart_and_no_blank_sheet(open_page: Opener, made: Made) -> None:
    page = open_page(made.report("demo")).page
    sheets = [ink(sheet) for sheet in paper(page)]
    assert len(sheets) > 5
    assert min(sheets) > 0.002, sheets

    charts = sum(chart.is_visible() for chart in page.locator(CHARTS).all())
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator(".printed svg").count() == charts
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator(".printed").count() == 0


def shown(page: Page) -> list[str]:
    """The blocks and rows that can be seen, by their text."""
    found: list[str] = page.locator(":is(.block, tbody tr):visible").all_text_contents()
    return found


@pytest.mark.parametrize("facet", ["model", "domain", "factor"])
def test_a_filter_shows_what_it_names_and_a_link_keeps_it(
    open_page: Opener, made: Made, facet: str
) -> None:
    report = made.report("two-models")
    page = open_page(report).page
    before = shown(page)
    select = page.locator(f"select[data-facet={facet}]")
    names = select.locator("option").evaluate_all("all => all.map((each) => each.value)")
    chosen = names[-1]
    assert select.input_value() != chosen
    select.select_option(chosen)
    after = shown(page)
    assert after != before
    about = page.locator(f":is(.block, tbody tr)[data-{facet}]:visible")
    assert set(about.evaluate_all(f"all => all.map((each) => each.dataset.{facet})")) == {chosen}
    assert page.locator("#status").text_content()

    again = open_page(page.url).page
    assert again.url == page.url
    assert shown(again) == after


def test_every_section_has_a_link_that_leads_to_it(open_page: Opener, made: Made) -> None:
    page = open_page(made.report("demo")).page
    for link in page.locator("nav#contents a").all():
        link.click()
        place = (link.get_attribute("href") or "").removeprefix("#")
        assert page.evaluate("location.hash").split("&")[0] == f"#{place}"
        page.wait_for_timeout(50)
        top = page.locator(f"#{place}").evaluate("each => each.getBoundingClientRect().top")
        bottom = page.evaluate("innerHeight")
        assert -2 <= top < bottom


def test_headings_sort_a_table_and_give_the_order_back(open_page: Opener, made: Made) -> None:
    page = open_page(made.report("demo")).page
    heading = page.locator("th:has(button.sort):visible").last
    table = heading.locator("xpath=ancestor::table")
    rows = table.locator("tbody tr:not(.group):visible")
    before = rows.all_text_contents()
    orders = []
    for _ in range(3):
        heading.locator("button.sort").click()
        orders.append((heading.get_attribute("aria-sort"), rows.all_text_contents()))
    assert [direction for direction, _ in orders] == ["descending", "ascending", None]
    assert orders[2][1] == before
    assert all(sorted(order) == sorted(before) for _, order in orders)


def test_the_theme_can_be_chosen(open_page: Opener, made: Made) -> None:
    page = open_page(made.report("demo"), color_scheme="light").page
    paper_of = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(paper_of)
    page.locator("#theme").select_option("dark")
    assert page.evaluate(paper_of) != light
    assert faults_of_charts(page) == {}


def test_without_scripts_every_number_is_still_there(open_page: Opener, made: Made) -> None:
    page = open_page(made.report("demo"), java_script_enabled=False).page
    assert page.locator("noscript p").is_visible()
    assert page.locator("main data").count() > 20
