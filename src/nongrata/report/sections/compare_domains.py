"""Part of a section: the domains of one model against one another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nongrata.report.document.blocks import Block, Column, Paragraph, Row, Table
from nongrata.report.document.cursor import Cursor
from nongrata.report.document.pieces import Estimate, Name, Names, Number, Text
from nongrata.report.sections.differences import (
    METRICS,
    differences_table,
    metric_charts,
    with_names,
)
from nongrata.report.sections.figures import NAMES_SAID, defined, estimate
from nongrata.report.sections.study import Study

_METRICS = ("accuracy", "typical_difference", "ia_at_size", "iq_of_two")
DOMAINS_DRAWN = 20
"""Domains in one chart, the most sensitive; the table has all."""


def domain_blocks(study: Study, model: str) -> Iterator[Block]:
    """Charts and tables of one model's domains.

    Parameters
    ----------
    study
        The results.
    model
        Which model.
    """
    part, facets = study.top["comparisons"]["domains"].where(model=model), {"model": model}
    rows = [row for row in part["rows"] if row["compared"].value]
    if len(rows) > 1:
        yield from _lead(model, part, rows)
        known = with_names(rows, "domain", DOMAINS_DRAWN, "squared_difference")
        yield from metric_charts(
            known,
            [Name(row["domain"].text) for row in known],
            _METRICS,
            ids=[study.id(f"domains-{m.replace('_', '-')}", model) for m in _METRICS],
            whose=Text("domains"),
            facets=facets,
            by="domain",
        )
        if len(known) < len(rows):
            text = Text("The charts show the most sensitive domains; the table has all.")
            yield Paragraph(text, "note", facets)
    if part["rows"]:
        yield _table(study, model, part)
    if part["pairs"]:
        decided = [row for row in part["pairs"] if row["decided"].value]
        yield differences_table(
            decided or list(part["pairs"])[:DOMAINS_DRAWN],
            study.id("domains-pairs", model),
            Text.of("Pairs of domains that are told apart: {model}", model=Name(model))
            if decided
            else Text.of("Pairs of domains, none of them told apart: {model}", model=Name(model)),
            facets=facets,
            by="domain",
        )
    left = part["not_compared"].value or ()
    if left:
        template = (
            "{model}: not comparable, with too few clusters of questions: {names}."
            if len(left) <= NAMES_SAID
            else "{model}: not comparable, with too few clusters of questions: {names} and others."
        )
        names = Names(tuple(Name(str(name)) for name in left[:NAMES_SAID]))
        text = Text.of(template, model=Name(model), names=names)
        yield Paragraph(text, "note", facets)


def _lead(model: str, part: Cursor, rows: Sequence[Cursor]) -> Iterator[Paragraph]:
    known = with_names(
        defined(rows, "typical_difference", "value"), "domain", len(rows), "squared_difference"
    )
    if len(known) < 2:
        return
    yield Paragraph(
        Text.of(
            "{model}: configurations move accuracy most in {first}, typically by {high}, and least "
            "in {last}, by {low}.",
            model=Name(model),
            first=Name(known[0]["domain"].text),
            high=estimate(known[0]["typical_difference"], 1, unit="points"),
            last=Name(known[-1]["domain"].text),
            low=estimate(known[-1]["typical_difference"], 1, unit="points"),
        ),
        "plain",
        {"model": model},
    )
    for count in part["pair_counts"].all(metric="squared_difference"):
        yield Paragraph(
            Text.of(
                "Of {pairs} pairs of domains, {decided} are told apart in this, at 5% for all "
                "pairs together; the order of the others may be chance.",
                pairs=Number.count(count["pairs"]),
                decided=Number.count(count["decided"]),
            ),
            "plain",
            {"model": model},
        )


def _table(study: Study, model: str, part: Cursor) -> Table:
    tests = {
        row["first"].text: row for row in part["against_others"].all(metric="squared_difference")
    }
    rows = []
    for row in part["rows"]:
        name = row["domain"].text
        test = tests.get(name)
        rows.append(
            Row((
                Name(name),
                Number.count(row["questions"]),
                Number.count(row["clusters"]),
                *(_cell(row, metric) for metric in _METRICS),
                None if test is None else Number.p(test["p_holm"]),
            ), {"domain": name})
        )  # fmt: skip
    return Table(
        id=study.id("domains-table", model),
        caption=Text.of("Domains of {model}", model=Name(model)),
        columns=(
            Column("domain", Text("domain"), kind="name"),
            Column("questions", Text("questions")),
            Column("clusters", Text("clusters")),
            *(METRICS[metric].column(metric) for metric in _METRICS),
            Column("p", Text("p"), help=Text(
                "whether its sensitivity differs from the mean of the other domains', adjusted for "
                "all of them (Holm)")),
        ),
        rows=tuple(rows),
        facets={"model": model},
    )  # fmt: skip


def _cell(row: Cursor, metric: str) -> Estimate | Number:
    """An estimate; of a domain with too few clusters the number alone."""
    found = estimate(row[metric], METRICS[metric].digits)
    return found if row["compared"].value else found.value
