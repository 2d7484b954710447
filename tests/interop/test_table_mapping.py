from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nongrata.errors import NongrataError
from nongrata.interop.table_mapping import mapping_from, read_mapping

GOOD = {"item": "id", "answer": "said", "gold": "key"}


def test_a_file_and_options_together(tmp_path: Path) -> None:
    path = tmp_path / "mapping.yaml"
    path.write_text("item: id\ncorrect: ok\nfactors: [prompt]\noptions: 4\n", encoding="utf-8")
    found = read_mapping(path, {"persona": "who", "options": 5, "gold": None, "controls": ()})
    assert (found.item, found.persona, found.options) == (("id",), "who", 5)
    assert found.factors == {"prompt": "prompt"}
    assert read_mapping(path, {}).options == 4


def test_what_was_said_is_what_is_kept() -> None:
    found = mapping_from({**GOOD, "factors": {"prompt": "fmt"}, "options": ["A", "B"]})
    assert mapping_from(found.as_dict()) == found
    assert "fold_case" not in found.as_dict()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("itme: id\n", "mapping.yaml:1, itme: unknown key 'itme'; did you mean 'item'?"),
        ("item: id\nitem: no\n", "given twice"),
        ("- item\n", "must hold a mapping"),
        ("item: [id\n", "this is not YAML"),
        ("item: id\n", "one column must hold the answers"),
        ("correct: ok\n", "no column is the item"),
        ("item: id\nanswer: said\n", "--gold COLUMN"),
    ],
)
def test_mistakes_in_a_file_are_told_with_their_line(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "mapping.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(NongrataError) as error:
        read_mapping(path, {})
    assert said in str(error.value)
    if "unknown key" in said:  # also where options come on top
        with pytest.raises(NongrataError, match="unknown key"):
            read_mapping(path, {"correct": "ok"})


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({**GOOD, "correct": "ok"}, "not both"),
        ({"item": "id", "correct": "ok", "gold": "key"}, "needs none"),
        ({**GOOD, "factors": ["persona"]}, "--factor my_persona=COLUMN"),
        ({**GOOD, "factors": ["a", "a"]}, "named twice"),
        ({**GOOD, "options": 1}, "use 2 to 100"),
        ({**GOOD, "options": ["A", "A"]}, "different"),
        ({**GOOD, "separator": ""}, "the separator is empty"),
        ({**GOOD, "separator": "|", "replicate": "run"}, "leave one out"),
        ({**GOOD, "delimiter": ";;"}, "one character"),
        ({**GOOD, "wide": "items"}, "leave out 'answer'"),
        ({**GOOD, "header": "{a}"}, "--wide items"),
        ({"wide": "configurations", "gold": "key"}, "--wide items"),
        ({**GOOD, "colour": "red"}, "unknown key 'colour'"),
        ({**GOOD, "empty": "zero"}, "empty"),
    ],
)
def test_mappings_that_cannot_be_meant(values: dict[str, Any], said: str) -> None:
    with pytest.raises(NongrataError) as error:
        mapping_from(values)
    assert said in str(error.value)
