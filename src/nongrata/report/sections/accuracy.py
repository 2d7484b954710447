"""Section: how many answers are right, with which label and under which configuration."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nongrata.report.charts.curve import accuracy_curve
from nongrata.report.charts.heat_map import heat_map
from nongrata.report.charts.intervals import Group, interval_chart
from nongrata.report.document.blocks import Block, Paragraph, Section
from nongrata.report.document.cursor import Cursor
from nongrata.report.document.pieces import Name, Number, Text
from nongrata.report.document.said import text_of
from nongrata.report.sections.accuracy_tables import (
    accuracy,
    cell_table,
    configuration_table,
    label_table,
    level_table,
)
from nongrata.report.sections.configurations import configurations_of
from nongrata.report.sections.study import Study


def accuracy_section(study: Study) -> Section:
    """Accuracy overall, and its range over labels and configurations.

    Parameters
    ----------
    study
        The results.
    """
    blocks = [block for model in study.models for block in _of_model(study, model)]
    return Section(
        id="accuracy",
        title=Text("Accuracy"),
        question=Text(
            "How many answers are right, and how far does that depend on label and configuration?"
        ),
        blocks=tuple(blocks),
    )


def _of_model(study: Study, model: str) -> Iterator[Block]:
    rows = study.top["accuracy_intervals"]["rows"]
    labels = rows.all(model=model, scope="label")
    controls = rows.all(model=model, scope="control")
    is_ranked = is_rankable(study, model)
    if is_ranked:
        labels, controls = by_accuracy(labels), by_accuracy(controls)
    yield from _sentences(study, model, labels)
    yield _heat_map(study, model, labels, controls)
    yield _label_chart(study, model, labels, controls)
    if len(rows.all(model=model, scope="configuration")) > 1:
        yield _configuration_chart(study, model)
    yield level_table(study, model)
    yield _small_print(rows.where(model=model, scope="model"), model)


def is_rankable(study: Study, model: str) -> bool:
    """Whether a model is above chance and above the best constant answer."""
    return bool(_overall(study, model)["rankable"].value)


def by_accuracy(rows: Sequence[Cursor]) -> list[Cursor]:
    """Rows from the most to the least accurate one."""
    return sorted(rows, key=lambda row: -(row["accuracy"].number or 0.0))


def _overall(study: Study, model: str) -> Cursor:
    return study.top["chance"]["rows"].where(model=model, scope="overall")


def _sentences(study: Study, model: str, labels: Sequence[Cursor]) -> Iterator[Paragraph]:
    rows = study.top["accuracy_intervals"]["rows"]
    baseline = _overall(study, model)
    facets = {"model": model}
    has_constant = baseline["constant"].number is not None
    yield Paragraph(
        Text.of(
            "{model} is right in {accuracy} of its answers, labels and configurations averaged; "
            "guessing would be right in {chance}, the best constant answer in {constant}."
            if has_constant
            else "{model} is right in {accuracy} of its answers, labels and configurations "
            "averaged; guessing would be right in {chance}.",
            model=Name(model),
            accuracy=accuracy(rows.where(model=model, scope="model"), "%"),
            chance=Number.of(baseline["chance"], unit="%"),
            constant=Number.of(baseline["constant"], unit="%"),
        ),
        tone="lead",
        facets=facets,
    )
    configurations = _known(rows.all(model=model, scope="configuration"))
    if len(configurations) > 1:
        yield Paragraph(_range(configurations, "configuration"), facets=facets)
    if not is_rankable(study, model):
        yield Paragraph(_why_not(baseline), tone="warning", facets=facets)
    elif len(_known(labels)) > 1:
        yield Paragraph(_range(_known(labels), "label"), facets=facets)


def _known(rows: Sequence[Cursor]) -> list[Cursor]:
    return [row for row in rows if row["accuracy"].number is not None]


def _range(rows: Sequence[Cursor], scope: str) -> Text:
    ordered = by_accuracy(rows)
    template = {
        "configuration": "From configuration to configuration, labels averaged, it goes from "
        "{low} ({lowest}) to {high} ({highest}).",
        "label": "From label to label, configurations averaged, it goes from {low} ({lowest}) to "
        "{high} ({highest}); that is about prompts that name a label, not about people.",
    }[scope]
    return Text.of(
        template,
        low=accuracy(ordered[-1], "%"),
        lowest=Name(ordered[-1]["name"].text),
        high=accuracy(ordered[0], "%"),
        highest=Name(ordered[0]["name"].text),
    )


def _why_not(baseline: Cursor) -> Text:
    """Why labels are not put into an order."""
    verdict = baseline["verdict"].text
    if verdict == "unknown":
        return Text.of(
            "Whether this is above chance is not known ({reason}), so no label is put before "
            "another.",
            reason=text_of(baseline["reason"].text),
        )
    return Text.of(
        "Accuracy over everything is {verdict} (one-sided test, p = {p}, {questions} questions), "
        "so no label may be put before another: labels stand in the study's order.",
        verdict=Text(verdict),
        p=Number.p(baseline["p_chance" if verdict == "not above chance" else "p_constant"]),
        questions=Number.count(baseline["questions"]),
    )


def _heat_map(
    study: Study, model: str, labels: Sequence[Cursor], controls: Sequence[Cursor]
) -> Block:
    cells = study.top["accuracy"]["cells"].all(model=model)
    names = [row["name"].text for row in labels]
    below = [row["name"].text for row in controls]
    return heat_map(
        cells,
        names,
        below,
        configurations_of(study, model),
        model,
        study.id("heat-map", model),
        by_accuracy=is_rankable(study, model),
        table=cell_table(cells, [*names, *below], study, model),
    )


def _label_chart(
    study: Study, model: str, labels: Sequence[Cursor], controls: Sequence[Cursor]
) -> Block:
    baseline = _overall(study, model)
    is_near = not is_rankable(study, model)
    lines = [("chance (%)", baseline["chance"])]
    lines.append(("best constant answer (%)", baseline["constant"]))
    notes = [Text("Bars are 95% confidence intervals; below the gap, in italics: controls.")]
    if is_near:
        notes.append(Text("Dotted line: chance; dashed line: the best constant answer."))
    return interval_chart(
        [
            Group("", labels, [row["name"].text for row in labels]),
            Group("", controls, [row["name"].text for row in controls], "diamond"),
        ],
        study.id("accuracy-by-label", model),
        title=Text.of(
            "Accuracy of each label, configurations averaged: {model}", model=Name(model)
        ),
        description=Text(
            "A point for each label and each control with its 95% interval. The intervals are "
            "about each label alone: two that overlap may differ all the same, since all labels "
            "answer the same questions."
        ),
        axis="accuracy (%)",
        lines=lines if is_near else (),
        limits=(0.0, 100.0),
        model=model,
        table=label_table([*labels, *controls], study, model),
        notes=notes,
    )


def _configuration_chart(study: Study, model: str) -> Block:
    rows = study.top["accuracy_intervals"]["rows"].all(model=model, scope="configuration")
    of_name = {
        " · ".join(map(str, row["levels"].value)): row["levels"].value
        for row in study.top["accuracy"]["configurations"].all(model=model)
    }
    levels = [of_name[row["name"].text] for row in rows]
    return accuracy_curve(
        rows,
        levels,
        configurations_of(study, model),
        model,
        study.id("accuracy-by-configuration", model),
        table=configuration_table(rows, levels, study, model),
    )


def _small_print(row: Cursor, model: str) -> Paragraph:
    if row["no_interval"].text:
        text = Text.of(
            "There are no intervals: {reason}.",
            reason=text_of(row["no_interval"].text),
        )
    elif row["doubtful"].value:
        text = Text.of(
            "Brackets hold 95% confidence intervals, clustered by question group. They are "
            "doubtful here: they rest on {clusters} clusters, and with so few they may reach "
            "beyond what is possible.",
            clusters=Number.count(row["clusters"]),
        )
    else:
        text = Text.of(
            "Brackets hold 95% confidence intervals: how far accuracy may lie off for other "
            "questions like these {questions} (in {clusters} clusters), at the same labels and "
            "configurations.",
            questions=Number.count(row["questions"]),
            clusters=Number.count(row["clusters"]),
        )
    return Paragraph(text, tone="note", facets={"model": model})
