from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nongrata.errors import NongrataError
from nongrata.study import Study
from nongrata.yaml_files import dump_yaml, parse_yaml, validate

TEXTS = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\x85\u2028\u2029\ufeff")
)


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("no", "no"),
        ("yes", "yes"),
        ("off", "off"),
        ("true", True),
        ("12:30", "12:30"),
        ("2026-01-01", "2026-01-01"),
        ("1e5", 1e5),
        ("0.5", 0.5),
        ("007", 7),
        ("0,1", "0,1"),
        ("~", None),
        ("NA", "NA"),
        ("None", "None"),
        ("=", "="),
    ],
)
def test_scalars_are_read_as_the_core_schema_has_them(written: str, value: object) -> None:
    found = parse_yaml(f"a: {written}", "x").data["a"]
    assert found == value
    assert type(found) is type(value)


@given(st.recursive(TEXTS | st.integers() | st.booleans() | st.none(), st.lists))
def test_what_is_dumped_is_read_back(value: object) -> None:
    assert parse_yaml(dump_yaml({"a": value}), "x").data == {"a": value}


@pytest.mark.parametrize("text", ["1e5", "no", "2026-01-01", "12:30", "0x1F", "1_000", "=", "<<"])
def test_texts_that_look_like_something_else_survive(text: str) -> None:
    import yaml

    dumped = dump_yaml({"a": text})
    assert parse_yaml(dumped, "x").data == {"a": text}
    assert yaml.safe_load(dumped) == {"a": text}  # and other tools read the same


def test_merge_keys_work() -> None:
    assert parse_yaml("a: &x {b: 1}\nc:\n  <<: *x\n  d: 2", "x").data["c"] == {"b": 1, "d": 2}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a: 1\na: 2", "x.yaml:2: key 'a' is given twice (first in line 1)"),
        ("a: [1,\nb: 2", "x.yaml:"),
        ("a: !!python/object:os.system {}", "this is not YAML"),
        ("\ta: 1", "this is not YAML"),
        ("a: \0", "this is not YAML"),
        (
            "a0: &a0 [x]\n"
            + "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 10)),
            "more than 200,000 values",
        ),
    ],
)
def test_broken_files_are_one_sentence(text: str, says: str) -> None:
    with pytest.raises(NongrataError) as caught:
        parse_yaml(text, "x.yaml")
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ("replicats: 3", ":2: unknown key 'replicats'; did you mean 'replicates'?"),
        ("seed: many", ":2, seed: input should be a number (found 'many')"),
        ("replicates: 0", ":2, replicates: input should be greater than or equal to 1"),
    ],
)
def test_mistakes_name_line_and_field(change: str, says: str) -> None:
    with pytest.raises(NongrataError) as caught:
        validate(Study, parse_yaml(f"nongrata: 1\n{change}\n", "s.yaml"))
    text = str(caught.value)
    assert text.startswith("s.yaml")
    assert says.replace(", replicats", "") in text.replace(", replicats", "")
    assert "\n" not in text
