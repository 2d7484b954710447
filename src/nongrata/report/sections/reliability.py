"""Part of a section: how far the labels' mean accuracies can be trusted in another study."""

from __future__ import annotations

from collections.abc import Iterator

from nongrata.report.document.blocks import Block, Column, Facets, Listing, Paragraph, Row, Table
from nongrata.report.document.cursor import Cursor
from nongrata.report.document.pieces import Estimate, Name, Number, Piece, Text
from nongrata.report.document.said import text_of
from nongrata.report.sections.study import Study

_READINGS = {
    "other_questions": "other questions",
    "other_questions_and_prompts": "other questions and prompts",
}
_COEFFICIENTS = {"relative": "comparing labels", "absolute": "the values themselves"}


def reliability_blocks(study: Study, model: str, part: Cursor) -> Iterator[Block]:
    """Generalizability and dependability, and how many levels would be enough.

    Parameters
    ----------
    study
        The results.
    model
        Which model.
    part
        Its variance components.
    """
    if not part["reliability"]:
        return
    facets: Facets = {"model": model}
    for found in part["reliability"]:
        if found["generalizability"].number is None:
            continue
        text = Text.of(
            "In another study with {reading}, comparing labels would be dependable to {g} and "
            "their values to {phi} (generalizability and dependability, from 0 to 1).",
            reading=Text(_READINGS[found["reading"].text]),
            g=_coefficient(found, "generalizability"),
            phi=_coefficient(found, "dependability"),
        )
        yield Paragraph(text, "plain", facets)
    items = tuple(_needed(part, study))
    if items:
        yield Listing(items, facets)
    yield Table(
        id=study.id("reliability", model),
        caption=Text.of("How far the labels' mean accuracies of {model} can be trusted",
                        model=Name(model)),
        columns=(
            Column("study", Text("in another study with"), kind="text"),
            Column("generalizability", Text("comparing labels"), kind="estimate", help=Text(
                "generalizability coefficient: share of the variance of observed means that would "
                "be found again when labels are compared")),
            Column("dependability", Text("values themselves"), kind="estimate", help=Text(
                "dependability coefficient: the same for the values themselves")),
            Column("universe", Text("variance of true means"), "squared points"),
            Column("relative_error", Text("error when comparing"), "squared points"),
            Column("absolute_error", Text("error of values"), "squared points"),
        ),
        rows=tuple(
            Row((
                Text(_READINGS[found["reading"].text]),
                _coefficient(found, "generalizability"),
                _coefficient(found, "dependability"),
                Number.of(found["universe"], 2),
                Number.of(found["relative_error"], 3),
                Number.of(found["absolute_error"], 3),
            ))
            for found in part["reliability"]
        ),
        notes=(
            Text("Prompts: levels of the factors that are random here; temperatures stay as they "
                 "are. Intervals are over samples of questions."),
            *_reasons(part),
        ),
        facets=facets,
    )  # fmt: skip


def _coefficient(found: Cursor, key: str) -> Estimate:
    return Estimate.of(found, key, 2, low=f"{key}_low", high=f"{key}_high")


def _reasons(part: Cursor) -> Iterator[Text]:
    reasons = [found["generalizability"].reason for found in part["reliability"]]
    for reason in dict.fromkeys(filter(None, reasons)):
        yield Text.of("No coefficient: {reason}.", reason=text_of(reason))


def _needed(part: Cursor, study: Study) -> Iterator[Text]:
    """How many levels of each random facet would reach the goal."""
    clustered = (part["clusters"].number or 0) < (part["questions"].number or 0)
    goal = Number.of(study.top["components"]["goal"], 1)
    for found in part["reliability"]:
        for need in found["needed"]:
            values: dict[str, Piece] = {
                "what": Text(_COEFFICIENTS[need["coefficient"].text]),
                "reading": Text(_READINGS[found["reading"].text]),
                "goal": goal,
                "things": _things(need["facet"].text, clustered),
            }
            if need["levels"].number is not None:
                yield Text.of(
                    "With {reading}: a coefficient of {goal} for {what} would take this many "
                    "{things}: {levels}.",
                    levels=Number.count(need["levels"]),
                    **values,
                )
            elif need["limit"].number is not None:
                yield Text.of(
                    "With {reading}: a coefficient of {goal} for {what} is out of reach of any "
                    "number of {things}; their limit is {limit}.",
                    limit=Number.of(need["limit"], 2),
                    **values,
                )


def _things(facet: str, clustered: bool) -> Text:
    if facet == "question":
        return Text("clusters of questions" if clustered else "questions")
    if facet == "replicate":
        return Text("answers to each prompt")
    return Text.of("levels of {factor}", factor=Name(facet))
