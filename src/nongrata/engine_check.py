"""Ask the same requests under other orders, batches and cache states, and see what moves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nongrata._version import __version__
from nongrata.engines.base import Batch, Engine, Generations, Tick
from nongrata.errors import NongrataError
from nongrata.factors import Reading
from nongrata.keys import model_digest
from nongrata.manifest import Manifest, environment, now
from nongrata.missing import Missing
from nongrata.numerical_floor import (
    EngineCheck,
    PersonaEffect,
    ScoreChange,
    TextChange,
    label_masses,
    persona_effect,
    score_change,
)
from nongrata.plan import Plan, Requests
from nongrata.store import DoneKeys, exclusive

Ints = NDArray[np.int64]

SMALL_BATCH = 7
_PERSONAS_A_CELL = 5
_AGAIN = "the same batch again, with warm caches"
_SCORE_WAYS: Mapping[str, str] = {
    "again": _AGAIN,
    "reversed": "in reversed order",
    "shuffled": "in shuffled order",
    "one at a time": "each request alone",
    "small batches": f"in batches of {SMALL_BATCH}",
    "cold caches": f"in batches of {SMALL_BATCH}, everything forgotten before each",
}
_TEXT_WAYS: Mapping[str, str] = {
    "reversed": "in reversed order",
    "one at a time": "each request alone",
}


@dataclass(frozen=True, slots=True)
class Sample:
    """Requests of a study, spread over it.

    Parameters
    ----------
    skeleton, question
        Rows in the prompt table, in the order in which a run would ask them.
    cell
        Number of the question and formats of each request: those of one cell differ in the
        persona alone.
    """

    skeleton: Ints
    question: Ints
    cell: Ints

    def __len__(self) -> int:
        return len(self.skeleton)


def steps_of_check(requests: int, texts: int) -> int:
    """How many answers a check of so many requests and texts takes.

    Examples
    --------
    >>> steps_of_check(40, 12)
    316
    """
    return requests * (1 + len(_SCORE_WAYS)) + texts * (1 + len(_TEXT_WAYS))


def sample_scores(plan: Plan, requests: int) -> Sample:
    """Spread requests of the reading ``first_token`` over formats, questions and persona labels.

    Parameters
    ----------
    plan
        The study's plan.
    requests
        How many, at most.
    """
    formats = _formats(plan)
    people = [p for p, persona in enumerate(plan.personas) if not persona.control]
    people = people or list(range(len(plan.personas)))
    n_questions = len(plan.prompts.questions)
    if not formats or not n_questions:
        none = np.zeros(0, dtype=np.int64)
        return Sample(none, none, none)
    side_by_side = min(len(people), _PERSONAS_A_CELL)
    cells = min(-(-requests // side_by_side), len(formats) * n_questions)
    side_by_side = min(len(people), -(-requests // cells))
    rows = []
    for cell in range(cells):
        configuration = formats[cell % len(formats)]
        question = cell * n_questions // cells
        for place in range(side_by_side):
            person = people[(place * len(people) // side_by_side + cell) % len(people)]
            rows.append((int(plan.skeleton_of[person, configuration]), question, cell))
    rank = {int(row): i for i, row in enumerate(plan.passes["first_token"][:, 0])}
    rows = sorted(rows[:requests], key=lambda row: (rank[row[0]], row[1]))
    table = np.array(rows, dtype=np.int64)
    return Sample(table[:, 0], table[:, 1], table[:, 2])


def sample_texts(plan: Plan, texts: int) -> Sample:
    """Spread requests of the reading ``free`` over skeletons and questions."""
    table = plan.passes["free"]
    skeletons = list(dict.fromkeys(table[:, 0].astype(int).tolist()))
    n_questions = len(plan.prompts.questions)
    n = len(skeletons)
    count = min(texts, n * n_questions)
    chosen = []
    for s, row in enumerate(skeletons):
        own = (s + 1) * count // n - s * count // n
        chosen += [(row, (s + i * n_questions // own) % n_questions) for i in range(own)]
    skeleton, question = np.array(chosen, dtype=np.int64).reshape(-1, 2).T
    return Sample(skeleton, question, np.arange(len(chosen)))


def check_engine(
    engine: Engine,
    plan: Plan,
    model: str,
    *,
    requests: int = 40,
    texts: int = 12,
    tick: Tick | None = None,
) -> EngineCheck:
    """Measure how far an engine's answers move when only batch, order and caches do.

    Parameters
    ----------
    engine
        The engine, open and not asked before, so that its caches are cold.
    plan
        A plan of the study whose requests are asked.
    model
        The model's id in it.
    requests
        Single passes asked in each condition, at most.
    texts
        Texts generated at temperature 0 in each condition, at most.
    tick
        Told of each finished request; `steps_of_check` says how many there are at most.
    """
    notes: list[str] = []
    asker = _Asker(engine, plan, tick)
    scores, effect, asked, errors = _check_scores(asker, requests, notes)
    changed = _check_texts(asker, texts, notes)
    identity, provenance = engine.identity, engine.provenance
    here = environment()
    return EngineCheck(
        model=model,
        engine=engine.kind,
        backend=str(identity.get("backend", "")),
        precision=str(identity.get("dtype") or identity.get("weights") or "float64"),
        device=str(identity.get("device") or provenance.get("device") or "cpu"),
        hardware={key: here[key] for key in ("processor", "cores", "system", "python")},
        nongrata=__version__,
        checked=now(),
        digest=model_digest(identity).hex(),
        requests=asked,
        errors=errors,
        scores=scores,
        texts=changed,
        effect=effect,
        notes=tuple(notes),
    )


def refuse_other_model(folder: Path, model: str, engine: Engine) -> None:
    """Refuse to store a check of a model that did not answer a run."""
    record = Manifest.read(folder).models.get(model)
    if record is None:
        raise NongrataError(
            f"the run has no answers of a model '{model}'",
            where=folder,
            fix="check the study that was run here, or leave --out away",
        )
    identity = dict(engine.identity)
    if record.digest == model_digest(identity).hex():
        return
    keys = sorted(record.identity.keys() | identity.keys())
    changed = [key for key in keys if record.identity.get(key) != identity.get(key)]
    raise NongrataError(
        f"the model '{model}' is not the one that answered the run: "
        f"{', '.join(changed) or 'its identity'} differs",
        where=folder,
        fix="restore it, or leave --out away to see the check without storing it",
    )


def store_check(folder: Path, check: EngineCheck) -> None:
    """Write a check into a run's manifest, in place of an earlier one of the same model."""
    with exclusive(folder):
        manifest = Manifest.read(folder)
        manifest.engine_checks[check.model] = check.as_dict()
        manifest.write(folder)


