"""Each label against each control: how far apart, whether that matters, and in how many formats."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from nongrata.analysis.contrast_cells import (
    CellsOfControl,
    LabelCells,
    cells_of_controls,
    sampled_factors,
)
from nongrata.analysis.contrast_rows import (
    ContrastCurve,
    ControlContrasts,
    CurvePoint,
    LabelContrast,
    ModelContrasts,
)
from nongrata.analysis.cube import read_cube
from nongrata.analysis.model_data import ModelData, Resampling, each_model
from nongrata.analysis.one_blas_thread import one_blas_thread
from nongrata.analysis.result import Result, factor_columns
from nongrata.errors import NongrataError
from nongrata.stats.contrasts import Means, verdict
from nongrata.stats.random_levels import SampledMean

if TYPE_CHECKING:
    import polars as pl
    import xarray as xr

READ_IT = (
    "A contrast is the accuracy under a label less that under the control, in points, paired by "
    "question. It is a difference between two prompts for this model, on questions like these."
)


@dataclass(frozen=True, slots=True)
class Contrasts(Result):
    """Each label against each control.

    Parameters
    ----------
    smallest_effect
        The smallest difference that matters, in points.
    factors
        Names of the factors.
    draws, seed
        How tests and intervals drew at random.
    models
        One entry a model.
    """

    smallest_effect: float
    factors: tuple[str, ...]
    draws: int
    seed: int
    models: tuple[ModelContrasts, ...]
    read_it: str = READ_IT
    kind: Literal["contrasts"] = "contrasts"

    def of(self, model: str) -> ModelContrasts:
        """The contrasts of one model."""
        return next(each for each in self.models if each.model == model)

    def __str__(self) -> str:
        parts = []
        for model in self.models:
            for control in model.controls:
                verdicts = [label.verdict for label in control.labels]
                differ = sum(v.startswith("differs") for v in verdicts)
                parts.append(
                    f"{model.model} against {control.control}: {differ} of {len(verdicts)} labels "
                    f"differ, {verdicts.count('equivalent')} are equivalent"
                )
            if model.reason:
                parts.append(f"{model.model}: {model.reason}")
        return "; ".join(parts)

    def to_dataframe(self) -> pl.DataFrame:
        """One row per model, control and label."""
        import polars as pl

        rows = [
            {
                "model": model.model,
                "control": control.control,
                **{n: getattr(label, n) for n in _PLAIN},
                **{f"sample_{n}": getattr(label.as_sample, n) for n in _SAMPLE},
                **{n: getattr(label.curve, n) for n in _CURVE},
            }
            for model in self.models
            for control in model.controls
            for label in control.labels
        ]
        texts = ("model", "control", "persona", "verdict", "reason", "sample_reason")
        counts = ("configurations", "fewest_questions", "above", "below")
        names = ["model", "control", *_PLAIN, *(f"sample_{n}" for n in _SAMPLE), *_CURVE]
        schema: dict[str, Any] = {
            n: pl.String if n in texts else pl.Int64 if n in counts else pl.Float64 for n in names
        }
        numbers = [n for n, kind in schema.items() if kind == pl.Float64]
        return pl.DataFrame(rows, schema=schema).with_columns(pl.col(numbers).fill_nan(None))

    def curves_to_dataframe(self) -> pl.DataFrame:
        """One row per model, control, label and configuration, from lowest to highest."""
        import polars as pl

        names = [n for n in CurvePoint.__dataclass_fields__ if n != "configuration"]
        first = ("model", "control", "persona")
        columns = factor_columns(self.factors, (*first, *names))
        rows = [
            {
                **dict(zip(first, (model.model, control.control, label.persona), strict=True)),
                **dict(zip(columns, model.configurations[point.configuration], strict=True)),
                **{n: getattr(point, n) for n in names},
            }
            for model in self.models
            for control in model.controls
            for label in control.labels
            for point in label.curve.points
        ]
        types: dict[str, Any] = dict.fromkeys(names, pl.Float64)
        if not rows:
            return pl.DataFrame(schema={**dict.fromkeys((*first, *columns), pl.String), **types})
        frame = pl.DataFrame(rows, schema_overrides=types, infer_schema_length=None)
        return frame.with_columns(pl.col(names).fill_nan(None))


_PLAIN = [n for n in LabelContrast.__dataclass_fields__ if n not in ("as_sample", "curve")]
_SAMPLE = list(SampledMean.__dataclass_fields__)
_CURVE = [n for n in ContrastCurve.__dataclass_fields__ if n != "points"]


@one_blas_thread()
def contrasts(
    responses: xr.Dataset,
    *,
    smallest_effect: float = 1.0,
    fixed: Sequence[str] | None = None,
    resampling: Resampling | None = None,
) -> Contrasts:
    """Compare each label with each control, in each configuration and averaged over them.

    Parameters
    ----------
    responses
        A Dataset of responses; controls are the personas with ``is_control``.
    smallest_effect
        The smallest difference that matters, in points. A label is equivalent to a control if the
        interval of the difference, simultaneous over labels, is inside plus or minus this.
    fixed
        Factors that are not a sample of levels: their levels are the only ones of interest. None:
        the factors that change the temperature.
    resampling
        Numbers of draws, and the seed.

    Returns
    -------
    Contrasts
        Differences in points.
    """
    cube, how = read_cube(responses), resampling or Resampling()
    return Contrasts(
        smallest_effect, cube.factors, how.draws, how.seed,
        tuple(contrasts_of(data, smallest_effect, fixed) for data in each_model(cube, how)),
    )  # fmt: skip


def contrasts_of(
    data: ModelData, smallest_effect: float = 1.0, fixed: Sequence[str] | None = None
) -> ModelContrasts:
    """The contrasts of one model; parameters are those of `contrasts`."""
    if not smallest_effect > 0 or not math.isfinite(smallest_effect):
        raise NongrataError(
            f"the smallest effect of interest cannot be {smallest_effect}",
            where="smallest_effect",
            fix="give a number of points above 0",
        )
    cube, selection = data.cube, data.selection("labels")
    sampled = sampled_factors(cube, fixed)
    reason = ""
    if not len(data.controls):
        reason = "the study has no control"
    elif not len(selection.personas):
        reason = "no label is left to compare with a control"
    cells = () if reason else cells_of_controls(data, selection, sampled)
    kept = selection.configurations
    return ModelContrasts(
        model=data.model,
        controls=tuple(_control(data, each, smallest_effect) for each in cells),
        configurations=tuple(cube.configuration(int(c)) for c in kept),
        sampled=tuple(cube.factors[f] for f in sampled),
        fixed=tuple(name for f, name in enumerate(cube.factors) if f not in sampled),
        questions=data.units.questions,
        clusters=len(data.units),
        df=data.units.degrees_of_freedom,
        left_out=tuple(left for left in selection.left_out if left.why != "a control, not a label"),
        reason=reason,
    )


def _control(data: ModelData, cells: CellsOfControl, smallest: float) -> ControlContrasts:
    names = data.cube.personas
    return ControlContrasts(
        control=names[cells.control],
        distinct_cells=cells.distinct_cells,
        critical=cells.means.critical,
        labels=tuple(
            _label(names[label.persona], label, cells.means, m, smallest)
            for m, label in enumerate(cells.labels)
        ),
    )


def _label(name: str, cells: LabelCells, means: Means, m: int, smallest: float) -> LabelContrast:
    numbers = {
        field: 100.0 * float(getattr(means, field)[m])
        for field in ("estimate", "se", "low", "high", "low_together", "high_together")
    }
    p = {f: float(getattr(means, f)[m]) for f in ("p", "p_together", "p_step_down")}
    return LabelContrast(
        name, **numbers, **p,
        verdict=verdict(numbers["low_together"], numbers["high_together"], smallest),
        configurations=int((cells.questions > 0).sum()),
        fewest_questions=min((n for n in cells.questions.tolist() if n), default=0),
        design_effect=cells.design_effect,
        as_sample=cells.as_sample.times(100.0),
        curve=_curve(cells, means.df),
        reason=_reason(numbers["estimate"], numbers["se"], means.df),
    )  # fmt: skip


def _reason(estimate: float, se: float, df: int) -> str:
    if math.isnan(estimate):
        return "no question was answered under both"
    if df < 1 or math.isnan(se):
        return "one cluster of questions has no spread to take an error from"
    if se > 0:
        return ""
    if estimate == 0:
        return "every question was answered alike under both, so there is no spread"
    return "every question differs by the same amount, so there is no spread"


def _curve(cells: LabelCells, df: int) -> ContrastCurve:
    from scipy.special import stdtrit

    curve = cells.curve
    estimate, se = 100 * curve.estimate, 100 * curve.se
    alone = float(stdtrit(max(df, 1), 0.975))
    errors = [e if e > 0 else math.nan for e in se.tolist()]
    order = sorted(
        (c for c, value in enumerate(estimate.tolist()) if not math.isnan(value)),
        key=lambda c: (estimate[c], c),
    )
    points = []
    for c in order:
        at, half, together = float(estimate[c]), alone * errors[c], curve.critical * errors[c]
        points.append(
            CurvePoint(c, at, float(se[c]), at - half, at + half, at - together, at + together)
        )
    share = 100 / len(points) if points else math.nan
    return ContrastCurve(
        median=100 * curve.median,
        positive=share * sum(point.estimate > 0 for point in points),
        negative=share * sum(point.estimate < 0 for point in points),
        above=sum(point.low_together > 0 for point in points),
        below=sum(point.high_together < 0 for point in points),
        p_median=cells.p_median,
        p_median_together=cells.p_median_together,
        p_sign=cells.p_sign,
        p_sign_together=cells.p_sign_together,
        points=tuple(points),
    )
