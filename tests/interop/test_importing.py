from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from designs import responses
from nongrata.errors import NongrataError
from nongrata.interop import (
    TableMapping,
    from_table,
    import_table,
    import_to_folder,
    load_import,
    load_responses,
    option_codes,
    settling,
)

LONG = TableMapping(
    item="id",
    persona="who",
    factors=["fmt"],
    answer="said",
    gold="key",
    options=["A", "B", "C", "D"],
)


def table(path: Path, *rows: str, header: str = "id,who,fmt,said,key") -> Path:
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return path


def as_rows(dataset: Any) -> pl.DataFrame:
    """A Dataset of responses as somebody would write it down; what is missing has no row."""
    frame = dataset[["option", "outcome"]].to_dataframe().reset_index()
    found = pl.from_pandas(frame).filter(pl.col("outcome") < 4)
    gold = dict(
        zip(dataset["question"].to_numpy().tolist(), dataset["answer"].to_numpy(), strict=True)
    )
    return found.select(
        "model",
        "persona",
        *dataset.attrs["factors"],
        "replicate",
        "question",
        "domain",
        "cluster",
        "source",
        "n_options",
        said=pl.when(pl.col("outcome") == 0)
        .then(pl.col("option").replace_strict(dict(enumerate("ABCD")), default=""))
        .otherwise(pl.lit("")),
        key=pl.col("question").map_elements(lambda q: "ABCD"[gold[q]], return_dtype=pl.String),
    )


MAPPED = {
    "item": "question",
    "persona": "persona",
    "factors": ["format"],
    "temperature": "temperature",
    "replicate": "replicate",
    "model": "model",
    "answer": "said",
    "gold": "key",
    "domain": "domain",
    "cluster": "cluster",
    "source": "source",
    "options": ["A", "B", "C", "D"],
    "options_column": "n_options",
    "controls": ["control-0"],
}


@settings(max_examples=15)
@given(
    st.integers(0, 10**6),
    st.sampled_from([0.0, 0.3]),
    st.sampled_from([0.0, 0.2]),
    st.integers(1, 3),
    st.integers(0, 10**6),
)
def test_a_dataset_written_down_in_any_order_comes_back(
    seed: int, lost: float, unread: float, replicates: int, order: int
) -> None:
    made = responses(
        seed=seed, lost=lost, unread=unread, replicates=replicates, questions=6, models=2
    )
    rows = as_rows(made).sample(fraction=1.0, shuffle=True, seed=order)
    found = from_table(rows, **MAPPED)
    assert found.attrs["import"]["malformed"]["total"] == 0
    assert found["temperature"].to_numpy().tolist() == ["0", "0.5", "1"]
    found = found.assign_coords(temperature=[0.0, 0.5, 1.0])
    dims = ("model", "persona", "format", "temperature", "replicate", "question")
    found = found.reindex({d: made[d].to_numpy() for d in dims}, fill_value=255).transpose(*dims)
    wanted, got = made["outcome"].to_numpy(), found["outcome"].transpose(*dims).to_numpy()
    there = wanted < 4
    assert ((got < 4) == there).all()
    assert ((got == 0) == (wanted == 0)).all()
    option = found["option"].transpose(*dims).to_numpy()
    assert (option == made["option"].to_numpy())[wanted == 0].all()
    for name in ("answer", "n_options", "domain", "cluster", "source"):
        kept = np.isin(made["question"].to_numpy(), rows["question"].to_numpy())
        assert (found[name].to_numpy() == made[name].to_numpy())[kept].all()


