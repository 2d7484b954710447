"""A study's questions: stratified, seeded, nested samples of its sources, one after another.

How many questions each stratum gives follows the divisor method of Webster (Sainte-Lague). It is
house-monotone: asking for one more question never takes a seat from a stratum. Which ones follows
the hash of seed and id. So a smaller sample is the beginning of a larger one, and neither the order
of the files nor the platform matters.

References
----------
Balinski, M. L., & Young, H. P. (2001). *Fair Representation* (2nd ed.). Brookings Institution.
"""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path

from nongrata.errors import NongrataError
from nongrata.questions.clusters import assign_clusters
from nongrata.questions.domains import DomainMapping, assign_domains, load_domains
from nongrata.questions.loaders import load_questions
from nongrata.questions.model import Question, QuestionSet
from nongrata.questions.source import SourceSpec


def build_questions(
    sources: Sequence[SourceSpec],
    *,
    seed: int,
    base: Path,
    domains: Path | DomainMapping | None = None,
) -> QuestionSet:
    """Load all sources, give domains and clusters, draw, and put the samples one after another.

    Parameters
    ----------
    sources
        The declared sources; their order is the order of the result.
    seed
        Seed of the drawing.
    base
        Folder that relative paths start from: the study file's.
    domains
        A mapping, or a file to be put over the published one.

    Returns
    -------
    QuestionSet
        The sample, by source and within it in the order of drawing.

    Raises
    ------
    NongrataError
        If a source cannot be read, has fewer questions than asked for, or two share an id.

    Examples
    --------
    >>> three = SourceSpec(id="own", format="starter", take=3)
    >>> more = SourceSpec(id="own", format="starter", take=5)
    >>> a = build_questions([three], seed=1, base=Path())
    >>> b = build_questions([more], seed=1, base=Path())
    >>> [q.id for q in a] == [q.id for q in b][:3]
    True
    """
    whole = load_all(sources, base=base, domains=domains)
    members: dict[str, list[Question]] = {source.id: [] for source in sources}
    for question in whole:
        members[question.source].append(question)
    drawn = [q for source in sources for q in sample(source, members[source.id], seed=seed)]
    return QuestionSet(tuple(drawn), whole.notes)


def load_all(
    sources: Sequence[SourceSpec], *, base: Path, domains: Path | DomainMapping | None = None
) -> QuestionSet:
    """Load all sources whole, in the order of their files, and give domains and clusters.

    Parameters
    ----------
    sources
        The declared sources; what they take is not looked at.
    base
        Folder that relative paths start from.
    domains
        A mapping, or a file to be put over the published one.

    Examples
    --------
    >>> len(load_all([SourceSpec(id="own", format="starter", take=3)], base=Path())) > 3
    True
    """
    if not isinstance(domains, DomainMapping):
        domains = load_domains(domains)
    everything: list[Question] = []
    notes: list[str] = []
    for source in sources:
        loaded = load_questions(source, base=base)
        everything += assign_domains(loaded, domains, source.dataset_name)
        notes += [note for note in loaded.notes if note not in notes]
    _refuse_shared_ids(everything)
    return QuestionSet(assign_clusters(everything), tuple(notes))


def _refuse_shared_ids(questions: Sequence[Question]) -> None:
    owner: dict[str, str] = {}
    for question in questions:
        if owner.setdefault(question.id, question.source) != question.source:
            raise NongrataError(
                f"the id '{question.id}' is in the sources '{owner[question.id]}' and "
                f"'{question.source}'",
                where="questions.sources",
                fix="read each file in one source only",
            )


def sample(source: SourceSpec, questions: Sequence[Question], *, seed: int) -> list[Question]:
    """Draw a source's questions in proportion to its strata.

    Parameters
    ----------
    source
        Its ``take`` says how many, its ``stratify`` by what.
    questions
        All questions of the source, in any order.
    seed
        Seed of the drawing.

    Returns
    -------
    list of Question
        In the order of drawing: the sample for a smaller ``take`` is a prefix of it.

    Examples
    --------
    >>> qs = [Question(f"q{i}", "s", "?", ("a", "b"), 0, subject="xy"[i % 2]) for i in range(4)]
    >>> source = SourceSpec(id="s", format="starter", take=2)
    >>> sorted(q.subject for q in sample(source, qs, seed=1))
    ['x', 'y']
    """
    take = len(questions) if source.take is None else source.take
    if take > len(questions):
        raise NongrataError(
            f"the source '{source.id}' has {len(questions):,} questions and take asks for {take:,}",
            where="take",
            fix=f"ask for at most {len(questions)}, or leave 'take' out for all",
        )
    strata: dict[str, list[Question]] = {}
    for question in questions:
        strata.setdefault(_stratum(source, question), []).append(question)
    for members in strata.values():
        members.sort(key=lambda q: (_draw_key(seed, q.id), q.id))
    turns = seats({name: len(members) for name, members in strata.items()}, take)
    iterators = {name: iter(members) for name, members in strata.items()}
    return [next(iterators[name]) for name in turns]


def _stratum(source: SourceSpec, question: Question) -> str:
    match source.stratify:
        case "subject":
            return question.subject
        case "domain":
            return question.domain
        case "none":
            return ""


def _draw_key(seed: int, identity: str) -> bytes:
    return hashlib.blake2b(f"{seed}:{identity}".encode(), digest_size=16).digest()


def seats(sizes: Mapping[str, int], take: int) -> list[str]:
    r"""Return whose turn it is, seat by seat, by Webster's divisor method.

    Seat by seat, the stratum with the largest :math:`n_s / (2 a_s + 1)` is served, where
    :math:`n_s` is its size and :math:`a_s` what it has so far; ties go to the smaller name. A
    stratum is never asked for more than it has: with :math:`a_s = n_s` its quotient is below 1/2,
    and one that has some left is above.

    Parameters
    ----------
    sizes
        Stratum -> number of members.
    take
        Number of seats, at most the sum of the sizes.

    Examples
    --------
    >>> seats({"law": 6, "anatomy": 2}, 4)
    ['law', 'anatomy', 'law', 'law']
    """
    waiting = [(Fraction(1, size), name, 0) for name, size in sizes.items() if size]
    heapq.heapify(waiting)
    turns: list[str] = []
    for _ in range(take):
        _, name, seated = waiting[0]
        turns.append(name)
        heapq.heapreplace(waiting, (Fraction(2 * seated + 3, sizes[name]), name, seated + 1))
    return turns
