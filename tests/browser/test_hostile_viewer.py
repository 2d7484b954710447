"""The viewer of hostile questions, prompts, labels and answers: shown as they are, none acts."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from browser.access import violations
from browser.hostility import foreign, texts, unseen
from browser.looking import overflow
from browser.opening import Opener
from browser.runs import Made
from browser.viewing import cells, counted, opened_cell, viewer
from hostile import HOSTILE

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def address(made: Made) -> Iterator[str]:
    """The viewer of the hostile run."""
    with viewer(made.run("hostile")) as url:
        yield url


def test_the_list_shows_all_and_nothing_acts(open_page: Opener, address: str) -> None:
    page = open_page(address).page
    counted(page)
    page.get_by_role("searchbox").fill(HOSTILE["closing"])
    page.wait_for_timeout(600)
    page.get_by_role("searchbox").fill("")
    page.wait_for_timeout(600)
    page.locator("details summary").first.click()
    assert foreign(page, address) == []
    assert unseen(page) == set()
    assert HOSTILE["script"] in texts(page)


@pytest.mark.parametrize("place", range(len(HOSTILE)))
def test_questions_and_answers_show_and_nothing_acts(
    open_page: Opener, address: str, place: int
) -> None:
    page = open_page(f"{address}question?id=hostile/q{place}").page
    number = cells(page).count()
    for each in {0, 5, number // 2 + place, number - 1 - place}:
        cells(page).nth(each).click()
        opened_cell(page)
    cells(page).nth(7).click(modifiers=["Shift"])
    page.locator("article.cell").nth(1).wait_for()
    assert foreign(page, address) == []
    assert unseen(page) == set()


def test_axe_finds_nothing_serious_and_nothing_sticks_out(open_page: Opener, address: str) -> None:
    page = open_page(address, width=390).page
    counted(page)
    assert violations(page) == []
    assert overflow(page) == []
    page.locator("ol.questions a").first.click()
    cells(page).nth(5).click()
    opened_cell(page)
    assert violations(page) == []
    assert overflow(page) == []
