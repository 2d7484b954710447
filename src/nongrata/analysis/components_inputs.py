"""What the variance components of a model rest on: a grid of cells, its noise, what is missing.

Missing answers. Each cell's accuracy is over the answers it has, and a cluster contributes what it
has (`stats.question_components`). Cells that lack different questions then differ for that reason
alone; this acts like noise of single answers, with variance (share missing) x (variance of the
answers in the cell), and is taken off with it. That is right for few answers lost by chance. More
than `MOST_MISSING` per cent of all, or `MOST_MISSING_OF_A_CELL` of any cell, is refused: it takes a
model of what is missing to go on, not an estimate.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from nongrata.analysis.cube import Cube
from nongrata.analysis.model_data import ModelData
from nongrata.analysis.selection import Selection
from nongrata.stats.accuracy import Array, Bools, Floats
from nongrata.stats.question_components import Contributions, contributions
from nongrata.stats.units import Units, Weights

PERSONA = "persona"
MOST_MISSING = 5.0
MOST_MISSING_OF_A_CELL = 20.0


@dataclass(frozen=True)
class Grid:
    """The cells of a model as a grid, and what each cluster of questions contributes.

    Parameters
    ----------
    facets, sizes
        Facets of the cells with two levels or more.
    units, weights
        Clusters of the questions that have answers, and their resamples.
    contributions
        Of each cluster to the accuracy of each cell.
    noise
        Sampling variance of each cluster's contribution, mean over cells, shape (G,); None where
        answers were drawn once.
    noise_of_one
        Sampling variance of a single answer, mean over answers; ``nan`` where that is not known.
    lost
        What missing answers add to the variance of each contribution, shape (G,); None: nothing.
    missing
        Per cent of the answers of these cells that are missing.
    design_effect
        Variance of the mean accuracy over what it would be without clusters and strata.
    """

    facets: tuple[str, ...]
    sizes: tuple[int, ...]
    units: Units
    weights: Weights
    contributions: Contributions
    noise: Floats | None
    noise_of_one: float
    lost: Floats | None
    missing: float
    design_effect: float


def grid_of(data: ModelData, selection: Selection) -> Grid | str:
    """The grid of a model, or a clause that says why there is none."""
    rows, columns = selection.personas, selection.configurations
    shape = _shape(data.cube, selection)
    if isinstance(shape, str):
        return shape
    facets, sizes = shape
    there = data.present[np.ix_(rows, columns)]
    asked = np.asarray(there.any(axis=(0, 1)))
    if not asked.any():
        return "there are no answers"
    here = there[:, :, asked]
    missing = 100 * (1 - here.mean(axis=2))
    if missing.mean() > MOST_MISSING or missing.max() > MOST_MISSING_OF_A_CELL:
        p, c = np.unravel_index(int(missing.argmax()), missing.shape)
        return (
            f"{missing.mean():.1f}% of the answers are missing, and {missing.max():.0f}% of those "
            f"of {data.cube.personas[rows[p]]} in {data.cube.label(int(columns[c]))}; components "
            f"are for a design with at most {MOST_MISSING:g}% missing, and at most "
            f"{MOST_MISSING_OF_A_CELL:g}% of any cell"
        )
    units, weights = data.units, data.weights
    if not asked.all():
        units = data.units.on(asked)
        draws, seed = data.resampling.draws, data.resampling.seed
        weights = units.bootstrap_weights(draws, (seed, 1))
    if np.bincount(units.stratum).min() < 2:
        return "it takes two clusters of questions"
    complete = bool(here.all())
    cells = [(p, columns) for p in rows]
    values = (data.value[p][c][:, asked] for p, c in cells)
    totals = np.concatenate([units.totals(x) for x in values]).astype(np.float32, copy=False)
    counts = None if complete else np.concatenate([units.totals(h) for h in here])
    if counts is not None and _empty_stratum(units, counts):
        return "a cell has no answers to the questions of one source"
    y = contributions(totals, units, counts)
    noise, of_one = _noise(data, selection, asked, y, units)
    lost = None if complete else _lost(data, selection, asked, y, units)
    right = np.sum([data.value[p][c].sum(axis=0, dtype=np.float64) for p, c in cells], axis=0)
    mean = right[asked] / here.sum(axis=(0, 1))
    return Grid(
        facets,
        sizes,
        units,
        weights,
        y,
        noise,
        of_one,
        lost,
        float(missing.mean()),
        float(units.design_effect(mean)),
    )


def _shape(cube: Cube, selection: Selection) -> tuple[tuple[str, ...], tuple[int, ...]] | str:
    levels = cube.levels[selection.configurations]
    if not len(levels) or not len(selection.personas):
        return "no cells are left"
    counts = [len(np.unique(levels[:, f])) for f in range(len(cube.factors))]
    if int(np.prod(counts)) != len(levels):
        return (
            f"the {len(levels)} configurations that are left are no full crossing of their levels "
            f"({' x '.join(map(str, counts))})"
        )
    every = [(PERSONA, len(selection.personas)), *zip(cube.factors, counts, strict=True)]
    facets = [(name, n) for name, n in every if n > 1]
    if not facets:
        return "one persona in one configuration: nothing is compared"
    return tuple(name for name, _ in facets), tuple(n for _, n in facets)


def _empty_stratum(units: Units, counts: Array) -> bool:
    return any(not counts[:, units.stratum == h].sum(axis=1).all() for h in range(units.strata))


def _noise(
    data: ModelData,
    selection: Selection,
    asked: Bools,
    y: Contributions,
    units: Units,
) -> tuple[Floats | None, float]:
    """Noise of the clusters' contributions, and of a single answer."""
    of_answers, of_one = np.zeros(units.questions), 0.0
    for i, (u, n) in enumerate(_single_answers(data, selection, asked)):
        if u is None:
            return None, float("nan")
        of_one += float((u * n).mean()) / len(selection.personas)
        of_answers += (u * _weight_of_answers(y, units, i, len(u))).sum(axis=0)
    return units.totals(of_answers) / len(y.means), of_one


