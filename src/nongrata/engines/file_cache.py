"""Large files kept between runs: where they lie, what they hash to, who may write them now."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from nongrata.errors import NongrataError


def cache_folder() -> Path:
    """The package's cache folder: ``$XDG_CACHE_HOME/nongrata`` or ``~/.cache/nongrata``.

    Examples
    --------
    >>> cache_folder().name
    'nongrata'
    """
    given = os.environ.get("XDG_CACHE_HOME", "")
    # The XDG specification: a relative path is to be ignored.
    root = Path(given) if given and Path(given).is_absolute() else Path.home() / ".cache"
    return root / "nongrata"


def sha256_of(path: Path) -> str:
    """SHA-256 of a file's bytes, as hexadecimal.

    Examples
    --------
    >>> sha256_of(Path(os.devnull))[:12]
    'e3b0c44298fc'
    """
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise NongrataError(f"cannot read the file ({error.strerror})", where=path) from error


def remembered_sha256(path: Path, cache: Path) -> str:
    """SHA-256 of a file, computed again only if its size or modification time has changed.

    Parameters
    ----------
    path
        The file.
    cache
        Folder that keeps the notes; a note that cannot be written is done without.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     remembered_sha256(Path(os.devnull), Path(folder))[:12]
    'e3b0c44298fc'
    """
    path = path.resolve()
    try:
        stat = path.stat()
    except OSError as error:
        raise NongrataError(f"cannot read the file ({error.strerror})", where=path) from error
    state = [str(path), stat.st_size, stat.st_mtime_ns, stat.st_ino]
    name = hashlib.blake2b(os.fsencode(path), digest_size=16).hexdigest()
    note = cache / "sha256" / f"{name}.json"
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        known = json.loads(note.read_text(encoding="utf-8"))
        if known["state"] == state:
            return str(known["sha256"])
    digest = sha256_of(path)
    with contextlib.suppress(OSError, ValueError):
        note.parent.mkdir(parents=True, exist_ok=True)
        with replacing(note) as draft:
            draft.write_text(json.dumps({"state": state, "sha256": digest}), encoding="utf-8")
    return digest


@contextlib.contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """A fresh file beside `target` to write to; it takes `target`'s place if the block succeeds.

    Readers see the old file or the whole new one, never a part. A block that fails leaves nothing.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with replacing(Path(folder, "note")) as draft:
    ...         _ = draft.write_text("whole")
    ...     Path(folder, "note").read_text(), len(os.listdir(folder))
    ('whole', 1)
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".part")
    os.close(handle)
    draft = Path(name)
    try:
        yield draft
        with draft.open("rb+") as file:
            os.fsync(file.fileno())
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)


@contextlib.contextmanager
def exclusive(target: Path) -> Iterator[None]:
    """Wait until no other process is making `target`, and keep others waiting meanwhile.

    Without file locks (Windows) this does nothing: `replacing` alone keeps files whole, and the
    work is done twice.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as folder, exclusive(Path(folder, "model.gguf")):
    ...     pass
    """
    try:
        import fcntl
    except ImportError:  # pragma: no cover
        yield
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    with target.with_name(f".{target.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
