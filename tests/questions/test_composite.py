"""Stratified, seeded, nested samples that no file order can change."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nongrata.errors import NongrataError
from nongrata.questions.composite import build_questions, load_all, sample, seats
from nongrata.questions.model import Question
from nongrata.questions.source import SourceSpec

FIRST_FOUR = ["q/18", "q/40", "q/17", "q/0"]
FROZEN = "12335c3e2500066146115a487cdaf4652b6cb51545e8e32756ba47a64ef9a48a"
SIZES = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(0, 30), min_size=1)


def made(n: int, prefix: str = "q") -> list[Question]:
    subjects = ("law", "law", "law", "anatomy", "anatomy", "")
    return [
        Question(f"{prefix}/{i}", "made", f"{i}?", ("yes", "no"), i % 2, subject=subjects[i % 6])
        for i in range(n)
    ]


def spec(take: int | None = None, **given_: Any) -> SourceSpec:
    return SourceSpec.model_validate({"id": "made", "format": "starter", "take": take, **given_})


def write(folder: Path, name: str, questions: list[Question]) -> None:
    rows = [
        {
            "id": q.id,
            "subject": q.subject,
            "question": q.question,
            "choices": q.choices,
            "answer": q.answer,
        }
        for q in questions
    ]
    (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows))


def allocation(turns: list[str]) -> dict[str, int]:
    return {name: turns.count(name) for name in turns}


@given(SIZES, st.data())
def test_seats_follow_the_divisor_method(sizes: dict[str, int], data: st.DataObject) -> None:
    """Webster's optimality: no seat can move to a stratum with a higher claim to it."""
    take = data.draw(st.integers(0, sum(sizes.values())))
    got = dict.fromkeys(sizes, 0) | allocation(seats(sizes, take))
    assert sum(got.values()) == take
    assert all(got[name] <= size for name, size in sizes.items())
    weakest = max(
        (Fraction(2 * got[n] - 1, sizes[n]) for n in sizes if got[n]), default=Fraction(0)
    )
    strongest = min(
        (Fraction(2 * got[n] + 1, size) for n, size in sizes.items() if size), default=weakest
    )
    assert weakest <= strongest


@given(SIZES, st.data())
def test_a_larger_sample_begins_with_the_smaller(
    sizes: dict[str, int], data: st.DataObject
) -> None:
    total = sum(sizes.values())
    few = data.draw(st.integers(0, total))
    more = data.draw(st.integers(few, total))
    assert seats(sizes, more)[:few] == seats(sizes, few)


@given(st.integers(1, 40), st.integers(0, 2**62), st.randoms(), st.data())
def test_samples_are_nested_and_know_no_order(
    n: int, seed: int, chance: random.Random, data: st.DataObject
) -> None:
    questions = made(n)
    take = data.draw(st.integers(1, n))
    drawn = sample(spec(take), questions, seed=seed)
    shuffled = chance.sample(questions, n)
    assert drawn == sample(spec(), shuffled, seed=seed)[:take]
    assert len({q.id for q in drawn}) == take


def test_a_sample_is_in_proportion() -> None:
    drawn = sample(spec(60), made(600), seed=5)
    assert allocation([q.subject for q in drawn]) == {"law": 30, "anatomy": 20, "": 10}
    alone = sample(spec(60, stratify="none"), made(600), seed=5)
    assert [q.id for q in alone] != [q.id for q in drawn]


def test_another_seed_draws_others() -> None:
    one, two = (sample(spec(20), made(600), seed=seed) for seed in (1, 2))
    assert {q.id for q in one} != {q.id for q in two}


def test_the_draw_is_frozen(tmp_path: Path) -> None:
    """The same set on every platform and version; a change here breaks every stored study."""
    write(tmp_path, "made.jsonl", made(60))
    source = SourceSpec(id="made", format="normalised", path="made.jsonl", take=12)
    drawn = build_questions([source], seed=20_240_704, base=tmp_path)
    assert [q.id for q in drawn][:4] == FIRST_FOUR
    assert drawn.sha256() == FROZEN


