"""Section: variance components: what moves accuracy, where answers vary, what can be trusted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nongrata.report.charts.components import effect_name, shares_chart, short_name
from nongrata.report.charts.forest import Forest, Keys, forest_chart
from nongrata.report.document.blocks import Block, Column, Paragraph, Row, Section, Table
from nongrata.report.document.cursor import Cursor
from nongrata.report.document.pieces import Estimate, Name, Number, Text
from nongrata.report.document.said import text_of
from nongrata.report.sections.figures import Tone, defined, rests_on
from nongrata.report.sections.reliability import reliability_blocks
from nongrata.report.sections.study import Study

_PERSONA, _QUESTION = "persona", "question"
_KINDS = {
    (True, False, False): (0, "labels"),
    (False, True, False): (1, "configurations"),
    (False, False, True): (2, "questions"),
    (True, True, False): (3, "labels × configurations"),
    (True, False, True): (4, "labels × questions"),
    (False, True, True): (5, "configurations × questions"),
    (True, True, True): (6, "labels × configurations × questions"),
}
"""Whether an effect is of labels, of factors, of questions -> its place and its words."""
EFFECTS_DRAWN = 40
"""Effects in one chart, the largest; the table has all."""


def components_section(study: Study) -> Section:
    """Shares of variance, typical sizes, and how dependable the labels' means are.

    Parameters
    ----------
    study
        The results.
    """
    return Section(
        id="components",
        title=Text("Variance components"),
        question=Text(
            "How much of the variance of answers goes with labels, how much with configurations, "
            "questions, and what they do together?"
        ),
        blocks=tuple(block for model in study.models for block in _of_model(study, model)),
    )


def _of_model(study: Study, model: str) -> Iterator[Block]:
    part, facets = study.of("components", model), {"model": model}
    if not part["rows"]:
        reason = text_of(part["reason"].text or "there is nothing to compare")
        text = Text.of("{model}: no variance components: {reason}.", model=Name(model),
                       reason=reason)  # fmt: skip
        yield Paragraph(text, "plain", facets)
        return
    rows = sorted(part["rows"], key=lambda row: _kind(row)[0])
    yield from (Paragraph(text, tone, facets) for text, tone in _lead(model, rows))
    moving = [row for row in defined(rows, "points") if _QUESTION not in row["effect"].value]
    moving = _largest(moving, "points")
    if moving:
        yield forest_chart(
            Forest(
                places=moving,
                names=[Name(short_name(row, study.factors)) for row in moving],
                full=[Name(effect_name(row)) for row in moving],
                axis="size (standard deviation, points)",
                keys=Keys("points", "points_low", "points_high"),
                reference=0,
            ),
            study.id("sizes", model),
            Text.of("{model}: what moves accuracy", model=Name(model)),
            Text.of(
                "A point for each effect shows how far the true accuracies of {model} lie apart "
                "between its levels, as a standard deviation in points, with its 95% interval; a "
                "product of two names is how much the differences of one depend on the other.",
                model=Name(model),
            ),
            facets,
        )
    shares = _largest(defined(rows, "per_cent"), "per_cent")
    kinds = [(place, Text(words)) for place, words in map(_kind, shares)]
    chart = shares_chart(shares, kinds, study.factors, model, study.id("shares", model))
    if chart is not None:
        yield chart
    if len(shares) < len(defined(rows, "per_cent")):
        text = Text("The charts show the largest effects; the table has all.")
        yield Paragraph(text, "note", facets)
    yield _table(study, model, rows)
    yield from _notes(part, facets)
    yield from reliability_blocks(study, model, part)


def _lead(model: str, rows: Sequence[Cursor]) -> Iterator[tuple[Text, Tone]]:
    by_kind = {kind: [row for row in rows if _kind(row)[0] == kind] for kind in range(7)}
    label = by_kind[0][0] if by_kind[0] else Cursor(None)
    factors = defined(by_kind[1], "points")
    single = [row for row in factors if len(row["effect"]) == 1]
    if single and label["points"].number is not None:
        top = max(single, key=lambda row: row["points"].number or 0)
        yield (
            Text.of(
                "{model}: the accuracies of labels typically lie {labels} apart; of the factors, "
                "{factor} moves accuracy most, by {size} (standard deviations between the levels "
                "of this study).",
                model=Name(model),
                labels=_size(label),
                factor=Name(effect_name(top)),
                size=_size(top),
            ),
            "lead",
        )
    known = defined(rows, "per_cent")
    if known:
        top = max(known, key=lambda row: row["per_cent"].number or 0)
        question = next((row for row in known if _kind(row)[0] == 2), top)
        persona = next((row for row in known if _kind(row)[0] == 0), top)
        yield (
            Text.of(
                "Of the variance of single answers, {labels} goes with labels and {questions} "
                "with questions, whatever else; the largest component is {top}, with {share}.",
                labels=Number.of(persona["per_cent"], 2, unit="%"),
                questions=Number.of(question["per_cent"], 1, unit="%"),
                top=Name(effect_name(top)),
                share=Number.of(top["per_cent"], 1, unit="%"),
            ),
            "plain",
        )


def _size(row: Cursor) -> Estimate:
    return Estimate.of(
        row, "points", 2, low="points_low", high="points_high", unit="points"
    )  # fmt: skip


def _table(study: Study, model: str, rows: Sequence[Cursor]) -> Table:
    made, before = [], -1
    for row in rows:
        place, words = _kind(row)
        factors = [each for each in row["effect"].value if each in study.factors]
        cells = (
            Name(short_name(row, study.factors)),
            Name(effect_name(row)),
            Estimate.of(row, "points", 2, low="points_low", high="points_high")
            if _QUESTION not in row["effect"].value
            else None,
            Estimate.of(row, "variance", 2),
            Number.of(row["per_cent"], 2),
        )
        made.append(
            Row(
                cells,
                {"factor": factors[0]} if len(factors) == 1 else {},
                Text(words) if place != before else None,
            )
        )
        before = place
    return Table(
        id=study.id("components-table", model),
        caption=Text.of("Variance components of {model}", model=Name(model)),
        columns=(
            Column("short", Text("effect"), kind="name"),
            Column("effect", Text("in full"), kind="name", help=Text(
                "a × b: how much the differences between the levels of a depend on b")),
            Column("size", Text("size"), "points", "estimate", Text(
                "standard deviation of the true accuracies between the levels of this study; what "
                "the choice of questions adds is taken off")),
            Column("variance", Text("variance"), "squared points", "estimate", Text(
                "of single answers, as if labels, levels and questions were all drawn from more of "
                "their kind")),
            Column("share", Text("share"), "%", help=Text(
                "of the sum over all effects")),
        ),
        rows=tuple(made),
        notes=(
            Text("Estimates can fall below 0, by chance or by the levels that happen to be there, "
                 "and are shown as they are. An interval of a size that begins at 0 means that the "
                 "effect may not be there; it does not mean that the effect is absent."),
        ),
        facets={"model": model},
    )  # fmt: skip


def _notes(part: Cursor, facets: dict[str, str]) -> Iterator[Paragraph]:
    if part["no_interval"].text:
        text = Text.of("No intervals: {reason}.", reason=text_of(part["no_interval"].text))
        yield Paragraph(text, "note", facets)
    if part["confounded"].value:
        text = Text(
            "Each answer was drawn once, so the last effect holds the noise of single answers as "
            "well as the interaction of all facets."
        )
        yield Paragraph(text, "note", facets)
    yield Paragraph(rests_on(part), "note", facets)


def _kind(row: Cursor) -> tuple[int, str]:
    effect = row["effect"].value
    factors = any(each not in (_PERSONA, _QUESTION) for each in effect)
    return _KINDS[_PERSONA in effect, factors, _QUESTION in effect]


def _largest(rows: Sequence[Cursor], key: str) -> list[Cursor]:
    """Of many rows the largest, in their order."""
    first = sorted(rows, key=lambda row: -abs(row[key].number or 0))[:EFFECTS_DRAWN]
    kept = {row.path for row in first}
    return [row for row in rows if row.path in kept]
