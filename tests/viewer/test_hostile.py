"""Texts from questions, labels and models arrive as they are, and only as data."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from hostile import HOSTILE, SENDABLE, hostile_run


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory, open_viewer: Any) -> Iterator[Any]:
    with open_viewer(hostile_run(tmp_path_factory.mktemp("hostile"))) as opened:
        yield opened


def every_question(reader: Any) -> list[str]:
    return [q["id"] for q in reader.json("/api/questions", size=500, sort="study")["questions"]]


def test_json_is_ascii_and_no_page(reader: Any) -> None:
    question = every_question(reader)[0]
    for path, values in (
        ("/api/overview", {}),
        ("/api/questions", {}),
        ("/api/question", {"id": question}),
        ("/api/question", {"id": HOSTILE["script"]}),
        ("/api/questions", {"model": HOSTILE["null"]}),
        ("/api/cell", {"id": question, "cell": HOSTILE["attribute"]}),
    ):
        _, headers, body = reader.ask(path, values)
        assert headers["Content-Type"] == "application/json"
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert body.isascii()
        assert b"\x1b" not in body
        json.loads(body)


def test_what_was_sent_and_said_arrives_unaltered(reader: Any) -> None:
    said = set()
    texts = list(SENDABLE.values())
    for i, question in enumerate(every_question(reader)):
        page = reader.json("/api/question", id=question)
        assert any(text in page["question"]["text"] for text in texts)
        label = page["personas"][i % len(texts)]
        levels = next(c for c in page["configurations"] if c[1] == "explain" and c[2] == "1")
        cell = reader.json("/api/cell", id=question, cell=",".join((label, *levels, "0")))
        sent = SENDABLE[label.removeprefix("label-")]
        assert sent in cell["answer"]["system"]
        assert page["question"]["text"] in cell["answer"]["user"]
        said |= {name for name, text in HOSTILE.items() if text in (cell["answer"]["text"] or "")}
        trace = cell["trace"]
        assert trace is None or trace["rule"] == cell["answer"]["rule"]
    assert said


def test_every_hostile_text_can_be_searched_for(reader: Any) -> None:
    for text in SENDABLE.values():
        assert reader.json("/api/questions", search=text[:200])["total"] > 0


def test_the_page_is_the_same_whatever_the_run_says(reader: Any) -> None:
    page = reader.ask("/")[2]
    assert reader.ask("/question", {"id": HOSTILE["script"], "cell": HOSTILE["closing"]})[2] == page
    assert b"window.pwned" not in page
