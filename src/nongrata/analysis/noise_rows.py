"""What `noise` says about each model: one row overall, one for each factor and domain."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from nongrata.analysis.instability import ModelLeftOut, Scope, Value
from nongrata.analysis.result import Result, number
from nongrata.analysis.selection import Personas
from nongrata.stats.figure import Figure

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure with its uncertainty over questions.

    Parameters
    ----------
    figure
        The estimate.
    se
        Its standard error; ``nan`` where the figure is undefined.
    low, high
        95% interval; ``nan`` where the figure is undefined.
    """

    figure: Figure
    se: float
    low: float
    high: float

    @classmethod
    def undefined(cls, reason: str) -> Estimate:
        """No estimate, because of `reason`."""
        nan = float("nan")
        return cls(Figure.undefined(reason), nan, nan, nan)

    @classmethod
    def around(cls, value: float, se: float, width: float) -> Estimate:
        """Value +- width x se."""
        return cls(Figure(value), se, value - width * se, value + width * se)


@dataclass(frozen=True, slots=True)
class IQAt:
    """IQ with m configurations; all in per cent.

    Parameters
    ----------
    m
        Number of configurations.
    iq
        IQ(m).
    same_configuration
        Floor: what m answers to one and the same configuration would give.
    excess
        IQ(m) less that floor.
    """

    m: int
    iq: Estimate
    same_configuration: Figure
    excess: Estimate


@dataclass(frozen=True, slots=True)
class NoiseRow:
    """Instability beside what noise alone would give.

    Parameters
    ----------
    model, scope, name
        Which; `name` is the factor or the domain, empty overall.
    compared, settings
        Configurations compared with one another, and settings of the other factors averaged over.
    ia
        Instability of accuracy, in points, as in `InstabilityRow`.
    rerun_floor, exchangeability_floor, equal_accuracy_floor
        What IA would be on average, in points: if each configuration were only asked again; if the
        configurations could change places within any question; if all had the same accuracy.
    over_exchangeability, over_equal_accuracy
        IA less the floor, in points.
    squared_difference
        Mean squared true difference between configurations, noise taken away, in squared points;
        negative where the differences seen are smaller than noise makes them on average.
    typical_difference
        The root of `squared_difference` with its sign, in points, for reading.
    p_exchangeability, p_equal_accuracy
        One-sided p values of IA against the two floors.
    cochran
        Cochran's Q summed over personas (and settings).
    p_cochran
        Its p value, for exchangeability; it needs no random numbers and can be very small.
    iq
        IQ at m = 2 and at m = `compared`.
    iq_contrast, p_iq_contrast
        For a factor: its IQ less that of as many configurations taken at random, in per cent, and
        the two-sided p value if all configurations could change places within a question.
    personas, configurations, questions, clusters, replicates
        What the row rests on.
    design_effect
        Variance of differences of accuracy between any two configurations, over what it would be,
        were questions independent and not stratified.
    """

    model: str
    scope: Scope
    name: str
    compared: int
    settings: int
    ia: Figure
    rerun_floor: Figure
    exchangeability_floor: Figure
    equal_accuracy_floor: Figure
    over_exchangeability: Estimate
    over_equal_accuracy: Estimate
    squared_difference: Estimate
    typical_difference: Figure
    p_exchangeability: Figure
    p_equal_accuracy: Figure
    cochran: Figure
    p_cochran: Figure
    iq: tuple[IQAt, ...]
    iq_contrast: Figure
    p_iq_contrast: Figure
    personas: int
    configurations: int
    questions: int
    clusters: int
    replicates: int
    design_effect: Figure

    def iq_at(self, m: int) -> IQAt | None:
        """IQ at m configurations, if the row has it."""
        return next((at for at in self.iq if at.m == m), None)


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """IQ(m) over all configurations; all in per cent.

    Parameters
    ----------
    m
        Number of configurations.
    iq, low, high
        IQ(m) and its 95% interval; ends are ``nan`` where IQ(m) is 0 or 100: nothing there tells
        how sure that is.
    same_configuration
        Floor: what m answers to one and the same configuration would give.
    """

    m: int
    iq: float
    low: float
    high: float
    same_configuration: Figure


