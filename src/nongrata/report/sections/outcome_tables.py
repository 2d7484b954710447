"""Tables of outcomes: how answers ended, bounds, preferred places, final letters."""

from __future__ import annotations

from collections.abc import Sequence

from nongrata.report.document.blocks import Column, Row, Table
from nongrata.report.document.cursor import Cursor
from nongrata.report.document.pieces import Estimate, Name, Number, Piece, Text
from nongrata.report.sections.accuracy_tables import factor_columns
from nongrata.report.sections.study import Study

_LABEL = Column("label", Text("label"), kind="name")
_WAYS = {"wrong": "wrong, as everywhere else", "right": "right", "left_out": "left out"}
_PLACES = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth",
           "tenth")  # fmt: skip

_RATES = (
    Column("answered", Text("answered"), "%"),
    Column("unparsed", Text("unparsed"), "%", help=Text("a text from which no choice follows")),
    Column("refused", Text("refused"), "%", help=Text("the model declined to answer")),
    Column("truncated", Text("truncated"), "%", help=Text("cut off before there was a choice")),
    Column("error", Text("error"), "%", help=Text("the request failed: missing, never wrong")),
    Column("not_obtained", Text("not obtained"), "%", help=Text("not asked or not stored yet")),
)


def label_outcome_table(rows: Sequence[Cursor], study: Study, model: str) -> Table:
    """Outcomes of each label and control, and how certain the share of unread answers is.

    Parameters
    ----------
    rows
        Of the results' outcomes.
    study
        The results.
    model
        The model.
    """
    unread = {
        row["name"].text: row
        for scope in ("label", "control")
        for row in study.top["accuracy_intervals"]["rows"].all(model=model, scope=scope)
    }
    unread_help = Text("unparsed, refused or truncated; 95% interval, labels as they are")
    body = []
    for row in rows:
        name = row["persona"].text
        share = unread.get(name)
        interval = (
            Estimate.of(share, "unread", 2, low="unread_low", high="unread_high") if share else None
        )
        body.append(Row((Name(name), interval, *_rates(row)), {"persona": name}))
    return Table(
        id=study.id("outcomes-by-label-table", model),
        caption=Text.of("Outcomes by label: {model}", model=Name(model)),
        columns=(_LABEL, Column("unread", Text("unread"), "%", "estimate", unread_help), *_RATES),
        rows=tuple(body),
        facets={"model": model},
        folded=True,
    )


def _rates(row: Cursor) -> list[Number]:
    return [Number.of(row["rates"][column.key], 2) for column in _RATES]


def configuration_outcome_table(rows: Sequence[Cursor], study: Study, model: str) -> Table:
    """Outcomes of each configuration.

    Parameters
    ----------
    rows
        Of the results' outcomes.
    study
        The results.
    model
        The model.
    """
    return Table(
        id=study.id("outcomes-by-configuration-table", model),
        caption=Text.of("Outcomes by configuration: {model}", model=Name(model)),
        columns=(*factor_columns(study), *_RATES),
        rows=tuple(
            Row((*(Name(str(level)) for level in row["levels"].value), *_rates(row)))
            for row in rows
        ),
        facets={"model": model},
        folded=True,
    )


def bounds_table(rows: Sequence[Cursor], study: Study, model: str) -> Table:
    """The main figures with unread answers wrong, right, and left out.

    Parameters
    ----------
    rows
        Of the results' bounds.
    study
        The results.
    model
        The model.
    """
    keys = (("accuracy", 1), ("ia", 2), ("iq", 1), ("iq_of_two", 1), ("io", 2), ("rank_shift", 1),
            ("spread", 1))  # fmt: skip
    return Table(
        id=study.id("unread-bounds", model),
        caption=Text.of("If unread answers were wrong, right or left out: {model}",
                        model=Name(model)),
        columns=(
            Column("unread", Text("unread answers are"), kind="text"),
            Column("accuracy", Text("accuracy"), "%"),
            Column("ia", Text("IA"), "points"),
            Column("iq", Text("IQ"), "%"),
            Column("iq_of_two", Text("IQ of two"), "%"),
            Column("io", Text("IO"), "ranks × points"),
            Column("rank_shift", Text("rank shift"), "ranks"),
            Column("spread", Text("spread"), "points"),
        ),
        rows=tuple(
            Row(
                (
                    Text(_WAYS[row["unread"].text]),
                    *(Number.of(row[key], digits) for key, digits in keys),
                )
            )
            for row in rows
        ),
        notes=(
            Text(
                "For accuracy the first two rows are bounds. For the other figures they are not, "
                "but one that changes much from row to row rests on how answers are read."
            ),
        ),
        facets={"model": model},
    )  # fmt: skip


