"""From a declared path or Hub data set to the files to read, in a fixed order."""

from __future__ import annotations

import glob
from collections.abc import Callable
from pathlib import Path

from nongrata.errors import NongrataError
from nongrata.questions.source import HubFiles, SourceSpec

READABLE = (".csv", ".csv.gz", ".jsonl", ".jsonl.gz", ".parquet")


def source_files(source: SourceSpec, base: Path) -> list[Path]:
    """Return the files of a source; patterns and folders are sorted by name.

    Parameters
    ----------
    source
        The declared source.
    base
        Folder that relative paths start from: the study file's.

    Raises
    ------
    NongrataError
        If a file is missing, a pattern matches nothing, or the Hub cannot be read.
    """
    if source.hub is not None:
        return hub_files(source.hub)
    found: list[Path] = []
    for declared in source.path_list:
        found += _expand(declared, base)
    twice = next((path for path in found if found.count(path) > 1), None)
    if twice is not None:
        raise NongrataError(
            f"the source '{source.id}' names this file twice", where=twice, fix="name it once"
        )
    return found


def _expand(declared: str, base: Path) -> list[Path]:
    path = base / declared
    if path.is_dir():
        inside = sorted(
            entry for entry in path.iterdir() if entry.is_file() and entry.name.endswith(READABLE)
        )
        if not inside:
            raise NongrataError(
                f"the folder holds no {', '.join(READABLE)} file", where=path, fix="name the files"
            )
        return inside
    if path.exists():
        return [path]
    if any(sign in declared for sign in "*?["):
        # glob and not Path.glob: the pattern may be absolute or climb with `..`
        names = glob.glob(declared, root_dir=base, recursive=True)  # noqa: PTH207
        files = [base / name for name in sorted(names) if (base / name).is_file()]
        if not files:
            raise NongrataError("no file matches this pattern", where=path)
        return files
    raise NongrataError(
        "there is no such file", where=path, fix="paths are relative to the study file's folder"
    )


def hub_files(hub: HubFiles, download: Callable[..., str] | None = None) -> list[Path]:
    """Fetch files of a data set at a pinned commit, or find them in the cache.

    Parameters
    ----------
    hub
        Data set, commit and files.
    download
        In place of ``huggingface_hub.hf_hub_download``.

    Raises
    ------
    NongrataError
        Offline and not in the cache; gated or private; no such data set, commit or file.
    """
    import huggingface_hub
    from huggingface_hub import errors

    fetch = huggingface_hub.hf_hub_download if download is None else download
    place = f"Hub data set {hub.repo}"
    found = []
    for name in hub.files:
        try:
            local = fetch(
                repo_id=hub.repo, filename=name, repo_type="dataset", revision=hub.revision
            )
        except errors.GatedRepoError:
            raise NongrataError(
                "access to it must be asked for",
                where=place,
                fix="accept its terms on its page, then set HF_TOKEN or run: hf auth login",
            ) from None
        except errors.RepositoryNotFoundError:
            raise NongrataError(
                "there is no such data set, or it is private",
                where=place,
                fix="check its name; for a private one set HF_TOKEN or run: hf auth login",
            ) from None
        except errors.RevisionNotFoundError:
            raise NongrataError(f"it has no commit {hub.revision}", where=place) from None
        except (errors.LocalEntryNotFoundError, errors.OfflineModeIsEnabled):
            raise NongrataError(
                f"'{name}' is not in the cache and the Hub cannot be reached",
                where=place,
                fix="go online once, or give local files with 'path'",
            ) from None
        except errors.EntryNotFoundError:
            raise NongrataError(
                f"it has no file '{name}' at commit {hub.revision[:8]}", where=place
            ) from None
        except errors.LocalTokenNotFoundError:
            raise NongrataError(
                "it needs a token and there is none",
                where=place,
                fix="set HF_TOKEN or run: hf auth login",
            ) from None
        except (errors.HfHubHTTPError, OSError) as error:
            first = (str(error).splitlines() or [type(error).__name__])[0]
            raise NongrataError(
                f"'{name}' could not be fetched: {first}",
                where=place,
                fix="check the connection, or give local files with 'path'",
            ) from None
        found.append(Path(local))
    return found


def at_hand(source: SourceSpec, base: Path) -> bool:
    """Whether a source's files are on this machine, so that reading them fetches nothing.

    Examples
    --------
    >>> at_hand(SourceSpec(id="own", format="starter"), Path())
    True
    >>> at_hand(SourceSpec(id="m", format="mmlu_hub", path="no/such.parquet"), Path())
    False
    """
    if source.hub is not None:
        import huggingface_hub

        return all(
            isinstance(
                huggingface_hub.try_to_load_from_cache(
                    source.hub.repo, name, revision=source.hub.revision, repo_type="dataset"
                ),
                str,
            )
            for name in source.hub.files
        )
    # glob and not Path.glob: the pattern may be absolute or climb with `..`
    return all(
        (base / declared).exists() or bool(glob.glob(declared, root_dir=base))  # noqa: PTH207
        for declared in source.path_list
    )
