"""How probable a right answer is in each cell, and how that is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from nongrata.analysis.cube import Answers, Cube
from nongrata.analysis.selection import LeftOut, Selection
from nongrata.stats.accuracy import Bools

Basis = Literal["exact", "fixed", "letters", "replicates"]
BASES: dict[Basis, str] = {
    "exact": "exact probabilities",
    "fixed": "generated at temperature 0: the answer is fixed",
    "letters": "generated, from the distribution of the final letter, given the explanations "
    "written: how another explanation would have ended is known from the replicates only",
    "replicates": "generated, from the shares observed in the replicates (plug-in): one run's "
    "noise is understated, by half with two replicates",
}
"""What a cell's probabilities are, in words."""


@dataclass(frozen=True, slots=True)
class CellsOfBasis:
    """Cells whose probabilities are known in one way.

    Parameters
    ----------
    basis
        The way.
    meaning
        What that is, in words.
    cells, configurations
        How many; a configuration counts for each basis that a cell of it has.
    """

    basis: Basis
    meaning: str
    cells: int
    configurations: int


@dataclass(frozen=True)
class AnswerChances:
    """The probabilities of right answers of one model, where every cell has them.

    Parameters
    ----------
    selection
        The personas and configurations kept, and what was left out.
    theta
        Probability that the answer is right, shape (P, K, Q); of no meaning where missing.
    present
        Where there is an answer, by replicate, shape (R, P, K, Q).
    cells
        Number of each cell, shape (P, K); structural duplicates have that of the cell they repeat.
    bases
        How many cells are known in which way.
    """

    selection: Selection
    theta: NDArray[np.float32]
    present: Bools
    cells: NDArray[np.int64]
    bases: tuple[CellsOfBasis, ...]


def answer_chances(cube: Cube, model: int, answers: Answers, selection: Selection) -> AnswerChances:
    """Find the probability of a right answer in every cell of a selection.

    A configuration in which a cell of the selection has answers but no probabilities is left out.

    Parameters
    ----------
    cube
        The study.
    model
        Position of the model.
    answers
        Its answers.
    selection
        Personas and configurations asked for.
    """
    grid = np.ix_(selection.personas, selection.configurations)
    letters = cube.final_letters(model)
    chances = answers.theta[grid].astype(np.float32)  # a copy
    known = ~np.isnan(chances)
    present = answers.present[grid]
    basis = np.full(present.shape[:2], "", dtype="<U10")
    heat = cube.temperature
    for i, p in enumerate(selection.personas):
        for j, c in enumerate(selection.configurations):
            if known[i, j].any():
                basis[i, j] = "exact"
                present[i, j] &= known[i, j]
            elif present[i, j].any():
                read = None if letters is None else letters[p, c]
                cold = heat is not None and heat[c] == 0
                found = _generated(answers.correct[p, c], present[i, j], read, cold)
                if found is None:
                    basis[i, j] = "unknown"
                else:
                    basis[i, j], chances[i, j] = found
    unknown = np.asarray((basis == "unknown").any(axis=0))
    keep = np.flatnonzero(~unknown)
    left_out = selection.left_out
    if unknown.any():
        names = tuple(cube.label(int(c)) for c in selection.configurations[unknown])
        why = (
            "generated at a temperature above 0 or not known, without replicates and without the "
            "distribution of the final letter: how probable a right answer is, is not known"
        )
        left_out = (*left_out, LeftOut("configuration", names, why))
    kept = Selection(selection.personas, selection.configurations[keep], left_out)
    return AnswerChances(
        kept,
        np.nan_to_num(chances[:, keep]),
        np.moveaxis(present[:, keep], 2, 0),
        _numbers(cube, answers)[np.ix_(kept.personas, kept.configurations)],
        _count(basis[:, keep]),
    )


def _generated(
    correct: Bools, present: Bools, letters: NDArray[np.float32] | None, cold: bool
) -> tuple[Basis, NDArray[np.float32]] | None:
    """Basis and probabilities of one cell of generated answers, arrays (R, Q); None if unknown."""
    n = present.sum(axis=0)
    share = np.where(present, correct, 0).sum(axis=0) / np.maximum(n, 1)
    if cold and bool(((share == 0) | (share == 1)).all()):
        return "fixed", share.astype(np.float32)
    if letters is not None and not np.isnan(letters[present]).all():
        # where no letter decided, the answer itself: unread is not right
        each = np.where(np.isnan(letters), correct, letters)
        mean = np.where(present, each, 0).sum(axis=0) / np.maximum(n, 1)
        return "letters", mean.astype(np.float32)
    if (n > 1).any():
        return "replicates", share.astype(np.float32)
    return None


def _numbers(cube: Cube, answers: Answers) -> NDArray[np.int64]:
    """A number for each cell, shape (P, K); a duplicate has that of the cell it repeats.

    Which one it repeats is seen by its answers: they are the same, one by one.
    """
    P, K = cube.duplicate.shape
    numbers = np.arange(P * K, dtype=np.int64).reshape(P, K)
    for p, c in np.argwhere(cube.duplicate):
        for earlier in np.flatnonzero(~cube.duplicate[p, :c]):
            if (
                np.array_equal(answers.option[p, c], answers.option[p, earlier])
                and np.array_equal(answers.outcome[p, c], answers.outcome[p, earlier])
                and np.array_equal(answers.theta[p, c], answers.theta[p, earlier], equal_nan=True)
            ):
                numbers[p, c] = numbers[p, earlier]
                break
    return numbers


def _count(basis: NDArray[np.str_]) -> tuple[CellsOfBasis, ...]:
    return tuple(
        CellsOfBasis(
            name, meaning, int((basis == name).sum()), int((basis == name).any(axis=0).sum())
        )
        for name, meaning in BASES.items()
        if (basis == name).any()
    )
