"""The checks on made questions, and their statistics against independent oracles."""

from __future__ import annotations

import itertools
import json
import math
import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import hypergeom

from nongrata.questions.checks import check_questions
from nongrata.questions.checks.choices import points_at_letters, points_in_words
from nongrata.questions.checks.structure import class_order
from nongrata.questions.checks.wording import log_hypergeometric_p, wording_leak
from nongrata.questions.model import Question, QuestionSet


def make(text: str = "?", choices: tuple[str, ...] = ("x", "y"), answer: int = 0) -> QuestionSet:
    return QuestionSet((Question("q", "s", text, choices, answer, domain="law"),))


def codes(questions: QuestionSet) -> set[str]:
    return {finding.code for finding in check_questions(questions).findings}


def test_a_plain_question_has_nothing_odd() -> None:
    assert codes(make("What is it?", ("one", "another"))) == set()


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("a\x1b[2J", "c0_controls"),
        ("a\x00", "c0_controls"),
        ("a\x9b", "c1_controls"),
        ("a\u202eb", "bidi_controls"),
        ("a\ufeff", "byte_order_marks"),
        ("a\x85b", "next_lines"),
        ("a\rb", "carriage_returns"),
        ("a\tb", "tabs"),
        ("a\xa0b", "no_break_spaces"),
        ("é", "non_ascii"),
        ("=SUM(A1)", "formula_cells"),
        ("a\n \nb", "blank_lines"),
        ("a  b", "double_spaces"),
        ("a ____ b", "fill_in_blanks"),
        ("{{ x }}", "template_brace"),
        ("$x", "template_dollar"),
        ("100%", "template_percent"),
    ],
)
def test_odd_texts_are_found_in_question_and_choice(text: str, code: str) -> None:
    assert code in codes(make(text))
    if code != "fill_in_blanks":
        assert code in codes(make("What is it?", (text, "y")))


@pytest.mark.parametrize(
    ("choices", "code"),
    [
        (("x", "y", "x"), "right_choice_twice"),
        (("y", "x", "x"), "repeated_choices"),
        (("Tt", "tt"), "case_only_choices"),
        (("x", "A"), "label_elsewhere"),
        (("(A) x", "(B) y"), "own_labels"),
        (("1", "2"), "all_label_digits"),
        (("NaN", "y"), "null_words"),
        (("True", "y"), "boolean_words"),
        (("No", "y1"), "yaml_words"),
        (("-1.5e3", "y"), "number_choices"),
    ],
)
def test_odd_choices_are_found(choices: tuple[str, ...], code: str) -> None:
    assert code in codes(make("What is it?", choices))


@pytest.mark.parametrize(
    ("choice", "points"),
    [
        ("A and B", True),
        ("A and B only", True),
        ("both (a) and (b)", True),
        ("(B) (C) and (D).", True),
        ("A, B, and C", True),
        ("Both A & C", True),
        ("Neither A nor B is correct", True),
        ("a. and c. above", True),
        ("Use the method in (A), but hotter", True),
        ("A", False),
        ("Vitamin A and D", False),
        ("A and B are equally good athletes.", False),
        ("P(A and B) = P(A)", False),
        ("a,b in H => a * b in H", False),
        ("C, C++", False),
        ("Add a and b", False),
        ("A bad idea", False),
    ],
)
def test_letters_that_name_choices(choice: str, points: bool) -> None:
    assert points_at_letters(choice) is points


@pytest.mark.parametrize(
    ("choice", "points"),
    [
        ("All of the above", True),
        ("none of these.", True),
        ("None of the other choices is right", True),
        ("All of the options given are correct", True),
        ("Neither of these", True),
        ("all the above", True),
        ("Both", True),
        ("None", True),
        ("Both rise", False),
        ("All citizens", False),
        ("None of the offspring will be affected", False),
        ("above average", False),
        ("Two of a kind", False),
        ("No crime", False),
    ],
)
def test_words_that_point_at_choices(choice: str, points: bool) -> None:
    assert points_in_words(choice) is points


# the order of answers


def test_expected_runs_equal_enumeration() -> None:
    answers = [0, 0, 0, 1, 1, 2]
    runs = [
        1 + sum(a != b for a, b in itertools.pairwise(order))
        for order in itertools.permutations(answers)
    ]
    questions = [Question(str(i), "s", "?", ("a", "b", "c"), a) for i, a in enumerate(answers)]
    found = class_order("s", questions)
    assert found.runs == 3
    assert found.expected == pytest.approx(np.mean(runs), rel=1e-12)
    assert found.z == pytest.approx((3 - np.mean(runs)) / np.std(runs), rel=1e-12)


