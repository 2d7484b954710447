from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace
from html import unescape
from importlib.resources import files
from typing import Any

import pytest

from nongrata.report.document.blocks import Document, Table
from nongrata.report.languages.language import Language, catalogue, language
from nongrata.report.page.markup import PieceMarkup
from nongrata.report.page.masthead import masthead
from nongrata.report.page.page import SCRIPTS, render_page
from nongrata.report.page.script_data import packed, script_json, unpacked
from nongrata.report.page.table_markup import table_markup
from nongrata.report.page.words import WORDS
from nongrata.terminal import visible
from report.page.parsed import Element, parsed, script_data
from report.page.small_documents import HOSTILE, document

ASSETS = files("nongrata.report.page") / "assets"
ENGLISH = Language("en", {})


@pytest.fixture(scope="module")
def html() -> str:
    return render_page(document(), ENGLISH)


@pytest.fixture(scope="module")
def page(html: str) -> Element:
    return parsed(html)


@pytest.fixture(scope="module")
def hostile() -> str:
    return render_page(document(HOSTILE), language("es"))


def test_it_has_landmarks_and_headings_in_order(page: Element) -> None:
    assert page.one("html").attributes["lang"] == "en"
    assert page.one("title").text == "a-cook"
    for tag in ("header", "nav", "main", "footer", "form"):
        page.one(tag)
    assert [e.tag for e in page.all() if re.fullmatch(r"h\d", e.tag)] == ["h1", "h2"]
    assert page.one("section").attributes["aria-labelledby"] == "one-title"


def test_ids_are_unique_and_what_refers_to_them_finds_them(page: Element) -> None:
    ids = Counter(e.attributes["id"] for e in page.all() if "id" in e.attributes)
    assert not [each for each, times in ids.items() if times > 1]
    for element in page.all():
        for name in ("aria-labelledby", "aria-describedby", "for", "data-for"):
            for target in element.attributes.get(name, "").split():
                assert target in ids, (name, target)
        link = element.attributes.get("href", "")
        assert not link.startswith("#") or link[1:] in ids


def test_nothing_is_fetched(html: str, page: Element) -> None:
    policy = page.one("meta", http_equiv="Content-Security-Policy").attributes["content"]
    assert policy.startswith("default-src 'none';")
    assert "unsafe-eval" not in policy
    assert "connect-src" not in policy
    fetching = [e for e in page.all() if e.tag in {"img", "iframe", "object", "embed", "base"}]
    assert not fetching
    for element in page.all():
        assert "src" not in element.attributes
        assert element.attributes.get("href", "#")[0] == "#" or element.tag == "link"
    assert page.one("link").attributes["href"] == "data:,"
    own = html.replace(page.all("script", type="module")[0].text, "")
    without = re.sub(r'<script type="module">.*?</script>', "", own, count=1, flags=re.DOTALL)
    assert "http://" not in without
    assert "https://" not in without
    assert "url(" not in page.one("style").text
    assert "@import" not in page.one("style").text


def test_a_table_says_what_heads_what(page: Element) -> None:
    table = page.one("table", id="rows")
    assert [th.attributes["data-key"] for th in table.all("th", scope="col")] == [
        "label", "n", "effect", "p", "says",
    ]  # fmt: skip
    assert [th.text for th in table.all("th", scope="row")] == ["a-cook", "b"]
    assert [th.text for th in table.all("th", scope="rowgroup")] == ["group a-cook", "group b"]
    assert table.all("th", scope="col")[2].text == "effect (points)"
    assert [td.text for td in table.all("tr")[2].all("td")] == [
        "1,200", "+0.33 [0.25, 0.50]", ".010", "not rankable",
    ]  # fmt: skip
    help_ = table.all("th", scope="col")[1].attributes["aria-describedby"]
    assert page.one("div", id=help_).text == "nhow many"
    region = page.one("div", role="region", aria_labelledby="rows-caption")
    assert region.attributes["tabindex"] == "0"


