"""Files of a run directory, written whole or not at all, wherever the directory is.

On a local disk that takes a file beside it, a flush and a rename. An object store has neither
append nor rename, but an upload is seen as a whole or not at all.
"""

from __future__ import annotations

import errno
import hashlib
import io
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import get_native_id
from typing import Any, BinaryIO, cast

from nongrata.errors import NongrataError
from nongrata.run_path import filesystem, is_remote, store_errors

_SMALL = 8 * 2**20
_AT_ONCE = 8


def make_folder(folder: Path) -> None:
    """Make a run directory; object stores have none, and a bucket is never made."""
    if is_remote(folder):
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise disk_error(error, folder) from None


def files_in(folder: Path) -> dict[str, int]:
    """Names and sizes of the files directly in a folder; empty if there is none."""
    if not is_remote(folder):
        try:
            return {e.name: e.stat().st_size for e in os.scandir(folder) if e.is_file()}
        except (FileNotFoundError, NotADirectoryError):
            return {}
        except OSError as error:
            raise disk_error(error, folder) from None
    fs, inside = filesystem(folder)
    with store_errors(folder):
        fs.invalidate_cache()
        try:
            found = fs.ls(inside, detail=True)
        except (FileNotFoundError, NotADirectoryError):
            return {}
        return {
            entry["name"].rstrip("/").rsplit("/", 1)[-1]: int(entry["size"])
            for entry in found
            if entry["type"] == "file"
        }


def bytes_under(folder: Path) -> int:
    """Size of all files of a folder and of the folders in it."""
    if not is_remote(folder):
        return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    fs, inside = filesystem(folder)
    with store_errors(folder):
        fs.invalidate_cache()
        return sum(int(entry["size"]) for entry in fs.find(inside, detail=True).values())


def is_file(path: Path) -> bool:
    """Whether there is such a file."""
    with store_errors(path):
        return path.is_file()


def read_bytes(path: Path) -> bytes:
    """The whole content of a file; `FileNotFoundError` if there is none."""
    if not is_remote(path):
        return path.read_bytes()
    fs, inside = filesystem(path)
    with store_errors(path):
        return cast("bytes", fs.cat_file(inside))


def read_table(path: Path, columns: Iterable[str] | None = None) -> Any:
    """Read a Parquet file, or some columns of it, as a ``pyarrow.Table``."""
    import pyarrow.parquet as pq

    wanted = None if columns is None else list(columns)
    if not is_remote(path):
        return pq.read_table(path, columns=wanted)
    with open_file(path) as handle:
        return pq.read_table(handle, columns=wanted)


@contextmanager
def open_file(path: Path) -> Iterator[Any]:
    """Open a file for reading at any place, in as few requests to a store as make sense."""
    if not is_remote(path):
        with path.open("rb") as handle:
            yield handle
        return
    fs, inside = filesystem(path)
    with store_errors(path):
        size = int(fs.info(inside)["size"])
        if size <= _SMALL:
            yield io.BytesIO(fs.cat_file(inside))
            return
        with fs.open(inside, "rb", size=size, block_size=_SMALL) as handle:
            yield handle


def file_hash(path: Path, algorithm: str) -> str:
    """Hexadecimal hash of a file: ``"sha256"`` or ``"blake2b"`` (256 bits)."""
    kind = "sha256" if algorithm == "sha256" else lambda: hashlib.blake2b(digest_size=32)
    with open_file(path) as handle:
        return hashlib.file_digest(handle, kind).hexdigest()


def for_each(paths: list[Path], work: Any) -> list[Any]:
    """Do something with each file: one after another locally, several at once in a store."""
    if len(paths) < 2 or not is_remote(paths[0]):
        return [work(path) for path in paths]
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(_AT_ONCE, "read") as pool:
        return list(pool.map(work, paths))