@dataclass(frozen=True, slots=True)
class PersonaNoise:
    """Cochran's Q of one persona over all configurations.

    Parameters
    ----------
    persona
        Its name.
    cochran, p
        Q and its p value, on chi squared with `df` degrees of freedom.
    p_adjusted
        Holm's, over the personas of the model.
    """

    persona: str
    cochran: Figure
    df: int
    p: Figure
    p_adjusted: Figure


@dataclass(frozen=True, slots=True)
class ModelNoise:
    """All of one model.

    Parameters
    ----------
    model
        Its name.
    rows
        Overall, then factors, then domains.
    iq_curve
        IQ(1) ... IQ(K) over all configurations.
    by_persona
        Cochran's Q of each persona.
    """

    model: str
    rows: tuple[NoiseRow, ...]
    iq_curve: tuple[CurvePoint, ...]
    by_persona: tuple[PersonaNoise, ...]

    def of(self, scope: Scope) -> tuple[NoiseRow, ...]:
        """The rows of one scope."""
        return tuple(row for row in self.rows if row.scope == scope)


@dataclass(frozen=True, slots=True)
class Noise(Result):
    """Instability of every model beside its floors, with tests and intervals.

    Parameters
    ----------
    persona_set, value
        What was asked for.
    draws, seed
        Resamples and random exchanges, and what they start from.
    models, left_out
        The results, and what they do not rest on.
    """

    persona_set: Personas
    value: Value
    draws: int
    seed: int
    models: tuple[ModelNoise, ...]
    left_out: tuple[ModelLeftOut, ...]
    kind: Literal["noise"] = "noise"

    def __str__(self) -> str:
        said = []
        for model in self.models:
            row = model.rows[0]
            said.append(
                f"{model.model}: IA {number(row.ia)} points, "
                f"{number(row.exchangeability_floor)} from noise alone "
                f"(p {number(row.p_exchangeability, 4)})"
            )
        return "; ".join(said) or "no models"

    def of(self, model: str) -> ModelNoise:
        """The results of one model."""
        return next(m for m in self.models if m.model == model)

    def to_dataframe(self) -> pl.DataFrame:
        """One row for each model and scope; what is undefined is null."""
        import polars as pl

        return pl.DataFrame(
            [_flat(row) for model in self.models for row in model.rows], infer_schema_length=None
        )


_ESTIMATES: dict[str, Callable[[NoiseRow], Estimate]] = {
    "over_exchangeability": lambda row: row.over_exchangeability,
    "over_equal_accuracy": lambda row: row.over_equal_accuracy,
    "squared_difference": lambda row: row.squared_difference,
}
_FIGURES = (
    *("ia", "rerun_floor", "exchangeability_floor", "equal_accuracy_floor", "typical_difference"),
    *("p_exchangeability", "p_equal_accuracy", "cochran", "p_cochran"),
    *("iq_contrast", "p_iq_contrast", "design_effect"),
)
_PLAIN = (
    *("model", "scope", "name", "compared", "settings"),
    *("personas", "configurations", "questions", "clusters", "replicates"),
)


def _flat(row: NoiseRow) -> dict[str, object]:
    out: dict[str, object] = {name: getattr(row, name) for name in _PLAIN}
    out |= {name: _or_none(getattr(row, name)) for name in _FIGURES}
    estimates = {name: get(row) for name, get in _ESTIMATES.items()}
    ends = {"iq_2": row.iq_at(2), "iq_compared": row.iq_at(row.compared)}
    for name, at in ends.items():
        estimates[name] = at.iq if at else Estimate.undefined("too few configurations")
        estimates[f"{name}_excess"] = at.excess if at else estimates[name]
    for name, estimate in estimates.items():
        known = estimate.figure.defined
        out[name] = _or_none(estimate.figure)
        out[f"{name}_se"] = estimate.se if known else None
        out[f"{name}_low"] = estimate.low if known else None
        out[f"{name}_high"] = estimate.high if known else None
    return out


def _or_none(figure: Figure) -> float | None:
    return figure.value if figure.defined else None
