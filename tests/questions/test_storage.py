"""questions.parquet gives back what was written."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nongrata.errors import NongrataError
from nongrata.questions.model import Question, QuestionSet
from nongrata.questions.storage import read_questions, write_questions

TEXT = st.text(st.characters(exclude_categories=("Cs",)))
QUESTIONS = st.builds(
    Question,
    id=TEXT,
    source=TEXT,
    question=TEXT,
    choices=st.lists(TEXT, min_size=2, max_size=5).map(tuple),
    answer=st.integers(0, 1),
    context=TEXT,
    subject=TEXT,
    domain=TEXT,
    cluster=TEXT,
    fields=st.lists(st.tuples(TEXT, TEXT), max_size=3).map(tuple),
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(QUESTIONS, max_size=5))
def test_every_text_comes_back(tmp_path: Path, questions: list[Question]) -> None:
    given_set = QuestionSet(tuple(questions))
    write_questions(given_set, tmp_path / "questions.parquet")
    read = read_questions(tmp_path / "questions.parquet")
    assert read == given_set
    assert read.sha256() == given_set.sha256()


def test_what_is_no_questions_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NongrataError, match="there is no such file"):
        read_questions(tmp_path / "questions.parquet")
    (tmp_path / "a.parquet").write_bytes(b"PAR1")
    with pytest.raises(NongrataError, match="not a readable Parquet file"):
        read_questions(tmp_path / "a.parquet")
    pl.DataFrame({"id": ["a"]}).write_parquet(tmp_path / "b.parquet")
    with pytest.raises(NongrataError, match="the column 'answer' is missing"):
        read_questions(tmp_path / "b.parquet")


def test_a_set_is_a_sequence() -> None:
    a, b = (Question(i, "s", "?", ("x", "y"), 0) for i in "ab")
    both = QuestionSet((a, b), notes=("seen",))
    assert both[0] is a
    assert both[:1] == (a,)
    assert list(both) == [a, b]
    assert both == QuestionSet((a, b))
    assert both.to_frame()["id"].to_list() == ["a", "b"]


def test_the_hash_names_content_and_order() -> None:
    a, b = (Question(i, "s", "?", ("x", "y"), 0) for i in "ab")
    changed = Question("a", "s", "?", ("x", "y"), 1)
    hashes = {QuestionSet(qs).sha256() for qs in ((a, b), (b, a), (a,), (changed, b))}
    assert len(hashes) == 4
