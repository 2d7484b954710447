"""Re-runs of a study on a terminal: each figure beside what it would be another time."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.text import Text

from nongrata.analysis.rerun import ModelRerun, Rerun, RerunFigure, RerunLabel
from nongrata.analysis.rerun_draws import Metric
from nongrata.report.terminal.pieces import PEOPLE, as_name, count, new_table, percent, shown

LABELS_SHOWN = 12
"""Labels listed per model; all of them are in the JSON form."""

_NAMES: dict[Metric, str] = {
    "accuracy": "accuracy (%)",
    "ia": "IA (points)",
    "io": "IO (ranks x points)",
    "rank_shift": "  rank shift (ranks)",
    "spread": "  spread (points)",
    "iq": "IQ (%)",
    "iq_of_two": "IQ(2) (%)",
    "best_flips": "best label changes (% of pairs)",
    "worst_flips": "worst label changes (% of pairs)",
}


def render_rerun(result: Rerun) -> RenderableType:
    """Everything about the re-runs, for a terminal of any width.

    Parameters
    ----------
    result
        From `nongrata.analysis.rerun`.
    """
    parts: list[RenderableType] = [
        Text(f"{result.draws:,} re-runs of the same study (seed {result.seed})")
    ]
    for model in result.models:
        parts.append(Text(f"\n{shown(model.model)}", style="bold"))
        parts.extend(_model(model))
    parts.append(Text(result.read_it, style="dim"))
    parts.append(Text(PEOPLE, style="dim"))
    return Group(*parts)


def _model(model: ModelRerun) -> Iterator[RenderableType]:
    yield Text(
        f"{count(model.personas, 'persona')}, {count(model.configurations, 'configuration')}, "
        f"{count(model.questions, 'question')}"
        + (f", {count(model.replicates, 'replicate')}" if model.replicates > 1 else ""),
        style="dim",
    )
    for basis in model.bases:
        yield Text(f"{count(basis.cells, 'cell')}: {basis.meaning}", style="dim")
    for left in model.left_out:
        names = ", ".join(map(shown, left.names[:4]))
        more = f" and {len(left.names) - 4} more" if len(left.names) > 4 else ""
        yield Text(f"left out: {names}{more} ({left.why})", style="dim")
    table = new_table("Figures over re-runs")
    table.add_column("figure", overflow="fold")
    for name in ("this run", "expected", "sd", "2.5%", "97.5%", "below"):
        table.add_column(name, justify="right", no_wrap=True)
    for figure in model.figures:
        table.add_row(_NAMES[figure.metric], *_numbers(figure))
    yield table
    yield Text("below: per cent of re-runs below this run's figure", style="dim")
    for reason in dict.fromkeys(figure.reason for figure in model.figures if figure.reason):
        yield Text(f"- : {reason}", style="dim")
    if model.labels:
        yield from _labels(model)


def _numbers(figure: RerunFigure) -> list[str]:
    numbers = (figure.observed, figure.expected, figure.sd, figure.low, figure.high)
    return [*(percent(value, 2) for value in numbers), percent(figure.below, 0)]


def _labels(model: ModelRerun) -> Iterator[RenderableType]:
    kept = model.labels[:LABELS_SHOWN]
    if model.rankable:
        often = sorted(model.labels, key=lambda label: -max(label.best, label.worst))
        chosen = {label.persona for label in often[:LABELS_SHOWN]}
        kept = tuple(label for label in model.labels if label.persona in chosen)
    table = new_table(
        "Labels over re-runs: best, worst"
        if model.rankable
        else "Accuracy by label over re-runs: in the study's order, not ranked"
    )
    table.add_column("label", overflow="fold")
    for name in ("this run", "2.5%", "97.5%", *(("best", "worst") if model.rankable else ())):
        table.add_column(name, justify="right", no_wrap=True)
    for label in kept:
        table.add_row(*_label(label, model.rankable))
    yield table
    if len(model.labels) > len(kept):
        more = count(len(model.labels) - len(kept), "more label")
        yield Text(f"{more}: see the JSON output", style="dim")
    if model.rankable:
        yield Text("*: in this run", style="dim")
    if any(label.at_chance for label in kept):
        yield Text("?: not shown to be above chance and the best constant answer", style="dim")
    if model.at_chance:
        yield Text(
            f"{model.at_chance} of the {count(model.configurations, 'configuration')} are not "
            "shown to be above chance and the best constant answer",
            style="dim",
        )
    if not model.rankable:
        yield Text("Nothing can be ranked here: accuracy is not shown to be above chance.")


def _label(label: RerunLabel, rankable: bool) -> list[Text | str]:
    name = Text.assemble(as_name(label.persona), (" ?" if label.at_chance else "", "dim"))
    values = [percent(value) for value in (label.observed, label.low, label.high)]
    if not rankable:
        return [name, *values]
    places = (
        f"{share:.0f}%{'*' if here > 0 else ' '}"
        for share, here in (
            (label.best, label.observed_best),
            (label.worst, label.observed_worst),
        )
    )
    return [name, *values, *places]