def test_everything_malformed_is_named_counted_and_written_down(tmp_path: Path) -> None:
    path = table(
        tmp_path / "t.csv",
        "q1,a,x,A,A",
        "q1,b,x,B,A",
        ",a,x,A,A",
        "q2,a,x,A,",
        "q2,a,x,A,E",
        "q1,a,y,A,B",
        "q2,a\0,x,A,A",
        "q2,a",
        "q2,a,y,a,A",
    )
    about = import_to_folder(path, tmp_path / "out", LONG)
    bad = about["malformed"]
    assert sorted((r["place"], r["kind"]) for r in bad["first"]) == [
        (f"{path}:4", "the item is empty"),
        (f"{path}:5", "the right answer is empty"),
        (f"{path}:6", "the right answer is none of the options"),
        (f"{path}:7", "another right answer than in the item's first row"),
        (f"{path}:8", "a NUL character in 'persona'"),
        (f"{path}:9", "the number of cells is not the header's"),
    ]
    assert bad["total"] == sum(bad["by_kind"].values()) == 6
    lines = (tmp_path / "out" / "malformed.jsonl").read_text().splitlines()
    assert sorted(json.loads(line)["line"] for line in lines) == [4, 5, 6, 7, 8, 9]
    counts = about["counts"]
    assert counts["rows"] == 9
    assert (counts["answers"], counts["right"], counts["strays"]) == (3, 1, 1)
    assert about["strays"] == {"a": 1}


def test_strict_refuses_the_first_of_them(tmp_path: Path) -> None:
    path = table(tmp_path / "t.csv", "q1,a,x,A,A", "q1,a,y,A")
    with pytest.raises(NongrataError, match=r"t\.csv:3: the row has 4 cells.*--strict"):
        import_to_folder(path, tmp_path / "out", LONG, strict=True)
    assert not (tmp_path / "out").exists()
    import_to_folder(path, tmp_path / "out", LONG)
    with pytest.raises(NongrataError, match=r"t\.csv:3"):
        import_to_folder(path, tmp_path / "out", LONG, strict=True)


def test_repeats_have_a_column_or_come_in_order(tmp_path: Path) -> None:
    rows = ["q1,a,x,A,A,2", "q1,a,x,B,A,10", "q1,a,x,C,A,1"]
    path = table(tmp_path / "t.csv", *rows, header="id,who,fmt,said,key,run")
    named = import_table(path, **{**LONG.model_dump(exclude_none=True), "replicate": "run"})
    assert named.attrs["import"]["replicate_names"] == ["1", "2", "10"]
    assert named["option"].to_numpy().ravel().tolist() == [2, 0, 1]
    numbered = import_table(path, **LONG.model_dump(exclude_none=True))
    assert numbered["option"].to_numpy().ravel().tolist() == [0, 1, 2]
    assert any("numbered in the order" in note for note in numbered.attrs["import"]["notes"])


def test_what_is_there_twice_is_named_and_conflicts_keep_the_first(tmp_path: Path) -> None:
    rows = ["q1,a,x,A,A,1", "q1,a,x,A,A,1", "q1,a,x,B,A,1", "q1,a,x,,A,1", "q1,b,x,A,A,1"]
    path = table(tmp_path / "t.csv", *rows, header="id,who,fmt,said,key,run")
    mapping = {**LONG.model_dump(exclude_none=True), "replicate": "run"}
    found = import_table(path, **mapping)
    about = found.attrs["import"]
    assert (about["counts"]["same_twice"], about["counts"]["conflicting"]) == (1, 2)
    assert found["option"].to_numpy().ravel().tolist() == [0, 0]
    said = [r["what"] for r in about["malformed"]["first"]]
    assert said[1] == "item 'q1' has 'B' here and 'A' before; the first was kept"
    assert said[2] == "item 'q1' has no answer here and 'A' before; the first was kept"
    with pytest.raises(NongrataError, match=r"t\.csv:3"):
        import_table(path, strict=True, **mapping)


def test_what_is_missing_stays_missing_and_what_is_empty_is_unread(tmp_path: Path) -> None:
    path = table(tmp_path / "t.csv", "q1,a,x,,A", "q1,b,x,NA,A", "q2,a,x,A,A")
    mapping = LONG.model_dump(exclude_none=True)
    found = import_table(path, **{**mapping, "missing": "NA"})
    outcome = found["outcome"].isel(model=0, fmt=0, replicate=0)
    assert outcome.to_numpy().tolist() == [[1, 0], [255, 255]]
    assert found.attrs["import"]["counts"]["not_obtained"] == 1
    found = import_table(path, **{**mapping, "empty": "missing", "missing": "NA"})
    assert int((found["outcome"] == 255).sum()) == 3


