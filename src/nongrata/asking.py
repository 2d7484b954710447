"""Ask an engine for what is missing, and commit it block by block."""

from __future__ import annotations

import logging
import time
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from nongrata.engines.base import Batch, Engine, Generations, Tick
from nongrata.errors import NongrataError
from nongrata.factors import Reading
from nongrata.keys import U64
from nongrata.missing import LARGEST_BLOCK, Missing
from nongrata.plan import READINGS, Plan, Requests
from nongrata.rows import (
    AnswerReader,
    FinalLetters,
    generation_rows,
    likelihood_rows,
    score_rows,
)
from nongrata.store import Store
from nongrata.terminal import visible

BLOCK_SECONDS = 10.0
_QUEUE = 2


class Watcher(Protocol):
    """Told how a run goes on; the command line draws it."""

    def note(self, text: str) -> None:
        """Something worth a line."""
        ...

    def begin(self, model: str, requests: int, done: int, cost: float, cost_done: float) -> None:
        """A model's requests begin; cost weighs a generation against a single pass."""
        ...

    def advance(self, requests: int, cost: float) -> None:
        """Some requests were answered."""
        ...

    def committed(self, answers: int, outcomes: dict[str, int]) -> None:
        """A block was committed."""
        ...

    def finish(self) -> None:
        """The model's requests are done, or given up."""
        ...


class Logged:
    """A `Watcher` that draws nothing: what is worth a line goes to the logger ``nongrata``."""

    def note(self, text: str) -> None:
        """Log a line."""
        logging.getLogger("nongrata").info("%s", visible(text, one_line=True))

    def begin(self, model: str, requests: int, done: int, cost: float, cost_done: float) -> None:
        """Draw nothing."""

    def advance(self, requests: int, cost: float) -> None:
        """Draw nothing."""

    def committed(self, answers: int, outcomes: dict[str, int]) -> None:
        """Draw nothing."""

    def finish(self) -> None:
        """Draw nothing."""


class Asking:
    """One model's missing requests, asked and committed block by block.

    One thread asks while another writes the block before; at most two blocks are in memory.

    Attributes
    ----------
    requests, answers, errors
        What has been committed so far.
    seconds
        How long `run` took.
    """

    def __init__(
        self,
        engine: Engine,
        plan: Plan,
        missing: Missing,
        store: Store,
        watcher: Watcher,
        model: str,
    ) -> None:
        self.engine = engine
        self.plan = plan
        self.missing = missing
        self.store = store
        self.watcher = watcher
        self.model = model
        self.reader = AnswerReader(plan.prompts)
        self.length = min(engine.block, LARGEST_BLOCK)
        self.requests = self.answers = self.errors = 0
        self.seconds = 0.0

    def run(self) -> None:
        """Ask until nothing is missing."""
        costs = {reading: cost_of(self.plan, reading) for reading in READINGS}
        missing = self.missing
        total = sum(costs[reading] * self.plan.size(reading) for reading in READINGS)
        left = sum(costs[reading] * count for reading, count in missing.by_reading.items())
        done = missing.requests - missing.total
        self.watcher.begin(self.model, missing.requests, done, total, total - left)
        started = time.perf_counter()
        waiting: deque[Future[None]] = deque()
        try:
            with ThreadPoolExecutor(1, "commit") as writer:
                for keys, requests in self.missing.blocks(lambda: self.length):
                    rows = self._ask(keys, requests, costs[requests.reading])
                    waiting.append(writer.submit(self._commit, requests, rows))
                    while len(waiting) >= _QUEUE:
                        waiting.popleft().result()
                while waiting:
                    waiting.popleft().result()
        finally:
            self.seconds = time.perf_counter() - started
            self.watcher.finish()

    def _ask(self, keys: U64, requests: Requests, cost: float) -> Any:
        started = time.perf_counter()

        def tick(count: int) -> None:
            self.watcher.advance(count, count * cost)

        rows = answer_block(self.engine, self.plan, self.reader, self.model, keys, requests, tick)
        self._adapt(len(requests), time.perf_counter() - started)
        return rows

    def _adapt(self, requests: int, seconds: float) -> None:
        """Aim at blocks of about ten seconds: little is lost by a kill, shards stay few."""
        if self.engine.block >= LARGEST_BLOCK or seconds <= 0:
            return
        wanted = requests / seconds * BLOCK_SECONDS
        step = min(max(wanted, self.length / 2), self.length * 2)
        self.length = int(min(max(step, self.engine.block), LARGEST_BLOCK))

    def _commit(self, requests: Requests, rows: Any) -> None:
        self.store.commit(self.model, rows)
        good = rows["error"].is_null().to_numpy()
        answers = int(self.plan.answers(requests)[good].sum())
        counted = rows["outcome"].combine_chunks().value_counts()
        outcomes = {
            str(entry["values"]): int(entry["counts"].as_py())
            for entry in counted
            if entry["values"].as_py() is not None
        }
        self.requests += len(requests)
        self.answers += answers
        self.errors += outcomes.get("error", 0)
        self.watcher.committed(answers, outcomes)


