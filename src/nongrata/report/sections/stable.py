"""Section: stable and unstable configurations, and best labels, in sample and held out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nongrata.report.charts.held_out import held_out_chart
from nongrata.report.document.blocks import Block, Column, Paragraph, Row, Section, Table
from nongrata.report.document.cursor import Cursor
from nongrata.report.document.pieces import Name, Names, Number, Text
from nongrata.report.document.said import text_of
from nongrata.report.sections.figures import NAMES_SAID, estimate, rests_on, why_not
from nongrata.report.sections.study import Study

_CHOICES = {
    "across_temperatures": "stable at the lowest less unstable at the highest temperature",
    "within_temperature": "stable less unstable, temperature {name}",
    "all_configurations": "stable less unstable",
    "best_label": "best label less mean label",
    "worst_label": "worst label less mean label",
    "best_label_of_each_configuration": "best label of each configuration",
    "worst_label_of_each_configuration": "worst label of each configuration",
}
_SHORT = {
    "across_temperatures": "stable, across T",
    "within_temperature": "stable, T = {name}",
    "all_configurations": "stable",
    "best_label": "best label",
    "worst_label": "worst label",
    "best_label_of_each_configuration": "best label, each",
    "worst_label_of_each_configuration": "worst label, each",
}


def stable_section(study: Study) -> Section:
    """Choices judged on the answers that made them and on others.

    Parameters
    ----------
    study
        The results.
    """
    blocks = [block for model in study.models for block in _of_model(study, model)]
    return Section(
        id="stable",
        title=Text("Stable and unstable configurations, held out"),
        question=Text(
            "Does what was chosen as stable, or as the best label, hold on questions that did not "
            "choose it?"
        ),
        blocks=(*blocks, *_signs(study)),
    )


def _of_model(study: Study, model: str) -> Iterator[Block]:
    part, facets = study.of("held_out", model), {"model": model}
    rows = list(part["rows"])
    if not rows:
        return
    yield from _lead(model, part, rows)
    kept = [
        row
        for row in rows
        if row["in_sample"]["estimate"].number is not None
        and row["held_out"]["estimate"].number is not None
    ]
    chart = held_out_chart(
        kept, [_said(row, _SHORT) for row in kept], model, study.id("held-out", model)
    )
    if chart is not None:
        yield chart
    yield _table(study, model, rows)
    places = [(_said(row, _CHOICES), row["held_out"]["estimate"]) for row in rows]
    yield from why_not(places, Text("estimate held out"), facets)
    if any(0 < (row["number"].number or 0) < (row["wanted"].number or 0) for row in rows):
        text = Text.of(
            "Fewer than {wanted} are chosen where there are not twice as many configurations, so "
            "that there is a choice.",
            wanted=Number.count(study.top["held_out"]["stable"]),
        )
        yield Paragraph(text, "note", facets)
    yield Paragraph(rests_on(part), "note", facets)


def _lead(model: str, part: Cursor, rows: Sequence[Cursor]) -> Iterator[Paragraph]:
    facets = {"model": model}
    by_choice = {row["choosing"].text: row for row in reversed(rows)}
    across = by_choice.get("across_temperatures") or by_choice.get("all_configurations")
    if across is not None and across["held_out"]["estimate"].number is not None:
        yield Paragraph(
            Text.of(
                "{model}, {choice}: {in_sample} in sample, {held_out} on questions that did not "
                "choose them.",
                model=Name(model),
                choice=_said(across, _CHOICES),
                in_sample=Number.of(across["in_sample"]["estimate"], 2, unit="points"),
                held_out=estimate(across["held_out"], unit="points"),
            ),
            "lead",
            facets,
        )
    if part["temperature_gap"]["estimate"].number is not None:
        yield Paragraph(
            Text.of(
                "Without any choice, all configurations at temperature {lowest} are already {gap} "
                "ahead of all at {highest}: read the rows within a temperature.",
                lowest=Number.of(part["lowest"], 2),
                gap=estimate(part["temperature_gap"], unit="points"),
                highest=Number.of(part["highest"], 2),
            ),
            "plain",
            facets,
        )
    best = by_choice.get("best_label")
    if best is not None and best["chosen"] and best["optimism"].number is not None:
        names = tuple(Name(str(name)) for name in best["chosen"].value[:NAMES_SAID])
        yield Paragraph(
            Text.of(
                "The label with the highest accuracy ({names}) is {in_sample} above the mean label "
                "in sample and {held_out} held out; the difference, {optimism}, is optimism.",
                names=Names(names),
                in_sample=Number.of(best["in_sample"]["estimate"], 2, unit="points"),
                held_out=estimate(best["held_out"], unit="points"),
                optimism=Number.of(best["optimism"], 2, unit="points"),
            ),
            "plain",
            facets,
        )


def _table(study: Study, model: str, rows: Sequence[Cursor]) -> Table:
    return Table(
        id=study.id("held-out-table", model),
        caption=Text.of("Chosen and judged on different questions: {model}", model=Name(model)),
        columns=(
            Column("choice", Text("what is chosen"), kind="text"),
            Column("number", Text("chosen"), help=Text(
                "configurations on either side, or labels")),
            Column("in_sample", Text("in sample"), "points", "estimate", Text(
                "chosen and judged by the same answers; its interval ignores the choice")),
            Column("held_out", Text("held out"), "points", "estimate", Text(
                "chosen by one half of the questions, judged on the other, both ways; its interval "
                "is on the safe side")),
            Column("optimism", Text("optimism"), "points", help=Text("in sample less held out")),
            Column("chosen", Text("chosen on all questions"), kind="name"),
            Column("against", Text("against"), kind="name"),
        ),
        rows=tuple(
            Row((
                _said(row, _CHOICES),
                Number.count(row["number"]),
                estimate(row["in_sample"]),
                estimate(row["held_out"]),
                Number.of(row["optimism"], 2),
                _names(row["chosen"]),
                _names(row["against"]),
            ))
            for row in rows
        ),
        notes=(text_of(study.top["held_out"]["read_it"].value),),
        facets={"model": model},
    )  # fmt: skip


def _names(names: Cursor) -> Names:
    return Names(tuple(Name(str(name)) for name in names.value or ()))


def _said(row: Cursor, words: dict[str, str]) -> Text:
    template = words[row["choosing"].text]
    if "{name}" in template:
        return Text.of(template, name=Name(row["name"].text))
    return Text(template)


def _signs(study: Study) -> Iterator[Block]:
    """Over models: how often the stable configurations are ahead."""
    for sign in study.top["held_out"]["signs"]:
        if sign["choosing"].text not in ("across_temperatures", "all_configurations"):
            continue
        decided = (sign["p_held_out"].number or 0) <= 0.05
        said = (
            "Held out, the stable configurations are ahead in {positive} of {models} models "
            "(sign test, p {p}): more than tossing a coin explains, if models are independent."
            if decided
            else "Held out, the stable configurations are ahead in {positive} of {models} models "
            "(sign test, p {p}): not distinguishable from tossing a coin."
        )
        yield Paragraph(
            Text.of(
                said,
                positive=Number.count(sign["positive_held_out"]),
                models=Number.count(sign["models"]),
                p=Number.p(sign["p_held_out"]),
            )
        )
