"""Files of the Hugging Face Hub, at a pinned commit: fetched, or found in the Hub's own cache."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal

from nongrata.errors import NongrataError

Kind = Literal["model", "dataset"]
_NAMES = {"model": "model", "dataset": "data set"}


def fetch_file(
    repo: str,
    file: str,
    revision: str,
    *,
    kind: Kind,
    download: Callable[..., str] | None = None,
) -> Path:
    """Fetch one file at a pinned commit, or find it in the cache.

    Parameters
    ----------
    repo, file, revision
        Repository as owner/name, path in it, and commit.
    kind
        Whether the repository is a model or a data set.
    download
        In place of ``huggingface_hub.hf_hub_download``.

    Raises
    ------
    NongrataError
        Offline and not in the cache; gated or private; no such repository, commit or file.
    """
    import huggingface_hub
    from huggingface_hub import errors, utils

    # its retries are announced as warnings, attempt by attempt; what matters is said below, once
    utils.logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    fetch = huggingface_hub.hf_hub_download if download is None else download
    name = _NAMES[kind]
    where = f"Hub {name} {repo}"
    try:
        return Path(fetch(repo_id=repo, filename=file, repo_type=kind, revision=revision))
    # the order matters: a gated repository is a kind of missing one, and so on
    except errors.GatedRepoError:
        what = "access to it must be asked for"
        fix = "accept its terms on its page, then set HF_TOKEN or run: hf auth login"
    except errors.RepositoryNotFoundError:
        what = f"there is no such {name}, or it is private"
        fix = "check its name; for a private one set HF_TOKEN or run: hf auth login"
    except errors.RevisionNotFoundError:
        what, fix = f"it has no commit {revision}", "name one of its commits"
    except (errors.LocalEntryNotFoundError, errors.OfflineModeIsEnabled):
        what = f"'{file}' is not in the cache and the Hub cannot be reached"
        fix = "go online once, or give local files with 'path'"
    except errors.EntryNotFoundError:
        what, fix = f"it has no file '{file}' at commit {revision[:8]}", "check the file's name"
    except errors.LocalTokenNotFoundError:
        what, fix = "it needs a token and there is none", "set HF_TOKEN or run: hf auth login"
    except (errors.HfHubHTTPError, OSError, ValueError) as error:
        first = (str(error).splitlines() or [type(error).__name__])[0]
        what = f"'{file}' could not be fetched: {first}"
        fix = "check the network and the disk, or give local files with 'path'"
    raise NongrataError(what, where=where, fix=fix)


def cached_file(repo: str, file: str, revision: str, *, kind: Kind) -> Path | None:
    """Find a file in the Hub's cache; nothing is fetched."""
    import huggingface_hub

    found = huggingface_hub.try_to_load_from_cache(repo, file, revision=revision, repo_type=kind)
    return Path(found) if isinstance(found, str) else None
