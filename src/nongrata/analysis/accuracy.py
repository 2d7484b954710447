"""Accuracy of every cell, with what unread answers would allow."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from nongrata.analysis.cube import Cube, configuration_label, read_cube
from nongrata.analysis.result import Result, factor_columns
from nongrata.stats.accuracy import Floats, accuracy_bounds
from nongrata.stats.final_letters import LetterAccuracy, letter_accuracy

if TYPE_CHECKING:
    import polars as pl
    import xarray as xr


@dataclass(frozen=True, slots=True)
class FromLetters:
    """Accuracy of generated answers from the distribution of their final letter, in per cent.

    On the same cells as `sampled`: those in which such a letter was read, structural duplicates
    once. See `nongrata.stats.final_letters` for what is compared.

    Parameters
    ----------
    accuracy, sampled
        From the letters' distributions, and from the letters drawn; unread answers are not right
        in both.
    letter_sd
        Standard deviation of `sampled` that is due to drawing the letters alone, in points.
    variance_ratio
        Sampling variance of `accuracy` over that of `sampled`, mean over cells that have it.
    cells, letters
        How many there are.
    reason
        Why there is no ratio, else empty.
    """

    accuracy: float
    sampled: float
    letter_sd: float
    variance_ratio: float
    cells: int
    letters: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class AccuracyRow:
    """Accuracy of one cell, or of one persona or configuration over its cells, in per cent.

    Parameters
    ----------
    model, persona, levels
        Which; `persona` is None for a configuration, `levels` is None for a persona.
    is_control
        Whether the persona is a control; None for a configuration.
    duplicate
        Whether the cell's requests are those of an earlier cell; None unless it is a cell.
    accuracy
        Unread answers counted as wrong. Mean over replicates, then over cells that have answers.
    if_unread_right
        Unread answers counted as right: no accuracy above this is compatible with the answers.
    read_only
        Unread answers dropped.
    answers, missing
        Answers there are, and those that are missing (errors, or not obtained).
    reason
        Why the accuracies are undefined, else empty.
    letters
        What the final letters' distributions say; None where none was read.
    """

    model: str
    persona: str | None
    levels: tuple[Any, ...] | None
    is_control: bool | None
    duplicate: bool | None
    accuracy: float
    if_unread_right: float
    read_only: float
    answers: int
    missing: int
    reason: str = ""
    letters: FromLetters | None = None


@dataclass(frozen=True, slots=True)
class AccuracyTable(Result):
    """Accuracy per cell, persona and configuration. A property of prompts, never of people.

    `configurations` and `models` are means over labels, controls left out if there are labels.
    `personas` and `models` are means over distinct cells: a structural duplicate counts once.
    """

    factors: tuple[str, ...]
    cells: tuple[AccuracyRow, ...]
    personas: tuple[AccuracyRow, ...]
    configurations: tuple[AccuracyRow, ...]
    models: tuple[AccuracyRow, ...]
    kind: Literal["accuracy"] = "accuracy"

    def __str__(self) -> str:
        values = [row.accuracy for row in self.cells if not row.reason]
        if not values:
            return "accuracy: no answers yet"
        return (
            f"accuracy of {len(self.cells)} cells: {min(values):.1f}% to {max(values):.1f}%, "
            f"mean {math.fsum(values) / len(values):.1f}%"
        )

    def to_dataframe(self) -> pl.DataFrame:
        """One row per cell, one column per factor."""
        import polars as pl

        fixed = (
            *("model", "persona", "is_control", "duplicate", "configuration"),
            *("accuracy", "if_unread_right", "read_only", "answers", "missing", "reason"),
        )
        further = ("from_letters", "letter_sd", "variance_ratio")
        columns: dict[str, list[Any]] = {
            name: [getattr(row, name) for row in self.cells]
            for name in fixed
            if name != "configuration"
        }
        columns["configuration"] = [configuration_label(row.levels or ()) for row in self.cells]
        for name in further:
            field = "accuracy" if name == "from_letters" else name
            columns[name] = [row.letters and getattr(row.letters, field) for row in self.cells]
        names = factor_columns(self.factors, (*fixed, *further))
        for i, name in enumerate(names):
            columns[name] = [(row.levels or ())[i] for row in self.cells]
        frame = pl.DataFrame(columns, strict=False)
        numbers = ["accuracy", "if_unread_right", "read_only", *further]
        return frame.select([*fixed[:4], *names, *fixed[4:], *further]).with_columns(
            pl.col(numbers).cast(pl.Float64).fill_nan(None)
        )


def accuracy_table(responses: xr.Dataset) -> AccuracyTable:
    """Accuracy of every model, persona and configuration, in per cent.

    Parameters
    ----------
    responses
        A Dataset of responses.
    """
    cube = read_cube(responses)
    cells: list[AccuracyRow] = []
    personas: list[AccuracyRow] = []
    configurations: list[AccuracyRow] = []
    models: list[AccuracyRow] = []
    K = len(cube.levels)
    levels = [cube.configuration(c) for c in range(K)]
    labels = ~cube.is_control if (~cube.is_control).any() else np.ones_like(cube.is_control)
    for m, model in enumerate(cube.models):
        three, n = _cells(cube, m)
        wanted = cube.replicates * len(cube.questions)
        letters = _letters(cube, m)
        for p, persona in enumerate(cube.personas):
            control = bool(cube.is_control[p])
            cells.extend(
                _row(
                    three[:, p, c], int(n[p, c]), wanted, model=model, persona=persona,
                    levels=levels[c], is_control=control, duplicate=bool(cube.duplicate[p, c]),
                    letters=_together(letters.get((p, c))),
                )
                for c in range(K)
            )  # fmt: skip
            personas.append(
                _row(
                    _mean(three[:, p, _once(cube, p)], axis=-1), int(n[p, _once(cube, p)].sum()),
                    wanted * len(_once(cube, p)), model=model, persona=persona,
                    is_control=control,
                    letters=_together(*(letters.get((p, c)) for c in _once(cube, p))),
                )
            )  # fmt: skip
        configurations.extend(
            _row(
                _mean(three[:, labels, c], axis=-1), int(n[labels, c].sum()),
                wanted * int(labels.sum()), model=model, levels=levels[c],
                letters=_together(
                    *(letters.get((int(p), c)) for p in np.flatnonzero(labels))
                ),
            )
            for c in range(K)
        )  # fmt: skip
        once = [(int(p), _once(cube, int(p))) for p in np.flatnonzero(labels)]
        means = np.stack([_mean(three[:, p, cells_of], axis=-1) for p, cells_of in once], axis=-1)
        models.append(
            _row(
                _mean(means, axis=-1), sum(int(n[p, cells_of].sum()) for p, cells_of in once),
                wanted * sum(len(cells_of) for _, cells_of in once), model=model,
                letters=_together(
                    *(
                        letters.get((int(p), c))
                        for p in np.flatnonzero(labels)
                        for c in _once(cube, int(p))
                    )
                ),
            )
        )  # fmt: skip
    return AccuracyTable(
        cube.factors, tuple(cells), tuple(personas), tuple(configurations), tuple(models)
    )


def _once(cube: Cube, p: int) -> list[int]:
    """Configurations in which a persona's cell repeats no other."""
    return [int(c) for c in np.flatnonzero(~cube.duplicate[p])]


