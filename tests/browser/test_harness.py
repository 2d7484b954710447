"""What the other tests in this folder rely on notices what it must notice."""

from __future__ import annotations

from pathlib import Path

import pytest

from browser.access import faults_of_tab_walk, violations
from browser.looking import faults_of_charts, ink, overflow, paper
from browser.opening import Opener

pytestmark = pytest.mark.browser

GOOD = """<!doctype html><html lang="en" data-ready><head><title>A page</title>
<link rel="icon" href="data:,">
<meta name="viewport" content="width=device-width"></head><body><main><h1>A page</h1>
<p><a href="#end">To the end</a> <button>Press</button></p>{}</main></body></html>"""


@pytest.fixture
def write(tmp_path: Path):
    def page(body: str) -> Path:
        path = tmp_path / "page.html"
        path.write_text(GOOD.replace("{}", body), encoding="utf-8")
        return path

    return page


def test_a_good_page_has_no_complaint(open_page: Opener, write) -> None:
    page = open_page(write("<p id=end>The end</p>"), width=390).page
    assert violations(page) == faults_of_tab_walk(page) == overflow(page) == []


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("<script>console.error('oh')</script>", "console error: oh"),
        ("<script>console.warn('ah')</script>", "console warning: ah"),
        ("<script>throw new Error('uh')</script>", "page error: uh"),
        ("<script>window.pwned = 1</script>", "text was executed"),
        ("<script>alert('hi')</script>", "dialog: hi"),
        ("<img alt='' src='https://example.invalid/x.png'>", "asked for https://example.invalid"),
        ("<img alt='' src='other.png'>", "other.png"),
        ("<script>new WebSocket('ws://127.0.0.1:9')</script>", "asked for ws://127.0.0.1:9"),
        ("<script>fetch('http://127.0.0.1:9')</script>", "asked for http://127.0.0.1:9"),
    ],
)
def test_what_a_page_must_not_do_is_a_complaint(
    open_page: Opener, write, body: str, said: str
) -> None:
    watched = open_page(write(body))
    watched.page.wait_for_timeout(50)
    assert any(said in complaint for complaint in watched.forgive())


def test_a_chart_that_is_not_drawn_is_found(open_page: Opener, write) -> None:
    drawn = """for (let i = 0; i < 40; i++) {
      context.fillStyle = `hsl(${9 * i} 80% 50%)`; context.fillRect(7 * i, 0, 7, 99); }"""
    drawings = {"empty": "", "one": "context.fillRect(0, 0, 999, 999)", "full": drawn}
    body = "".join(
        f"<div data-chart={name}><canvas id={name}></canvas></div><script>{{const context = "
        f"document.getElementById('{name}').getContext('2d'); {how} }}</script>"
        for name, how in drawings.items()
    )
    assert set(faults_of_charts(open_page(write(body)).page)) == {"empty", "one"}


def test_sideways_scrolling_is_found(open_page: Opener, write) -> None:
    wide = open_page(write("<p id=wide style='width: 900px'>wide</p>"), width=390).page
    assert any("wide" in each for each in overflow(wide))


def test_axe_finds_what_cannot_be_read(open_page: Opener, write) -> None:
    page = open_page(write("<img src='data:,'><p style='color: #aaa'>pale</p>")).page
    found = "\n".join(violations(page))
    assert "image-alt" in found
    assert "color-contrast" in found


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("<button style='outline: none'>blind</button>", "focus cannot be seen"),
        ("<a href='#x' onfocus='this.blur()'>shy</a>", "never reached"),
        (
            "<button style='position: fixed; top: 60px'>under</button>"  # noqa: ISC004 - one page
            "<p style='position: fixed; inset: 0 0 auto 0; height: 500px; background: red'></p>",
            "focus is covered",
        ),
    ],
)
def test_what_the_keyboard_cannot_use_is_found(
    open_page: Opener, write, body: str, said: str
) -> None:
    assert any(said in fault for fault in faults_of_tab_walk(open_page(write(body)).page))


def test_a_blank_sheet_has_no_ink(open_page: Opener, write) -> None:
    sheets = paper(open_page(write("<p style='break-before: page; height: 20px'></p>")).page)
    assert [ink(sheet) > 0.0005 for sheet in sheets] == [True, False]
