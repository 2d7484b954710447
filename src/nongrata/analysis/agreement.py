"""Agreement of configurations on the same questions: right or not, and the option chosen."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from nongrata.analysis.agreement_figures import Sample, Study, figures_of, samples_of
from nongrata.analysis.agreement_rows import (
    About,
    AgreementRow,
    ModelAgreement,
    TotalAgreement,
    Unread,
)
from nongrata.analysis.cube import read_cube
from nongrata.analysis.estimated import Estimated
from nongrata.analysis.model_data import ModelData, Resampling, each_model
from nongrata.analysis.one_blas_thread import one_blas_thread
from nongrata.analysis.result import Result, number
from nongrata.analysis.selection import Personas
from nongrata.errors import NongrataError
from nongrata.stats.figure import Figure, mean_figure
from nongrata.stats.iq_and_kappa import Link, iq_against_kappa
from nongrata.stats.settings import one_factor_settings

if TYPE_CHECKING:
    import polars as pl
    import xarray as xr

READ_IT = (
    "All of these depend on how many configurations give which answer, not on which do: dealing "
    "the configurations' answers out anew within each question changes none of them (nor IQ). So "
    "by themselves they cannot tell an effect of configurations from chance in drawn answers."
)
"""What must be said beside these figures."""


@dataclass(frozen=True, slots=True)
class Agreement(Result):
    """Agreement between configurations, for every model.

    Parameters
    ----------
    persona_set
        ``"labels"``, ``"with_controls"`` or ``"as_preprint"``.
    unread
        What became of unread answers where the option is concerned: left out, or a category of
        their own.
    models
        One each.
    read_it
        What must be said beside the figures.
    """

    persona_set: Personas
    unread: Unread
    models: tuple[ModelAgreement, ...]
    read_it: str = READ_IT
    kind: Literal["agreement"] = "agreement"

    def of(self, model: str) -> ModelAgreement:
        """The agreement of one model."""
        return next(m for m in self.models if m.model == model)

    def __str__(self) -> str:
        parts = []
        for m in self.models:
            rows = {r.about: r for r in m.rows if r.scope == "labels"}
            said = [
                f"{about} {number(r.raw.estimate, 1)}% of pairs, kappa {number(r.fleiss.estimate)}"
                for about, r in rows.items()
            ]
            parts.append(f"{m.model}: {'; '.join(said)}")
        return "agreement of configurations: " + "; ".join(parts)

    def to_dataframe(self) -> pl.DataFrame:
        """One row per model, subject, scope and number of configurations of total agreement."""
        import polars as pl

        rows = []
        for m in self.models:
            for row in m.rows:
                record: dict[str, Any] = {"model": m.model}
                for name in ("about", "scope", "name", "compared", "settings", "unread"):
                    record[name] = getattr(row, name)
                for name in ("raw", "fleiss", "gwet", "alpha"):
                    record |= getattr(row, name).record(name)
                record["fleiss_interval_reason"] = _without_interval(row)
                for name in ("conger", "light"):
                    figure = getattr(row, name)
                    record[name] = figure.value if figure.defined else None
                for entry in row.total or (TotalAgreement(0, Estimated.undefined("one")),):
                    total = {"total_of": entry.of or None, **entry.share.record("total")}
                    rows.append({**record, **total})
        types: dict[str, Any] = {"conger": pl.Float64, "light": pl.Float64, "total_of": pl.Int64}
        for name in ("raw", "fleiss", "gwet", "alpha", "total"):
            types |= {name + end: pl.Float64 for end in ("", "_se", "_low", "_high")}
            types[f"{name}_reason"] = pl.String
        types["fleiss_interval_reason"] = pl.String
        return pl.DataFrame(rows, schema_overrides=types, infer_schema_length=None)


def _without_interval(row: AgreementRow) -> str | None:
    """Why the ends of a row's kappa are null."""
    if not math.isnan(row.fleiss.low):
        return None
    if row.fleiss.estimate.defined and row.scope == "factor":
        return "kappa between the levels of a factor is a mean over settings, without an interval"
    return row.fleiss.estimate.reason or "resamples of the questions do not change it"


