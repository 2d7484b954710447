"""Carry out a plan: ask what has not been answered yet, commit it, go on after any stop."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from nongrata.asking import Logged, Watcher, refuse_what_it_cannot
from nongrata.engines.base import Engine
from nongrata.errors import NongrataError
from nongrata.executors import Executor, LocalExecutor
from nongrata.integrity import side_file_damage, side_file_hashes
from nongrata.keys import model_digest
from nongrata.loading import LoadedStudy
from nongrata.manifest import FILE as MANIFEST
from nongrata.manifest import ModelRecord, Session, environment, now
from nongrata.missing import Missing
from nongrata.model_specs import ModelSpec, OpenAISpec
from nongrata.personas import persona_warnings
from nongrata.plan import Plan
from nongrata.resume import open_run
from nongrata.run_costs import Cost, cost_so_far
from nongrata.run_files import files_in, is_file, make_folder
from nongrata.run_folder import (
    DESIGN,
    PROMPTS,
    QUESTIONS,
    STUDY,
    RunContent,
    design_table,
    prompts_digest,
    sampling_of,
    study_text,
    write_prompts,
)
from nongrata.run_lock import Hold
from nongrata.run_path import is_remote, run_path
from nongrata.store import (
    LOCK,
    RESPONSES,
    Damage,
    DoneKeys,
    Store,
    disk_error,
    done_keys,
    exclusive,
    write_atomically,
)


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
    costs
        Of models behind servers: what all sessions of the run have used.
    """

    folder: Path
    requests: int
    answers: int
    requests_before: int
    seconds: float
    damage: tuple[Damage, ...]
    errors: int
    limit: int | None
    costs: tuple[Cost, ...] = ()

    def __str__(self) -> str:
        rate = self.answers / self.seconds if self.seconds else 0.0
        return (
            f"{self.requests:,} requests done ({self.requests_before:,} were done before), "
            f"giving {self.answers:,} answers in {self.seconds:,.1f} s ({rate:,.0f} answers/s)"
        )


def run_study(
    loaded: LoadedStudy,
    folder: str | Path,
    watcher: Watcher | None = None,
    *,
    limit: int | None = None,
    retry_errors: bool = False,
    executor: Executor | None = None,
) -> RunSummary:
    """Run a study into a directory, or go on with it.

    Parameters
    ----------
    loaded
        The study.
    folder
        The run directory, or an address such as ``s3://bucket/run``; made if it is not there.
    watcher
        Told of progress; None: notes go to the logger ``nongrata``.
    limit
        Ask only so many questions; marks the run as not a result.
    retry_errors
        Ask again what ended in an error.
    executor
        Where the engines are; by default in this process.
    """
    folder, watcher = run_path(folder), watcher or Logged()
    _refuse_unpinned(loaded)
    _refuse_foreign_folder(folder)
    content = RunContent(loaded.study, loaded.personas(), loaded.questions(limit))
    is_new = not is_remote(folder) and not (folder.is_dir() and any(folder.iterdir()))
    make_folder(folder)
    try:
        with exclusive(folder, watcher.note) as hold, executor or LocalExecutor() as engines:
            run = _Run(loaded, folder, content, watcher, limit, hold, engines)
            return run.carry_out(retry_errors=retry_errors)
    except NongrataError:
        if is_new:
            _leave_nothing(folder)
        raise


def _leave_nothing(folder: Path) -> None:
    """Take away a run that was refused before anything was answered."""
    if any((folder / RESPONSES).glob("*")):
        return
    for name in (STUDY, QUESTIONS, DESIGN, PROMPTS, MANIFEST, LOCK):
        (folder / name).unlink(missing_ok=True)
    for empty in (folder / RESPONSES, folder):
        if empty.is_dir() and not any(empty.iterdir()):
            empty.rmdir()


def _refuse_unpinned(loaded: LoadedStudy) -> None:
    for position, spec in enumerate(loaded.study.models):
        place = spec.unpinned()
        if place is not None:
            raise NongrataError(
                f"the model '{spec.id}' has no revision",
                where=loaded.document.where(["models", position, *place]),
                fix=f"pin it: --set models.{spec.id}.{'.'.join(place)}=COMMIT "
                "(40 hexadecimal digits)",
            )


def _refuse_foreign_folder(folder: Path) -> None:
    if is_remote(folder):
        _refuse_foreign_names(set(files_in(folder)), folder)
        return
    try:
        there = folder.exists()
    except OSError as error:  # such as a name that is too long
        raise disk_error(error, folder) from None
    if there and not folder.is_dir():
        raise NongrataError("this is a file", where=folder, fix="give a folder with --out")
    if not folder.is_dir():
        return
    _refuse_foreign_names({path.name for path in folder.iterdir()}, folder)


