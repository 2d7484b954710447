"""Which forward passes a study needs.

The design is a cross of personas and configurations. Each cell sends a skeleton at a temperature.
Cells that send the same thing share a *pass*: ``NO PERSONA`` under every persona format, every
temperature of a ``first_token`` reading (one pass holds the whole distribution), repeats at
temperature 0 of an engine that repeats itself. The passes are expanded over questions and
replicates lazily, a slice at a time, so a plan of ten million answers holds no list of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from nongrata.personas import Persona
from nongrata.prompts import PromptTable, Skeleton, build_skeleton
from nongrata.questions.model import Question
from nongrata.study import Study

Reading = Literal["first_token", "free"]
READINGS: tuple[Reading, ...] = ("first_token", "free")


@dataclass(frozen=True)
class Requests:
    """A slice of a plan, request by request; arrays of one length.

    Parameters
    ----------
    reading
        The reading all of them have.
    skeleton, question
        Rows in the prompt table, int32.
    temperature
        float64; ``nan`` for ``first_token``.
    replicate
        int16.
    """

    reading: Reading
    skeleton: NDArray[np.int32]
    question: NDArray[np.int32]
    temperature: NDArray[np.float64]
    replicate: NDArray[np.int16]

    def __len__(self) -> int:
        return len(self.skeleton)

    def take(self, which: NDArray[np.bool_]) -> Requests:
        """The requests at which `which` is true."""
        return Requests(
            self.reading,
            self.skeleton[which],
            self.question[which],
            self.temperature[which],
            self.replicate[which],
        )


@dataclass(frozen=True)
class Plan:
    """A study's cells and the passes that answer them.

    Parameters
    ----------
    study
        The study.
    personas
        Its personas, resolved.
    prompts
        Its distinct skeletons and its questions.
    skeleton_of
        Row in ``prompts.skeletons`` of each cell, int32, shape (personas, configurations).
    temperature
        Temperature of each configuration, float64, shape (configurations,).
    deterministic_at_zero
        Whether a repeat at temperature 0 needs no second pass.
    """

    study: Study
    personas: tuple[Persona, ...]
    prompts: PromptTable
    skeleton_of: NDArray[np.int32]
    temperature: NDArray[np.float64]
    deterministic_at_zero: bool = True

    @property
    def replicates(self) -> int:
        """Replicates of every cell that draws at random."""
        return self.study.replicates

    @cached_property
    def coordinates(self) -> tuple[tuple[str, tuple[str | None, ...]], ...]:
        """Persona id and level of each factor of each skeleton.

        A factor that makes no difference to a skeleton, because cells at several of its levels
        send it, has None.
        """
        configurations = list(self.study.configurations())
        seen: dict[int, list[set[str]]] = {}
        persona_of: dict[int, str] = {}
        for p, persona in enumerate(self.personas):
            for c, levels in enumerate(configurations):
                row = int(self.skeleton_of[p, c])
                persona_of.setdefault(row, persona.id)
                sets = seen.setdefault(row, [set() for _ in levels])
                for ids, level in zip(sets, levels, strict=True):
                    ids.add(level.id)
        return tuple(
            (
                persona_of[row],
                tuple(next(iter(ids)) if len(ids) == 1 else None for ids in seen[row]),
            )
            for row in range(len(self.prompts.skeletons))
        )

    def answers_at(self, temperature: float) -> int:
        """How many answers one question gets in one cell at a temperature."""
        return 1 if temperature == 0 and self.deterministic_at_zero else self.replicates

    @cached_property
    def passes(self) -> dict[Reading, NDArray[np.float64]]:
        """Distinct passes by reading: rows of (skeleton, temperature), in the order they are run.

        Skeletons with a common beginning stand side by side, so that an engine computes what they
        share once; the temperatures of one prompt stand back to back.
        """
        order = sorted(range(len(self.prompts.skeletons)), key=self._prefix)
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order))
        wanted: dict[Reading, set[tuple[int, float]]] = {reading: set() for reading in READINGS}
        for configuration, temperature in enumerate(self.temperature):
            for skeleton in np.unique(self.skeleton_of[:, configuration]):
                reading = self.prompts.skeletons[int(skeleton)].reading
                heat = float(temperature) if reading == "free" else float("nan")
                key = (int(skeleton), -1.0 if reading == "first_token" else heat)
                wanted[reading].add(key)
        table: dict[Reading, NDArray[np.float64]] = {}
        for reading, cells in wanted.items():
            rows = sorted(cells, key=lambda cell: (rank[cell[0]], cell[1]))
            array = np.array(rows, dtype=np.float64).reshape(-1, 2)
            if reading == "first_token":
                array[:, 1] = np.nan
            table[reading] = array
        return table

    @property
    def answers_in_all(self) -> int:
        """Answers of the whole design."""
        a_question = sum(self.answers_at(float(heat)) for heat in self.temperature)
        return len(self.personas) * a_question * len(self.prompts.questions)

    def pass_requests(self, reading: Reading) -> Requests:
        """One request, of the first question and replicate, for each pass of a reading."""
        table = self.passes[reading]
        return Requests(
            reading=reading,
            skeleton=table[:, 0].astype(np.int32),
            question=np.zeros(len(table), dtype=np.int32),
            temperature=table[:, 1],
            replicate=np.zeros(len(table), dtype=np.int16),
        )

    def answers(self, requests: Requests) -> NDArray[np.int64]:
        """How many answers of the design each request gives; int64, shape (n,)."""
        n_skeletons, n_cells = len(self.prompts.skeletons), self.skeleton_of.shape[0]
        if requests.reading == "first_token":
            per_configuration = np.array([self.answers_at(float(t)) for t in self.temperature])
            weight = np.repeat(per_configuration[None, :], n_cells, axis=0)
            total = np.bincount(
                self.skeleton_of.ravel(), weights=weight.ravel(), minlength=n_skeletons
            )
            return total.astype(np.int64)[requests.skeleton]
        heats, level = np.unique(self.temperature, return_inverse=True)
        code = self.skeleton_of * len(heats) + level[None, :]
        count = np.bincount(code.ravel(), minlength=n_skeletons * len(heats))
        at = np.searchsorted(heats, requests.temperature)
        answers: NDArray[np.int64] = count[requests.skeleton * len(heats) + at]
        return answers.astype(np.int64)

    def _prefix(self, row: int) -> tuple[str, str, str]:
        skeleton: Skeleton = self.prompts.skeletons[row]
        return (skeleton.reading, skeleton.system, skeleton.before)

    @cached_property
    def _streams(self) -> dict[Reading, _Stream]:
        return {
            reading: _Stream.build(table, len(self.prompts.questions), self.answers_at)
            for reading, table in self.passes.items()
        }

    def size(self, reading: Reading) -> int:
        """Number of requests of a reading."""
        return self._streams[reading].size

    def slice(self, reading: Reading, start: int, stop: int) -> Requests:
        """Requests `start` to `stop` of a reading, in the order they are run."""
        return self._streams[reading].slice(reading, start, min(stop, self.size(reading)))

    def slices(self, reading: Reading, length: int) -> Iterator[Requests]:
        """All requests of a reading, at most `length` at a time."""
        for start in range(0, self.size(reading), length):
            yield self.slice(reading, start, start + length)


@dataclass(frozen=True)
class _Stream:
    """The flat order of a reading's requests: skeleton, then question, then draw."""

    skeleton: NDArray[np.int32]  # one entry a segment
    draws: NDArray[np.int64]  # requests a question needs in that segment
    first_draw: NDArray[np.int64]  # where its draws start in the two arrays below
    temperature: NDArray[np.float64]
    replicate: NDArray[np.int16]
    offset: NDArray[np.int64]  # where each segment starts; one more entry than segments

    @classmethod
    def build(cls, table: NDArray[np.float64], questions: int, answers_at: object) -> _Stream:
        assert callable(answers_at)
        skeletons: list[int] = []
        draws: list[int] = []
        temperature: list[float] = []
        replicate: list[int] = []
        for row, heat in table:
            if not skeletons or skeletons[-1] != int(row):
                skeletons.append(int(row))
                draws.append(0)
            repeats = 1 if np.isnan(heat) else answers_at(float(heat))
            draws[-1] += repeats
            temperature += [float(heat)] * repeats
            replicate += range(repeats)
        counts = np.array(draws, dtype=np.int64)
        return cls(
            skeleton=np.array(skeletons, dtype=np.int32),
            draws=counts,
            first_draw=np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(np.int64)
            if len(counts)
            else np.zeros(0, dtype=np.int64),
            temperature=np.array(temperature, dtype=np.float64),
            replicate=np.array(replicate, dtype=np.int16),
            offset=np.concatenate([[0], np.cumsum(counts * questions)]).astype(np.int64),
        )

    @property
    def size(self) -> int:
        return int(self.offset[-1])

    def slice(self, reading: Reading, start: int, stop: int) -> Requests:
        flat = np.arange(start, stop, dtype=np.int64)
        segment = np.searchsorted(self.offset, flat, side="right") - 1
        within = flat - self.offset[segment]
        question, draw = np.divmod(within, self.draws[segment])
        draw += self.first_draw[segment]
        return Requests(
            reading=reading,
            skeleton=self.skeleton[segment],
            question=question.astype(np.int32),
            temperature=self.temperature[draw],
            replicate=self.replicate[draw],
        )


