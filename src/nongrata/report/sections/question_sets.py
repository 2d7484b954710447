"""Section: whether the same questions are right, at equal numbers of configurations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nongrata.report.charts.forest import Forest, Keys, forest_chart
from nongrata.report.charts.instability import drawn
from nongrata.report.charts.rarefaction import rarefaction_chart
from nongrata.report.document.blocks import Block, Chart, Column, Paragraph, Row, Section, Table
from nongrata.report.document.cursor import Cursor
from nongrata.report.document.pieces import Estimate, Name, Number, Piece, Text
from nongrata.report.sections.figures import Tone, at, defined, estimate, rests_on, why_not
from nongrata.report.sections.instability_tables import by_scope, row_name
from nongrata.report.sections.study import Study


def question_sets_section(study: Study) -> Section:
    """IQ by rarefaction, with its floor; factors and domains at equal numbers.

    Parameters
    ----------
    study
        The results.
    """
    return Section(
        id="question-sets",
        title=Text("Which questions are right"),
        question=Text(
            "Are the same questions right in every configuration, and would asking one "
            "configuration again change as many?"
        ),
        blocks=tuple(block for model in study.models for block in _of_model(study, model)),
    )


def _of_model(study: Study, model: str) -> Iterator[Block]:
    part = study.of("noise", model)
    rows = [row for row in part["rows"] if row["iq"]]
    facets = {"model": model}
    if not rows:
        said = "{model}: no configurations can be compared in the questions that are right."
        text = Text.of(said, model=Name(model))
        yield Paragraph(text, "plain", facets)
        return
    yield from (Paragraph(text, tone, facets) for text, tone in _lead(model, rows[0]))
    curve = list(part["iq_curve"])
    factors = study.top["instability"].where(persona_set="labels")["rows"].all(
        model=model, scope="factor"
    )  # fmt: skip
    table = _curve_table(study, model, curve)
    chart = rarefaction_chart(curve, factors, model, study.id("rarefaction", model), table)
    if chart is not None:
        yield chart
    whole = [row for row in rows if row["scope"].text != "factor"]
    yield from _contrasts(model, [row for row in rows if row["scope"].text == "factor"])
    yield from _chart_of_two(study, model, rows)
    yield _table(study, model, rows)
    same = [(row_name(row), row["iq"][0]["same_configuration"]) for row in rows]
    yield from why_not(same, Text("floor of one and the same configuration"), facets)
    yield Paragraph(
        Text(
            "IQ over all configurations depends only on how many configurations each question is "
            "right in: by itself it cannot tell an effect of configurations from noise."
        ),
        "note",
        facets,
    )
    yield Paragraph(rests_on(whole[0] if whole else rows[0]), "note", facets)


def _lead(model: str, row: Cursor) -> Iterator[tuple[Text, Tone]]:
    two, last = row["iq"][0], row["iq"][len(row["iq"]) - 1]
    if two["iq"]["figure"].number is None:
        return
    yield (
        Text.of(
            "{model}: of the questions right in one of two configurations, {two} are not right in "
            "both (IQ at m = 2); over all {configurations} configurations it is {all}, because IQ "
            "grows with their number.",
            model=Name(model),
            two=estimate(two["iq"], 1, unit="%"),
            configurations=Number.count(row["compared"]),
            all=Number.of(last["iq"]["figure"], 1, unit="%"),
        ),
        "lead",
    )
    if two["same_configuration"].number is not None:
        yield (
            Text.of(
                "Two answers to one and the same configuration would already give {same}, so "
                "changing the configuration adds {excess} at m = 2.",
                same=Number.of(two["same_configuration"], 1, unit="%"),
                excess=estimate(two["excess"], 1, unit="points"),
            ),
            "plain",
        )


def _contrasts(model: str, rows: Sequence[Cursor]) -> Iterator[Block]:
    """Each factor against as many configurations at random, in a sentence."""
    for row in defined(rows, "iq_contrast"):
        higher = (row["iq_contrast"].number or 0) > 0
        unsure = (row["p_iq_contrast"].number or 0) > 0.05
        if unsure:
            said = (
                "{factor}: its {levels} levels change which questions are right about as much as "
                "{levels} configurations at random ({contrast}, p {p})."
            )
        elif higher:
            said = (
                "{factor}: its {levels} levels change which questions are right more than {levels} "
                "configurations at random ({contrast}, p {p})."
            )
        else:
            said = (
                "{factor}: its {levels} levels change which questions are right less than {levels} "
                "configurations at random ({contrast}, p {p})."
            )
        yield Paragraph(
            Text.of(
                said,
                factor=Name(row["name"].text),
                levels=Number.count(row["compared"]),
                contrast=Number.of(row["iq_contrast"], 1, style="signed", unit="points"),
                p=Number.p(row["p_iq_contrast"]),
            ),
            "plain",
            {"model": model, "factor": row["name"].text},
        )


def _chart_of_two(study: Study, model: str, rows: Sequence[Cursor]) -> Iterator[Chart]:
    """IQ(2) of everything, side by side."""
    shown = [row for row in rows if at(row, "iq", 0, "iq", "figure").number is not None]
    scoped = [row for row in shown if row in drawn(shown, "ia") or row["ia"].number is None]
    if len(scoped) < 2:
        return
    yield forest_chart(
        Forest(
            places=[at(row, "iq", 0, "iq") for row in scoped],
            names=[row_name(row) for row in scoped],
            axis="IQ(2), %",
            keys=Keys("figure"),
        ),
        study.id("iq-of-two", model),
        Text.of("{model}: IQ at two configurations", model=Name(model)),
        Text.of(
            "A point for each factor and domain shows, for {model}, how many of the questions "
            "right in one of two configurations are not right in both, with its 95% interval.",
            model=Name(model),
        ),
        {"model": model},
    )


def _table(study: Study, model: str, rows: Sequence[Cursor]) -> Table:
    cells: list[tuple[Piece | None, ...]] = []
    for row in rows:
        two, last = row["iq"][0], row["iq"][len(row["iq"]) - 1]
        factor = row["scope"].text == "factor"
        cells.append(
            (
                Number.count(row["compared"]),
                estimate(two["iq"], 1),
                Number.of(two["same_configuration"]),
                estimate(two["excess"], 1),
                estimate(last["iq"], 1),
                Number.of(row["iq_contrast"], 1, style="signed") if factor else None,
                Number.p(row["p_iq_contrast"]) if factor else None,
            )
        )
    return Table(
        id=study.id("iq-table", model),
        caption=Text.of("Instability of questions (IQ) of {model}", model=Name(model)),
        columns=(
            Column("over", Text("over"), kind="name"),
            Column("compared", Text("compared"), help=Text(
                "configurations, or levels of the factor, compared")),
            Column("iq_two", Text("IQ(2)"), "%", "estimate", Text(
                "questions right in one of two configurations that are not right in both")),
            Column("same", Text("noise: same configuration"), "%", help=Text(
                "what two answers to one and the same configuration would give")),
            Column("excess", Text("excess"), "points", "estimate", Text(
                "IQ(2) less that noise")),
            Column("iq_all", Text("IQ(K)"), "%", "estimate", Text(
                "the same over all compared; it grows with their number")),
            Column("contrast", Text("less random configurations"), "points", help=Text(
                "a factor's IQ less that of as many configurations taken at random")),
            Column("p", Text("p"), help=Text("of no such difference")),
        ),
        rows=by_scope(rows, cells),
        facets={"model": model},
    )  # fmt: skip


def _curve_table(study: Study, model: str, curve: Sequence[Cursor]) -> Table:
    there = any(point["same_configuration"].number is not None for point in curve)
    return Table(
        id=study.id("rarefaction-table", model),
        caption=Text.of("{model}: IQ over the number of configurations", model=Name(model)),
        columns=(
            Column("m", Text("m"), help=Text("configurations asked")),
            Column("iq", Text("IQ(m)"), "%", "estimate"),
            *((Column("same", Text("noise: same configuration"), "%"),) if there else ()),
        ),
        rows=tuple(
            Row(
                (
                    Number.count(point["m"]),
                    Estimate.of(point, "iq"),
                    *((Number.of(point["same_configuration"]),) if there else ()),
                )
            )
            for point in curve
        ),
        facets={"model": model},
        folded=True,
    )
