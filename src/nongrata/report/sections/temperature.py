"""Section: accuracy over temperature, exact where the distributions of answers are known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nongrata.report.charts.temperature import Asked, asked_chart, curves_chart
from nongrata.report.document.blocks import Block, Column, Paragraph, Row, Section, Table
from nongrata.report.document.cursor import Cursor
from nongrata.report.document.pieces import Estimate, Name, Names, Number, Text
from nongrata.report.document.said import text_of
from nongrata.report.sections.figures import NAMES_SAID, estimate
from nongrata.report.sections.study import Study

SETTINGS_DRAWN = 12
"""Settings in one chart, in the study's order; the table has all."""
_DOT = " · "


GRID_EVERY = 4
"""Of the grid of a curve the table has so many'th points, beside the temperatures asked."""


def temperature_section(study: Study) -> Section:
    """Curves of accuracy over temperature, and what was asked where there are none.

    Parameters
    ----------
    study
        The results.
    """
    part = study.top["temperature_curves"]
    blocks: list[Block] = []
    if part["reason"].text:
        text = Text.of("No exact curves: {reason}.", reason=text_of(part["reason"].value))
        blocks.append(Paragraph(text))
    for model in study.models:
        blocks += _of_model(study, model)
    return Section(
        id="temperature",
        title=Text("Temperature"),
        question=Text("How does accuracy move with the temperature at which answers are drawn?"),
        blocks=tuple(blocks),
    )


def _of_model(study: Study, model: str) -> Iterator[Block]:
    part, facets = study.of("temperature_curves", model), {"model": model}
    curves = [
        (_setting(curve["levels"].value), curve)
        for curve in part["curves"]
        if not curve["duplicate"].value and curve["points"]
    ]
    asked = list(
        _asked(study, model, {_setting(curve["levels"].value) for curve in part["curves"]})
    )
    if not curves and not asked:
        return
    yield from _lead(model, curves)
    drawn = curves[:SETTINGS_DRAWN]
    exact = curves_chart(
        drawn,
        model,
        study.id("temperature-curves", model),
        _table(study, model, curves, studied_only=False),
    )
    settings = list(dict.fromkeys(each.setting for each in asked))[:SETTINGS_DRAWN]
    single = [each for each in asked if each.setting in settings]
    if exact is not None:
        yield exact
        yield _table(study, model, curves, studied_only=True)
    at_points = asked_chart(single, model, study.id("temperature-points", model))
    if at_points is not None:
        yield at_points
        yield _asked_table(study, model, asked)
    if len(drawn) < len(curves) or len(single) < len(asked):
        text = Text("The charts show the first settings; the tables have all.")
        yield Paragraph(text, "note", facets)
    yield from _notes(model, part, curves)


def _lead(model: str, curves: Sequence[tuple[str, Cursor]]) -> Iterator[Paragraph]:
    """The settings that move most and least from the lowest to the highest temperature."""
    ends = [
        (setting, points[0], points[-1])
        for setting, curve in curves
        for points in [[p for p in curve["points"] if p["accuracy"]["estimate"].number is not None]]
        if len(points) > 1
    ]
    if not ends:
        return
    ordered = sorted(
        ends,
        key=lambda end: (
            (end[1]["accuracy"]["estimate"].number or 0)
            - (end[2]["accuracy"]["estimate"].number or 0)
        ),
    )
    facets = {"model": model}
    extremes = [ordered[-1], ordered[0]] if len(ordered) > 1 else ordered
    for place, (setting, first, last) in enumerate(extremes):
        said = (
            "{model}: accuracy moves most with temperature under {setting}: {first} at {cold}, "
            "{last} at {hot}."
            if place == 0
            else "{model}: it moves least, or upwards, under {setting}: {first} at {cold}, {last} "
            "at {hot}."
        )
        yield Paragraph(
            Text.of(
                said,
                model=Name(model),
                setting=Name(setting),
                first=estimate(first["accuracy"], 1, unit="%"),
                cold=Number.of(first["temperature"], 2),
                last=estimate(last["accuracy"], 1, unit="%"),
                hot=Number.of(last["temperature"], 2),
            ),
            "lead" if place == 0 else "plain",
            facets,
        )


