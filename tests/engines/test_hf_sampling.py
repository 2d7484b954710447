from __future__ import annotations

import numpy as np
import pytest

from nongrata.engines import hf_sampling
from nongrata.engines.hf_sampling import Sampling, draw, luck

torch = pytest.importorskip("torch", reason="needs the extra transformers")


def expected(logits: np.ndarray, how: Sampling, number: float) -> int:
    """One draw by the book: temper, keep k, keep p, keep min_p, invert the distribution."""
    x = logits.astype(np.float64)
    if how.temperature == 0:
        return int(x.argmax())
    p = np.exp((x - x.max()) / how.temperature)
    p /= p.sum()
    order = np.argsort(-p, kind="stable")
    if how.top_k:
        p[order[how.top_k :]] = 0
        p /= p.sum()
    if how.top_p < 1:
        p[order[np.cumsum(p[order]) - p[order] >= how.top_p]] = 0
    p[p < how.min_p * p.max()] = 0
    return int(np.searchsorted(np.cumsum(p), number * p.sum(), side="right"))


@pytest.mark.parametrize("first_sort", [4, 1024])
def test_draws_are_by_the_book(first_sort: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hf_sampling, "_FIRST_SORT", first_sort)
    rng = np.random.default_rng(5)
    logits = rng.normal(0, 3, (300, 50)).astype(np.float32)
    logits[:40] = np.round(logits[:40])  # ties
    how = [
        Sampling(
            float(rng.choice([0, 0.3, 1, 2])),
            int(rng.choice([0, 1, 3, 20, 99])),
            float(rng.choice([1, 0.9, 0.5, 0.05])),
            float(rng.choice([0, 0.1, 0.5])),
            int(rng.integers(2**31)),
        )
        for _ in range(300)
    ]
    places = rng.integers(0, 500, 300).tolist()
    drawn = draw(torch.from_numpy(logits), how, places).tolist()
    numbers = [luck(s.seed, k) for s, k in zip(how, places, strict=True)]
    assert drawn == [expected(*row) for row in zip(logits, how, numbers, strict=True)]


def test_a_row_is_drawn_as_it_is_alone() -> None:
    rng = np.random.default_rng(6)
    logits = torch.from_numpy(rng.normal(0, 2, (20, 3000)).astype(np.float32))
    how = [Sampling(0.8, 0, p, 0.0, i) for i, p in enumerate(rng.choice([1.0, 0.95], 20).tolist())]
    together = draw(logits, how, list(range(20))).tolist()
    alone = [draw(logits[i : i + 1], how[i : i + 1], [i]).item() for i in range(20)]
    assert together == alone


def test_luck_is_uniform_and_without_memory() -> None:
    numbers = np.array([[luck(seed, k) for k in range(50)] for seed in range(100)])
    assert numbers.min() >= 0
    assert numbers.max() < 1
    counts, _ = np.histogram(numbers, bins=20, range=(0, 1))
    assert ((counts - 250) ** 2 / 250).sum() < 45  # chi-square, 19 degrees of freedom, p = .0007
    for lag in (1, 2):
        assert abs(np.corrcoef(numbers[:, lag:].ravel(), numbers[:, :-lag].ravel())[0, 1]) < 0.05
    assert abs(np.corrcoef(numbers[1:].ravel(), numbers[:-1].ravel())[0, 1]) < 0.05
