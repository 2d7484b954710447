"""Sampled letters against the probabilities that a single pass gives, and two engines compared.

    python benchmarks/exactness.py [--samples 500] [--prompts 10] [--engines llamacpp,transformers]

For each engine, prompt and sampling (T = .3, .7, 1, and T = 1 with top-p .9) one token is generated
again and again, each time with a seed of its own, and the counts of the options and of all other
tokens are compared with the distribution computed from the prompt's one forward pass: Pearson's
chi-square and the total variation, both against what that many draws from the distribution itself
give. With a true distribution p values are uniform: their
smallest is compared with 1/(number of tests), and all of them with uniformity (Kolmogorov-Smirnov).

Then the engines' probabilities for the same prompts are compared.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from nongrata.engines import open_engine
from nongrata.engines.base import Batch, Engine
from nongrata.keys import model_digest, request_keys
from nongrata.loading import load_study
from nongrata.plan import Plan, build_plan
from nongrata.prompts import PromptTable, as_words
from nongrata.temperature import Sampling, answer_distribution

SPECS: dict[str, dict[str, Any]] = {
    "llamacpp": {"engine": "llamacpp", "weights": "f32"},
    "transformers": {"engine": "transformers", "dtype": "float32"},
    "vllm": {"engine": "vllm", "dtype": "float32", "n_logprobs": -1},
}
SAMPLINGS = (Sampling(0.3), Sampling(0.7), Sampling(1.0), Sampling(1.0, top_p=0.9))


def chosen_prompts(plan: Plan, number: int) -> tuple[np.ndarray, np.ndarray]:
    """Skeletons and questions of single passes, spread over the study."""
    skeletons = plan.passes["first_token"][:, 0].astype(np.int32)
    turn = np.arange(number)
    places = turn * len(skeletons) // number
    return skeletons[places], (turn % len(plan.prompts.questions)).astype(np.int32)


def batch_of(
    engine: Engine,
    prompts: PromptTable,
    skeleton: np.ndarray,
    question: np.ndarray,
    temperature: float,
    repeats: int = 1,
) -> Batch:
    """Each prompt so many times, each time with a key of its own."""
    skeleton, question = np.repeat(skeleton, repeats), np.repeat(question, repeats)
    replicate = np.tile(np.arange(repeats, dtype=np.int16), len(skeleton) // repeats)
    heat = np.full(len(skeleton), temperature)
    keys = request_keys(
        as_words([model_digest(engine.identity)])[0],
        prompts.skeleton_digests[skeleton],
        prompts.block_digests[prompts.presentation_of[skeleton], question],
        heat,
        replicate,
        1,
    )
    reading = "first_token" if np.isnan(temperature) else "free"
    return Batch(reading, prompts, skeleton, question, heat, replicate, keys)


def sampled_options(
    engine: Engine,
    plan: Plan,
    skeleton: np.ndarray,
    question: np.ndarray,
    sampling: Sampling,
    n: int,
) -> np.ndarray:
    """Counts of each place shown, and of all other tokens, shape (prompts, options + 1)."""
    frames = tuple(
        replace(
            frame,
            reading="free",
            decoding=replace(
                frame.decoding,
                max_tokens=1,
                top_k=sampling.top_k,
                top_p=sampling.top_p,
                min_p=sampling.min_p,
            ),
        )
        for frame in plan.prompts.skeletons
    )
    prompts = PromptTable(frames, plan.prompts.questions, plan.prompts.seed)
    batch = batch_of(engine, prompts, skeleton, question, sampling.temperature, n)
    said = engine.generate(batch)
    assert not said.errors, said.errors
    width = plan.prompts.orders.shape[2]
    counts = np.zeros((len(skeleton), width + 1), dtype=np.int64)
    for i in range(len(batch)):
        labels = batch.labels(i)
        text = said.texts[int(said.text[i])]
        place = next((j for j, label in enumerate(labels) if text in (label, f" {label}")), width)
        counts[i // n, place] += 1
    return counts


def chi_square(counts: np.ndarray, p: np.ndarray, drawn: np.ndarray) -> float:
    """Pearson's statistic, and its p value among draws from p itself (Hope 1968).

    The rarest cells are joined until each expects 5: a token of which .02 are expected would
    otherwise decide alone. One cell is left where all but five draws fall on one token; then there
    is nothing to test (nan).
    """
    expected = p * counts.sum()
    order = np.argsort(expected)
    joined = np.maximum(np.searchsorted(np.cumsum(expected[order]), 5.0), 0) + 1
    if len(p) - joined < 1:
        return float("nan")

    def together(n: np.ndarray) -> np.ndarray:
        rare = n[..., order[:joined]].sum(axis=-1, keepdims=True)
        return np.concatenate([rare, n[..., order[joined:]]], axis=-1)

    wanted = together(expected)

    def statistic(n: np.ndarray) -> np.ndarray:
        return ((together(n) - wanted) ** 2 / wanted).sum(axis=-1)

    beyond = int((statistic(drawn) >= statistic(counts) * (1 - 1e-9)).sum())
    return (1 + beyond) / (1 + len(drawn))


def check(engine: Engine, plan: Plan, prompts: int, samples: int) -> tuple[dict[str, Any], Any]:
    from scipy.stats import kstest

    skeleton, question = chosen_prompts(plan, prompts)
    scores = engine.score(batch_of(engine, plan.prompts, skeleton, question, float("nan")))
    assert not scores.errors, scores.errors
    rng = np.random.default_rng(1)
    values, rows = [], []
    for sampling in SAMPLINGS:
        found = answer_distribution(
            np.where(np.isnan(scores.label_logprobs), -np.inf, scores.label_logprobs),
            scores.other_logprobs,
            scores.tail_mass,
            sampling,
        )
        p = np.concatenate([found.options, found.outside[:, None]], axis=1)
        p /= p.sum(axis=1, keepdims=True)
        counts = sampled_options(engine, plan, skeleton, question, sampling, samples)
        drawn = np.stack([rng.multinomial(samples, q, size=20_000) for q in p])
        tests = [chi_square(c, q, n) for c, q, n in zip(counts, p, drawn, strict=True)]
        distance = np.abs(counts / samples - p).sum(axis=1) / 2
        by_chance = np.abs(drawn / samples - p[:, None]).sum(axis=2) / 2
        beyond = (by_chance >= distance[:, None]).mean(axis=1)
        values += [value for value in tests if np.isfinite(value)]
        rows.append(
            {
                "temperature": sampling.temperature,
                "top_p": sampling.top_p,
                "smallest_p": float(np.nanmin(tests)),
                "tv_mean": float(distance.mean()),
                "tv_mean_by_chance": float(by_chance.mean()),
                "tv_smallest_p": float(beyond.min()),
                "bound": float(found.error.max()),
            }
        )
    result = {
        "engine": engine.kind,
        "tests": len(values),
        "smallest_p": min(values),
        "bonferroni_p": min(1.0, min(values) * len(values)),
        "below_05": float(np.mean(np.array(values) < 0.05)),
        "uniformity_p": float(kstest(values, "uniform").pvalue),
        "samplings": rows,
    }
    return result, scores


def agreement(a: Any, b: Any) -> dict[str, float]:
    """Largest difference between two engines' probabilities of the tokens that both returned."""
    both = ~np.isnan(a.label_logprobs) & ~np.isnan(b.label_logprobs)
    first, second = (
        np.where(both, np.exp(x.label_logprobs.astype(np.float64)), 0.0).sum(axis=2) for x in (a, b)
    )
    shares = [x / x.sum(axis=1, keepdims=True) for x in (first, second)]
    return {
        "label_shares": float(np.abs(shares[0] - shares[1]).max()),
        "label_probabilities": float(np.abs(first - second).max()),
        "tokens": int(both.sum()),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=500)
    parser.add_argument("--prompts", type=int, default=10)
    parser.add_argument("--engines", default="llamacpp,transformers")
    options = parser.parse_args()
    study = load_study("demo")
    plan = build_plan(study.study, study.personas(), study.questions())
    report: dict[str, Any] = {"samples": options.samples, "prompts": options.prompts}
    scores = {}
    for name in options.engines.split(","):
        values = SPECS[name] | {"id": name, "builtin": "smollm2-135m-instruct"}
        spec = (
            type(study.study)
            .model_validate(study.study.model_dump(mode="json") | {"models": [values]})
            .models[0]
        )
        with open_engine(spec, plan, Path()) as engine:
            report[name], scores[name] = check(engine, plan, options.prompts, options.samples)
            sys.stderr.write(json.dumps(report[name]) + "\n")
    names = list(scores)
    for second in names[1:]:
        report[f"{names[0]} and {second}"] = agreement(scores[names[0]], scores[second])
    print(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
