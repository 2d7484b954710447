"""Carry out a plan: ask what has not been answered yet, commit it, go on after any stop."""

from __future__ import annotations

import hashlib
import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from nongrata.amend import differences
from nongrata.engines import open_engine
from nongrata.engines.base import Batch, Engine
from nongrata.errors import NongrataError
from nongrata.keys import U64, model_digest, request_keys
from nongrata.loading import LoadedStudy
from nongrata.manifest import FILE as MANIFEST
from nongrata.manifest import Manifest, ModelRecord, Session, environment, now
from nongrata.model_specs import LlamaCppSpec, ModelSpec
from nongrata.plan import READINGS, Plan, Requests, build_plan
from nongrata.prompts import as_words
from nongrata.rows import AnswerReader, generation_rows, score_rows
from nongrata.run_folder import (
    DESIGN,
    PROMPTS,
    QUESTIONS,
    STUDY,
    RunContent,
    design_table,
    prompts_digest,
    read_content,
    study_text,
    write_prompts,
)
from nongrata.store import LOCK, Damage, DoneKeys, Store, done_keys, exclusive, write_atomically

BLOCK_SECONDS = 10.0
LARGEST_BLOCK = 65_536
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


@dataclass(frozen=True, slots=True)
class RunSummary:
    """What one call of `run_study` did.

    Parameters
    ----------
    folder
        The run directory.
    requests, answers
        Forward passes done by this call, and the answers of the design they give.
    requests_before
        Passes that had been done before.
    seconds
        Time spent asking and storing, without loading models and writing prompts.
    damage
        Committed shards found missing or changed, whose answers were asked again.
    errors
        Requests that failed; they are stored as outcome ``error``.
    limit
        The limit in force.
    """

    folder: Path
    requests: int
    answers: int
    requests_before: int
    seconds: float
    damage: tuple[Damage, ...]
    errors: int
    limit: int | None

    def __str__(self) -> str:
        rate = self.answers / self.seconds if self.seconds else 0.0
        return (
            f"{self.requests:,} requests done ({self.requests_before:,} were done before), "
            f"giving {self.answers:,} answers in {self.seconds:,.1f} s ({rate:,.0f} answers/s)"
        )


def run_study(
    loaded: LoadedStudy,
    folder: Path,
    watcher: Watcher,
    *,
    limit: int | None = None,
    retry_errors: bool = False,
) -> RunSummary:
    """Run a study into a directory, or go on with it.

    Parameters
    ----------
    loaded
        The study.
    folder
        The run directory; made if it is not there.
    watcher
        Told of progress.
    limit
        Ask only so many questions; marks the run as not a result.
    retry_errors
        Ask again what ended in an error.
    """
    _refuse_unpinned(loaded)
    _refuse_foreign_folder(folder)
    content = RunContent(loaded.study, loaded.personas(), loaded.questions(limit))
    folder.mkdir(parents=True, exist_ok=True)
    with exclusive(folder):
        run = _Run(loaded, folder, content, watcher, limit)
        return run.carry_out(retry_errors=retry_errors)


def _refuse_unpinned(loaded: LoadedStudy) -> None:
    for position, spec in enumerate(loaded.study.models):
        if isinstance(spec, LlamaCppSpec) and spec.hub is not None and spec.hub.revision is None:
            raise NongrataError(
                f"the model '{spec.id}' has no revision",
                where=loaded.document.where(["models", position, "hub", "revision"]),
                fix=f"pin it: --set models.{spec.id}.hub.revision=COMMIT (40 hexadecimal digits)",
            )