def test_neither_file_order_nor_row_order_matters(tmp_path: Path) -> None:
    questions = made(60)
    write(tmp_path, "a.jsonl", questions[:20])
    write(tmp_path, "b.jsonl", questions[20:])
    write(tmp_path, "all.jsonl", questions[::-1])

    def drawn(path: str | list[str]) -> str:
        given_ = {"id": "made", "format": "normalised", "path": path, "take": 17}
        source = SourceSpec.model_validate(given_)
        return build_questions([source], seed=3, base=tmp_path).sha256()

    assert drawn(["a.jsonl", "b.jsonl"]) == drawn(["b.jsonl", "a.jsonl"]) == drawn("all.jsonl")


def test_sources_stand_in_their_declared_order(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write(tmp_path, f"{name}.jsonl", made(12, name))
    sources = [
        SourceSpec(id=name, format="normalised", path=f"{name}.jsonl", take=take)
        for name, take in (("two", 3), ("one", None))
    ]
    built = build_questions(sources, seed=1, base=tmp_path)
    assert [q.source for q in built] == ["two"] * 3 + ["one"] * 12
    again = build_questions(sources[::-1], seed=1, base=tmp_path)
    assert {q.id: q.cluster for q in built} == {q.id: q.cluster for q in again}
    # the same questions under two names: exact duplicates across sources share a cluster
    assert all(q.cluster.startswith("one/") for q in built)


def test_drawing_more_changes_no_cluster(tmp_path: Path) -> None:
    questions = [*made(6), Question("a/0", "made", "0?", ("no", "yes"), 1, subject="law")]
    write(tmp_path, "q.jsonl", questions)
    sources = [
        SourceSpec(id="made", format="normalised", path="q.jsonl", take=take) for take in (1, 4, 7)
    ]
    few, some, every = (
        {q.id: q.cluster for q in build_questions([s], seed=4, base=tmp_path)} for s in sources
    )
    assert few.items() <= some.items() <= every.items()
    assert every["q/0"] == every["a/0"] == "a/0"


def test_more_than_there_is_cannot_be_drawn() -> None:
    with pytest.raises(NongrataError, match="the source 'made' has 12 questions and take asks"):
        sample(spec(13), made(12), seed=1)


def test_one_id_in_two_sources_is_refused(tmp_path: Path) -> None:
    write(tmp_path, "q.jsonl", made(3))
    sources = [SourceSpec(id=i, format="normalised", path="q.jsonl") for i in ("one", "two")]
    with pytest.raises(NongrataError, match="the id 'q/0' is in the sources 'one' and 'two'"):
        load_all(sources, base=tmp_path)


def test_the_composite_of_the_preset(shared: Path) -> None:
    """1,671 from each of three sources: 3 x 1,671 = 5,013."""
    files = {"mmlu": "mmlu_test", "socialiqa": "socialiqa_dev", "normad_eti": "normad_eti"}

    def build(take: int) -> list[Question]:
        sources = [
            SourceSpec.model_validate(
                {
                    "id": name,
                    "format": "normalised",
                    "path": f"data/{file}.jsonl.gz",
                    "take": take,
                    "condition": "rule_of_thumb" if name == "normad_eti" else None,
                }
            )
            for name, file in files.items()
        ]
        return list(build_questions(sources, seed=1, base=shared))

    built = build(1671)
    assert len(built) == 5013
    for name in files:
        assert sum(q.source == name for q in built) == 1671
    assert len({q.subject for q in built if q.source == "mmlu"}) == 57
    assert len({q.subject for q in built if q.source == "normad_eti"}) == 75
    law = sum(q.subject == "professional_law" for q in built)
    assert abs(law - 1671 * 1534 / 14042) < 1
    smaller = {q.id for q in build(200)}
    assert smaller <= {q.id for q in built}