def _asked(study: Study, model: str, with_curve: set[str]) -> Iterator[Asked]:
    """Configurations of settings without a curve, at the temperature that their level names."""
    set_by = list(study.top["temperature_curves"]["set_by"].value or [])
    if len(set_by) != 1 or set_by[0] not in study.factors:
        return
    axis = study.factors.index(set_by[0])
    rows = {
        row["name"].text: row
        for row in study.top["accuracy_intervals"]["rows"].all(model=model, scope="configuration")
    }
    for configuration in study.top["accuracy"]["configurations"].all(model=model):
        levels = [str(level) for level in configuration["levels"].value]
        setting = _setting(levels[:axis] + levels[axis + 1 :])
        row = rows.get(_DOT.join(levels))
        heat = _number(levels[axis])
        if setting in with_curve or row is None or heat is None:
            continue
        if row["accuracy"].number is not None:
            yield Asked(setting, heat, row)


def _table(
    study: Study, model: str, curves: Sequence[tuple[str, Cursor]], *, studied_only: bool
) -> Table:
    rows = []
    for setting, curve in curves:
        every = len(curve["points"]) + 1 if studied_only else GRID_EVERY
        kept = [p for i, p in enumerate(curve["points"]) if p["studied"].value or not i % every]
        for place, point in enumerate(kept):
            cells = (
                Number.of(point["temperature"], 2),
                estimate(point["accuracy"], 1),
                Number.of(point["unreadable"], 2),
                Number.of(point["error"], 3),
            )
            rows.append(Row(cells, {}, Text.of("{setting}", setting=Name(setting)) if place == 0
                            else None))  # fmt: skip
    return Table(
        id=study.id("temperature-table" if studied_only else "temperature-grid", model),
        caption=Text.of("Exact accuracy at the temperatures asked: {model}", model=Name(model))
        if studied_only
        else Text.of("Exact accuracy over temperature: {model}", model=Name(model)),
        columns=(
            Column("temperature", Text("temperature")),
            Column("accuracy", Text("accuracy"), "%", "estimate", Text(
                "mean over labels; an answer that is no label is wrong")),
            Column("unreadable", Text("no label"), "%", help=Text(
                "probability that no label is answered")),
            Column("error", Text("bound"), "points", help=Text(
                "off by no more than this, because the engine returned the most probable tokens "
                "only; 0: exact")),
        ),
        rows=tuple(rows),
        facets={"model": model},
        folded=not studied_only or len(rows) > 30,
    )  # fmt: skip


def _asked_table(study: Study, model: str, asked: Sequence[Asked]) -> Table:
    return Table(
        id=study.id("temperature-asked", model),
        caption=Text.of(
            "Accuracy of configurations whose distributions are not known: {model}",
            model=Name(model),
        ),
        columns=(
            Column("configuration", Text("configuration"), kind="name"),
            Column("accuracy", Text("accuracy"), "%", "estimate"),
        ),
        rows=tuple(
            Row((Name(each.place["name"].text), Estimate.of(each.place, "accuracy")))
            for each in asked
        ),
        facets={"model": model},
        folded=len(asked) > 12,
    )


def _notes(
    model: str, part: Cursor, curves: Sequence[tuple[str, Cursor]]
) -> Iterator[Paragraph]:  # fmt: skip
    facets = {"model": model}
    errors = [
        point["error"]
        for _, curve in curves
        for point in curve["points"]
        if (point["error"].number or 0) > 0
    ]
    if errors:
        largest = max(errors, key=lambda error: error.number or 0)
        text = Text.of(
            "{model}: the engine returned the most probable tokens only, so that curves may be off "
            "by up to {error}.",
            model=Name(model),
            error=Number.of(largest, 3, unit="points"),
        )
        yield Paragraph(text, "note", facets)
    by_reason: dict[str, list[Name]] = {}
    for each in part["without"]:
        by_reason.setdefault(each["reason"].value, []).append(Name(_setting(each["levels"].value)))
    for reason, names in by_reason.items():
        template = (
            "{model}: no exact curve for {names}: {reason}."
            if len(names) <= NAMES_SAID
            else "{model}: no exact curve for {names} and others: {reason}."
        )
        text = Text.of(
            template,
            model=Name(model),
            names=Names(tuple(names[:NAMES_SAID])),
            reason=text_of(reason),
        )
        yield Paragraph(text, "note", facets)


def _setting(levels: Sequence[object]) -> str:
    return _DOT.join(map(str, levels)) or "-"


def _number(level: str) -> float | None:
    try:
        return float(level)
    except ValueError:
        return None
