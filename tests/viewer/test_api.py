"""What the interface says is what `view_answers` and plain loops say."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nongrata.answer_view import AnswerView, view_answers
from nongrata.viewer.flips import FATES

MODELS = ("sim", "other")


@pytest.fixture(scope="module")
def answers(run: Path) -> dict[tuple[str, str], list[AnswerView]]:
    """Every answer by question and model, read another way."""
    from nongrata.run_folder import read_content

    found = {}
    for question in read_content(run).questions:
        for view in view_answers(run, question.id)[1]:
            found.setdefault((question.id, view.model), []).append(view)
    return found


def fate(view: AnswerView) -> str:
    if view.outcome is None:
        return "missing"
    return view.outcome if view.outcome != "answered" else "right" if view.correct else "wrong"


@pytest.mark.parametrize("counted", [False, True])
@pytest.mark.parametrize("replicate", [0, 2])
@pytest.mark.parametrize("model", MODELS)
def test_a_question_s_cells_are_its_answers(
    reader: Any, answers: Any, model: str, replicate: int, counted: bool
) -> None:
    if counted:
        reader.server.api.counting.wait(model)
    for question, views in ((q, v) for (q, m), v in answers.items() if m == model):
        page = reader.json("/api/question", id=question, model=model, replicate=replicate)
        wide = len(page["configurations"])
        by_cell = {(v.persona, *v.levels.values(), v.replicate): v for v in views}
        for at, (code, option) in enumerate(zip(page["fates"], page["options"], strict=True)):
            p, c = divmod(at, wide)
            repeat = replicate if page["replicates"][c] > replicate else 0
            view = by_cell[page["personas"][p], *page["configurations"][c], repeat]
            assert page["outcomes"][code] == fate(view)
            assert option == (-1 if view.option is None else view.option)
            assert bool(page["duplicates"][at]) == view.duplicate


def test_cells_are_what_view_answers_says(reader: Any, answers: Any) -> None:
    looked_at = set()
    for (question, model), views in answers.items():
        for view in views[:: 13 if model == "sim" else 29]:
            cell = ",".join((view.persona, *view.levels.values(), str(view.replicate)))
            page = reader.json("/api/cell", id=question, model=model, cell=cell)
            assert page["answer"] == view.as_dict()
            assert page["cell"] == cell
            shown = {row["label"]: row["option"] for row in page["offered"]}
            assert view.label is None or shown[view.label] == view.option
            assert len(page["stored"]["request"]) == 32
            assert page["model"]["id"] == model
            if view.text is not None:
                assert page["trace"]["rule"] == view.rule
                assert page["trace"]["outcome"] == view.outcome
            if view.duplicate:
                same = reader.json("/api/cell", id=question, model=model, cell=page["same_as"])
                assert same["answer"]["text"] == view.text
                assert same["answer"]["user"] == view.user
            looked_at.add((view.reading, fate(view), view.duplicate))
    assert {reading for reading, _, _ in looked_at} == {"first_token", "free"}
    assert {what for _, what, _ in looked_at} >= {"right", "wrong", "unparsed"}
    assert {again for _, _, again in looked_at} == {True, False}


def pairwise(cells: list[list[Any]]) -> float | None:
    """Share of pairs of cells that differ, every answer of one against every one of the other."""
    shares = [
        np.mean([x != y for x in one for y in other])
        for one, other in combinations([c for c in cells if c], 2)
    ]
    return float(np.mean(shares)) if shares else None


@pytest.mark.parametrize("model", MODELS)
def test_flips_are_what_plain_loops_count(reader: Any, answers: Any, model: str) -> None:
    reader.server.api.counting.wait(model)
    listed = reader.json("/api/questions", model=model, sort="study")["questions"]
    assert len(listed) == 8
    for entry in listed:
        views = answers[entry["id"], model]
        labels = [p for p in dict.fromkeys(v.persona for v in views) if p.startswith("a-")]
        labels.remove("a-human")
        flips, changes, right = {}, [], []
        for label in labels:
            by_cell: dict[Any, list[AnswerView]] = {}
            for view in views:
                if view.persona == label and not view.duplicate and view.outcome != "error":
                    by_cell.setdefault(tuple(view.levels.values()), []).append(view)
            cells = list(by_cell.values())
            flips[label] = pairwise([[v.correct for v in cell] for cell in cells])
            changes.append(pairwise([[v.option for v in cell] for cell in cells]))
            right += [v.correct for cell in cells for v in cell]
        figures = entry["figures"]
        assert figures["flips"] == pytest.approx(np.mean(list(flips.values())), abs=1e-6)
        assert figures["option_flips"] == pytest.approx(np.mean(changes), abs=1e-6)
        assert figures["right"] == pytest.approx(np.mean(right), abs=1e-6)
        assert figures["label_flips"] == pytest.approx(max(flips.values()), abs=1e-6)
        most = figures["flips_most"]
        assert (flips[most] if most else 0) == pytest.approx(max(flips.values()))
        counts = dict.fromkeys(FATES, 0)
        for view in views:
            counts[fate(view)] += 1
        assert figures["outcomes"] == counts


def test_the_list_is_found_and_ordered(reader: Any, answers: Any) -> None:
    reader.server.api.counting.wait("other")

    def listed(**values: Any) -> list[dict[str, Any]]:
        return reader.json("/api/questions", model="other", **values)["questions"]

    every = listed(sort="study")
    assert [q["id"] for q in every] == list(dict.fromkeys(q for q, _ in answers))
    flips = [q["figures"]["flips"] for q in listed()]
    assert flips == sorted(flips, reverse=True)
    assert [q["figures"]["flips"] for q in listed(order="reverse")] == sorted(flips)
    right = [q["figures"]["right"] for q in listed(sort="right")]
    assert right == sorted(right)
    ids = [q["id"] for q in listed(sort="id")]
    assert ids == sorted(ids)
    domain = every[0]["domain"]
    assert {q["domain"] for q in listed(domain=domain)} == {domain}
    assert listed(source="nowhere") == []
    wanted = {q["id"] for q in every if q["figures"]["outcomes"]["error"]}
    assert 0 < len(wanted) < 8
    assert {q["id"] for q in listed(outcome="error")} == wanted
    words = every[3]["text"].upper().split()[-2:]
    found = listed(search=" ".join(words))
    assert every[3]["id"] in {q["id"] for q in found}
    assert len(found) < 8
    assert listed(search="no such words at all") == []


def test_pages_cut_the_list_and_neighbours_follow_it(reader: Any) -> None:
    reader.server.api.counting.wait("sim")
    whole = [q["id"] for q in reader.json("/api/questions", sort="right")["questions"]]
    pages = [reader.json("/api/questions", sort="right", size=3, page=p) for p in (1, 2, 3)]
    assert [q["id"] for page in pages for q in page["questions"]] == whole
    assert {(page["total"], page["pages"]) for page in pages} == {(8, 3)}
    assert reader.json("/api/questions", sort="right", size=3, page=99)["page"] == 3
    for place, question in enumerate(whole):
        page = reader.json("/api/question", id=question, sort="right")
        assert (page["position"], page["listed"]) == (place + 1, 8)
        assert page["before"] == (whole[place - 1] if place else None)
        assert page["after"] == (whole[place + 1] if place < 7 else None)
    alone = reader.json("/api/question", id=whole[0], source="nowhere")
    assert (alone["position"], alone["before"], alone["after"]) == (None, None, None)


def test_the_overview_is_the_design(reader: Any) -> None:
    found = reader.json("/api/overview")
    assert [m["id"] for m in found["models"]] == ["sim", "other"]
    assert all(m["simulated"] and m["stored"] == m["in_all"] for m in found["models"])
    assert any("SIMULATED" in notice for notice in found["notices"])
    assert [f["name"] for f in found["factors"]] == ["persona_format", "task", "temperature"]
    assert (found["configurations"], found["questions"], found["replicates"]) == (12, 8, 3)
    assert sum(p["control"] for p in found["personas"]) == 2
    assert found["answers_in_all"] == 5 * 8 * 4 * (1 + 3 + 3)


@pytest.mark.parametrize(
    "cell",
    ["", "a-cook", "a-cook,you,answer", "nobody,you,answer,0,0", "a-cook,you,answer,0,1",
     "a-cook,you,answer,0.5,3", "a-cook,you,answer,0,-1", "a-cook,you,answer,0,0,0",
     "a-cook,you,answer,9,0", "a-cook,you,answer,0,٠"],
)  # fmt: skip
def test_a_cell_that_is_not_there_is_one_sentence(reader: Any, cell: str) -> None:
    question = reader.json("/api/questions")["questions"][0]["id"]
    status, _, body = reader.ask("/api/cell", {"id": question, "cell": cell})
    assert status == 404
    assert f"the run has no cell '{cell}'" in body.decode("ascii").encode().decode("unicode_escape")
