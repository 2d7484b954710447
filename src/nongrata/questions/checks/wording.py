"""Whether the last words of a question give its answer away.

Questions are grouped by their final words. Beginning with all questions of a source, a group is
split by one more preceding word wherever that word changes the distribution of right answers: so
"... acceptable?" and "... socially acceptable?" part company by themselves if their answers differ.
A split needs a two-sided hypergeometric test (one label against the rest, inside the group against
the rest of the group it is split from), corrected for all labels and words tried.

What it is worth is measured without re-use of data: the commonest answer of each ending is learnt
on one half of the questions and tried on the other.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np
from scipy.special import gammaln

from nongrata.questions.checks.report import Ending, Finding, WordingLeak
from nongrata.questions.model import Question

MIN_GROUP = 20
"""Smaller groups of endings are not looked at."""
Words = tuple[str, ...]
"""Final words, last one first."""

MAX_WORDS = 4
ALPHA = 1e-3
MIN_GAIN = 0.05
"""A leak is a warning if the ending lifts a guess by this much over a constant answer."""


def log_hypergeometric_p(k: int, n: int, good: int, total: int) -> float:
    """Return the log of the two-sided p-value of k good ones among n drawn from total.

    Twice the smaller tail, at most 1. As a logarithm, since real leaks go beyond what a float can
    tell from 0.

    Parameters
    ----------
    k
        Good ones drawn.
    n
        Number drawn.
    good, total
        Good ones, and all.

    Examples
    --------
    >>> round(math.exp(log_hypergeometric_p(6, 6, 6, 12)), 5)
    0.00216
    """
    support = np.arange(max(0, n + good - total), min(n, good) + 1)
    logs = (
        _log_choose(good, support)
        + _log_choose(total - good, n - support)
        - _log_choose(total, np.asarray(n))
    )
    upper, lower = logs[support >= k], logs[support <= k]
    smaller = min(float(np.logaddexp.reduce(upper)), float(np.logaddexp.reduce(lower)))
    return min(0.0, math.log(2) + smaller)


def _log_choose(n: int, k: np.ndarray) -> np.ndarray:
    return np.asarray(gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0))


@dataclass(frozen=True, slots=True)
class _Group:
    """Questions that end alike: the words they share, and those split off from them."""

    words: Words
    unless: tuple[Words, ...]
    members: tuple[int, ...]


def wording_leak(source: str, questions: Sequence[Question]) -> WordingLeak:
    """Measure how far the final words of a source's questions tell their right answers.

    Where all questions offer the same choices, the labels are their texts; else the positions.

    Parameters
    ----------
    source
        Name of the source.
    questions
        Its questions.

    Examples
    --------
    >>> made = [Question(str(i), "s", f"Is it {'good' if i % 2 else 'so'}?", ("yes", "no"), i % 2)
    ...         for i in range(100)]
    >>> leak = wording_leak("s", made)
    >>> leak.guess, [ending.text for ending in leak.endings]
    (1.0, ['good?'])
    """
    one_list = len({tuple(sorted(q.choices)) for q in questions}) == 1
    labels = [q.choices[q.answer] if one_list else str(q.answer + 1) for q in questions]
    words = [tuple(reversed(q.question.split()[-MAX_WORDS:])) for q in questions]
    order = sorted(Counter(labels), key=lambda label: (-labels.count(label), label))
    tree = _Tree.grown(labels, words)
    base = {label: labels.count(label) / len(labels) for label in order}
    endings = [
        _ending(source, group, labels, order, base, tree.tried)
        for group in (*tree.whole, *(leaf for leaf in tree.leaves if leaf.unless))
        if group.words
    ]
    kept = sorted((e for e in endings if e.p < ALPHA), key=lambda e: (-e.n, e.text))
    return WordingLeak(
        source=source,
        labels="text" if one_list else "position",
        n=len(questions),
        endings=tuple(kept),
        guess=_cross_fitted([q.id for q in questions], labels, tree.leaves),
        constant=max(base.values()),
    )


@dataclass(slots=True)
class _Tree:
    """Questions split by final words, as far as their answers differ.

    ``leaves`` part the questions; ``whole`` are the groups that were split off for their answers,
    before anything was split off from them in turn.
    """

    labels: Sequence[str]
    words: Sequence[Words]
    tried: int
    leaves: list[_Group] = field(default_factory=list)
    whole: list[_Group] = field(default_factory=list)

    @classmethod
    def grown(cls, labels: Sequence[str], words: Sequence[Words]) -> Self:
        sizes = Counter(ending[:depth] for ending in words for depth in range(1, len(ending) + 1))
        tried = sum(n >= MIN_GROUP for n in sizes.values()) * len(set(labels))
        tree = cls(labels, words, max(1, tried))
        tree.leaves = tree._grow((), tuple(range(len(labels))))
        return tree

    def _grow(self, suffix: Words, members: tuple[int, ...]) -> list[_Group]:
        """Split off, one after another, the parts whose answers differ from what is left.

        So, of two wordings that share the questions among them, one is split off and the other
        is the rest. A part is split off too if it comes apart itself.
        """
        parts = {
            part: found
            for part, found in self._by_word_before(suffix, members).items()
            if len(found) >= MIN_GROUP
        }
        rest = list(members)
        split_off: list[Words] = []
        leaves: list[_Group] = []
        while parts:
            totals = Counter(self.labels[i] for i in rest)
            logs = {part: self._smallest_log_p(found, totals) for part, found in parts.items()}
            part = min(parts, key=lambda name: (logs[name], -len(parts[name]), name))
            if logs[part] + math.log(self.tried) >= math.log(ALPHA):
                break
            self.whole.append(_Group(part, (), parts[part]))
            split_off.append(part)
            leaves += self._grow(part, parts[part])
            taken = frozenset(parts.pop(part))
            rest = [i for i in rest if i not in taken]
        for part, found in parts.items():
            grown = self._grow(part, found)
            if len(grown) > 1:
                split_off.append(part)
                leaves += grown
                rest = [i for i in rest if i not in frozenset(found)]
        if rest:
            leaves.append(_Group(suffix, tuple(sorted(split_off)), tuple(rest)))
        return leaves

    def _by_word_before(
        self, suffix: Words, members: Sequence[int]
    ) -> dict[Words, tuple[int, ...]]:
        depth = len(suffix)
        found: dict[Words, list[int]] = {}
        for i in members:
            if len(self.words[i]) > depth:
                found.setdefault((*suffix, self.words[i][depth]), []).append(i)
        return {part: tuple(inside) for part, inside in found.items()}

    def _smallest_log_p(self, inside: Sequence[int], totals: Counter[str]) -> float:
        counts = Counter(self.labels[i] for i in inside)
        n, total = len(inside), totals.total()
        return min(
            log_hypergeometric_p(counts[label], n, good, total) for label, good in totals.items()
        )


def _ending(
    source: str,
    group: _Group,
    labels: Sequence[str],
    order: Sequence[str],
    base: dict[str, float],
    tried: int,
) -> Ending:
    counts = Counter(labels[i] for i in group.members)
    n, total = len(group.members), len(labels)
    found = {
        label: log_hypergeometric_p(counts[label], n, round(base[label] * total), total)
        for label in order
    }
    label = min(order, key=lambda name: (found[name], -counts[name] / base[name]))
    share = counts[label] / n
    return Ending(
        source=source,
        text=_text(group.words),
        unless=tuple(_text(words) for words in group.unless),
        n=n,
        counts=tuple((name, counts[name]) for name in order),
        label=label,
        share=share,
        base=base[label],
        lift=share / base[label],
        p=min(1.0, tried * math.exp(found[label])),
    )


def _text(words: Iterable[str]) -> str:
    return " ".join(reversed(tuple(words)))


def _cross_fitted(ids: Sequence[str], labels: Sequence[str], groups: Sequence[_Group]) -> float:
    """Share guessed right: learnt on one half of the questions, tried on the other, both ways."""
    half = [hashlib.blake2b(i.encode(), digest_size=1).digest()[0] & 1 for i in ids]
    right = 0
    for learn in (0, 1):
        overall = Counter(label for label, h in zip(labels, half, strict=True) if h == learn)
        for group in groups:
            seen = Counter(labels[i] for i in group.members if half[i] == learn) or overall
            if seen:
                guess = max(seen, key=lambda label: (seen[label], overall[label], label))
                right += sum(labels[i] == guess for i in group.members if half[i] != learn)
    return right / len(labels)


def leak_findings(leaks: Iterable[WordingLeak]) -> Iterable[Finding]:
    """Yield a finding for the sources whose wording gives answers away."""
    for leak in leaks:
        if leak.endings and leak.guess - leak.constant >= MIN_GAIN:
            yield Finding(
                "wording_leak",
                f"endings that give the answer away in {leak.source}",
                "warning",
                "endings",
                len(leak.endings),
                (),
                f"accuracy partly measures the cue ({leak})",
            )
