"""A folder of answers, whatever made it: a run of this package, or an imported table."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from nongrata.errors import NongrataError
from nongrata.interop.imported import is_import, load_import
from nongrata.responses import load_run
from nongrata.run_path import run_path

if TYPE_CHECKING:
    import xarray as xr


def load_answers(
    folder: str | Path, progress: Callable[[int, int], None] | None = None
) -> xr.Dataset:
    """Load a run directory or an imported table, and refuse one that has no answers yet.

    Parameters
    ----------
    folder
        Where it is.
    progress
        Told how many of how many answers have been read.
    """
    dataset = load_responses(folder, progress)
    if not dataset.attrs["stored_rows"]:
        raise NongrataError(
            "the run has no answers yet", where=folder, fix="run its study into it first"
        )
    return dataset


def load_responses(
    folder: str | Path, progress: Callable[[int, int], None] | None = None
) -> xr.Dataset:
    """Load a run directory or an imported table as a Dataset of responses.

    Parameters
    ----------
    folder
        Where it is.
    progress
        Told how many of how many answers have been read.

    See Also
    --------
    nongrata.responses.load_run, nongrata.interop.imported.load_import
    """
    folder = run_path(folder)
    return load_import(folder, progress) if is_import(folder) else load_run(folder, progress)
