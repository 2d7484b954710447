from __future__ import annotations

import uuid
from pathlib import Path

import pytest

from nongrata.errors import MissingExtraError, NongrataError
from nongrata.run_files import (
    bytes_under,
    create,
    file_hash,
    files_in,
    read_bytes,
    remove,
    set_aside,
    whole_file,
    write_atomically,
)
from nongrata.run_path import is_remote, run_path, store_error, store_errors


@pytest.fixture(params=["local", "memory"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    if request.param == "local":
        return tmp_path
    pytest.importorskip("upath", reason="needs universal-pathlib")
    return run_path(f"memory://{uuid.uuid4().hex}/run")


@pytest.mark.parametrize(
    ("given", "there"),
    [
        ("runs/one", "runs/one"),
        ("/tmp/one/", "/tmp/one"),
        ("file:///tmp/one", "/tmp/one"),
        ("a:b", "a:b"),
        ("./s3:x", "s3:x"),
        (Path("here"), "here"),
    ],
)
def test_a_local_folder_stays_a_plain_path(given: str | Path, there: str) -> None:
    assert run_path(given) == Path(there)
    assert not is_remote(run_path(given))


@pytest.mark.parametrize("given", ["memory://b/run", "memory://b/run/", Path("memory://b/run")])
def test_an_address_stays_an_address(given: str | Path) -> None:
    pytest.importorskip("upath", reason="needs universal-pathlib")
    path = run_path(given)
    assert is_remote(path)
    assert str(path) == "memory://b/run"  # and not memory:/b/run, as pathlib would have it
    assert str(path / "responses" / "x.parquet") == "memory://b/run/responses/x.parquet"
    assert run_path(path) is path


def test_an_unknown_scheme_is_one_sentence() -> None:
    pytest.importorskip("upath", reason="needs universal-pathlib")
    with pytest.raises(NongrataError, match="nowhere://b/run: this address is not understood"):
        run_path("nowhere://b/run")


def test_a_password_in_an_address_is_refused_and_not_repeated() -> None:
    with pytest.raises(NongrataError, match="does not belong in the address") as caught:
        run_path("s3://AKIA:sesame@bucket/run")
    assert "sesame" not in str(caught.value)


def test_a_store_without_its_library_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    upath = pytest.importorskip("upath", reason="needs universal-pathlib")

    def absent(*_: object, **__: object) -> None:
        raise ImportError("Install s3fs to access S3")

    monkeypatch.setattr(upath, "UPath", absent)
    with pytest.raises(MissingExtraError, match=r"nongrata\[s3\]"):
        run_path("s3://bucket/run")


class NoCredentialsError(Exception):
    pass


class EndpointConnectionError(Exception):
    pass


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (NoCredentialsError("Unable to locate credentials"), "no usable credentials"),
        (PermissionError("Access Denied"), r"access is refused \(Access Denied\)"),
        (FileNotFoundError("The specified bucket does not exist"), "no such bucket"),
        (EndpointConnectionError("Could not connect"), "cannot be reached"),
        (TimeoutError(), "cannot be reached"),
        (OSError("slow down\nplease"), r"the store refused \(slow down\)"),
    ],
)
def test_what_a_store_raises_is_one_sentence(error: Exception, says: str) -> None:
    pytest.importorskip("upath", reason="needs universal-pathlib")
    path = run_path("memory://b/run")
    with pytest.raises(NongrataError, match=says) as caught, store_errors(path, writing=True):
        raise error
    assert str(caught.value).startswith("memory://b/run: ")
    assert "\n" not in str(store_error(error, path))


def test_files_are_listed_hashed_moved_and_removed(folder: Path) -> None:
    assert files_in(folder / "none") == {}
    write_atomically(folder / "a.txt", b"abc")
    write_atomically(folder / "a.txt", memoryview(b"abcd"))
    write_atomically(folder / "deep" / "b.txt", b"12")
    assert files_in(folder) == {"a.txt": 4}
    assert bytes_under(folder) == 6
    assert file_hash(folder / "a.txt", "sha256").startswith("88d4266f")
    moved = set_aside(folder / "a.txt", "a.txt.damaged")
    assert read_bytes(moved) == b"abcd"
    with pytest.raises(FileNotFoundError):
        read_bytes(folder / "a.txt")
    remove(moved)
    remove(moved)  # gone already
    assert files_in(folder) == {}


def test_a_file_that_was_not_finished_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), whole_file(tmp_path / "big") as handle:
        handle.write(b"x" * (1 // 0))
    assert files_in(tmp_path) == {}


def test_a_file_is_made_once() -> None:
    pytest.importorskip("upath", reason="needs universal-pathlib")
    path = run_path(f"memory://{uuid.uuid4().hex}/run/one")
    assert create(path, b"first")
    assert not create(path, b"second")
    assert read_bytes(path) == b"first"
