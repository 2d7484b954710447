"""Tables of accuracy: by level and domain, by label, by configuration, by both."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nongrata.report.document.blocks import Column, Row, Table
from nongrata.report.document.cursor import Cursor
from nongrata.report.document.pieces import Estimate, Name, Number, Text
from nongrata.report.sections.study import Study

ACCURACY = Column(
    "accuracy",
    Text("accuracy"),
    "%",
    "estimate",
    Text("answers that are right, with a 95% confidence interval; unread answers are not right"),
)
_QUESTIONS = Column("questions", Text("questions"))
_CLUSTERS = Column(
    "clusters", Text("clusters"), help=Text("groups of questions that are not independent")
)


def level_table(study: Study, model: str) -> Table:
    """Accuracy over everything, with each level of each factor, and in each domain.

    Parameters
    ----------
    study
        The results.
    model
        The model.
    """
    found = study.top["accuracy_intervals"]["rows"]
    overall = found.where(model=model, scope="model")
    rows = [_row(Text("labels and configurations, averaged"), overall)]
    for factor in study.factors:
        levels = found.all(model=model, scope="level", factor=factor)
        for n, row in enumerate(levels):
            group = None if n else Text.of("{factor}", factor=Name(factor))
            rows.append(_row(Name(row["name"].text), row, group, {"factor": factor}))
    for n, row in enumerate(found.all(model=model, scope="domain")):
        name = row["name"].text
        rows.append(_row(Name(name), row, None if n else Text("domains"), {"domain": name}))
    return Table(
        id=study.id("accuracy-by-level", model),
        caption=Text.of("Accuracy by factor level and by domain: {model}", model=Name(model)),
        columns=(Column("over", Text("over"), kind="name"), ACCURACY, _QUESTIONS, _CLUSTERS),
        rows=tuple(rows),
        facets={"model": model},
    )


def _row(
    name: Name | Text,
    row: Cursor,
    group: Text | None = None,
    facets: dict[str, str] | None = None,
) -> Row:
    cells = (name, accuracy(row), Number.count(row["questions"]), Number.count(row["clusters"]))
    return Row(cells, facets or {}, group)


def accuracy(row: Cursor, unit: str = "") -> Estimate:
    """Accuracy of a row of the results' accuracy intervals."""
    return Estimate.of(row, "accuracy", unit=unit)


def label_table(rows: Sequence[Cursor], study: Study, model: str) -> Table:
    """Accuracy of each label and control over all configurations.

    Parameters
    ----------
    rows
        Of the results' accuracy intervals, in the order shown.
    study
        The results.
    model
        The model.
    """
    body, scope = [], ""
    for row in rows:
        is_new, scope = row["scope"].text != scope, row["scope"].text
        group = Text("controls" if scope == "control" else "labels") if is_new else None
        name = row["name"].text
        body.append(Row((Name(name), accuracy(row)), {"persona": name}, group))
    return Table(
        id=study.id("accuracy-by-label-table", model),
        caption=Text.of("Accuracy by label: {model}", model=Name(model)),
        columns=(Column("label", Text("label"), kind="name"), ACCURACY),
        rows=tuple(body),
        facets={"model": model},
        folded=True,
    )


def configuration_table(
    rows: Sequence[Cursor], levels: Sequence[Sequence[str]], study: Study, model: str
) -> Table:
    """Accuracy of each configuration, labels averaged.

    Parameters
    ----------
    rows
        Of the results' accuracy intervals.
    levels
        Levels of each row's configuration.
    study
        The results.
    model
        The model.
    """
    return Table(
        id=study.id("accuracy-by-configuration-table", model),
        caption=Text.of("Accuracy by configuration: {model}", model=Name(model)),
        columns=(*factor_columns(study), ACCURACY),
        rows=tuple(
            Row((*(Name(str(level)) for level in own), accuracy(row)))
            for row, own in zip(rows, levels, strict=True)
        ),
        facets={"model": model},
        folded=True,
    )


def factor_columns(study: Study) -> tuple[Column, ...]:
    """A column for each factor, whose cells are levels."""
    return tuple(
        Column(f"factor_{f + 1}", Text.of("{factor}", factor=Name(factor)), kind="name")
        for f, factor in enumerate(study.factors)
    )


def cell_table(cells: Sequence[Cursor], personas: Sequence[str], study: Study, model: str) -> Table:
    """Accuracy of each label under each configuration: a row for each label.

    Parameters
    ----------
    cells
        Rows of the results' accuracy by cell.
    personas
        Labels and controls, in the order shown.
    study
        The results.
    model
        The model.
    """
    found = {(cell["persona"].text, tuple(cell["levels"].value)): cell for cell in cells}
    levels = list(dict.fromkeys(own for _, own in found))
    return Table(
        id=study.id("accuracy-by-cell-table", model),
        caption=Text.of(
            "Accuracy of each label under each configuration, in %: {model}", model=Name(model)
        ),
        columns=(Column("label", Text("label"), kind="name"), *_cell_columns(levels)),
        rows=tuple(
            Row(
                (Name(persona), *(_accuracy_of(found.get((persona, own))) for own in levels)),
                {"persona": persona},
            )
            for persona in personas
        ),
        facets={"model": model},
        folded=True,
    )


def _cell_columns(levels: Sequence[Sequence[str]]) -> Iterator[Column]:
    for k, own in enumerate(levels):
        name = " · ".join(map(str, own))
        yield Column(f"accuracy_{k + 1}", Text.of("{configuration}", configuration=Name(name)))


def _accuracy_of(cell: Cursor | None) -> Number | None:
    return None if cell is None else Number.of(cell["accuracy"])