def answer_block(
    engine: Engine,
    plan: Plan,
    reader: AnswerReader,
    model: str,
    keys: U64,
    requests: Requests,
    tick: Tick | None = None,
) -> Any:
    """Ask one block of requests, and return its rows as a ``pyarrow.Table``.

    Parameters
    ----------
    engine
        Who answers.
    plan
        The plan that the requests are a slice of.
    reader
        Reads generated texts; kept from block to block, since texts repeat.
    model
        Id of the model.
    keys, requests
        The requests and their keys.
    tick
        Told how many requests were answered.
    """
    prompts = plan.prompts
    batch = Batch(
        reading=requests.reading,
        prompts=prompts,
        skeleton=requests.skeleton,
        question=requests.question,
        temperature=requests.temperature,
        replicate=requests.replicate,
        key=keys,
        heats=plan.heats,
    )
    if requests.reading == "first_token":
        return score_rows(model, prompts, keys, requests, engine.score(batch, tick), plan.heats)
    if requests.reading == "cloze":
        return likelihood_rows(model, prompts, keys, requests, engine.likelihoods(batch, tick))
    result = engine.generate(batch, tick)
    final = _final_letters(engine, reader, batch, result)
    return generation_rows(model, prompts, keys, requests, result, reader, final, plan.heats)


def _final_letters(
    engine: Engine, reader: AnswerReader, batch: Batch, result: Generations
) -> FinalLetters | None:
    """Read the letters that decided as distributions, where the study asks for it."""
    asks = np.array([skeleton.final_letter for skeleton in batch.prompts.skeletons])
    row: list[int] = []
    begun: list[str] = []
    for i in np.flatnonzero(asks[batch.skeleton]):
        if int(i) in result.errors:
            continue
        before = reader.before_letter(
            int(batch.skeleton[i]),
            int(batch.question[i]),
            result.texts[int(result.text[i])],
            bool(result.truncated[i]),
        )
        if before is not None:
            row.append(int(i))
            begun.append(before)
    if not row:
        return None
    place = np.array(row, dtype=np.int64)
    part = replace(batch.take(place), reading="first_token", begun=begun)
    scores = engine.score(part)
    good = np.array([i for i in range(len(row)) if i not in scores.errors], dtype=np.int64)
    return FinalLetters(place[good], scores.take(good)) if len(good) else None


def refuse_what_it_cannot(engine: Engine, plan: Plan, model: str) -> None:
    """Refuse a study that an engine cannot carry out, before anything is asked."""
    can = engine.capabilities
    frames = plan.prompts.skeletons
    readings = {frame.reading for frame in frames}
    where = f"model '{model}'"
    if "cloze" in readings and not can.likelihoods:
        raise NongrataError(
            f"the engine {engine.kind} cannot tell the likelihood of a given text, which "
            "reading: cloze needs",
            where=where,
            fix="use engine: transformers or vllm, or another reading",
        )
    if "free" in readings and not can.generates:
        raise NongrataError(
            f"the engine {engine.kind} generates no text", where=where, fix="use another reading"
        )
    letters = "first_token" in readings or any(frame.final_letter for frame in frames)
    if letters and can.label_logprobs == "none":
        raise NongrataError(
            f"the engine {engine.kind} returns no probabilities here, which reading: first_token "
            "and final_letter: distribution need",
            where=where,
            fix="use reading: free and final_letter: sampled",
        )
    hot = [heat for heat in plan.heats if heat > 1]
    if hot and can.label_logprobs != "full" and not engine.identity.get("vocabulary_size"):
        raise NongrataError(
            f"at temperature {hot[0]:g} the tokens that the engine {engine.kind} does not return "
            "can be bounded only if the number of tokens is known",
            where=where,
            fix="set vocabulary_size, or use temperatures of at most 1",
        )


def cost_of(plan: Plan, reading: Reading) -> float:
    """Rough cost of a request of a reading against a single pass, for the time left.

    Measured on the demo: a generation of at most 24 tokens costs about 1.3 passes.
    """
    rows = plan.passes[reading][:, 0].astype(int)
    if reading != "free" or not len(rows):
        return 1.0
    longest = [plan.prompts.skeletons[row].decoding.max_tokens for row in rows]
    return 1.0 + float(np.mean(longest)) / 80
