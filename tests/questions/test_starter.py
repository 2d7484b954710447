"""The starter set is right, balanced and gives nothing away."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from importlib.resources import files
from itertools import combinations, permutations, product
from pathlib import Path

import pytest

from nongrata.questions.model import Question
from nongrata.questions.starter import demo_questions, starter_questions

DOMAINS = ("mathematics", "knowledge", "social_reasoning")
QUESTIONS = tuple(starter_questions())
BY_DOMAIN = {domain: [q for q in QUESTIONS if q.domain == domain] for domain in DOMAINS}
DICE = list(product(range(1, 7), repeat=2))
COINS = list(product("HT", repeat=3))


def solve(holds: Callable[[int], bool]) -> int:
    (found,) = [n for n in range(-200, 201) if holds(n)]
    return found


def share(cases: list, holds: Callable[..., bool]) -> Fraction:
    return Fraction(sum(map(holds, cases)), len(cases))


def prime(n: int) -> bool:
    return n > 1 and all(n % k for k in range(2, n))


def draws_of_two_red() -> Fraction:
    return share(list(combinations("RRRBB", 2)), lambda pair: pair == ("R", "R"))


def flagged_and_faulty() -> Fraction:
    faulty = Fraction(1, 100) * Fraction(90, 100)
    good = Fraction(99, 100) * Fraction(10, 100)
    return faulty / (faulty + good)


# The start of the question -> its answer, computed without looking at the options.
COMPUTED: dict[str, Callable[[], object]] = {
    "What is 7 x 8?": lambda: 7 * 8,
    "What is 144 / 12 - 5?": lambda: 144 // 12 - 5,
    "What is 3/4 + 1/8?": lambda: Fraction(3, 4) + Fraction(1, 8),
    "What is 15% of 240?": lambda: Fraction(15, 100) * 240,
    "What is the remainder when 100": lambda: 100 % 7,
    "Which of these numbers is prime?": lambda: solve(lambda n: n in (51, 57, 59, 87) and prime(n)),
    "What is the greatest common divisor of 84": lambda: math.gcd(84, 126),
    "What is 2 to the power of 10?": lambda: 2**10,
    "If 3x + 5 = 20": lambda: solve(lambda x: 3 * x + 5 == 20),
    "If 2(x - 3) = x + 4": lambda: solve(lambda x: 2 * (x - 3) == x + 4),
    "What is the sum of the two solutions of x^2 - 7x + 10": lambda: sum(
        x for x in range(-99, 99) if x * x - 7 * x + 10 == 0
    ),
    "If f(x) = x^2 - 4x": lambda: 5**2 - 4 * 5,
    "What is the slope": lambda: Fraction(11 - 2, 4 - 1),
    "An arithmetic sequence begins 4, 7, 10": lambda: range(4, 1000, 3)[19],
    "If 2^n = 32 x 4": lambda: solve(lambda n: n >= 0 and 2**n == 32 * 4),
    "In how many different orders can 4 books": lambda: len(list(permutations(range(4)))),
    "In how many ways can 2 of 6": lambda: len(list(combinations(range(6), 2))),
    "How many 3-digit codes": lambda: len(list(product(range(1, 6), repeat=3))),
    "How many different arrangements do the letters of LEVEL": lambda: len(
        set(permutations("LEVEL"))
    ),
    "Eight people each shake hands": lambda: len(list(combinations(range(8), 2))),
    "A path goes from (0, 0) to (3, 2)": lambda: len(set(permutations("RRRUU"))),
    "A fair die is rolled": lambda: share(list(range(1, 7)), lambda n: n > 4),
    "Two fair coins are tossed": lambda: share(
        list(product("HT", repeat=2)), lambda toss: toss.count("H") == 1
    ),
    "Two fair dice are rolled": lambda: share(DICE, lambda pair: sum(pair) == 7),
    "A bag holds 3 red and 2 blue": draws_of_two_red,
    "One part in 100 is faulty": flagged_and_faulty,
    "A fair coin is tossed 3 times": lambda: share(COINS, lambda toss: "H" in toss),
    "A triangle has base 10 cm": lambda: Fraction(10 * 6, 2),
    "The two short sides of a right triangle": lambda: math.isqrt(5**2 + 12**2),
    "What do the angles inside a hexagon": lambda: (6 - 2) * 180,
    "A cube has a volume of 64": lambda: 6 * solve(lambda edge: edge**3 == 64) ** 2,
    "Two angles of a triangle": lambda: 180 - 35 - 75,
    "The radius of a circle is tripled": lambda: 3**2,
    "A train leaves at 13:50": lambda: 13 * 60 + 50 + 95,
    "After a discount of 20%": lambda: 40 / (1 - Fraction(20, 100)),
    "Six workers paint a wall": lambda: Fraction(6 * 4, 8),
    "Ann is 4 times as old as Ben": lambda: solve(lambda ben: 4 * ben + 5 == 3 * (ben + 5)),
    "A car drives 60 km": lambda: 120 / (Fraction(60, 60) + Fraction(60, 30)),
    "A recipe for 4 people": lambda: Fraction(300, 4) * 10,
    "A yard holds 9 vehicles": lambda: solve(lambda cars: 4 * cars + 2 * (9 - cars) == 26),
}


def number(text: str) -> Fraction:
    """Read an option: an integer, a fraction, or a time of day in minutes."""
    if clock := re.fullmatch(r"(\d+):(\d\d)", text):
        return Fraction(int(clock[1]) * 60 + int(clock[2]))
    return Fraction(text)


def characters(q: Question) -> int:
    return len(q.context) + len(q.question) + sum(map(len, q.choices))


@pytest.mark.parametrize("q", BY_DOMAIN["mathematics"], ids=lambda q: q.id)
def test_mathematics_is_computed(q: Question) -> None:
    (start,) = [start for start in COMPUTED if q.question.startswith(start)]
    right = [index for index, text in enumerate(q.choices) if number(text) == COMPUTED[start]()]
    assert right == [q.answer]
    assert list(q.choices) == sorted(q.choices, key=number)


def test_every_computation_is_used() -> None:
    assert len(COMPUTED) == len(BY_DOMAIN["mathematics"])


def test_ids_and_fields() -> None:
    rows = files("nongrata.questions").joinpath("starter.jsonl").read_text("utf-8").split("\n")
    assert rows.pop() == ""
    for row, q in zip(map(json.loads, rows), QUESTIONS, strict=True):
        assert {"why", "demo"} >= row.keys() - {
            *("id", "source", "subject", "domain", "context", "question", "choices", "answer")
        }
        assert isinstance(row["answer"], int)
        assert dict(q.fields).get("why") == row["why"]
        assert row["why"].endswith(".")
    for domain, questions in BY_DOMAIN.items():
        assert [q.id for q in questions] == [
            f"starter/{domain}/{n:02d}" for n in range(1, len(questions) + 1)
        ]
        assert len(questions) >= 32
        assert {len(q.choices) for q in questions} == {3 if domain == "social_reasoning" else 4}
    assert {q.source for q in QUESTIONS} == {"starter"}
    assert [q.domain for q in QUESTIONS[:6]] == [*DOMAINS, *DOMAINS]


def test_texts_are_clean() -> None:
    for q in QUESTIONS:
        for text in (q.context, q.question, q.subject, *q.choices):
            assert text == text.strip(), q.id
            assert "  " not in text
            assert text.isascii()
            assert text.isprintable()
        assert q.question.endswith("?"), q.id
        assert len({choice.casefold() for choice in q.choices}) == len(q.choices)
        assert not any(
            re.search(r"\b(above|these|none|both|all of|neither)\b", choice, re.IGNORECASE)
            for choice in q.choices
        )
        assert not any(re.fullmatch(r"[A-Da-d]", choice) for choice in q.choices)
        assert characters(q) <= 260
    assert sum(characters(q) < 160 for q in QUESTIONS) > len(QUESTIONS) * 0.8


def test_no_question_occurs_twice() -> None:
    stems = Counter((q.context + " " + q.question).casefold() for q in QUESTIONS)
    assert max(stems.values()) == 1
    contexts = Counter(q.context for q in QUESTIONS if q.context)
    assert max(contexts.values()) == 1
    assert len({q.digest() for q in QUESTIONS}) == len(QUESTIONS)


@pytest.mark.parametrize("domain", DOMAINS)
def test_positions_are_balanced(domain: str) -> None:
    questions = BY_DOMAIN[domain]
    options = len(questions[0].choices)
    counts = Counter(q.answer for q in questions)
    for position in range(options):
        assert abs(counts[position] - len(questions) / options) <= 2


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("extreme", [max, min])
def test_length_gives_nothing_away(domain: str, extreme: Callable[..., int]) -> None:
    questions = BY_DOMAIN[domain]
    chance = 1 / len(questions[0].choices)
    hits = 0.0
    for q in questions:
        lengths = [len(choice) for choice in q.choices]
        best = extreme(lengths)
        hits += (lengths[q.answer] == best) / lengths.count(best)
    assert chance - 0.08 <= hits / len(questions) <= chance + 0.08


@pytest.mark.parametrize("domain", DOMAINS)
def test_right_answers_are_not_longer(domain: str) -> None:
    right = [len(q.choices[q.answer]) for q in BY_DOMAIN[domain]]
    wrong = [
        len(choice)
        for q in BY_DOMAIN[domain]
        for index, choice in enumerate(q.choices)
        if index != q.answer
    ]
    assert sum(right) / len(right) <= sum(wrong) / len(wrong)


def test_demo_is_short_and_mixed() -> None:
    demo = list(demo_questions())
    assert Counter(q.domain for q in demo) == dict.fromkeys(DOMAINS, 2)
    assert all(dict(q.fields).get("demo") == "true" for q in demo)
    assert {dict(q.fields).get("demo") for q in QUESTIONS} == {"true", None}
    assert max(map(characters, demo)) <= 110


def test_page_counts_what_there_is() -> None:
    page = Path(__file__).parents[2].joinpath("docs", "starter-questions.md").read_text("utf-8")
    rows = [line.strip("| ").split(" | ") for line in page.split("\n") if line.startswith("| ")]
    assert rows[2:] == [
        [
            domain,
            ", ".join(sorted({q.subject for q in questions})),
            str(len(questions)),
            str(len(questions[0].choices)),
        ]
        for domain, questions in BY_DOMAIN.items()
    ]
    assert f"{len(QUESTIONS)} multiple-choice questions" in page


def test_nothing_is_taken_from_the_benchmarks(shared: Path) -> None:
    """No stem or context is, letter for letter, one of the real sets'."""
    import gzip

    def bare(text: str) -> str:
        return re.sub(r"[^a-z0-9]", "", text.lower())

    theirs = set()
    for path in sorted((shared / "data").glob("*.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8", newline="\n") as lines:
            for line in lines:
                row = json.loads(line)
                theirs |= {bare(row["context"] + row["question"]), bare(row["context"])}
    assert len(theirs) > 10_000
    ours = {bare(q.context + q.question): q.id for q in QUESTIONS}
    assert not {name for text, name in ours.items() if text in theirs}
