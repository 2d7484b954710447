"""The viewer of 9.9 million simulated answers: 5,013 questions, each with 1,968 of them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from browser.access import violations
from browser.looking import overflow
from browser.opening import Opener
from browser.runs import Made
from browser.viewing import cells, content, counted, opened_cell, until, viewer

pytestmark = [pytest.mark.browser, pytest.mark.slow]

ID = "mmlu/q1000"


@pytest.fixture(scope="module")
def address(made: Made) -> Iterator[str]:
    """The viewer of the paper's size."""
    with viewer(made.run("paper")) as url:
        yield url


def test_the_first_page_is_there_before_everything_is_counted(
    open_page: Opener, address: str
) -> None:
    page = open_page(address).page
    page.locator("ol.questions li").first.wait_for(timeout=10_000)
    assert "5,013 questions" in content(page)
    counted(page)
    flips = page.locator("ol.questions dl.figures > div:first-child dd").all_inner_texts()
    shares = [float(text.split("%")[0]) for text in flips]
    assert len(shares) > 20
    assert shares == sorted(shares, reverse=True)
    page.get_by_role("searchbox").fill(ID)
    until(page, lambda: page.locator("ol.questions li").count() == 1)
    assert ID in content(page)


def test_a_question_with_all_its_answers(open_page: Opener, address: str) -> None:
    page = open_page(f"{address}question?id={ID}").page
    assert cells(page).count() == 41 * 48
    cells(page).nth(1000).click()
    opened_cell(page)
    fresh = open_page(page.url).page
    assert cells(fresh).count() == 41 * 48
    assert fresh.locator("[aria-selected=true]").count() == 1


@pytest.mark.parametrize("width", [390, 1366])
def test_axe_finds_nothing_serious_and_nothing_sticks_out(
    open_page: Opener, address: str, width: int
) -> None:
    page = open_page(f"{address}question?id={ID}", width=width).page
    cells(page).nth(1000).click()
    opened_cell(page)
    assert violations(page) == []
    assert overflow(page) == []
