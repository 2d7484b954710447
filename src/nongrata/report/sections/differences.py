"""Parts of sections that compare: what is compared, charts side by side, tables of differences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nongrata.report.charts.forest import Forest, Keys, forest_chart
from nongrata.report.document.blocks import Chart, Column, Facets, Row, Table
from nongrata.report.document.cursor import Cursor
from nongrata.report.document.pieces import Estimate, Name, Number, Text
from nongrata.report.sections.figures import at, estimate


@dataclass(frozen=True, slots=True)
class Metric:
    """What is compared.

    Parameters
    ----------
    words, unit
        Its name and unit.
    digits
        Decimals shown.
    help
        What it means.
    """

    words: str
    unit: str
    digits: int
    help: str

    def column(self, key: str) -> Column:
        """A table's column of it."""
        return Column(key, Text(self.words), self.unit, "estimate", Text(self.help))

    @property
    def axis(self) -> str:
        """Title of an axis of it."""
        return f"{self.words} ({self.unit})"


METRICS = {
    "accuracy": Metric("accuracy", "%", 1, "mean over labels and configurations"),
    "typical_difference": Metric(
        "typical difference",
        "points",
        1,
        "how far the accuracies of two configurations, or of two levels of the factor, lie apart "
        "(root mean square), noise taken off; 0 where no difference beyond noise was seen",
    ),
    "squared_difference": Metric(
        "sensitivity", "squared points", 1, "mean squared difference of accuracy, noise taken off"
    ),
    "ia_excess": Metric("IA excess", "points", 2, "IA less what equal accuracies would make of it"),
    "ia_at_size": Metric(
        "IA at equal size",
        "points",
        2,
        "IA with every domain cut to as many clusters of questions: more questions alone make IA "
        "smaller",
    ),
    "ia": Metric("IA", "points", 2, "mean difference of accuracy between configurations"),
    "iq_of_two": Metric(
        "IQ(2)", "%", 1, "questions right in one of two configurations that are not right in both"
    ),
    "iq_of_all": Metric("IQ(K)", "%", 1, "the same over all configurations"),
}


def metric_charts(
    rows: Sequence[Cursor],
    names: Sequence[Name],
    metrics: Sequence[str],
    *,
    ids: Sequence[str],
    whose: Text,
    facets: Facets,
    by: str = "",
) -> Iterator[Chart]:
    """One forest plot for each metric, of the rows that have it.

    Parameters
    ----------
    rows, names
        What is compared, and how it is called.
    metrics
        In what.
    ids
        Id of the chart of each metric.
    whose
        What the rows are, in words.
    facets
        What the charts are about.
    by
        Facet that the names are of.
    """
    for metric, name in zip(metrics, ids, strict=True):
        kept = [
            (row[metric], called)
            for row, called in zip(rows, names, strict=True)
            if at(row, metric, "value").number is not None
        ]
        if len(kept) < 2:
            continue
        about = METRICS[metric]
        model = Name(facets.get("model", ""))
        title = (
            Text.of("{model}: {metric} of {whose}", model=model, metric=Text(about.words),
                    whose=whose)
            if model.text
            else Text.of("{metric} of {whose}", metric=Text(about.words), whose=whose)
        )  # fmt: skip
        yield forest_chart(
            Forest(
                places=[place for place, _ in kept],
                names=[called for _, called in kept],
                axis=about.axis,
                keys=Keys("value"),
                by=by,
            ),
            name,
            title,
            Text.of(
                "A point for each of the {whose} shows its {metric}, with its 95% interval.",
                whose=whose,
                metric=Text(about.words),
            ),
            facets,
        )


def differences_table(
    rows: Sequence[Cursor], name: str, caption: Text, *, facets: Facets, by: str
) -> Table:
    """Differences of pairs, with what is decided.

    Parameters
    ----------
    rows
        Differences of ``comparisons``.
    name
        Id of the table.
    caption
        What it shows.
    facets
        What it is about.
    by
        Facet that the names are of: rows of one name against all others have it.
    """
    made, before = [], ""
    for row in rows:
        metric = row["metric"].text
        about = METRICS[metric]
        joint = row["joint_low"].number is not None
        low, high = ("joint_low", "joint_high") if joint else ("low", "high")
        difference = Estimate(
            Number.of(row["difference"], 2, style="signed"),
            Number.of(row[low], 2),
            Number.of(row[high], 2),
        )
        second = Name(row["second"].text) if row["second"].text else Text("the others")
        made.append(
            Row(
                (
                    Name(row["first"].text),
                    second,
                    difference,
                    Number.p(row["p_holm"]),
                    Text("decided") if row["decided"].value else Text("open"),
                ),
                {by: row["first"].text} if not row["second"].text else {},
                Text.of("{metric} ({unit})", metric=Text(about.words), unit=about.unit)
                if metric != before
                else None,
            )
        )
        before = metric
    return Table(
        id=name,
        caption=caption,
        columns=(
            Column("first", Text("first"), kind="name"),
            Column("second", Text("less second"), kind="name"),
            Column("difference", Text("difference"), "", "estimate"),
            Column("p", Text("p"), help=Text("adjusted for all pairs of the same figure (Holm)")),
            Column("decided", Text("told apart"), kind="text", help=Text(
                "decided where p is at most .05")),
        ),
        rows=tuple(made),
        notes=(
            Text("Where pairs of models are compared, intervals hold for all pairs together; "
                 "elsewhere each stands alone. Open does not mean equal."),
        ),
        facets=facets,
        folded=len(made) > 12,
    )  # fmt: skip


def with_names(rows: Sequence[Cursor], key: str, limit: int, by: str) -> list[Cursor]:
    """At most so many rows, those with the largest numbers, the largest first.

    Parameters
    ----------
    rows
        Rows that hold an estimate at `by`.
    key
        Where their name stands; ties are in its order.
    limit
        How many.
    by
        Which estimate.
    """
    ordered = sorted(rows, key=lambda row: (-(estimate(row[by]).value.value or 0.0), row[key].text))
    return ordered[:limit]
