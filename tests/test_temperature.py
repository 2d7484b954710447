from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nongrata.temperature import AnswerDistribution, answer_distribution, draw_options


def softmax(logits: np.ndarray, temperature: float) -> np.ndarray:
    scaled = logits / temperature
    weights = np.exp(scaled - scaled.max())
    return weights / weights.sum()


@given(seed=st.integers(0, 10_000), temperature=st.sampled_from([0.05, 0.3, 0.5, 0.7, 1.0]))
def test_any_temperature_follows_from_one_pass_within_the_stated_error(
    seed: int, temperature: float
) -> None:
    rng = np.random.default_rng(seed)
    logits = rng.normal(scale=3, size=500)
    logs = np.log(softmax(logits, 1.0))
    options, variants, kept = 4, 2, 20
    labels = logs[: options * variants].reshape(1, options, variants)
    rest = np.sort(logs[options * variants :])[::-1]
    others, tail = rest[None, :kept], np.exp(rest[kept:]).sum()
    found = answer_distribution(
        labels.astype(np.float32), others.astype(np.float32), np.array([tail]), temperature
    )
    truth = softmax(logits, temperature)
    expected = truth[: options * variants].reshape(options, variants).sum(axis=1)
    margin = found.error[0] + 2e-5
    assert np.abs(found.options[0] - expected).max() <= margin
    assert abs(found.outside[0] - truth[options * variants :].sum()) <= margin
    assert found.options.sum() + found.outside[0] == pytest.approx(1, abs=1e-9)
    if temperature == 1:
        assert found.error[0] == 0


def test_at_zero_the_most_probable_token_decides() -> None:
    labels = np.log(np.array([[[0.2], [0.3]], [[0.2], [0.1]]], dtype=np.float32))
    others = np.log(np.array([[0.25], [0.4]], dtype=np.float32))
    found = answer_distribution(labels, others, np.zeros(2), 0.0)
    assert found.options.tolist() == [[0, 1], [0, 0]]
    assert found.outside.tolist() == [0, 1]


def test_a_label_that_was_not_returned_has_probability_zero_and_a_bound() -> None:
    labels = np.array([[[np.log(0.5)], [np.nan]]], dtype=np.float32)
    others = np.log(np.array([[0.3]], dtype=np.float32))
    found = answer_distribution(labels, others, np.array([0.2]), 0.5)
    assert found.options[0, 1] == 0
    assert 0 < found.error[0] < 0.1


def test_a_request_that_failed_has_no_distribution_and_raises_no_warning() -> None:
    nothing = np.full((1, 3, 1), np.nan, dtype=np.float32)
    for heat in (0.0, 0.5, 1.0):
        found = answer_distribution(
            nothing, np.full((1, 4), np.nan, np.float32), np.array([np.nan]), heat
        )
        assert heat == 0 or np.isnan(found.options).all()


def test_above_one_is_refused() -> None:
    with pytest.raises(ValueError, match="above temperature 1"):
        answer_distribution(
            np.zeros((1, 2, 1), np.float32), np.zeros((1, 1), np.float32), np.zeros(1), 1.5
        )


def test_draws_follow_the_distribution() -> None:
    n = 100_000
    distribution = AnswerDistribution(
        np.tile([0.5, 0.0, 0.2], (n, 1)), np.full(n, 0.3), np.zeros(n)
    )
    luck = (np.arange(n) + 0.5) / n
    drawn = draw_options(distribution, luck)
    counts = {value: float((drawn == value).mean()) for value in (-1, 0, 1, 2)}
    assert counts == pytest.approx({0: 0.5, 1: 0.0, 2: 0.2, -1: 0.3}, abs=1e-4)
