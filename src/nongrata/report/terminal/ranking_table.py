"""The order of the labels on a terminal: what is certain, and what configurations do to it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from nongrata.analysis.ranking import Ranking
from nongrata.analysis.ranking_rows import (
    AgreementRow,
    HalvesRow,
    LabelRank,
    ModelRanking,
    RankingOfLabels,
)
from nongrata.report.terminal.pieces import as_name, count, new_table, number, shown
from nongrata.stats.figure import Figure

LABELS_SHOWN = 12
"""Labels listed; all of them are in the JSON form."""
NAMES_SHOWN = 5

_COLUMNS = (
    "rank: by these answers. could be: ranks that fit the label, 95% sure of this one label; all "
    "at once: 95% sure of all labels together. B: could be the best label, W: the worst."
)
_AGREEMENT = (
    "K: rankings compared. W: Kendall's, 1 if all agree, about 1/K for random orders. tau-b, rho: "
    "mean rank correlation of two rankings, 1 for the same order, 0 for unrelated ones. shift: how "
    "many ranks a label moves from one to another. No intervals: resampling would add noise to "
    "ranks. These rankings share questions, and with them luck; the next table takes that out."
)
_HALVES = (
    "Two rankings, each from another half of the questions (means over random halves). same: of "
    "the same configuration, so only the questions differ; other: of two configurations. r: "
    "correlation of the labels' accuracies between configurations with the noise taken out, 95% "
    "interval below; 1: configurations change nothing but noise. new best: per cent of such pairs "
    "in which no label is best in both."
)
_LEVELS = (
    "pairs: pairs of labels in an order that is shown, of all pairs. best, worst: how many labels "
    "could be it. Fewer answers show less: a level is no worse for having fewer pairs."
)


def ranking_table(
    result: Ranking, model: str, *, rankable: bool = True
) -> Iterator[RenderableType]:
    """One model's ranking.

    Parameters
    ----------
    result
        From `nongrata.analysis.ranking`.
    model
        Which model.
    rankable
        Whether the model is above chance and above the best constant answer (`ChanceCheck`); if
        not, no label is put before another.
    """
    part = result.of(model)
    if not part.overall.labels:
        yield Text(f"Ranking of labels: none, {shown(part.overall.reason)}", style="dim")
        return
    if rankable:
        yield _labels(part)
        yield Text(_COLUMNS, style="dim")
        yield Text(_said_of_pairs(part))
        if len(part.rankings) > 1:
            yield _levels(part)
            yield Text(_LEVELS, style="dim")
    else:
        yield Text(
            "\nNo ranking of labels: accuracy is not shown to be above chance and the best "
            "constant answer. How far rankings agree is shown all the same."
        )
    yield _agreement(part.agreement)
    yield from _reasons(f for a in part.agreement for f in (a.kendall_w, a.tau_b))
    yield Text(_AGREEMENT, style="dim")
    yield _halves(part.halves)
    yield from _reasons(f for h in part.halves for f in (h.correlation, h.tau_b.different))
    yield Text(_HALVES, style="dim")
    yield from _said_of_halves(part.halves[0])
    yield Text(_rests_on(part), style="dim")


def _labels(part: ModelRanking) -> Table:
    overall = part.overall
    table = new_table(f"Which rank could each label have? (mean of {part.configurations})")
    table.add_column("label", overflow="fold")
    for name in ("accuracy (%)", "se", "rank", "could be", "all at once"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    ordered = sorted(overall.labels, key=lambda label: label.rank)
    half = LABELS_SHOWN // 2
    kept = ordered if len(ordered) <= LABELS_SHOWN else [*ordered[:half], *ordered[-half:]]
    for i, label in enumerate(kept):
        if i == half and len(kept) < len(ordered):
            table.add_section()
        table.add_row(
            as_name(label.persona),
            f"{label.accuracy:.2f}",
            number(label.se),
            f"{label.rank:g}",
            _ranks(label.low, label.high),
            _ranks(label.all_low, label.all_high),
            _marks(label),
        )
    return table


def _ranks(low: int, high: int) -> str:
    return f"{low}" if low == high else f"{low}-{high}"


def _marks(label: LabelRank) -> str:
    return "B" * label.possibly_best + "W" * label.possibly_worst


def _said_of_pairs(part: ModelRanking) -> str:
    order, overall = part.order, part.overall
    best, worst = overall.possibly_best, overall.possibly_worst
    sentence = (
        f"{order.ordered:,} of {count(order.pairs, 'pair')} of labels are in an order that these "
        f"questions show (all such statements together, 5% error; {order.ordered_holm:,} by "
        f"Holm's method). {_may_be(best, 'best')} {_may_be(worst, 'worst')}"
    )
    if order.without_se:
        sentence += (
            f" In {count(order.without_se, 'pair')} the difference is the same on every question, "
            "so that no order can be tested."
        )
    return sentence


def _may_be(names: Sequence[str], place: str) -> str:
    if len(names) == 1:
        return f"Only {shown(names[0])} could be {place}."
    listed = ", ".join(map(shown, names[:NAMES_SHOWN]))
    more = f" and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else ""
    return f"Any of {len(names)} labels could be {place}: {listed}{more}."


def _levels(part: ModelRanking) -> Table:
    table = new_table("The same for each level of each factor")
    table.add_column("over", overflow="fold")
    for name in ("configurations", "pairs", "best", "worst"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("highest", overflow="fold")
    factor = ""
    for ranking in part.rankings:
        if ranking.scope == "configuration" or not ranking.labels:
            continue
        if ranking.factor != factor:
            table.add_section()
            factor = ranking.factor
        table.add_row(
            as_name(f"{ranking.factor}: {ranking.name}" if ranking.factor else "all"),
            str(ranking.configurations),
            f"{ranking.ordered}/{ranking.pairs}",
            str(len(ranking.possibly_best)),
            str(len(ranking.possibly_worst)),
            as_name(_highest(ranking)),
        )
    return table


def _highest(ranking: RankingOfLabels) -> str:
    first = min(label.rank for label in ranking.labels)
    names = [label.persona for label in ranking.labels if label.rank == first]
    return names[0] if len(names) == 1 else f"{len(names)} tied"


def _agreement(rows: Sequence[AgreementRow]) -> Table:
    table = new_table("How far do rankings under different configurations agree?")
    table.add_column("over", overflow="fold")
    for name in ("K", "W", "tau-b", "rho", "shift"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(
            as_name(row.name or "all configurations"),
            str(row.compared),
            number(row.kendall_w),
            number(row.tau_b),
            number(row.spearman),
            number(row.shift, 1),
        )
    return table


def _halves(rows: Sequence[HalvesRow]) -> Table:
    table = new_table("Is it the configuration, or the questions?")
    table.add_column("over", overflow="fold")
    table.add_column("r", justify="right", overflow="fold", min_width=12)
    for name in ("tau-b\nsame", "\nother", "shift\nsame", "\nother", "new best\nsame", "\nother"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(
            as_name(row.name or "all configurations"),
            _with_interval(row.correlation, row.correlation_low, row.correlation_high),
            *(number(f) for f in (row.tau_b.same, row.tau_b.different)),
            *(number(f, 1) for f in (row.shift.same, row.shift.different)),
            *(number(f, 0) for f in (row.best_changes.same, row.best_changes.different)),
        )
    return table


def _with_interval(figure: Figure, low: float, high: float) -> Text:
    if not figure.defined or math.isnan(low):
        return number(figure)
    return Text.assemble(f"{figure.value:.2f}", (f"\n{low:.2f} to {high:.2f}", "dim"))


def _said_of_halves(row: HalvesRow) -> Iterator[Text]:
    same, other = row.tau_b.same, row.tau_b.different
    if not (same.defined and other.defined):
        return
    yield Text(
        f"With other questions, a ranking under the same configuration agrees by tau-b "
        f"{same.value:.2f}, under another configuration by {other.value:.2f}. What the second "
        "falls short of the first is the configurations' doing (r has an interval, this has not); "
        "what the first falls short of 1 is the noise of half the questions, and no instability."
    )


def _reasons(figures: Iterator[Figure]) -> Iterator[Text]:
    for reason in dict.fromkeys(f.reason for f in figures if not f.defined):
        yield Text(f"- : undefined, {shown(reason)}", style="dim")


def _rests_on(part: ModelRanking) -> str:
    words = (
        f"ranking: {count(part.labels, 'label')}, {count(part.configurations, 'configuration')}, "
        f"{count(part.questions, 'question')} in {count(part.clusters, 'cluster')}"
    )
    if part.overall.questions < part.questions:
        words += f" ({part.overall.questions:,} complete for all labels)"
    if part.design_effect.defined and part.clusters < part.questions:
        words += f", design effect {part.design_effect.value:.2f}"
    return f"{words}; {count(part.splits, 'random split')}, {part.draws:,} draws"