def _refuse_foreign_names(names: set[str], folder: Path) -> None:
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
        hold: Hold,
        executor: Executor,
    ) -> None:
        self.executor = executor
        self.loaded = loaded
        self.folder = folder
        self.content = content
        self.watcher = watcher
        self.limit = limit
        self.store = Store(folder, hold)
        self.damage = tuple(self.store.damage)
        self.manifest = open_run(
            folder, content, has_answers=bool(self.store.shards), note=watcher.note
        )
        self.side_damage = tuple(side_file_damage(folder, self.manifest))

    def carry_out(self, *, retry_errors: bool) -> RunSummary:
        for warning in persona_warnings(self.content.personas):
            self.watcher.note(f"note: {warning}")
        for damaged in self.damage:
            self.watcher.note(
                f"{damaged.name} is {damaged.what}: its {damaged.rows:,} requests are done again"
            )
        for damaged in self.side_damage:
            self.watcher.note(f"{damaged.name} is {damaged.what}; it is written anew")
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
            errors = sum(self._run_model(spec, plan, session) for spec in plan.study.models)
        finally:
            session.ended = now()
            self.manifest.write(self.folder)
        sessions = self.manifest.sessions
        return RunSummary(
            folder=self.folder,
            requests=session.requests,
            answers=session.answers,
            requests_before=before,
            seconds=session.seconds,
            damage=self.damage,
            errors=errors,
            limit=self.limit,
            costs=tuple(
                cost_so_far(spec, [s.usage_by_model.get(spec.id, {}) for s in sessions])
                for spec in plan.study.models
                if isinstance(spec, OpenAISpec)
            ),
        )

    def _write_side_files(self) -> Plan:
        import pyarrow as pa
        import pyarrow.parquet as pq

        from nongrata.questions.storage import write_questions

        content, manifest, folder = self.content, self.manifest, self.folder
        plan = content.plan()
        write_questions(content.questions, folder / QUESTIONS)
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
        manifest.sampling = sampling_of(plan)
        manifest.files = side_file_hashes(folder)
        manifest.write(folder)
        return plan

    def _write_prompts(self, plan: Plan) -> None:
        path = self.folder / PROMPTS
        content = prompts_digest(plan.prompts)
        known = self.manifest.prompts
        damaged = {item.name for item in self.side_damage}
        whole = is_file(path) and PROMPTS in self.manifest.files and PROMPTS not in damaged
        if known.get("content") == content and whole:
            return
        n = len(plan.prompts.skeletons) * len(plan.prompts.questions)
        if n > 500_000:
            self.watcher.note(f"writing {n:,} prompts")
        write_prompts(path, plan.prompts)
        self.manifest.prompts = {
            "content": content,
            "bytes": files_in(self.folder)[PROMPTS],
            "prompts": n,
        }

    def _run_model(self, spec: ModelSpec, plan: Plan, session: Session) -> int:
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
            missing = Missing(plan, bytes.fromhex(record.digest), done)
            self._refuse_foreign(spec, missing, done)
            if missing.total == 0:
                self.watcher.note(f"{spec.id}: complete, nothing to ask")
                return 0
        executor, watcher = self.executor, self.watcher
        with executor.open(spec, self.content, plan, self.loaded.base, watcher) as engine:
            self._record(spec, engine)
            refuse_what_it_cannot(engine, plan, spec.id)
            digest = model_digest(engine.identity)
            missing = Missing(plan, digest, done)
            self._refuse_foreign(spec, missing, done)
            asking = executor.asking(engine, plan, missing, self.store, watcher, spec.id)
            try:
                asking.run()
            finally:
                # who has answered is known at the end: workers come and go
                self.manifest.models[spec.id].provenance = dict(engine.provenance)
                session.requests += asking.requests
                session.answers += asking.answers
                session.seconds += asking.seconds
                session.requests_by_model[spec.id] = asking.requests
                session.seconds_by_model[spec.id] = round(asking.seconds, 3)
                if "usage" in engine.provenance:
                    session.usage_by_model[spec.id] = dict(engine.provenance["usage"])
        return asking.errors

    def _refuse_foreign(self, spec: ModelSpec, missing: Missing, done: DoneKeys) -> None:
        """Refuse to mix: every answer here must be one that the study asks of this model."""
        foreign = len(done) - (missing.requests - missing.total)
        if foreign:
            raise NongrataError(
                f"{foreign:,} of the {len(done):,} answers of '{spec.id}' here are to requests "
                "that this study does not make: they are another study's, or another model's",
                where=self.folder,
                fix="restore that study, or give another --out",
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