def test_a_row_says_what_it_is_about_unless_its_heading_does() -> None:
    row = document().sections[0].blocks[3]
    assert isinstance(row, Table)
    assert row.rows[0].facets == {"persona": "a-cook"}
    same, other = row.rows[0], replace(row.rows[0], facets={"persona": "b", "domain": "law"})
    made = table_markup(replace(row, rows=(same, other)), PieceMarkup(ENGLISH))
    html = f"<table>{made.bodies}</table>"
    found = [e for e in parsed(html).all("tr") if e.attributes.get("class") != "group"]
    assert "data-persona" not in found[0].attributes
    assert found[1].attributes["data-persona"] == "b"
    assert found[1].attributes["data-domain"] == "law"


def test_why_a_number_is_undefined_stands_under_the_table(page: Element) -> None:
    assert page.one("table", id="rows").all("tr")[-1].all("td")[1].text == "–a"
    assert page.all("dl", class_="reasons")[0].text == "–aonly one level (a-cook)"


def test_a_chart_has_words_and_a_table_beside_it(page: Element) -> None:
    figure = page.one("figure", id="bars")
    drawn = figure.one("div", role="img")
    assert drawn.attributes["data-chart"] == "bars"
    assert figure.one("figcaption").text == "Bars of a-cook"
    assert page.one("p", id=drawn.attributes["aria-describedby"]).text == "A bar for each row."
    assert figure.one("details").one("table").attributes["id"] == "bars-table"


def test_a_table_that_stands_in_the_report_is_not_repeated() -> None:
    whole = document()
    section = whole.sections[0]
    *others, table, chart = section.blocks
    same = replace(section, blocks=(*others, table, replace(chart, table=table)))
    page = parsed(render_page(replace(whole, sections=(same,)), ENGLISH))
    page.one("table", id="rows")
    assert page.one("figure", id="bars").one("a").attributes["href"] == "#rows"


def test_the_data_of_every_chart_is_there_once(page: Element) -> None:
    given = unpacked(script_data(page)["packed"])
    assert given["charts"]["bars"]["data"] == ["data-bars"]
    assert given["charts"]["bars"]["title"] == "Bars of a-cook"
    assert given["data"] == {
        "data-bars": {
            "who": {"values": ["a-cook", "b"]},
            "p": {"values": [0.01, 0.5], "path": "/rows/*/p"},
        }
    }


def test_what_can_be_filtered_by_is_there_if_there_is_a_choice(page: Element) -> None:
    shown = {e.attributes["data-facet"] for e in page.all("select") if "data-facet" in e.attributes}
    assert shown == {"model", "persona"}
    assert page.one("p", class_="lead").text == "a-cook has 0.01%."
    assert "data-model" in page.one("figure", id="bars").attributes or page.all(
        "div", class_="block chart", data_model="a-cook"
    )


def test_notices_that_there_is_no_result_stand_first(page: Element) -> None:
    assert page.one("p", class_="banner").text == (
        "Not a result: a-cook is simulated: no language model was asked"
    )
    assert page.one("header").one("details").one("li").text == "many answers were not read"


def test_without_results_there_is_no_masthead_to_fill() -> None:
    head = masthead(replace(document(), results={}))
    assert (head.subtitle, head.banner, head.notices) == (None, (), ())


def test_a_hostile_name_is_text_everywhere(hostile: str) -> None:
    page = parsed(hostile)
    assert not [
        e for e in page.all("script") if "alert(1)" in e.text and "type" not in e.attributes
    ]
    assert len(page.all("script")) == 4
    assert not [e for e in page.all() if any(name.startswith("on") for name in e.attributes)]
    assert page.one("title").text == visible(HOSTILE, one_line=True)
    assert page.one("h1").text == visible(HOSTILE, one_line=True)
    for raw in ("\x00", "\x1b", "\u202e"):
        assert raw not in hostile
    hostile.encode()  # no half of a surrogate pair