def write_atomically(path: Path, content: bytes | memoryview) -> None:
    """Write a whole file or nothing; an existing one is replaced.

    Parameters
    ----------
    path
        The file.
    content
        All of it.

    Examples
    --------
    >>> from nongrata.run_path import run_path
    >>> path = run_path("memory://doctest/a.txt")
    >>> write_atomically(path, b"text")
    >>> read_bytes(path)
    b'text'
    """
    if is_remote(path):
        fs, inside = filesystem(path)
        with store_errors(path, writing=True):
            _make_parent(fs, inside)
            fs.pipe_file(inside, bytes(content))
        return
    with whole_file(path) as handle:
        handle.write(content)


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """A file to be written piece by piece that is there only once all of it is."""
    if is_remote(path):
        fs, inside = filesystem(path)
        with store_errors(path, writing=True):
            _make_parent(fs, inside)
            handle = fs.open(inside, "wb", autocommit=True)
            try:
                yield cast("BinaryIO", handle)
            except BaseException:
                with suppress(Exception):  # a store that cannot take back says so; ours is told
                    handle.discard()
                handle.closed = True  # or its end would store what there is after all
                raise
            handle.close()
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.{os.getpid()}-{get_native_id()}.tmp")
    try:
        with temporary.open("wb") as local:
            yield local
            local.flush()
            os.fsync(local.fileno())
        temporary.replace(path)
        _sync_folder(path.parent)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise disk_error(error, path) from error
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def create(path: Path, content: bytes) -> bool:
    """Write a file of a store unless it is there; False if it is.

    Whether that is one step depends on the store; `creates_exclusively` tells.
    """
    fs, inside = filesystem(path)
    with store_errors(path, writing=True):
        _make_parent(fs, inside)
        try:
            fs.pipe_file(inside, content, mode="create")
        except FileExistsError:
            return False
        except OSError:
            # some servers say in their own words that the file is there, or just being made
            fs.invalidate_cache()
            if fs.exists(inside):
                return False
            raise
        return True


def creates_exclusively(path: Path) -> bool:
    """Whether a store makes a file, if it is not there, in one step (a conditional put)."""
    fs, _ = filesystem(path)
    return type(fs).__module__.partition(".")[0] in {"s3fs", "gcsfs", "adlfs"}


def remove(path: Path) -> None:
    """Remove a file, if it is there."""
    if not is_remote(path):
        path.unlink(missing_ok=True)
        return
    fs, inside = filesystem(path)
    with store_errors(path), suppress(FileNotFoundError):
        fs.rm_file(inside)


def set_aside(path: Path, name: str) -> Path:
    """Give a file another name beside it."""
    target = path.with_name(name)
    if is_remote(path):
        fs, inside = filesystem(path)
        with store_errors(path):
            fs.copy(inside, filesystem(target)[1])
            fs.rm_file(inside)
    else:
        path.replace(target)
    return target


def append(path: Path, line: bytes) -> None:
    """Append to a local file, on disk before this returns."""
    try:
        with path.open("ab") as handle:
            handle.write(line)
            handle.flush()
            os.fsync(handle.fileno())
    except OSError as error:
        raise disk_error(error, path) from error


def disk_error(error: OSError, path: Path) -> NongrataError:
    """One sentence for a write that the disk refused."""
    full = error.errno in {errno.ENOSPC, errno.EDQUOT}
    return NongrataError(
        "the disk is full" if full else f"cannot be written: {error.strerror}",
        where=path,
        fix="free some space and run the same command again; what was committed is kept"
        if full
        else "check the folder's permissions and run the same command again",
    )


def _make_parent(fs: Any, inside: str) -> None:
    # stores of objects have no folders; on others (sftp, hdfs) the folder must be there
    if not hasattr(fs, "split_path") and type(fs).__module__.partition(".")[0] not in {
        "gcsfs",
        "adlfs",
    }:
        fs.makedirs(inside.rsplit("/", 1)[0], exist_ok=True)


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
