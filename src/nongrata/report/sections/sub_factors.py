"""Part of a section: a factor taken apart into sub-factors, interactions and wording."""

from __future__ import annotations

from collections.abc import Iterator

from nongrata.report.charts.task_format import sub_name
from nongrata.report.document.blocks import Block, Column, Facets, Paragraph, Row, Table
from nongrata.report.document.cursor import Cursor
from nongrata.report.document.pieces import Estimate, Name, Number, Text
from nongrata.report.document.said import text_of
from nongrata.report.sections.figures import defined, why_not
from nongrata.report.sections.study import Study


def apart_blocks(study: Study, model: str, apart: Cursor) -> Iterator[Block]:
    """Sentences and tables on one factor taken apart.

    Parameters
    ----------
    study
        The results.
    model
        Which model.
    apart
        The factor's place in ``task_format``.
    """
    factor = apart["factor"].text
    facets: Facets = {"model": model, "factor": factor}
    for effect in defined(apart["effects"], "average", "estimate"):
        yield Paragraph(_sentence(effect, factor), "plain", facets)
    yield _effects_table(study, model, apart)
    averages = [(Name(sub_name(each)), each["average"]) for each in apart["effects"]]
    yield from _reasons(averages, facets)
    yield from _wording(study, model, apart["wording"], facets)
    yield _labels_table(study, model, apart)


def _sentence(effect: Cursor, factor: str) -> Text:
    levels = effect["levels"].value
    value = Estimate.of(
        effect["average"], "estimate", 2, style="signed", unit="points",
        low="low_together", high="high_together",
    )  # fmt: skip
    if effect["kind"].text == "interaction":
        return Text.of(
            "{factor}: how much the effect of {first} depends on {second}: {value} (p {p}).",
            factor=Name(factor),
            first=Name(effect["sub_factors"][0].text),
            second=Name(", ".join(effect["sub_factors"].value[1:])),
            value=value,
            p=Number.p(effect["average"]["p_together"]),
        )
    return Text.of(
        "{factor}: {first} instead of {second} ({sub}) changes accuracy by {value} (p {p}).",
        factor=Name(factor),
        first=Name(str(levels[0][0])),
        second=Name(str(levels[0][1])),
        sub=Name(sub_name(effect)),
        value=value,
        p=Number.p(effect["average"]["p_together"]),
    )


def _effects_table(study: Study, model: str, apart: Cursor) -> Table:
    factor = apart["factor"].text
    rows = []
    for effect in apart["effects"]:
        pairs = zip(effect["sub_factors"].value, effect["levels"].value, strict=True)
        compared = " × ".join(f"{name}: {up} − {down}" for name, (up, down) in pairs)
        rows.append(
            Row((
                Name(sub_name(effect)),
                Name(compared),
                Estimate.of(effect["average"], "estimate", 2, style="signed",
                            low="low_together", high="high_together"),
                Number.p(effect["average"]["p_together"]),
                Estimate.of(effect["over_wordings"], "estimate", 2, style="signed"),
                Number.of(effect["between_labels"]["sd"], 2),
                Estimate.of(effect["between_labels"], "variance", 2),
            ))
        )  # fmt: skip
    return Table(
        id=study.id("apart-table", model, factor),
        caption=Text.of("{factor} taken apart: {model}", factor=Name(factor), model=Name(model)),
        columns=(
            Column("effect", Text("effect"), kind="name"),
            Column("compared", Text("compared"), kind="name", help=Text(
                "accuracy at the first level less the second, mean over labels and over the "
                "levels of all else")),
            Column("difference", Text("difference"), "points", "estimate", Text(
                "its interval holds for all rows together")),
            Column("p", Text("p"), help=Text("adjusted for all rows")),
            Column("other_wordings", Text("in other words"), "points", "estimate", Text(
                "where the difference lies if the wordings are a sample of many")),
            Column("labels_sd", Text("labels' sd"), "points", help=Text(
                "how far the difference varies from label to label, without noise")),
            Column("labels_variance", Text("labels' variance"), "squared points", "estimate"),
        ),
        rows=tuple(rows),
        facets={"model": model, "factor": factor},
    )  # fmt: skip


def _reasons(
    places: list[tuple[Name, Cursor]], facets: Facets
) -> Iterator[Paragraph]:  # fmt: skip
    """Notes on averages without an interval; their place holds the reason beside the estimate."""
    told = [(name, Cursor({"value": None, "reason": place["reason"].value}, place.path))
            for name, place in places if place["reason"].text]  # fmt: skip
    if told:
        yield from why_not(told, Text("interval"), facets)


def _wording(study: Study, model: str, wording: Cursor, facets: Facets) -> Iterator[Block]:
    if wording["reason"].text:
        text = Text.of("Wording alone: {reason}.", reason=text_of(wording["reason"].value))
        yield Paragraph(text, "note", facets)
        return
    yield Paragraph(
        Text.of(
            "Wording alone, all else equal, moves the mean over labels with a standard deviation "
            "of {mean}, and one label's accuracy with {label}.",
            mean=Number.of(wording["of_average"]["sd"], 2, unit="points"),
            label=Number.of(wording["of_label"]["sd"], 2, unit="points"),
        ),
        "plain",
        facets,
    )
    yield Table(
        id=study.id("wording", model, facets["factor"]),
        caption=Text.of("{factor}: levels that differ in wording only ({model})",
                        factor=Name(facets["factor"]), model=Name(model)),
        columns=(
            Column("combination", Text("combination"), kind="name"),
            Column("levels", Text("wordings"), kind="name"),
            Column("range", Text("range"), "points", help=Text(
                "highest less lowest accuracy, as observed: noise makes it larger")),
        ),
        rows=tuple(
            Row((
                Name(" · ".join(map(str, each["sub_levels"].value))),
                Name(", ".join(map(str, each["levels"].value))),
                Number.of(each["range"], 2),
            ))
            for each in wording["combinations"]
        ),
        notes=(Text.of(
            "Variance between wordings: {mean} squared points of the mean over labels, {label} of "
            "one label.",
            mean=Estimate.of(wording["of_average"], "variance", 2),
            label=Estimate.of(wording["of_label"], "variance", 2),
        ),),
        facets=facets,
    )  # fmt: skip


def _labels_table(study: Study, model: str, apart: Cursor) -> Table:
    rows = []
    for effect in apart["effects"]:
        for place, label in enumerate(effect["labels"]):
            cells = (
                Name(label["persona"].text),
                Estimate.of(label["effect"], "estimate", 2, style="signed",
                            low="low_together", high="high_together"),
                Number.p(label["effect"]["p_together"]),
            )  # fmt: skip
            group = Text.of("{effect}", effect=Name(sub_name(effect))) if place == 0 else None
            rows.append(Row(cells, {"persona": label["persona"].text}, group))
    factor = apart["factor"].text
    return Table(
        id=study.id("apart-labels", model, factor),
        caption=Text.of("{factor} taken apart, label by label: {model}", factor=Name(factor),
                        model=Name(model)),
        columns=(
            Column("persona", Text("label"), kind="name"),
            Column("difference", Text("difference"), "points", "estimate", Text(
                "its interval holds for all labels together")),
            Column("p", Text("p"), help=Text("adjusted for all labels")),
        ),
        rows=tuple(rows),
        facets={"model": model, "factor": factor},
        folded=True,
    )  # fmt: skip
