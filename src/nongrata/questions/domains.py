"""The field a question is reported under: a published mapping that users may edit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path

from pydantic import Field

from nongrata.errors import NongrataError
from nongrata.questions.model import Question
from nongrata.questions.source import suggestion
from nongrata.yaml_files import Document, StrictModel, parse_yaml, read_yaml, validate

OTHER = "other"
EVERY_SUBJECT = "*"


class _DomainFile(StrictModel):
    """The form of ``domains.yaml``."""

    domains: dict[str, str] = Field(default_factory=dict)
    datasets: dict[str, dict[str, tuple[str, ...]]] = Field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DomainMapping:
    """Which domain each subject of each data set belongs to.

    Parameters
    ----------
    titles
        Domain -> what to call it in a report, in the order to show them.
    by_subject
        (data set, subject) -> domain; the subject ``*`` is every one not listed.

    Examples
    --------
    >>> published_domains().domain_of("mmlu", "anatomy")
    'medicine'
    """

    titles: Mapping[str, str]
    by_subject: Mapping[tuple[str, str], str]

    def domain_of(self, dataset: str, subject: str) -> str | None:
        """Return the domain of a subject, or None where the mapping does not know it."""
        found = self.by_subject.get((dataset, subject))
        return self.by_subject.get((dataset, EVERY_SUBJECT)) if found is None else found


def published_domains() -> DomainMapping:
    """Return the mapping that comes with the package.

    Examples
    --------
    >>> published_domains().titles["cultural_norms"]
    'Cultural norms'
    """
    text = resources.files("nongrata.questions").joinpath("domains.yaml").read_text("utf-8")
    return _mapping(parse_yaml(text, "domains.yaml"), DomainMapping({}, {}))


def load_domains(path: Path | None) -> DomainMapping:
    """Return the published mapping, with the entries of a user's file put over it.

    Parameters
    ----------
    path
        A file in the form of the published one, or None.

    Raises
    ------
    NongrataError
        If the file lists a subject twice or names a domain without declaring it.

    Examples
    --------
    >>> load_domains(None).domain_of("normad_eti", "egypt")
    'cultural_norms'
    """
    published = published_domains()
    return published if path is None else _mapping(read_yaml(path), published)


def _mapping(document: Document, below: DomainMapping) -> DomainMapping:
    content = validate(_DomainFile, document)
    titles = {**below.titles, **content.domains}
    added: dict[tuple[str, str], str] = {}
    for dataset, domains in content.datasets.items():
        for domain, subjects in domains.items():
            if domain not in titles:
                raise NongrataError(
                    f"the domain '{domain}' is not declared",
                    where=document.where(("datasets", dataset, domain)),
                    fix=f"{suggestion(domain, tuple(titles))} or declare it under 'domains'",
                )
            for place, subject in enumerate(subjects):
                if (dataset, subject) in added:
                    raise NongrataError(
                        f"the subject '{subject}' is listed under '{added[dataset, subject]}' too",
                        where=document.where(("datasets", dataset, domain, place)),
                        fix="keep one of the two",
                    )
                added[dataset, subject] = domain
    return DomainMapping(titles, {**below.by_subject, **added})


def assign_domains(
    questions: Sequence[Question], mapping: DomainMapping, dataset: str | None = None
) -> tuple[Question, ...]:
    """Give every question its domain: the mapping's, else its own, else ``other``.

    Parameters
    ----------
    questions
        Questions of one source.
    mapping
        The mapping.
    dataset
        Data set they are listed under; by default the one their file names, or their source.

    Examples
    --------
    >>> q = Question("mmlu/law/0", "mmlu", "Who?", ("a", "b"), 0, subject="jurisprudence")
    >>> assign_domains([q], published_domains())[0].domain
    'law'
    """
    return tuple(
        replace(
            q,
            domain=mapping.domain_of(dataset or q.field_text("source") or q.source, q.subject)
            or q.domain
            or OTHER,
        )
        for q in questions
    )
