"""How fast is a model here? A minute of a study's own requests, asked and thrown away.

What is measured is what a run does: blocks of consecutive requests of the plan, through the same
function, with the same caches. Only the questions are thinned, to some that are spread over the
study, so that a slow engine too meets all kinds of them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from nongrata._version import __version__
from nongrata.asking import BLOCK_SECONDS, answer_block, refuse_what_it_cannot
from nongrata.engines import Engine, open_engine
from nongrata.errors import NongrataError
from nongrata.factors import Reading
from nongrata.keys import model_digest
from nongrata.loading import LoadedStudy
from nongrata.manifest import environment, now
from nongrata.missing import LARGEST_BLOCK, Missing
from nongrata.model_specs import ModelSpec
from nongrata.plan import READINGS, Plan, build_plan
from nongrata.questions.model import Question
from nongrata.rows import AnswerReader
from nongrata.speeds import ModelSpeed, ReadingSpeed, Speeds
from nongrata.store import DoneKeys
from nongrata.yaml_files import did_you_mean

MOST_QUESTIONS = 256
ALL = "all"
_FIRST_BLOCK = 2
_GROWTH = 4
_WARM_UP_SHARE = 0.25
_LEAST_SHARE = 0.2
_GOLDEN = (5**0.5 - 1) / 2


class Watcher(Protocol):
    """Told how a calibration goes on."""

    def note(self, text: str) -> None:
        """Something worth a line."""
        ...

    def step(self, name: str) -> Callable[[int, int], None]:
        """Something of known length begins; what is returned is told how far it is."""
        ...


def calibrate(
    loaded: LoadedStudy,
    watcher: Watcher,
    *,
    models: Sequence[str] = (ALL,),
    seconds: float = 60.0,
    limit: int | None = None,
) -> Speeds:
    """Measure how fast a study's models answer its requests; nothing is stored.

    Parameters
    ----------
    loaded
        The study. Its questions must be at hand or fetchable.
    watcher
        Told of progress.
    models
        Ids of those to measure, or ``"all"``.
    seconds
        For how long each model is measured, warm-up not counted.
    limit
        As for a run: only so many questions.

    Returns
    -------
    Speeds
        A model that could not be opened is named in `failed`, unless none could: then its error
        is raised.

    Examples
    --------
    >>> from nongrata.loading import load_study
    >>> class Quiet:
    ...     def note(self, text): ...
    ...     def step(self, name): return lambda done, total: None
    >>> found = calibrate(load_study("smoke"), Quiet(), seconds=0.1)
    >>> sorted(found.models["simulated"].readings)
    ['first_token', 'free']
    """
    wanted = _chosen(loaded, models)
    plan = build_plan(loaded.study, loaded.personas(), spread(loaded.questions(limit)))
    measured: dict[str, ModelSpeed] = {}
    failed: dict[str, str] = {}
    first: NongrataError | None = None
    for spec in wanted:
        try:
            measured[spec.id] = _calibrate_model(loaded, spec, plan, seconds, watcher)
        except NongrataError as error:
            first = first or error
            failed[spec.id] = str(error)
            if len(wanted) > 1:
                watcher.note(f"{spec.id} could not be measured: {error}")
    if first is not None and not measured:
        raise first
    here = environment()
    return Speeds(
        kind="speeds",
        basis="measured",
        study=loaded.study.name,
        nongrata=__version__,
        created=now(),
        hardware={key: here[key] for key in ("processor", "cores", "system", "python")},
        models=measured,
        failed=failed,
    )


def spread(questions: Sequence[Question], most: int = MOST_QUESTIONS) -> tuple[Question, ...]:
    """Some questions, such that any of them in a row are spread over the whole set.

    Examples
    --------
    >>> three = [Question(f"q{i}", "s", "?", ("a", "b"), 0) for i in range(9)]
    >>> [question.id for question in spread(three, 4)]
    ['q0', 'q4', 'q2', 'q6']
    """
    n, kept = len(questions), min(len(questions), most)
    even = [i * n // kept for i in range(kept)]
    # multiples of the golden ratio fill an interval evenly, however many there are
    order = np.argsort([(i * _GOLDEN) % 1 for i in range(kept)], kind="stable")
    place = np.empty(kept, dtype=np.int64)
    place[order] = np.arange(kept)
    return tuple(questions[even[int(rank)]] for rank in place)


def shares(seconds: float, cost: Mapping[Reading, float]) -> dict[Reading, float]:
    """Split a time over readings by what they cost a run, none below a fifth of an equal part.

    Examples
    --------
    >>> shares(60, {"first_token": 1.0, "free": 99.0})
    {'first_token': 6.0, 'free': 54.0}
    """
    total = sum(cost.values())
    least = _LEAST_SHARE / len(cost)
    part = {reading: max(value / total, least) for reading, value in cost.items()}
    fixed = sum(value for value in part.values() if value == least)
    free = sum(value for value in part.values() if value > least)
    return {
        reading: round(seconds * (value if value == least else value / free * (1 - fixed)), 6)
        for reading, value in part.items()
    }


def _chosen(loaded: LoadedStudy, models: Sequence[str]) -> list[ModelSpec]:
    known = {spec.id: spec for spec in loaded.study.models}
    for model in models:
        if model not in known and model != ALL:
            guess = did_you_mean(model, [*known, ALL])
            raise NongrataError(
                f"there is no model '{model}' in the study",
                where="--calibrate",
                fix=f"did you mean '{guess}'?" if guess else f"known: {', '.join(known)}, {ALL}",
            )
    every = any(model == ALL and model not in known for model in models)
    return [spec for spec in loaded.study.models if every or spec.id in models]


def _calibrate_model(
    loaded: LoadedStudy, spec: ModelSpec, plan: Plan, seconds: float, watcher: Watcher
) -> ModelSpeed:
    place = spec.unpinned()
    if place is not None:
        position = loaded.study.models.index(spec)
        raise NongrataError(
            f"the model '{spec.id}' has no revision",
            where=loaded.document.where(["models", position, *place]),
            fix=f"pin it: --set models.{position}.{'.'.join(place)}=COMMIT; nongrata pin finds it",
        )
    started = time.perf_counter()
    with open_engine(spec, plan, loaded.base, notify=watcher.note) as engine:
        opened = time.perf_counter() - started
        refuse_what_it_cannot(engine, plan, spec.id)
        meter = _Meter(engine, plan, spec.id, watcher.step(f"measuring {spec.id}"), seconds)
        readings = [reading for reading in READINGS if plan.size(reading)]
        warm = seconds * _WARM_UP_SHARE / len(readings)
        pace = {reading: meter.warm_up(reading, warm) for reading in readings}
        cost = {reading: plan.size(reading) * pace[reading] for reading in readings}
        found = {
            reading: meter.measure(reading, pace[reading], share)
            for reading, share in shares(seconds, cost).items()
        }
        return ModelSpeed(
            engine=engine.kind,
            identity=model_digest(engine.identity).hex(),
            seconds_to_open=round(opened, 3),
            readings=found,
        )


@dataclass
class _Part:
    """Consecutive requests of a reading, taken from the front."""

    start: int
    stop: int

    @property
    def left(self) -> int:
        return self.stop - self.start

    def take(self, count: int) -> tuple[int, int]:
        begin = self.start
        self.start = min(self.stop, begin + max(1, count))
        return begin, self.start


@dataclass
class _Tally:
    """What some blocks took and gave."""

    passes: int = 0
    errors: int = 0
    seconds: float = 0.0
    tokens: dict[str, int] = field(
        default_factory=lambda: {"prompt": 0, "cached": 0, "completion": 0}
    )
    error: str | None = None

    def add(self, rows: Any, seconds: float) -> None:
        wrong = rows["error"]
        self.errors += len(rows) - wrong.null_count
        self.passes += wrong.null_count
        self.seconds += seconds
        for name in self.tokens:
            if f"{name}_tokens" in rows.column_names:
                counts = rows[f"{name}_tokens"].to_numpy()
                self.tokens[name] += int(np.nansum(counts.astype(np.float64)))
        if self.error is None and wrong.null_count < len(rows):
            self.error = next(text for text in wrong.to_pylist() if text is not None)

    def plus(self, other: _Tally) -> _Tally:
        tokens = {name: count + other.tokens[name] for name, count in self.tokens.items()}
        return _Tally(
            self.passes + other.passes,
            self.errors + other.errors,
            self.seconds + other.seconds,
            tokens,
            self.error or other.error,
        )

    @property
    def rate(self) -> float:
        return self.passes / max(self.seconds, 1e-9)


class _Meter:
    """Asks blocks of a plan and takes the time.

    The stream of each reading is cut in three: two parts to measure, one to warm up with, so that
    no request is asked twice and answered from a cache.
    """

    def __init__(
        self,
        engine: Engine,
        plan: Plan,
        model: str,
        progress: Callable[[int, int], None],
        seconds: float,
    ) -> None:
        self.engine, self.plan, self.model = engine, plan, model
        self._reader = AnswerReader(plan.prompts)
        none = DoneKeys(np.zeros((0, 2), dtype=np.uint64))
        self._missing = Missing(plan, model_digest(engine.identity), none)
        self._progress = progress
        self._started = time.perf_counter()
        self._expected = seconds * (1 + _WARM_UP_SHARE)

    def warm_up(self, reading: Reading, seconds: float) -> float:
        """Ask growing blocks until they are as long as a run's; return seconds a request."""
        n = self.plan.size(reading)
        part = _Part(min(3 * n // 4, n - 1), n)
        length, pace = min(_FIRST_BLOCK, self.engine.block), 0.0
        while part.left:
            begin, end = part.take(length)
            tally = self._ask(reading, begin, end)
            pace = tally.seconds / (end - begin)
            if length >= self.engine.block or tally.seconds >= seconds:
                break
            length = min(_GROWTH * length, self.engine.block)
        return max(pace, 1e-9)

    def measure(self, reading: Reading, pace: float, seconds: float) -> ReadingSpeed:
        """Ask for so long, half of it at the beginning of the plan and half at its middle."""
        n = self.plan.size(reading)
        cut = min(3 * n // 8, n - 1)
        parts = _Part(0, max(cut, 1)), _Part(cut, max(3 * n // 4, cut + 1))
        # as long as a run's blocks, if that leaves two for each half
        aim = max(
            min(BLOCK_SECONDS, seconds / 4) / pace, min(self.engine.block, seconds / 2 / pace)
        )
        length = int(min(max(aim, 1), LARGEST_BLOCK))
        halves = []
        for part in parts:
            tally = _Tally()
            while part.left and (not tally.seconds or tally.seconds < seconds / 2):
                tally = tally.plus(self._ask(reading, *part.take(length)))
            halves.append(tally)
        return self._speed(reading, halves)

    def _speed(self, reading: Reading, halves: Sequence[_Tally]) -> ReadingSpeed:
        both = halves[0].plus(halves[1])
        if not both.passes:
            raise NongrataError(
                f"all {both.errors} requests of reading: {reading} failed: {both.error}",
                where=f"model '{self.model}'",
            )
        # an engine that says nothing of tokens says 0
        knows = both.tokens["prompt"] > 0
        per_pass = {name: count / both.passes for name, count in both.tokens.items()}
        generates = reading == "free" and both.tokens["completion"] > 0
        rates = (halves[0].rate, halves[1].rate)
        return ReadingSpeed(
            passes_per_second=both.rate,
            halves=rates if min(rates) > 0 else None,
            prompt_tokens=per_pass["prompt"] if knows else None,
            cached_tokens=per_pass["cached"] if knows else None,
            generated_tokens=per_pass["completion"] if generates else None,
            passes=both.passes,
            seconds=max(both.seconds, 1e-9),
            errors=both.errors,
        )

    def _ask(self, reading: Reading, begin: int, end: int) -> _Tally:
        requests = self.plan.slice(reading, begin, end)
        keys = self._missing.keys(requests)
        started = time.perf_counter()
        rows = answer_block(
            self.engine, self.plan, self._reader, self.model, keys, requests, self._tick
        )
        tally = _Tally()
        tally.add(rows, time.perf_counter() - started)
        self._tick(0)
        return tally

    def _tick(self, count: int) -> None:  # noqa: ARG002
        elapsed = time.perf_counter() - self._started
        self._progress(int(elapsed), int(max(self._expected, elapsed + 1)))
