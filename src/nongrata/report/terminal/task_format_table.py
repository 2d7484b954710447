"""What each factor does to accuracy, and factors taken apart, on a terminal."""

from __future__ import annotations

import math
from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from nongrata.analysis.task_format import TaskFormat
from nongrata.analysis.task_format_rows import (
    Difference,
    FactorApart,
    FactorEffect,
    ModelTaskFormat,
    SubEffect,
    Variance,
)
from nongrata.report.terminal.pieces import as_name, count, new_table, percent, shown


def task_format_table(result: TaskFormat, model: str) -> Iterator[RenderableType]:
    """Levels against their mean; sub-factors, interactions and wordings.

    Parameters
    ----------
    result
        From `nongrata.analysis.task_format.task_format`.
    model
        Which of its models.
    """
    found = result.of(model)
    if found.reason:
        yield Text(f"\nEffects of the factors: {shown(found.reason)}", style="dim")
        return
    yield from _levels(found)
    for apart in found.apart:
        yield from _apart(apart)
    yield Text(_rests_on(found), style="dim")


def _levels(model: ModelTaskFormat) -> Iterator[RenderableType]:
    compared = [factor for factor in model.factors if not factor.reason]
    if compared:
        table = new_table("What each level does to accuracy (points)")
        table.add_column("level", overflow="fold")
        for name in ("accuracy %", "against mean", "95%, all levels", "p"):
            table.add_column(name, justify="right", no_wrap=True)
        for factor in compared:
            table.add_section()
            table.add_row(as_name(factor.factor, "bold"), "", "", "", "")
            for row in factor.levels:
                table.add_row(
                    Text.assemble("  ", as_name(row.level)),
                    percent(row.accuracy, 2),
                    *_numbers(row.effect),
                )
        yield table
        yield Text(
            "accuracy: mean over labels and settings of the other factors. against mean: less the "
            "mean of the factor's levels. 95%, all levels: where that lies, for all levels of the "
            "factor at once. p: of no difference from the mean, adjusted for the number of levels.",
            style="dim",
        )
        for factor in sorted(compared, key=lambda factor: -factor.range):
            yield Text(_factor(factor))
    for factor in model.factors:
        if factor.reason:
            yield Text(f"{shown(factor.factor)}: {shown(factor.reason)}", style="dim")


def _factor(factor: FactorEffect) -> str:
    return (
        f"{shown(factor.factor)}: {factor.range:.2f} points between highest and lowest; without "
        f"the questions' noise the levels' standard deviation is {_plain_sd(factor.between)} (with "
        "its interval among the variance components)."
    )


def _sd(variance: Variance) -> str:
    if variance.reason:
        return f"unknown ({shown(variance.reason)})"
    low, high = (math.sqrt(max(v, 0.0)) for v in (variance.low, variance.high))
    return f"{variance.sd:.2f} points ({low:.2f} to {high:.2f})"


def _plain_sd(variance: Variance) -> str:
    return f"unknown ({shown(variance.reason)})" if variance.reason else f"{variance.sd:.2f} points"


def _apart(apart: FactorApart) -> Iterator[RenderableType]:
    other = any(not effect.over_wordings.reason for effect in apart.effects)
    table = new_table(f"{shown(apart.factor)} taken apart (points)")
    table.add_column("comparison", overflow="fold")
    for name in ("diff", "95%, all rows", "p"):
        table.add_column(name, justify="right", no_wrap=True)
    if other:
        table.add_column("other words", justify="right", no_wrap=True)
    table.add_column("labels' sd", justify="right", no_wrap=True)
    for effect in apart.effects:
        over = effect.over_wordings
        table.add_row(
            _comparison(effect),
            *_numbers(effect.average),
            *([_interval(over.low, over.high)] if other else []),
            percent(effect.between_labels.sd, 2),
        )
    yield table
    text = (
        "diff: accuracy at the first level less the second, mean over labels and over the levels "
        "of all else; x: how much the first difference depends on the second. "
    )
    if other:
        text += "other words: where it lies if the wordings are a sample of many, each row alone. "
    yield Text(
        text + "labels' sd: how far the difference varies from label to label, without noise.",
        style="dim",
    )
    for reason in dict.fromkeys(e.average.reason for e in apart.effects if e.average.reason):
        yield Text(f"- : undefined, {shown(reason)}", style="dim")
    yield from _wording(apart)


def _wording(apart: FactorApart) -> Iterator[Text]:
    wording = apart.wording
    if wording.reason:
        yield Text(f"Wording: {shown(wording.reason)}.")
        return
    ranges = [w.range for w in wording.combinations if len(w.levels) > 1]
    yield Text(
        f"Wording alone, all else equal: standard deviation {_sd(wording.of_average)} of the mean "
        f"over labels, {_sd(wording.of_label)} of one label; up to {max(ranges):.2f} points "
        "between two wordings of one combination, noise included."
    )


def _comparison(effect: SubEffect) -> Text:
    parts = [
        f"{shown(name)}: {shown(up)} - {shown(down)}"
        for name, (up, down) in zip(effect.sub_factors, effect.levels, strict=True)
    ]
    return Text(" x ".join(parts), overflow="fold")


def _numbers(effect: Difference) -> list[str]:
    return [
        f"{effect.estimate:+.2f}" if math.isfinite(effect.estimate) else "-",
        _interval(effect.low_together, effect.high_together),
        _p(effect.p_together),
    ]


def _interval(low: float, high: float) -> str:
    return f"{low:+.2f} to {high:+.2f}" if math.isfinite(low) else "-"


def _p(value: float) -> str:
    if not math.isfinite(value):
        return "-"
    return "<.001" if value < 0.001 else f"{value:.3f}".removeprefix("0")


def _rests_on(model: ModelTaskFormat) -> str:
    text = (
        f"{count(model.labels, 'label')}, {count(model.configurations, 'configuration')}, "
        f"{count(model.questions, 'question')}"
    )
    if model.clusters != model.questions:
        text += f" in {count(model.clusters, 'cluster')}"
        if math.isfinite(model.design_effect):
            text += f" (design effect {model.design_effect:.2f})"
    if model.fewest_questions < model.questions:
        text += f"; missing answers leave as few as {model.fewest_questions:,} questions in a cell"
    return text + "; no claim is made about other levels than these."
