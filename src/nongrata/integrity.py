"""Are a run's side files what was written? Each is hashed in the manifest; damage is named."""

from __future__ import annotations

import hashlib
from pathlib import Path

from nongrata.manifest import Manifest
from nongrata.run_folder import DESIGN, PROMPTS, QUESTIONS, STUDY
from nongrata.store import COMMITS, Damage

SIDE_FILES = (STUDY, QUESTIONS, DESIGN, PROMPTS)


def side_file_hashes(folder: Path) -> dict[str, str]:
    """SHA-256 of each side file that is there, by name."""
    return {name: _sha256(folder / name) for name in SIDE_FILES if (folder / name).is_file()}


def side_file_damage(folder: Path, manifest: Manifest) -> list[Damage]:
    """Side files that are missing or are not what was written.

    Parameters
    ----------
    folder
        The run directory.
    manifest
        Its manifest.
    """
    found = []
    for name, written in manifest.files.items():
        path = folder / name
        if not path.is_file():
            found.append(Damage(name, 0, "missing"))
        elif _sha256(path) != written:
            found.append(Damage(name, 0, "changed"))
    responses = folder / "responses"
    if responses.is_dir() and any(responses.iterdir()) and not (folder / COMMITS).is_file():
        found.append(Damage(COMMITS, 0, "missing"))
    return found


def _sha256(path: Path) -> str:
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()
