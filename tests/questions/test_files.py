"""From declared paths and the Hub to files."""

from __future__ import annotations

from pathlib import Path

import pytest

from nongrata.errors import NongrataError
from nongrata.questions.files import hub_files, source_files
from nongrata.questions.source import HubFiles, SourceSpec

HUB = HubFiles(
    repo="cais/mmlu",
    revision="c30699e8356da336a370243923dbaf21066bb9fe",
    files=("all/test-00000-of-00001.parquet",),
)


def spec(path: str | list[str]) -> SourceSpec:
    return SourceSpec.model_validate({"id": "m", "format": "mmlu_hub", "path": path})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("b_test.csv", "a_test.csv", "a_dev.csv", "notes.txt"):
        (tmp_path / name).write_text("x")
    return tmp_path


def test_folders_and_patterns_are_sorted_by_name(folder: Path) -> None:
    assert [p.name for p in source_files(spec("*_test.csv"), folder)] == [
        "a_test.csv",
        "b_test.csv",
    ]
    assert [p.name for p in source_files(spec("."), folder)] == [
        "a_dev.csv",
        "a_test.csv",
        "b_test.csv",
    ]
    assert [p.name for p in source_files(spec(["b_test.csv", "a_test.csv"]), folder)] == [
        "b_test.csv",
        "a_test.csv",
    ]
    absolute = str(folder / "?_test.csv")
    assert len(source_files(spec(absolute), Path("/"))) == 2


def test_a_name_with_pattern_signs_is_a_name_if_it_exists(tmp_path: Path) -> None:
    (tmp_path / "law[1]_test.csv").write_text("x")
    assert source_files(spec("law[1]_test.csv"), tmp_path) == [tmp_path / "law[1]_test.csv"]


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("no.csv", "there is no such file"),
        ("*.jsonl", "no file matches this pattern"),
        ("empty", "the folder holds no"),
        (["a_test.csv", "a_*.csv"], "names this file twice"),
    ],
)
def test_files_that_are_not_there(folder: Path, path: str | list[str], said: str) -> None:
    (folder / "empty").mkdir()
    with pytest.raises(NongrataError, match=said):
        source_files(spec(path), folder)


def test_a_pinned_file_is_fetched_at_its_commit() -> None:
    asked: dict[str, str] = {}

    def download(**options: str) -> str:
        asked.update(options)
        return "/cache/test.parquet"

    assert hub_files(HUB, download) == [Path("/cache/test.parquet")]
    assert asked == {
        "repo_id": "cais/mmlu",
        "filename": "all/test-00000-of-00001.parquet",
        "repo_type": "dataset",
        "revision": HUB.revision,
    }
