"""Tables of ranks: what each label's rank could be, how far configurations agree, who is best."""

from __future__ import annotations

from collections.abc import Sequence

from nongrata.report.document.blocks import Column, Row, Table
from nongrata.report.document.cursor import Cursor
from nongrata.report.document.pieces import Estimate, Name, Names, Number, Piece, Text
from nongrata.report.sections.accuracy_tables import factor_columns
from nongrata.report.sections.study import Study

_OVER = Column("over", Text("over"), kind="name")
_LABEL = Column("label", Text("label"), kind="name")


def rank_table(labels: Sequence[Cursor], study: Study, model: str) -> Table:
    """The rank of each label, and which ranks it could have.

    Parameters
    ----------
    labels
        Of a ranking of the results, in the order shown.
    study
        The results.
    model
        The model.
    """
    return Table(
        id=study.id("rank-table", model),
        caption=Text.of("Which rank could each label have? {model}", model=Name(model)),
        columns=(
            _LABEL,
            Column("accuracy", Text("accuracy"), "%"),
            Column(
                "rank",
                Text("rank"),
                help=Text("the first is the highest accuracy; ties share a rank"),
            ),
            Column("low", Text("from"), help=Text("95% sure of this label alone")),
            Column("high", Text("to")),
            Column("all_low", Text("all at once: from"), help=Text("95% sure of all labels")),
            Column("all_high", Text("to")),
            Column("could_be", Text("could be"), kind="text"),
        ),
        rows=tuple(_rank_row(label) for label in labels),
        facets={"model": model},
        folded=True,
    )


def _rank_row(label: Cursor) -> Row:
    name = label["persona"].text
    ends = (Number.count(label[key]) for key in ("low", "high", "all_low", "all_high"))
    cells = (
        Name(name), Number.of(label["accuracy"], 2), _rank(label["rank"]), *ends, _could_be(label)
    )  # fmt: skip
    return Row(cells, {"persona": name})


def _rank(place: Cursor) -> Number:
    """A rank: whole, or a half where labels are tied."""
    is_whole = place.number is None or float(place.number).is_integer()
    return Number.of(place, 0 if is_whole else 1)


def _could_be(label: Cursor) -> Piece | None:
    is_best, is_worst = label["possibly_best"].value, label["possibly_worst"].value
    if is_best and is_worst:
        return Text("best or worst")
    if is_best or is_worst:
        return Text("best" if is_best else "worst")
    return None


def extremes_table(study: Study, model: str) -> Table:
    """The best and the worst label of each configuration.

    All ranks of all configurations would be some thousand numbers; they are in the results.

    Parameters
    ----------
    study
        The results.
    model
        The model.
    """
    rows = study.top["best_and_worst"]["configurations"].all(model=model)
    return Table(
        id=study.id("rank-flow-table", model),
        caption=Text.of("Ends of the order in each configuration: {model}", model=Name(model)),
        columns=(
            *factor_columns(study),
            Column("best", Text("best"), kind="name"),
            Column("best_accuracy", Text("its accuracy"), "%"),
            Column("worst", Text("worst"), kind="name"),
            Column("worst_accuracy", Text("its accuracy"), "%"),
        ),
        rows=tuple(
            Row(
                (
                    *(Name(str(level)) for level in row["levels"].value),
                    _names(row["best"]),
                    Number.of(row["best_accuracy"], 2),
                    _names(row["worst"]),
                    Number.of(row["worst_accuracy"], 2),
                )
            )
            for row in rows
        ),
        facets={"model": model},
        folded=True,
    )


def _names(place: Cursor) -> Names:
    return Names(tuple(Name(str(name)) for name in place.value or ()))


def agreement_table(part: Cursor, study: Study, model: str) -> Table:
    """How far rankings under different configurations agree.

    Parameters
    ----------
    part
        A model's ranking.
    study
        The results.
    model
        The model.
    """
    return Table(
        id=study.id("rank-agreement", model),
        caption=Text.of(
            "How far do rankings under different configurations agree? {model}", model=Name(model)
        ),
        columns=(
            _OVER,
            Column("compared", Text("K"), help=Text("rankings compared")),
            Column(
                "kendall_w",
                Text("W"),
                help=Text("Kendall's W: one if all agree; one over K, about, for random orders"),
            ),
            Column("tau_b", Text("tau-b"), help=Text("mean rank correlation of two rankings")),
            Column("spearman", Text("rho"), help=Text("mean of Spearman's rho over two rankings")),
            Column("shift", Text("shift"), "ranks", help=Text("mean change of a label's rank")),
        ),
        rows=tuple(
            Row(
                (
                    _over(row),
                    Number.count(row["compared"]),
                    *(Number.of(row[key], 2) for key in ("kendall_w", "tau_b", "spearman")),
                    Number.of(row["shift"], 1),
                ),
                _factor(row),
            )
            for row in part["agreement"]
        ),
        notes=(
            Text(
                "On the same questions in all configurations, so that these rankings share the "
                "luck of the questions. There are no intervals: resampling would add noise to "
                "ranks. Compare W at equal K only."
            ),
        ),
        facets={"model": model},
    )


