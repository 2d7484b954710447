"""Section: how much accuracy, order and right questions move, beside what noise makes."""

from __future__ import annotations

from collections.abc import Iterator

from nongrata.report.charts.instability import drawn, ia_chart
from nongrata.report.document.blocks import Block, Paragraph, Section
from nongrata.report.document.cursor import Cursor
from nongrata.report.document.pieces import Name, Number, Text
from nongrata.report.document.said import text_of
from nongrata.report.sections.figures import Tone, estimate, rests_on, why_not
from nongrata.report.sections.instability_tables import (
    by_label_table,
    ia_table,
    io_table,
    persona_sets_table,
    row_name,
)
from nongrata.report.sections.study import Study


def instability_section(study: Study) -> Section:
    """IA, IO and IQ with floors and excess, overall, by factor and by domain.

    Parameters
    ----------
    study
        The results.
    """
    blocks = [block for model in study.models for block in _of_model(study, model)]
    return Section(
        id="instability",
        title=Text("Instability and noise"),
        question=Text("How much do figures move, and how much of that would noise alone make?"),
        blocks=tuple(blocks),
    )


def _of_model(study: Study, model: str) -> Iterator[Block]:
    rows = list(study.of("noise", model)["rows"])
    if not rows:
        return
    facets = {"model": model}
    yield from (Paragraph(text, tone, facets) for text, tone in _lead(model, rows[0]))
    kept = drawn(rows, "ia")
    chart = ia_chart(kept, [row_name(row) for row in kept], model, study.id("ia", model))
    if chart is not None:
        yield chart
    if len(kept) < len([row for row in rows if row["ia"].number is not None]):
        yield Paragraph(
            Text("The chart shows the domains with the largest IA; the table has all."),
            "note",
            facets,
        )
    yield ia_table(study, model, rows)
    for key, what in (("ia", "IA"), ("rerun_floor", "floor of asking again")):
        yield from why_not([(row_name(row), row[key]) for row in rows], Text(what), facets)
    yield io_table(study, model)
    yield persona_sets_table(study, model)
    yield by_label_table(study, model)
    yield Paragraph(rests_on(rows[0]), "note", facets)


def _lead(model: str, row: Cursor) -> Iterator[tuple[Text, Tone]]:
    """What the row over all configurations says, in two or three sentences."""
    numbers = (row["ia"].number, row["p_exchangeability"].number, row["p_equal_accuracy"].number)
    if any(number is None for number in numbers):
        places = (row["ia"], row["p_exchangeability"], row["p_equal_accuracy"])
        reason = next((place.reason for place in places if place.reason), "there is no answer")
        yield (
            Text.of(
                "{model}: instability of accuracy (IA) is {ia}; whether that is more than noise "
                "cannot be said: {reason}.",
                model=Name(model),
                ia=Number.of(row["ia"], 2, unit="points"),
                reason=text_of(reason),
            ),
            "lead",
        )
        return
    yield (
        Text.of(
            "{model}: of an instability of accuracy (IA) of {ia}, noise alone makes about {floor}; "
            "the excess is {excess}.",
            model=Name(model),
            ia=Number.of(row["ia"], 2, unit="points"),
            floor=Number.of(row["exchangeability_floor"], 2),
            excess=estimate(row["over_exchangeability"], unit="points"),
        ),
        "lead",
    )
    _, p_exchange, p_equal = numbers
    p = Number.p(row["p_exchangeability"])
    equal = Number.p(row["p_equal_accuracy"])
    if p_equal is not None and p_equal <= 0.05:
        said = (
            "The accuracies of the configurations do differ, more than they would if all were "
            "equal and only the questions drawn made them differ (p {equal}; p {p} against "
            "exchangeable configurations)."
        )
    elif p_exchange is not None and p_exchange <= 0.05:
        said = (
            "Configurations answer questions differently, beyond chance (p {p}); that their "
            "accuracies differ over questions at large is not shown (p {equal})."
        )
    else:
        said = (
            "More than noise is not shown (p {p}; p {equal} against equal accuracies); that is no "
            "proof that configurations are alike."
        )
    yield Text.of(said, p=p, equal=equal), "plain"
    if row["typical_difference"].number is not None:
        yield (
            Text.of(
                "With noise taken off, the accuracies of two configurations typically lie "
                "{typical} apart (root mean square; below 0 where less was seen than noise makes).",
                typical=Number.of(row["typical_difference"], 2, unit="points"),
            ),
            "plain",
        )
