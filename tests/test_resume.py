"""A run directory that lost or broke one of its files."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from nongrata.errors import NongrataError
from nongrata.responses import load_run
from nongrata.run_status import run_status
from nongrata.runner import run_study
from studies import SIMULATED, Silent, loaded, small_study

FILES = ("study.yaml", "manifest.json", "questions.parquet", "design.parquet", "prompts.parquet",
         "commits.jsonl")  # fmt: skip


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole") / "run"
    run_study(loaded(small_study()), folder, Silent())
    return folder


@pytest.fixture
def run(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / "run"))


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("how", ["gone", "junk", "empty"])
def test_the_same_study_repairs_a_file(run: Path, whole: Path, name: str, how: str) -> None:
    path = run / name
    if how == "gone":
        path.unlink()
    else:
        path.write_bytes(b"{\x00\xff" if how == "junk" else b"")
    summary = run_study(loaded(small_study()), run, Silent())
    assert summary.requests == 0
    assert run_status(run).complete
    assert load_run(run).drop_attrs().identical(load_run(whole).drop_attrs())
    if name not in {"design.parquet", "commits.jsonl"}:
        assert run_study(loaded(small_study()), run, Silent()).requests == 0


CHANGES: list[dict[str, Any]] = [
    {"seed": 12},
    {"models": [SIMULATED | {"ability": 0.9}]},
    {"settings": {"max_tokens": 16, "labels": "a"}},
    {"questions": {"seed": 9, "sources": [{"id": "starter", "format": "starter", "take": 8}]}},
    {"name": "other"},
]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: next(iter(change)))
@pytest.mark.parametrize("name", ["study.yaml", "manifest.json", "questions.parquet"])
@pytest.mark.parametrize("how", ["gone", "junk"])
def test_another_study_is_refused_whatever_is_lost(
    run: Path, change: dict[str, Any], name: str, how: str
) -> None:
    if how == "gone":
        (run / name).unlink()
    else:
        (run / name).write_bytes(b"junk: [")
    before = {path.name for path in run.iterdir()}
    with pytest.raises(NongrataError):
        run_study(loaded(small_study(**change)), run, Silent())
    assert {path.name for path in run.iterdir()} == before  # nothing was touched
    # and the run can still be repaired by its own study
    assert run_study(loaded(small_study()), run, Silent()).requests == 0


def test_without_study_and_manifest_answers_belong_to_nobody(run: Path) -> None:
    for name in ("study.yaml", "manifest.json"):
        (run / name).unlink()
    with pytest.raises(NongrataError, match=r"study\.yaml is gone or damaged"):
        run_study(loaded(small_study()), run, Silent())


def test_answers_of_another_study_are_never_mixed_in(run: Path, tmp_path: Path) -> None:
    other = small_study(settings={"max_tokens": 16, "labels": "a"})
    run_study(loaded(other), tmp_path / "other", Silent())
    for path in (tmp_path / "other" / "responses").iterdir():
        shutil.copy(path, run / "responses" / path.name)
    with pytest.raises(NongrataError, match="are to requests that this study does not make"):
        run_study(loaded(small_study()), run, Silent())


def test_a_copied_shard_is_named(run: Path) -> None:
    shard = next((run / "responses").iterdir())
    shutil.copy(shard, shard.with_name("sim-copy.parquet"))
    status = run_status(run)
    assert status.stored_twice > 0
    assert any("stored twice" in line for line in status.warnings())
    with pytest.raises(NongrataError, match="stored twice"):
        run_study(loaded(small_study()), run, Silent())


def edit(path: Path) -> None:
    """Change a file so that it still reads, and says something else."""
    import polars as pl

    if path.suffix == ".parquet":
        frame = pl.read_parquet(path)
        column = next(c for c in ("answer", "user", "persona") if c in frame.columns)
        changed = pl.lit(0) if column == "answer" else pl.lit("LIES")
        frame.with_columns(changed.cast(frame[column].dtype).alias(column)).write_parquet(path)
    else:
        text = path.read_text(encoding="utf-8")
        assert "a cook" in text or "ability" in text
        changed_text = text.replace("a cook", "a chef").replace('"ability": 0.4', '"ability": 0.5')
        path.write_text(changed_text, encoding="utf-8")


@pytest.mark.parametrize("name", [n for n in FILES if n != "commits.jsonl"])
def test_an_edited_file_is_found_named_and_repaired(run: Path, whole: Path, name: str) -> None:
    edit(run / name)
    if name == "manifest.json":
        with pytest.raises(NongrataError, match="the manifest is damaged"):
            run_status(run)
    else:
        status = run_status(run)
        assert not status.complete
        assert [(item.name, item.what) for item in status.damage] == [(name, "changed")]
        from nongrata.analysis import analyze

        assert any(name in notice.text for notice in analyze(load_run(run)).notices)
    watcher = Silent()
    assert run_study(loaded(small_study()), run, watcher).requests == 0
    assert any(name in note for note in watcher.notes)
    assert run_status(run).complete
    assert load_run(run).drop_attrs().identical(load_run(whole).drop_attrs())


def test_a_flipped_bit_in_the_prompts_is_mended_and_not_adopted(run: Path, whole: Path) -> None:
    path = run / "prompts.parquet"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1  # the size stays what it was
    path.write_bytes(content)
    assert [item.name for item in run_status(run).damage] == ["prompts.parquet"]
    run_study(loaded(small_study()), run, Silent())
    assert path.read_bytes() == (whole / "prompts.parquet").read_bytes()
    assert run_status(run).complete


def test_a_run_without_answers_takes_any_study(tmp_path: Path) -> None:
    failing = small_study(models=[{"id": "m", "engine": "llamacpp", "path": "nope.gguf"}])
    with pytest.raises(NongrataError, match="no such model file"):
        run_study(loaded(failing, tmp_path), tmp_path / "run", Silent())
    assert run_study(loaded(small_study()), tmp_path / "run", Silent()).requests > 0
