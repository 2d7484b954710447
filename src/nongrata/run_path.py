"""Where a run is: a folder of this machine, or any address that fsspec can reach.

A local folder is a plain `pathlib.Path`. ``s3://bucket/run``, ``gs://bucket/run`` or
``memory://run`` becomes a `upath.UPath`, which behaves as one, so that the rest of the package is
written once. What differs (renames, locks, errors) is in `nongrata.run_files` and
`nongrata.run_lock`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

from nongrata.errors import MissingExtraError, NongrataError

# one letter would be a drive; "s3:/bucket" is what pathlib makes of "s3://bucket"
_ADDRESS = re.compile(r"([a-z][a-z0-9+.-]+):/{1,2}(?!/)(.*)|([a-z][a-z0-9+.-]+):///(.*)", re.DOTALL)
_EXTRAS = {"s3": "s3", "s3a": "s3", "gs": "gcs", "gcs": "gcs"}
_BUGS = (AssertionError, AttributeError, IndexError, KeyError, NameError, TypeError)


def run_path(where: str | Path) -> Path:
    """Return the path of a run directory.

    Parameters
    ----------
    where
        A folder, or an address with a scheme.

    Returns
    -------
    Path
        A local path, or an object with the same methods for an address.

    Examples
    --------
    >>> str(run_path("runs/one"))
    'runs/one'
    >>> str(run_path("file:///tmp/one"))
    '/tmp/one'
    >>> str(run_path("memory://bucket/run") / "study.yaml")
    'memory://bucket/run/study.yaml'
    """
    if not isinstance(where, str | Path):
        return where  # an address already
    found = _ADDRESS.fullmatch(str(where))
    if found is None:
        return Path(where)
    scheme, rest = found[1] or found[3], found[2] if found[1] else "/" + found[4]
    if scheme in {"file", "local"}:
        return Path("/" + rest.lstrip("/"))
    if re.match(r"[^/@]*:[^/@]*@", rest):
        raise NongrataError(
            "a password or key does not belong in the address of a run",
            where=f"{scheme}://...",
            fix="give it as the store's own tools take it: in its configuration file or in the "
            "environment",
        )
    try:
        import upath
    except ImportError:
        raise MissingExtraError("remote", f"a run at {scheme}://") from None
    try:
        # a listing that was cached may miss what another process wrote
        path = upath.UPath(f"{scheme}://{rest.rstrip('/')}", use_listings_cache=False)
        _ = path.fs
    except ImportError as error:
        if scheme in _EXTRAS:
            raise MissingExtraError(_EXTRAS[scheme], f"a run at {scheme}://") from None
        raise NongrataError(_first_line(error), where=f"{scheme}://{rest}") from None
    except ValueError as error:
        raise NongrataError(
            f"this address is not understood ({_first_line(error)})",
            where=f"{scheme}://{rest}",
            fix="give a folder, or an address such as s3://bucket/run",
        ) from None
    except _BUGS:
        raise
    except Exception as error:
        raise store_error(error, cast("Path", path)) from None
    return cast("Path", path)


def is_remote(path: Path) -> bool:
    """Whether a path is an address rather than a local file."""
    return not isinstance(path, Path)


def is_memory(path: Path) -> bool:
    """Whether an address means this process's own memory."""
    return is_remote(path) and cast("Any", path).protocol == "memory"


def filesystem(path: Path) -> tuple[Any, str]:
    """The fsspec file system of an address, and the path inside it."""
    remote = cast("Any", path)
    return remote.fs, remote.path


@contextmanager
def store_errors(path: Path, *, writing: bool = False) -> Iterator[None]:
    """Turn whatever the store of an address raises into one sentence.

    A file that is not there stays a `FileNotFoundError` when reading.
    """
    if not is_remote(path):
        yield
        return
    try:
        yield
    except (NongrataError, FileExistsError, *_BUGS):
        raise
    except FileNotFoundError as error:
        if not writing:
            raise
        raise store_error(error, path) from None
    except Exception as error:
        raise store_error(error, path) from None


def store_error(error: Exception, path: Path) -> NongrataError:
    """One sentence for what a store, or the way to it, refused.

    Examples
    --------
    >>> str(store_error(PermissionError("Forbidden"), run_path("memory://b/run")))
    'memory://b/run: access is refused (Forbidden); check the credentials and their rights'
    """
    said = _first_line(error)
    name = type(error).__name__.lower()
    again = "the same command goes on from what is committed"
    if "credential" in name or "unable to locate credentials" in said.lower():
        return NongrataError(
            f"there are no usable credentials ({said})",
            where=path,
            fix="give them as the store's own tools take them: in its configuration file or in "
            "the environment",
        )
    if isinstance(error, PermissionError) or "forbidden" in name:
        return NongrataError(
            f"access is refused ({said})", where=path, fix="check the credentials and their rights"
        )
    if isinstance(error, FileNotFoundError):
        return NongrataError(
            f"there is no such bucket or container ({said})",
            where=path,
            fix="create it, or correct the address",
        )
    if isinstance(error, TimeoutError | ConnectionError) or re.search(
        r"timeout|connect|resol|dns|network", name
    ):
        return NongrataError(
            f"the store cannot be reached ({said})",
            where=path,
            fix=f"check the network and the address; {again}",
        )
    return NongrataError(
        f"the store refused ({said or type(error).__name__})", where=path, fix=again
    )


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0].strip()[:300] if lines else ""
