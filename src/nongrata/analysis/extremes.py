"""Which label comes out best and worst in each configuration, and how often that changes."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from nongrata.analysis.chance import ChanceCheck, chance_check
from nongrata.analysis.cube import Cube, configuration_label, read_cube
from nongrata.analysis.result import Result, factor_columns
from nongrata.analysis.selection import LeftOut, Personas, select
from nongrata.stats.accuracy import complete_accuracy
from nongrata.stats.figure import Figure, mean_figure
from nongrata.stats.ranks import TIE_DECIMALS

if TYPE_CHECKING:
    import polars as pl
    import xarray as xr


@dataclass(frozen=True, slots=True)
class ConfigurationExtremes:
    """The labels with the highest and the lowest accuracy in one configuration and replicate.

    Parameters
    ----------
    best, worst
        All labels that share the place; empty where there are no ranks.
    best_accuracy, worst_accuracy
        In per cent, on `questions`, those complete for all labels.
    tied
        Whether all labels have one accuracy, so that best and worst are the same labels.
    at_chance
        Whether the configuration is not shown to be above chance and above the best constant
        answer (`ChanceCheck`): then its places say nothing.
    reason
        Why there are no ranks, else empty.
    """

    model: str
    levels: tuple[Any, ...]
    replicate: int
    best: tuple[str, ...]
    worst: tuple[str, ...]
    best_accuracy: float
    worst_accuracy: float
    questions: int
    tied: bool
    at_chance: bool
    reason: str = ""


@dataclass(frozen=True, slots=True)
class LabelShare:
    """How often a label comes out best or worst, in per cent of configurations; ties shared.

    Parameters
    ----------
    best, worst
        Over all configurations compared.
    best_above_chance, worst_above_chance
        Over those that are not at chance; ``nan`` if there is none.
    at_chance
        Whether the label's own answers, all taken together, are not shown to be above chance and
        above the best constant answer.
    """

    model: str
    persona: str
    best: float
    worst: float
    best_above_chance: float
    worst_above_chance: float
    at_chance: bool


@dataclass(frozen=True, slots=True)
class FlipsAboveChance:
    """The figures of `Flips` over the configurations that are not at chance."""

    configurations: Figure
    tied: Figure
    distinct_best: Figure
    distinct_worst: Figure
    best_flips: Figure
    worst_flips: Figure
    both: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Flips:
    """How much of one model's best and worst depends on the configuration.

    Parameters
    ----------
    configurations
        Configurations with ranks, a mean over replicates where they differ.
    at_chance
        How many of the configurations compared are at chance, so that noise alone may move places.
    above_chance
        The same figures without these.
    tied
        How many of them have all labels tied.
    distinct_best, distinct_worst
        How many labels are best (worst) somewhere, tied places included.
    best_flips, worst_flips
        Share of pairs of configurations that have no best (worst) label in common, in per cent.
    both
        Labels that are best in one configuration and worst in another, in any replicate.
    left_out
        Personas and configurations that are not compared, and why.
    """

    model: str
    configurations: Figure
    tied: Figure
    distinct_best: Figure
    distinct_worst: Figure
    best_flips: Figure
    worst_flips: Figure
    both: tuple[str, ...]
    at_chance: int
    above_chance: FlipsAboveChance
    left_out: tuple[LeftOut, ...]


@dataclass(frozen=True, slots=True)
class BestAndWorst(Result):
    """Best and worst labels. A place in an order of prompts says nothing of people."""

    factors: tuple[str, ...]
    persona_set: Personas
    configurations: tuple[ConfigurationExtremes, ...]
    labels: tuple[LabelShare, ...]
    flips: tuple[Flips, ...]
    kind: Literal["best_and_worst"] = "best_and_worst"

    def __str__(self) -> str:
        parts = []
        for row in self.flips:
            if not row.distinct_best.defined:
                parts.append(f"{row.model}: undefined, {row.distinct_best.reason}")
                continue
            parts.append(
                f"{row.model}: {row.distinct_best.value:.3g} labels come out best and "
                f"{row.distinct_worst.value:.3g} worst over {row.configurations.value:.3g} "
                f"configurations, {len(row.both)} of them both; "
                f"{row.at_chance} of these configurations are not shown to be above chance"
            )
        return "; ".join(parts)

    def to_dataframe(self) -> pl.DataFrame:
        """One row per model, configuration and replicate."""
        import polars as pl

        fixed = (
            *("model", "configuration", "replicate", "best", "worst", "best_accuracy"),
            *("worst_accuracy", "questions", "tied", "at_chance", "reason"),
        )
        names = factor_columns(self.factors, fixed)
        rows = []
        for row in self.configurations:
            record: dict[str, Any] = {
                name: getattr(row, name) for name in fixed if name != "configuration"
            }
            record["best"], record["worst"] = list(row.best), list(row.worst)
            record["configuration"] = configuration_label(row.levels)
            record.update(zip(names, row.levels, strict=True))
            rows.append(record)
        types: dict[str, Any] = dict.fromkeys(("best", "worst"), pl.List(pl.String))
        frame = pl.DataFrame(rows, schema_overrides=types, infer_schema_length=None, strict=False)
        return frame.select(["model", *names, *fixed[1:]]).with_columns(
            pl.col("best_accuracy", "worst_accuracy").cast(pl.Float64).fill_nan(None)
        )


def best_and_worst(
    responses: xr.Dataset, personas: Personas = "labels", *, chance: ChanceCheck | None = None
) -> BestAndWorst:
    """Best and worst label per configuration, how often each is one, and how often that flips.

    Labels are compared on the questions complete for all of them. Ties are shared: all tied
    labels are named, and a share of the place goes to each. Replicates are taken one by one, then
    averaged. Configurations and labels at chance are flagged, and everything is given without
    such configurations as well.

    Parameters
    ----------
    responses
        A Dataset of responses.
    personas
        As in `instability`.
    chance
        From `chance_check`; None: it is computed.
    """
    cube = read_cube(responses)
    chance = chance_check(responses) if chance is None else chance
    extremes: list[ConfigurationExtremes] = []
    labels: list[LabelShare] = []
    flips: list[Flips] = []
    for m in range(len(cube.models)):
        rows, shares, flip = _one_model(cube, m, personas, chance)
        extremes.extend(rows)
        labels.extend(shares)
        flips.append(flip)
    return BestAndWorst(cube.factors, personas, tuple(extremes), tuple(labels), tuple(flips))


def _one_model(
    cube: Cube, m: int, personas: Personas, chance: ChanceCheck
) -> tuple[list[ConfigurationExtremes], list[LabelShare], Flips]:
    model, answers = cube.models[m], cube.answers(m)
    selection = select(cube, np.asarray(answers.present.any(axis=(2, 3))), personas)
    cells = np.ix_(selection.personas, selection.configurations)
    names = [cube.personas[p] for p in selection.personas]
    at_chance = chance.at_chance(model)
    weak = {row.name for row in chance.rows_of(model, "persona") if not row.rankable}
    by_replicate: list[list[ConfigurationExtremes]] = []
    for r in range(cube.replicates):
        A, n = complete_accuracy(answers.correct[:, :, r][cells], answers.present[:, :, r][cells])
        configurations = [cube.configuration(int(c)) for c in selection.configurations]
        by_replicate.append(
            [
                _extremes(model, names, levels, r, A[:, i], int(n[i]), levels in at_chance)
                for i, levels in enumerate(configurations)
            ]
        )
    used = _with_ranks(by_replicate)
    sound = _with_ranks([[row for row in rows if not row.at_chance] for rows in by_replicate])
    shares = [
        LabelShare(model, name, *_shares(name, used), *_shares(name, sound), name in weak)
        for name in (names if used else ())
    ]
    nothing = "no configuration has a question that all labels share"
    flip = Flips(
        model=model,
        **_figures(used, nothing),
        both=_both(names, used),
        at_chance=len({row.levels for rows in used for row in rows if row.at_chance}),
        above_chance=FlipsAboveChance(
            **_figures(sound, "no configuration is shown to be above chance" if used else nothing),
            both=_both(names, sound),
        ),
        left_out=selection.left_out,
    )
    return [row for rows in by_replicate for row in rows], shares, flip


def _with_ranks(
    by_replicate: list[list[ConfigurationExtremes]],
) -> list[list[ConfigurationExtremes]]:
    """The rows that have ranks, of the replicates that have any."""
    return [ranked for rows in by_replicate if (ranked := [row for row in rows if row.best])]


def _figures(replicates: list[list[ConfigurationExtremes]], nothing: str) -> dict[str, Figure]:
    """Means over replicates, or the reason why there are none."""
    summaries = [_summary(rows) for rows in replicates]
    return {
        key: mean_figure(s[key] for s in summaries) if summaries else Figure.undefined(nothing)
        for key in (
            *("configurations", "tied", "distinct_best", "distinct_worst"),
            *("best_flips", "worst_flips"),
        )
    }


def _both(names: list[str], replicates: list[list[ConfigurationExtremes]]) -> tuple[str, ...]:
    return tuple(name for name in names if any(_is_both(name, rows) for rows in replicates))


def _extremes(
    model: str,
    names: list[str],
    levels: tuple[Any, ...],
    replicate: int,
    A: Any,
    questions: int,
    at_chance: bool,
) -> ConfigurationExtremes:
    rounded = np.round(A, TIE_DECIMALS)
    if len(rounded) == 0 or np.isnan(rounded).any():
        why = "no label is left" if len(rounded) == 0 else "no question is complete for all labels"
        return ConfigurationExtremes(
            model, levels, replicate, (), (), np.nan, np.nan, questions, False, at_chance, why
        )
    top, bottom = rounded.max(), rounded.min()
    return ConfigurationExtremes(
        model,
        levels,
        replicate,
        tuple(names[p] for p in np.flatnonzero(rounded == top)),
        tuple(names[p] for p in np.flatnonzero(rounded == bottom)),
        100.0 * float(A.max()),
        100.0 * float(A.min()),
        questions,
        bool(top == bottom),
        at_chance,
    )


def _shares(name: str, replicates: list[list[ConfigurationExtremes]]) -> tuple[float, float]:
    if not replicates:
        return np.nan, np.nan

    def mean(which: str) -> float:
        each = [
            np.mean([(name in getattr(r, which)) / len(getattr(r, which)) for r in rows])
            for rows in replicates
        ]
        return 100.0 * float(np.mean(each))

    return mean("best"), mean("worst")


def _is_both(name: str, rows: list[ConfigurationExtremes]) -> bool:
    apart = [row for row in rows if not row.tied]
    return any(name in row.best for row in apart) and any(name in row.worst for row in apart)


def _summary(rows: list[ConfigurationExtremes]) -> dict[str, Figure]:
    def distinct(which: str) -> Figure:
        return Figure(float(len({name for row in rows for name in getattr(row, which)})))

    def flipped(which: str) -> Figure:
        sets = [frozenset(getattr(row, which)) for row in rows]
        pairs = [a.isdisjoint(b) for a, b in combinations(sets, 2)]
        if not pairs:
            return Figure.undefined("one configuration has no pair")
        return Figure(100.0 * sum(pairs) / len(pairs))

    return {
        "configurations": Figure(float(len(rows))),
        "tied": Figure(float(sum(row.tied for row in rows))),
        "distinct_best": distinct("best"),
        "distinct_worst": distinct("worst"),
        "best_flips": flipped("best"),
        "worst_flips": flipped("worst"),
    }
