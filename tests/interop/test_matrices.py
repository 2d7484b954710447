from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from nongrata.errors import NongrataError
from nongrata.interop import from_table, import_table
from nongrata.interop.table_shapes import NamePattern

RIGHT = np.array([[1, 0, 1, np.nan], [0, 0, 1, 1], [1, 1, 0, 0]])
COLUMNS = ["nurse/a", "nurse/b", "pilot/a", "pilot/b"]


def matrix_csv(path: Path, rows: list[list[Any]]) -> Path:
    path.write_text("\n".join(",".join(map(str, row)) for row in rows) + "\n", encoding="utf-8")
    return path


def as_matrix(dataset: Any) -> np.ndarray:
    """Items by persona and prompt, as `RIGHT`."""
    right = (dataset["option"] == dataset["answer"]).where(dataset["outcome"] == 0)
    right = right.isel(model=0, replicate=0).transpose("question", "persona", "prompt")
    return right.to_numpy().reshape(3, 4)


def cells(turned: bool) -> list[list[str]]:
    body = [["" if np.isnan(v) else str(int(v)) for v in row] for row in RIGHT]
    table = [["item", *COLUMNS], *([f"q{i}", *row] for i, row in enumerate(body))]
    return [list(row) for row in zip(*table, strict=True)] if turned else table


def test_a_matrix_of_items_by_configurations(tmp_path: Path) -> None:
    path = matrix_csv(tmp_path / "m.csv", cells(turned=False))
    found = import_table(path, wide="items", header="{persona}/{prompt}")
    assert found["question"].to_numpy().tolist() == ["q0", "q1", "q2"]
    assert found["persona"].to_numpy().tolist() == ["nurse", "pilot"]
    np.testing.assert_array_equal(as_matrix(found), RIGHT)
    counts = found.attrs["import"]["counts"]
    assert (counts["rows"], counts["answers"], counts["not_obtained"]) == (3, 11, 1)


def test_a_matrix_of_configurations_by_items(tmp_path: Path) -> None:
    path = matrix_csv(tmp_path / "m.csv", cells(turned=True))
    found = import_table(path, wide="configurations", header="{persona}/{prompt}")
    np.testing.assert_array_equal(as_matrix(found), RIGHT)


def test_configurations_named_by_columns(tmp_path: Path) -> None:
    rows = [[*row[0].split("/"), *row[1:]] for row in cells(turned=True)[1:]]
    path = matrix_csv(tmp_path / "m.csv", [["who", "fmt", "q0", "q1", "q2"], *rows])
    found = import_table(path, wide="configurations", persona="who", factors={"prompt": "fmt"})
    np.testing.assert_array_equal(as_matrix(found), RIGHT)


def test_a_numpy_matrix_with_names() -> None:
    found = from_table(
        RIGHT, items=["q0", "q1", "q2"], configurations=COLUMNS, header="{persona}/{prompt}"
    )
    np.testing.assert_array_equal(as_matrix(found), RIGHT)
    whole = from_table(np.nan_to_num(RIGHT).astype(bool))
    assert whole.sizes["setting"] == 4
    assert whole.attrs["factors"] == ["setting"]


def test_a_matrix_may_hold_answers(tmp_path: Path) -> None:
    rows = [["id", "key", "a", "b"], ["q1", "A", "A", "B"], ["q2", "C", "", "C"]]
    path = matrix_csv(tmp_path / "m.csv", rows)
    found = import_table(path, wide="items", item="id", gold="key", options=["A", "B", "C"])
    assert found["option"].to_numpy().ravel().tolist() == [0, -1, 1, 2]
    assert found.attrs["import"]["counts"]["right"] == 2


def test_repeats_in_a_matrix_are_named_by_the_pattern(tmp_path: Path) -> None:
    path = matrix_csv(tmp_path / "m.csv", [["id", "a_1", "a_2", "b_1"], ["q", 1, 0, 1]])
    found = import_table(path, wide="items", header="{prompt}_{replicate}")
    assert found.sizes["replicate"] == 2
    outcome = found["outcome"].to_numpy().reshape(2, 2)
    assert outcome.tolist() == [[0, 0], [0, 255]]


def test_a_bad_cell_of_a_matrix_is_named_and_the_others_are_kept(tmp_path: Path) -> None:
    path = matrix_csv(tmp_path / "m.csv", [["id", "a", "b"], ["q1", 1, 2], ["q2", 0, 1]])
    about = import_table(path, wide="items").attrs["import"]
    assert about["counts"]["answers"] == 3
    assert about["malformed"]["first"][0]["place"] == f"{path}:2"
    assert "'2' for item 'q1'" in about["malformed"]["first"][0]["what"]


def test_a_long_and_a_wide_table_give_the_same() -> None:
    long = [
        (f"q{i}", *COLUMNS[j].split("/"), str(int(RIGHT[i, j])))
        for i in range(3)
        for j in range(4)
        if not np.isnan(RIGHT[i, j])
    ]
    frame = pl.DataFrame(long, schema=["id", "who", "fmt", "ok"], orient="row")
    found = from_table(frame, item="id", persona="who", factors={"prompt": "fmt"}, correct="ok")
    np.testing.assert_array_equal(as_matrix(found), RIGHT)


@pytest.mark.parametrize(
    ("rows", "mapping", "said"),
    [
        ([["id", "a", "a"], ["q", 1, 1]], {"wide": "items"}, "2 columns are called 'a'"),
        (
            [["id", "a-1", "b"], ["q", 1, 1]],
            {"wide": "items", "header": "{prompt}-{replicate}"},
            "the name 'b' does not fit",
        ),
        ([["id"], ["q"]], {"wide": "items"}, "has no columns beside"),
        ([["id", "a"], ["q", 1]], {"wide": "items", "persona": "id"}, "'persona' can be no"),
        (
            [["id", "a"], ["q", 1]],
            {"wide": "configurations", "cluster": "id"},
            "'cluster' can be no column",
        ),
        ([["id", "a"], ["q", 1]], {"wide": "items", "header": "x"}, "is no pattern"),
        ([["id", "a"], ["q", 1]], {"wide": "items", "header": "{answer}"}, "call it my_answer"),
    ],
)
def test_matrices_that_cannot_be_meant(
    tmp_path: Path, rows: list[list[Any]], mapping: dict[str, Any], said: str
) -> None:
    path = matrix_csv(tmp_path / "m.csv", rows)
    with pytest.raises(NongrataError) as error:
        import_table(path, **mapping)
    assert said in str(error.value)


def test_numbers_of_names_must_fit_a_numpy_matrix() -> None:
    with pytest.raises(NongrataError, match="3 x 4, with 2 names of items"):
        from_table(RIGHT, items=["a", "b"])
    with pytest.raises(NongrataError, match="3 dimensions"):
        from_table(np.zeros((2, 2, 2)))


def test_parts_of_a_name_may_hold_the_separator_of_the_last() -> None:
    assert NamePattern("{persona}/{prompt}").split("a/b/c", "x") == {
        "persona": "a",
        "factor:prompt": "b/c",
    }
