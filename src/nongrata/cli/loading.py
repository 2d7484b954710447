"""Answers for a command, whatever folder they stand in: a run, or an imported table."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import xarray as xr


def warnings_of(folder: Path) -> list[str]:
    """What must be said beside any figure of a folder; refuses one that holds no answers.

    Parameters
    ----------
    folder
        A run directory or an imported table.
    """
    from nongrata.interop.imported import is_import
    from nongrata.manifest import Manifest

    return [] if is_import(folder) else Manifest.read(folder).warnings()


def load(folder: Path, progress: Callable[[int, int], None] | None) -> xr.Dataset:
    """Load answers, and refuse a folder that has none yet.

    Parameters
    ----------
    folder
        A run directory or an imported table.
    progress
        Told how many of how many rows have been read.
    """
    from nongrata.interop.loading import load_answers

    return load_answers(folder, progress)