def build_plan(
    study: Study,
    personas: Sequence[Persona],
    questions: Sequence[Question],
    *,
    deterministic_at_zero: bool = True,
) -> Plan:
    """Expand a study into cells and passes.

    Parameters
    ----------
    study
        The study.
    personas, questions
        What its declarations resolve to. Without questions the passes of one question can still
        be counted.
    deterministic_at_zero
        Whether the engine repeats itself at temperature 0.

    Examples
    --------
    >>> from nongrata.presets import load_preset
    >>> from pathlib import Path
    >>> study = load_preset("paper")
    >>> plan = build_plan(study, study.personas.resolve(Path()), ())
    >>> len(plan.prompts.skeletons), {k: len(v) for k, v in plan.passes.items()}
    (642, {'first_token': 321, 'free': 963})
    """
    rows: dict[bytes, int] = {}
    skeletons: list[Skeleton] = []
    configurations = list(study.configurations())
    skeleton_of = np.empty((len(personas), len(configurations)), dtype=np.int32)
    temperature = np.empty(len(configurations))
    for c, levels in enumerate(configurations):
        slots, settings = study.resolve(levels)
        temperature[c] = settings.temperature
        for p, persona in enumerate(personas):
            skeleton = build_skeleton(persona, slots, settings, study.prompt)
            row = rows.setdefault(skeleton.digest, len(skeletons))
            if row == len(skeletons):
                skeletons.append(skeleton)
            skeleton_of[p, c] = row
    return Plan(
        study=study,
        personas=tuple(personas),
        prompts=PromptTable(tuple(skeletons), questions, study.seed),
        skeleton_of=skeleton_of,
        temperature=temperature,
        deterministic_at_zero=deterministic_at_zero,
    )
