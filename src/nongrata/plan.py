"""Which forward passes a study needs.

The design is a cross of personas and configurations. Each cell sends a skeleton at a temperature.
Cells that send the same thing share a *pass*: ``NO PERSONA`` under every persona format, every
temperature and truncation of a ``first_token`` reading (one pass holds the whole distribution),
repeats at temperature 0 unless the study asks for them. The passes are expanded over questions and
replicates lazily, a slice at a time, so a plan of ten million answers holds no list of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from nongrata.factors import Reading
from nongrata.personas import Persona
from nongrata.prompts import PromptTable, Skeleton, build_skeleton
from nongrata.questions.model import Question
from nongrata.study import Study
from nongrata.temperature import Sampling

READINGS: tuple[Reading, ...] = ("first_token", "cloze", "free")


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
        float64; ``nan`` for readings that serve all temperatures.
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
        return self.take_rows(np.flatnonzero(which))

    def take_rows(self, which: NDArray[np.int64]) -> Requests:
        """The requests at the given places."""
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
    sampling
        How each configuration draws, resolved; one entry a configuration.
    """

    study: Study
    personas: tuple[Persona, ...]
    prompts: PromptTable
    skeleton_of: NDArray[np.int32]
    sampling: tuple[Sampling, ...]

    @cached_property
    def temperature(self) -> NDArray[np.float64]:
        """Temperature of each configuration, float64, shape (configurations,)."""
        return np.array([sampling.temperature for sampling in self.sampling], dtype=np.float64)

    @cached_property
    def samplings(self) -> tuple[Sampling, ...]:
        """The distinct samplings, in order."""
        return tuple(sorted(set(self.sampling)))

    @cached_property
    def cells(self) -> NDArray[np.int64]:
        """What each cell sends and draws: ``skeleton * len(samplings) + sampling``.

        int64, shape (personas, configurations). Cells with one number have one answer.
        """
        place = {sampling: i for i, sampling in enumerate(self.samplings)}
        drawn = np.array([place[sampling] for sampling in self.sampling], dtype=np.int64)
        return self.skeleton_of.astype(np.int64) * len(self.samplings) + drawn[None, :]

    @cached_property
    def heats(self) -> tuple[float, ...]:
        """The distinct positive temperatures at which next-token distributions are wanted."""
        frames = self.prompts.skeletons
        reads = np.array([s.reading == "first_token" or s.final_letter for s in frames])
        wanted = reads[self.skeleton_of].any(axis=0) & (self.temperature > 0)
        return tuple(float(heat) for heat in np.unique(self.temperature[wanted]))

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
        return 1 if temperature == 0 and not self.study.repeat_at_zero else self.replicates

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
                heat = float(temperature) if reading == "free" else -1.0
                wanted[reading].add((int(skeleton), heat))
        table: dict[Reading, NDArray[np.float64]] = {}
        for reading, cells in wanted.items():
            rows = sorted(cells, key=lambda cell: (rank[cell[0]], cell[1]))
            array = np.array(rows, dtype=np.float64).reshape(-1, 2)
            if reading != "free":
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
        if requests.reading != "free":
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

    def _prefix(self, row: int) -> tuple[str, str, str, int]:
        """What a prompt says up to the end of its question, the question apart."""
        skeleton: Skeleton = self.prompts.skeletons[row]
        shown = int(self.prompts.presentation_of[row])
        return (skeleton.reading, skeleton.system, skeleton.before, shown)

    @cached_property
    def _streams(self) -> dict[Reading, _Stream]:
        return {
            reading: _Stream.build(
                table, len(self.prompts.questions), self.answers_at, self._prefix
            )
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
    """The flat order of a reading's requests: beginning, then question, then draw.

    A prompt reads: text before the question, question, text after it. Prompts that share the text
    before it form a segment; within it, questions come first, so that of each prompt as much is
    shared with the one before as any order could share.
    """

    draws: NDArray[np.int64]  # requests a question needs in each segment
    first_draw: NDArray[np.int64]  # where its draws start in the three arrays below
    skeleton: NDArray[np.int32]
    temperature: NDArray[np.float64]
    replicate: NDArray[np.int16]
    offset: NDArray[np.int64]  # where each segment starts; one more entry than segments

    @classmethod
    def build(
        cls,
        table: NDArray[np.float64],
        questions: int,
        answers_at: Callable[[float], int],
        beginning: Callable[[int], object],
    ) -> _Stream:
        draws: list[int] = []
        skeleton: list[int] = []
        temperature: list[float] = []
        replicate: list[int] = []
        last: object = None
        for row, heat in table:
            if not draws or beginning(int(row)) != last:
                last = beginning(int(row))
                draws.append(0)
            repeats = 1 if np.isnan(heat) else answers_at(float(heat))
            draws[-1] += repeats
            skeleton += [int(row)] * repeats
            temperature += [float(heat)] * repeats
            replicate += range(repeats)
        counts = np.array(draws, dtype=np.int64)
        ends = np.cumsum(counts)
        return cls(
            draws=counts,
            first_draw=ends - counts,
            skeleton=np.array(skeleton, dtype=np.int32),
            temperature=np.array(temperature, dtype=np.float64),
            replicate=np.array(replicate, dtype=np.int16),
            offset=np.concatenate([[0], ends * questions]).astype(np.int64),
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
            skeleton=self.skeleton[draw],
            question=question.astype(np.int32),
            temperature=self.temperature[draw],
            replicate=self.replicate[draw],
        )


def build_plan(
    study: Study,
    personas: Sequence[Persona],
    questions: Sequence[Question],
) -> Plan:
    """Expand a study into cells and passes.

    Parameters
    ----------
    study
        The study.
    personas, questions
        What its declarations resolve to. Without questions the passes of one question can still
        be counted.

    Examples
    --------
    >>> from nongrata.presets import load_preset
    >>> from pathlib import Path
    >>> study = load_preset("paper")
    >>> plan = build_plan(study, study.personas.resolve(Path()), ())
    >>> len(plan.prompts.skeletons), {k: len(v) for k, v in plan.passes.items() if len(v)}
    (642, {'first_token': 321, 'free': 963})
    """
    rows: dict[bytes, int] = {}
    skeletons: list[Skeleton] = []
    configurations = list(study.configurations())
    skeleton_of = np.empty((len(personas), len(configurations)), dtype=np.int32)
    sampling: list[Sampling] = []
    for c, levels in enumerate(configurations):
        slots, settings = study.resolve(levels)
        drawn = Sampling(settings.temperature, settings.top_k, settings.top_p, settings.min_p)
        if settings.reading == "cloze":  # the options are all there is, and none is left out
            drawn = Sampling(settings.temperature)
        sampling.append(drawn.resolved())
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
        sampling=tuple(sampling),
    )
