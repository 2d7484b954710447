"""Section: what each factor's levels do to accuracy; task format taken apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nongrata.report.charts.forest import Forest, Keys, forest_chart
from nongrata.report.charts.task_format import apart_chart
from nongrata.report.document.blocks import Block, Column, Facets, Paragraph, Row, Section, Table
from nongrata.report.document.cursor import Cursor
from nongrata.report.document.pieces import Estimate, Name, Number, Piece, Text
from nongrata.report.document.said import text_of
from nongrata.report.sections.figures import defined, rests_on
from nongrata.report.sections.study import Study
from nongrata.report.sections.sub_factors import apart_blocks

LEVELS_DRAWN = 40
"""Levels in one chart; the table has all."""


def task_format_section(study: Study) -> Section:
    """Effects of levels, of sub-factors and of wording.

    Parameters
    ----------
    study
        The results.
    """
    return Section(
        id="task-format",
        title=Text("What the levels of a factor do; task format taken apart"),
        question=Text(
            "Which levels raise or lower accuracy, and is it what a task format asks for or the "
            "words it asks in?"
        ),
        blocks=tuple(block for model in study.models for block in _of_model(study, model)),
    )


def _of_model(study: Study, model: str) -> Iterator[Block]:
    part, facets = study.of("task_format", model), {"model": model}
    if not part or part["reason"].text:
        reason = text_of(part["reason"].text or "there is nothing to compare")
        text = Text.of("{model}: no effects of factors: {reason}.", model=Name(model),
                       reason=reason)  # fmt: skip
        yield Paragraph(text, "plain", facets)
        return
    compared = [factor for factor in part["factors"] if not factor["reason"].text]
    yield from _lead(model, compared)
    for apart in part["apart"]:
        yield from apart_blocks(study, model, apart)
        effects = defined(apart["effects"], "average", "estimate")
        chart = apart_chart(
            effects, apart["factor"].text, model, study.id("apart", model, apart["factor"].text)
        )
        if chart is not None:
            yield chart
    if not part["apart"]:
        text = Text(
            "No factor of this study names sub-factors of its levels, so none can be taken apart."
        )
        yield Paragraph(text, "note", facets)
    yield from _levels_chart(study, model, compared)
    if compared:
        yield _levels_table(study, model, compared)
    for factor in part["factors"]:
        if factor["reason"].text:
            text = Text.of("{factor}: {reason}.", factor=Name(factor["factor"].text),
                           reason=text_of(factor["reason"].text))  # fmt: skip
            yield Paragraph(text, "note", facets | {"factor": factor["factor"].text})
    yield Paragraph(text_of(study.top["task_format"]["read_it"].value), "note", facets)
    yield Paragraph(rests_on(part), "note", facets)


def _lead(model: str, factors: Sequence[Cursor]) -> Iterator[Paragraph]:
    known = sorted(defined(factors, "range"), key=lambda factor: -(factor["range"].number or 0))
    for place, factor in enumerate(known):
        levels = defined(factor["levels"], "accuracy")
        best = max(levels, key=lambda level: level["accuracy"].number or 0)
        worst = min(levels, key=lambda level: level["accuracy"].number or 0)
        values: dict[str, Piece] = {
            "model": Name(model),
            "factor": Name(factor["factor"].text),
            "range": Number.of(factor["range"], 2, unit="points"),
            "best": Name(best["level"].text),
            "high": Number.of(best["accuracy"], 1, unit="%"),
            "worst": Name(worst["level"].text),
            "low": Number.of(worst["accuracy"], 1, unit="%"),
            "sd": Number.of(factor["between"]["sd"], 2, unit="points"),
        }
        text = Text.of(
            "{model}: {factor} moves mean accuracy by {range} between its levels: {best} has "
            "{high}, {worst} {low}; without the questions' noise the levels' standard deviation "
            "is {sd}.",
            **values,
        )
        facets: Facets = {"model": model, "factor": factor["factor"].text}
        yield Paragraph(text, "lead" if place == 0 else "plain", facets)


def _levels_chart(study: Study, model: str, factors: Sequence[Cursor]) -> Iterator[Block]:
    pairs = [
        (factor, level)
        for factor in factors
        for level in defined(factor["levels"], "effect", "estimate")
    ]
    if len(pairs) > LEVELS_DRAWN:
        text = Text("The chart shows the first levels; the table has all.")
        yield Paragraph(text, "note", {"model": model})
    pairs = pairs[:LEVELS_DRAWN]
    if not pairs:
        return
    yield forest_chart(
        Forest(
            places=[level["effect"] for _, level in pairs],
            names=[Name(level["level"].text) for _, level in pairs],
            axis="against the factor's mean (points)",
            keys=Keys("estimate", "low_together", "high_together"),
            groups=[Name(factor["factor"].text) for factor, _ in pairs],
            reference=0,
        ),
        study.id("levels", model),
        Text.of("{model}: what each level does to accuracy", model=Name(model)),
        Text.of(
            "A point for each level of each factor shows how far the accuracy of {model} under it "
            "lies from the mean of the factor's levels, in points, with an interval that holds for "
            "all levels of the factor together.",
            model=Name(model),
        ),
        {"model": model},
    )


def _levels_table(study: Study, model: str, factors: Sequence[Cursor]) -> Table:
    rows = []
    for factor in factors:
        name = factor["factor"].text
        heading = Text.of(
            "{factor}: range {range}; variance between levels {between} squared points",
            factor=Name(name),
            range=Number.of(factor["range"], 2, unit="points"),
            between=Estimate.of(factor["between"], "variance", 2),
        )
        for place, level in enumerate(factor["levels"]):
            cells = (
                Name(level["level"].text),
                Number.of(level["accuracy"], 2),
                Estimate.of(level["effect"], "estimate", 2, style="signed",
                            low="low_together", high="high_together"),
                Number.p(level["effect"]["p_together"]),
            )  # fmt: skip
            rows.append(Row(cells, {"factor": name}, heading if place == 0 else None))
    return Table(
        id=study.id("levels-table", model),
        caption=Text.of("What each level does to the accuracy of {model}", model=Name(model)),
        columns=(
            Column("level", Text("level"), kind="name"),
            Column("accuracy", Text("accuracy"), "%", help=Text(
                "mean over labels and settings of the other factors")),
            Column("effect", Text("less the factor's mean"), "points", "estimate", Text(
                "its interval holds for all levels of the factor together")),
            Column("p", Text("p"), help=Text(
                "of no difference from the mean, adjusted for the number of levels")),
        ),
        rows=tuple(rows),
        notes=(Text("The range is as observed: noise makes it larger. The variance between levels "
                    "is without the questions' noise, and can fall below 0."),),
        facets={"model": model},
    )  # fmt: skip
