"""Agreement of one model's drawn answers, with intervals from resamples of the questions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nongrata.analysis.agreement_rows import About, AgreementRow, TotalAgreement, Unread
from nongrata.analysis.estimated import Estimated
from nongrata.analysis.model_data import ModelData
from nongrata.stats.accuracy import ANSWERED, Array, Bools, Floats, ratio
from nongrata.stats.agreement import (
    NO_PAIR,
    ONE_CATEGORY,
    TOO_FEW,
    category_counts,
    coefficients,
    complete_rows,
    fill_complete,
    terms,
)
from nongrata.stats.factor_agreement import factor_agreement
from nongrata.stats.figure import Figure, mean_figure
from nongrata.stats.rater_kappas import conger_kappa, light_kappa
from nongrata.stats.settings import Settings

PER_CENT = 100.0
ONE_CONFIGURATION = "fewer than two configurations are compared"
NOT_WITHIN = "not computed within factors"
_LABELS_AT_ONCE = 8
_FEWEST_DRAWS = 0.95
"""Share of resamples in which a coefficient must exist for it to have an interval."""

_NOTHING = 1e-6
"""Resamples that differ by less do not differ: then there is no interval."""

COEFFICIENTS = ("raw", "fleiss", "gwet", "alpha")


@dataclass(frozen=True)
class Study:
    """What is compared.

    Parameters
    ----------
    data
        The model.
    personas, configurations
        Positions of those kept.
    settings
        For each factor that varies, its settings among the configurations kept.
    fixed, sizes
        The m of total agreement for every factor, and those for all configurations.
    options
        Most options of any question.
    unread
        What becomes of unread answers where the option is concerned.
    """

    data: ModelData
    personas: NDArray[np.intp]
    configurations: NDArray[np.intp]
    settings: Mapping[str, Settings]
    fixed: int
    sizes: tuple[int, ...]
    options: int
    unread: Unread


@dataclass(frozen=True)
class Sample:
    """One replicate: categories (P, K, Q), where they are known, and their number."""

    codes: Array
    present: Bools | None
    categories: int


def samples_of(study: Study, about: About) -> Iterator[Sample]:
    """The replicates that have any answer.

    Parameters
    ----------
    study
        What is compared.
    about
        Right or not, or which option.
    """
    answers = study.data.answers
    cells = np.ix_(study.personas, study.configurations)
    for r in range(study.data.cube.replicates):
        present = answers.present[:, :, r][cells]
        if not present.any():
            continue
        codes: Array = answers.correct[:, :, r][cells]
        categories = 2
        if about == "option":
            codes, categories = answers.option[:, :, r][cells], study.options
            read = answers.outcome[:, :, r][cells] == ANSWERED
            if study.unread == "left_out":
                present = read
            elif not read.all():
                codes, categories = np.where(read, codes, np.int8(study.options)), categories + 1
        yield Sample(codes, None if present.all() else present, categories)


def figures_of(study: Study, about: About) -> tuple[list[AgreementRow], Figure]:
    """Rows on one subject, and the design effect of the raw agreement.

    Parameters
    ----------
    study
        What is compared.
    about
        Right or not, or which option.
    """
    P, M = len(study.personas), len(study.sizes)
    B = len(study.data.weights)
    columns = len(COEFFICIENTS) + M
    whole, drawn = _Mean((P, columns)), _Mean((B, P, columns))
    pair_kappas: list[list[tuple[Figure, Figure]]] = [[] for _ in range(P)]
    agreeing, possible = (np.zeros(study.data.units.questions) for _ in range(2))
    factors: dict[str, list[Floats]] = {factor: [] for factor in study.settings}
    for sample in samples_of(study, about):
        estimates, draws, pairs = _one_replicate(study, sample)
        whole.add(estimates)
        drawn.add(draws)
        agreeing += pairs[0]
        possible += pairs[1]
        for p in range(P):
            there = None if sample.present is None else sample.present[p]
            conger = conger_kappa(sample.codes[p], sample.categories, there)
            light = light_kappa(sample.codes[p], sample.categories, there).kappa
            pair_kappas[p].append((conger, light))
        for factor, settings in study.settings.items():
            factors[factor].append(_within(study, sample, settings))
    rows = _label_rows(study, about, whole.mean, drawn.mean, pair_kappas)
    rows += [_factor_row(study, about, factor, each) for factor, each in factors.items() if each]
    return rows, _design_effect(study, agreeing, possible)


class _Mean:
    """Mean over replicates of what is defined in each."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self._sum = np.zeros(shape, dtype=np.float32 if len(shape) == 3 else np.float64)
        self._n = np.zeros(shape, dtype=np.uint16)

    def add(self, values: Array) -> None:
        known = ~np.isnan(values)
        self._sum += np.where(known, values, 0)
        self._n += known

    @property
    def mean(self) -> Array:
        out = np.full(self._sum.shape, np.nan, dtype=self._sum.dtype)
        return np.divide(self._sum, self._n, out=out, where=self._n > 0)


