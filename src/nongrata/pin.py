"""Which commit does a model's repository stand at? For studies that are still to be pinned."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from nongrata.errors import NongrataError
from nongrata.loading import load_study
from nongrata.model_specs import HubRevision
from nongrata.presets import PRESETS, preset_text
from nongrata.yaml_files import read_text

Latest = Callable[[str], str]
"""From a repository to the commit that its main branch stands at."""


@dataclass(frozen=True, slots=True)
class Pin:
    """A model of a study and the commit of its repository.

    Parameters
    ----------
    model, place
        The model's id and its place in the study.
    repo
        Its repository.
    pinned
        The commit that the study names, if any.
    latest
        The commit that the main branch stands at now.
    line
        Line of the study's text on which the revision stands, if it stands there.
    """

    model: str
    place: int
    repo: str
    pinned: str | None
    latest: str
    line: int | None

    @property
    def override(self) -> str:
        """The option that pins it."""
        return f"--set {shlex.quote(f'models.{self.place}.hub.revision={as_yaml(self.latest)}')}"


def find_pins(reference: str, *, every: bool = False, latest: Latest | None = None) -> list[Pin]:
    """Ask the Hub at which commits the repositories of a study's models stand.

    Parameters
    ----------
    reference
        A study file, or a preset.
    every
        Ask for pinned models too, not only for those without a revision.
    latest
        In place of the Hub.
    """
    loaded = load_study(reference)
    ask = latest_commit if latest is None else latest
    found = []
    for place, spec in enumerate(loaded.study.models):
        hub = getattr(spec, "hub", None)
        if isinstance(hub, HubRevision) and (every or hub.revision is None):
            line = loaded.document.lines.get(("models", place, "hub", "revision"))
            found.append(Pin(spec.id, place, hub.repo, hub.revision, ask(hub.repo), line))
    return found


def pinned_text(reference: str, pins: list[Pin]) -> str:
    """A study's text with the commits written in, its comments and order kept.

    Parameters
    ----------
    reference
        The study file or preset that the pins were found in.
    pins
        What to write.
    """
    path = Path(reference)
    preset = reference in PRESETS and not path.exists()
    text = preset_text(reference) if preset else read_text(path)
    lines = text.splitlines(keepends=True)
    for pin in pins:
        old = f"['\"]?{re.escape(pin.pinned)}['\"]?" if pin.pinned else "null|~|"
        form = rf"(\brevision:)[ ]*(?:{old})(?=[ ]*(?:[,}}#]|$))"
        line = "" if pin.line is None else lines[pin.line - 1]
        new, count = re.subn(form, rf"\g<1> {as_yaml(pin.latest)}", line.rstrip("\r\n"))
        if count != 1 or pin.line is None:
            raise NongrataError(
                f"the revision of '{pin.model}' does not stand on one line of its own text",
                where=reference if pin.line is None else f"{reference}:{pin.line}",
                fix=f"write revision: {pin.latest} under its hub by hand",
            )
        lines[pin.line - 1] = new + line[len(line.rstrip("\r\n")) :]
    return "".join(lines)


def as_yaml(commit: str) -> str:
    """A commit as a YAML text: in quotes where it could be read as a number.

    Examples
    --------
    >>> as_yaml("0a1b"), as_yaml("0123"), as_yaml("12e4")
    ('0a1b', "'0123'", "'12e4'")
    """
    return commit if re.search("[a-df-z]", commit) else f"'{commit}'"


def latest_commit(repo: str) -> str:
    """The commit that a model repository's main branch stands at, from the Hub.

    Gated repositories tell it to everybody; their files are another matter.
    """
    from huggingface_hub import HfApi, errors, utils

    utils.logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    where = f"Hub model {repo}"
    try:
        commit = HfApi().repo_info(repo, repo_type="model", revision="main").sha
    except errors.GatedRepoError:
        what = "access to it must be asked for"
        fix = "accept its terms on its page, then set HF_TOKEN or run: hf auth login"
    except errors.RepositoryNotFoundError:
        what = "there is no such model, or it is private"
        fix = "check its name; for a private one set HF_TOKEN or run: hf auth login"
    except errors.RevisionNotFoundError:
        what, fix = "it has no branch 'main'", "give a commit by hand"
    except errors.HfHubHTTPError as error:
        first = (str(error).splitlines() or [type(error).__name__])[0]
        what, fix = f"the Hub does not answer: {first}", "try again later"
    # the Hub's client has changed its HTTP library twice; each has errors of its own
    except Exception as error:
        what = f"the Hub cannot be reached ({type(error).__name__})"
        fix = "go online, or give the commit by hand"
    else:
        if commit is not None:
            return str(commit)
        what, fix = "the Hub names no commit", "give one by hand"
    raise NongrataError(what, where=where, fix=fix)
