"""The engine llamacpp against the best loop by hand over the same servers, in one process.

    python benchmarks/llamacpp_throughput.py [--rounds 3] [--prompts 64]

By hand: the same token ids, sorted, a contiguous half for each of two single-threaded servers, two
slots side by side in each, and nothing made of the answers. Both take turns, each from cold caches.
"""

from __future__ import annotations

import argparse
import statistics
import threading
import time
from pathlib import Path

import numpy as np
from exactness import SPECS, batch_of, chosen_prompts

from nongrata.engines import open_engine
from nongrata.engines.llamacpp import LlamaCppEngine
from nongrata.engines.llamacpp_calls import score_request
from nongrata.loading import load_study
from nongrata.plan import build_plan

SLOTS = 2


def by_hand(engine: LlamaCppEngine, prompts: list[tuple[int, ...]], n_probs: int) -> float:
    """Seconds for all prompts."""
    servers = engine._servers  # noqa: SLF001
    ordered = sorted(prompts)
    lanes = len(servers) * SLOTS
    cuts = [len(ordered) * i // lanes for i in range(lanes + 1)]

    def work(lane: int) -> None:
        for tokens in ordered[cuts[lane] : cuts[lane + 1]]:
            servers[lane // SLOTS].complete(
                {**score_request(tokens, n_probs), "id_slot": lane % SLOTS}
            )

    threads = [threading.Thread(target=work, args=(lane,)) for lane in range(lanes)]
    started = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.perf_counter() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--prompts", type=int, default=64)
    options = parser.parse_args()
    study = load_study("demo")
    plan = build_plan(study.study, study.personas(), study.questions())
    values = SPECS["llamacpp"] | {"id": "x", "builtin": "smollm2-135m-instruct"}
    spec = (
        type(study.study)
        .model_validate(study.study.model_dump(mode="json") | {"models": [values]})
        .models[0]
    )
    with open_engine(spec, plan, Path()) as engine:
        assert isinstance(engine, LlamaCppEngine)
        skeleton, question = chosen_prompts(plan, options.prompts)
        batch = batch_of(engine, plan.prompts, skeleton, question, float("nan"))
        tokens = [engine.prompt_tokens(batch.messages(i)) for i in range(len(batch))]
        engine.score(batch.take(np.arange(4)))
        ratios, speeds = [], []
        for _ in range(options.rounds):
            engine.forget()
            hand = by_hand(engine, tokens, spec.n_probs)  # type: ignore[union-attr]
            engine.forget()
            started = time.perf_counter()
            engine.score(batch)
            own = time.perf_counter() - started
            ratios.append(hand / own)
            speeds.append((len(tokens) / own, len(tokens) / hand))
    own_speed, hand_speed = (statistics.median(x) for x in zip(*speeds, strict=True))
    print(
        f"{len(tokens)} prompts: engine {own_speed:.2f}, by hand {hand_speed:.2f} prompts/s; "
        f"ratio {statistics.median(ratios):.3f} ({min(ratios):.3f} to {max(ratios):.3f})"
    )


if __name__ == "__main__":
    main()
