"""One loader a form: what it reads, and how it refuses what is no question."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nongrata.errors import NongrataError
from nongrata.questions.loaders import load_questions
from nongrata.questions.model import Question
from nongrata.questions.source import SourceSpec

MMLU_HEADER = "question,choice0,choice1,choice2,choice3,answer\n"
NORMAD_HEADER = "ID,Country,Value,Rule-of-Thumb,Story,Gold Label\n"
NORMAL = {"id": "a/1", "question": "1 + 1?", "choices": ["1", "2"], "answer": 1}


def load(folder: Path, file: str, content: str, **given: Any) -> tuple[Question, ...]:
    (folder / file).write_bytes(content.encode())
    spec = SourceSpec.model_validate({"id": "s", "path": file, **given})
    return load_questions(spec, base=folder).questions


def jsonl(*rows: dict[str, Any]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def refused(folder: Path, file: str, content: str, **given: Any) -> str:
    with pytest.raises(NongrataError) as caught:
        load(folder, file, content, **given)
    return str(caught.value).replace(str(folder) + "/", "")


# MMLU


def test_mmlu_csv_takes_its_subject_from_the_file(tmp_path: Path) -> None:
    (found,) = load(
        tmp_path,
        "law_test.csv",
        MMLU_HEADER + 'Who? ,None,"0,1",TRUE,=x,2\n',
        format="mmlu_hub",
    )
    assert found == Question(
        "s/law/0", "s", "Who? ", ("None", "0,1", "TRUE", "=x"), 2, subject="law"
    )


def test_mmlu_parquet_has_lists_and_counts_rows_by_subject(tmp_path: Path) -> None:
    import polars as pl

    pl.DataFrame(
        {
            "question": ["a?", "b?", "c?"],
            "subject": ["x", "y", "x"],
            "choices": [list("1234")] * 3,
            "answer": [0, 1, 3],
        }
    ).write_parquet(tmp_path / "test-00000-of-00001.parquet")
    spec = SourceSpec(id="mmlu", format="mmlu_hub", path="test-00000-of-00001.parquet")
    found = load_questions(spec, base=tmp_path)
    assert [(q.id, q.answer) for q in found] == [
        ("mmlu/x/0", 0),
        ("mmlu/y/0", 1),
        ("mmlu/x/1", 3),
    ]


def test_mmlu_original_has_letters_and_no_header(tmp_path: Path) -> None:
    found = load(
        tmp_path,
        "us_history_dev.csv",
        'A?,1,2,3,4,D\n"multi\nline",a,b,c,d,A\n',
        format="mmlu_original",
    )
    assert [(q.id, q.answer, q.question) for q in found] == [
        ("s/us_history/0", 3, "A?"),
        ("s/us_history/1", 0, "multi\nline"),
    ]


@pytest.mark.parametrize(
    ("form", "file", "content", "said"),
    [
        ("mmlu_hub", "x_test.csv", MMLU_HEADER + "q?,1,2,3,4,4\n", "x_test.csv:2, answer: the an"),
        ("mmlu_hub", "x_test.csv", MMLU_HEADER + "q?,1,2,3,4,A\n", "give a whole number from 0 to"),
        ("mmlu_hub", "x_test.csv", MMLU_HEADER + "q?,1,2,3,,0\n", "has 3 choices, not 4"),
        ("mmlu_hub", "x_test.csv", MMLU_HEADER + "q?,1,,3,4,0\n", "2, choice1: the text is empty"),
        ("mmlu_hub", "x_test.csv", MMLU_HEADER + ",1,2,3,4,0\n", "2, question: the text is empty"),
        ("mmlu_hub", "x.csv", MMLU_HEADER + "q?,1,2,3,4,0\n", "name the file <subject>_test.csv"),
        (
            "mmlu_hub",
            "x_test.csv",
            "qestion,choice0,choice1,choice2,choice3,answer\nq?,1,2,3,4,0\n",
            "the column 'question' is missing; did you mean 'qestion'?",
        ),
        ("mmlu_hub", "x_test.csv", "q?,1,2,3,4,A\nr?,1,2,3,4,B\n", "use the format mmlu_original"),
        ("mmlu_hub", "x.jsonl", jsonl({"question": "q", "subject": "x"}), "x.jsonl:1: the column"),
        ("mmlu_original", "x_test.csv", MMLU_HEADER, "use the format mmlu_hub"),
        ("mmlu_original", "x_test.csv", "q?,1,2,3,4\n", "the row has 5 cells, not 6"),
        ("mmlu_original", "x_test.csv", "q?,1,2,3,4,E\n", "1, answer: the answer is 'E'; give one"),
        ("mmlu_original", "x_test.csv", "q?,1,2,3,4,a\n", "give one letter from A to D"),
        ("mmlu_original", "x_test.csv", "q?,1,2,3,4,AB\n", "give one letter from A to D"),
        ("mmlu_original", "x_test.csv", "q?,1,2,3,4,\n", "give one letter from A to D"),
    ],
)
def test_mmlu_refuses(tmp_path: Path, form: str, file: str, content: str, said: str) -> None:
    assert said in refused(tmp_path, file, content, format=form)


def test_mmlu_choices_are_never_evaluated(tmp_path: Path) -> None:
    content = "question,subject,choices,answer\nq?,x,\"['a', 'b', 'c', 'd']\",0\n"
    assert "write a JSON list" in refused(tmp_path, "x_test.csv", content, format="mmlu_hub")


def test_two_files_of_one_subject_do_not_share_ids(tmp_path: Path) -> None:
    for split in ("dev", "test"):
        (tmp_path / f"x_{split}.csv").write_text(MMLU_HEADER + "q?,1,2,3,4,0\n")
    spec = SourceSpec(id="mmlu", format="mmlu_hub", path=".")
    assert [q.id for q in load_questions(spec, base=tmp_path)] == ["mmlu/x/0", "mmlu/x/1"]


# Social IQa

SIQA = {"context": "c", "question": "q?", "answerA": "x", "answerB": "y", "answerC": "z"}


def test_social_iqa_original_joins_its_labels(tmp_path: Path) -> None:
    (tmp_path / "l.lst").write_text("1\r\n3\n\n")
    found = load(
        tmp_path,
        "dev.jsonl",
        jsonl(SIQA, {**SIQA, "promptDim": "xWant"}),
        format="socialiqa_original",
        labels="l.lst",
    )
    assert [(q.id, q.answer, q.context) for q in found] == [("s/0", 0, "c"), ("s/1", 2, "c")]
    assert found[1].fields == (("promptDim", "xWant"), ("label", "3"))


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        ("1\n", "the labels file ends before the other: it has 1 lines"),
        ("1\n2\n3\n", "the questions file ends before the other: it has 2 lines"),
        ("1\n4\n", "l.lst:2, label: the answer is '4'; give a whole number from 1 to 3"),
        ("1\n \n3\n", "l.lst:2, label: the answer is ' '"),
    ],
)
def test_social_iqa_labels_must_fit(tmp_path: Path, labels: str, said: str) -> None:
    (tmp_path / "l.lst").write_text(labels)
    content = jsonl(SIQA, SIQA)
    assert said in refused(
        tmp_path, "dev.jsonl", content, format="socialiqa_original", labels="l.lst"
    )


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"label": "0"}, "d.jsonl:1, label: the answer is '0'"),
        ({"label": True}, "the answer is True"),
        ({"label": "2", "answerC": ""}, "has 2 choices, not 3"),
        ({"label": "2", "answerB": None}, "answerB: the value is empty (null)"),
        ({"label": "2", "context": 3}, "d.jsonl:1, context: the value is 3, not text"),
        ({"label": "2", "question": "\0"}, "question: the text holds a NUL character"),
        ({"label": "2", "question": "\ud800"}, "half of a surrogate pair at character 1"),
        ({}, "the column 'label' is missing"),
    ],
)
def test_social_iqa_hub_refuses(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    content = jsonl({**SIQA, **change})
    assert said in refused(tmp_path, "d.jsonl", content, format="socialiqa_hub")


# NormAd

NORMAD_ROW = '7,united_states_of_america,Respect,Shake hands. ,"Did ""Al"" wave?",no\n'


@pytest.mark.parametrize(
    ("condition", "context"),
    [
        ("none", ""),
        ("country", "Country: United States of America"),
        ("value", "Country: United States of America\nValue: Respect"),
        ("rule_of_thumb", "Rule of thumb: Shake hands. "),
    ],
)
def test_normad_tells_what_its_condition_says(tmp_path: Path, condition: str, context: str) -> None:
    (found,) = load(
        tmp_path, "n.csv", NORMAD_HEADER + NORMAD_ROW, format="normad_csv", condition=condition
    )
    assert found.context == context
    assert (found.id, found.question, found.answer) == ("s/7", 'Did "Al" wave?', 1)
    assert found.choices == ("yes", "no", "neutral")
    assert found.subject == "united_states_of_america"
    assert found.field_text("rule_of_thumb") == "Shake hands. "


def test_normad_neutral_rows_are_asked_with_the_other_country(tmp_path: Path) -> None:
    header = "ID,Country,Other Country,Story,Gold Label\n"
    rows = "0,egypt,iran,S?,neutral\n1,egypt,iran,S?,yes\n2,egypt,,S?,neutral\n"
    found = load(tmp_path, "n.csv", header + rows, format="normad_csv", condition="country")
    assert [q.context for q in found] == ["Country: Iran", "Country: Egypt", "Country: Egypt"]
    assert {q.subject for q in found} == {"egypt"}


def test_normad_says_when_the_condition_cannot_be_the_authors(tmp_path: Path) -> None:
    (tmp_path / "n.csv").write_text(NORMAD_HEADER + NORMAD_ROW * 1)
    for condition, notes in (("country", 1), ("value", 1), ("rule_of_thumb", 0), ("none", 0)):
        spec = SourceSpec.model_validate(
            {"id": "s", "format": "normad_csv", "path": "n.csv", "condition": condition}
        )
        assert len(load_questions(spec, base=tmp_path).notes) == notes


@pytest.mark.parametrize(
    ("header", "row", "condition", "said"),
    [
        (NORMAD_HEADER, "1,egypt,V,R,S?,maybe\n", "none", "n.csv:2, Gold Label: the gold label is"),
        (
            NORMAD_HEADER,
            "1,egypt,V,,S?,yes\n",
            "rule_of_thumb",
            "which is empty here; this copy al",
        ),
        (NORMAD_HEADER, "1,egypt,V,R,,yes\n", "none", "n.csv:2, Story: the text is empty"),
        (
            "ID,Country,Story,Gold Label\n",
            "1,egypt,S?,yes\n",
            "value",
            "which is not in this copy; this copy allows the condition none or country",
        ),
        ("ID,Country,Stori,Gold Label\n", "1,x,S?,yes\n", "none", "did you mean 'Stori'?"),
    ],
)
def test_normad_refuses(tmp_path: Path, header: str, row: str, condition: str, said: str) -> None:
    assert said in refused(
        tmp_path, "n.csv", header + row, format="normad_csv", condition=condition
    )


def test_normad_ids_must_differ(tmp_path: Path) -> None:
    content = NORMAD_HEADER + NORMAD_ROW * 2
    assert "n.csv:3: the id 's/7' stands here and at n.csv:2; give" in refused(
        tmp_path, "n.csv", content, format="normad_csv", condition="none"
    )


# normalised


def test_normalised_keeps_ids_and_further_columns(tmp_path: Path) -> None:
    row = {**NORMAL, "source": "upstream", "subject": "sums", "cluster": "p1", "split": "test"}
    (found,) = load(tmp_path, "q.jsonl", jsonl(row), format="normalised")
    assert found == Question(
        "a/1",
        "s",
        "1 + 1?",
        ("1", "2"),
        1,
        subject="sums",
        cluster="p1",
        fields=(("source", "upstream"), ("split", "test")),
    )


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"id": None}, "q.jsonl:1, id: the value is empty (null)"),
        ({"id": ""}, "q.jsonl:1, id: the text is empty"),
        ({"choices": ["1"]}, "the question has 1 choices; from 2 to 26 can be asked"),
        ({"choices": ["x"] * 27}, "the question has 27 choices"),
        ({"choices": "1, 2"}, "the choices are not a list"),
        ({"choices": {"a": 1}}, "the choices are not a list"),
        ({"choices": ["1", 2]}, "q.jsonl:1, choices.1: the value is 2, not text"),
        ({"answer": 2}, "give a whole number from 0 to 1"),
        ({"answer": -1}, "the answer is -1"),
        ({"answer": 1.0}, "the answer is 1.0"),
        ({"answer": True}, "the answer is True"),
        ({"rule_of_thumb": "Be kind."}, "NormAd questions need a condition for the source 's'"),
    ],
)
def test_normalised_refuses(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    assert said in refused(tmp_path, "q.jsonl", jsonl({**NORMAL, **change}), format="normalised")


def test_a_condition_is_for_normad_rows_only(tmp_path: Path) -> None:
    assert "needs the column 'rule_of_thumb', which is not in this copy" in refused(
        tmp_path, "q.jsonl", jsonl(NORMAL), format="normalised", condition="rule_of_thumb"
    )


def test_an_empty_file_is_no_source(tmp_path: Path) -> None:
    assert "the source 's' holds no question" in refused(
        tmp_path, "q.jsonl", "\n", format="normalised"
    )


def test_the_starter_set_comes_with_the_package(tmp_path: Path) -> None:
    starter = load_questions(SourceSpec(id="own", format="starter"), base=tmp_path)
    assert len(starter) >= 90
    assert {q.source for q in starter} == {"own"}
    assert len({q.domain for q in starter}) >= 3


# tables

COLUMNS = {"question": "stem", "choices": ["a", "b", "c"], "answer": "key", "id": "no"}


@pytest.mark.parametrize(
    ("form", "key"), [("index0", "1"), ("index1", "2"), ("letter", "B"), ("text", "0,1")]
)
def test_a_table_states_its_answer_in_four_forms(tmp_path: Path, form: str, key: str) -> None:
    (found,) = load(
        tmp_path,
        "t.csv",
        f'no,stem,a,b,c,key,year\n7,q?,None,"0,1",,"{key}",1999\n',
        format="table",
        columns=COLUMNS,
        answer_form=form,
    )
    assert found == Question("s/7", "s", "q?", ("None", "0,1"), 1, fields=(("year", "1999"),))


def test_a_table_may_hold_lists_contexts_subjects_and_passages(tmp_path: Path) -> None:
    columns = {
        "question": "q",
        "choices": "options",
        "answer": "key",
        "context": "passage",
        "subject": "topic",
        "cluster": "passage_id",
    }
    row = {"q": "q?", "options": ["x", "y"], "key": 0, "passage": "P", "topic": None}
    (found,) = load(
        tmp_path,
        "t.jsonl",
        jsonl({**row, "passage_id": "p", "n": 3}),
        format="table",
        columns=columns,
        answer_form="index0",
    )
    assert found == Question(
        "s/0", "s", "q?", ("x", "y"), 0, context="P", cluster="p", fields=(("n", "3"),)
    )


@pytest.mark.parametrize(
    ("row", "form", "said"),
    [
        ("1,q?,x,,z,A", "letter", "t.csv:2, b: the text is empty"),
        ("1,q?,x,,,A", "letter", "the question has 1 choices"),
        ("1,q?,x,y,,C", "letter", "give one letter from A to B"),
        ("1,q?,x,x,y,x", "text", "is the text of 2 of the choices; give the answer as an index"),
        ("1,q?,x,y,z,X", "text", "is the text of none of the choices; write it exactly"),
        ("1,q?,x,y,z,0", "index1", "give a whole number from 1 to 3"),
        (",q?,x,y,z,A", "letter", "t.csv:2, no: the text is empty"),
    ],
)
def test_a_table_refuses(tmp_path: Path, row: str, form: str, said: str) -> None:
    content = f"no,stem,a,b,c,key\n{row}\n"
    assert said in refused(
        tmp_path, "t.csv", content, format="table", columns=COLUMNS, answer_form=form
    )


def test_a_table_column_that_is_missing_is_told_with_a_guess(tmp_path: Path) -> None:
    assert "t.csv:2: the column 'stem' is missing; did you mean 'stems'?" in refused(
        tmp_path,
        "t.csv",
        "no,stems,a,b,c,key\n1,q?,x,y,z,A\n",
        format="table",
        columns=COLUMNS,
        answer_form="letter",
    )


# where


def test_where_keeps_subjects_and_ids(tmp_path: Path) -> None:
    rows = [{**NORMAL, "id": f"a/{i}", "subject": "xy"[i % 2]} for i in range(4)]
    kept = load(tmp_path, "q.jsonl", jsonl(*rows), format="normalised", where={"subject": ["y"]})
    assert [q.id for q in kept] == ["a/1", "a/3"]
    kept = load(tmp_path, "q.jsonl", jsonl(*rows), format="normalised", where={"id": ["a/2"]})
    assert [q.id for q in kept] == ["a/2"]
    assert "where.subject: the source 's' has no question whose subject is 'z'" in refused(
        tmp_path, "q.jsonl", jsonl(*rows), format="normalised", where={"subject": ["z"]}
    )


def test_names_in_data_are_names_and_never_paths(tmp_path: Path) -> None:
    row = {**NORMAL, "id": "../../etc/passwd", "subject": "/etc/shadow", "source": "C:\\x"}
    (found,) = load(tmp_path, "q.jsonl", jsonl(row), format="normalised")
    assert (found.id, found.subject) == ("../../etc/passwd", "/etc/shadow")
    assert [p.name for p in tmp_path.iterdir()] == ["q.jsonl"]