def _lost(
    data: ModelData, selection: Selection, asked: Bools, y: Contributions, units: Units
) -> Floats:
    """What missing answers add to the variance of the clusters' contributions."""
    stratum = units.stratum[units.cluster]
    K = len(selection.configurations)
    of_questions = np.zeros(units.questions)
    for i, p in enumerate(selection.personas):
        there = data.present[p][selection.configurations][:, asked]
        x = data.value[p][selection.configurations][:, asked]
        mean = y.means[i * K : (i + 1) * K][:, stratum]
        gone = np.stack(
            [1 - there[:, stratum == h].mean(axis=1) for h in range(units.strata)], axis=1
        )
        added = np.where(there, gone[:, stratum] * np.square(x - mean), 0.0)
        of_questions += (added * _weight_of_answers(y, units, i, K)).sum(axis=0)
    return np.asarray(units.totals(of_questions) / len(y.means))


def _weight_of_answers(y: Contributions, units: Units, persona: int, cells: int) -> Floats:
    """Square of what an answer weighs in its cluster's contribution, shape (K, Q)."""
    rows = slice(persona * cells, (persona + 1) * cells)
    return np.square(y.scale[rows])[:, units.stratum[units.cluster]]


def _single_answers(
    data: ModelData, selection: Selection, asked: Bools
) -> Iterator[tuple[Floats | None, Floats]]:
    """Sampling variance of the cells' values, and answers behind each, persona by persona.

    Where replicates were lost and one is left, the noise of a single answer is taken from the rest
    of its cell; None where most of a cell is like that.
    """
    for p in selection.personas:
        n = data.answers.present[p].sum(axis=1)[selection.configurations][:, asked]
        u = data.noise(int(p))[selection.configurations][:, asked].astype(np.float64)
        unknown = np.isnan(u)
        if unknown.mean(axis=1).max() > 0.5:
            yield None, n
            continue
        if unknown.any():
            of_one = np.nanmean(u * n, axis=1)
            u = np.where(unknown, of_one[:, None], u)
        yield u, n
