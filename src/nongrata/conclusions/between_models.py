"""Orders of models, pair by pair: accuracy, squared differences, IQ(2) excess."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from nongrata.conclusions.cells import Cells
from nongrata.conclusions.draft import NOTHING_VARIED, Basis, Draft, concluded
from nongrata.conclusions.labels import ONE_CLUSTER, held_out_figure
from nongrata.conclusions.model import ALPHA, Conclusion
from nongrata.conclusions.orders import agreement_of_halves, compared
from nongrata.conclusions.question_sets import QuestionSets
from nongrata.conclusions.squared_differences import (
    mean_squared_difference,
    mean_squared_noise,
    spread,
)
from nongrata.stats.accuracy import Floats
from nongrata.stats.figure import Figure
from nongrata.stats.settings import all_together
from nongrata.stats.units import Units
from nongrata.stats.verdicts import judge
from nongrata.wording import say


@dataclass(frozen=True)
class Summary:
    """What is kept of one model, so that another can be compared with it.

    Parameters
    ----------
    configurations
        Positions in the study.
    accuracy, residuals
        Means over labels, shapes (K,) and (K, G).
    halves
        Accuracies on random halves of the questions, each (S, K).
    squared, drawn
        Noise-free mean squared difference in points^2, and in resamples of the questions, which
        are the same ones for all models.
    sets
        IQ(2) beside its floor.
    """

    model: str
    rankable: bool
    labels: tuple[str, ...]
    configurations: NDArray[np.intp]
    names: list[str]
    units: Units
    accuracy: Floats
    residuals: Floats
    halves: tuple[Floats, Floats]
    squared: float
    drawn: Floats
    sets: QuestionSets


def summary_of(cells: Cells, sets: QuestionSets, rankable: bool) -> Summary | None:
    """Summarise one model; None where nothing can be compared."""
    data, K = cells.data, len(cells.configurations)
    if not K or not len(cells.personas) or len(data.cube.models) < 2:
        return None
    squared, drawn = float("nan"), np.full(0, np.nan)
    if K > 1:
        settings = all_together(K)
        noise = mean_squared_noise(cells.across, settings)
        squared = 1e4 * (float(mean_squared_difference(cells.accuracy, settings)) - noise)
        drawn = 1e4 * mean_squared_difference(np.asarray(cells.bootstrap), settings)
    first, second = cells.halves
    return Summary(
        data.model,
        rankable,
        tuple(cells.names),
        cells.configurations,
        cells.configuration_names,
        cells.units,
        cells.accuracy.mean(axis=0),
        cells.residuals.mean(axis=0, dtype=np.float64),
        (first.mean(axis=1), second.mean(axis=1)),
        squared,
        drawn,
        sets,
    )


def between_models(summaries: Sequence[Summary | None]) -> tuple[Conclusion, ...]:
    """Every pair of models by three metrics; a set of conclusions of its own.

    Models are compared on the configurations and labels they share; without the same labels there
    is no comparison.
    """
    out: list[Conclusion] = []
    drafts: list[Draft] = []
    owners: list[tuple[Summary, Summary]] = []
    for a, b in combinations([s for s in summaries if s is not None], 2):
        if a.labels != b.labels or not len(np.intersect1d(a.configurations, b.configurations)):
            continue
        for draft in _pair(a, b):
            drafts.append(draft)
            owners.append((a, b))
    if not drafts:
        return ()
    units = owners[0][0].units
    basis = Basis(
        "", units.questions, units.degrees_of_freedom,
        "the accuracy of one of them is not shown to be above chance and the best constant answer",
    )  # fmt: skip
    for conclusion, (a, b) in zip(concluded(drafts, basis, ALPHA), owners, strict=True):
        out.append(replace(conclusion, model=f"{a.model}, {b.model}"))
    return tuple(out)


def _pair(a: Summary, b: Summary) -> list[Draft]:
    df = a.units.degrees_of_freedom
    out = [_by_accuracy(a, b)]
    K = min(len(a.configurations), len(b.configurations))
    same = np.array_equal(a.configurations, b.configurations)
    reason = NOTHING_VARIED if K < 2 else "" if same else "their configurations are not the same"
    rest = {
        "family": "models",
        "names": (a.model, b.model),
        "df": df,
        "configurations": K,
        "reason": reason,
    }
    value = a.squared - b.squared
    drawn = a.drawn - b.drawn if not reason else np.zeros(1)
    out.append(
        compared(
            verb="accuracy of {first} moves more with the configuration than that of {second}",
            metric="squared difference of accuracy",
            unit="points^2",
            value=value,
            sd=spread(drawn),
            **rest,  # type: ignore[arg-type]
        )
    )
    known = a.sets.configurations == b.sets.configurations
    if not a.sets.reason and not b.sets.reason and not reason and known:
        out.append(
            compared(
                verb="the set of right questions changes more with the configuration in {first} "
                "than in {second}",
                metric="IQ(2) excess",
                unit="per cent",
                value=a.sets.excess - b.sets.excess,
                sd=spread(a.sets.drawn - b.sets.drawn),
                **rest,  # type: ignore[arg-type]
            )
        )
    return out


def _by_accuracy(a: Summary, b: Summary) -> Draft:
    from scipy.special import stdtrit

    _, i, j = np.intersect1d(a.configurations, b.configurations, return_indices=True)
    units, K = a.units, len(i)
    df = units.degrees_of_freedom
    D = (a.accuracy[i] - b.accuracy[j])[None]
    rows = a.residuals[i] - b.residuals[j]
    se = np.sqrt(units.variance_of_total_mean(rows))[None]
    judged = judge(D, se, df, len(units))
    sign = float(judged.direction[0])
    halves = [a.halves[h][:, i] - b.halves[h][:, j] for h in (0, 1)]
    held = agreement_of_halves(*halves)
    value = 100 * sign * float(D.mean())
    pooled = float(np.sqrt(units.variance_of_total_mean(rows.mean(axis=0))))
    margin = 100 * pooled * float(stdtrit(max(df, 1), 0.975))
    none = Figure.undefined(ONE_CLUSTER)
    first, second = (a.model, b.model) if sign > 0 else (b.model, a.model)
    return Draft(
        family="models",
        subject=first,
        rival=second,
        statement=say("{first} answers more accurately than {second}", first=first, second=second),
        metric="accuracy",
        unit="points",
        estimate=Figure(value),
        low=Figure(value - margin) if df >= 1 else none,
        high=Figure(value + margin) if df >= 1 else none,
        share=Figure(100 * float(judged.share[0])),
        held_out=held_out_figure(held),
        claim="robust",
        p=float(judged.robust[0]),
        p_fragile=float(judged.fragile[0]),
        by_configuration=100 * sign * D[0],
        p_here=judged.p[0],
        p_opposite=judged.opposite[0],
        names=[a.names[c] for c in i],
        required=judged.required,
        configurations=K,
        allowed=a.rankable and b.rankable,
        reason=ONE_CLUSTER if df < 1 else NOTHING_VARIED if K < 2 else "",
    )
