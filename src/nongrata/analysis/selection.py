"""Which personas and configurations an instability figure rests on, and what it leaves out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from nongrata.analysis.cube import Answers, Cube
from nongrata.errors import NongrataError
from nongrata.stats.accuracy import Bools

Personas = Literal["labels", "with_controls", "as_preprint"]
PERSONA_SETS: tuple[Personas, ...] = ("labels", "with_controls", "as_preprint")


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Personas or configurations that a figure does not rest on.

    Parameters
    ----------
    what
        ``"persona"`` or ``"configuration"``.
    names
        Which.
    why
        The reason, as a clause.
    """

    what: Literal["persona", "configuration"]
    names: tuple[str, ...]
    why: str


@dataclass(frozen=True)
class Selection:
    """Positions of the personas and configurations kept, and what was left out."""

    personas: NDArray[np.intp]
    configurations: NDArray[np.intp]
    left_out: tuple[LeftOut, ...]


def select(cube: Cube, obtained: Bools, personas: Personas) -> Selection:
    """Keep what an instability figure may rest on.

    ``"labels"`` leaves out the controls. ``"labels"`` and ``"with_controls"`` leave out structural
    duplicates, which are stable by construction: first configurations that are duplicates for
    every persona still in, then personas that still have a duplicate. ``"as_preprint"`` keeps
    all of them. What has no answer at all is left out of all three.

    Parameters
    ----------
    obtained
        Whether a cell has any answer, shape (P, K).
    personas
        Which personas are asked for.
    """
    if personas not in PERSONA_SETS:
        raise NongrataError(
            f"unknown set of personas {personas!r}",
            where="personas",
            fix=f"use one of {', '.join(PERSONA_SETS)}",
        )
    rows, columns = np.ones(len(cube.personas), bool), np.ones(len(cube.levels), bool)
    left_out: list[LeftOut] = []

    def drop_personas(gone: Bools, why: str) -> None:
        names = tuple(cube.personas[p] for p in np.flatnonzero(rows & gone))
        if names:
            left_out.append(LeftOut("persona", names, why))
        rows[gone] = False

    def drop_configurations(gone: Bools, why: str) -> None:
        names = tuple(cube.label(int(c)) for c in np.flatnonzero(columns & gone))
        if names:
            left_out.append(LeftOut("configuration", names, why))
        columns[gone] = False

    if personas == "labels":
        drop_personas(cube.is_control, "a control, not a label")
    if personas != "as_preprint":
        if rows.any():
            always = np.asarray(cube.duplicate[rows].all(axis=0))
            drop_configurations(always, "the same requests as another configuration's")
        again = np.asarray(cube.duplicate[:, columns].any(axis=1))
        drop_personas(again, "the same requests in several configurations, so stable by design")
    if rows.any():
        drop_personas(~np.asarray(obtained[:, columns].any(axis=1)), "no answers yet")
    if rows.any():
        drop_configurations(~np.asarray(obtained[rows].any(axis=0)), "no answers yet")
    return Selection(np.flatnonzero(rows), np.flatnonzero(columns), tuple(left_out))


def exact_probabilities(
    cube: Cube, model: str, answers: Answers, selection: Selection
) -> tuple[NDArray[np.float32], Bools]:
    """Probabilities of a right answer in the cells of a selection, and where they are known.

    Parameters
    ----------
    cube, model, answers
        The study, and one model's name and answers.
    selection
        Which cells.

    Raises
    ------
    NongrataError
        If a cell has none at all.
    """
    theta = answers.theta[np.ix_(selection.personas, selection.configurations)]
    known = ~np.isnan(theta)
    without = np.argwhere(~known.any(axis=2))
    if len(without):
        p, c = without[0]
        persona = cube.personas[selection.personas[p]]
        raise NongrataError(
            f"{len(without)} of {known[:, :, 0].size} cells have no exact probabilities, such as "
            f"persona {persona!r} in configuration {cube.label(selection.configurations[c])!r}",
            where=f"model {model!r}",
            fix="use value='draws', or select the factor levels that have them",
        )
    return theta, known
