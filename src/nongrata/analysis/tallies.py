"""Answers counted by question: what the checks against chance and places rest on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nongrata.analysis.cube import Answers, Cube
from nongrata.stats.accuracy import ANSWERED, Bools

Counts = NDArray[np.int64]


@dataclass(frozen=True)
class Tally:
    """Counts of answers by question; a leading axis, if any, says of which cells.

    Parameters
    ----------
    right, present, read
        Right answers, answers there are, answers that could be read; shape (..., Q).
    choices
        Answers read by the place they chose, shape (..., Q, places).
    gold, present_gold
        Answers read, and answers there are, by the place at which the right option stood.
    """

    right: Counts
    present: Counts
    read: Counts
    choices: Counts
    gold: Counts
    present_gold: Counts

    @classmethod
    def empty(cls, cells: int, questions: int, places: int) -> Tally:
        """No answers."""
        flat = [np.zeros((cells, questions), dtype=np.int64) for _ in range(3)]
        deep = [np.zeros((cells, questions, places), dtype=np.int64) for _ in range(3)]
        return cls(*flat, *deep)

    def arrays(self) -> tuple[Counts, ...]:
        """All counts, in the order of the parameters."""
        return self.right, self.present, self.read, self.choices, self.gold, self.present_gold

    def of(self, cell: int) -> Tally:
        """The counts of one entry of the leading axis."""
        return Tally(*(array[cell] for array in self.arrays()))

    def total(self, cells: Sequence[int] | Bools) -> Tally:
        """The counts of some entries of the leading axis together."""
        return Tally(*(array[np.asarray(cells)].sum(axis=0) for array in self.arrays()))

    def on(self, questions: NDArray[np.intp]) -> Tally:
        """The counts of some questions; there must be no leading axis."""
        return Tally(*(array[questions] for array in self.arrays()))


@dataclass(frozen=True)
class Tallies:
    """One model's answers by configuration and by persona.

    Parameters
    ----------
    configurations, personas
        With a leading axis of configurations, or of personas. A structural duplicate counts for
        neither, except in a configuration that has nothing else.
    repeated
        Configurations that have nothing else, shape (K,): they are in no sum over configurations.
    """

    configurations: Tally
    personas: Tally
    repeated: Bools


def tally(answers: Answers, cube: Cube) -> Tallies:
    """Count one model's answers, persona by persona, so that little memory is needed.

    Parameters
    ----------
    answers
        The model's answers.
    cube
        Whose they are.
    """
    at = _Places(cube)
    P, K, Q = len(cube.personas), len(cube.levels), len(cube.questions)
    repeated = np.asarray(cube.duplicate.all(axis=0))
    # counts of a model's answers fit 32 bits; planes by place, so that sums run along questions
    plain = np.zeros((3, K, Q), dtype=np.int32)
    choices = np.zeros((at.count, K, Q), dtype=np.int32)
    by_persona = Tally.empty(P, Q, at.count)
    for p in range(P):
        own = np.flatnonzero(~cube.duplicate[p])
        once = slice(None) if len(own) == K else own  # a slice is not copied
        counted = ~cube.duplicate[p] | repeated
        mine, chosen = _of_persona(answers, p, at)
        mine[:, ~counted] = 0
        chosen[:, ~counted] = 0
        plain += mine
        choices += chosen
        by_persona.right[p], by_persona.present[p], by_persona.read[p] = mine[:, once].sum(axis=1)
        by_persona.choices[p] = chosen[:, once].sum(axis=1).T
        by_persona.gold[p], by_persona.present_gold[p] = (
            at.of_gold(mine[which], once) for which in (2, 1)
        )
    right, present, read = plain.astype(np.int64)
    everywhere = at.gold[:, :, None] == np.arange(at.count)
    by_configuration = Tally(
        right,
        present,
        read,
        np.moveaxis(choices, 0, 2).astype(np.int64),
        everywhere * read[:, :, None],
        everywhere * present[:, :, None],
    )
    return Tallies(by_configuration, by_persona, repeated)


class _Places:
    """At which place an option was shown."""

    def __init__(self, cube: Cube) -> None:
        shown = cube.shown_option
        self.count = int(cube.n_options.max(initial=1)) if shown is None else shown.shape[2]
        self.place_of: NDArray[np.int64] | None = None
        right = cube.answer.astype(np.int64)
        self.gold = np.broadcast_to(right, (len(cube.levels), len(right)))
        if shown is not None:
            # the inverse of "option at each place"; padding sorts behind every option
            key = np.where(shown < 0, np.iinfo(np.int8).max, shown)
            self.place_of = np.argsort(key, axis=2, kind="stable")
            self.gold = np.take_along_axis(self.place_of, self.gold[:, :, None], axis=2)[:, :, 0]

    def chosen(self, option: NDArray[np.int8]) -> NDArray[Any]:
        """Place of each option, shape (K, R, Q); where there is none, anything."""
        if self.place_of is None:
            return option
        table = self.place_of[:, None]
        at = np.maximum(option, 0)[..., None].astype(np.int64)
        return np.asarray(np.take_along_axis(table, at, axis=3)[..., 0])

    def of_gold(
        self, counts: NDArray[np.int32], configurations: NDArray[np.intp] | slice
    ) -> Counts:
        """Counts (K, Q) by the place of the right option, over some configurations: (Q, places)."""
        places = np.arange(self.count)
        if self.place_of is None:
            total = counts[configurations].sum(axis=0)
            return np.asarray((self.gold[0][:, None] == places) * total[:, None])
        here = self.gold[configurations, :, None] == places
        return np.asarray((here * counts[configurations][:, :, None]).sum(axis=0))


def _of_persona(
    answers: Answers, p: int, at: _Places
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Right, present and read answers of one persona, (3, K, Q), and choices, (places, K, Q)."""
    read = answers.outcome[p] == ANSWERED
    chosen = at.chosen(answers.option[p])
    R = read.shape[1]

    def total(found: Bools) -> NDArray[np.int32]:
        return found[:, 0].astype(np.int32) if R == 1 else found.sum(axis=1, dtype=np.int32)

    return (
        np.stack([total(answers.correct[p]), total(answers.present[p]), total(read)]),
        np.stack([total(read & (chosen == j)) for j in range(at.count)]),
    )