def _refuse_foreign_folder(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise NongrataError("this is a file", where=folder, fix="give a folder with --out")
    if not folder.is_dir():
        return
    names = {path.name for path in folder.iterdir()}
    # the lock is the first file of a run, so it is there even if the first start was killed
    if names and not names & {LOCK, MANIFEST}:
        raise NongrataError(
            "this folder is not empty and holds no run", where=folder, fix="give another --out"
        )


class _Run:
    """One call of `run_study`, holding the directory."""

    def __init__(
        self,
        loaded: LoadedStudy,
        folder: Path,
        content: RunContent,
        watcher: Watcher,
        limit: int | None,
    ) -> None:
        self.loaded = loaded
        self.folder = folder
        self.content = content
        self.watcher = watcher
        self.limit = limit
        self.manifest = self._open_manifest()
        self.store = Store(folder)
        self.damage = tuple(self.store.damage)

    def _open_manifest(self) -> Manifest:
        if not (self.folder / MANIFEST).is_file():
            return Manifest(created=now())
        manifest = Manifest.read(self.folder)
        if not (self.folder / STUDY).is_file() or not (self.folder / QUESTIONS).is_file():
            return manifest
        old = read_content(self.folder)
        found = differences(
            old.study,
            self.content.study,
            old.personas,
            self.content.personas,
            old.questions,
            self.content.questions,
        )
        if found:
            more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
            raise NongrataError(
                f"this run was started with another study: {found[0]}{more}",
                where=self.folder,
                fix="undo that, or give another --out; a run can only grow",
            )
        return manifest

    def carry_out(self, *, retry_errors: bool) -> RunSummary:
        for damaged in self.damage:
            self.watcher.note(
                f"{damaged.name} is {damaged.what}: its {damaged.rows:,} requests are done again"
            )
        self.store.repair()
        if retry_errors:
            for spec in self.content.study.models:
                dropped = self.store.drop_errors(spec.id)
                if dropped:
                    self.watcher.note(f"{spec.id}: {dropped:,} errors are asked again")
        plan = self._write_side_files()
        session = Session(started=now(), environment=environment())
        self.manifest.sessions.append(session)
        self.manifest.write(self.folder)
        before = self.store.rows()
        try:
            errors = sum(self._run_model(spec, session) for spec in plan.study.models)
        finally:
            session.ended = now()
            self.manifest.write(self.folder)
        return RunSummary(
            folder=self.folder,
            requests=session.requests,
            answers=session.answers,
            requests_before=before,
            seconds=session.seconds,
            damage=self.damage,
            errors=errors,
            limit=self.limit,
        )

    def _write_side_files(self) -> Plan:
        import pyarrow as pa
        import pyarrow.parquet as pq

        from nongrata.questions.storage import write_questions

        content, manifest, folder = self.content, self.manifest, self.folder
        plan = content.plan()
        questions_path = folder / f"{QUESTIONS}.tmp"
        write_questions(content.questions, questions_path)
        questions_path.replace(folder / QUESTIONS)
        design = pa.BufferOutputStream()
        pq.write_table(design_table(plan), design, compression="zstd")
        write_atomically(folder / DESIGN, memoryview(design.getvalue()))
        self._write_prompts(plan)
        text = study_text(content.study, content.personas).encode()
        write_atomically(folder / STUDY, text)
        manifest.study_sha256 = hashlib.sha256(text).hexdigest()
        manifest.questions_sha256 = content.questions.sha256()
        manifest.questions = len(content.questions)
        manifest.limit = self.limit
        manifest.write(folder)
        return plan

    def _write_prompts(self, plan: Plan) -> None:
        path = self.folder / PROMPTS
        content = prompts_digest(plan.prompts)
        known = self.manifest.prompts
        whole = path.is_file() and path.stat().st_size == known.get("bytes")
        if known.get("content") == content and whole:
            return
        n = len(plan.prompts.skeletons) * len(plan.prompts.questions)
        if n > 500_000:
            self.watcher.note(f"writing {n:,} prompts")
        write_prompts(path, plan.prompts)
        self.manifest.prompts = {"content": content, "bytes": path.stat().st_size, "prompts": n}

    def _run_model(self, spec: ModelSpec, session: Session) -> int:
        """Answer what one model has not answered; return the number of errors."""
        done = done_keys(self.store.paths(spec.id))
        if done.duplicates():
            raise NongrataError(
                f"{done.duplicates():,} answers of {spec.id} are stored twice",
                where=self.folder / "responses",
                fix="a shard was copied here by hand; remove the copy",
            )
        record = self.manifest.models.get(spec.id)
        if record is not None:
            plan = self._plan(deterministic_at_zero=record.deterministic_at_zero)
            if _Missing(plan, bytes.fromhex(record.digest), done).total == 0:
                self.watcher.note(f"{spec.id}: complete, nothing to ask")
                return 0
        plan = self._plan(deterministic_at_zero=True)
        with open_engine(spec, plan, self.loaded.base, notify=self.watcher.note) as engine:
            self._record(spec, engine)
            if not engine.capabilities.deterministic_at_zero:
                plan = self._plan(deterministic_at_zero=False)
            digest = model_digest(engine.identity)
            missing = _Missing(plan, digest, done)
            asking = _Asking(engine, plan, missing, self.store, self.watcher, spec.id)
            try:
                asking.run()
            finally:
                session.requests += asking.requests
                session.answers += asking.answers
                session.seconds += asking.seconds
                session.requests_by_model[spec.id] = asking.requests
                session.seconds_by_model[spec.id] = round(asking.seconds, 3)
        return asking.errors

    def _plan(self, *, deterministic_at_zero: bool) -> Plan:
        return build_plan(
            self.content.study,
            self.content.personas,
            self.content.questions,
            deterministic_at_zero=deterministic_at_zero,
        )

    def _record(self, spec: ModelSpec, engine: Engine) -> None:
        identity = dict(engine.identity)
        record = ModelRecord(
            identity=identity,
            digest=model_digest(identity).hex(),
            provenance=dict(engine.provenance),
            is_model=engine.capabilities.is_model,
            deterministic_at_zero=engine.capabilities.deterministic_at_zero,
        )
        old = self.manifest.models.get(spec.id)
        if old is not None and old.digest != record.digest and self.store.rows(spec.id):
            keys = sorted(old.identity.keys() | identity.keys())
            changed = [key for key in keys if old.identity.get(key) != identity.get(key)]
            key = changed[0] if changed else "identity"
            raise NongrataError(
                f"the model '{spec.id}' is not the one that answered before: {key} was "
                f"{old.identity.get(key)!r}, now {identity.get(key)!r}",
                where=self.folder,
                fix="restore it, or give another --out",
            )
        self.manifest.models[spec.id] = record
        self.manifest.write(self.folder)


@dataclass
class _Missing:
    """The requests of a plan that are not committed, slice by slice."""

    plan: Plan
    digest: bytes
    done: DoneKeys

    def __post_init__(self) -> None:
        self.requests = sum(self.plan.size(reading) for reading in READINGS)
        # counting what is missing needs every key only if something was done before
        self.total = self.requests
        if len(self.done):
            self.total = sum(
                len(requests)
                for reading in READINGS
                for _, requests in self._of(reading, LARGEST_BLOCK)
            )

    def keys(self, requests: Requests) -> U64:
        prompts = self.plan.prompts
        shown = prompts.presentation_of[requests.skeleton]
        return request_keys(
            as_words([self.digest])[0],
            prompts.skeleton_digests[requests.skeleton],
            prompts.block_digests[shown, requests.question],
            requests.temperature,
            requests.replicate,
            self.plan.study.seed,
        )

    def blocks(self, length: Any) -> Iterator[tuple[U64, Requests]]:
        """Missing requests with their keys, about ``length()`` at a time, never two readings."""
        for reading in READINGS:
            position, size = 0, self.plan.size(reading)
            while position < size:
                step = max(1, length())
                yield from self._slice(reading, position, position + step)
                position += step

    def _of(self, reading: Any, length: int) -> Iterator[tuple[U64, Requests]]:
        for start in range(0, self.plan.size(reading), length):
            yield from self._slice(reading, start, start + length)

    def _slice(self, reading: Any, start: int, stop: int) -> Iterator[tuple[U64, Requests]]:
        requests = self.plan.slice(reading, start, stop)
        keys = self.keys(requests)
        if len(self.done):
            wanted = ~self.done.contains(keys)
            if not wanted.all():
                requests, keys = requests.take(wanted), keys[wanted]
        if len(requests):
            yield keys, requests


class _Asking:
    """Ask an engine for what is missing and commit it, block by block.

    One thread asks while another writes the block before; at most two blocks are in memory.
    """

    def __init__(
        self,
        engine: Engine,
        plan: Plan,
        missing: _Missing,
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
        costs = np.array([_cost(skeleton) for skeleton in self.plan.prompts.skeletons])
        total = _total_cost(self.plan, costs)
        share = self.missing.total / max(1, self.missing.requests)
        self.watcher.begin(
            self.model,
            self.missing.requests,
            self.missing.requests - self.missing.total,
            total,
            total * (1 - share),
        )
        started = time.perf_counter()
        waiting: deque[Future[None]] = deque()
        try:
            with ThreadPoolExecutor(1, "commit") as writer:
                for keys, requests in self.missing.blocks(lambda: self.length):
                    rows = self._ask(keys, requests, costs)
                    waiting.append(writer.submit(self._commit, requests, rows))
                    while len(waiting) >= _QUEUE:
                        waiting.popleft().result()
                while waiting:
                    waiting.popleft().result()
        finally:
            self.seconds = time.perf_counter() - started
            self.watcher.finish()

    def _ask(self, keys: U64, requests: Requests, costs: Any) -> Any:
        prompts = self.plan.prompts
        batch = Batch(
            reading=requests.reading,
            prompts=prompts,
            skeleton=requests.skeleton,
            question=requests.question,
            temperature=requests.temperature,
            replicate=requests.replicate,
            key=keys,
        )
        cost = float(costs[requests.skeleton].mean())
        started = time.perf_counter()

        def tick(count: int) -> None:
            self.watcher.advance(count, count * cost)

        if requests.reading == "first_token":
            rows = score_rows(prompts, keys, requests, self.engine.score(batch, tick))
        else:
            generated = self.engine.generate(batch, tick)
            rows = generation_rows(prompts, keys, requests, generated, self.reader)
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
        answers = int(self.plan.answers(requests).sum())
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


def _cost(skeleton: Any) -> float:
    """Rough cost of a request against a single pass, for the time left.

    Measured on the demo: a generation of at most 24 tokens costs about 1.3 passes.
    """
    if skeleton.reading == "first_token":
        return 1.0
    return 1.0 + float(skeleton.decoding.max_tokens) / 80


def _total_cost(plan: Plan, costs: Any) -> float:
    questions = len(plan.prompts.questions)
    total = 0.0
    for reading in READINGS:
        for row, heat in plan.passes[reading]:
            repeats = 1 if np.isnan(heat) else plan.answers_at(float(heat))
            total += costs[int(row)] * repeats * questions
    return total
