"""Section: how far configurations agree on the same questions, and what IQ has to do with it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nongrata.report.charts.forest import Forest, forest_chart
from nongrata.report.document.blocks import Block, Column, Paragraph, Row, Section, Table
from nongrata.report.document.cursor import Cursor
from nongrata.report.document.pieces import Estimate, Name, Number, Piece, Text
from nongrata.report.document.said import text_of
from nongrata.report.sections.figures import at, defined, estimate, rests_on, why_not
from nongrata.report.sections.study import Study

_ABOUT = {"correctness": "whether the answer is right", "option": "which option is chosen"}
_WAYS = {
    "same_answers": "the same answers",
    "question_halves": "halves of the questions",
    "configuration_halves": "halves of the configurations",
}
LABELS_DRAWN = 60
"""Labels in the chart; the table has all."""


def agreement_section(study: Study) -> Section:
    """Agreement coefficients, and the correlation of kappa with IQ.

    Parameters
    ----------
    study
        The results.
    """
    return Section(
        id="agreement",
        title=Text("Agreement of configurations"),
        question=Text(
            "How far do configurations agree on the same questions, beyond chance, and does IQ say "
            "anything that kappa does not?"
        ),
        blocks=tuple(block for model in study.models for block in _of_model(study, model)),
    )


def _of_model(study: Study, model: str) -> Iterator[Block]:
    part, facets = study.of("agreement", model), {"model": model}
    whole = part["rows"].all(scope="labels")
    if not whole:
        text = Text.of("{model}: no label is left to compare.", model=Name(model))
        yield Paragraph(text, "plain", facets)
        return
    yield from (Paragraph(text, "lead", facets) for text in _lead(model, part, whole))
    yield _overall(study, model, part, whole)
    places = [(Text(_ABOUT[row["about"].text]), row["fleiss"]["estimate"]) for row in whole]
    yield from why_not(places, Text("kappa"), facets)
    yield from _labels(study, model, part)
    if part["rows"].all(scope="factor"):
        yield _factors(study, model, part)
    yield from _links(study, model, part)
    unread = whole[0]["unread"]
    if (unread.number or 0) > 0:
        left_out = study.top["agreement"]["unread"].text == "left_out"
        said = (
            "{unread} of the answers could not be read: they are not right, and left out where the "
            "option chosen is compared."
            if left_out
            else "{unread} of the answers could not be read: they are not right, and one more "
            "option where the option chosen is compared."
        )
        yield Paragraph(Text.of(said, unread=Number.of(unread, 1, unit="%")), "note", facets)
    yield Paragraph(text_of(study.top["agreement"]["read_it"].value), "note", facets)
    yield Paragraph(rests_on(part), "note", facets)


def _lead(model: str, part: Cursor, whole: Sequence[Cursor]) -> Iterator[Text]:
    row = next((row for row in whole if row["about"].text == "correctness"), whole[0])
    if row["raw"]["estimate"].number is not None:
        yield Text.of(
            "{model}: two configurations agree on whether the answer is right in {raw} of the "
            "questions; beyond chance, Fleiss' kappa is {kappa} (1: full agreement, 0: none beyond "
            "chance).",
            model=Name(model),
            raw=estimate(row["raw"], 1, unit="%"),
            kappa=estimate(row["fleiss"]),
        )
    every = row["total"].where(of=part["configurations"].value)["share"]
    if every["estimate"].number is not None and (part["configurations"].number or 0) > 2:
        yield Text.of(
            "All {configurations} configurations agree on it in {share} of the questions.",
            configurations=Number.count(part["configurations"]),
            share=estimate(every, 1, unit="%"),
        )


def _overall(study: Study, model: str, part: Cursor, whole: Sequence[Cursor]) -> Table:
    every = part["configurations"].value
    return Table(
        id=study.id("agreement-table", model),
        caption=Text.of("Agreement of configurations, mean over labels: {model}",
                        model=Name(model)),
        columns=(
            Column("about", Text("agreement on"), kind="text"),
            *_coefficients(),
            Column("conger", Text("Conger's kappa"), help=Text(
                "takes each configuration's own shares")),
            Column("light", Text("Light's kappa"), help=Text("mean of the kappas of all pairs")),
            Column("all", Text("all agree"), "%", "estimate", Text(
                "how often all configurations agree")),
        ),
        rows=tuple(
            Row((
                Text(_ABOUT[row["about"].text]),
                *_cells(row),
                Number.of(row["conger"], 2),
                Number.of(row["light"], 2),
                _all_agree(row, every),
            ))
            for row in whole
        ),
        facets={"model": model},
    )  # fmt: skip


def _all_agree(row: Cursor, of: int) -> Estimate | None:
    """How often so many configurations all agree; None where that is not counted."""
    found = row["total"].where(of=of)
    return estimate(found["share"], 1) if found and of > 1 else None


def _coefficients() -> tuple[Column, ...]:
    return (
        Column("raw", Text("pairs agree"), "%", "estimate", Text(
            "how often two configurations agree on the same question")),
        Column("fleiss", Text("Fleiss' kappa"), "", "estimate", Text(
            "agreement beyond chance; 1 is full agreement, 0 none beyond chance")),
        Column("gwet", Text("Gwet's AC1"), "", "estimate", Text(
            "the same with another idea of chance, less sensitive to rare answers")),
        Column("alpha", Text("Krippendorff's alpha"), "", "estimate", Text(
            "the same, corrected for small samples")),
    )  # fmt: skip


def _cells(row: Cursor) -> tuple[Piece, ...]:
    return (
        estimate(row["raw"], 1),
        estimate(row["fleiss"]),
        estimate(row["gwet"]),
        estimate(row["alpha"]),
    )


def _labels(study: Study, model: str, part: Cursor) -> Iterator[Block]:
    """Kappa of each label, as a chart and a table on request."""
    rows = part["rows"].all(scope="label", about="correctness")
    if not rows:
        return
    table = Table(
        id=study.id("agreement-labels", model),
        caption=Text.of("Agreement label by label, on whether the answer is right: {model}",
                        model=Name(model)),
        columns=(Column("persona", Text("label"), kind="name"), *_coefficients()),
        rows=tuple(
            Row((Name(row["name"].text), *_cells(row)), {"persona": row["name"].text})
            for row in rows
        ),
        facets={"model": model},
        folded=True,
    )  # fmt: skip
    known = defined(rows, "fleiss", "estimate")
    known.sort(key=lambda row: -(at(row, "fleiss", "estimate").number or 0))
    if len(known) < 2:
        yield table
        return
    shown = known[:LABELS_DRAWN]
    yield forest_chart(
        Forest(
            places=[row["fleiss"] for row in shown],
            names=[Name(row["name"].text) for row in shown],
            axis="Fleiss' kappa of right or not",
            by="persona",
        ),
        study.id("kappa", model),
        Text.of("{model}: agreement of configurations, label by label", model=Name(model)),
        Text.of(
            "A point for each label shows how far the configurations of {model} agree, beyond "
            "chance, on whether the answer is right, with its 95% interval.",
            model=Name(model),
        ),
        {"model": model},
        table,
    )


def _factors(study: Study, model: str, part: Cursor) -> Table:
    fixed = part["fixed"].value
    rows = []
    for about, words in _ABOUT.items():
        for place, row in enumerate(part["rows"].all(scope="factor", about=about)):
            cells = (
                Name(row["name"].text),
                Number.count(row["compared"]),
                _all_agree(row, fixed),
                estimate(row["raw"], 1),
                Number.of(row["fleiss"]["estimate"], 2),
            )
            group = Text(words) if place == 0 else None
            rows.append(Row(cells, {"factor": row["name"].text}, group))
    return Table(
        id=study.id("agreement-factors", model),
        caption=Text.of("Agreement between the levels of one factor, the others held: {model}",
                        model=Name(model)),
        columns=(
            Column("factor", Text("factor"), kind="name"),
            Column("levels", Text("levels")),
            Column("fixed", Text("levels at a time agree"), "%", "estimate", Text(
                "the same number of levels for every factor, because more levels agree less often "
                "by number alone")),
            Column("raw", Text("pairs agree"), "%", "estimate"),
            Column("fleiss", Text("Fleiss' kappa")),
        ),
        rows=tuple(rows),
        notes=(Text.of("Levels picked at a time: {fixed}.", fixed=Number.count(part["fixed"])),),
        facets={"model": model},
    )  # fmt: skip


def _links(study: Study, model: str, part: Cursor) -> Iterator[Block]:
    links, facets = list(part["iq_and_kappa"]), {"model": model}
    if not links:
        return
    by_way = {link["way"].text: link for link in links}
    same = by_way.get("same_answers", Cursor(None))["pearson"]
    halves = by_way.get("question_halves", Cursor(None))["pearson"]
    if same.number is not None:
        said = (
            "{model}: IQ and kappa of the same answers are two formulas of the same counts, so "
            "their correlation over labels ({same}) is no evidence that one confirms the other; "
            "measured on different questions it is {halves}."
            if halves.number is not None
            else "{model}: IQ and kappa of the same answers are two formulas of the same counts, "
            "so their correlation over labels ({same}) is no evidence that one confirms the other; "
            "from other questions it cannot be estimated."
        )
        values: dict[str, Piece] = {"model": Name(model), "same": Number.of(same, 2)}
        if halves.number is not None:
            values["halves"] = Number.of(halves, 2)
        yield Paragraph(Text.of(said, **values), "plain", facets)
    yield Table(
        id=study.id("iq-and-kappa", model),
        caption=Text.of("Does IQ go with kappa, over labels? {model}", model=Name(model)),
        columns=(
            Column("way", Text("IQ and kappa from"), kind="text"),
            Column("pearson", Text("correlation")),
            Column("spearman", Text("of ranks")),
            Column("reliability_iq", Text("IQ with itself"), help=Text(
                "correlation of IQ from one half with IQ from the other half")),
            Column("reliability_kappa", Text("kappa with itself"), help=Text(
                "correlation of kappa from one half with kappa from the other half")),
            Column("labels", Text("labels")),
            Column("splits", Text("splits")),
        ),
        rows=tuple(
            Row((
                Text(_WAYS[link["way"].text]),
                Number.of(link["pearson"], 2, style="signed"),
                Number.of(link["spearman"], 2, style="signed"),
                Number.of(link["reliability_iq"], 2),
                Number.of(link["reliability_kappa"], 2),
                Number.count(link["labels"]),
                Number.count(link["splits"]),
            ))
            for link in links
        ),
        facets=facets,
    )  # fmt: skip
    names = [(Text(_WAYS[link["way"].text]), link["pearson"]) for link in links]
    yield from why_not(names, Text("correlation of IQ and kappa"), facets)
