"""What a study may declare as a source."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from nongrata.questions.source import HubFiles, SourceSpec, suggestion

COMMIT = "c30699e8356da336a370243923dbaf21066bb9fe"
TABLE = {
    "id": "own",
    "format": "table",
    "path": "q.csv",
    "columns": {"question": "q", "choices": ["a", "b"], "answer": "key"},
    "answer_form": "letter",
}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"id": "m", "format": "mmlu_hub"}, "either 'path' or 'hub'"),
        ({"id": "m", "format": "mmlu_hub", "path": ""}, "'path' is empty"),
        ({"id": "m", "format": "starter", "path": "x"}, "no path and no hub"),
        ({"id": "m/x", "format": "mmlu_hub", "path": "x"}, "should match pattern"),
        ({"id": "m", "format": "mmlu_hub", "path": "x", "take": 0}, "greater than or equal to 1"),
        ({"id": "m", "format": "mmlu_hub", "path": "x", "tkae": 1}, "unknown key 'tkae'"),
        ({"id": "m", "format": "mmlu_hub", "path": "x", "labels": "y"}, "belongs to the format"),
        ({"id": "m", "format": "mmlu_hub", "path": "x", "condition": "none"}, "NormAd data"),
        ({"id": "s", "format": "socialiqa_original", "path": "x"}, "needs 'labels'"),
        ({"id": "n", "format": "normad_csv", "path": "x"}, "NormAd needs 'condition'"),
        ({k: v for k, v in TABLE.items() if k != "columns"}, "the format table needs 'columns'"),
        ({k: v for k, v in TABLE.items() if k != "answer_form"}, "table needs 'answer_form'"),
        ({**TABLE, "format": "normalised"}, "'columns' belongs to the format table"),
        (
            {**TABLE, "columns": {"question": "q", "choices": ["a"], "answer": "k"}},
            "at least two choice columns",
        ),
        (
            {**TABLE, "columns": {"question": "q", "choices": ["a", "b"], "answer": "a"}},
            "the column 'a' is given two meanings",
        ),
    ],
)
def test_a_source_that_cannot_be_read_is_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError) as caught:
        SourceSpec.model_validate(given)
    assert said in str(caught.value)


@pytest.mark.parametrize("revision", ["main", "v1.0", COMMIT[:8], COMMIT.upper(), COMMIT + "0"])
def test_a_branch_is_no_revision(revision: str) -> None:
    with pytest.raises(ValidationError, match="is not a commit, and a branch or tag can move"):
        HubFiles(repo="cais/mmlu", revision=revision, files=("a.parquet",))


@pytest.mark.parametrize("name", ["/etc/passwd", "../x.csv", "a/../../x", "a\\b", ""])
def test_hub_files_stay_inside_the_data_set(name: str) -> None:
    with pytest.raises(ValidationError, match="is not a path inside the data set"):
        HubFiles(repo="cais/mmlu", revision=COMMIT, files=(name,))


def test_the_data_set_follows_the_format_unless_told() -> None:
    source = SourceSpec(id="m", format="mmlu_hub", path="x")
    assert source.dataset_name == "mmlu"
    assert source.model_copy(update={"dataset": "mine"}).dataset_name == "mine"
    assert SourceSpec.model_validate(TABLE).dataset_name is None


def test_a_source_is_frozen_and_survives_json() -> None:
    source = SourceSpec.model_validate(TABLE)
    assert SourceSpec.model_validate_json(source.model_dump_json()) == source
    with pytest.raises(ValidationError, match="frozen"):
        source.take = 3  # type: ignore[misc]


def test_a_suggestion_or_what_there_is() -> None:
    assert suggestion("zzz", ("question", "answer")) == "there is: 'question', 'answer'"
    assert suggestion("zzz", ()) == "there is none at all"
