"""From a declared path or Hub data set to the files to read, in a fixed order."""

from __future__ import annotations

import glob
from collections.abc import Callable
from pathlib import Path

from nongrata.errors import NongrataError
from nongrata.hub import cached_file, fetch_file
from nongrata.questions.source import HubFiles, SourceSpec

READABLE = (".csv", ".csv.gz", ".jsonl", ".jsonl.gz", ".parquet")


def source_files(source: SourceSpec, base: Path) -> list[Path]:
    """Return the files of a source; patterns and folders are sorted by name.

    Parameters
    ----------
    source
        The declared source.
    base
        Folder that relative paths start from: the study file's.

    Raises
    ------
    NongrataError
        If a file is missing, a pattern matches nothing, or the Hub cannot be read.
    """
    if source.hub is not None:
        return hub_files(source.hub)
    found: list[Path] = []
    for declared in source.path_list:
        found += _expand(declared, base)
    twice = next((path for path in found if found.count(path) > 1), None)
    if twice is not None:
        raise NongrataError(
            f"the source '{source.id}' names this file twice", where=twice, fix="name it once"
        )
    return found


def _expand(declared: str, base: Path) -> list[Path]:
    path = base / declared
    if path.is_dir():
        inside = sorted(
            entry for entry in path.iterdir() if entry.is_file() and entry.name.endswith(READABLE)
        )
        if not inside:
            raise NongrataError(
                f"the folder holds no {', '.join(READABLE)} file", where=path, fix="name the files"
            )
        return inside
    if path.exists():
        return [path]
    if any(sign in declared for sign in "*?["):
        # glob and not Path.glob: the pattern may be absolute or climb with `..`
        names = glob.glob(declared, root_dir=base, recursive=True)  # noqa: PTH207
        files = [base / name for name in sorted(names) if (base / name).is_file()]
        if not files:
            raise NongrataError("no file matches this pattern", where=path)
        return files
    raise NongrataError(
        "there is no such file", where=path, fix="paths are relative to the study file's folder"
    )


def hub_files(hub: HubFiles, download: Callable[..., str] | None = None) -> list[Path]:
    """Fetch files of a data set at a pinned commit, or find them in the cache.

    Parameters
    ----------
    hub
        Data set, commit and files.
    download
        In place of ``huggingface_hub.hf_hub_download``.
    """
    return [
        fetch_file(hub.repo, name, hub.revision, kind="dataset", download=download)
        for name in hub.files
    ]


def at_hand(source: SourceSpec, base: Path) -> bool:
    """Whether a source's files are on this machine, so that reading them fetches nothing.

    Examples
    --------
    >>> at_hand(SourceSpec(id="own", format="starter"), Path())
    True
    >>> at_hand(SourceSpec(id="m", format="mmlu_hub", path="no/such.parquet"), Path())
    False
    """
    hub = source.hub
    if hub is not None:
        return all(cached_file(hub.repo, f, hub.revision, kind="dataset") for f in hub.files)
    # glob and not Path.glob: the pattern may be absolute or climb with `..`
    return all(
        (base / declared).exists() or bool(glob.glob(declared, root_dir=base))  # noqa: PTH207
        for declared in source.path_list
    )
