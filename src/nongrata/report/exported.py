"""Files for papers: all of them are written, or none, and nobody else's is touched."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Protocol, TypeVar

from nongrata.errors import NongrataError
from nongrata.report.sections.study import slug
from nongrata.run_files import disk_error, write_atomically
from nongrata.run_path import is_remote
from nongrata.terminal import visible
from nongrata.yaml_files import did_you_mean


class HasId(Protocol):
    """A table or a chart."""

    @property
    def id(self) -> str:
        """Its id."""


Found = TypeVar("Found", bound=HasId)


def write_files(folder: Path, files: Mapping[str, bytes]) -> list[Path]:
    """Write files into a folder; what else it holds stays as it is.

    Parameters
    ----------
    folder
        Made if it is not there.
    files
        Content by name. A file of the same name is replaced.

    Returns
    -------
    list
        The files, in order.

    Raises
    ------
    NongrataError
        If the folder cannot be written to; then none of the files has changed.
    """
    if is_remote(folder):
        for name, content in files.items():
            write_atomically(folder / name, content)
        return [folder / name for name in files]
    if folder.exists() and not folder.is_dir():
        raise NongrataError("this is a file", where=folder, fix="name a folder")
    for name in files:
        if (folder / name).is_dir():
            raise NongrataError(
                "a folder stands where a file is to be written", where=folder / name,
                fix="name another folder with --out",
            )  # fmt: skip
    beside = folder / f".{os.getpid()}.tmp"
    try:
        beside.mkdir(parents=True)
        for name, content in files.items():
            (beside / name).write_bytes(content)
        for name in files:
            (beside / name).replace(folder / name)
    except OSError as error:
        raise disk_error(error, folder) from error
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return [folder / name for name in files]


def chosen(found: Iterable[Found], only: Iterable[str], what: str) -> list[Found]:
    """Those with the ids wanted, in the order of the report; all if none is named.

    Parameters
    ----------
    found
        Tables or charts.
    only
        Ids.
    what
        What they are called: ``"table"``.

    Raises
    ------
    NongrataError
        If there is none with an id.
    """
    found, only = list(found), set(only)
    ids = [each.id for each in found]
    for wanted in sorted(only - set(ids)):
        guess = did_you_mean(wanted, ids)
        raise NongrataError(
            f"there is no {what} '{visible(wanted, one_line=True)}'",
            fix=f"did you mean '{guess}'?" if guess else "--list shows all there are",
        )
    return [each for each in found if not only or each.id in only]


def stems(ids: Iterable[str]) -> list[str]:
    """A file name for each id, without its ending: safe, and unique whatever the file system.

    Examples
    --------
    >>> stems(["ia", "IA", "../x"])
    ['ia', 'IA-2', 'x-d6b9']
    """
    taken: set[str] = set()
    names = []
    for each in ids:
        safe = each if re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9-]{0,99}", each) else slug(each)
        name, number = safe, 1
        while name.lower() in taken:
            number += 1
            name = f"{safe}-{number}"
        taken.add(name.lower())
        names.append(name)
    return names
