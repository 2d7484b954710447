"""Runs that grow, that are cut off, damaged or elsewhere."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from nongrata.errors import NongrataError
from nongrata.interop.imported import FILE as IMPORT
from nongrata.run_lock import exclusive
from nongrata.viewer import Api, RunOnDisk


def part_of(run: Path, folder: Path, shards: int) -> list[str]:
    """A copy of a run as it was when only so many shards were committed; the lines left out."""
    shutil.copytree(run, folder)
    lines = (run / "commits.jsonl").read_text().splitlines(keepends=True)
    (folder / "commits.jsonl").write_text("".join(lines[:shards]))
    for line in lines[shards:]:
        (folder / "responses" / json.loads(line)["name"]).unlink()
    return lines[shards:]


def grow(run: Path, folder: Path, lines: list[str]) -> None:
    for line in lines:
        name = json.loads(line)["name"]
        whole = shutil.copy(run / "responses" / name, folder / "responses" / f"{name}.tmp")
        whole.rename(folder / "responses" / name)  # as a run does: whole or not there
        with (folder / "commits.jsonl").open("a") as handle:
            handle.write(line)


def counted(api: Api, question: str, model: str = "sim") -> tuple[int, int]:
    """How many of a question's cells are missing: by its page, and by the counts."""
    api.counting.wait(model)
    page = api.get("/api/question", {"id": question, "model": model})
    assert page is not None
    missing = page["outcomes"].index("missing")
    return page["fates"].count(missing), page["figures"]["outcomes"]["missing"]


def test_a_run_that_grows_is_seen_when_asked_again(run: Path, tmp_path: Path) -> None:
    left = part_of(run, tmp_path / "run", 2)
    api = Api(RunOnDisk(tmp_path / "run"))
    listed = api.get("/api/questions", {"sort": "id"})
    assert listed is not None
    question = listed["questions"][0]["id"]
    first = counted(api, question)
    overview = api.get("/api/overview", {})
    assert overview is not None
    assert 0 < overview["models"][0]["stored"] < overview["models"][0]["in_all"]
    assert overview["models"][1]["stored"] == 0
    assert first[1] > 0
    grow(run, tmp_path / "run", left)
    progress = api.get("/api/progress", {"model": "sim"})
    assert progress is not None
    assert progress["stored"] == progress["in_all"]
    assert not progress["counting"]["current"]
    assert progress["counting"]["ready"]
    assert counted(api, question) == (0, 0)
    assert counted(api, question, "other") == (0, 0)
    api.counting.end()


def test_a_run_without_answers_can_be_looked_at(run: Path, tmp_path: Path) -> None:
    part_of(run, tmp_path / "run", 0)
    (tmp_path / "run" / "commits.jsonl").unlink()
    api = Api(RunOnDisk(tmp_path / "run"))
    listed = api.get("/api/questions", {})
    assert listed is not None
    question = listed["questions"][0]["id"]
    page = api.get("/api/question", {"id": question})
    assert page is not None
    assert {page["outcomes"][code] for code in page["fates"]} == {"missing"}
    api.counting.wait("sim")
    page = api.get("/api/question", {"id": question})
    assert page is not None
    assert page["figures"]["flips"] is None
    assert page["figures"]["right"] is None
    cell = api.get("/api/cell", {"id": question, "cell": "a-cook,you,explain,0.5,1"})
    assert cell is not None
    assert cell["answer"]["outcome"] is None
    assert cell["stored"] is None
    assert cell["answer"]["user"]
    api.counting.end()


def test_a_run_that_is_held_by_its_writer_can_be_looked_at(run: Path, tmp_path: Path) -> None:
    shutil.copytree(run, tmp_path / "run")
    with exclusive(tmp_path / "run"):
        api = Api(RunOnDisk(tmp_path / "run"))
        assert api.counting.wait("sim").counts is not None
        api.counting.end()


def test_a_run_that_was_killed_while_it_wrote_can_be_looked_at(run: Path, tmp_path: Path) -> None:
    left = part_of(run, tmp_path / "run", 4)
    name = json.loads(left[0])["name"]
    with (tmp_path / "run" / "commits.jsonl").open("a") as handle:
        handle.write(left[0][: len(left[0]) // 2])
    (tmp_path / "run" / "responses" / f"{name}.1-1.tmp").write_bytes(b"half a shard")
    disk = RunOnDisk(tmp_path / "run")
    before = disk.now().rows("other")
    assert 0 < before < disk.now().passes_in_all
    # whole, but killed before it was entered: adopted once all shards have been looked at
    shutil.copy(run / "responses" / name, tmp_path / "run" / "responses" / name)
    disk.verify()
    assert disk.now().rows("other") == before + json.loads(left[0])["rows"]


def test_damage_is_named_and_its_answers_are_left_out(run: Path, tmp_path: Path) -> None:
    shutil.copytree(run, tmp_path / "run")
    shards = sorted((tmp_path / "run" / "responses").glob("sim-*.parquet"))
    content = bytearray(shards[0].read_bytes())
    content[len(content) // 2] ^= 1
    shards[0].write_bytes(content)
    shards[1].write_bytes(shards[1].read_bytes()[:-1])
    api = Api(RunOnDisk(tmp_path / "run"))
    api.run.verify()
    overview = api.get("/api/overview", {})
    assert overview is not None
    told = " ".join(overview["notices"])
    assert f"{shards[0].name} is changed" in told
    assert f"{shards[1].name} is truncated" in told
    model = overview["models"][0]
    assert len(api.run.now().damage) == 2
    lost = sum(damaged.rows for damaged in api.run.now().damage)
    assert model["stored"] == model["in_all"] - lost
    assert api.counting.wait("sim").counts is not None
    for shard in shards[:2]:  # running the study again mends them
        shutil.copy(run / "responses" / shard.name, shard)
    (tmp_path / "run" / "commits.jsonl").touch()
    assert not api.run.now().damage
    assert api.run.now().rows("sim") == model["in_all"]
    api.counting.end()


def test_the_same_object_stands_for_a_run_that_has_not_changed(run: Path) -> None:
    disk = RunOnDisk(run)
    assert disk.now() is disk.now()


def test_what_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NongrataError, match="this is no run directory"):
        RunOnDisk(tmp_path)
    (tmp_path / IMPORT).write_text('{"kind": "import"}')
    with pytest.raises(NongrataError, match=r"imported table .* nongrata analyze"):
        RunOnDisk(tmp_path)
    with pytest.raises(NongrataError, match="on this machine only"):
        RunOnDisk("memory://viewer/run")
