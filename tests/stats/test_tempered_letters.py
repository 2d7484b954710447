from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nongrata.stats.tempered_letters import TemperedLetters
from nongrata.temperature import answer_distribution

HEATS = [0.05, 0.3, 0.5, 0.95, 1.0, 1.7]


def requests(rng: np.random.Generator, n: int = 40, shown: int = 12, scale: float = 3.0):
    """Labels of 4 options in 2 spellings, some other tokens, and what is left of 100."""
    logits = rng.normal(scale=scale, size=(n, 100))
    logits[: n // 4, :8] -= 20  # requests whose labels are out of the question
    p = np.exp(logits - logits.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    labels = np.log(p[:, :8]).astype(np.float32).reshape(n, 4, 2)
    labels[::5, :, 1] = -np.inf
    rest = -np.sort(-p[:, 8:], axis=1)
    others = np.log(rest[:, :shown]).astype(np.float32)
    others[::3, shown // 2 :] = np.nan
    kept = np.where(np.isnan(others), 0.0, np.exp(others.astype(np.float64)))
    tail = rest.sum(axis=1) - kept.sum(axis=1)
    tail[::7] = 0.0
    return labels, others, np.maximum(tail, 0.0), rng.integers(0, 4, n)


@given(seed=st.integers(0, 10_000), heat=st.sampled_from(HEATS), told=st.booleans())
def test_it_is_what_the_general_case_computes(seed: int, heat: float, told: bool) -> None:
    rng = np.random.default_rng(seed)
    labels, others, tail, answer = requests(rng)
    logsum = np.where(rng.random(len(tail)) < 0.5, rng.normal(-3, 1, len(tail)), np.nan)
    logsum = logsum if told else None
    want = answer_distribution(labels, others, tail, heat, tail_logsum=logsum, vocabulary=100)
    got = TemperedLetters.of(labels, others, tail, answer, 100).at(heat, logsum)
    assert np.allclose(got.right, want.options[np.arange(len(answer)), answer], atol=5e-7)
    assert np.allclose(got.read, want.options.sum(axis=1), atol=5e-7)
    assert np.allclose(got.error, want.error, atol=5e-7)


def test_no_other_tokens_and_no_tail() -> None:
    labels, _, tail, answer = requests(np.random.default_rng(1))
    none = np.zeros((len(labels), 0), np.float32)
    for heat in HEATS:
        want = answer_distribution(labels, none, tail * 0, heat)
        got = TemperedLetters.of(labels, none, tail * 0, answer).at(heat)
        assert np.allclose(got.right, want.options[np.arange(len(answer)), answer], atol=5e-7)
        assert np.allclose(got.read, 1.0)
        assert (got.error == 0).all()


def test_a_request_that_failed_has_no_probability() -> None:
    nothing = np.full((1, 4, 1), -np.inf, np.float32)
    got = TemperedLetters.of(
        nothing, np.full((1, 2), np.nan, np.float32), np.zeros(1), np.zeros(1, int)
    ).at(0.5)
    assert (got.right[0], got.read[0], got.error[0]) == (0, 0, 0)


def test_unseen_tokens_above_one_need_their_number() -> None:
    labels, others, tail, answer = requests(np.random.default_rng(2))
    letters = TemperedLetters.of(labels, others, tail, answer)
    assert letters.at(0.7).error.max() > 0
    with pytest.raises(ValueError, match="only if their number is known"):
        letters.at(1.5)
    told = np.full(len(tail), -3.0)
    assert letters.at(1.5, told).error.max() == 0
