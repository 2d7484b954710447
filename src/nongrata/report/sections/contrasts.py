"""Section: does naming a label change accuracy, beside naming nobody or just a human."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nongrata.report.charts.differences import differences_chart, effect_data
from nongrata.report.charts.specification_curve import curve_data, specification_curve
from nongrata.report.document.blocks import Block, Dataset, Paragraph, Section
from nongrata.report.document.cursor import Cursor
from nongrata.report.document.pieces import Estimate, Name, Names, Number, Text
from nongrata.report.document.said import text_of
from nongrata.report.sections.accuracy import is_rankable
from nongrata.report.sections.configurations import configurations_of
from nongrata.report.sections.contrast_tables import contrast_table, curve_table
from nongrata.report.sections.figures import NAMES_SAID, rests_on
from nongrata.report.sections.study import Study


def contrasts_section(study: Study) -> Section:
    """Each label against each control, in every configuration.

    Parameters
    ----------
    study
        The results.
    """
    blocks: list[Block] = []
    for model in study.models:
        blocks += _of_model(study, model)
    return Section(
        id="contrasts",
        title=Text("Labels against controls"),
        question=Text(
            "Does naming a label change accuracy, compared with a control, and in which "
            "configurations?"
        ),
        blocks=tuple(blocks),
    )


def _of_model(study: Study, model: str) -> Iterator[Block]:
    part = study.of("contrasts", model)
    facets = {"model": model}
    controls = [each for each in part["controls"] if _known(each)]
    if not controls:
        reason = part["reason"].text or _reason_of(part)
        text = Text.of("No label of {model} is compared with a control: {reason}.",
                       model=Name(model), reason=text_of(reason))  # fmt: skip
        yield Paragraph(text, tone="lead", facets=facets)
        return
    for control in controls:
        yield _said(control, study, model)
    if not is_rankable(study, model):
        text = Text(
            "Accuracy is not shown to be above chance and the best constant answer, so labels "
            "stand in the study's order; a difference here is one between prompts, "
            "whatever it is about."
        )
        yield Paragraph(text, tone="note", facets=facets)
    for control in controls:
        yield from _other_formats(control, part, study, model)
    yield from _robustness(study, model)
    configurations = configurations_of(study, model)
    effect = effect_data(study.top["contrasts"]["smallest_effect"])
    points = curve_data(part, configurations, f"data-{study.id('curves', model)}")
    for control in controls:
        yield from _of_control(control, points, effect, part, study, model)
    if len(part["configurations"]) > 1:
        yield specification_curve(
            points,
            effect,
            [label["persona"].text for label in _in_order(controls[0], study, model)],
            [control["control"].text for control in controls],
            configurations,
            model,
            study.id("specification-curve", model),
        )
    for control in controls if len(part["configurations"]) > 1 else ():
        name = control["control"].text
        yield curve_table(_in_order(control, study, model), name, study, model)
    yield from _not_compared(controls, facets)
    yield Paragraph(rests_on(_rests(part, study, model)), tone="note", facets=facets)


def _known(control: Cursor) -> list[Cursor]:
    """Labels that have a difference to the control."""
    return [label for label in control["labels"] if label["estimate"].number is not None]


def _reason_of(part: Cursor) -> str:
    """Why nothing is compared: there is no control, or no label has a difference."""
    reasons = [label["reason"].text for each in part["controls"] for label in each["labels"]]
    return next(filter(None, reasons), "the study has no control, or no label beside it")


def _in_order(control: Cursor, study: Study, model: str) -> list[Cursor]:
    """Labels from the highest to the lowest difference, or as in the study if none is ranked."""
    labels = _known(control)
    if not is_rankable(study, model):
        return labels
    return sorted(labels, key=lambda label: -(label["estimate"].number or 0.0))


def _said(control: Cursor, study: Study, model: str) -> Paragraph:
    labels = _in_order(control, study, model)
    differing = _differing(control["control"].text, labels)
    if len(labels) == 1 or not is_rankable(study, model):
        # the lowest and the highest difference would put labels into an order
        text = Text.of(
            "{differing} {label} differs by {difference}.",
            differing=differing,
            label=Name(labels[0]["persona"].text),
            difference=_difference(labels[0]),
        )
        return Paragraph(text if len(labels) == 1 else differing, "lead", {"model": model})
    text = Text.of(
        "{differing} Differences to {control}, configurations averaged, go from {low} ({lowest}) "
        "to {high} ({highest}).",
        differing=differing,
        control=Name(control["control"].text),
        low=_difference(labels[-1]),
        lowest=Name(labels[-1]["persona"].text),
        high=_difference(labels[0]),
        highest=Name(labels[0]["persona"].text),
    )
    return Paragraph(text, tone="lead", facets={"model": model})


def _difference(label: Cursor) -> Estimate:
    return Estimate.of(label, "estimate", 1, style="signed", unit="points",
                       low="low_together", high="high_together")  # fmt: skip


def _differing(control: str, labels: Sequence[Cursor]) -> Text:
    """Which labels are shown to differ; the shorter list is written out."""
    differ = [each["persona"].text for each in labels if each["verdict"].text.startswith("differs")]
    rest = [each["persona"].text for each in labels if each["persona"].text not in differ]
    if not rest:
        template, names = "Every label is shown to differ from {control}.", differ
    elif not differ:
        template, names = "No label is shown to differ from {control}, nor to equal it.", rest
        if all(label["verdict"].text == "equivalent" for label in labels):
            template = "Every label is equivalent to {control} within the smallest effect."
        elif any(label["verdict"].text == "equivalent" for label in labels):
            template = "No label is shown to differ from {control}."
    elif len(differ) <= len(rest):
        template, names = "Shown to differ from {control}: {names}.", differ
        if len(differ) > NAMES_SAID:
            template = "Shown to differ from {control}: {names} and others."
    else:
        template, names = "All labels are shown to differ from {control} but these: {names}.", rest
        if len(rest) > NAMES_SAID:
            template = "Most labels are shown to differ from {control}; not {names} and others."
    listed = Names(tuple(Name(name) for name in names[:NAMES_SAID]))
    return Text.of(template, control=Name(control), names=listed)


def _other_formats(control: Cursor, part: Cursor, study: Study, model: str) -> Iterator[Paragraph]:
    """For which labels a difference would be expected with other formats too."""
    known = [
        label for label in _in_order(control, study, model) if not label["as_sample"]["reason"].text
    ]
    if not known:
        return
    differ = [label["persona"].text for label in known if _is_beside_zero(label["as_sample"])]
    named = (
        "For formats like these ({factors}), each label taken alone, a difference to {control} is "
        "shown for {names}"
    )
    template = (
        "For formats like these ({factors}), no difference to {control} is shown for any label "
        "alone."
    )
    if differ:
        template = named + (" and others." if len(differ) > NAMES_SAID else ".")
    text = Text.of(
        template,
        factors=Names(tuple(Name(str(factor)) for factor in part["sampled"].value)),
        control=Name(control["control"].text),
        names=Names(tuple(Name(name) for name in differ[:NAMES_SAID])),
    )
    yield Paragraph(text, facets={"model": model})


def _is_beside_zero(estimate: Cursor) -> bool:
    low, high = estimate["low"].number, estimate["high"].number
    return low is not None and high is not None and (low > 0 or high < 0)


def _robustness(study: Study, model: str) -> Iterator[Paragraph]:
    tally = study.of("findings", model)["tallies"].where(family="controls")
    if not is_rankable(study, model) or not tally["total"].number:
        return
    text = Text.of(
        "Of {total} such comparisons, {robust} are robust (the same direction shown in every "
        "configuration), {fragile} are fragile (the direction changes with the configuration) and "
        "{undecided} are undecided.",
        total=Number.count(tally["total"]),
        robust=Number.count(tally["robust"]),
        fragile=Number.count(tally["fragile"]),
        undecided=Number.count(tally["undecided"]),
    )
    yield Paragraph(text, facets={"model": model})


def _of_control(
    control: Cursor, points: Dataset, effect: Dataset, part: Cursor, study: Study, model: str
) -> Iterator[Block]:
    name = control["control"].text
    labels = _in_order(control, study, model)
    yield differences_chart(
        labels, name, points, effect, model, study.id("differences", model, name)
    )
    yield contrast_table(labels, name, part, study, model)
    if control["distinct_cells"].number != len(part["configurations"]):
        text = Text.of(
            "{control} has {own} prompts of its own in {configurations} configurations; the others "
            "repeat them.",
            control=Name(name),
            own=Number.count(control["distinct_cells"]),
            configurations=Number.count(part["configurations"]),
        )
        yield Paragraph(text, tone="note", facets={"model": model})


def _not_compared(controls: Sequence[Cursor], facets: dict[str, str]) -> Iterator[Paragraph]:
    """Why some numbers are missing, each reason once."""
    reasons = dict.fromkeys(
        reason
        for control in controls
        for label in control["labels"]
        for reason in (label["reason"].text, label["as_sample"]["reason"].text)
        if reason
    )
    for reason in reasons:
        text = Text.of("Not known for some labels: {reason}.", reason=text_of(reason))
        yield Paragraph(text, tone="note", facets=facets)


def _rests(part: Cursor, study: Study, model: str) -> Cursor:
    """Where it stands what the contrasts rest on."""
    return study.of("findings", model) if study.of("findings", model)["labels"] else part
