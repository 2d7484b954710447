from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nongrata.temperature import AnswerDistribution, Sampling, answer_distribution, draw_options


def softmax(logits: np.ndarray, temperature: float) -> np.ndarray:
    scaled = logits / temperature
    weights = np.exp(scaled - scaled.max())
    return weights / weights.sum()


def truth_of(
    logits: np.ndarray, temperature: float, top_k: int, top_p: float, min_p: float
) -> np.ndarray:
    """The definition, token by token."""
    p = softmax(logits, temperature)
    kept = sorted(range(len(p)), key=lambda i: -p[i])
    if top_k:
        kept = kept[:top_k]
    total, before, nucleus = sum(p[i] for i in kept), 0.0, []
    for i in kept:
        if before < top_p * total:
            nucleus.append(i)
        before += p[i]
    nucleus = [i for i in nucleus if p[i] >= min_p * p.max()]
    result = np.zeros_like(p)
    result[nucleus] = p[nucleus] / p[nucleus].sum()
    return result


@st.composite
def samplings(draw: st.DrawFn) -> Sampling:
    return Sampling(
        temperature=draw(st.sampled_from([0.05, 0.3, 0.7, 1.0, 1.5, 3.0])),
        top_k=draw(st.sampled_from([0, 0, 1, 3, 25, 60])),
        top_p=draw(st.sampled_from([1.0, 0.9, 0.5, 0.999])),
        min_p=draw(st.sampled_from([0.0, 0.0, 0.05, 0.001])),
    )


@given(
    seed=st.integers(0, 10_000),
    sampling=samplings(),
    shown=st.sampled_from(["all", "some", "top only"]),
    told=st.booleans(),
    scale=st.sampled_from([0.5, 3.0]),
)
def test_any_sampling_follows_from_one_pass_within_the_stated_error(
    seed: int, sampling: Sampling, shown: str, told: bool, scale: float
) -> None:
    rng = np.random.default_rng(seed)
    logits = rng.normal(scale=scale, size=200)
    logs = np.log(softmax(logits, 1.0)).astype(np.float32).astype(np.float64)
    options, variants = 4, 2
    labels = logs[: options * variants].copy()
    rest = np.sort(logs[options * variants :])[::-1]
    others, hidden = (rest, rest[:0]) if shown == "all" else (rest[:20], rest[20:])
    if shown == "top only":  # as a server with the 20 most probable tokens answers
        lost = labels < np.sort(logs)[-20]
        hidden = np.append(hidden, labels[lost])
        labels[lost] = np.nan
        least = np.nanmin(np.append(others, labels))
        others = rest[rest >= max(least, np.sort(logs)[-20])]
        hidden = np.append(rest[len(others) :], logs[: options * variants][lost])
    tail = np.exp(hidden).sum()
    with np.errstate(divide="ignore"):
        logsum = np.log(np.exp(hidden / sampling.temperature).sum())
    found = answer_distribution(
        labels.reshape(1, options, variants).astype(np.float32),
        others[None].astype(np.float32),
        np.array([tail]),
        sampling,
        tail_logsum=np.array([logsum]) if told else None,
        vocabulary=200,
    )
    truth = truth_of(logs, sampling.temperature, sampling.top_k, sampling.top_p, sampling.min_p)
    expected = truth[: options * variants].reshape(options, variants).sum(axis=1)
    margin = found.error[0] + 1e-5
    assert np.abs(found.options[0] - expected).max() <= margin
    assert abs(found.outside[0] - truth[options * variants :].sum()) <= margin
    assert found.options.sum() + found.outside[0] == pytest.approx(1, abs=1e-9)
    if shown == "all" or (shown == "some" and told and not sampling.truncates):
        assert found.error[0] < 1e-9


@given(seed=st.integers(0, 10_000), top_p=st.sampled_from([0.5, 0.8]))
def test_a_nucleus_among_the_tokens_that_were_returned_is_exact(seed: int, top_p: float) -> None:
    rng = np.random.default_rng(seed)
    logs = np.log(softmax(rng.normal(scale=4, size=500), 1.0))
    rest = np.sort(logs[4:])[::-1]
    found = answer_distribution(
        logs[:4].reshape(1, 4, 1).astype(np.float32),
        rest[None, :100].astype(np.float32),
        np.array([np.exp(rest[100:]).sum()]),
        Sampling(1.0, top_p=top_p),
    )
    assert found.error[0] < 1e-9
    expected = truth_of(logs, 1.0, 0, top_p, 0.0)[:4]
    assert found.options[0] == pytest.approx(expected, abs=1e-5)


def test_at_zero_the_most_probable_token_decides() -> None:
    labels = np.log(np.array([[[0.2], [0.3]], [[0.2], [0.1]]], dtype=np.float32))
    others = np.log(np.array([[0.25], [0.4]], dtype=np.float32))
    found = answer_distribution(labels, others, np.zeros(2), 0.0)
    assert found.options.tolist() == [[0, 1], [0, 0]]
    assert found.outside.tolist() == [0, 1]


def test_a_label_that_was_not_returned_lies_between_bounds() -> None:
    labels = np.array([[[np.log(0.5)], [np.nan]]], dtype=np.float32)
    others = np.log(np.array([[0.3]], dtype=np.float32))
    found = answer_distribution(labels, others, np.array([0.2]), 1.0)
    assert found.options[0, 1] == pytest.approx(0.1)  # anything from 0 to .2
    assert found.error[0] == pytest.approx(0.1)


def test_a_label_that_the_model_has_no_token_for_has_probability_zero() -> None:
    labels = np.array([[[np.log(0.5)], [-np.inf]]], dtype=np.float32)
    others = np.log(np.array([[0.3]], dtype=np.float32))
    found = answer_distribution(labels, others, np.array([0.2]), 1.0)
    assert (found.options[0, 1], found.error[0]) == (0, 0)


def test_a_request_that_failed_has_no_distribution_and_raises_no_warning() -> None:
    nothing = np.full((1, 3, 1), np.nan, dtype=np.float32)
    for heat in (0.0, 0.5, 1.0):
        found = answer_distribution(
            nothing, np.full((1, 4), np.nan, np.float32), np.array([np.nan]), heat
        )
        assert heat == 0 or np.isnan(found.options).all()


def test_above_one_the_number_of_tokens_must_be_known() -> None:
    labels, others = np.full((1, 2, 1), -1.0, np.float32), np.full((1, 1), -2.0, np.float32)
    with pytest.raises(ValueError, match="above temperature 1"):
        answer_distribution(labels, others, np.array([0.1]), 1.5)
    assert answer_distribution(labels, others, np.array([0.1]), 1.5, vocabulary=9).error[0] > 0
    assert answer_distribution(labels, others, np.zeros(1), 1.5).error[0] == 0


def test_draws_follow_the_distribution() -> None:
    n = 100_000
    distribution = AnswerDistribution(
        np.tile([0.5, 0.0, 0.2], (n, 1)), np.full(n, 0.3), np.zeros(n)
    )
    luck = (np.arange(n) + 0.5) / n
    drawn = draw_options(distribution, luck)
    counts = {value: float((drawn == value).mean()) for value in (-1, 0, 1, 2)}
    assert counts == pytest.approx({0: 0.5, 1: 0.0, 2: 0.2, -1: 0.3}, abs=1e-4)
