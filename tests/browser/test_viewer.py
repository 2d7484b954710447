"""The viewer in a browser: the demo's design, one model."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from browser.access import faults_of_tab_walk, violations
from browser.looking import overflow
from browser.opening import Opener
from browser.runs import Made
from browser.viewing import cells, content, counted, opened_cell, until, viewer

pytestmark = pytest.mark.browser

QUESTION = "question?id=starter/mathematics/01"


@pytest.fixture(scope="module")
def address(made: Made) -> Iterator[str]:
    """The viewer of the demo's design."""
    with viewer(made.run("demo")) as url:
        yield url


def test_the_first_page_tells_what_the_run_is(open_page: Opener, address: str) -> None:
    page = open_page(address).page
    counted(page)
    assert "48 configurations" in content(page)
    assert page.locator("ol.questions li").count() == 6
    assert "simulated" in page.locator("#notices").inner_text().lower()


def test_search_and_the_outcome_filter_are_in_the_address(open_page: Opener, address: str) -> None:
    page = open_page(address).page
    counted(page)
    page.get_by_role("searchbox").fill("mathematics")
    page.wait_for_url("**search=mathematics**")
    until(page, lambda: page.locator("ol.questions li").count() < 6)
    found = page.locator("ol.questions li").count()
    assert found > 0
    page.locator("select[name=outcome]").select_option("refused")
    page.wait_for_url("**outcome=refused**")
    page.wait_for_timeout(200)
    shown = page.locator("ol.questions li").count()
    assert shown <= found

    fresh = open_page(page.url).page
    counted(fresh)
    assert fresh.get_by_role("searchbox").input_value() == "mathematics"
    assert fresh.locator("select[name=outcome]").input_value() == "refused"
    assert fresh.locator("ol.questions li").count() == shown


def test_what_flips_most_comes_first(open_page: Opener, address: str) -> None:
    page = open_page(address).page
    counted(page)
    flips = page.locator("ol.questions dl.figures > div:first-child dd").all_inner_texts()
    shares = [float(text.split("%")[0]) for text in flips]
    assert shares == sorted(shares, reverse=True)
    page.locator("select[name=order]").select_option("reverse")
    page.wait_for_url("**order=reverse**")
    first = page.locator("ol.questions dl.figures > div:first-child dd").first
    until(page, lambda: first.inner_text() == flips[-1])


def test_a_question_a_cell_and_the_way_back(open_page: Opener, address: str) -> None:
    page = open_page(address).page
    counted(page)
    listed = page.url
    page.locator("ol.questions a").first.click()
    assert cells(page).count() == 6 * 48
    asked = page.url
    assert "id=" in asked
    cells(page).nth(50).click()
    opened_cell(page)
    assert "cell=" in page.url
    shown = content(page)
    assert "Prompt" in shown or "prompt" in shown

    page.go_back()
    page.wait_for_url(asked)
    page.locator("article.cell").wait_for(state="detached")
    page.go_back()
    page.wait_for_url(listed)
    page.locator("ol.questions").wait_for()
    page.go_forward()
    page.go_forward()
    opened_cell(page)
    assert content(page) == shown


def test_a_link_opened_fresh_shows_the_same(open_page: Opener, address: str) -> None:
    first = open_page(address).page
    counted(first)  # from here on, a question's page does not change by itself
    page = open_page(address + QUESTION).page
    cells(page).nth(3).click()
    opened_cell(page)
    cells(page).nth(100).click(modifiers=["Shift"])
    page.locator("article.cell").nth(1).wait_for()
    assert "beside=" in page.url

    fresh = open_page(page.url).page
    fresh.locator("article.cell").nth(1).wait_for()
    assert content(fresh) == content(page)
    assert fresh.locator("[aria-selected=true]").count() == 2


def test_the_prompt_is_shown_as_it_was_sent(open_page: Opener, address: str, made: Made) -> None:
    import polars as pl

    page = open_page(address + QUESTION).page
    cells(page).first.click()
    shown = opened_cell(page).first.inner_text()
    sent = pl.read_parquet(made.run("demo") / "prompts.parquet")["user"].to_list()
    assert any(all(line in shown for line in user.splitlines() if line) for user in sent)


def test_labels_levels_and_outcomes_can_be_chosen(open_page: Opener, address: str) -> None:
    page = open_page(address + QUESTION).page
    assert cells(page).count() == 6 * 48
    page.locator("details[data-name=label] summary").click()
    page.locator("details[data-name=label] input").first.check()
    until(page, lambda: page.locator("td[data-name]").count() == 48)
    page.locator("details[data-name='level temperature'] summary").click()
    page.locator("details[data-name='level temperature'] input").first.check()
    until(page, lambda: page.locator("td[data-name]").count() == 16)
    page.locator("details[data-name=only] summary").click()
    page.locator("details[data-name=only] input").first.check()
    page.wait_for_url("**only=**")
    names = page.locator("td[data-name]:not(.dim)").count()
    fresh = open_page(page.url).page
    assert cells(fresh).count() == 16
    assert fresh.locator("td[data-name]:not(.dim)").count() == names


def test_arrow_keys_walk_the_matrix_and_enter_opens_a_cell(open_page: Opener, address: str) -> None:
    page = open_page(address + QUESTION).page
    here = "document.activeElement.dataset.name"
    names = cells(page).evaluate_all("all => all.map((each) => each.dataset.name)")
    assert page.locator("td[data-name][tabindex='0']").count() == 1
    page.locator("td[data-name][tabindex='0']").focus()
    walk = {"ArrowRight": 1, "ArrowDown": 49, "ArrowLeft": 48, "ArrowUp": 0, "End": 47, "Home": 0}
    for key, place in walk.items():
        page.keyboard.press(key)
        assert page.evaluate(here) == names[place]
    page.keyboard.press("Control+End")
    assert page.evaluate(here) == names[-1]
    page.keyboard.press("Enter")
    opened_cell(page)
    assert page.evaluate(here) == names[-1]
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Shift+Enter")
    page.locator("article.cell").nth(1).wait_for()
    page.keyboard.press("Escape")
    page.locator("article.cell").first.wait_for(state="detached")
    assert "cell=" not in page.url
    key = "j" if page.locator(".around a[rel=next]").count() else "k"
    page.keyboard.press(key)
    until(page, lambda: "mathematics%2F01" not in page.url)


@pytest.mark.parametrize("width", [390, 1366])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious_and_nothing_sticks_out(
    open_page: Opener, address: str, scheme: str, width: int
) -> None:
    page = open_page(address, width=width, color_scheme=scheme).page
    counted(page)
    assert violations(page) == []
    assert overflow(page) == []
    page.locator("ol.questions a").first.click()
    cells(page).nth(60).click()
    opened_cell(page)
    assert violations(page) == []
    assert overflow(page) == []


@pytest.mark.parametrize("width", [390, 1366])
def test_the_tab_key_reaches_everything(open_page: Opener, address: str, width: int) -> None:
    page = open_page(address, width=width).page
    counted(page)
    assert faults_of_tab_walk(page) == []
    page = open_page(address + QUESTION, width=width).page
    cells(page).nth(60).click()
    opened_cell(page)
    assert faults_of_tab_walk(page) == []


def test_an_address_that_names_nothing_says_so(open_page: Opener, address: str) -> None:
    watched = open_page(address + "question?id=nothing")
    watched.page.get_by_role("alert").wait_for()
    assert "nothing" in watched.page.get_by_role("alert").inner_text()
    said = watched.forgive()
    assert all("404" in each for each in said)
