"""Tables of instability: accuracy, order, persona sets, labels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nongrata.report.document.blocks import Column, Facets, Row, Table
from nongrata.report.document.cursor import Cursor
from nongrata.report.document.pieces import Name, Number, Piece, Text
from nongrata.report.sections.figures import estimate
from nongrata.report.sections.study import Study

GROUPS = {"overall": "", "factor": "By factor, the others held", "domain": "By domain"}
_SETS = {
    "labels": "labels without controls",
    "with_controls": "labels and controls",
    "as_preprint": "as in the preprint: with controls and structural duplicates",
}


def row_name(row: Cursor) -> Name | Text:
    """What a row of an analysis by scope is called."""
    return Name(row["name"].text) if row["name"].text else Text("all configurations")


def by_scope(rows: Sequence[Cursor], cells: Sequence[Sequence[Piece | None]]) -> tuple[Row, ...]:
    """Rows of a table over all configurations, then by factor, then by domain.

    Parameters
    ----------
    rows
        Rows of an analysis that have ``scope`` and ``name``.
    cells
        The cells of each, without the name.
    """
    made, before = [], "overall"
    for row, others in zip(rows, cells, strict=True):
        scope, name = row["scope"].text, row["name"].text
        facets: Facets = {scope: name} if name else {}
        group = Text(GROUPS[scope]) if scope != before else None
        made.append(Row((row_name(row), *others), facets, group))
        before = scope
    return tuple(made)


def ia_table(study: Study, model: str, rows: Sequence[Cursor]) -> Table:
    """IA with its floors, its excess and its tests.

    Parameters
    ----------
    study
        The results.
    model
        Which model.
    rows
        Its rows of ``noise``.
    """
    cells = [
        (
            Number.count(row["compared"]),
            Number.of(row["ia"], 2),
            Number.of(row["rerun_floor"], 2),
            Number.of(row["exchangeability_floor"], 2),
            Number.of(row["equal_accuracy_floor"], 2),
            estimate(row["over_exchangeability"]),
            Number.p(row["p_exchangeability"]),
            Number.p(row["p_equal_accuracy"]),
            Number.of(row["typical_difference"], 2),
        )
        for row in rows
    ]
    return Table(
        id=study.id("ia-table", model),
        caption=Text.of("Instability of accuracy (IA) of {model}", model=Name(model)),
        columns=(
            Column("over", Text("over"), kind="name"),
            _compared(),
            Column("ia", Text("IA"), "points", help=Text(
                "mean difference of accuracy between two configurations")),
            Column("floor_rerun", Text("floor: asked again"), "points", help=Text(
                "what IA would be if every configuration were only asked again")),
            Column("floor_exchangeable", Text("floor: exchangeable"), "points", help=Text(
                "what IA would be if configurations could change places within every question")),
            Column("floor_equal", Text("floor: equal accuracies"), "points", help=Text(
                "what IA would be if all had the same accuracy over questions at large, and only "
                "single questions were answered differently")),
            Column("excess", Text("excess"), "points", "estimate", Text(
                "IA less the exchangeable floor, with its 95% interval")),
            Column("p", Text("p"), help=Text("of the exchangeable floor")),
            Column("p_equal", Text("p, equal"), help=Text("of equal accuracies")),
            Column("typical", Text("typical difference"), "points", help=Text(
                "root of the mean squared difference of true accuracies, noise taken off; below 0 "
                "where less was seen than noise makes")),
        ),
        rows=by_scope(rows, cells),
        facets={"model": model},
    )  # fmt: skip


def io_table(study: Study, model: str) -> Table:
    """IO with its two parts.

    Parameters
    ----------
    study
        The results.
    model
        Which model.
    """
    rows = _instability(study, "labels", model)
    cells = [
        (
            Number.count(row["compared"]),
            Number.of(row["io"], 2),
            Number.of(row["rank_shift"], 2),
            Number.of(row["expected_rank_shift"], 2),
            Number.of(row["relative_rank_shift"], 2),
            Number.of(row["spread"], 2),
        )
        for row in rows
    ]
    return Table(
        id=study.id("io-table", model),
        caption=Text.of("Instability of outcome (IO) of {model} and its parts", model=Name(model)),
        columns=(
            Column("over", Text("over"), kind="name"),
            _compared(),
            Column("io", Text("IO"), "ranks x points", help=Text(
                "shift of ranks times spread of accuracies, averaged over configurations")),
            Column("rank_shift", Text("shift of ranks"), "ranks", help=Text(
                "mean difference of a label's rank between two configurations")),
            Column("random_ranks", Text("shift if ranks were random"), "ranks"),
            Column("relative", Text("shift over random shift"), help=Text(
                "0 where ranks never change, 1 where they change as if dealt at random")),
            Column("spread", Text("spread of labels"), "points", help=Text(
                "standard deviation of the labels' accuracies within a configuration")),
        ),
        rows=by_scope(rows, cells),
        notes=(
            Text("IO is a product: it can be large because ranks move or because labels lie far "
                 "apart. It is a reconstruction of the preprint's figure, whose formula is not "
                 "public."),
        ),
        facets={"model": model},
    )  # fmt: skip


def persona_sets_table(study: Study, model: str) -> Table:
    """The three figures with and without controls.

    Parameters
    ----------
    study
        The results.
    model
        Which model.
    """
    made = []
    for part in study.top["instability"]:
        for row in part["rows"].all(model=model, scope="overall"):
            cells = (
                Text(_SETS[part["persona_set"].text]),
                Number.count(row["personas"]),
                Number.count(row["configurations"]),
                Number.of(row["ia"], 2),
                Number.of(row["io"], 2),
                Number.of(row["iq"]),
            )
            made.append(Row(cells))
    return Table(
        id=study.id("persona-sets", model),
        caption=Text.of("With and without controls: {model}", model=Name(model)),
        columns=(
            Column("personas", Text("over"), kind="text"),
            Column("labels", Text("labels")),
            Column("configurations", Text("configurations")),
            Column("ia", Text("IA"), "points"),
            Column("io", Text("IO"), "ranks x points"),
            Column("iq", Text("IQ"), "%", help=Text(
                "questions right in any configuration that are not right in all")),
        ),
        rows=tuple(made),
        notes=(
            Text("IQ grows with the number of configurations: compare it at equal numbers only."),
        ),
        facets={"model": model},
    )  # fmt: skip


def by_label_table(study: Study, model: str) -> Table:
    """Whether configurations are exchangeable, label by label.

    Parameters
    ----------
    study
        The results.
    model
        Which model.
    """
    return Table(
        id=study.id("cochran", model),
        caption=Text.of("Are configurations exchangeable, label by label? {model}",
                        model=Name(model)),
        columns=(
            Column("persona", Text("label"), kind="name"),
            Column("cochran", Text("Cochran's Q")),
            Column("df", Text("degrees of freedom")),
            Column("p", Text("p")),
            Column("p_adjusted", Text("p, adjusted"), help=Text("Holm's, for all labels")),
        ),
        rows=tuple(_labels(study.of("noise", model)["by_persona"])),
        facets={"model": model},
        folded=True,
    )  # fmt: skip


def _labels(rows: Cursor) -> Iterator[Row]:
    for row in rows:
        persona = row["persona"].text
        yield Row(
            (
                Name(persona),
                Number.of(row["cochran"]),
                Number.count(row["df"]),
                Number.p(row["p"]),
                Number.p(row["p_adjusted"]),
            ),
            {"persona": persona},
        )


def _instability(study: Study, persona_set: str, model: str) -> list[Cursor]:
    return study.top["instability"].where(persona_set=persona_set)["rows"].all(model=model)


def _compared() -> Column:
    return Column(
        "compared", Text("compared"), help=Text("configurations, or levels of the factor, compared")
    )
