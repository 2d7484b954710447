"""IA, IO and IQ: overall, per factor and per domain, with what they rest on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from nongrata.analysis.cube import Answers, Cube, read_cube
from nongrata.analysis.result import Result, number
from nongrata.analysis.selection import (
    LeftOut,
    Personas,
    Selection,
    exact_probabilities,
    select,
)
from nongrata.errors import NongrataError
from nongrata.stats.accuracy import Array, Bools, complete_accuracy
from nongrata.stats.figure import Figure, mean_figure
from nongrata.stats.ia import IA, expected_ia_of_one_draw, instability_of_accuracy
from nongrata.stats.io import IO, instability_of_outcome
from nongrata.stats.iq import IQ, instability_of_questions
from nongrata.stats.settings import Settings, one_factor_settings

if TYPE_CHECKING:
    import polars as pl
    import xarray as xr

Value = Literal["draws", "theta"]
Scope = Literal["overall", "factor", "domain"]
SCOPES: tuple[Scope, ...] = ("overall", "factor", "domain")
FIGURES = (
    *("ia", "io", "iq", "rank_shift", "expected_rank_shift", "relative_rank_shift", "spread"),
    "ia_of_one_draw",
)


@dataclass(frozen=True, slots=True)
class InstabilityRow:
    """The three figures for one model and one scope.

    Parameters
    ----------
    model, scope, name
        Which; `name` is the factor or the domain, empty overall.
    compared
        Configurations compared with one another: all of them, or the levels of the factor.
    settings
        Settings of the other factors over which a per-factor figure is averaged; 1 elsewhere.
    ia
        Instability of accuracy, in points.
    io
        Instability of outcome (a reconstruction), ranks times points.
    iq
        Instability of questions, in per cent.
    rank_shift, expected_rank_shift, relative_rank_shift
        Rank part of IO: mean shift in ranks, what random ranks would give, and their ratio.
    spread
        Spread part of IO: standard deviation over labels of accuracy, in points.
    ia_of_one_draw
        For exact probabilities only: what IA is expected to be for one draw per cell.
    iq_curve
        IQ(1), IQ(2), ...: at equal numbers of configurations, which is what may be compared.
    personas, configurations, questions, answers, replicates
        What the figures rest on.
    fewest_questions_ia, fewest_questions_io, fewest_questions_iq
        Smallest number of questions behind any term, which missing answers lower.
    personas_iq
        Personas behind IQ: those with a question right in any configuration.
    """

    model: str
    scope: Scope
    name: str
    compared: int
    settings: int
    ia: Figure
    io: Figure
    iq: Figure
    rank_shift: Figure
    expected_rank_shift: Figure
    relative_rank_shift: Figure
    spread: Figure
    ia_of_one_draw: Figure
    iq_curve: tuple[float, ...]
    personas: int
    configurations: int
    questions: int
    answers: int
    replicates: int
    fewest_questions_ia: int
    fewest_questions_io: int
    fewest_questions_iq: int
    personas_iq: int

    def iq_at(self, m: int) -> Figure:
        """IQ(m), in per cent."""
        if 1 <= m <= len(self.iq_curve):
            return Figure(self.iq_curve[m - 1])
        return Figure.undefined(self.iq.reason or f"fewer than {m} configurations are compared")


@dataclass(frozen=True, slots=True)
class ModelLeftOut:
    """What the figures of one model do not rest on."""

    model: str
    left_out: tuple[LeftOut, ...]


@dataclass(frozen=True, slots=True)
class Instability(Result):
    """IA, IO and IQ of every model.

    Parameters
    ----------
    persona_set
        ``"labels"``, ``"with_controls"`` or ``"as_preprint"``.
    value
        ``"draws"`` or ``"theta"``: what the figures are computed from. Never compare the two.
    rows
        One per model and scope.
    left_out
        Personas and configurations that are not in them, and why.
    """

    persona_set: Personas
    value: Value
    rows: tuple[InstabilityRow, ...]
    left_out: tuple[ModelLeftOut, ...]
    kind: Literal["instability"] = "instability"

    def of(self, model: str, scope: Scope | None = None) -> tuple[InstabilityRow, ...]:
        """The rows of one model."""
        return tuple(r for r in self.rows if r.model == model and scope in (None, r.scope))

    def __str__(self) -> str:
        parts = [
            f"{r.model}: IA {number(r.ia)} points, IO {number(r.io)}, IQ {number(r.iq)}%"
            for r in self.rows
            if r.scope == "overall"
        ]
        return f"instability ({self.persona_set}, {self.value}): " + "; ".join(parts)

    def to_dataframe(self) -> pl.DataFrame:
        """One row per model and scope; an undefined figure is null beside its reason."""
        import polars as pl

        rows = []
        for row in self.rows:
            record: dict[str, Any] = {"persona_set": self.persona_set, "value": self.value}
            for field in InstabilityRow.__dataclass_fields__:
                value = getattr(row, field)
                if isinstance(value, Figure):
                    record[field] = value.value if value.defined else None
                    record[f"{field}_reason"] = value.reason or None
                else:
                    record[field] = list(value) if isinstance(value, tuple) else value
            rows.append(record)
        types: dict[str, Any] = dict.fromkeys(FIGURES, pl.Float64)
        types |= {f"{name}_reason": pl.String for name in FIGURES}
        types["iq_curve"] = pl.List(pl.Float64)
        return pl.DataFrame(rows, schema_overrides=types, infer_schema_length=None)


def instability(
    responses: xr.Dataset,
    personas: Personas = "labels",
    *,
    value: Value = "draws",
    scopes: tuple[Scope, ...] = SCOPES,
) -> Instability:
    """IA, IO and IQ per model: overall, per factor (others held), per domain.

    Figures are computed for each replicate and averaged; replicates are not configurations.

    Parameters
    ----------
    responses
        A Dataset of responses.
    personas
        ``"labels"``: without controls and structural duplicates; ``"with_controls"``: without
        duplicates; ``"as_preprint"``: every persona and configuration, duplicates as well.
    value
        ``"draws"``: the answers given; ``"theta"``: exact probabilities, which every cell of the
        selection must have.
    scopes
        Which of overall, per factor and per domain.

    Raises
    ------
    NongrataError
        If probabilities are asked for and a cell has none.
    """
    cube = read_cube(responses)
    if value not in ("draws", "theta"):
        raise NongrataError(
            f"unknown kind of value {value!r}", where="value", fix="use 'draws' or 'theta'"
        )
    rows: list[InstabilityRow] = []
    left_out: list[ModelLeftOut] = []
    for m, model in enumerate(cube.models):
        answers = cube.answers(m)
        there = answers.present
        if value == "theta":  # a cell with answers and no probabilities is refused, not left out
            there = there | ~np.isnan(answers.theta)[:, :, None]
        selection = select(cube, np.asarray(there.any(axis=(2, 3))), personas)
        left_out.append(ModelLeftOut(model, selection.left_out))
        samples = _samples(cube, answers, selection, value, model)
        rows.extend(_rows(cube, model, selection, samples, value, scopes))
    return Instability(personas, value, tuple(rows), tuple(left_out))


Sample = tuple[Array, Bools]
"""x and where it is present, both (P, K, Q): one replicate, or the probabilities."""


def _samples(
    cube: Cube, answers: Answers, selection: Selection, value: Value, model: str
) -> list[Sample]:
    cells = np.ix_(selection.personas, selection.configurations)
    if value == "draws":
        each = (
            (answers.correct[:, :, r], answers.present[:, :, r]) for r in range(cube.replicates)
        )
        samples = [(correct[cells], present[cells]) for correct, present in each]
        return [s for s in samples if s[1].any()] or samples[:1]
    return [exact_probabilities(cube, model, answers, selection)]


def _rows(
    cube: Cube,
    model: str,
    selection: Selection,
    samples: Sequence[Sample],
    value: Value,
    scopes: tuple[Scope, ...],
) -> list[InstabilityRow]:
    levels = cube.levels[selection.configurations]
    everything = slice(None)
    rows = []
    if "overall" in scopes:
        rows.append(_row(model, "overall", "", samples, everything, None, value))
    for f, factor in enumerate(cube.factors if "factor" in scopes else ()):
        settings = one_factor_settings(levels, f) if len(levels) else []
        rows.append(_row(model, "factor", factor, samples, everything, settings, value))
    for domain in cube.domains if "domain" in scopes else ():
        where = np.flatnonzero(cube.domain == domain)
        rows.append(_row(model, "domain", domain, samples, where, None, value))
    return rows


def _row(
    model: str,
    scope: Scope,
    name: str,
    samples: Sequence[Sample],
    questions: Any,
    settings: Settings | None,
    value: Value,
) -> InstabilityRow:
    parts = [(x[:, :, questions], there[:, :, questions]) for x, there in samples]
    personas, configurations, n_questions = parts[0][0].shape
    compared = configurations if settings is None else max(map(len, settings), default=0)
    used = 1 if settings is None else sum(len(group) > 1 for group in settings)
    if scope == "factor" and compared < 2:
        reason = "the factor has one level"
        ias = [IA(Figure.undefined(reason), 0)]
        ios, iqs, fewest_io = [IO.undefined(reason)], [IQ(Figure.undefined(reason), (), 0, 0)], 0
        one_draw = Figure.undefined(reason)
    else:
        ranked = [complete_accuracy(x, there) for x, there in parts]
        ias = [instability_of_accuracy(x, there, settings) for x, there in parts]
        ios = [instability_of_outcome(accuracy, settings) for accuracy, _ in ranked]
        iqs = [instability_of_questions(x, there, settings) for x, there in parts]
        fewest_io = min(int(n[n > 0].min()) if n.any() else 0 for _, n in ranked)
        one_draw = Figure.undefined("only where exact probabilities are used")
        if value == "theta":
            one_draw = expected_ia_of_one_draw(*parts[0], settings)
    curves = [iq.curve for iq in iqs if iq.figure.defined]
    return InstabilityRow(
        model=model,
        scope=scope,
        name=name,
        compared=compared,
        settings=used,
        ia=mean_figure(ia.figure for ia in ias),
        io=mean_figure(io.figure for io in ios),
        iq=mean_figure(iq.figure for iq in iqs),
        rank_shift=mean_figure(io.rank_shift for io in ios),
        expected_rank_shift=mean_figure(io.expected_rank_shift for io in ios),
        relative_rank_shift=mean_figure(io.relative_rank_shift for io in ios),
        spread=mean_figure(io.spread for io in ios),
        ia_of_one_draw=one_draw,
        iq_curve=tuple(float(np.mean(at_m)) for at_m in zip(*curves, strict=False)),
        personas=personas,
        configurations=configurations,
        questions=n_questions,
        answers=sum(int(np.count_nonzero(there)) for _, there in parts),
        replicates=len(parts),
        fewest_questions_ia=min(ia.fewest_questions for ia in ias),
        fewest_questions_io=fewest_io,
        fewest_questions_iq=min(iq.fewest_questions for iq in iqs),
        personas_iq=min(iq.personas for iq in iqs),
    )
