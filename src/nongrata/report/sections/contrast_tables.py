"""Tables of contrasts: each label against a control, on average and in every configuration."""

from __future__ import annotations

from collections.abc import Sequence

from nongrata.report.document.blocks import Column, Row, Table
from nongrata.report.document.cursor import Cursor
from nongrata.report.document.pieces import Estimate, Name, Number, Piece, Text
from nongrata.report.document.said import text_of
from nongrata.report.sections.study import Study

_LABEL = Column("label", Text("label"), kind="name")


def contrast_table(
    labels: Sequence[Cursor], control: str, part: Cursor, study: Study, model: str
) -> Table:
    """The mean difference of each label to a control, and what it says.

    Parameters
    ----------
    labels
        Of the contrasts with the control, in the order shown.
    control
        The control.
    part
        A model's contrasts.
    study
        The results.
    model
        The model.
    """
    together = {"low": "low_together", "high": "high_together", "style": "signed"}
    is_sampled = any(not label["as_sample"]["reason"].text for label in labels)
    columns = [
        _LABEL,
        Column(
            "difference",
            Text("difference"),
            "points",
            "estimate",
            Text(
                "accuracy under the label less that under the control, mean over configurations, "
                "with the 95% interval of all labels together"
            ),
        ),
        Column("p", Text("p"), help=Text("of no difference, adjusted for the number of labels")),
        Column(
            "says",
            Text("says"),
            kind="text",
            help=Text("differs: zero is outside; equivalent: all within the smallest effect"),
        ),
    ]
    if is_sampled:
        columns.append(
            Column(
                "other_formats",
                Text("with other formats"),
                "points",
                "estimate",
                Text("the difference if the formats are a sample of many, each label alone"),
            )
        )
    rows = []
    for label in labels:
        name = label["persona"].text
        cells: list[Piece | None] = [
            Name(name),
            Estimate.of(label, "estimate", 2, **together),  # type: ignore[arg-type]
            Number.p(label["p_together"]),
            text_of(label["verdict"].text),
        ]
        if is_sampled:
            cells.append(Estimate.of(label["as_sample"], "estimate", 2, style="signed"))
        rows.append(Row(tuple(cells), {"persona": name}))
    return Table(
        id=study.id("contrasts", model, control),
        caption=_caption("Labels less {control}, configurations averaged: {model}", control, model),
        columns=tuple(columns),
        rows=tuple(rows),
        notes=_notes(part, study, is_sampled=is_sampled),
        facets={"model": model},
    )


def _caption(template: str, control: str, model: str) -> Text:
    return Text.of(template, control=Name(control), model=Name(model))


def _notes(part: Cursor, study: Study, *, is_sampled: bool) -> tuple[Text, ...]:
    smallest = Number.of(study.top["contrasts"]["smallest_effect"], unit="points")
    notes = [
        Text.of(
            "Smallest effect of interest: {smallest}. Undecided is not equal: neither a difference "
            "nor equivalence is shown.",
            smallest=smallest,
        )
    ]
    if is_sampled:
        names = " · ".join(map(str, part["sampled"].value))
        notes.append(Text.of("Formats taken as a sample: {factors}.", factors=Name(names)))
    return tuple(notes)


def curve_table(labels: Sequence[Cursor], control: str, study: Study, model: str) -> Table:
    """What the difference does over configurations, label by label.

    Parameters
    ----------
    labels
        Of the contrasts with the control, in the order shown.
    control
        The control.
    study
        The results.
    model
        The model.
    """
    return Table(
        id=study.id("curves", model, control),
        caption=_caption("Labels less {control} in every configuration: {model}", control, model),
        columns=(
            _LABEL,
            Column("lowest", Text("lowest"), "points"),
            Column("median", Text("median"), "points"),
            Column("highest", Text("highest"), "points"),
            Column("positive", Text("above in"), "%", help=Text("of configurations")),
            Column(
                "sure_above",
                Text("shown above"),
                help=Text("configurations whose difference is shown to be above zero, all at once"),
            ),
            Column("sure_below", Text("shown below")),
            Column(
                "p_median",
                Text("p, median"),
                help=Text(
                    "of no difference in any configuration, from the median, adjusted for the "
                    "number of labels"
                ),
            ),
            Column(
                "p_sign",
                Text("p, signs"),
                help=Text("the same from how many configurations lean one way"),
            ),
        ),
        rows=tuple(_curve_row(label) for label in labels),
        facets={"model": model},
    )


def _curve_row(label: Cursor) -> Row:
    curve, name = label["curve"], label["persona"].text
    points = list(curve["points"])
    cells = (
        Name(name),
        Number.of(points[0]["estimate"], style="signed") if points else None,
        Number.of(curve["median"], style="signed"),
        Number.of(points[-1]["estimate"], style="signed") if points else None,
        Number.of(curve["positive"], 0),
        Number.count(curve["above"]),
        Number.count(curve["below"]),
        Number.p(curve["p_median_together"]),
        Number.p(curve["p_sign_together"]),
    )
    return Row(cells, {"persona": name})
