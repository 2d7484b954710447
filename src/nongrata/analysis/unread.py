"""Answers that could not be read, taken three ways: wrong, right, or left out.

Unparsed, refused and truncated answers are there but unread. By default they are not correct. What
they might have been is not known, so figures stand beside two others: all of them right, and all of
them left out. For an accuracy the first two are bounds. For an instability, a rank or an
agreement they are not (a mixture of right and wrong may lie outside), but a conclusion that changes
between the three rests on how answers are read, not on what the model knows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from nongrata.analysis.cube import read_cube
from nongrata.analysis.instability import instability
from nongrata.analysis.result import Result, number
from nongrata.analysis.selection import select
from nongrata.errors import NongrataError
from nongrata.stats.accuracy import ANSWERED, FIRST_MISSING, accuracy
from nongrata.stats.figure import Figure

if TYPE_CHECKING:
    import polars as pl
    import xarray as xr

Unread = Literal["wrong", "right", "left_out"]
UNREAD: tuple[Unread, ...] = ("wrong", "right", "left_out")
_FIGURES = ("accuracy", "ia", "iq", "iq_of_two", "io", "rank_shift", "spread")


def take_unread(responses: xr.Dataset, unread: Unread) -> xr.Dataset:
    """The same responses, with unread answers taken as right, or left out.

    Any analysis of the result is that analysis under another reading of what could not be read.
    Of an exact probability theta with probability m that a label is drawn at all (``theta_read``),
    theta + (1 - m) is left if the rest is right, theta / m if the rest is left out.

    Parameters
    ----------
    responses
        A Dataset of responses.
    unread
        ``"wrong"`` (unchanged), ``"right"`` or ``"left_out"`` (missing, like an error).

    Raises
    ------
    NongrataError
        If `unread` is none of these, or probabilities are given without ``theta_read``.
    """
    if unread not in UNREAD:
        raise NongrataError(
            f"unknown way to take unread answers {unread!r}",
            where="unread",
            fix=f"use one of {', '.join(UNREAD)}",
        )
    if unread == "wrong":
        return responses
    outcome, option = responses["outcome"], responses["option"]
    not_read = (outcome > ANSWERED) & (outcome < FIRST_MISSING)
    changed = responses.copy()
    changed["theta"] = _theta(responses, unread)
    if unread == "right":
        gold = responses["answer"].astype(option.dtype)
        changed["option"] = option.where(~not_read, gold).astype(option.dtype)
        changed["outcome"] = outcome.where(~not_read, ANSWERED).astype(outcome.dtype)
    else:
        changed["outcome"] = outcome.where(~not_read, FIRST_MISSING).astype(outcome.dtype)
    return changed


def _theta(responses: xr.Dataset, unread: Unread) -> xr.DataArray:
    theta = responses["theta"]
    if np.isnan(theta.to_numpy()).all():
        return theta
    if "theta_read" not in responses.data_vars:
        raise NongrataError(
            "the responses hold probabilities, but not how probable a readable answer is",
            where="Dataset",
            fix="add the variable theta_read, or drop theta",
        )
    read = responses["theta_read"]
    if unread == "right":
        return (theta + (1 - read)).clip(0, 1).astype(theta.dtype)
    share = theta / read.where(read > 0)
    return share.clip(0, 1).astype(theta.dtype)


@dataclass(frozen=True, slots=True)
class UnreadRow:
    """The main figures of one model under one way to take unread answers.

    Parameters
    ----------
    model, unread
        Which.
    accuracy
        Mean over labels and configurations, in per cent.
    ia, iq, iq_of_two, io, rank_shift, spread
        As in `nongrata.analysis.instability`, overall, labels only: points, per cent, per cent,
        ranks x points, ranks, points.
    """

    model: str
    unread: Unread
    accuracy: Figure
    ia: Figure
    iq: Figure
    iq_of_two: Figure
    io: Figure
    rank_shift: Figure
    spread: Figure


@dataclass(frozen=True, slots=True)
class UnreadBounds(Result):
    """What the main figures would be if unread answers were wrong, right, or left out.

    Parameters
    ----------
    rows
        Three for each model that has unread answers.
    """

    rows: tuple[UnreadRow, ...]
    kind: Literal["unread_bounds"] = "unread_bounds"

    def of(self, model: str) -> tuple[UnreadRow, ...]:
        """The rows of one model; none where every answer was read."""
        return tuple(row for row in self.rows if row.model == model)

    def __str__(self) -> str:
        if not self.rows:
            return "every answer was read"
        return "; ".join(
            f"{row.model}, unread {row.unread.replace('_', ' ')}: accuracy "
            f"{number(row.accuracy, 1)}%, IA {number(row.ia)}, IQ {number(row.iq, 1)}%"
            for row in self.rows
        )

    def to_dataframe(self) -> pl.DataFrame:
        """One row per model and way; an undefined figure is null."""
        import polars as pl

        rows = [
            {"model": row.model, "unread": row.unread}
            | {name: _value(getattr(row, name)) for name in _FIGURES}
            for row in self.rows
        ]
        types: dict[str, pl.DataType | type[pl.DataType]] = {
            "model": pl.String,
            "unread": pl.String,
        }
        return pl.DataFrame(rows, schema=types | dict.fromkeys(_FIGURES, pl.Float64))


def _value(figure: Figure) -> float | None:
    return figure.value if figure.defined else None


def unread_bounds(responses: xr.Dataset) -> UnreadBounds:
    """The main figures with unread answers wrong, right, and left out.

    Parameters
    ----------
    responses
        A Dataset of responses.
    """
    outcome = responses["outcome"]
    not_read = (outcome > ANSWERED) & (outcome < FIRST_MISSING)
    dims = [dim for dim in not_read.dims if dim != "model"]
    some = [str(m) for m, any_ in zip(
        responses["model"].to_numpy(), not_read.any(dims).to_numpy(), strict=True
    ) if any_]  # fmt: skip
    rows: list[UnreadRow] = []
    for model in some:
        one = responses.sel(model=[model])
        rows.extend(_row(take_unread(_drawn(one), way), model, way) for way in UNREAD)
    return UnreadBounds(tuple(rows))


def _drawn(responses: xr.Dataset) -> xr.Dataset:
    """Without probabilities: these figures are those of the answers drawn."""
    import xarray as xr

    return responses.assign(theta=xr.full_like(responses["theta"], np.nan))


def _row(responses: xr.Dataset, model: str, unread: Unread) -> UnreadRow:
    found = instability(responses, scopes=("overall",)).of(model, "overall")[0]
    return UnreadRow(
        model=model,
        unread=unread,
        accuracy=_accuracy(responses),
        ia=found.ia,
        iq=found.iq,
        iq_of_two=found.iq_at(2),
        io=found.io,
        rank_shift=found.rank_shift,
        spread=found.spread,
    )


def _accuracy(responses: xr.Dataset) -> Figure:
    cube = read_cube(responses)
    answers = cube.answers(0)
    kept = select(cube, np.asarray(answers.present.any(axis=(2, 3))), "labels")
    cells = np.ix_(kept.personas, kept.configurations)
    each = accuracy(answers.correct[cells], answers.present[cells])
    value = float(np.nanmean(each)) if (~np.isnan(each)).any() else math.nan
    return Figure.undefined("no answers yet") if math.isnan(value) else Figure(100.0 * value)