def label_bounds_table(rows: Sequence[Cursor], study: Study, model: str) -> Table:
    """Bounds of the accuracy of each label and control.

    Parameters
    ----------
    rows
        Of the results' accuracy, in the order shown.
    study
        The results.
    model
        The model.
    """
    keys = ("accuracy", "read_only", "if_unread_right")
    return Table(
        id=study.id("bounds-by-label-table", model),
        caption=Text.of("Bounds of accuracy, by label: {model}", model=Name(model)),
        columns=(
            _LABEL,
            Column("accuracy", Text("unread are wrong"), "%"),
            Column("read_only", Text("unread are left out"), "%"),
            Column("if_unread_right", Text("unread are right"), "%"),
        ),
        rows=tuple(
            Row(
                (Name(row["persona"].text), *(Number.of(row[key], 2) for key in keys)),
                {"persona": row["persona"].text},
            )
            for row in rows
        ),
        facets={"model": model},
        folded=True,
    )


def place_of(row: Cursor) -> Piece:
    """The place that is chosen most, in words: results count places from 0."""
    place = int(row["favourite"].number or 0)
    return Text(_PLACES[place]) if place < len(_PLACES) else Name(str(place + 1))


def place_table(rows: Sequence[Cursor], study: Study, model: str) -> Table:
    """Which place among the options is chosen most, over everything and level by level.

    Parameters
    ----------
    rows
        Of the results' chance check.
    study
        The results.
    model
        The model.
    """
    body = [
        Row(
            (
                Name(row["name"].text) if row["name"].text else Text("all answers"),
                place_of(row),
                Number.of(row["favourite_share"]),
                Number.of(row["favourite_gold"]),
                Number.of(row["blind"]),
                Number.p(row["p_position"]),
                Text("yes" if row["position_dominates"].value else "no"),
            )
        )
        for row in rows
    ]
    return Table(
        id=study.id("preferred-places", model),
        caption=Text.of("Which place among the options is preferred? {model}", model=Name(model)),
        columns=(
            Column("over", Text("over"), kind="name"),
            Column("place", Text("chosen most"), kind="text"),
            Column("share", Text("chosen in"), "%", help=Text("of answers that were read")),
            Column(
                "gold", Text("right in"), "%", help=Text("how often that place is the right one")
            ),
            Column(
                "blind",
                Text("right blindly"),
                "%",
                help=Text("if the same choices of places were dealt out without the questions"),
            ),
            Column("p", Text("p"), help=Text("of no preference for that place")),
            Column(
                "dominates",
                Text("dominates"),
                kind="text",
                help=Text("the preference moves more answers than the questions do"),
            ),
        ),
        rows=tuple(body),
        facets={"model": model},
        folded=True,
    )


def letters_table(rows: Sequence[Cursor], study: Study, model: str) -> Table:
    """Accuracy of generated answers from the distribution of their final letter.

    Parameters
    ----------
    rows
        Of the results' accuracy: the whole model, and configurations, that have letters.
    study
        The results.
    model
        The model.
    """
    return Table(
        id=study.id("final-letters", model),
        caption=Text.of("Generated answers by their final letter: {model}", model=Name(model)),
        columns=(
            Column("over", Text("over"), kind="name"),
            Column("drawn", Text("from letters drawn"), "%"),
            Column("from_p", Text("from their probabilities"), "%"),
            Column("sd", Text("sd by drawing"), "points"),
            Column(
                "variance_ratio",
                Text("variance"),
                help=Text("of the second over that of the first: below 1 it is more certain"),
            ),
        ),
        rows=tuple(
            Row(
                (
                    Name(" · ".join(map(str, row["levels"].value)))
                    if row["levels"]
                    else Text("all generated answers"),
                    Number.of(row["letters"]["sampled"], 2),
                    Number.of(row["letters"]["accuracy"], 2),
                    Number.of(row["letters"]["letter_sd"], 2),
                    Number.of(row["letters"]["variance_ratio"], 2),
                )
            )
            for row in rows
        ),
        facets={"model": model},
        folded=True,
    )
