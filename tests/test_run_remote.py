"""A whole run in an object store: asked, killed, gone on with, repaired, analysed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from nongrata.errors import NongrataError
from nongrata.manifest import FILE as MANIFEST
from nongrata.manifest import Manifest
from nongrata.responses import load_run
from nongrata.run_files import files_in, read_bytes, remove, write_atomically
from nongrata.run_folder import PROMPTS, QUESTIONS, STUDY
from nongrata.run_status import run_status
from nongrata.runner import run_study
from nongrata.store import RESPONSES, Store
from stores import in_memory, new_bucket, s3_server
from studies import SIMULATED, Silent, loaded, small_study

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")
STUDY_VALUES = small_study(models=[SIMULATED | {"block": 64}])


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with pytest.MonkeyPatch.context() as patch, s3_server(patch) as address:
        yield address


@pytest.fixture(params=["memory", "s3"])
def folder(request: pytest.FixtureRequest) -> Path:
    if request.param == "memory":
        return in_memory()
    request.getfixturevalue("server")
    return new_bucket()


class Stopping(Silent):
    def __init__(self, blocks: int) -> None:
        super().__init__()
        self.left = blocks

    def committed(self, *_: object) -> None:
        self.left -= 1
        if not self.left:
            raise KeyboardInterrupt


def run(folder: Path | str, **options: Any) -> Any:
    return run_study(loaded(STUDY_VALUES), folder, Silent(), **options)


def test_a_run_in_a_store_is_the_run_on_a_disk(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        run_study(loaded(STUDY_VALUES), folder, Stopping(2))
    before = Store(folder).rows()
    assert before >= 128
    assert not [name for name in files_in(folder) if "lock" in name]  # given back
    summary = run(folder)
    assert summary.requests_before == before
    run(tmp_path)
    status, here = run_status(folder), run_status(tmp_path)
    assert status.complete
    assert status.models == here.models
    assert status.bytes > 0
    assert str(folder).endswith(status.run.removeprefix("memory:/"))
    shards = files_in(tmp_path / RESPONSES)
    assert files_in(folder / RESPONSES).keys() == shards.keys()
    for name in shards:  # byte for byte
        assert read_bytes(folder / RESPONSES / name) == read_bytes(tmp_path / RESPONSES / name)
    for name in (QUESTIONS, STUDY, "design.parquet"):
        assert read_bytes(folder / name) == read_bytes(tmp_path / name)
    assert run(str(folder)).requests == 0  # an address as text


def test_what_is_loaded_is_what_a_disk_gives(folder: Path, tmp_path: Path) -> None:
    run(folder)
    run(tmp_path)
    one, two = load_run(str(folder)), load_run(tmp_path)
    assert one.drop_attrs().identical(two.drop_attrs())


def test_a_damaged_run_is_repaired(folder: Path) -> None:
    run(folder)
    shard = Store(folder).paths()[0]
    write_atomically(shard, read_bytes(shard)[:-7])
    write_atomically(folder / PROMPTS, b"not what was written")
    remove(folder / QUESTIONS)
    found = {item.name: item.what for item in run_status_damage(folder)}
    assert found == {shard.name: "truncated", PROMPTS: "changed", QUESTIONS: "missing"}
    summary = run(folder)
    assert summary.requests > 0
    assert run_status(folder).complete
    write_atomically(folder / MANIFEST, b"{")
    run(folder)
    assert run_status(folder).complete
    assert Manifest.read(folder).models.keys() == {"sim"}


def run_status_damage(folder: Path) -> list[Any]:
    from nongrata.integrity import side_file_damage

    return [*Store(folder).damage, *side_file_damage(folder, Manifest.read(folder))]


def test_a_folder_that_holds_something_else_is_refused(folder: Path) -> None:
    write_atomically(folder / "thesis.txt", b"mine")
    with pytest.raises(NongrataError, match="holds no run"):
        run(folder)
    assert files_in(folder) == {"thesis.txt": 4}


def test_what_is_no_run_is_said(folder: Path) -> None:
    with pytest.raises(NongrataError, match="this is no run directory"):
        run_status(folder)