def stored_checks(manifest: Manifest) -> tuple[EngineCheck, ...]:
    """The checks in a run's manifest that are of the models that answered it."""
    found = []
    for model, value in manifest.engine_checks.items():
        check, record = EngineCheck.from_dict(value), manifest.models.get(model)
        if record is not None and record.digest == check.digest:
            found.append(check)
    return tuple(found)


class _Asker:
    """Asks parts of a sample and puts the answers back in the sample's order."""

    def __init__(self, engine: Engine, plan: Plan, tick: Tick | None) -> None:
        self.engine, self.plan, self.tick = engine, plan, tick
        none = DoneKeys(np.zeros((0, 2), dtype=np.uint64))
        self._missing = Missing(plan, model_digest(engine.identity), none)

    def batch(self, reading: Reading, sample: Sample) -> Batch:
        n = len(sample)
        heat = 0.0 if reading == "free" else np.nan
        requests = Requests(
            reading=reading,
            skeleton=sample.skeleton.astype(np.int32),
            question=sample.question.astype(np.int32),
            temperature=np.full(n, heat),
            replicate=np.zeros(n, dtype=np.int16),
        )
        return Batch(
            reading=reading,
            prompts=self.plan.prompts,
            skeleton=requests.skeleton,
            question=requests.question,
            temperature=requests.temperature,
            replicate=requests.replicate,
            key=self._missing.keys(requests),
        )

    def masses(
        self, batch: Batch, parts: Sequence[Ints], cold: bool
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Label masses and which requests were answered, in the batch's own order."""
        widths = np.array([len(batch.labels(i)) for i in range(len(batch))])
        offered = np.arange(widths.max(initial=0)) < widths[:, None]
        masses = np.full(offered.shape, np.nan)
        answered = np.ones(len(batch), dtype=np.bool_)
        for number, part in enumerate(parts):
            if cold and number:  # the first part finds them cold already
                self.engine.forget()
            scores = self.engine.score(batch.take(part), self.tick)
            masses[part] = label_masses(scores, offered[part])
            answered[part[list(scores.errors)]] = False
        return masses, answered

    def texts(self, batch: Batch, parts: Sequence[Ints]) -> list[str | None]:
        """Each request's text, None where it failed, in the batch's own order."""
        said: list[str | None] = [None] * len(batch)
        for part in parts:
            made: Generations = self.engine.generate(batch.take(part), self.tick)
            for place, i in enumerate(part):
                failed = place in made.errors
                said[int(i)] = None if failed else made.texts[int(made.text[place])]
        return said


def _formats(plan: Plan) -> list[int]:
    """Configurations read from one token that differ in what is sent, one of each."""
    skeletons = plan.prompts.skeletons
    seen: dict[tuple[int, ...], int] = {}
    for configuration in range(plan.skeleton_of.shape[1]):
        column = plan.skeleton_of[:, configuration]
        if all(skeletons[int(row)].reading == "first_token" for row in column):
            seen.setdefault(tuple(int(row) for row in column), configuration)
    return list(seen.values())


def _parts(way: str, n: int) -> list[Ints]:
    """How a condition cuts and orders n requests."""
    every = np.arange(n, dtype=np.int64)
    if way == "reversed":
        return [every[::-1]]
    if way == "shuffled":
        return [np.random.default_rng(n).permutation(n).astype(np.int64)]
    if way == "one at a time":
        return [every[i : i + 1] for i in range(n)]
    if way in ("small batches", "cold caches"):
        return [every[i : i + SMALL_BATCH] for i in range(0, n, SMALL_BATCH)]
    return [every]


def _check_scores(
    asker: _Asker, requests: int, notes: list[str]
) -> tuple[tuple[ScoreChange, ...], PersonaEffect, int, int]:
    """Changes by condition, the persona effect, requests and errors."""

    def nothing(reason: str) -> tuple[tuple[ScoreChange, ...], PersonaEffect, int, int]:
        notes.append(reason)
        return (), PersonaEffect(0, 0, reason=reason), 0, 0

    if asker.engine.capabilities.label_logprobs == "none":
        return nothing("this engine gives no probabilities")
    sample = sample_scores(asker.plan, requests)
    if not len(sample):
        return nothing("the study has no prompt read by its first token")
    batch = asker.batch("first_token", sample)
    reference, answered = asker.masses(batch, _parts("reference", len(sample)), cold=False)
    changes: list[ScoreChange] = []
    good = answered.copy()
    for way, how in _SCORE_WAYS.items():
        cold = way == "cold caches"
        if cold and not asker.engine.forget():
            changes.append(ScoreChange(way, how, not_asked="caches cannot be dropped"))
            if asker.tick is not None:
                asker.tick(len(sample))
            continue
        masses, there = asker.masses(batch, _parts(way, len(sample)), cold)
        good &= there
        changes.append(score_change(way, how, reference, masses, answered & there))
    effect = persona_effect(reference, sample.cell, answered)
    if not any(not persona.control for persona in asker.plan.personas):
        effect = PersonaEffect(0, 0, reason="the study has no persona labels but controls")
    return tuple(changes), effect, len(sample), int((~good).sum())


def _check_texts(asker: _Asker, texts: int, notes: list[str]) -> tuple[TextChange, ...]:
    if not texts:
        return ()
    if not asker.engine.capabilities.generates:
        notes.append("this engine generates no texts")
        return ()
    if not len(asker.plan.passes["free"]):
        notes.append("the study generates no texts")
        return ()
    sample = sample_texts(asker.plan, texts)
    batch = asker.batch("free", sample)
    asker.engine.forget()
    reference = asker.texts(batch, _parts("reference", len(sample)))
    changes = []
    for way, how in _TEXT_WAYS.items():
        other = asker.texts(batch, _parts(way, len(sample)))
        pairs = [
            (one, two)
            for one, two in zip(reference, other, strict=True)
            if one is not None and two is not None
        ]
        changes.append(TextChange(way, how, len(pairs), sum(one != two for one, two in pairs)))
    return tuple(changes)
