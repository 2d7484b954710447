"""What became of the requests, by persona and by configuration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from nongrata.analysis.cube import configuration_label, read_cube
from nongrata.analysis.result import Result, factor_columns
from nongrata.stats import outcomes as stats
from nongrata.stats.outcomes import OUTCOMES

if TYPE_CHECKING:
    import polars as pl
    import xarray as xr


@dataclass(frozen=True, slots=True)
class OutcomeRow:
    """Outcomes of one model, persona or configuration.

    Parameters
    ----------
    scope
        ``"model"``, ``"persona"`` or ``"configuration"``.
    persona, levels
        Which, where the scope has one.
    answered, unparsed, refused, truncated, error, not_obtained
        Numbers of answers.
    rates
        Shares in per cent, by the same names: the first five of what was attempted,
        ``not_obtained`` of all answers wanted; ``nan`` where there is nothing to share.
    """

    model: str
    scope: Literal["model", "persona", "configuration"]
    persona: str | None
    levels: tuple[Any, ...] | None
    answered: int
    unparsed: int
    refused: int
    truncated: int
    error: int
    not_obtained: int
    rates: dict[str, float]

    @property
    def wanted(self) -> int:
        """All answers the study wants here."""
        return sum(getattr(self, name) for name in OUTCOMES)

    @property
    def unread(self) -> int:
        """Answers that exist but could not be read: they count as not correct."""
        return self.unparsed + self.refused + self.truncated

    @property
    def missing(self) -> int:
        """Answers that do not exist: missing data, never wrong."""
        return self.error + self.not_obtained


@dataclass(frozen=True, slots=True)
class OutcomeRates(Result):
    """Outcome rates of models, personas and configurations."""

    factors: tuple[str, ...]
    rows: tuple[OutcomeRow, ...]
    kind: Literal["outcomes"] = "outcomes"

    def of(self, scope: Literal["model", "persona", "configuration"]) -> tuple[OutcomeRow, ...]:
        """The rows of one scope."""
        return tuple(row for row in self.rows if row.scope == scope)

    def __str__(self) -> str:
        models = self.of("model")
        wanted = sum(row.wanted for row in models)
        read = sum(row.answered for row in models)
        unread = sum(row.unread for row in models)
        missing = sum(row.missing for row in models)
        return f"outcomes of {wanted} answers: {read} read, {unread} not read, {missing} missing"

    def to_dataframe(self) -> pl.DataFrame:
        """One row per model, persona and configuration; rates in per cent."""
        import polars as pl

        fixed = (
            *("model", "scope", "persona", "configuration", *OUTCOMES),
            *(f"{name}_rate" for name in OUTCOMES),
        )
        names = factor_columns(self.factors, fixed)
        rows = []
        for row in self.rows:
            record: dict[str, Any] = {
                "model": row.model,
                "scope": row.scope,
                "persona": row.persona,
                "configuration": None if row.levels is None else configuration_label(row.levels),
                **{name: getattr(row, name) for name in OUTCOMES},
                **{f"{name}_rate": row.rates[name] for name in OUTCOMES},
            }
            levels = row.levels or (None,) * len(names)
            record.update(zip(names, levels, strict=True))
            rows.append(record)
        frame = pl.DataFrame(rows, infer_schema_length=None, strict=False)
        rates = [f"{name}_rate" for name in OUTCOMES]
        return frame.select([*fixed[:4], *names, *fixed[4:]]).with_columns(
            pl.col(rates).cast(pl.Float64).fill_nan(None)
        )


def outcome_rates(responses: xr.Dataset) -> OutcomeRates:
    """Outcome rates per model, persona and configuration, over all personas and controls.

    Parameters
    ----------
    responses
        A Dataset of responses.
    """
    cube = read_cube(responses)
    rows: list[OutcomeRow] = []
    for m, model in enumerate(cube.models):
        counts = stats.outcome_counts(cube.answers(m).outcome).sum(axis=2)
        rows.append(_row(counts.sum(axis=(0, 1)), model, "model"))
        rows.extend(
            _row(counts[p].sum(axis=0), model, "persona", persona=persona)
            for p, persona in enumerate(cube.personas)
        )
        rows.extend(
            _row(counts[:, c].sum(axis=0), model, "configuration", levels=cube.configuration(c))
            for c in range(len(cube.levels))
        )
    return OutcomeRates(cube.factors, tuple(rows))


def _row(
    counts: NDArray[np.int64],
    model: str,
    scope: Literal["model", "persona", "configuration"],
    *,
    persona: str | None = None,
    levels: tuple[Any, ...] | None = None,
) -> OutcomeRow:
    rates: list[float] = (100.0 * stats.outcome_rates(counts)).tolist()
    numbers: dict[str, int] = dict(zip(OUTCOMES, counts.tolist(), strict=True))
    return OutcomeRow(
        model=model,
        scope=scope,
        persona=persona,
        levels=levels,
        rates=dict(zip(OUTCOMES, rates, strict=True)),
        **numbers,
    )
