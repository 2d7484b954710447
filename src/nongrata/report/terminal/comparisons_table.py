"""Models, domains and factors compared, on a terminal."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.text import Text

from nongrata.analysis.compare_domains import FEWEST_CLUSTERS, DomainComparison, DomainRow
from nongrata.analysis.compare_factors import FactorComparison
from nongrata.analysis.comparisons import Agreement, Comparisons
from nongrata.analysis.estimate_rows import DifferenceRow, Estimate, Metric
from nongrata.report.terminal.pieces import as_name, count, new_table, percent, shown

DOMAINS_SHOWN = 10
"""Domains listed: the most and the least sensitive."""

AGREEMENTS_SHOWN = 6
"""Shared directions listed."""

WORDS: dict[Metric, str] = {
    "accuracy": "accuracy (points)",
    "squared_difference": "sensitivity (points^2)",
    "ia": "IA (points)",
    "ia_excess": "IA excess (points)",
    "ia_at_size": "IA at equal size (points)",
    "iq_of_two": "IQ(2) (points of %)",
    "iq_of_all": "IQ(K) (points of %)",
}

_TYPICAL = (
    "typical: how many points the accuracies of two {what} lie apart (root mean square), with "
    "the noise of drawing and of the choice of questions taken off; 0 where no difference beyond "
    "noise was seen."
)
_IQ = (
    "IQ(2): per cent of the questions right in either of two configurations that are not right in "
    "both; it holds the noise of drawn answers."
)
_REACH = "±, [ ]: 95% interval of each number alone. "
_HOLM = "p: adjusted for all rows of the same figure (Holm); bold: decided, p at most .05."


def comparisons_table(result: Comparisons, model: str) -> Iterator[RenderableType]:
    """Factors and domains of one model.

    Parameters
    ----------
    result
        From `nongrata.analysis.comparisons.comparisons`.
    model
        Which model.
    """
    for factors in result.factors:
        if factors.model == model:
            yield from _factors(factors)
    for domains in result.domains:
        if domains.model == model:
            yield from _domains(domains)


def model_comparisons_table(result: Comparisons) -> Iterator[RenderableType]:
    """Models against one another, and directions that they share.

    Parameters
    ----------
    result
        From `nongrata.analysis.comparisons.comparisons`.
    """
    rows = result.models.rows
    if len(rows) < 2:
        return
    table = new_table("Models side by side")
    table.add_column("model", overflow="fold", max_width=24)
    for name in ("accuracy %", "typical", "IA excess", "IQ(2) %", "IQ(K) %"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(
            as_name(row.model), _plus_minus(row.accuracy),
            _with_interval(row.typical_difference), _plus_minus(row.ia_excess, 2),
            _plus_minus(row.iq_of_two), _plus_minus(row.iq_of_all),
        )  # fmt: skip
    yield table
    yield Text(_REACH + _TYPICAL.format(what="configurations"), style="dim")
    yield Text(
        "IA excess: mean difference of drawn accuracies less what equal accuracies would give. "
        + _IQ,
        style="dim",
    )
    metrics: tuple[Metric, ...] = ("accuracy", "squared_difference", "ia_excess", "iq_of_two")
    for metric in metrics:
        yield from _differences(
            f"Pairs of models: {WORDS[metric]}", result.models.of(metric), joint=True
        )
    yield Text(
        "Each pair is compared on the labels, configurations and questions that both have. The "
        "intervals hold for all pairs together; taking pairs one after another, p can decide one "
        "whose interval still holds 0. " + _HOLM,
        style="dim",
    )
    if result.agreements:
        yield from _agreements(result.agreements)


def _factors(found: FactorComparison) -> Iterator[RenderableType]:
    table = new_table("Which factor moves accuracy most")
    table.add_column("factor", overflow="fold", max_width=22)
    table.add_column("levels", justify="right")
    for name in ("typical (points)", "IA excess", "IQ(2) %"):
        table.add_column(name, justify="right", no_wrap=True)
    known = sorted(
        found.rows,
        key=lambda row: (
            -row.squared_difference.value.value
            if row.squared_difference.value.defined
            else math.inf
        ),
    )
    for row in known:
        table.add_row(
            as_name(row.factor), str(row.levels), _with_interval(row.typical_difference),
            _plus_minus(row.ia_excess, 2), _plus_minus(row.iq_of_two),
        )  # fmt: skip
    yield table
    yield Text(_REACH + _TYPICAL.format(what="levels of the factor, the others held,"), style="dim")
    yield Text(
        "IA excess: mean difference of drawn accuracies less what equal accuracies would give. "
        + _IQ,
        style="dim",
    )
    yield from _undefined(
        [e for row in known for e in (row.typical_difference, row.ia_excess, row.iq_of_two)]
    )
    yield Text(
        f"{count(found.personas, 'persona')}, {count(found.questions, 'question')} in "
        f"{count(found.clusters, 'cluster')}",
        style="dim",
    )
    pairs = [row for row in found.of("squared_difference") if row.difference.defined]
    if not pairs:
        return
    decided = [row for row in pairs if row.decided]
    said = "; ".join(f"{_larger(row)} (p {_p(row.p_holm)})" for row in decided)
    if said:
        yield Text(f"Decided at 5% for all pairs together: {said}.")
    if len(decided) < len(pairs):
        open_pairs = "; ".join(
            f"{shown(row.first)} and {shown(row.second)}" for row in pairs if not row.decided
        )
        yield Text(f"Not told apart by these questions: {open_pairs}.")


def _larger(row: DifferenceRow) -> str:
    first, second = shown(row.first), shown(row.second)
    return f"{first} over {second}" if row.difference.value > 0 else f"{second} over {first}"


def _domains(found: DomainComparison) -> Iterator[RenderableType]:
    compared = [row for row in found.rows if row.compared and row.squared_difference.value.defined]
    if compared:
        yield from _domain_rows(found, compared)
    if found.not_compared:
        names = ", ".join(map(shown, found.not_compared[:8]))
        more = f" and {len(found.not_compared) - 8} more" if len(found.not_compared) > 8 else ""
        yield Text(
            f"not comparable, with fewer than {FEWEST_CLUSTERS} clusters of questions: "
            f"{names}{more}",
            style="dim",
        )


def _domain_rows(found: DomainComparison, compared: list[DomainRow]) -> Iterator[RenderableType]:
    ordered = sorted(compared, key=lambda row: -row.squared_difference.value.value)
    half = DOMAINS_SHOWN // 2
    kept = ordered if len(ordered) <= DOMAINS_SHOWN else ordered[:half] + ordered[-half:]
    tests = {row.first: row for row in found.of("squared_difference")}
    table = new_table("Domains, the most sensitive to the configuration first")
    table.add_column("domain", overflow="fold", max_width=20)
    table.add_column("n", justify="right", no_wrap=True)
    for name in ("typical", "p", "IA=", "IQ(2) %", "accuracy %"):
        table.add_column(name, justify="right", no_wrap=True)
    for place, row in enumerate(kept):
        if place == half and len(kept) < len(ordered):
            table.add_section()
        test = tests.get(row.domain)
        table.add_row(
            as_name(row.domain, "bold" if test is not None and test.decided else ""),
            str(row.questions), _with_interval(row.typical_difference),
            "-" if test is None else _p(test.p_holm), percent(row.ia_at_size.value.value),
            _plus_minus(row.iq_of_two), _plus_minus(row.accuracy),
        )  # fmt: skip
    yield table
    if len(kept) < len(ordered):
        hidden = len(ordered) - len(kept)
        yield Text(
            f"{count(hidden, 'domain')} in between not shown; all are in the JSON output",
            style="dim",
        )
    yield Text("n: questions. " + _REACH + _TYPICAL.format(what="configurations"), style="dim")
    yield Text(
        f"p: whether its sensitivity differs from the mean of the other domains', adjusted for all "
        f"{len(compared)} (Holm); bold: decided. IA=: IA with every domain cut to "
        f"{count(found.clusters_equal, 'cluster')} of questions, in points: more questions alone "
        "make IA smaller. " + _IQ,
        style="dim",
    )
    counts = {item.metric: item for item in found.pair_counts}
    parts = [
        f"{counts[m].decided:,} of {counts[m].pairs:,} in {word}"
        for m, word in (
            ("accuracy", "accuracy"),
            ("squared_difference", "sensitivity"),
            ("iq_of_two", "IQ(2)"),
        )
        if m in counts
    ]
    if parts:
        yield Text(
            f"Pairs of domains told apart, at 5% for all pairs together: {', '.join(parts)}. The "
            "order of the others may be chance."
        )


def _differences(
    title: str, rows: Sequence[DifferenceRow], *, joint: bool
) -> Iterator[RenderableType]:
    if not any(row.difference.defined for row in rows):
        return
    table = new_table(title)
    table.add_column("first - second", overflow="fold", max_width=38)
    for name in ("difference", "95% interval", "p"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        low, high = (row.joint_low, row.joint_high) if joint else (row.low, row.high)
        table.add_row(
            as_name(f"{shown(row.first)} - {shown(row.second)}", "bold" if row.decided else ""),
            percent(row.difference.value, 2), f"{percent(low, 2)} to {percent(high, 2)}",
            _p(row.p_holm),
        )  # fmt: skip
    yield table


def _agreements(all_of: Sequence[Agreement]) -> Iterator[RenderableType]:
    chosen = [a for a in all_of if a.metric == "squared_difference" and a.models]
    if not chosen:
        return
    chosen.sort(key=lambda a: (a.about != "factor", -abs(2 * a.larger - a.models) / a.models))
    table = new_table("Do models agree on what is more sensitive?")
    table.add_column("more sensitive", overflow="fold", max_width=24)
    table.add_column("than", overflow="fold", max_width=24)
    for name in ("models", "decided", "sign test p"):
        table.add_column(name, justify="right", no_wrap=True)
    for a in chosen[:AGREEMENTS_SHOWN]:
        names = [a.first, a.second or "the other domains"]
        larger = a.larger
        if 2 * larger < a.models:
            names.reverse()
            larger = a.models - larger
        table.add_row(
            as_name(names[0]), as_name(names[1]), f"{larger} of {a.models}", str(a.decided),
            percent(a.p, 3),
        )  # fmt: skip
    yield table
    if len(chosen) > AGREEMENTS_SHOWN:
        more = count(len(chosen) - AGREEMENTS_SHOWN, "more comparison")
        yield Text(f"{more}: see the JSON output", style="dim")
    yield Text(
        "sign test p: the chance that as many models agree by coin tosses. With four of five it is "
        ".375, and with five of five .062: few models say little about models in general.",
        style="dim",
    )


def _with_interval(estimate: Estimate, digits: int = 1) -> str:
    if not estimate.value.defined:
        return "-"
    value = percent(estimate.value.value, digits)
    if math.isnan(estimate.low):
        return value
    return f"{value} [{percent(estimate.low, digits)}, {percent(estimate.high, digits)}]"


def _plus_minus(estimate: Estimate, digits: int = 1) -> str:
    """An estimate and how far its interval reaches to either side."""
    if not estimate.value.defined:
        return "-"
    value = percent(estimate.value.value, digits)
    if math.isnan(estimate.low):
        return value
    return f"{value} ±{percent((estimate.high - estimate.low) / 2, digits)}"


def _p(p: float) -> str:
    if math.isnan(p):
        return "-"
    return "<.001" if p < 0.001 else f"{p:.3f}".removeprefix("0")


def _undefined(estimates: Sequence[Estimate]) -> Iterator[Text]:
    reasons = dict.fromkeys(e.value.reason for e in estimates if not e.value.defined)
    for reason in reasons:
        yield Text(f"- : undefined, {shown(reason)}", style="dim")
