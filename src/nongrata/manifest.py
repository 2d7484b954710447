"""The run's provenance: what was asked, by what, on what, when. Kept as ``manifest.json``."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import subprocess
import sys
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from nongrata._version import __version__
from nongrata.errors import NongrataError
from nongrata.run_files import read_bytes, write_atomically
from nongrata.wording import say

FILE = "manifest.json"
FORM = 2
_PACKAGES = (
    *("numpy", "polars", "pyarrow", "pydantic", "jinja2", "gguf", "xllamacpp"),
    *("torch", "transformers", "tokenizers", "vllm", "openai", "ray", "fsspec"),
)


class DamagedManifestError(NongrataError):
    """The manifest is not what this package wrote."""


@dataclass
class ModelRecord:
    """What is known about one model of a run.

    Parameters
    ----------
    identity
        Everything about it that can change an answer.
    digest
        Hash of the identity, part of every request's key.
    provenance
        What else is worth knowing.
    is_model
        False for simulated answers.
    deterministic_at_zero
        Whether repeats at temperature 0 were taken from one pass.
    """

    identity: dict[str, Any]
    digest: str
    provenance: dict[str, Any]
    is_model: bool
    deterministic_at_zero: bool


@dataclass
class Session:
    """One process that worked on the run."""

    started: str
    environment: dict[str, Any]
    ended: str | None = None
    requests: int = 0
    answers: int = 0
    seconds: float = 0.0
    requests_by_model: dict[str, int] = field(default_factory=dict)
    seconds_by_model: dict[str, float] = field(default_factory=dict)
    usage_by_model: dict[str, dict[str, int]] = field(default_factory=dict)


@dataclass
class Manifest:
    """The provenance of a run.

    Parameters
    ----------
    nongrata
        Version of this package that started the run.
    created
        When, in UTC.
    study_sha256, questions_sha256
        Hashes of ``study.yaml`` and of the questions' content.
    questions
        Number of questions.
    limit
        The ``--limit`` in force, if any: then nothing in the run is a result.
    files
        SHA-256 of each side file, as it was written.
    sampling
        Seed, replicates, and every distinct set of sampling parameters, as resolved.
    prompts
        Content hash, size and file hash of ``prompts.parquet``.
    models
        By id.
    sessions
        Every process that worked on the run.
    engine_checks
        The numerical floor of each model that was checked (`nongrata.numerical_floor`), by id.
    """

    nongrata: str = __version__
    form: int = FORM
    created: str = ""
    study_sha256: str = ""
    questions_sha256: str = ""
    questions: int = 0
    limit: int | None = None
    files: dict[str, str] = field(default_factory=dict)
    sampling: dict[str, Any] = field(default_factory=dict)
    prompts: dict[str, Any] = field(default_factory=dict)
    models: dict[str, ModelRecord] = field(default_factory=dict)
    sessions: list[Session] = field(default_factory=list)
    engine_checks: dict[str, dict[str, Any]] = field(default_factory=dict)

    def warnings(self) -> list[str]:
        """What a reader of anything in the run must know first."""
        lines: list[str] = []
        if self.limit is not None:
            lines.append(say("LIMITED to {limit} questions: not a result", limit=self.limit))
        simulated = [model for model, record in self.models.items() if not record.is_model]
        if simulated:
            lines.append(say("SIMULATED answers, no model was asked: {models}", models=simulated))
        return lines

    def write(self, folder: Path) -> None:
        """Write the manifest, whole or not at all."""
        data = asdict(self)
        text = json.dumps(data | {"sha256": _self_hash(data)}, indent=1, ensure_ascii=True)
        write_atomically(folder / FILE, text.encode() + b"\n")

    @classmethod
    def read(cls, folder: Path) -> Manifest:
        """Read a run's manifest, or say that this is no run directory."""
        path = folder / FILE
        try:
            data = json.loads(read_bytes(path))
        except (FileNotFoundError, NotADirectoryError):
            raise NongrataError(
                "this is no run directory (it has no manifest.json)",
                where=folder,
                fix="give the folder that was named with --out",
            ) from None
        except ValueError:
            raise _damaged(path) from None
        if not isinstance(data, dict):
            raise _damaged(path)
        if data.get("form") != FORM:
            raise NongrataError(
                f"the run has form {data.get('form')!r}, this version reads form {FORM}",
                where=path,
                fix=f"use nongrata {data.get('nongrata')}",
            )
        written = data.pop("sha256", None)
        if written != _self_hash(data):
            raise _damaged(path)
        try:
            data["models"] = {key: ModelRecord(**value) for key, value in data["models"].items()}
            data["sessions"] = [Session(**value) for value in data["sessions"]]
            return cls(**data)
        except (KeyError, TypeError, AttributeError):
            raise _damaged(path) from None


def _self_hash(data: dict[str, Any]) -> str:
    """SHA-256 of a manifest's content, which the file ends with: a flipped bit is found."""
    text = json.dumps(data, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _damaged(path: Path) -> DamagedManifestError:
    return DamagedManifestError(
        "the manifest is damaged", where=path, fix="run the same study again to rewrite it"
    )


def now() -> str:
    """The time, in UTC, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def environment() -> dict[str, Any]:
    """Hardware, operating system, versions and the working directory's git commit."""
    return {
        "python": platform.python_version(),
        "system": platform.platform(),
        "machine": platform.machine(),
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count(),
        "packages": {"nongrata": __version__} | _versions(),
        "git": _git(),
        "command": [Path(sys.argv[0]).name, *sys.argv[1:]],
    }


def _versions() -> dict[str, str]:
    found = {}
    for package in _PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text("utf-8", "replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor()


def _git() -> dict[str, Any] | None:
    def ask(*arguments: str) -> str | None:
        try:
            done = subprocess.run(  # noqa: S603
                ["git", *arguments],  # noqa: S607
                capture_output=True,
                text=True,
                timeout=10,
                check=False,
            )
        except (OSError, subprocess.SubprocessError):
            return None
        return done.stdout.strip() if done.returncode == 0 else None

    commit = ask("rev-parse", "HEAD")
    if commit is None:
        return None
    return {"commit": commit, "dirty": bool(ask("status", "--porcelain"))}
