"""Instability beside what noise alone would give, on a terminal."""

from __future__ import annotations

import math
from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from nongrata.analysis.noise_rows import Estimate, ModelNoise, Noise, NoiseRow
from nongrata.report.terminal.pieces import as_name, count, new_table, number, shown
from nongrata.stats.figure import Figure

DOMAINS_SHOWN = 15
"""Domains listed, by their IA; all of them are in the JSON form."""

_COLUMNS = (
    "IA: mean difference of accuracy between configurations, in points. From noise: what IA would "
    "be if nothing but noise moved accuracy; rerun: each configuration asked again; exch: "
    "configurations that could change places within every question; equal: equal accuracies, "
    "questions answered differently. excess: IA less exch, with its 95% interval. p: tests of "
    "exch and of equal. true: root of the mean squared difference without noise, in points; "
    "below 0 where less was seen than noise makes."
)
_IQ_COLUMNS = (
    "IQ(2): per cent of questions right in one of two configurations that are not right in both, "
    "with its 95% interval. same: what two answers to one configuration would give. excess: the "
    "difference. IQ(K): the preprint's IQ, over all K; it grows with K. vs rest: a factor's IQ "
    "less that of as many configurations at random, in per cent, with its p value."
)
_COUNTS_ONLY = (
    "IQ over all configurations depends only on how many configurations each question is right "
    "in: by itself it cannot tell an effect of configurations from noise. Nor can Fleiss' kappa "
    "of correctness."
)


def noise_table(result: Noise, model: str) -> Iterator[RenderableType]:
    """IA and IQ of one model beside their floors, and what that means.

    Parameters
    ----------
    result
        From `nongrata.analysis.noise.noise`.
    model
        Which model.
    """
    found = result.of(model)
    yield from _ia(result, found)
    yield from _iq(found)


def _ia(result: Noise, found: ModelNoise) -> Iterator[RenderableType]:
    table = new_table("Is it more than noise? IA beside its floors (points)")
    table.add_column("over", overflow="fold", ratio=1, min_width=8)
    for name in ("IA", "rerun", "exch", "equal", "excess", "p", "p eq.", "true"):
        table.add_column(name, justify="right", no_wrap=True)
    rows, more = _shown_rows(found)
    section = "overall"
    for row in rows:
        if row.scope != section:
            table.add_section()
            section = row.scope
        table.add_row(
            as_name(row.name or "all"),
            number(row.ia),
            number(row.rerun_floor),
            number(row.exchangeability_floor),
            number(row.equal_accuracy_floor),
            _with_interval(row.over_exchangeability),
            p_value(row.p_exchangeability),
            p_value(row.p_equal_accuracy),
            number(row.typical_difference),
        )
    yield table
    if more:
        yield Text(f"{count(more, 'more domain')} in the JSON output", style="dim")
    row = found.rows[0]
    rests = (
        f"{count(row.personas, 'persona')}, {count(row.configurations, 'configuration')}, "
        f"{count(row.questions, 'question')} in {count(row.clusters, 'cluster')}"
    )
    if row.design_effect.defined:
        rests += f", design effect {row.design_effect.value:.2f}"
    yield Text(f"{rests}; {result.draws:,} random draws", style="dim")
    yield Text(_COLUMNS, style="dim")
    reasons = (f.reason for r in rows for f in (r.ia, r.rerun_floor, r.p_exchangeability))
    for reason in dict.fromkeys(reason for reason in reasons if reason):
        yield Text(f"- : undefined, {shown(reason)}", style="dim")
    yield Text(sentence(row))


def _iq(found: ModelNoise) -> Iterator[RenderableType]:
    rows, _ = _shown_rows(found)
    rows = [row for row in rows if row.iq]
    if not rows:
        return
    table = new_table("IQ at equal numbers of configurations (%)")
    table.add_column("over", overflow="fold", ratio=1, min_width=8)
    for name in ("K", "IQ(2)", "same", "excess", "IQ(K)", "vs rest", "p"):
        table.add_column(name, justify="right", no_wrap=True)
    section = "overall"
    for row in rows:
        if row.scope != section:
            table.add_section()
            section = row.scope
        two, all_of_them = row.iq[0], row.iq[-1]
        table.add_row(
            as_name(row.name or "all"),
            str(row.compared),
            _with_interval(two.iq, 1),
            number(two.same_configuration, 1),
            _with_interval(two.excess, 1),
            number(all_of_them.iq.figure, 1),
            number(row.iq_contrast, 1),
            p_value(row.p_iq_contrast),
        )
    yield table
    yield Text(_IQ_COLUMNS, style="dim")
    for reason in dict.fromkeys(r.iq[0].same_configuration.reason for r in rows):
        if reason:
            yield Text(f"same, excess: undefined, {shown(reason)}", style="dim")
    yield Text(_COUNTS_ONLY)


def sentence(row: NoiseRow) -> str:
    """What one row says about IA, in a sentence or two.

    Parameters
    ----------
    row
        Any row.
    """
    if not (row.ia.defined and row.p_exchangeability.defined and row.p_equal_accuracy.defined):
        return f"Whether IA is more than noise cannot be said: {shown(_why(row))}."
    said = (
        f"Of an IA of {row.ia.value:.2f} points, noise alone makes about "
        f"{row.exchangeability_floor.value:.2f}. "
    )
    if row.p_equal_accuracy.value <= 0.05:
        return (
            said + "The accuracies of the configurations do differ: more than they would if all "
            "were equal and only the questions drawn made them differ."
        )
    if row.p_exchangeability.value <= 0.05:
        return (
            said + "Configurations answer questions differently, beyond chance; that their "
            "accuracies differ over questions at large is not shown."
        )
    return said + "More than noise is not shown; that is no proof that configurations are alike."


def _why(row: NoiseRow) -> str:
    figures = (row.ia, row.p_exchangeability, row.p_equal_accuracy)
    return next(figure.reason for figure in figures if not figure.defined)


def p_value(figure: Figure) -> Text:
    """A p value, short."""
    if not figure.defined:
        return Text("-", style="dim")
    return Text(
        "<.001" if figure.value < 0.001 else f"{figure.value:.3f}"[1 * (figure.value < 1) :]
    )


def _with_interval(estimate: Estimate, digits: int = 1) -> Text:
    if not estimate.figure.defined:
        return Text("-", style="dim")
    text = f"{estimate.figure.value:.{digits}f}"
    if math.isnan(estimate.low):
        return Text(text)
    return Text(f"{text} ({estimate.low:.{digits}f}, {estimate.high:.{digits}f})")


def _shown_rows(found: ModelNoise) -> tuple[list[NoiseRow], int]:
    domains = [row for row in found.rows if row.scope == "domain"]
    first = [row for row in found.rows if row.scope != "domain"]
    if len(domains) <= DOMAINS_SHOWN:
        return first + domains, 0
    known = sorted(domains, key=lambda row: -row.ia.value if row.ia.defined else math.inf)
    return first + known[:DOMAINS_SHOWN], len(domains) - DOMAINS_SHOWN
