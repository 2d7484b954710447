"""Agreement of configurations on a terminal, and what IQ has to do with it."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from nongrata.analysis.agreement import Agreement
from nongrata.analysis.agreement_rows import About, AgreementRow, ModelAgreement
from nongrata.analysis.estimated import Estimated
from nongrata.report.terminal.pieces import as_name, count, new_table, number, percent, shown
from nongrata.stats.iq_and_kappa import Link, Way

FACTORS_SHOWN = 12

_ABOUT: dict[About, str] = {"correctness": "right?", "option": "option"}
_WAYS: dict[Way, str] = {
    "same_answers": "the same answers",
    "question_halves": "halves of the questions",
    "configuration_halves": "halves of the configurations",
}
_HOW = (
    "right?: whether an answer is right; option: which one is chosen. pairs: how often two "
    "configurations agree on the same question. kappa (Fleiss), AC1 (Gwet), alpha (Krippendorff): "
    "the same beyond what each of them expects by chance; 1 is full agreement, 0 none beyond "
    "chance. all: how often all configurations agree. Brackets: 95% intervals over questions."
)
_LINKS = (
    "r: correlation over labels of IQ with kappa; ranks: the same of ranks; with itself: how far "
    "a figure from one half goes with the same figure from the other half (1: fully)."
)


def agreement_table(result: Agreement, model: str) -> Iterator[RenderableType]:
    """One model's agreement: overall, within factors, and beside IQ.

    Parameters
    ----------
    result
        From `nongrata.analysis.agreement.agreement`.
    model
        Which model.
    """
    found = result.of(model)
    whole = [row for row in found.rows if row.scope == "labels"]
    if not whole:
        yield Text("Agreement of configurations: no label is left", style="dim")
        return
    yield from _overall(found, whole)
    yield from _factors(found)
    yield from _links(found)
    unread = whole[0].unread
    if unread > 0:
        how = "left out" if result.unread == "left_out" else "one more option"
        yield Text(
            f"{unread:.1f}% of the answers could not be read: not right, and under 'option' {how}.",
            style="dim",
        )
    yield Text(result.read_it)


def _overall(found: ModelAgreement, whole: list[AgreementRow]) -> Iterator[RenderableType]:
    table = new_table("Agreement of configurations, mean over labels")
    table.add_column("answers", overflow="fold")
    every = found.configurations
    for name in ("pairs (%)", "kappa", "AC1", "alpha", f"all {every} (%)"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in whole:
        table.add_row(
            _ABOUT[row.about],
            _interval(row.raw, 1),
            _interval(row.fleiss, 2),
            number(row.gwet.estimate),
            number(row.alpha.estimate),
            _interval(row.total_of(every), 1) if every > 1 else "-",
        )
    yield table
    yield Text(_HOW, style="dim")
    effect = found.design_effect
    clustered = found.clusters < found.questions and effect.defined
    yield Text(
        f"{count(found.labels, 'label')}, {count(every, 'configuration')}, "
        f"{count(found.questions, 'question')} in {count(found.clusters, 'cluster')}"
        + (f" (design effect {effect.value:.2f})" if clustered else "")
        + (f", {count(found.replicates, 'replicate')}" if found.replicates > 1 else ""),
        style="dim",
    )
    reasons = [
        figure.reason
        for row in whole
        for figure in (row.raw.estimate, row.fleiss.estimate, row.gwet.estimate)
        if not figure.defined
    ]
    for reason in dict.fromkeys(reasons):
        yield Text(f"-: {shown(reason)}", style="dim")


def _factors(found: ModelAgreement) -> Iterator[RenderableType]:
    names = [row.name for row in found.of("correctness", "factor")]
    if not names:
        return
    table = new_table(
        f"Agreement between the levels of one factor, of {found.fixed} levels at a time"
    )
    table.add_column("factor", overflow="fold")
    table.add_column("levels", justify="right", no_wrap=True)
    for about in _ABOUT.values():
        table.add_column(f"{about} (%)", justify="right", no_wrap=True)
        table.add_column("kappa", justify="right", no_wrap=True)
    rows = {(row.about, row.name): row for row in found.rows if row.scope == "factor"}
    for name in names[:FACTORS_SHOWN]:
        cells: list[Text | str] = [as_name(name), str(rows["correctness", name].compared)]
        for about in _ABOUT:
            row = rows.get((about, name))
            cells.append(_interval(row.total_of(found.fixed), 1) if row else "-")
            cells.append(number(row.fleiss.estimate) if row else "-")
        table.add_row(*cells)
    yield table
    if len(names) > FACTORS_SHOWN:
        more = count(len(names) - FACTORS_SHOWN, "more factor")
        yield Text(f"{more}: see the JSON output", style="dim")
    yield Text(
        f"How often {found.fixed} levels, picked at random with all else held, agree: the same "
        "number for every factor, because more levels agree less often by number alone.",
        style="dim",
    )


def _links(found: ModelAgreement) -> Iterator[RenderableType]:
    if not found.iq_and_kappa:
        return
    table = new_table("Does IQ go with agreement? Over labels, kappa of right or not")
    table.add_column("IQ and kappa from", overflow="fold")
    for name in ("r", "ranks", "IQ with itself", "kappa with itself"):
        table.add_column(name, justify="right", no_wrap=True)
    for link in found.iq_and_kappa:
        table.add_row(
            _WAYS[link.way],
            number(link.pearson),
            number(link.spearman),
            number(link.reliability_iq),
            number(link.reliability_kappa),
        )
    yield table
    yield Text(_LINKS, style="dim")
    reasons = [link.pearson.reason for link in found.iq_and_kappa if not link.pearson.defined]
    for reason in dict.fromkeys(reasons):
        yield Text(f"-: {shown(reason)}", style="dim")
    said = _said(found.iq_and_kappa)
    if said:
        yield Text(said)


def _said(links: tuple[Link, ...]) -> str:
    by_way = {link.way: link.pearson for link in links}
    same, halves = by_way["same_answers"], by_way["question_halves"]
    if not same.defined:
        return ""
    start = (
        "IQ and kappa of the same answers are two formulas of the same counts, so their "
        f"correlation ({same.value:.2f}) is no evidence that one confirms the other; "
    )
    if not halves.defined:
        return start + "from other questions it cannot be estimated."
    return start + f"measured on different questions it is {halves.value:.2f}."


def _interval(value: Estimated, digits: int) -> str:
    if not value.estimate.defined:
        return "-"
    number_shown = percent(value.estimate.value, digits)
    if value.low != value.low:
        return number_shown
    return f"{number_shown} [{value.low:.{digits}f}, {value.high:.{digits}f}]"
