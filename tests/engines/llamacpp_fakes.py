"""A prompt table and a server small enough to read, in place of a study's and llama.cpp's."""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from nongrata.engines.base import Batch
from nongrata.prompts import Decoding, Messages

DECODING = Decoding(max_tokens=8, top_k=0, top_p=1.0, min_p=0.0, stop=())


def messages(
    user: str, system: str = "", prefill: str = "", decoding: Decoding = DECODING
) -> Messages:
    return Messages(system, user, prefill, decoding)


@dataclass(frozen=True)
class Table:
    """Stands for a PromptTable: one skeleton, given prompts."""

    prompts: Sequence[Messages]
    offered: tuple[str, ...] = ("A", "B", "C")

    def messages(self, skeleton: int, question: int) -> Messages:
        return self.prompts[question]

    def labels(self, skeleton: int, question: int) -> tuple[str, ...]:
        return self.offered


def batch(
    prompts: Sequence[Messages],
    temperatures: Sequence[float] = (),
    order: Sequence[int] | None = None,
    offered: tuple[str, ...] = ("A", "B", "C"),
    replicates: int = 1,
) -> Batch:
    """Every prompt at every temperature and replicate (scores: once), in a given order."""
    cells = [
        (q, t, r)
        for q in range(len(prompts))
        for t in (temperatures or (math.nan,))
        for r in range(replicates)
    ]
    place = np.arange(len(cells)) if order is None else np.asarray(order)
    # A key follows the cell, not its place: the same request has the same seed in any order.
    key = np.stack([np.arange(len(cells)) * 7919 + 1, np.zeros(len(cells))], axis=1)
    return Batch(
        reading="free" if temperatures else "first_token",
        prompts=Table(prompts, offered),  # type: ignore[arg-type]
        skeleton=np.zeros(len(cells), dtype=np.int32),
        question=np.array([cells[i][0] for i in place], dtype=np.int32),
        temperature=np.array([cells[i][1] for i in place]),
        replicate=np.array([cells[i][2] for i in place], dtype=np.int16),
        key=key[place].astype(np.uint64),
    )


class FakeServer:
    """Tokens are code points (plus 1000); probabilities follow from the prompt's length."""

    def __init__(self, path: Path, *, context: int, slots: int, threads: int) -> None:
        self.context, self.slots = context, slots
        self.requests: list[Mapping[str, Any]] = []
        self.lock = threading.Lock()
        self.closed = self.dead = False
        self.busy = 0

    def tokenize(self, text: str, *, special: bool = False, whole: bool = False) -> list[int]:
        if self.dead:
            raise ConnectionError("gone")
        return [ord(c) + 1000 for c in text]

    def complete(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        with self.lock:
            self.requests.append(request)
        assert not self.closed
        if self.dead:
            raise RuntimeError("broken pipe")
        said = "".join(chr(t - 1000) for t in request["prompt"] if t >= 1000)
        if "explode" in said:
            raise RuntimeError("parse error")
        if "refuse" in said:
            return {"error": {"code": 500, "message": "Compute error."}}
        timings = {"cache_n": 3}
        if "n_probs" in request:
            tops = [
                {"id": ord(c) + 1000, "logprob": math.log(p)}
                for c, p in zip("ABxyz", (0.4, 0.2, 0.2, 0.1, 0.05), strict=True)
            ]
            content = [{"top_logprobs": tops}]
            choice = {"text": "A", "finish_reason": "length", "logprobs": {"content": content}}
        else:
            cut = "cut" in said
            choice = {
                "text": f"{request['temperature']}:{request['seed']}" if cut else "same",
                "finish_reason": "length" if cut else "stop",
            }
        return {"choices": [choice], "usage": {"completion_tokens": 2}, "timings": timings}

    def close(self) -> None:
        self.closed = True
