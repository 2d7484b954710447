"""Are a run's side files what was written? Each is hashed in the manifest; damage is named."""

from __future__ import annotations

from pathlib import Path

from nongrata.commit_list import COMMITS, CommitList
from nongrata.manifest import Manifest
from nongrata.run_files import file_hash, files_in
from nongrata.run_folder import DESIGN, PROMPTS, QUESTIONS, STUDY
from nongrata.store import RESPONSES, Damage

SIDE_FILES = (STUDY, QUESTIONS, DESIGN, PROMPTS)


def side_file_hashes(folder: Path) -> dict[str, str]:
    """SHA-256 of each side file that is there, by name."""
    there = files_in(folder)
    return {name: file_hash(folder / name, "sha256") for name in SIDE_FILES if name in there}


def side_file_damage(folder: Path, manifest: Manifest) -> list[Damage]:
    """Side files that are missing or are not what was written.

    Parameters
    ----------
    folder
        The run directory.
    manifest
        Its manifest.
    """
    there = files_in(folder)
    found = []
    for name, written in manifest.files.items():
        if name not in there:
            found.append(Damage(name, 0, "missing"))
        elif file_hash(folder / name, "sha256") != written:
            found.append(Damage(name, 0, "changed"))
    if files_in(folder / RESPONSES) and not CommitList(folder).exists():
        found.append(Damage(COMMITS, 0, "missing"))
    return found
