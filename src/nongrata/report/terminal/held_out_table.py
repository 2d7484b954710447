"""Choices in sample and held out, on a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from nongrata.analysis.estimated import Estimated
from nongrata.analysis.held_out import HeldOut
from nongrata.analysis.held_out_rows import Choosing, HeldOutRow, ModelHeldOut, SignTest
from nongrata.report.terminal.pieces import as_name, count, new_table, shown
from nongrata.stats.figure import Figure

TEMPERATURES_SHOWN = 8

_NAMES: dict[Choosing, str] = {
    "across_temperatures": "stable at T={low:g} less unstable at T={high:g}",
    "within_temperature": "stable less unstable, T={name}",
    "all_configurations": "stable less unstable",
    "best_label": "best label less mean",
    "worst_label": "worst label less mean",
    "best_label_of_each_configuration": "best in each configuration",
    "worst_label_of_each_configuration": "worst in each configuration",
}
_HOW = (
    "in sample: chosen and judged by the same answers. held out: chosen by one half of the "
    "questions, judged on the other, both ways; in brackets its 95% interval, on the safe side. "
    "optimism: the difference between the two."
)


def held_out_table(result: HeldOut, model: str) -> Iterator[RenderableType]:
    """One model's choices, judged on the answers that made them and on others.

    Parameters
    ----------
    result
        From `nongrata.analysis.held_out.held_out`.
    model
        Which model.
    """
    found = result.of(model)
    table = new_table("Chosen and judged on different questions (points of accuracy)")
    table.add_column("what is chosen", overflow="fold")
    for name in ("n", "in sample", "held out", "optimism"):
        table.add_column(name, justify="right", no_wrap=True)
    within = [row for row in found.rows if row.choosing == "within_temperature"]
    hidden = {id(row) for row in within[TEMPERATURES_SHOWN:]}
    for row in found.rows:
        if id(row) in hidden:
            continue
        table.add_row(
            as_name(
                _NAMES[row.choosing].format(low=found.lowest, high=found.highest, name=row.name)
            ),
            str(row.number) if row.number else "-",
            _points(row.in_sample.estimate),
            _interval(row.held_out),
            _points(row.optimism),
        )
    yield table
    yield Text(_HOW, style="dim")
    yield Text(
        f"{count(found.labels, 'label')}, {count(found.configurations, 'configuration')}, "
        f"{count(found.questions, 'question')} in {count(found.clusters, 'cluster')}",
        style="dim",
    )
    if hidden:
        yield Text(f"{count(len(hidden), 'more temperature')}: see the JSON output", style="dim")
    yield from _notes(found)
    for sign in result.signs:
        if sign.choosing in ("across_temperatures", "all_configurations"):
            yield Text(_sign(sign, len(result.models)))
    yield Text(result.read_it)


def _notes(found: ModelHeldOut) -> Iterator[Text]:
    reasons: dict[str, list[HeldOutRow]] = {}
    for row in found.rows:
        if not row.held_out.estimate.defined:
            reasons.setdefault(row.held_out.estimate.reason, []).append(row)
    for reason in reasons:
        yield Text(f"-: {shown(reason)}", style="dim")
    fewer = [row for row in found.rows if 0 < row.number < row.wanted]
    if fewer:
        yield Text(
            f"n: fewer than {fewer[0].wanted} are chosen where there are not twice as many "
            "configurations, so that there is a choice",
            style="dim",
        )
    if found.temperature_gap.estimate.defined:
        yield Text(
            f"Without any choice, all configurations at T={found.lowest:g} less all at "
            f"T={found.highest:g}: {_interval(found.temperature_gap)} points."
        )


def _sign(sign: SignTest, models: int) -> str:
    verdict = (
        "not distinguishable from tossing a coin"
        if sign.p_held_out > 0.05
        else "more than tossing a coin explains, if models are independent"
    )
    less = "" if sign.models == models else f" of {models} (the others are 0 or undefined)"
    return (
        f"Held out, the stable configurations are ahead in {sign.positive_held_out} of "
        f"{sign.models} models{less}: p = {sign.p_held_out:.3g}, {verdict} (in sample: "
        f"{sign.positive_in_sample} of {sign.models}, p = {sign.p_in_sample:.3g})."
    )


def _points(figure: Figure) -> str:
    """Two digits, without a minus before zero."""
    return f"{round(figure.value, 2) + 0.0:.2f}" if figure.defined else "-"


def _interval(value: Estimated) -> str:
    if not value.estimate.defined or value.low != value.low:
        return _points(value.estimate)
    return f"{_points(value.estimate)} [{value.low:.2f}, {value.high:.2f}]"
