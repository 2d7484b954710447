from __future__ import annotations

import pytest

from nongrata.report.document.pieces import Estimate, Name, Names, Number, Text, Verdict
from nongrata.report.languages.language import Language
from nongrata.report.page.markup import InRow, PieceMarkup, Reasons
from report.page.parsed import parsed
from report.page.small_documents import HOSTILE

ENGLISH = PieceMarkup(Language("en", {}))
SPANISH = PieceMarkup(Language("es", {"{who} wins": "gana {who}", "points": "puntos"}, "\u202f"))


def test_a_number_shows_its_digits_and_keeps_the_rest() -> None:
    html = ENGLISH(Number(2 / 3, "/a/b", 1, unit="points"))
    assert html == f'<data value={2 / 3!r} data-path="/a/b">0.7</data>\u00a0points'
    assert ENGLISH(Number(45.83, "/a", 1, unit="%")).endswith(">45.8</data>%")
    assert SPANISH(Number(45.83, "/a", 1, unit="%")).endswith(">45.8</data>\u00a0%")
    assert SPANISH(Number(1, "/a", 0, unit="points")).endswith("\u00a0puntos")


@pytest.mark.parametrize("piece", [
    Name(HOSTILE),
    Names((Name(HOSTILE), Name("b"))),
    Text.of("{who} wins", who=Name(HOSTILE)),
    Number(1.0, f"/x/{HOSTILE}".replace("\ud800", "")),
])  # fmt: skip
def test_names_are_no_markup(piece: Name | Names | Text | Number) -> None:
    root = parsed(str(ENGLISH(piece)))
    assert {element.tag for element in root.all()} <= {"bdi", "data"}
    assert "\x1b" not in root.text
    assert "\u202e" not in root.text
    assert "\x00" not in root.text


def test_a_number_s_path_survives_as_an_attribute() -> None:
    path = "/x/<b>\"'&/0"
    assert parsed(str(ENGLISH(Number(1.0, path)))).one("data").attributes["data-path"] == path


def test_an_interval_is_written_only_whole() -> None:
    value, end, nothing = Number(1.0, "/v", 1), Number(2.0, "/e", 1), Number(None, "/n")
    assert parsed(str(ENGLISH(Estimate(value, value, end)))).text == "1.0 [1.0, 2.0]"
    assert parsed(str(ENGLISH(Estimate(value, nothing, end)))).text == "1.0"


def test_why_a_number_is_undefined_is_said_beside_it() -> None:
    text = parsed(str(ENGLISH(Number(None, "/v", reason="no <pairs>")))).text
    assert text == "– (no <pairs>)"
    assert parsed(str(ENGLISH(Number(None, "/v")))).text == "– (not defined)"


def test_in_a_table_a_letter_points_to_why() -> None:
    reasons = Reasons()
    html = [ENGLISH.html(Number(None, "/v", reason=why), InRow(reasons)) for why in ("b", "a", "b")]
    assert [parsed(each).one("sup").text for each in html] == ["a", "b", "a"]
    assert reasons.pairs == [("a", "b"), ("b", "a")]


def test_letters_go_on_after_z() -> None:
    reasons = Reasons()
    letters = [reasons.mark(str(why)) for why in range(30)]
    assert letters[24:28] == ["y", "z", "aa", "ab"]
    assert len(set(letters)) == 30


def test_what_has_no_translation_is_marked_as_english() -> None:
    assert SPANISH(Text.of("{who} wins", who=Name("Ana"))) == "gana Ana"
    assert SPANISH(Text.of("{who} loses", who=Name("Ana"))) == ('<span lang="en">Ana loses</span>')
    assert SPANISH("never said") == '<span lang="en">never said</span>'
    assert SPANISH(Text.of("{a}: {b}", a=Name("x"), b=Name("y"))) == "x: y"
    assert "lang" not in ENGLISH("never said")


def test_a_name_that_could_turn_the_line_around_is_kept_apart() -> None:
    text = Text.of("{who} wins", who=Name("\u05d0\u05d1 1"))
    assert ENGLISH(text) == "<bdi>\u05d0\u05d1 1</bdi> wins"
    assert ENGLISH(Name("x" * 40)) == f"<bdi>{'x' * 40}</bdi>"
    assert ENGLISH("x" * 40) == f"<bdi>{'x' * 40}</bdi>"
    assert ENGLISH(Name("a-person-with-graduate-level-education")).startswith("a-person")


def test_a_verdict_says_its_word_and_its_kind() -> None:
    html = ENGLISH(Verdict("not rankable"))
    assert html == '<span class="verdict not-rankable">not rankable</span>'
    hostile = parsed(str(ENGLISH(Verdict('x" onclick="y')))).one("span")
    assert set(hostile.attributes) == {"class"}
