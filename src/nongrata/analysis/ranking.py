"""The order of the labels: what is certain about it, and what configurations do to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from nongrata.analysis.cube import read_cube
from nongrata.analysis.model_data import ModelData, Resampling, each_model
from nongrata.analysis.one_blas_thread import one_blas_thread
from nongrata.analysis.ranking_cells import (
    TIED,
    RankingCells,
    configuration_ranks,
    ranking_cells,
)
from nongrata.analysis.ranking_rows import (
    AgreementRow,
    AgreementScope,
    HalvesRow,
    LabelPair,
    LabelRank,
    ModelRanking,
    PairwiseOrder,
    RankingOfLabels,
    RankScope,
    label_records,
    rank_records,
)
from nongrata.analysis.result import Result, number
from nongrata.analysis.selection import Personas
from nongrata.errors import NongrataError
from nongrata.stats.accuracy import Floats
from nongrata.stats.corrected_correlation import (
    CorrectedCorrelation,
    corrected_correlation,
    noise_free_covariances,
)
from nongrata.stats.figure import Figure
from nongrata.stats.pairwise_order import (
    Differences,
    Noise,
    adjusted_by_holm,
    adjusted_by_steps,
    differences,
    multiplier_noise,
)
from nongrata.stats.rank_agreement import ordering, rank_agreement
from nongrata.stats.rank_sets import rank_sets
from nongrata.stats.settings import Settings, all_together, one_factor_settings
from nongrata.stats.split_agreement import (
    SameAndDifferent,
    agreement_of_halves,
    same_and_different,
)

if TYPE_CHECKING:
    import polars as pl
    import xarray as xr

ALPHA = 0.05
_SEED_OF_DRAWS, _SEED_OF_HALVES = 41, 42
_NO_SE = "there is no standard error"


@dataclass(frozen=True, slots=True)
class Ranking(Result):
    """Rankings of labels, how certain they are, and how well configurations agree on them.

    Parameters
    ----------
    persona_set
        ``"labels"``, ``"with_controls"`` or ``"as_preprint"``.
    models
        One for each model.
    """

    persona_set: Personas
    models: tuple[ModelRanking, ...]
    kind: Literal["ranking"] = "ranking"

    def of(self, model: str) -> ModelRanking:
        """The ranking of one model."""
        for part in self.models:
            if part.model == model:
                return part
        raise NongrataError(
            f"there is no model {model!r}",
            where="ranking",
            fix=f"use one of {', '.join(part.model for part in self.models)}",
        )

    def __str__(self) -> str:
        return "; ".join(
            f"{part.model}: {part.order.ordered} of {part.order.pairs} pairs of labels ordered, "
            f"{len(part.overall.possibly_best)} labels may be best; over {part.configurations} "
            f"configurations Kendall's W is {number(part.agreement[0].kendall_w)}, the "
            f"correlation without noise {number(part.halves[0].correlation)}"
            for part in self.models
        )

    def to_dataframe(self) -> pl.DataFrame:
        """One row per model, ranking and label."""
        import polars as pl

        text = dict.fromkeys(("model", "scope", "factor", "name", "persona"), pl.String())
        numbers = dict.fromkeys(("accuracy", "se", "rank"), pl.Float64())
        ranks = dict.fromkeys(("low", "high", "all_low", "all_high"), pl.Int64())
        flags = dict.fromkeys(("possibly_best", "possibly_worst"), pl.Boolean())
        schema: dict[str, Any] = {**text, **numbers, **ranks, **flags}
        return pl.DataFrame(
            [record for part in self.models for record in label_records(part)], schema=schema
        )

    def ranks_to_dataframe(self) -> pl.DataFrame:
        """One row per model, configuration and label: ``by_configuration`` as a table."""
        import polars as pl

        return pl.DataFrame(
            [record for part in self.models for record in rank_records(part)],
            infer_schema_length=None,
        )


@one_blas_thread()
def ranking(
    responses: xr.Dataset,
    personas: Personas = "labels",
    *,
    configurations: bool = False,
    resampling: Resampling | None = None,
) -> Ranking:
    """Rank sets, pairwise order, and agreement of rankings across configurations.

    Accuracies are the best estimates there are: exact probabilities where they are known, else
    means over replicates; on questions complete for all labels in a configuration.

    Parameters
    ----------
    responses
        A Dataset of responses.
    personas
        As in `instability`.
    configurations
        Also rank the labels in each single configuration.
    resampling
        Numbers of draws and splits, and the seed.
    """
    cube = read_cube(responses)
    parts = (
        ranking_of(data, personas, configurations=configurations)
        for data in each_model(cube, resampling)
    )
    return Ranking(personas, tuple(parts))


def ranking_of(
    data: ModelData, personas: Personas = "labels", *, configurations: bool = False
) -> ModelRanking:
    """One model's part of `ranking`.

    Parameters
    ----------
    data
        The model.
    personas, configurations
        As in `ranking`.
    """
    cells = ranking_cells(data, personas)
    P, K = cells.totals.shape[:2]
    seed, draws = data.resampling.seed, data.resampling.draws
    normals = np.random.default_rng((seed, _SEED_OF_DRAWS)).standard_normal((P, draws))
    names = [data.cube.personas[p] for p in cells.selection.personas]
    rankings = tuple(
        _ranking(cells, names, normals, *scope) for scope in _scopes(cells, configurations)
    )
    scopes = _agreement_scopes(cells)
    return ModelRanking(
        model=data.model,
        labels=P,
        configurations=K,
        questions=data.units.questions,
        clusters=len(data.units),
        design_effect=cells.design_effect if P * K else Figure.undefined("nothing is left"),
        splits=data.resampling.splits,
        draws=draws,
        rankings=rankings,
        factors=data.cube.factors,
        personas=tuple(names),
        by_configuration=configuration_ranks(cells),
        agreement=tuple(_agreement(cells, *scope) for scope in scopes),
        halves=_halves(cells, scopes),
        order=_order(cells, names, normals),
        left_out=cells.selection.left_out,
    )


_Scope = tuple[RankScope, str, str, NDArray[np.intp]]


def _scopes(cells: RankingCells, configurations: bool) -> list[_Scope]:
    cube, columns = cells.data.cube, cells.selection.configurations
    everything = np.arange(len(columns), dtype=np.intp)
    scopes: list[_Scope] = [("overall", "", "", everything)]
    levels = cube.levels[columns]
    for f, factor in enumerate(cube.factors):
        for i, level in enumerate(cube.factor_levels[f]):
            where = np.flatnonzero(levels[:, f] == i)
            if len(where) and len(cube.factor_levels[f]) > 1:
                scopes.append(("level", factor, str(level), where))
    if configurations:
        scopes += [
            ("configuration", "", cube.label(int(c)), everything[i : i + 1])
            for i, c in enumerate(columns)
        ]
    return scopes


def _differences(
    cells: RankingCells, normals: Floats, where: NDArray[np.intp]
) -> tuple[Differences, Floats, Noise]:
    mean, covariance = cells.mean_over(where)
    found = differences(mean, covariance, cells.units.degrees_of_freedom)
    noise = multiplier_noise(np.nan_to_num(covariance), normals)
    return found, np.sqrt(np.diag(covariance)), noise


def _ranking(
    cells: RankingCells,
    names: list[str],
    normals: Floats,
    scope: RankScope,
    factor: str,
    name: str,
    where: NDArray[np.intp],
) -> RankingOfLabels:
    P = len(names)
    if P == 0 or len(where) == 0:
        reason = "no label is left" if P == 0 else "no question is complete for all labels"
        return RankingOfLabels(scope, factor, name, len(where), 0, (), 0, 0, reason)
    found, se, noise = _differences(cells, normals, where)
    sets = rank_sets(found, noise, ALPHA)
    rank = ordering(found.estimate[:, None], TIED).ranks[:, 0]
    labels = tuple(
        LabelRank(
            persona=names[p],
            accuracy=100.0 * float(found.estimate[p]),
            se=_figure(100.0 * se[p], "one cluster of questions has no spread"),
            rank=float(rank[p]),
            low=int(sets.low[p]),
            high=int(sets.high[p]),
            all_low=int(sets.all_low[p]),
            all_high=int(sets.all_high[p]),
            possibly_best=bool(sets.possibly_best[p]),
            possibly_worst=bool(sets.possibly_worst[p]),
        )
        for p in range(P)
    )
    return RankingOfLabels(
        *(scope, factor, name, len(where), int(cells.questions[where].min()), labels),
        pairs=P * (P - 1) // 2,
        ordered=int(sets.above.sum()),
    )


def _order(cells: RankingCells, names: list[str], normals: Floats) -> PairwiseOrder:
    P, K = cells.totals.shape[:2]
    if P < 2 or K == 0:
        return PairwiseOrder(0, 0, 0, 0, ())
    found, _, noise = _differences(cells, normals, np.arange(K, dtype=np.intp))
    steps, holm, alone = adjusted_by_steps(found, noise), adjusted_by_holm(found), found.one_sided
    rows = []
    for j, k in zip(*np.triu_indices(P, 1), strict=True):
        a, b = (j, k) if found.difference[j, k] >= 0 else (k, j)
        rows.append(
            LabelPair(
                higher=names[a],
                lower=names[b],
                difference=100.0 * float(found.difference[a, b]),
                se=_figure(100.0 * found.se[a, b], _NO_SE),
                p=_figure(min(1.0, 2 * alone[a, b]), _NO_SE),
                p_steps=_figure(steps[a, b], _NO_SE),
                p_holm=_figure(holm[a, b], _NO_SE),
                ordered=bool(steps[a, b] <= ALPHA),
            )
        )
    rows.sort(key=lambda row: -row.difference)
    return PairwiseOrder(
        pairs=len(rows),
        ordered=sum(row.ordered for row in rows),
        ordered_holm=sum(row.p_holm.value <= ALPHA for row in rows),
        without_se=sum(not row.se.defined for row in rows),
        rows=tuple(rows),
    )


_AgreementScope = tuple[AgreementScope, str, Settings]


def _agreement_scopes(cells: RankingCells) -> list[_AgreementScope]:
    cube, columns = cells.data.cube, cells.selection.configurations
    scopes: list[_AgreementScope] = [("overall", "", all_together(len(columns)))]
    for f, factor in enumerate(cube.factors):
        settings = one_factor_settings(cube.levels[columns], f) if len(columns) else []
        scopes.append(("factor", factor, settings))
    return scopes


def _size(settings: Settings) -> tuple[int, int]:
    """Configurations compared, and settings averaged over."""
    return max(map(len, settings), default=0), sum(len(group) > 1 for group in settings)


def _agreement(
    cells: RankingCells, scope: AgreementScope, name: str, settings: Settings
) -> AgreementRow:
    compared, used = _size(settings)
    found = rank_agreement(cells.accuracy, settings, TIED)
    several = "a mean over settings has no test" if used > 1 else found.w.reason
    return AgreementRow(
        *(scope, name, compared, used),
        kendall_w=found.w,
        kendall_w_uncorrected=found.uncorrected,
        chi2=_figure(found.chi2, several),
        df=found.df,
        p=_figure(found.p, several),
        tau_b=found.tau_b,
        spearman=found.rho,
        shift=found.shift,
    )


def _halves(cells: RankingCells, scopes: list[_AgreementScope]) -> tuple[HalvesRow, ...]:
    P, K = cells.totals.shape[:2]
    units, resampling = cells.units, cells.data.resampling
    if P < 2 or K == 0 or len(units) < 2:
        few = "one label has no order" if P < 2 else "one cluster of questions has no halves"
        return _without_halves(scopes, "no question is complete for all labels" if K == 0 else few)
    halves = units.halves(resampling.splits, (resampling.seed, _SEED_OF_HALVES))
    matrices = agreement_of_halves(cells.totals, cells.counts, halves)
    covariances = noise_free_covariances(cells.accuracy, cells.linear, units)
    tied = "all labels are tied on every half"
    rows = []
    for scope, name, settings in scopes:
        found = corrected_correlation(
            covariances, cells.accuracy, cells.noise, settings, units.degrees_of_freedom
        )
        measures = {
            "tau_b": matrices.tau_b,
            "kendall_w": matrices.w,
            "shift": matrices.shift,
            "best_changes": 100 * matrices.other_best,
            "worst_changes": 100 * matrices.other_worst,
        }
        shown = {name: same_and_different(m, settings, tied) for name, m in measures.items()}
        rows.append(_halves_row(scope, name, settings, found, shown))
    return tuple(rows)


def _without_halves(scopes: list[_AgreementScope], reason: str) -> tuple[HalvesRow, ...]:
    none = Figure.undefined(reason)
    nothing = CorrectedCorrelation.undefined(reason)
    names = ("tau_b", "kendall_w", "shift", "best_changes", "worst_changes")
    shown = dict.fromkeys(names, SameAndDifferent(none, none))
    return tuple(_halves_row(*scope, nothing, shown) for scope in scopes)


def _halves_row(
    scope: AgreementScope,
    name: str,
    settings: Settings,
    found: CorrectedCorrelation,
    shown: dict[str, SameAndDifferent],
) -> HalvesRow:
    compared, used = _size(settings)
    return HalvesRow(
        scope=scope,
        name=name,
        compared=compared,
        settings=used,
        correlation=found.rho,
        correlation_low=found.low,
        correlation_high=found.high,
        between=1e4 * found.between,
        between_se=1e4 * found.between_se,
        within=1e4 * found.within,
        within_se=1e4 * found.within_se,
        **shown,
    )


def _figure(value: float, reason: str) -> Figure:
    return Figure.undefined(reason) if np.isnan(value) else Figure(float(value))
