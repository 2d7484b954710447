"""The vLLM engine's clock against vLLM's own best loop, on the same token ids, in one process.

Both get the same requests, with an empty cache, in turn; the raw loop is one call of
``llm.generate`` over prompts that were sorted before its clock starts. Quiet machine, please.

Run: python benchmarks/vllm_throughput.py [--path FOLDER] [--dtype bfloat16] [--rounds 5]
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np

from nongrata.engines.base import Batch
from nongrata.engines.vllm import VllmEngine
from nongrata.engines.vllm_calls import generation_params, sampling_params, score_params
from nongrata.engines.vllm_library import import_vllm
from nongrata.factors import Reading
from nongrata.model_specs import VllmSpec
from nongrata.plan import Plan, build_plan
from nongrata.questions.model import Question
from nongrata.study import Study

_SUBJECTS = ("rivers", "metals", "birds", "laws", "vowels", "planets", "bones", "taxes")


def plan_of(spec: VllmSpec, questions: int) -> Plan:
    """Two personas x two ways to read x made questions of about 80 tokens."""
    study = Study.model_validate(
        {
            "nongrata": 1,
            "name": "throughput",
            "seed": 1,
            "models": [spec],
            "questions": {"sources": [{"id": "own", "format": "starter", "take": 3}]},
            "personas": {
                "list": [
                    {"id": "none", "text": None, "control": True},
                    {"id": "sailor", "text": "You are a sailor who has seen every harbour."},
                ]
            },
            "slots": {
                "persona_prompt": "{persona}",
                "instruction": "Answer the question with the letter of the right choice.",
                "reminder": "Write the letter and nothing else.",
            },
            "settings": {"temperature": 1},
            "factors": [
                {
                    "name": "way",
                    "levels": [
                        {"id": "letter", "set": {"reading": "first_token"}},
                        {"id": "text", "set": {"reading": "free", "max_tokens": 24}},
                    ],
                }
            ],
        }
    )
    made = tuple(
        Question(
            f"own/{i}",
            "own",
            f"Question {i}: which of these is said of {_SUBJECTS[i % len(_SUBJECTS)]}?",
            tuple(f"statement {j} on the matter of number {i * 7 + j}" for j in range(4)),
            i % 4,
        )
        for i in range(questions)
    )
    return build_plan(study, study.personas.list, made)


def batch_of(plan: Plan, reading: Reading) -> Batch:
    """Every persona's every question, read in one way."""
    rows = [i for i, frame in enumerate(plan.prompts.skeletons) if frame.reading == reading]
    skeleton, question = np.meshgrid(rows, np.arange(len(plan.prompts.questions)))
    n = skeleton.size
    heat = np.nan if reading == "first_token" else 1.0
    return Batch(
        reading=reading,
        prompts=plan.prompts,
        skeleton=skeleton.ravel().astype(np.int32),
        question=question.ravel().astype(np.int32),
        temperature=np.full(n, heat),
        replicate=np.zeros(n, dtype=np.int16),
        key=np.arange(1, 2 * n + 1, dtype=np.uint64).reshape(n, 2),
    )


def raw(llm: Any, prompts: list[Any], params: Any) -> float:
    """Seconds of vLLM's own loop."""
    started = time.perf_counter()
    outputs = llm.generate(prompts, params, use_tqdm=False)
    assert len(outputs) == len(prompts)
    return time.perf_counter() - started


def compare(
    engine: VllmEngine, library: Any, batch: Batch, rounds: int
) -> tuple[float, float, float]:
    """Median seconds of the engine and of the raw loop, taken in turn, and median of the ratios."""
    llm = engine.llm
    order = sorted(range(len(batch)), key=lambda i: engine.prompt_tokens(batch.messages(i)))
    prompts = [{"prompt_token_ids": list(engine.prompt_tokens(batch.messages(i)))} for i in order]
    ends = engine.tokens.ends
    if batch.reading == "first_token":
        ask = engine.score
        fields = score_params(int(engine.identity["n_logprobs"]), ends)
        params: Any = sampling_params(library, fields)
    else:
        ask = engine.generate  # type: ignore[assignment]
        decoding = batch.messages(0).decoding
        params = [
            sampling_params(library, generation_params(decoding, 1.0, batch.seed(i), ends))
            for i in order
        ]
    own: list[float] = []
    best: list[float] = []
    for turn in range(rounds + 1):
        engine.forget()
        started = time.perf_counter()
        assert not ask(batch).errors
        mine = time.perf_counter() - started
        engine.forget()
        theirs = raw(llm, prompts, params)
        if turn:  # the first round warms up
            own.append(mine)
            best.append(theirs)
            print(f"  {batch.reading}: {mine:.2f} s, raw {theirs:.2f} s", flush=True)
    ratios = np.array(best) / np.array(own)
    return float(np.median(own)), float(np.median(best)), float(np.median(ratios))


def cost_of_logprobs(engine: VllmEngine, library: Any, batch: Batch) -> None:
    """What reading more tokens per pass costs vLLM's own loop, prompts being cached."""
    tokens = sorted(engine.prompt_tokens(batch.messages(i)) for i in range(len(batch)))
    prompts = [{"prompt_token_ids": list(prompt)} for prompt in tokens]
    for count in (10, 200, 1000, -1):
        params = sampling_params(library, score_params(count, engine.tokens.ends))
        raw(engine.llm, prompts, params)
        seconds = min(raw(engine.llm, prompts, params) for _ in range(3))
        print(f"n_logprobs {count:5d}: {seconds / len(prompts) * 1e3:7.2f} ms a prompt", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--path", help="a model's folder; by default the demo model")
    parser.add_argument("--dtype", default="bfloat16")
    parser.add_argument("--questions", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--eager", action="store_true", help="do not wait for vLLM's compiler")
    parser.add_argument(
        "--logprobs", action="store_true", help="only: what reading more tokens a pass costs"
    )
    given = parser.parse_args()
    place = {"path": given.path} if given.path else {"builtin": "smollm2-135m-instruct"}
    spec = VllmSpec.model_validate(
        {
            "id": "m",
            "engine": "vllm",
            "dtype": given.dtype,
            "context": 1024,
            "n_logprobs": -1 if given.logprobs else 200,
            "options": {"enforce_eager": given.eager},
            **place,
        }
    )
    library = import_vllm()
    plan = plan_of(spec, given.questions)
    readings: tuple[Reading, ...] = ("first_token", "free")
    with VllmEngine.open(spec, Path()) as engine:
        if given.logprobs:
            cost_of_logprobs(engine, library, batch_of(plan, "first_token"))
            return
        for reading in readings:
            batch = batch_of(plan, reading)
            mine, theirs, ratio = compare(engine, library, batch, given.rounds)
            print(
                f"{reading}: {len(batch) / mine:.1f} requests/s, raw {len(batch) / theirs:.1f}; "
                f"ratio {ratio:.3f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
