"""Instability beside what noise alone would give: floors, excess, tests, IQ at equal m."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from nongrata.analysis.cube import read_cube
from nongrata.analysis.instability import ModelLeftOut, Scope, Value
from nongrata.analysis.model_data import ModelData, Resampling, each_model
from nongrata.analysis.noise_ia import IAPart, ia_parts
from nongrata.analysis.noise_iq import Repeats, curve_with_intervals, equal_settings, iq_points
from nongrata.analysis.noise_rows import IQAt, ModelNoise, Noise, NoiseRow, PersonaNoise
from nongrata.analysis.noise_samples import Samples, samples_of
from nongrata.analysis.one_blas_thread import one_blas_thread
from nongrata.analysis.selection import Personas, Selection
from nongrata.errors import NongrataError
from nongrata.stats.accuracy import Array
from nongrata.stats.figure import Figure
from nongrata.stats.ia_tests import cochran_q
from nongrata.stats.iq_tests import FactorContrast, factor_contrasts
from nongrata.stats.multiplicity import holm
from nongrata.stats.settings import one_factor_settings

if TYPE_CHECKING:
    import xarray as xr

DOMAIN_DRAWS = 500
"""Resamples and exchanges for each domain, at most: a study may have many."""

_SEED = 40
"""Names the random numbers of this analysis."""


@one_blas_thread()
def noise(
    responses: xr.Dataset,
    personas: Personas = "labels",
    *,
    value: Value = "draws",
    resampling: Resampling | None = None,
) -> Noise:
    """IA and IQ of every model beside what noise alone would give.

    Overall, per factor (others held) and per domain: three floors of IA, the excess over two of
    them, the mean squared difference without noise, tests of both nulls, IQ at equal numbers of
    configurations with its same-configuration floor, and the curve IQ(m).

    Parameters
    ----------
    responses
        A Dataset of responses.
    personas
        Which personas, as in `instability`.
    value
        ``"draws"``: the answers given, replicate by replicate; ``"theta"``: exact probabilities,
        which every cell of the selection must have.
    resampling
        Numbers of draws, and the seed.

    Raises
    ------
    NongrataError
        If probabilities are asked for and a cell has none.
    """
    how = resampling or Resampling()
    models, left_out = [], []
    for data in each_model(read_cube(responses), how):
        models.append(noise_of(data, personas, value))
        left_out.append(ModelLeftOut(data.model, data.selection(personas).left_out))
    return Noise(personas, value, how.draws, how.seed, tuple(models), tuple(left_out))


def noise_of(data: ModelData, personas: Personas = "labels", value: Value = "draws") -> ModelNoise:
    """The same for one model whose answers are at hand.

    Parameters
    ----------
    data
        The model's answers, units and resamples.
    personas, value
        As in `noise`.
    """
    if value not in ("draws", "theta"):
        raise NongrataError(
            f"unknown kind of value {value!r}", where="value", fix="use 'draws' or 'theta'"
        )
    selection = data.selection(personas)
    P, K = len(selection.personas), len(selection.configurations)
    scopes = _scopes(data, selection)
    if P == 0 or K < 2 or data.units.questions == 0:
        reason = (
            "no persona is left"
            if P == 0
            else "no question is left"
            if data.units.questions == 0
            else "one configuration has no pair"
            if K
            else "no configuration is left"
        )
        gone = [_row(data, s, K, IAPart.undefined(reason), (), None, None, P, 0) for s in scopes]
        return ModelNoise(data.model, tuple(gone), (), ())
    samples = samples_of(data, selection, value)
    repeats, variance = _repeats(data, selection, value)
    seed = (data.resampling.seed, _SEED)
    rows = _whole(data, K, scopes, samples, repeats, variance, seed)
    domains = [s for s in scopes if s.scope == "domain"]
    first = [int(s.questions[0]) for s in domains if s.questions is not None]
    # numbered by their first questions, so that other names give the same random numbers
    place = {question: i for i, question in enumerate(sorted(first))}
    rows += [
        _domain(data, s, K, samples, repeats, variance, (*seed, 3, place[first[i]]))
        for i, s in enumerate(domains)
    ]
    return ModelNoise(
        data.model,
        tuple(rows),
        curve_with_intervals(samples, repeats),
        _by_persona(data, selection, samples),
    )


@dataclass(frozen=True)
class _Scope:
    scope: Scope
    name: str
    groups: NDArray[np.intp] | None
    questions: NDArray[np.intp] | None = None


def _scopes(data: ModelData, selection: Selection) -> list[_Scope]:
    K = len(selection.configurations)
    everything = np.arange(K)[None]
    out = [_Scope("overall", "", everything)]
    levels = data.cube.levels[selection.configurations]
    for f, factor in enumerate(data.cube.factors):
        settings = one_factor_settings(levels, f) if K else []
        out.append(_Scope("factor", factor, equal_settings(settings)))
    for domain in data.cube.domains:
        where = np.flatnonzero(data.cube.domain == domain)
        out.append(_Scope("domain", domain, everything, where))
    return out


def _whole(
    data: ModelData,
    K: int,
    scopes: list[_Scope],
    samples: Samples,
    repeats: Repeats,
    variance: Array,
    seed: tuple[int, ...],
) -> list[NoiseRow]:
    """Overall and per factor: the same questions, the same resamples."""
    used = [s for s in scopes if s.questions is None and s.groups is not None]
    groups = [s.groups for s in used if s.groups is not None]
    parts = ia_parts(samples, groups, data.weights, variance, (*seed, 1))
    complete = [f for f, g in enumerate(groups) if f and g.size == K and len(g) > 1]
    contrasts = dict(
        zip(
            complete,
            factor_contrasts(
                samples.x,
                samples.present,
                samples.units,
                [groups[f] for f in complete],
                data.resampling.draws,
                (*seed, 2),
            ),
            strict=True,
        )
    )
    at = {s.name if s.scope == "factor" else None: i for i, s in enumerate(used)}
    rows = []
    for scope in scopes:
        if scope.questions is not None:
            continue
        P, R = len(samples.mean), samples.replicates
        i = at.get(scope.name if scope.scope == "factor" else None)
        if i is None:
            part = IAPart.undefined("the factor has one level")
            rows.append(_row(data, scope, K, part, (), None, None, P, R))
            continue
        points = iq_points(samples, repeats, groups[i])
        rows.append(_row(data, scope, K, parts[i], points, contrasts.get(i), samples, P, R))
    return rows


def _domain(
    data: ModelData,
    scope: _Scope,
    K: int,
    samples: Samples,
    repeats: Repeats,
    variance: Array,
    seed: tuple[int, ...],
) -> NoiseRow:
    where, groups = scope.questions, scope.groups
    if where is None or groups is None:
        raise ValueError("a domain has questions and configurations")
    part_of = samples.on(where)
    draws = min(data.resampling.draws, DOMAIN_DRAWS)
    weights = part_of.units.bootstrap_weights(draws, (*seed, 0))
    (part,) = ia_parts(part_of, [groups], weights, variance[:, :, where], (*seed, 1))
    points = iq_points(part_of, repeats.on(where), groups)
    return _row(data, scope, K, part, points, None, part_of, len(samples.mean), samples.replicates)


def _row(
    data: ModelData,
    scope: _Scope,
    K: int,
    part: IAPart,
    points: tuple[IQAt, ...],
    contrast: FactorContrast | None,
    samples: Samples | None,
    personas: int,
    replicates: int,
) -> NoiseRow:
    groups = np.zeros((0, 0)) if scope.groups is None else scope.groups
    why = "only for a factor" if scope.scope != "factor" else "there is no other factor to compare"
    if scope.groups is None or samples is None:
        why = part.ia.reason or "the factor has one level"
    elif scope.scope == "factor" and groups.size != K:
        why = "not every setting of the other factors has all levels"
    moved, p = Figure.undefined(why), Figure.undefined(why)
    if contrast is not None:
        stuck = "no question is answered differently in two configurations"
        nothing = np.isnan(contrast.value)
        moved = Figure.undefined(stuck) if nothing else Figure(100.0 * contrast.value)
        p = Figure.undefined(stuck) if np.isnan(contrast.p) else Figure(contrast.p)
    units = data.units if scope.questions is None else data.units.on(scope.questions)
    return NoiseRow(
        model=data.model,
        scope=scope.scope,
        name=scope.name,
        compared=groups.shape[1] if samples is not None else min(K, 1),
        settings=len(groups) if samples is not None else 0,
        ia=part.ia,
        rerun_floor=part.rerun,
        exchangeability_floor=part.exchangeability,
        equal_accuracy_floor=part.equal_accuracy,
        over_exchangeability=part.over_exchangeability,
        over_equal_accuracy=part.over_equal_accuracy,
        squared_difference=part.squared,
        typical_difference=part.typical,
        p_exchangeability=part.p_exchangeability,
        p_equal_accuracy=part.p_equal_accuracy,
        cochran=part.cochran,
        p_cochran=part.p_cochran,
        iq=points,
        iq_contrast=moved,
        p_iq_contrast=p,
        personas=personas,
        configurations=K,
        questions=units.questions,
        clusters=len(units),
        replicates=replicates,
        design_effect=part.design_effect,
    )


def _repeats(data: ModelData, selection: Selection, value: Value) -> tuple[Repeats, Array]:
    """What is known of asking again, and the variance of one answer, (P, K, Q)."""
    cells = np.ix_(selection.personas, selection.configurations)
    theta = data.answers.theta[cells]
    exact = data.exact[cells]
    there = data.answers.present[cells]
    right = (data.answers.correct[cells] & there).sum(axis=2, dtype=np.int16)
    replicates = there.sum(axis=2, dtype=np.int16)
    for p, c in np.argwhere(exact):
        # without theta, an exact cell gives the same answer every time: 0 or 1
        fixed = np.isnan(theta[p, c]) & (replicates[p, c] > 0)
        theta[p, c, fixed] = right[p, c, fixed] > 0
    known = (~np.isnan(theta) | (replicates == 0)).all(axis=2)
    if value == "theta":
        variance = np.zeros(theta.shape, dtype=np.float32)
    else:
        variance = theta * (1 - theta)
        if there.shape[2] > 1:
            n = np.maximum(replicates, 2).astype(np.float32)
            drawn = right * (n - right) / (n * (n - 1))
            variance = np.where(np.isnan(theta) & (replicates > 1), drawn, variance)
    return Repeats(theta, right, replicates, np.asarray(known)), variance


def _by_persona(
    data: ModelData, selection: Selection, samples: Samples
) -> tuple[PersonaNoise, ...]:
    found = cochran_q(samples.mean_residuals)
    still = "no question is answered differently in two configurations"
    known = [i for i, c in enumerate(found) if not np.isnan(c.p)]
    adjusted = dict(zip(known, holm(np.array([found[i].p for i in known])), strict=True))
    return tuple(
        PersonaNoise(
            data.cube.personas[int(p)],
            Figure(c.q) if i in adjusted else Figure.undefined(still),
            int(c.df),
            Figure(c.p) if i in adjusted else Figure.undefined(still),
            Figure(float(adjusted[i])) if i in adjusted else Figure.undefined(still),
        )
        for i, (p, c) in enumerate(zip(selection.personas, found, strict=True))
    )