def test_a_hostile_value_of_a_facet_is_the_same_for_filter_and_block(hostile: str) -> None:
    page = parsed(hostile)
    shown = visible(HOSTILE, one_line=True)
    assert page.all("div", class_="block table", data_model=shown)
    assert script_data(page)["facets"]["model"] == [shown, "other"]


def test_script_json_cannot_end_its_element() -> None:
    text = script_json({"a": "</script><!--\u2028\ud800&"})
    assert not set("<>&\u2028") & set(text)
    assert json.loads(text) == {"a": "</script><!--\u2028\ud800&"}


def test_what_is_packed_comes_back_and_is_always_the_same() -> None:
    value: Any = {"a": ["\u202e", None, 1e-300, 3]}
    assert unpacked(packed(value)) == value
    assert packed(value) == packed(value)
    with pytest.raises(ValueError, match="not JSON compliant"):
        packed(float("nan"))


def test_spanish_is_spanish_and_english_is_marked_in_it(hostile: str) -> None:
    page = parsed(hostile)
    assert page.one("html").attributes["lang"] == "es"
    assert page.one("button", id="print").text == "Imprimir"
    assert page.one("nav").attributes["aria-label"] == "Índice"
    assert {e.text for e in page.all("span", lang="en")} >= {"careful", "a first thing", "One"}
    assert page.one("p", lang="en").text == "English: nongrata report RUN --lang en"
    assert script_data(page)["words"]["original order"] == "orden original"


def said_by_templates() -> set[str]:
    found: set[str] = set()
    for file in ASSETS.iterdir():
        if file.name.endswith(".j2"):
            text = file.read_text(encoding="utf-8")
            found |= {unescape(each) for each in re.findall(r'(?:say|plain)\("([^"]+)"\)', text)}
    return found


def said_by_scripts() -> set[str]:
    text = "".join(file.read_text(encoding="utf-8") for file in (ASSETS / "js").iterdir())
    found = re.findall(r'say\(\s*(?:\w+ \? )?"([^"]+)"(?: : "([^"]+)")?', text)
    return {english for pair in found for english in pair if english}


def test_every_word_of_the_page_has_a_translation() -> None:
    known = catalogue("es")
    missing = {each for each in said_by_templates() | set(WORDS) if each not in known}
    assert not missing


def test_the_script_says_only_what_it_was_given() -> None:
    text = "".join(file.read_text(encoding="utf-8") for file in (ASSETS / "js").iterdir())
    assert said_by_scripts() <= set(WORDS)
    unused = {w for w in WORDS if w not in text and not w.startswith("sorted by {column}")}
    assert not unused


def test_each_part_of_the_script_is_one_constant_named_as_its_file() -> None:
    names = {file.name.removesuffix(".js") for file in (ASSETS / "js").iterdir()}
    assert names == set(SCRIPTS)
    for name in set(SCRIPTS) - {"start"}:
        text = (ASSETS / "js" / f"{name}.js").read_text(encoding="utf-8")
        code = re.sub(r"^//.*\n", "", text, flags=re.MULTILINE).strip()
        assert code.startswith(f"const {name} = (() => {{\n")
        assert code.endswith("})();")
        assert text.count("\n") < 200


def test_scripts_write_texts_never_markup() -> None:
    text = "".join(file.read_text(encoding="utf-8") for file in (ASSETS / "js").iterdir())
    for dangerous in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
        assert dangerous not in text


def test_a_document_without_charts_is_a_page(html: str) -> None:
    whole = document()
    section = replace(whole.sections[0], blocks=whole.sections[0].blocks[:3])
    page = parsed(render_page(replace(whole, sections=(section,)), ENGLISH))
    assert not page.all("figure")
    assert html


def test_the_same_document_is_the_same_page(html: str) -> None:
    again: Document = document()
    assert render_page(again, ENGLISH) == html
