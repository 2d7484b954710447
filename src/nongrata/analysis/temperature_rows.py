"""Exact accuracy over temperature: what the curves of a run consist of, and their table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from nongrata.analysis.estimated import Estimated
from nongrata.analysis.result import Result, factor_columns, plain
from nongrata.errors import NongrataError
from nongrata.stats.figure import Figure

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, slots=True)
class TemperaturePoint:
    """All labels of one setting at one temperature.

    Parameters
    ----------
    temperature
        The temperature.
    studied
        Whether the study has this setting at this temperature; else it is computed only.
    accuracy
        Mean over labels, controls apart, in per cent, and its 95% interval over questions. An
        answer that is no label is wrong.
    unreadable
        Mean over labels of the probability that no label is answered, in per cent.
    error
        In points: `accuracy` and `unreadable` are off by no more than this, because the engine
        returned the most probable tokens only. 0: exact.
    largest_error
        The same for any single label and question, in points.
    """

    temperature: float
    studied: bool
    accuracy: Estimated
    unreadable: Figure
    error: Figure
    largest_error: Figure


@dataclass(frozen=True, slots=True)
class LabelCurve:
    """One label or control of one setting; entries in the order of the curve's points.

    Parameters
    ----------
    persona, control
        Its name, and whether it is a control.
    questions
        Questions it has answers to; the figures are means over them.
    duplicate
        Whether it sends in this setting what it sends in an earlier one.
    accuracy, unreadable
        In per cent; ``nan`` where unseen tokens leave the temperature open.
    error
        In points: no figure of this label is off by more because of unseen tokens.
    """

    persona: str
    control: bool
    questions: int
    duplicate: bool
    accuracy: tuple[float, ...]
    unreadable: tuple[float, ...]
    error: float


@dataclass(frozen=True, slots=True)
class TemperatureCurve:
    """One setting of the factors that do not set the temperature.

    Parameters
    ----------
    levels
        Its levels, in the order of `TemperatureCurves.factors`.
    reading
        ``"first_token"`` or ``"cloze"``.
    top_k, top_p, min_p
        Which tokens are left out above temperature 0; 0, 1 and 0: none.
    labels
        Labels averaged, controls apart.
    questions, fewest_questions, clusters
        Questions that any of them answered, the fewest that one of them did, and the clusters of
        the former.
    duplicate
        Whether all labels send in this setting what they send in an earlier one.
    points
        One for each temperature.
    by_label
        Labels and controls with any answer, in the study's order.
    """

    levels: tuple[str, ...]
    reading: str
    top_k: int
    top_p: float
    min_p: float
    labels: int
    questions: int
    fewest_questions: int
    clusters: int
    duplicate: bool
    points: tuple[TemperaturePoint, ...]
    by_label: tuple[LabelCurve, ...]


@dataclass(frozen=True, slots=True)
class SettingWithout:
    """A setting that has no curve.

    Parameters
    ----------
    levels
        In the order of `TemperatureCurves.factors`.
    reason
        Why, as a clause.
    """

    levels: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class ModelTemperatures:
    """The curves of one model.

    Parameters
    ----------
    model
        Its name.
    curves
        In the order of the study's configurations.
    without
        Settings that have none.
    """

    model: str
    curves: tuple[TemperatureCurve, ...]
    without: tuple[SettingWithout, ...]


@dataclass(frozen=True, slots=True)
class TemperatureCurves(Result):
    """Exact accuracy over a grid of temperatures, from distributions at temperature 1.

    Parameters
    ----------
    reason
        Why there are no curves; empty where there are.
    set_by
        Factors that set the temperature.
    factors
        The others: a setting is a level of each.
    temperatures
        The grid, the study's own among them.
    studied
        The study's own temperatures.
    models
        One for each model; none if the question does not arise.
    """

    reason: str
    set_by: tuple[str, ...] = ()
    factors: tuple[str, ...] = ()
    temperatures: tuple[float, ...] = ()
    studied: tuple[float, ...] = ()
    models: tuple[ModelTemperatures, ...] = ()
    kind: Literal["temperature_curves"] = "temperature_curves"

    def of(self, model: str) -> ModelTemperatures:
        """The curves of one model."""
        for part in self.models:
            if part.model == model:
                return part
        raise NongrataError(
            f"there is no model {model!r}",
            where="temperature_curves",
            fix=f"use one of {', '.join(part.model for part in self.models)}",
        )

    def __str__(self) -> str:
        if self.reason:
            return f"no curves over temperature: {self.reason}"
        curves = sum(len(part.curves) for part in self.models)
        low, high = self.temperatures[0], self.temperatures[-1]
        return (
            f"{curves} curves of exact accuracy over {len(self.temperatures)} temperatures "
            f"from {low:g} to {high:g}"
        )

    def to_dataframe(self) -> pl.DataFrame:
        """One row per model, setting, temperature and label; persona null: mean over labels."""
        import polars as pl

        taken = ("model", *_TEXT, *_SAMPLING, *_NUMBERS, *_COUNTS, *_FLAGS)
        names = factor_columns(self.factors, taken)
        schema: dict[str, Any] = {
            **dict.fromkeys(("model", *names, *_TEXT), pl.String()),
            **dict.fromkeys(_FLAGS, pl.Boolean()),
            **dict.fromkeys(_COUNTS, pl.Int64()),
            **dict.fromkeys((*_SAMPLING, *_NUMBERS), pl.Float64()),
        }
        rows = [
            {"model": part.model, **dict(zip(names, curve.levels, strict=True)), **row}
            for part in self.models
            for curve in part.curves
            for row in _records(curve)
        ]
        return pl.DataFrame(rows, schema=schema)


_TEXT = ("reading", "persona", "accuracy_reason")
_FLAGS = ("control", "studied", "duplicate")
_COUNTS = ("questions", "labels", "top_k")
_SAMPLING = ("top_p", "min_p", "temperature")
_NUMBERS = ("accuracy", "accuracy_se", "accuracy_low", "accuracy_high", "unreadable", "error")


def _records(curve: TemperatureCurve) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    same = {name: getattr(curve, name) for name in ("reading", "top_k", "top_p", "min_p")}
    for t, point in enumerate(curve.points):
        here = same | {"temperature": point.temperature, "studied": point.studied}
        rows.append(
            here
            | point.accuracy.record("accuracy")
            | {
                "labels": curve.labels,
                "questions": curve.questions,
                "duplicate": curve.duplicate,
                "unreadable": plain(point.unreadable.value),
                "error": plain(point.error.value),
            }
        )
        rows += [
            here
            | {
                "persona": label.persona,
                "control": label.control,
                "questions": label.questions,
                "duplicate": label.duplicate,
                "accuracy": plain(label.accuracy[t]),
                "unreadable": plain(label.unreadable[t]),
                "error": plain(label.error),
                "accuracy_reason": None if label.accuracy[t] == label.accuracy[t] else UNBOUNDED,
            }
            for label in curve.by_label
        ]
    return rows


UNBOUNDED = (
    "above temperature 1 unseen tokens can be bounded only if the model's number of tokens is known"
)
