"""May this study go on in this directory? What the directory says of itself is asked first.

`study.yaml`, `questions.parquet` and `manifest.json` each know something of what was asked. One
that is damaged is set aside and written anew, if the others vouch for the study; where nothing
vouches for it and there are answers, going on is refused rather than guessed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from nongrata.amend import differences
from nongrata.errors import NongrataError
from nongrata.manifest import FILE as MANIFEST
from nongrata.manifest import DamagedManifestError, Manifest, now
from nongrata.questions.storage import read_questions
from nongrata.run_files import is_file, set_aside
from nongrata.run_folder import QUESTIONS, STUDY, RunContent, study_text
from nongrata.study import Study
from nongrata.yaml_files import read_yaml, validate

Content = TypeVar("Content")


def open_run(
    folder: Path, content: RunContent, *, has_answers: bool, note: Callable[[str], None]
) -> Manifest:
    """Return the manifest to go on with, a new one in a new directory.

    Parameters
    ----------
    folder
        The run directory, held for writing.
    content
        What is to be run.
    has_answers
        Whether there are committed answers.
    note
        Told which files were damaged.

    Raises
    ------
    NongrataError
        If the directory belongs to another study, or if that cannot be told.
    """
    damaged: list[Path] = []  # set aside only once it is clear that the study may go on
    manifest = _whole(
        folder / MANIFEST, lambda _: Manifest.read(folder), damaged, (DamagedManifestError,)
    )
    if not has_answers:
        return Manifest(created=now())  # there is nothing to mix with
    text = study_text(content.study, content.personas).encode()
    if (
        manifest is not None
        and hashlib.sha256(text).hexdigest() == manifest.study_sha256
        and content.questions.sha256() == manifest.questions_sha256
    ):
        return manifest  # exactly the run's study: whatever was changed is written anew
    study = _whole(folder / STUDY, lambda path: validate(Study, read_yaml(path)), damaged)
    questions = _whole(folder / QUESTIONS, read_questions, damaged)
    if study is not None:
        found = differences(
            study,
            content.study,
            study.personas.list,
            content.personas,
            questions or (),
            content.questions,
        )
        if found:
            more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
            raise NongrataError(
                f"this run was started with another study: {found[0]}{more}",
                where=folder,
                fix="undo that, or give another --out; a run can only grow",
            )
    else:
        raise _unknown(folder, STUDY)
    vouched = manifest is None or content.questions.sha256() == manifest.questions_sha256
    if questions is None and not vouched:
        raise _unknown(folder, QUESTIONS)
    for path in damaged:
        aside = set_aside(path, f"{path.name}.damaged")
        note(f"{path.name} is damaged; it was set aside as {aside.name}")
    return Manifest(created=now()) if manifest is None else manifest


def _whole(
    path: Path,
    read: Callable[[Path], Content],
    damaged: list[Path],
    damage: tuple[type[NongrataError], ...] = (NongrataError,),
) -> Content | None:
    """Read a file; None if there is none or if it is damaged, which is listed."""
    if not is_file(path):
        return None
    try:
        return read(path)
    except damage:
        damaged.append(path)
        return None


def _unknown(folder: Path, name: str) -> NongrataError:
    return NongrataError(
        f"{name} is gone or damaged, and this is not the study that it belonged to",
        where=folder,
        fix="run the study as it was, which rewrites the file, or give another --out",
    )