def test_one_class_or_one_question_is_no_order() -> None:
    for n in (1, 5):
        order = class_order("s", [Question(str(i), "s", "?", ("a", "b"), 0) for i in range(n)])
        assert (order.runs, order.expected, order.z, order.grouped) == (1, 1.0, 0.0, False)


# wording


@given(st.integers(1, 60), st.data())
def test_the_p_value_is_the_hypergeometric_tail(total: int, data: st.DataObject) -> None:
    good = data.draw(st.integers(0, total))
    n = data.draw(st.integers(1, total))
    k = data.draw(st.integers(max(0, n + good - total), min(n, good)))
    tails = hypergeom.sf(k - 1, total, good, n), hypergeom.cdf(k, total, good, n)
    expected = min(1.0, 2 * min(tails))
    assert math.exp(log_hypergeometric_p(k, n, good, total)) == pytest.approx(expected, rel=1e-9)


def test_tiny_p_values_do_not_vanish() -> None:
    assert -4000 < log_hypergeometric_p(0, 1762, 1762, 3524) < -2000


def asked(n: int, ending: str, answer: int | None, chance: random.Random) -> list[Question]:
    return [
        Question(
            f"{ending}/{i}",
            "s",
            f"Story {chance.random()}. {ending}",
            ("yes", "no", "neutral"),
            chance.randrange(3) if answer is None else answer,
        )
        for i in range(n)
    ]


def test_a_leak_is_found_one_word_from_the_end() -> None:
    chance = random.Random(1)
    questions = [
        *asked(100, "Is it really fine?", 0, chance),
        *asked(100, "Is it not fine?", 1, chance),
        *asked(100, "Is it fine?", None, chance),
    ]
    leak = wording_leak("s", questions)
    found = {(e.n, e.label, e.share): e.text for e in leak.endings}
    assert found[100, "yes", 1.0] == "really fine?"
    # "not fine?" may be split off itself, or be what is left of "fine?" without the others
    assert found[100, "no", 1.0] in {"not fine?", "fine?"}
    assert leak.guess > 0.7 > 0.5 > leak.constant


@pytest.mark.parametrize("seed", range(20))
def test_chance_is_no_leak(seed: int) -> None:
    chance = random.Random(seed)
    endings = ["Is it fine?", "Is it good?", "Was it good?", "And now?", "Why?"]
    questions = [q for e in endings for q in asked(80, e, None, chance)]
    leak = wording_leak("s", questions)
    assert leak.endings == ()
    assert leak.guess < leak.constant + 0.05


def test_where_choices_differ_positions_are_judged() -> None:
    questions = [
        Question(str(i), "s", f"{i} is it {'so' if i % 2 else 'thus'}?", (f"a{i}", f"b{i}"), i % 2)
        for i in range(60)
    ]
    leak = wording_leak("s", questions)
    assert leak.labels == "position"
    assert leak.guess == 1.0


def test_a_guess_is_not_tried_on_what_taught_it() -> None:
    """Every ending occurs once: learnt on itself a guess would be perfect, tried anew it is not."""
    chance = random.Random(3)
    questions = [
        Question(str(i), "s", f"Word{i}?", ("a", "b"), chance.randrange(2)) for i in range(400)
    ]
    leak = wording_leak("s", questions)
    assert abs(leak.guess - 0.5) < 0.1


# the report


def test_the_report_is_one_object_for_all_readers() -> None:
    questions = QuestionSet(
        (
            Question("a", "s", "?", ("x", "x"), 0, domain="other", subject="odd"),
            Question("b", "s", "?", ("x", "x"), 0, domain="law"),
        ),
        notes=("read with care",),
    )
    report = check_questions(questions)
    assert report.kind == "questions_report"
    assert str(report).startswith("2 questions, ")
    assert report.finding("unmapped_domains").ids == ("a",)  # type: ignore[union-attr]
    assert report.finding("no such code") is None
    assert report.findings[0].severity == "error"
    frame = report.to_dataframe()
    assert frame.height == len(report.findings)
    assert json.loads(report.to_json())["notes"] == ["read with care"]
    assert Counter(f.code for f in report.findings).most_common(1)[0][1] == 1


def test_a_clean_report_has_an_empty_frame() -> None:
    assert check_questions(make("What is it?", ("one", "another"))).to_dataframe().height == 0
