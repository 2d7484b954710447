"""Exact duplicates and shared passages form clusters, whatever the order."""

from __future__ import annotations

import random
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from nongrata.questions.clusters import assign_clusters, content_key, duplicate_groups
from nongrata.questions.model import Question


def question(identity: str, text: str = "?", choices: str = "ab", **given_: str) -> Question:
    return Question(identity, given_.pop("source", "s"), text, tuple(choices), 0, **given_)


SMALL = st.lists(
    st.tuples(st.sampled_from("xyz"), st.sampled_from(["ab", "ba", "ac"]), st.sampled_from("|12")),
    max_size=12,
).map(
    lambda rows: [
        question(f"q{i:02}", text, choices, cluster=passage.strip("|"))
        for i, (text, choices, passage) in enumerate(rows)
    ]
)


def brute_force(questions: list[Question]) -> dict[str, str]:
    """Link until nothing changes; every question ends with the smallest id it can reach."""
    own = {q.id: q.cluster for q in questions}
    name = {q.id: q.id for q in questions}
    changed = True
    while changed:
        changed = False
        for a in questions:
            for b in questions:
                linked = content_key(a) == content_key(b) or (
                    own[a.id] == own[b.id] and own[a.id] != a.id and own[b.id] != b.id
                )
                if linked and name[a.id] > name[b.id]:
                    name[a.id] = name[b.id]
                    changed = True
    return name


@given(SMALL, st.randoms())
def test_clusters_are_what_links_reach_in_any_order(
    questions: list[Question], chance: random.Random
) -> None:
    shuffled = chance.sample(questions, len(questions))
    assert {q.id: q.cluster for q in assign_clusters(shuffled)} == brute_force(questions)


@given(SMALL)
def test_nothing_but_the_cluster_changes(questions: list[Question]) -> None:
    found = assign_clusters(questions)
    assert [replace(q, cluster="") for q in found] == [replace(q, cluster="") for q in questions]


def test_duplicates_reach_across_sources_and_need_the_same_context() -> None:
    a = question("a", source="one")
    b = question("b", source="two", choices="ba")
    c = question("c", source="two", context="Told.")
    assert [q.cluster for q in assign_clusters([c, b, a])] == ["c", "a", "a"]
    assert [[q.id for q in g] for g in duplicate_groups([a, b, c])] == [["a", "b"]]


def test_repeated_choices_count_as_often_as_they_stand() -> None:
    a, b = question("a", choices="aab"), question("b", choices="abb")
    assert duplicate_groups([a, b]) == ()


def test_passages_of_two_sources_are_not_one() -> None:
    a = question("a", "x", source="one", cluster="p")
    b = question("b", "y", source="two", cluster="p")
    assert [q.cluster for q in assign_clusters([a, b])] == ["a", "b"]
