"""Where results come from, in a form that a report can show and a reader can check."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from nongrata._version import __version__
from nongrata.analysis.result import Result
from nongrata.interop.imported import is_import, read_import
from nongrata.manifest import Manifest
from nongrata.run_folder import RunContent, read_content
from nongrata.run_path import run_path
from nongrata.yaml_files import dump_yaml


@dataclass(frozen=True, slots=True)
class DesignPersona:
    """A persona of the design: its id, the text filled in, and whether it is a control."""

    id: str
    text: str
    group: str
    is_control: bool
    source: str


@dataclass(frozen=True, slots=True)
class DesignLevel:
    """A level of a factor: its id, and what it does, as YAML."""

    id: str
    what: str


@dataclass(frozen=True, slots=True)
class DesignFactor:
    """A factor, its sub-factors and its levels."""

    name: str
    sub_factors: tuple[str, ...]
    levels: tuple[DesignLevel, ...]


@dataclass(frozen=True, slots=True)
class DesignSource:
    """A source of questions, and how many of the study's questions came from it."""

    id: str
    questions: int
    domains: int


@dataclass(frozen=True, slots=True)
class ModelProvenance:
    """What is known about a model: everything about it that can change an answer.

    Parameters
    ----------
    id
        Its name in the study.
    is_model
        False for simulated answers.
    digest
        Hash of the identity, part of every request's key.
    facts
        Name and value, both as text: engine, revision, hashes, precision ...
    """

    id: str
    is_model: bool
    digest: str
    facts: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class SessionProvenance:
    """A process that worked on a run."""

    started: str
    ended: str | None
    requests: int
    answers: int
    seconds: float
    facts: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Provenance(Result):
    """Where the answers of a study come from.

    Parameters
    ----------
    made_from
        ``"run"`` or ``"import"``.
    study, title, note
        Name, title and note of the study.
    nongrata, created
        Version of this package that started the run, and when.
    computed_with
        Version of this package that computed the results.
    seed, replicates
        Of the run; None for an import.
    sampling
        Every distinct set of sampling parameters.
    hashes
        Name and hash: of the study, the questions, the prompts, the files.
    personas, factors, sources
        The design.
    requests, prompts
        Numbers of committed rows and distinct prompts; None where they are not known.
    models, sessions
        What answered, and the processes that asked.
    warnings
        What a reader must know first.
    """

    made_from: Literal["run", "import"]
    study: str
    title: str
    note: str
    nongrata: str
    created: str
    computed_with: str
    seed: int | None
    replicates: int | None
    sampling: tuple[dict[str, Any], ...]
    hashes: tuple[tuple[str, str], ...]
    personas: tuple[DesignPersona, ...]
    factors: tuple[DesignFactor, ...]
    sources: tuple[DesignSource, ...]
    requests: int | None
    prompts: int | None
    models: tuple[ModelProvenance, ...]
    sessions: tuple[SessionProvenance, ...]
    warnings: tuple[str, ...]
    kind: Literal["provenance"] = "provenance"

    def __str__(self) -> str:
        return f"{self.title or self.study}: {self.made_from} of {self.created}"


def provenance(folder: str | Path) -> Provenance:
    """Where a folder's answers come from.

    Parameters
    ----------
    folder
        A run directory or an imported table.
    """
    folder = run_path(folder)
    if is_import(folder):
        return _of_import(read_import(folder))
    return _of_run(Manifest.read(folder), read_content(folder))


def _of_run(manifest: Manifest, content: RunContent) -> Provenance:
    study = content.study
    hashes = [("study", manifest.study_sha256), ("questions", manifest.questions_sha256)]
    hashes += [("prompts", str(manifest.prompts.get("content", "")))]
    hashes += sorted(manifest.files.items())
    return Provenance(
        made_from="run",
        study=study.name,
        title=study.title,
        note=study.note,
        nongrata=manifest.nongrata,
        created=manifest.created,
        computed_with=__version__,
        seed=study.seed,
        replicates=study.replicates,
        sampling=tuple(manifest.sampling.get("parameters", ())),
        hashes=tuple(hashes),
        personas=tuple(
            DesignPersona(p.id, p.text or "", p.group, p.control, p.source)
            for p in content.personas
        ),
        factors=tuple(
            DesignFactor(
                factor.name,
                tuple(factor.sub_factors),
                tuple(
                    DesignLevel(
                        level.id,
                        dump_yaml(
                            level.model_dump(mode="json", exclude={"id"}, exclude_defaults=True)
                        ),
                    )
                    for level in factor.levels
                ),
            )
            for factor in study.factors
        ),
        sources=_sources(content),
        requests=sum(session.requests for session in manifest.sessions),
        prompts=manifest.prompts.get("prompts"),
        models=tuple(
            ModelProvenance(
                name,
                record.is_model,
                record.digest,
                (*_facts(record.identity), *_facts(record.provenance)),
            )
            for name, record in manifest.models.items()
        ),
        sessions=tuple(
            SessionProvenance(
                s.started, s.ended, s.requests, s.answers, s.seconds, _environment(s.environment)
            )
            for s in manifest.sessions
        ),
        warnings=tuple(manifest.warnings()),
    )


def _sources(content: RunContent) -> tuple[DesignSource, ...]:
    domains: dict[str, set[str]] = {}
    numbers: dict[str, int] = {}
    for question in content.questions:
        numbers[question.source] = numbers.get(question.source, 0) + 1
        domains.setdefault(question.source, set()).add(question.domain)
    return tuple(DesignSource(name, n, len(domains[name])) for name, n in numbers.items())


def _of_import(about: dict[str, Any]) -> Provenance:
    return Provenance(
        made_from="import",
        study=about["title"],
        title=about["title"],
        note="",
        nongrata=str(about.get("nongrata", "")),
        created=str(about.get("created", "")),
        computed_with=__version__,
        seed=None,
        replicates=int(about["replicates"]),
        sampling=(),
        hashes=tuple(sorted(about["files"].items())),
        personas=tuple(
            DesignPersona(name, name, "", name in about["controls"], "")
            for name in about["personas"]
        ),
        factors=tuple(
            DesignFactor(name, (), tuple(DesignLevel(level, "") for level in levels))
            for name, levels in about["factors"].items()
        ),
        sources=(),
        requests=None,
        prompts=None,
        models=tuple(ModelProvenance(name, True, "", ()) for name in about["models"]),
        sessions=(),
        warnings=(),
    )


def _environment(facts: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    """Without the command line, which names folders of a machine; the manifest has it."""
    return tuple(_facts({key: value for key, value in facts.items() if key != "command"}))


def _facts(value: Any, name: str = "") -> list[tuple[str, str]]:
    """Leaves of nested objects, by dotted name."""
    if isinstance(value, dict):
        return [
            fact
            for key, item in value.items()
            for fact in _facts(item, f"{name}.{key}" if name else str(key))
        ]
    if isinstance(value, (list, tuple)):
        return [(name, ", ".join(map(str, value)))]
    return [(name, "" if value is None else str(value))]