def test_case_is_folded_only_where_asked(tmp_path: Path) -> None:
    path = table(tmp_path / "t.csv", "q1,a,x, a ,A", "q1,b,x,A,A")
    mapping = LONG.model_dump(exclude_none=True)
    assert import_table(path, **mapping).attrs["import"]["counts"]["right"] == 1
    folded = import_table(path, **{**mapping, "fold_case": True})
    assert folded.attrs["import"]["counts"]["right"] == 2


def test_labels_are_shared_and_texts_are_each_questions_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = table(tmp_path / "t.csv", "q1,a,x,no,yes", "q1,b,x,yes,yes", "q2,a,x,no,no")
    mapping = {**LONG.model_dump(exclude_none=True), "options": None}
    shared = import_table(path, **mapping)
    assert shared.attrs["options_are"] == "labels"
    assert shared["answer"].to_numpy().tolist() == [1, 0]
    assert shared["n_options"].to_numpy().tolist() == [0, 0]
    monkeypatch.setattr(option_codes, "MOST_SHARED", 1)
    own = import_table(path, **{**mapping, "options": 2})
    assert own.attrs["options_are"] == "texts"
    assert own.attrs["options_permuted"] is None
    assert own["n_options"].to_numpy().tolist() == [2, 2]
    for found in (shared, own):
        right = (found["option"] == found["answer"]) & (found["outcome"] == 0)
        assert right.to_numpy().ravel().tolist() == [False, True, True, False]


def test_a_question_with_very_many_answers_keeps_right_apart_from_wrong() -> None:
    texts = [f"text {i:03d}" for i in range(300)]
    frame = pl.DataFrame({"id": ["q"] * 300, "said": texts, "key": ["text 299"] * 300})
    found = from_table(frame, item="id", answer="said", gold="key")
    option, gold = found["option"].to_numpy().ravel(), found["answer"].item()
    assert (option == gold).tolist() == [text == "text 299" for text in texts]
    assert found.attrs["import"]["counts"]["right"] == 1
    assert any("128 different answers" in note for note in found.attrs["import"]["notes"])


def test_correct_has_its_spellings_and_no_others(tmp_path: Path) -> None:
    words = ["1", "0", "True", "false", "YES", "no", "1.0", "0.0", "", "2", "right"]
    path = table(tmp_path / "t.csv", *(f"q{i},{w}" for i, w in enumerate(words)), header="id,ok")
    about = import_table(path, item="id", correct="ok").attrs["import"]
    assert (about["counts"]["right"], about["counts"]["read"]) == (4, 8)
    assert about["counts"]["unread"] == 1
    assert [r["what"].split(" ")[0] for r in about["malformed"]["first"]] == ["'2'", "'right'"]


def test_several_columns_can_name_an_item(tmp_path: Path) -> None:
    rows = ["a/b,c,1", "a,b/c,0", "a,b,1"]
    path = table(tmp_path / "t.csv", *rows, header="set,no,ok")
    found = import_table(path, item=["set", "no"], correct="ok")
    assert found.sizes["question"] == 3


def test_a_control_that_no_row_has_is_refused(tmp_path: Path) -> None:
    path = table(tmp_path / "t.csv", "q1,nurse,x,A,A")
    with pytest.raises(NongrataError, match="no row has the control 'nurze'; did you mean 'nurse'"):
        import_table(path, **{**LONG.model_dump(exclude_none=True), "controls": ["nurze"]})


def test_temperatures_are_numbers(tmp_path: Path) -> None:
    path = table(tmp_path / "t.csv", "q1,10,1", "q1,9,1", header="id,heat,ok")
    found = import_table(path, item="id", correct="ok", temperature="heat")
    assert found["temperature"].to_numpy().tolist() == ["9", "10"]
    assert found["sampling_temperature"].to_numpy().tolist() == [9.0, 10.0]
    path = table(tmp_path / "u.csv", "q1,hot,1", header="id,heat,ok")
    with pytest.raises(NongrataError, match="'hot' is no sampling temperature"):
        import_table(path, item="id", correct="ok", temperature="heat")