def _letters(cube: Cube, model: int) -> dict[tuple[int, int], LetterAccuracy]:
    """By persona and configuration, the cells whose final letters were read."""
    found = cube.final_letters(model)
    if found is None:
        return {}
    answers = cube.answers(model)
    read = ~np.isnan(found).all(axis=(2, 3))
    return {
        (int(p), int(c)): letter_accuracy(answers.correct[p, c], answers.present[p, c], found[p, c])
        for p, c in np.argwhere(read)
    }


def _together(*cells: LetterAccuracy | None) -> FromLetters | None:
    """Means over cells; None if no letter was read in any."""
    there = [cell for cell in cells if cell is not None and cell.letters]
    if not there:
        return None
    ratios = [cell.variance_ratio for cell in there if not cell.reason]
    n = len(there)
    return FromLetters(
        accuracy=100.0 * math.fsum(cell.from_letters for cell in there) / n,
        sampled=100.0 * math.fsum(cell.sampled for cell in there) / n,
        letter_sd=100.0 * math.sqrt(math.fsum(cell.letter_variance for cell in there)) / n,
        variance_ratio=math.fsum(ratios) / len(ratios) if ratios else math.nan,
        cells=n,
        letters=sum(cell.letters for cell in there),
        reason="" if ratios else there[0].reason,
    )


def _cells(cube: Cube, model: int) -> tuple[Floats, Floats]:
    """Accuracy, upper bound and accuracy of read answers, (3, P, K), and answers, (P, K)."""
    answers = cube.answers(model)
    bounds = accuracy_bounds(answers.correct, answers.outcome)
    each = np.stack([bounds.low, bounds.high, bounds.read_only])
    return 100.0 * _mean(each, axis=-1), bounds.present.sum(axis=-1)


def _mean(values: Floats, axis: int) -> Floats:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a mean of nothing is nan, as it should be
        return np.asarray(np.nanmean(values, axis=axis))


def _row(
    three: Floats,
    answers: int,
    wanted: int,
    *,
    model: str,
    persona: str | None = None,
    levels: tuple[Any, ...] | None = None,
    is_control: bool | None = None,
    duplicate: bool | None = None,
    letters: FromLetters | None = None,
) -> AccuracyRow:
    low, high, read = (float(v) for v in three)
    if answers == 0:
        reason = "no answers yet"
    elif math.isnan(read):
        reason = "no answer could be read, so read_only is undefined"
    else:
        reason = ""
    return AccuracyRow(
        model, persona, levels, is_control, duplicate, low, high, read, answers,
        wanted - answers, reason, letters,
    )  # fmt: skip
