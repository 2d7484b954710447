"""Which questions are not independent of each other: the one owner of cluster identity.

Exact duplicates (same context, question and choices, in any order of the choices) form a cluster,
and so do questions that share a declared passage. Clusters reach across subjects, files and
sources.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from nongrata.questions.model import Question

Content = tuple[str, str, tuple[str, ...]]


def content_key(question: Question) -> Content:
    """Return what makes two questions exact duplicates.

    Examples
    --------
    >>> a = Question("a", "own", "1 + 1?", ("1", "2"), 1)
    >>> b = Question("b", "own", "1 + 1?", ("2", "1"), 0)
    >>> content_key(a) == content_key(b)
    True
    """
    return question.context, question.question, tuple(sorted(question.choices))


def duplicate_groups(questions: Sequence[Question]) -> tuple[tuple[Question, ...], ...]:
    """Return the groups of two or more exact duplicates, in order of first appearance.

    Examples
    --------
    >>> a = Question("a", "own", "1 + 1?", ("1", "2"), 1)
    >>> b = Question("b", "own", "1 + 1?", ("2", "1"), 0)
    >>> [[q.id for q in group] for group in duplicate_groups([a, b])]
    [['a', 'b']]
    """
    groups: dict[Content, list[Question]] = {}
    for question in questions:
        groups.setdefault(content_key(question), []).append(question)
    return tuple(tuple(group) for group in groups.values() if len(group) > 1)


def assign_clusters(questions: Sequence[Question]) -> tuple[Question, ...]:
    """Give every question its cluster, named by the smallest id in it.

    The cluster a question already has counts as its passage within its source. Neither the order
    of the questions nor that of the files matters.

    Parameters
    ----------
    questions
        All questions of a study's sources, before any are drawn: then drawing more of them cannot
        change a cluster.

    Examples
    --------
    >>> a = Question("a", "one", "1 + 1?", ("1", "2"), 1)
    >>> b = Question("b", "two", "1 + 1?", ("2", "1"), 0, cluster="passage 7")
    >>> c = Question("c", "two", "2 + 1?", ("3", "1"), 0, cluster="passage 7")
    >>> [q.cluster for q in assign_clusters([c, b, a])]
    ['a', 'a', 'a']
    """
    parent = list(range(len(questions)))

    def root(i: int) -> int:
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    first: dict[object, int] = {}
    for i, question in enumerate(questions):
        keys: list[object] = [content_key(question)]
        if question.cluster != question.id:
            keys.append((question.source, question.cluster))
        for key in keys:
            a, b = root(first.setdefault(key, i)), root(i)
            # the smaller id stays the root, so that it names the cluster
            if questions[a].id <= questions[b].id:
                parent[b] = a
            else:
                parent[a] = b
    return tuple(
        question
        if question.cluster == questions[root(i)].id
        else replace(question, cluster=questions[root(i)].id)
        for i, question in enumerate(questions)
    )
