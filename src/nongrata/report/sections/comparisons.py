"""Section: models against one another, domains and factors of each model against one another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nongrata.report.document.blocks import Block, Column, Paragraph, Row, Section, Table
from nongrata.report.document.cursor import Cursor
from nongrata.report.document.pieces import Name, Names, Number, Text
from nongrata.report.sections.compare_domains import domain_blocks
from nongrata.report.sections.differences import METRICS, differences_table, metric_charts
from nongrata.report.sections.figures import defined, estimate, rests_on
from nongrata.report.sections.study import Study

_OF_MODELS = ("accuracy", "typical_difference", "ia_excess", "iq_of_two")


def comparisons_section(study: Study) -> Section:
    """What differs between models, and between domains and factors of each model.

    Parameters
    ----------
    study
        The results.
    """
    blocks = [*_models(study)]
    for model in study.models:
        blocks += [*_factors(study, model), *domain_blocks(study, model)]
    return Section(
        id="comparisons",
        title=Text("Models, factors and domains compared"),
        question=Text("Which models, factors and domains are told apart, and in what?"),
        blocks=tuple(blocks),
    )


def _models(study: Study) -> Iterator[Block]:
    part = study.top["comparisons"]["models"]
    rows = list(part["rows"])
    if len(rows) < 2:
        text = Text("This study has one model, so no models are compared.")
        yield Paragraph(text, "note")
        return
    yield from _lead(part, rows)
    names = [Name(row["model"].text) for row in rows]
    yield from metric_charts(
        rows,
        names,
        _OF_MODELS,
        ids=[study.id(f"models-{metric.replace('_', '-')}") for metric in _OF_MODELS],
        whose=Text("models"),
        facets={},
    )
    yield _models_table(rows)
    yield differences_table(
        list(part["differences"]),
        "models-pairs",
        Text("Pairs of models"),
        facets={},
        by="model",
    )
    yield from _agreements(study)
    yield Paragraph(
        Text(
            "Each pair is compared on the labels, configurations and questions that both have. "
            "Models are never averaged."
        ),
        "note",
    )


def _lead(part: Cursor, rows: Sequence[Cursor]) -> Iterator[Paragraph]:
    for metric, said in (
        ("accuracy", "Accuracy is highest for {top} ({high}) and lowest for {bottom} ({low})."),
        (
            "typical_difference",
            (
                "Configurations move accuracy most in {top}, typically by {high}, and least in "
                "{bottom}, by {low}."
            ),
        ),
    ):
        known = defined(rows, metric, "value")
        known.sort(key=lambda row: row[metric]["value"].number or 0)
        if len(known) < 2:
            continue
        yield Paragraph(
            Text.of(
                said,
                top=Name(known[-1]["model"].text),
                high=estimate(known[-1][metric], 1, unit=METRICS[metric].unit),
                bottom=Name(known[0]["model"].text),
                low=estimate(known[0][metric], 1, unit=METRICS[metric].unit),
            ),
            "lead",
        )
    names = [
        Text.of("{first} and {second}", first=Name(row["first"].text),
                second=Name(row["second"].text))
        for row in part["differences"]
        if row["metric"].text == "squared_difference" and row["decided"].value
    ]  # fmt: skip
    if names:
        yield Paragraph(
            Text.of(
                "Told apart in how far configurations move accuracy, at 5% for all pairs "
                "together: {pairs}.",
                pairs=Names(tuple(names)),
            )
        )


def _models_table(rows: Sequence[Cursor]) -> Table:
    return Table(
        id="models-table",
        caption=Text("Models side by side"),
        columns=(
            Column("model", Text("model"), kind="name"),
            *(METRICS[m].column(m) for m in (*_OF_MODELS, "iq_of_all")),
        ),
        rows=tuple(
            Row(
                (
                    Name(row["model"].text),
                    *(estimate(row[m], METRICS[m].digits) for m in (*_OF_MODELS, "iq_of_all")),
                ),
                {"model": row["model"].text},
            )
            for row in rows
        ),
        notes=(Text("Intervals are 95% intervals of each number alone."),),
    )


def _factors(study: Study, model: str) -> Iterator[Block]:
    part = study.top["comparisons"]["factors"].where(model=model)
    rows = list(part["rows"])
    if not rows:
        return
    facets = {"model": model}
    known = sorted(
        defined(rows, "typical_difference", "value"),
        key=lambda row: -(row["squared_difference"]["value"].number or 0),
    )
    if len(known) > 1:
        yield Paragraph(
            Text.of(
                "{model}: {first} moves accuracy most, typically by {high} between its levels, and "
                "{last} least, by {low}.",
                model=Name(model),
                first=Name(known[0]["factor"].text),
                high=estimate(known[0]["typical_difference"], 1, unit="points"),
                last=Name(known[-1]["factor"].text),
                low=estimate(known[-1]["typical_difference"], 1, unit="points"),
            ),
            "lead" if len(study.models) == 1 else "plain",
            facets,
        )
    metrics = ("typical_difference", "ia_excess", "iq_of_two")
    yield Table(
        id=study.id("factors-table", model),
        caption=Text.of("Which factor moves accuracy most: {model}", model=Name(model)),
        columns=(
            Column("factor", Text("factor"), kind="name"),
            Column("levels", Text("levels")),
            *(METRICS[metric].column(metric) for metric in metrics),
        ),
        rows=tuple(
            Row(
                (
                    Name(row["factor"].text),
                    Number.count(row["levels"]),
                    *(estimate(row[metric], METRICS[metric].digits) for metric in metrics),
                ),
                {"factor": row["factor"].text},
            )
            for row in rows
        ),
        facets=facets,
    )
    yield differences_table(
        list(part["differences"]),
        study.id("factors-pairs", model),
        Text.of("Pairs of factors: {model}", model=Name(model)),
        facets=facets,
        by="factor",
    )
    yield Paragraph(rests_on(part), "note", facets)


def _agreements(study: Study) -> Iterator[Block]:
    """Directions that models share."""
    rows = [
        row
        for row in study.top["comparisons"]["agreements"]
        if row["metric"].text == "squared_difference" and row["models"].number
    ]
    if not rows:
        return
    yield Table(
        id="models-agree",
        caption=Text("Do models agree on what is more sensitive?"),
        columns=(
            Column("first", Text("more sensitive"), kind="name"),
            Column("second", Text("than"), kind="name"),
            Column("larger", Text("models in which it is so")),
            Column("models", Text("of")),
            Column("decided", Text("decided"), help=Text(
                "models in which the difference is decided, whichever way")),
            Column("p", Text("sign test p"), help=Text(
                "as many or more models agreeing by chance")),
        ),
        rows=tuple(
            Row((
                Name(row["first"].text),
                Name(row["second"].text) if row["second"].text else Text("the other domains"),
                Number.count(row["larger"]),
                Number.count(row["models"]),
                Number.count(row["decided"]),
                Number.p(row["p"]),
            ))
            for row in rows
        ),
        notes=(Text("With four of five models p is .375, and with five of five .062: few models "
                    "say little about models in general."),),
        folded=len(rows) > 12,
    )  # fmt: skip
