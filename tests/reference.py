"""What the figures are, in plain loops: written from the definitions (S1-S4) alone.

Nothing here imports the package or numpy. A study is ``x[p][c][q]``: 0 or 1, or the exact
probability of a right answer, or None where the answer is missing. An undefined figure is None.
Accuracies are exact fractions, so ties are ties.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import comb, fsum, sqrt

Value = int | float | None
Study = list[list[list[Value]]]


def mean(values):
    values = list(values)
    return fsum(values) / len(values) if values else None


def settings(levels, factor):
    """Sets of configurations that agree in every factor but one; `levels[c]` is a tuple."""
    groups: dict[tuple, list[int]] = {}
    for c, row in enumerate(levels):
        held = tuple(level for f, level in enumerate(row) if f != factor)
        groups.setdefault(held, []).append(c)
    return list(groups.values())


def only(x: Study, configurations) -> Study:
    return [[x[p][c] for c in configurations] for p in range(len(x))]


def average_over_settings(figure, x, groups):
    """Vary one factor, hold the others, average over their settings."""
    values = [figure(only(x, group)) for group in groups]
    return mean(v for v in values if v is not None)


def ia(x: Study):
    """S2: mean over p and over pairs c < c' of |A[p,c] - A[p,c']|, in points."""
    terms = []
    for person in x:
        for first, second in combinations(person, 2):
            shared = [
                q for q in range(len(first)) if first[q] is not None and second[q] is not None
            ]
            if shared:
                a = sum(Fraction(first[q]) for q in shared) / len(shared)
                b = sum(Fraction(second[q]) for q in shared) / len(shared)
                terms.append(100 * float(abs(a - b)))
    return mean(terms)


def iq(x: Study):
    """S2/S3: 1 - |right in all| / |right in any|, over personas whose union is not empty, in %."""
    values = []
    for person in x:
        union = both = 0
        for q in range(len(person[0])):
            column = [cell[q] for cell in person]
            if None in column:
                continue
            union += any(column)
            both += all(column)
        if union:
            values.append(100 * (1 - both / union))
    return mean(values)


def iq_at(x: Study, m: int):
    """S3 by listing every subset of m configurations; cells may be probabilities."""
    values = []
    for person in x:
        subsets = list(combinations(range(len(person)), m))
        e_int = e_union = 0.0
        for q in range(len(person[0])):
            column = [cell[q] for cell in person]
            if None in column:
                continue
            for subset in subsets:
                all_right, none_right = 1.0, 1.0
                for c in subset:
                    all_right *= column[c]
                    none_right *= 1 - column[c]
                e_int += all_right
                e_union += 1 - none_right
        assert len(subsets) == comb(len(person), m)
        if e_union > 0:
            values.append(100 * (1 - e_int / e_union))
    return mean(values)


def rank_accuracies(x: Study):
    """A[c][p] on the questions complete for all personas in c; None where there is none."""
    out = []
    for c in range(len(x[0])):
        complete = [q for q in range(len(x[0][c])) if all(person[c][q] is not None for person in x)]
        if complete:
            out.append(
                [sum(Fraction(person[c][q]) for q in complete) / len(complete) for person in x]
            )
        else:
            out.append(None)
    return out


def ranks(values):
    """Average ranks; 1 is the highest."""
    return [
        1
        + sum(other > v for other in values)
        + Fraction(sum(other == v for other in values) - 1, 2)
        for v in values
    ]


def sd(values):
    centre = sum(values) / len(values)
    return sqrt(float(sum((v - centre) ** 2 for v in values) / len(values)))


def io_parts(x: Study, weights="spread", factor="spread"):
    """S4, every part; None where fewer than two configurations have ranks."""
    table = [column for column in rank_accuracies(x) if column is not None]
    K, P = len(table), len(x)
    if K < 2:
        return None
    r = [ranks(column) for column in table]
    d, expected = [], []
    for c in range(K):
        shifts = [abs(r[c][p] - r[other][p]) for p in range(P) for other in range(K) if other != c]
        d.append(float(sum(shifts)) / len(shifts))
        random = [
            abs(mine - theirs)
            for other in range(K)
            if other != c
            for mine in r[c]
            for theirs in r[other]
        ]
        expected.append(float(sum(random)) / len(random))
    w = [100 * sd(column) for column in table]
    omega = w if weights == "spread" else [1.0] * K
    weighted = fsum(a * b for a, b in zip(omega, d, strict=True)) / fsum(omega) if any(omega) else 0
    scale = {
        "spread": mean(w),
        "none": 1.0,
        "persona_sd": 100 * sd([sum(column[p] for column in table) / K for p in range(P)]),
    }[factor]
    return {
        "io": weighted * scale,
        "rank_shift": mean(d),
        "expected_rank_shift": mean(expected),
        "spread": mean(w),
    }


def io(x: Study, **options):
    parts = io_parts(x, **options)
    return None if parts is None else parts["io"]
