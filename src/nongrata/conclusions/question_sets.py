"""The set of right answers: does it change beyond what repeating one configuration gives (S3).

For two configurations c, c', IQ(2) = 1 - E|both right| / E|either right|; for one configuration
asked twice, the same-configuration floor, both = theta^2 and either = 2 theta - theta^2. With v an
unbiased estimate of theta with sampling variance u, v_c v_c' estimates theta_c theta_c' and
v^2 - u estimates theta^2, without bias. Configurations in which u is not known for every label (an
answer drawn once) take no part. The floor is averaged over the same configurations.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nongrata.analysis.model_data import ModelData
from nongrata.stats.accuracy import Floats
from nongrata.stats.units import Units


@dataclass(frozen=True)
class QuestionSets:
    """IQ(2) beside its floor, in per cent.

    Parameters
    ----------
    iq, floor
        Averages over labels.
    drawn
        iq - floor in each resample of the questions, shape (B,).
    configurations
        Of how many configurations the noise is known.
    reason
        Why there is nothing, as a clause; else empty.
    """

    iq: float
    floor: float
    drawn: Floats
    configurations: int
    reason: str = ""

    @property
    def excess(self) -> float:
        """IQ(2) less its floor."""
        return self.iq - self.floor


def question_sets(
    data: ModelData,
    personas: NDArray[np.intp],
    configurations: NDArray[np.intp],
    questions: NDArray[np.intp] | None = None,
    draws: int | None = None,
) -> QuestionSets:
    """IQ(2) and its floor on some of the questions.

    Parameters
    ----------
    data
        The model.
    personas, configurations
        Positions.
    questions
        Positions; None: all of them.
    draws
        Resamples; None: those of the model.
    """
    nothing = np.full(0, np.nan)
    once = data.cube.replicates == 1
    known = data.exact[personas][:, configurations] if once else None
    if known is not None:
        configurations = configurations[known.all(axis=0)]
    if len(configurations) < 2 or not len(personas):
        why = (
            "answers were drawn once, so that a change of configuration cannot be told from a "
            "repeat; use replicates, temperature 0 or exact probabilities"
        )
        return QuestionSets(np.nan, np.nan, nothing, len(configurations), why)
    rows = []
    for p in personas:
        u = np.zeros((1, 1), np.float32) if once else data.noise(int(p))[configurations]
        rows.append(_rows(data, int(p), configurations, u, questions))
    parts = np.stack(rows)  # (P, 4, Q)
    units = data.units if questions is None else data.units.on(questions)
    totals = np.asarray(units.totals(parts), dtype=np.float32)
    weights = data.weights if questions is None else _weights(units, data, draws)
    if draws is not None:
        weights = weights[:draws]
    full = totals.sum(axis=2, dtype=np.float64)
    P, _, G = totals.shape
    drawn = (weights @ totals.reshape(4 * P, G).T).reshape(len(weights), P, 4)
    some = (full[:, 1] > 0) & (full[:, 3] > 0)
    if not some.any():
        why = "no persona has a question right in any configuration"
        return QuestionSets(np.nan, np.nan, nothing, len(configurations), why)
    iq, floor = _percent(full[some, 0], full[some, 1]), _percent(full[some, 2], full[some, 3])
    d = drawn[:, some].astype(np.float64)
    excess = _percent(d[..., 0], d[..., 1]) - _percent(d[..., 2], d[..., 3])
    return QuestionSets(float(iq), float(floor), np.asarray(excess), len(configurations))


def _percent(both: Floats, either: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(100 * (1 - both / either).mean(axis=-1))


def _weights(units: Units, data: ModelData, draws: int | None) -> NDArray[np.float32]:
    number = data.resampling.draws if draws is None else draws
    return units.bootstrap_weights(number, (data.resampling.seed, 43))


def _rows(
    data: ModelData,
    p: int,
    configurations: NDArray[np.intp],
    u: NDArray[np.float32],
    questions: NDArray[np.intp] | None,
) -> NDArray[np.float32]:
    """Both and either right in two configurations, and in one asked twice, shape (4, Q).

    A question that is missing anywhere, or whose noise is not known, adds nothing.
    """
    v = data.value[p, configurations]
    there = data.present[p, configurations].all(axis=0) if not data.complete else None
    K = len(configurations)
    total, own = v.sum(axis=0), v * v
    squares = own.sum(axis=0)
    mean = total / K
    two = (total * total - squares) / (K * (K - 1))
    same = (own - u).mean(axis=0)
    out = np.stack([two, 2 * mean - two, same, 2 * mean - same])
    good = ~np.isnan(same) if there is None else there & ~np.isnan(same)
    out = np.where(good, out, np.float32(0))
    return out if questions is None else out[:, questions]
