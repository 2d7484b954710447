"""An analysis on a terminal: what to know first, then compact tables with small bars."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Literal, get_args

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from nongrata.analysis.accuracy import AccuracyRow
from nongrata.analysis.analyze import Analysis
from nongrata.analysis.cube import configuration_label
from nongrata.analysis.extremes import Flips, FlipsAboveChance, LabelShare
from nongrata.analysis.instability import Instability, InstabilityRow
from nongrata.analysis.outcomes import OutcomeRow
from nongrata.report.terminal.accuracy_intervals_table import accuracy_intervals_table
from nongrata.report.terminal.agreement_table import agreement_table
from nongrata.report.terminal.chance_table import chance_table
from nongrata.report.terminal.comparisons_table import comparisons_table, model_comparisons_table
from nongrata.report.terminal.components_table import components_table
from nongrata.report.terminal.contrasts_table import contrasts_table
from nongrata.report.terminal.held_out_table import held_out_table
from nongrata.report.terminal.letters_table import letters_table
from nongrata.report.terminal.noise_table import noise_table
from nongrata.report.terminal.pieces import (
    PEOPLE,
    Bar,
    as_name,
    count,
    new_table,
    number,
    percent,
    shown,
)
from nongrata.report.terminal.ranking_table import ranking_table
from nongrata.report.terminal.task_format_table import task_format_table
from nongrata.report.terminal.unread_table import unread_table

LABELS_SHOWN = 12
"""Labels listed per model; all of them are in the JSON form and in `AccuracyTable`."""

_SETS = {
    "labels": "labels only",
    "with_controls": "with controls",
    "as_preprint": "as in the preprint",
}
_BOUNDS = "at most: answers that could not be read counted as right; read only: left out"
_PARTS = (
    "K: configurations compared. IA: mean difference of accuracy between them, in points. "
    "IO (a reconstruction): rank shifts of labels, weighted by how far labels lie apart; shift is "
    "in ranks, x rand is 1 for ranks dealt out at random, spread is the sd over labels of "
    "accuracy in points. IQ: per cent of the questions ever right that are not always right; it "
    "grows with K, so compare rows by IQ(2)."
)


Section = Literal[
    "instability", "chance", "labels", "outcomes", "accuracy", "ranking", "contrasts",
    "task_format", "components", "agreement", "held_out", "comparisons",
]  # fmt: skip
SECTIONS: tuple[Section, ...] = get_args(Section)
OVERVIEW: tuple[Section, ...] = ("instability", "chance", "labels", "outcomes")
"""What is shown unless something else is asked for."""


def render_analysis(analysis: Analysis, sections: Sequence[Section] = OVERVIEW) -> RenderableType:
    """What an analysis says, for a terminal of any width.

    Parameters
    ----------
    analysis
        From `nongrata.analysis.analyze`.
    sections
        Which parts of it, always in the order of `SECTIONS`.

    Returns
    -------
    A rich renderable: ``Console().print(render_analysis(analysis))``.
    """
    parts: list[RenderableType] = [_head(analysis)]
    parts.extend(_notices(analysis))
    for model in analysis.models:
        if len(analysis.models) > 1:
            parts.append(Text(f"\n{shown(model)}", style="bold underline"))
        for section in SECTIONS:
            if section in sections:
                parts.extend(_section(analysis, model, section))
    if "comparisons" in sections:
        parts.extend(model_comparisons_table(analysis.comparisons))
    if "instability" in sections:
        parts.append(Text(_PARTS, style="dim"))
    parts.append(Text(PEOPLE, style="dim"))
    further = [name.replace("_", "-") for name in SECTIONS if name not in sections]
    if further:
        parts.append(Text(f"More, with --about: {', '.join(further)}, all", style="dim"))
    return Group(*parts)


def _section(analysis: Analysis, model: str, section: Section) -> Iterator[RenderableType]:
    rankable = analysis.chance.rankable(model)
    match section:
        case "instability":
            yield from _instability(analysis, model)
            yield from noise_table(analysis.noise, model)
        case "chance":
            yield from chance_table(analysis.chance, model)
        case "labels":
            yield from _labels(analysis, model)
        case "outcomes":
            yield from letters_table(analysis.accuracy, model)
            yield _outcomes(analysis, model)
            yield from unread_table(analysis.unread_bounds, model)
        case "accuracy":
            found = analysis.accuracy_intervals
            yield from accuracy_intervals_table(found, model, rankable=rankable)
        case "ranking":
            yield from ranking_table(analysis.ranking, model, rankable=rankable)
        case "contrasts":
            yield from contrasts_table(analysis.contrasts, model)
        case "task_format":
            yield from task_format_table(analysis.task_format, model)
        case "components":
            yield from components_table(analysis.components, model)
        case "agreement":
            yield from agreement_table(analysis.agreement, model)
        case "held_out":
            yield from held_out_table(analysis.held_out, model)
        case "comparisons":
            yield from comparisons_table(analysis.comparisons, model)


def _head(analysis: Analysis) -> Text:
    labels = len(analysis.personas) - len(analysis.controls)
    factors = " x ".join(map(shown, analysis.factors))
    counts = [
        f"{count(labels, 'label')} and {count(len(analysis.controls), 'control')}",
        f"{count(analysis.configurations, 'configuration')} ({factors})",
        count(analysis.questions, "question"),
    ]
    if analysis.replicates > 1:
        counts.append(count(analysis.replicates, "replicate"))
    return Text(f"{', '.join(map(shown, analysis.models))}: {', '.join(counts)}")


def _notices(analysis: Analysis) -> Iterator[Text]:
    for notice in analysis.notices:
        yield Text.assemble(("! ", "bold yellow"), (shown(notice.text), "yellow"))


def _instability(analysis: Analysis, model: str) -> Iterator[RenderableType]:
    main = analysis.instability[0]
    table = new_table("Instability" + (" of exact probabilities" if main.value == "theta" else ""))
    table.add_column("over", overflow="fold")
    for name in ("K", "IA", "", "IO", "shift", "x rand", "spread", "IQ", "IQ(2)"):
        table.add_column(name, justify="right" if name else "left", no_wrap=True)
    rows = [(_over(row, main), row) for row in main.of(model)]
    others = [
        (_SETS[other.persona_set], row)
        for other in analysis.instability[1:]
        for row in other.of(model, "overall")
        if (row.personas, row.configurations) != (rows[0][1].personas, rows[0][1].configurations)
    ]
    rows[1:1] = others
    largest = max((row.ia.value for _, row in rows if row.ia.defined), default=0.0)
    section = rows[0][1].scope
    for label, row in rows:
        if row.scope != section:
            table.add_section()
            section = row.scope
        table.add_row(
            as_name(label),
            str(row.compared),
            number(row.ia),
            Bar(row.ia.value / largest if largest > 0 else 0.0, 4),
            number(row.io),
            number(row.rank_shift, 1),
            number(row.relative_rank_shift),
            number(row.spread, 1),
            number(row.iq, 1),
            number(row.iq_at(2), 1),
        )
    yield table
    yield from _rests_on(main, model)
    for reason in dict.fromkeys(
        figure.reason
        for _, row in rows
        for figure in (row.ia, row.io, row.relative_rank_shift, row.iq)
        if not figure.defined
    ):
        yield Text(f"- : undefined, {shown(reason)}", style="dim")


def _over(row: InstabilityRow, result: Instability) -> str:
    return row.name or _SETS[result.persona_set]


def _rests_on(result: Instability, model: str) -> Iterator[Text]:
    row = result.of(model, "overall")[0]
    yield Text(
        f"{_SETS[result.persona_set]}: {count(row.personas, 'persona')}, "
        f"{count(row.configurations, 'configuration')}, {count(row.questions, 'question')}, "
        f"{count(row.answers, 'answer')}",
        style="dim",
    )
    fewest = min(row.fewest_questions_ia, row.fewest_questions_io, row.fewest_questions_iq)
    if 0 < fewest < row.questions:
        yield Text(
            f"missing answers leave as few as {row.fewest_questions_ia:,} questions behind IA, "
            f"{row.fewest_questions_io:,} behind IO and {row.fewest_questions_iq:,} behind IQ",
            style="dim",
        )
    for left in (item for m in result.left_out if m.model == model for item in m.left_out):
        names = ", ".join(map(shown, left.names[:4]))
        more = f" and {len(left.names) - 4} more" if len(left.names) > 4 else ""
        yield Text(f"left out: {names}{more} ({left.why})", style="dim")


def _labels(analysis: Analysis, model: str) -> Iterator[RenderableType]:
    rankable = analysis.chance.rankable(model)
    flips = next(f for f in analysis.best_and_worst.flips if f.model == model)
    rows = [row for row in analysis.accuracy.personas if row.model == model]
    shares = {s.persona: s for s in analysis.best_and_worst.labels if s.model == model}
    weak = {row.name for row in analysis.chance.rows_of(model, "persona") if not row.rankable}
    kept = _order(rows, rankable)
    title = "Accuracy by label (%)" + ("" if rankable else ": in the study's order, not ranked")
    table = new_table(title)
    table.add_column("label", overflow="fold")
    table.add_column("accuracy", justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    for heading in ("at most", "read only"):
        table.add_column(heading, justify="right", no_wrap=True)
    if rankable:
        table.add_column("best in", justify="right", no_wrap=True)
        table.add_column("worst in", justify="right", no_wrap=True)
    for row in kept:
        place = _places(shares.get(row.persona or "")) if rankable else ()
        marks = (" control" if row.is_control else "") + (" ?" if row.persona in weak else "")
        table.add_row(
            Text.assemble(as_name(row.persona), (marks, "dim")),
            percent(row.accuracy),
            Bar(row.accuracy / 100.0),
            percent(row.if_unread_right),
            percent(row.read_only),
            *place,
        )
    yield table
    if len(rows) > len(kept):
        yield Text(f"{len(rows) - len(kept)} more labels are in the JSON output", style="dim")
    yield Text(_BOUNDS, style="dim")
    if any(row.persona in weak for row in kept):
        yield Text("?: not shown to be above chance and the best constant answer", style="dim")
    if rankable and flips.at_chance:
        yield Text("best in, worst in: of the configurations above chance", style="dim")
    yield Padding(_flips(flips, rankable), (0, 0, 1, 0))


def _order(rows: list[AccuracyRow], rankable: bool) -> list[AccuracyRow]:
    if not rankable:
        return rows[:LABELS_SHOWN]
    ordered = sorted(rows, key=lambda row: -row.accuracy if row.answers else math.inf)
    if len(ordered) <= LABELS_SHOWN:
        return ordered
    half = LABELS_SHOWN // 2
    return ordered[:half] + ordered[-half:]


def _places(share: LabelShare | None) -> tuple[str, str]:
    if share is None or math.isnan(share.best_above_chance):
        return "-", "-"
    return f"{share.best_above_chance:.0f}%", f"{share.worst_above_chance:.0f}%"


def _flips(flips: Flips, rankable: bool) -> Text:
    if not flips.distinct_best.defined:
        return Text(f"best and worst label: undefined, {shown(flips.distinct_best.reason)}")
    sentence = (
        f"Over {flips.configurations.value:.3g} configurations, "
        f"{flips.distinct_best.value:.3g} labels come out best and "
        f"{flips.distinct_worst.value:.3g} worst (ties shared); {len(flips.both)} come out best in "
        f"one configuration and worst in another.{_pairs(flips)}"
    )
    if not rankable:
        return Text(f"{sentence} Nothing can be ranked here: noise alone makes such changes.")
    if flips.at_chance:
        sentence += (
            f" {flips.at_chance} of these configurations are not shown to be above chance and the "
            "best constant answer: which label comes out best or worst there may be noise alone."
        )
        sound = flips.above_chance
        if sound.distinct_best.defined:
            sentence += (
                f" Over the other {sound.configurations.value:.3g}, "
                f"{sound.distinct_best.value:.3g} come out best, "
                f"{sound.distinct_worst.value:.3g} worst, {len(sound.both)} both."
                f"{_pairs(sound)}"
            )
    return Text(sentence)


def _pairs(flips: Flips | FlipsAboveChance) -> str:
    if not flips.best_flips.defined:
        return ""
    return (
        f" In {flips.best_flips.value:.0f}% of the pairs of configurations the best label is "
        f"another one, in {flips.worst_flips.value:.0f}% the worst."
    )


def _outcomes(analysis: Analysis, model: str) -> Table:
    table = new_table("What became of the requests (%)")
    table.add_column("over", overflow="fold")
    for name in ("read", "unparsed", "refused", "cut off", "error", "not obtained"):
        table.add_column(name, justify="right", overflow="fold")
    rows = [row for row in analysis.outcomes.rows if row.model == model]
    chosen = [("all answers", row) for row in rows if row.scope == "model"]
    for scope, words in (("persona", "least read"), ("configuration", "least read")):
        of_scope = [r for r in rows if r.scope == scope and not math.isnan(r.rates["answered"])]
        if of_scope:
            worst = min(of_scope, key=lambda r: r.rates["answered"])
            name = str(worst.persona) if worst.levels is None else configuration_label(worst.levels)
            if worst.rates["answered"] < 100.0:
                chosen.append((f"{words}: {name}", worst))
    for label, row in chosen:
        table.add_row(as_name(label), *_rates(row))
    return table


def _rates(row: OutcomeRow) -> list[str]:
    names = ("answered", "unparsed", "refused", "truncated", "error", "not_obtained")
    return [percent(row.rates[name]) for name in names]