def test_a_design_too_hollow_to_hold_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settling, "MOST_CELLS", 50)
    path = table(tmp_path / "t.csv", *(f"q{i},{i},1" for i in range(10)), header="id,run,ok")
    with pytest.raises(NongrataError, match=r"100 answers.*and the table has 10"):
        import_table(path, item="id", factors=["run"], correct="ok")


def test_a_folder_is_whole_or_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = table(tmp_path / "t.csv", "q1,a,x,A,A")
    out = tmp_path / "deep" / "out"

    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("nongrata.interop.importing.write_record", interrupt)
    with pytest.raises(KeyboardInterrupt):
        import_to_folder(path, out, LONG)
    assert list(out.parent.iterdir()) == []
    monkeypatch.undo()
    import_to_folder(path, out, LONG)
    assert sorted(file.name for file in out.iterdir()) == [
        "answers.parquet",
        "import.json",
        "malformed.jsonl",
        "questions.parquet",
    ]


def test_the_same_import_again_is_no_work_and_another_is_refused(tmp_path: Path) -> None:
    path, out = table(tmp_path / "t.csv", "q1,a,x,A,A"), tmp_path / "out"
    out.mkdir()
    first = import_to_folder(path, out, LONG)
    before = {file.name: file.stat().st_mtime_ns for file in out.iterdir()}
    assert import_to_folder(path, out, LONG) == first
    assert before == {file.name: file.stat().st_mtime_ns for file in out.iterdir()}
    other = TableMapping(item="id", answer="said", gold="key")
    with pytest.raises(NongrataError, match="holds another import"):
        import_to_folder(path, out, other)
    table(path, "q1,a,x,B,A")
    with pytest.raises(NongrataError, match="holds another import"):
        import_to_folder(path, out, LONG)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.tex").touch()
    with pytest.raises(NongrataError, match="is no import"):
        import_to_folder(path, tmp_path / "full", LONG)


def test_a_loaded_folder_is_what_was_read(tmp_path: Path) -> None:
    path = table(tmp_path / "t.csv", "q1,a,x,A,A", "q2,b,y,B,A")
    import_to_folder(path, tmp_path / "out", LONG)
    path.unlink()  # the folder needs nothing else
    (tmp_path / "out").rename(tmp_path / "moved")
    told: list[tuple[int, int]] = []
    found = load_responses(tmp_path / "moved", lambda done, total: told.append((done, total)))
    assert told == [(2, 2)]
    assert found.equals(load_import(tmp_path / "moved"))
    assert found["theta"].isnull().all()
    assert not found["duplicate"].any()
    assert found.attrs["stored_rows"] == 2


@pytest.mark.parametrize("name", ["answers.parquet", "questions.parquet", "import.json"])
def test_a_damaged_folder_is_refused(tmp_path: Path, name: str) -> None:
    path = table(tmp_path / "t.csv", "q1,a,x,A,A")
    import_to_folder(path, tmp_path / "out", LONG)
    file = tmp_path / "out" / name
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 0xFF
    file.write_bytes(content)
    with pytest.raises(NongrataError):
        load_import(tmp_path / "out")


def test_no_run_and_no_import_is_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(NongrataError):
        load_responses(tmp_path)
    with pytest.raises(NongrataError, match="this is no imported table"):
        load_import(tmp_path)


def test_uses_are_said_for_each_analysis(tmp_path: Path) -> None:
    path = table(tmp_path / "t.csv", "q1,a,x,A,A", "q1,b,y,A,A")
    uses = {
        use["analysis"]: use
        for use in import_table(path, **LONG.model_dump(exclude_none=True)).attrs["import"][
            "usable"
        ]
    }
    assert uses["contrasts with controls"]["can"] == "no"
    assert uses["sampling noise"]["can"] == "no"
    assert uses["variance components"]["can"] == "no"
    assert "2 of 4" in uses["variance components"]["why"]
    assert uses["accuracy against chance"]["can"] == "yes"
