"""The engine `transformers` against the best loop one would write by hand for the same prompts.

Both compute the same prompts with the same model, dtype and batch, in one process, in turns; the
shared beginning is computed once by both. Printed are prompts per second and their ratio.

Run on a quiet machine: python benchmarks/transformers_throughput.py [--dtype bfloat16]
"""

from __future__ import annotations

import argparse
import math
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers

from nongrata.engines.base import Batch
from nongrata.engines.hf_files import locate_folder
from nongrata.engines.transformers import TransformersEngine
from nongrata.model_specs import TransformersSpec
from nongrata.prompts import Decoding, Messages

INSTRUCTION = (
    "You are a retired school teacher who likes to explain things to others. Read the question "
    "with care, weigh every one of the answers that are offered, and then choose the one that "
    "fits best. Reply with the letter of your choice, and with nothing else at all.\n\n"
)
DECODING = Decoding(max_tokens=1, top_k=0, top_p=1.0, min_p=0.0, stop=())
NOUNS = ("river", "bridge", "market", "garden", "engine", "harbour", "winter", "letter", "mountain")


@dataclass(frozen=True)
class Prompts:
    """Stands for a study's prompts: one skeleton."""

    texts: Sequence[Messages]

    def messages(self, _: int, question: int) -> Messages:
        """Text of a prompt."""
        return self.texts[question]

    def labels(self, _: int, __: int) -> tuple[str, ...]:
        """Labels offered."""
        return ("A", "B", "C", "D")


def made_prompts(number: int) -> list[Messages]:
    """Prompts of about 120 tokens, half of them shared."""
    rng = np.random.default_rng(0)
    texts = []
    for i in range(number):
        said = " ".join(NOUNS[j] for j in rng.integers(0, len(NOUNS), size=rng.integers(8, 24)))
        options = "\n".join(f"{label}. the {NOUNS[(i + k) % 9]}" for k, label in enumerate("ABCD"))
        question = f"Question {i}: which of them goes with {said}?\n{options}"
        texts.append(Messages("", INSTRUCTION + question, "", DECODING))
    return texts


def as_batch(texts: Sequence[Messages]) -> Batch:
    n = len(texts)
    return Batch(
        reading="first_token",
        prompts=Prompts(texts),  # type: ignore[arg-type]
        skeleton=np.zeros(n, dtype=np.int32),
        question=np.arange(n, dtype=np.int32),
        temperature=np.full(n, math.nan),
        replicate=np.zeros(n, dtype=np.int16),
        key=np.zeros((n, 2), dtype=np.uint64),
    )


class Clock:
    """Prompts per second, by the wall clock and by this process's CPU time."""

    def __init__(self, prompts: int) -> None:
        self.prompts = prompts
        self.wall: list[float] = []
        self.cpu: list[float] = []

    def __enter__(self) -> None:
        self._began = time.perf_counter(), time.process_time()

    def __exit__(self, *_: object) -> None:
        wall, cpu = self._began
        self.wall.append(self.prompts / (time.perf_counter() - wall))
        self.cpu.append(self.prompts / (time.process_time() - cpu))


class ByHand:
    """The loop: one beginning, rows sorted by length, right padding, logits of last tokens only."""

    def __init__(self, folder: Path, dtype: str, labels: Sequence[int], rows: int) -> None:
        transformers.logging.disable_progress_bar()
        self.model: Any = transformers.AutoModelForCausalLM.from_pretrained(
            str(folder), dtype=getattr(torch, dtype), attn_implementation="sdpa"
        ).eval()
        self.labels, self.rows = torch.tensor(labels), rows

    @torch.inference_mode()
    def __call__(self, prompts: Sequence[tuple[int, ...]]) -> Any:
        """Log-probability of each label after each prompt."""
        body, head = self.model.model, self.model.lm_head
        shared = 0
        while len({prompt[shared] for prompt in prompts}) == 1:
            shared += 1
        first = body(torch.tensor([prompts[0][:shared]]), use_cache=True).cache
        kept = [(layer.keys, layer.values) for layer in first.layers]
        order = sorted(range(len(prompts)), key=lambda i: len(prompts[i]))
        found = torch.empty((len(prompts), len(self.labels)))
        for start in range(0, len(order), self.rows):
            rows = order[start : start + self.rows]
            ends = [prompts[i][shared:] for i in rows]
            width = max(map(len, ends))
            ids = torch.tensor([[*end, *[0] * (width - len(end))] for end in ends])
            cache = transformers.DynamicCache()
            for layer, (keys, values) in enumerate(kept):
                many = (len(rows), -1, -1, -1)
                cache.update(keys.expand(*many), values.expand(*many), layer)
            out = body(ids, cache=cache, use_cache=True).last_hidden_state
            last = torch.tensor([len(end) - 1 for end in ends])
            logits = head(out[torch.arange(len(rows)), last]).float()
            logprobs = logits.log_softmax(1)
            found[rows] = logprobs[:, self.labels]
            logprobs.topk(64, dim=1)  # what every engine returns besides the labels
        return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--dtype", default="float32", choices=["float32", "bfloat16"])
    parser.add_argument("--prompts", type=int, default=128)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--rows", type=int, default=32, help="rows at once, by hand")
    parser.add_argument("--batch-tokens", type=int, default=None)
    parser.add_argument("--threads", type=int, default=None)
    given = parser.parse_args()
    if given.threads:
        torch.set_num_threads(given.threads)
    spec = TransformersSpec(
        id="demo",
        engine="transformers",
        builtin="smollm2-135m-instruct",
        dtype=given.dtype,
        device="cpu",
        batch_tokens=given.batch_tokens,
    )
    texts = made_prompts(given.prompts)
    asked = as_batch(texts)
    with TransformersEngine.open(spec, Path(), notify=print) as engine:
        prompts = [engine.prompt_tokens(text) for text in texts]
        labels = [spelled[0] for spelled in engine.identity["label_tokens"].values()][:4]
        loop = ByHand(locate_folder(spec, Path()).path, given.dtype, labels, given.rows)
        clocks = {"engine": Clock(len(texts)), "by hand": Clock(len(texts))}
        for _ in range(given.rounds):
            engine.forget()
            with clocks["engine"]:
                scores = engine.score(asked)
            with clocks["by hand"]:
                found = loop(prompts)
    lengths = [len(prompt) for prompt in prompts]
    print(f"{len(texts)} prompts of {min(lengths)} to {max(lengths)} tokens, {given.dtype}, "
          f"{torch.get_num_threads()} threads")  # fmt: skip
    reused = scores.cached_tokens.sum() / scores.prompt_tokens.sum()
    print(f"tokens not computed again by the engine: {reused:.1%}")
    difference = np.abs(scores.label_logprobs[:, :, 0] - found.numpy()).max()
    print(f"largest difference of a log-probability: {difference:.2g}")
    ours, theirs = clocks["engine"], clocks["by hand"]
    for what, a, b in (
        ("wall clock", ours.wall, theirs.wall),
        ("CPU time, where the machine is not quiet", ours.cpu, theirs.cpu),
    ):
        ratios = [x / y for x, y in zip(a, b, strict=True)]
        print(
            f"{what}: engine {statistics.median(a):.2f}, by hand {statistics.median(b):.2f} "
            f"prompts/s (medians of {len(a)}); ratio {statistics.median(ratios):.3f} "
            f"({min(ratios):.3f} to {max(ratios):.3f})"
        )


if __name__ == "__main__":
    main()
