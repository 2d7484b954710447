from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest

from nongrata.engines.hf_prefixes import common_length, grouped


def cost(texts: list[tuple[int, ...]], overhead: int, shared: int) -> int:
    """Tokens computed for one group, by the definition."""
    return sum(len(t) - shared for t in texts) + shared + overhead * (2 if shared else 1)


def cheapest(texts: list[tuple[int, ...]], overhead: int) -> int:
    """Least cost over all ways to cut the sorted texts."""
    texts = sorted(texts)
    n = len(texts)
    best = 10**9
    for count in range(n):
        for cuts in combinations(range(1, n), count):
            bounds = [0, *cuts, n]
            total = 0
            for a, b in pairwise(bounds):
                group = texts[a:b]
                most = min(len(t) for t in group) - 1
                shared = min([most, *(common_length(group[0], t) for t in group)])
                total += cost(group, overhead, shared if len(group) > 1 else 0)
            best = min(best, total)
    return best


@pytest.mark.parametrize("seed", range(12))
def test_groups_cost_the_least_there_is(seed: int) -> None:
    rng = np.random.default_rng(seed)
    texts = [tuple(int(t) for t in rng.integers(0, 2, size=rng.integers(1, 9))) for _ in range(7)]
    overhead = int(rng.integers(0, 6))
    groups = grouped(texts, overhead)
    assert sorted(i for group in groups for i in group.members) == list(range(7))
    total = 0
    for group in groups:
        members = [texts[i] for i in group.members]
        assert all(t[: group.shared] == members[0][: group.shared] for t in members)
        assert all(len(t) > group.shared for t in members)
        total += cost(members, overhead, group.shared)
    assert total == cheapest(texts, overhead)


def test_nothing_is_grouped() -> None:
    assert grouped([], 5) == []