@one_blas_thread()
def agreement(
    responses: xr.Dataset,
    personas: Personas = "labels",
    *,
    unread: Unread = "left_out",
    resampling: Resampling | None = None,
) -> Agreement:
    """How far the configurations agree on the same questions, within labels.

    Drawn answers are compared, replicate by replicate, then averaged.

    Parameters
    ----------
    responses
        A Dataset of responses.
    personas
        As in `nongrata.analysis.instability`.
    unread
        Where the option chosen is concerned: ``"left_out"``, an answer that could not be read is
        no choice; ``"category"``, it is one more option. On correctness it is not right.
    resampling
        Numbers of draws, and the seed.
    """
    cube = read_cube(responses)
    parts = [agreement_of(data, personas, unread) for data in each_model(cube, resampling)]
    return Agreement(personas, unread, tuple(parts))


def agreement_of(
    data: ModelData, personas: Personas = "labels", unread: Unread = "left_out"
) -> ModelAgreement:
    """How far the configurations of one model agree.

    Parameters
    ----------
    data
        The model.
    personas, unread
        As in `agreement`.
    """
    if unread not in ("left_out", "category"):
        raise NongrataError(
            f"unknown way {unread!r} to take unread answers",
            where="unread",
            fix="use 'left_out' or 'category'",
        )
    found = data.selection(personas)
    kept = found.configurations
    settings = {
        factor: [g for g in one_factor_settings(data.cube.levels[kept], f) if len(g) > 1]
        for f, factor in enumerate(data.cube.factors)
    }
    settings = {factor: groups for factor, groups in settings.items() if groups}
    levels = sorted({min(map(len, groups)) for groups in settings.values()})
    fixed = levels[0] if levels else 0
    sizes = tuple(sorted({*levels, len(kept)} - {0, 1}))
    # an imported table may not say how many options there are, or know right and wrong only
    seen = int(data.answers.option.max(initial=0)) + 1
    categories = max(int(data.cube.n_options.max(initial=1)), seen)
    study = Study(data, found.personas, kept, settings, fixed, sizes, categories, unread)
    rows: list[AgreementRow] = []
    design_effect = Figure.undefined("no question has two answers")
    subjects: tuple[About, ...] = ("correctness", "option")
    if data.cube.dataset.attrs.get("options_are") == "correctness":
        subjects = ("correctness",)
    for about in subjects:
        of_subject, effect = figures_of(study, about)
        rows.extend(of_subject)
        if about == "correctness":
            design_effect = effect
    replicates = list(samples_of(study, "correctness"))
    return ModelAgreement(
        data.model,
        tuple(rows),
        fixed,
        _links(study, replicates),
        len(found.personas),
        len(kept),
        data.units.questions,
        len(data.units),
        len(replicates),
        design_effect,
        categories,
        found.left_out,
    )


def _links(study: Study, replicates: list[Sample]) -> tuple[Link, ...]:
    """IQ against kappa, averaged over replicates."""
    resampling = study.data.resampling
    each = [
        iq_against_kappa(
            sample.codes,
            sample.present,
            units=study.data.units,
            splits=resampling.splits,
            seed=(resampling.seed, 10, r),
        )
        for r, sample in enumerate(replicates)
    ]
    return tuple(
        Link(
            way=links[0].way,
            pearson=mean_figure(link.pearson for link in links),
            spearman=mean_figure(link.spearman for link in links),
            reliability_iq=mean_figure(link.reliability_iq for link in links),
            reliability_kappa=mean_figure(link.reliability_kappa for link in links),
            labels=links[0].labels,
            splits=sum(link.splits for link in links),
        )
        for links in zip(*each, strict=True)
    )