def _one_replicate(study: Study, sample: Sample) -> tuple[Floats, Array, tuple[Floats, Floats]]:
    """Coefficients (P, C), the same in each resample (B, P, C), and pairs that agree (Q,)."""
    data, J, sizes = study.data, sample.categories, study.sizes
    P, K, Q = sample.codes.shape
    complete = sample.present is None and K > 1
    estimates, draws = [], []
    agreeing, possible = np.zeros(Q), np.zeros(Q)
    kept = complete_rows(J, sizes)
    for start in range(0, P, _LABELS_AT_ONCE):
        some = slice(start, start + _LABELS_AT_ONCE)
        there = None if sample.present is None else sample.present[some]
        parts = terms(category_counts(sample.codes[some], J, there), sizes)
        rows = parts.rows[:, kept] if complete else parts.rows
        totals = data.units.totals(rows)
        sums = data.resample(np.asarray(totals, dtype=np.float32))
        if complete:
            sums = fill_complete(sums, K, Q, J, sizes)
        estimates.append(_columns(coefficients(parts.rows.sum(axis=-1), parts)))
        draws.append(_columns(coefficients(sums, parts)).astype(np.float32))
        agreeing += parts.rows[:, 2].sum(axis=0)
        possible += parts.rows[:, 1].sum(axis=0)
    if not estimates:
        columns = len(COEFFICIENTS) + len(sizes)
        nothing = np.empty((len(data.weights), 0, columns), dtype=np.float32)
        return np.empty((0, columns)), nothing, (agreeing, possible)
    return np.concatenate(estimates), np.concatenate(draws, axis=1), (agreeing, possible)


def _columns(found: dict[str, Array]) -> Array:
    single = np.stack([found[name] for name in COEFFICIENTS], axis=-1)
    return np.concatenate([single, found["total"]], axis=-1)


def _label_rows(
    study: Study,
    about: About,
    whole: Array,
    drawn: Array,
    pair_kappas: list[list[tuple[Figure, Figure]]],
) -> list[AgreementRow]:
    unread = _unread(study)
    several = [
        tuple(mean_figure(pair[i] for pair in pairs) if pairs else _none() for i in range(2))
        for pairs in pair_kappas
    ]
    rows = []
    if len(study.personas):
        both = tuple(mean_figure(pair[i] for pair in several) for i in range(2))
        average, average_draws = _over_labels(whole), _over_labels(drawn)
        name, share = "", float(np.mean(unread))
        rows.append(_row(study, about, "", average, average_draws, both, share))
    for p, position in enumerate(study.personas):
        name = study.data.cube.personas[int(position)]
        rows.append(_row(study, about, name, whole[p], drawn[:, p], several[p], unread[p]))
    return rows


def _over_labels(values: Array) -> Array:
    known = ~np.isnan(values)
    return ratio(np.where(known, values, 0).sum(axis=-2), known.sum(axis=-2))


