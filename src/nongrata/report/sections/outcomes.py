"""Section: how answers ended, and what hangs on those that could not be read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nongrata.report.charts.bounds import bounds_chart
from nongrata.report.charts.outcome_bars import (
    FAILURES,
    configuration_outcomes,
    label_outcomes,
    occurring,
)
from nongrata.report.document.blocks import Block, Paragraph, Section
from nongrata.report.document.cursor import Cursor
from nongrata.report.document.pieces import Estimate, Name, Names, Number, Text
from nongrata.report.sections.accuracy import by_accuracy, is_rankable
from nongrata.report.sections.configurations import configurations_of
from nongrata.report.sections.outcome_tables import (
    bounds_table,
    configuration_outcome_table,
    label_bounds_table,
    label_outcome_table,
    letters_table,
    place_of,
    place_table,
)
from nongrata.report.sections.study import Study

_SAID = {
    "unparsed": "{rate} held no choice (unparsed)",
    "refused": "{rate} were refusals",
    "truncated": "{rate} were cut off (truncated)",
    "error": "{rate} failed (errors)",
}


def outcomes_section(study: Study) -> Section:
    """Answers that were read and that were not, per label and configuration.

    Parameters
    ----------
    study
        The results.
    """
    blocks: list[Block] = []
    for model in study.models:
        blocks += _of_model(study, model)
    return Section(
        id="outcomes",
        title=Text("Outcomes"),
        question=Text("Could all answers be read, and what hangs on those that could not?"),
        blocks=tuple(blocks),
    )


def _of_model(study: Study, model: str) -> Iterator[Block]:
    rows = study.top["outcomes"]["rows"]
    whole = rows.where(model=model, scope="model")
    labels = rows.all(model=model, scope="persona")
    configurations = rows.all(model=model, scope="configuration")
    yield _said(whole, model)
    yield from _not_obtained(whole, model)
    if occurring(labels):
        yield from _said_of_labels(study, model)
        name = study.id("outcomes-by-label", model)
        yield label_outcomes(labels, model, name, label_outcome_table(labels, study, model))
    if occurring(configurations) and len(configurations) > 1:
        yield configuration_outcomes(
            configurations,
            configurations_of(study, model),
            model,
            study.id("outcomes-by-configuration", model),
            configuration_outcome_table(configurations, study, model),
        )
    yield from _bounds(study, model)
    yield from _places(study, model)
    yield from _letters(study, model)


def _said(whole: Cursor, model: str) -> Paragraph:
    kinds = [kind for kind in FAILURES if whole["rates"][kind].number]
    if not kinds:
        text = Text.of(
            "All {answers} answers of {model} that were obtained could be read.",
            answers=Number.count(whole["answered"]),
            model=Name(model),
        )
        return Paragraph(text, tone="lead", facets={"model": model})
    rates = [
        Text.of(_SAID[kind], rate=Number.of(whole["rates"][kind], 2, unit="%")) for kind in kinds
    ]
    text = Text.of(
        "Of the answers of {model}, {answered} could be read; {others}. Unread answers count as "
        "not right, errors as missing.",
        model=Name(model),
        answered=Number.of(whole["rates"]["answered"], unit="%"),
        others=Names(tuple(rates)),
    )
    return Paragraph(text, tone="lead", facets={"model": model})


def _not_obtained(whole: Cursor, model: str) -> Iterator[Paragraph]:
    if not whole["not_obtained"].number:
        return
    text = Text.of(
        "{number} answers that the study wants ({rate}) are not there (yet): they are missing, not "
        "wrong.",
        number=Number.count(whole["not_obtained"]),
        rate=Number.of(whole["rates"]["not_obtained"], unit="%"),
    )
    yield Paragraph(text, tone="warning", facets={"model": model})


def _said_of_labels(study: Study, model: str) -> Iterator[Paragraph]:
    """Unread answers of the label with the fewest and of that with the most."""
    rows = [
        row
        for row in study.top["accuracy_intervals"]["rows"].all(model=model, scope="label")
        if row["unread"].number is not None
    ]
    if len(rows) < 2:
        return
    ordered = sorted(rows, key=lambda row: row["unread"].number or 0.0)
    text = Text.of(
        "From label to label the share of unread answers goes from {low} ({fewest}) to {high} "
        "({most}).",
        low=_unread(ordered[0]),
        fewest=Name(ordered[0]["name"].text),
        high=_unread(ordered[-1]),
        most=Name(ordered[-1]["name"].text),
    )
    yield Paragraph(text, facets={"model": model})


def _unread(row: Cursor) -> Estimate:
    return Estimate.of(row, "unread", 2, unit="%", low="unread_low", high="unread_high")


def _bounds(study: Study, model: str) -> Iterator[Block]:
    bounds = study.top["unread_bounds"]["rows"].all(model=model)
    if not bounds:
        return
    of_way = {row["unread"].text: row for row in bounds}
    text = Text.of(
        "Accuracy, labels averaged, is {wrong} with unread answers wrong, as in all of this "
        "report; were they all right it would be {right}, and without them it is {left_out}.",
        **{way: Number.of(row["accuracy"], unit="%") for way, row in of_way.items()},
    )
    yield Paragraph(text, facets={"model": model})
    rows = study.top["accuracy"]["personas"].all(model=model)
    labels = [row for row in rows if not row["is_control"].value]
    if is_rankable(study, model):
        labels = by_accuracy(labels)
    shown = [*labels, *(row for row in rows if row["is_control"].value)]
    shown = [row for row in shown if row["read_only"].number is not None]
    if shown:
        name = study.id("bounds-by-label", model)
        yield bounds_chart(shown, model, name, label_bounds_table(shown, study, model))
    yield bounds_table(bounds, study, model)


def _places(study: Study, model: str) -> Iterator[Block]:
    """Which place among the options the model prefers."""
    rows = study.top["chance"]["rows"]
    whole = rows.where(model=model, scope="overall")
    if (whole["favourite"].number or 0) < 0 or whole["favourite_share"].number is None:
        return
    text = Text.of(
        "The {place} option shown is chosen most: in {share} of the answers that were read, while "
        "it is the right one in {gold}."
        if study.top["chance"]["places"].text == "shown"
        else "The {place} option of the source's order is chosen most: in {share} of the answers "
        "that were read, while it is the right one in {gold}.",
        place=place_of(whole),
        share=Number.of(whole["favourite_share"], unit="%"),
        gold=Number.of(whole["favourite_gold"], unit="%"),
    )
    yield Paragraph(text, facets={"model": model})
    if whole["position_dominates"].value:
        text = Text(
            "This preference for a place moves more answers than the questions do: position bias "
            "dominates."
        )
        yield Paragraph(text, tone="warning", facets={"model": model})
    found = [whole, *rows.all(model=model, scope="level")]
    known = [row for row in found if row["favourite_share"].number is not None]
    yield place_table(known, study, model)


def _letters(study: Study, model: str) -> Iterator[Block]:
    accuracy = study.top["accuracy"]
    rows: Sequence[Cursor] = [
        row
        for part in ("models", "configurations")
        for row in accuracy[part].all(model=model)
        if row["letters"]
    ]
    if rows:
        yield letters_table(rows, study, model)