def halves_table(part: Cursor, study: Study, model: str) -> Table:
    """Agreement on different questions: under the same configuration and under different ones.

    Parameters
    ----------
    part
        A model's ranking.
    study
        The results.
    model
        The model.
    """
    pairs = (("tau_b", 2), ("shift", 1), ("best_changes", 0), ("worst_changes", 0))
    return Table(
        id=study.id("rank-halves", model),
        caption=Text.of("Is it the configuration, or the questions? {model}", model=Name(model)),
        columns=(
            _OVER,
            Column(
                "correlation",
                Text("r"),
                kind="estimate",
                help=Text(
                    "correlation of the labels' accuracies between configurations with the noise "
                    "taken out, 95% interval; one: configurations change nothing but noise"
                ),
            ),
            Column("tau_b_same", Text("tau-b, same")),
            Column("tau_b_different", Text("other")),
            Column("shift_same", Text("shift, same"), "ranks"),
            Column("shift_different", Text("other"), "ranks"),
            Column("best_changes_same", Text("new best, same"), "%"),
            Column("best_changes_different", Text("other"), "%"),
            Column("worst_changes_same", Text("new worst, same"), "%"),
            Column("worst_changes_different", Text("other"), "%"),
        ),
        rows=tuple(
            Row(
                (
                    _over(row),
                    Estimate.of(row, "correlation", 2, low="correlation_low",
                                high="correlation_high"),
                    *(Number.of(row[key][way], digits)
                      for key, digits in pairs for way in ("same", "different")),
                ),
                _factor(row),
            )
            for row in part["halves"]
        ),
        notes=(
            Text.of(
                "Two rankings, each from another half of the questions, means over {splits} random "
                "splits. Same: of the same configuration, so that only the questions differ; "
                "other: of two configurations. New best: pairs of such rankings in which no label "
                "is best in both.",
                splits=Number.count(part["splits"]),
            ),
        ),
        facets={"model": model},
    )  # fmt: skip


def _over(row: Cursor) -> Piece:
    return Name(row["name"].text) if row["name"].text else Text("all configurations")


def _factor(row: Cursor) -> dict[str, str]:
    return {"factor": row["name"].text} if row["name"].text else {}


def places_table(study: Study, model: str) -> Table:
    """In how many configurations each label is the best or the worst one.

    Parameters
    ----------
    study
        The results.
    model
        The model.
    """
    rows = study.top["best_and_worst"]["labels"].all(model=model)
    ordered = sorted(rows, key=lambda row: (-(row["best"].number or 0), row["worst"].number or 0))
    return Table(
        id=study.id("best-and-worst", model),
        caption=Text.of(
            "How often is each label the best or the worst one? {model}", model=Name(model)
        ),
        columns=(
            _LABEL,
            Column("best", Text("best in"), "%", help=Text("of configurations; ties are shared")),
            Column("worst", Text("worst in"), "%"),
            Column(
                "best_above_chance",
                Text("best, above chance"),
                "%",
                help=Text("of configurations that are above chance and the best constant answer"),
            ),
            Column("worst_above_chance", Text("worst, above chance"), "%"),
        ),
        rows=tuple(
            Row(
                (
                    Name(row["persona"].text),
                    *(Number.of(row[key])
                      for key in ("best", "worst", "best_above_chance", "worst_above_chance")),
                ),
                {"persona": row["persona"].text},
            )
            for row in ordered
        ),
        notes=(
            Text(
                "Being the best or the worst one in a configuration is what these answers gave; "
                "it is not tested. Which labels could be best or worst is in the table of ranks."
            ),
        ),
        facets={"model": model},
        folded=True,
    )  # fmt: skip