def _row(
    study: Study,
    about: About,
    name: str,
    whole: Array,
    drawn: Array,
    pair_kappas: tuple[Figure, ...],
    unread: float,
) -> AgreementRow:
    no_pair = NO_PAIR if len(study.configurations) > 1 else ONE_CONFIGURATION
    why = no_pair if np.isnan(whole[0]) else ONE_CATEGORY
    units = (PER_CENT, 1.0, 1.0, 1.0) + (PER_CENT,) * len(study.sizes)
    reasons = (no_pair, why, why, why) + (TOO_FEW,) * len(study.sizes)
    each = [_estimated(*item) for item in zip(whole, drawn.T, units, reasons, strict=True)]
    totals = [TotalAgreement(m, e) for m, e in zip(study.sizes, each[4:], strict=True)]
    raw, fleiss, gwet, alpha = each[:4]
    return AgreementRow(
        about=about,
        scope="label" if name else "labels",
        name=name,
        compared=len(study.configurations),
        settings=1,
        raw=raw,
        fleiss=fleiss,
        gwet=gwet,
        alpha=alpha,
        conger=pair_kappas[0],
        light=pair_kappas[1],
        total=tuple(totals),
        unread=PER_CENT * unread,
    )


def _within(study: Study, sample: Sample, settings: Settings) -> Floats:
    """total(2), total(fixed), total(levels), kappa; then the same without kappa in resamples."""
    sizes = (2, study.fixed, max(map(len, settings)))
    found = factor_agreement(sample.codes, sample.present, sample.categories, settings, sizes)
    both = np.concatenate([found.alike, found.possible])
    sums = study.data.resample(np.asarray(study.data.units.totals(both), dtype=np.float32))
    draws = ratio(sums[:, : len(sizes)], sums[:, len(sizes) :])
    known = found.kappas[~np.isnan(found.kappas)]
    kappa = known.mean() if len(known) else np.nan
    out = np.full((1 + len(draws), len(sizes) + 1), np.nan)
    out[0] = (*found.total, kappa)
    out[1:, : len(sizes)] = draws
    return out


def _factor_row(study: Study, about: About, factor: str, each: list[Floats]) -> AgreementRow:
    mean = _Mean(each[0].shape)
    for values in each:
        mean.add(values)
    found = mean.mean
    settings = study.settings[factor]
    levels = max(map(len, settings))
    raw, fixed, every = (
        _estimated(found[0, i], found[1:, i], PER_CENT, NO_PAIR if i == 0 else TOO_FEW)
        for i in range(3)
    )
    kappa, nan = found[0, 3], float("nan")
    why = ONE_CATEGORY if raw.estimate.defined else NO_PAIR
    fleiss = Figure.undefined(why) if np.isnan(kappa) else Figure(float(kappa))
    none, no_figure = Estimated.undefined(NOT_WITHIN), Figure.undefined(NOT_WITHIN)
    totals = {study.fixed: fixed, levels: every}
    return AgreementRow(
        about,
        "factor",
        factor,
        levels,
        len(settings),
        raw,
        Estimated(fleiss, nan, nan, nan),
        none,
        none,
        no_figure,
        no_figure,
        tuple(TotalAgreement(m, share) for m, share in sorted(totals.items())),
        PER_CENT * float(np.mean(_unread(study))) if len(study.personas) else nan,
    )


def _estimated(value: float, draws: Array, unit: float, why: str) -> Estimated:
    if np.isnan(value):
        return Estimated.undefined(why)
    known = draws[~np.isnan(draws)].astype(np.float64)
    estimate = Figure(unit * float(value))
    if len(known) < max(2.0, _FEWEST_DRAWS * len(draws)) or known.std() < _NOTHING:
        return Estimated(estimate, np.nan, np.nan, np.nan)
    low, high = np.percentile(known, [2.5, 97.5])
    return Estimated(
        estimate, unit * float(known.std(ddof=1)), unit * float(low), unit * float(high)
    )


def _unread(study: Study) -> Floats:
    """Share of each label's answers that could not be read; ``nan`` without answers."""
    answers = study.data.answers
    out = np.full(len(study.personas), np.nan)
    for i, p in enumerate(study.personas):
        there = answers.present[p][study.configurations]
        if there.any():
            read = answers.outcome[p][study.configurations] == ANSWERED
            out[i] = 1 - np.count_nonzero(read) / np.count_nonzero(there)
    return out


def _design_effect(study: Study, agreeing: Floats, possible: Floats) -> Figure:
    some = possible > 0
    if not some.any():
        return Figure.undefined(NO_PAIR)
    effect = float(study.data.units.on(some).design_effect(agreeing[some] / possible[some]))
    if np.isnan(effect):
        return Figure.undefined("agreement does not vary between questions")
    return Figure(effect)


def _none() -> Figure:
    return Figure.undefined(NO_PAIR)
