"""Section: in which order labels stand, and what configurations do to the order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nongrata.report.charts.bump import bump_chart
from nongrata.report.charts.rank_intervals import rank_intervals
from nongrata.report.document.blocks import Block, Paragraph, Section
from nongrata.report.document.cursor import Cursor
from nongrata.report.document.pieces import Estimate, Name, Names, Number, Text
from nongrata.report.document.said import text_of
from nongrata.report.sections.accuracy import is_rankable
from nongrata.report.sections.configurations import configurations_of
from nongrata.report.sections.figures import NAMES_SAID, rests_on, why_not
from nongrata.report.sections.rank_tables import (
    agreement_table,
    extremes_table,
    halves_table,
    places_table,
    rank_table,
)
from nongrata.report.sections.study import Study

MARKED = 3
"""Labels at each end of the order that the bump chart names."""


def ranks_section(study: Study) -> Section:
    """The order of labels, its certainty, and its changes over configurations.

    Parameters
    ----------
    study
        The results.
    """
    blocks = [block for model in study.models for block in _of_model(study, model)]
    return Section(
        id="ranks",
        title=Text("Order of labels"),
        question=Text(
            "Is there an order of labels, and does it survive a change of configuration?"
        ),
        blocks=tuple(blocks),
    )


def _of_model(study: Study, model: str) -> Iterator[Block]:
    part = study.of("ranking", model)
    overall = part["rankings"].where(scope="overall")
    facets = {"model": model}
    if len(overall["labels"]) < 2:
        reason = text_of(overall["reason"].text or "there are fewer than two labels")
        text = Text.of(
            "Labels of {model} have no order: {reason}.", model=Name(model), reason=reason
        )
        yield Paragraph(text, tone="lead", facets=facets)
        return
    ranked = sorted(overall["labels"], key=lambda label: label["rank"].number or 0.0)
    rankings = _rankings(part)
    if not is_rankable(study, model):
        yield _no_order(study, model)
        yield from _said_of_agreement(part, model)
    else:
        yield _said_of_order(part, overall, model)
        yield from _said_of_agreement(part, model)
        yield from _said_of_parts(study, model)
        yield from _said_of_places(study, model)
        if len(rankings) > 1:
            yield _bump(part, ranked, rankings, study, model)
        name = study.id("rank-intervals", model)
        yield rank_intervals(ranked, model, name, rank_table(ranked, study, model))
    yield agreement_table(part, study, model)
    yield from _reasons(part["agreement"], "kendall_w", Text("agreement"), model)
    yield halves_table(part, study, model)
    yield from _reasons(part["halves"], "correlation", Text("correlation r"), model)
    if is_rankable(study, model):
        yield places_table(study, model)
    yield Paragraph(rests_on(part), tone="note", facets=facets)


def _rankings(part: Cursor) -> list[Cursor]:
    """Rankings by configuration that have ranks."""
    return [each for each in part["by_configuration"] if each["ranks"]]


def _no_order(study: Study, model: str) -> Paragraph:
    baseline = study.top["chance"]["rows"].where(model=model, scope="overall")
    text = Text.of(
        "No order of labels is shown for {model}: its accuracy, {accuracy}, is not shown to be "
        "above chance ({chance}) and the best constant answer ({constant}), so that any order "
        "would be one of noise.",
        model=Name(model),
        accuracy=Number.of(baseline["accuracy"], unit="%"),
        chance=Number.of(baseline["chance"], unit="%"),
        constant=Number.of(baseline["constant"], unit="%"),
    )
    return Paragraph(text, tone="lead", facets={"model": model})


def _said_of_order(part: Cursor, overall: Cursor, model: str) -> Paragraph:
    text = Text.of(
        "Over all configurations, {ordered} of {pairs} pairs of labels of {model} are in an order "
        "that these questions show (all such statements together, 5% error). {best} {worst}",
        ordered=Number.count(part["order"]["ordered"]),
        pairs=Number.count(part["order"]["pairs"]),
        model=Name(model),
        best=_could_be(overall.value["labels"], "possibly_best"),
        worst=_could_be(overall.value["labels"], "possibly_worst"),
    )
    return Paragraph(text, tone="lead", facets={"model": model})


def _could_be(labels: Sequence[dict[str, object]], key: str) -> Text:
    names = [str(label["persona"]) for label in labels if label[key]]
    is_best = key == "possibly_best"
    if len(names) == 1:
        only = "Only {names} could be the most accurate label."
        least = "Only {names} could be the least accurate one."
        template = only if is_best else least
    elif len(names) <= NAMES_SAID:
        some = "Each of these could be the most accurate label: {names}."
        least = "Each of these could be the least accurate one: {names}."
        template = some if is_best else least
    else:
        many = "Many could be the most accurate label, among them {names}."
        least = "Many could be the least accurate one, among them {names}."
        template = many if is_best else least
    return Text.of(template, names=Names(tuple(Name(name) for name in names[:NAMES_SAID])))


def _said_of_agreement(part: Cursor, model: str) -> Iterator[Paragraph]:
    row, half = part["agreement"].where(scope="overall"), part["halves"].where(scope="overall")
    facets = {"model": model}
    if row["kendall_w"].number is not None:
        text = Text.of(
            "The rankings of {compared} configurations agree by Kendall's W = {w} (one: the same "
            "order everywhere), two of them by tau-b = {tau} on average (zero: unrelated orders); "
            "from one to another a label moves by {shift} of {labels} ranks.",
            compared=Number.count(row["compared"]),
            w=Number.of(row["kendall_w"], 2),
            tau=Number.of(row["tau_b"], 2),
            shift=Number.of(row["shift"]),
            labels=Number.count(part["labels"]),
        )
        yield Paragraph(text, facets=facets)
    if half["tau_b"]["same"].number is None or half["tau_b"]["different"].number is None:
        return
    text = Text.of(
        "Some of that is noise: between two halves of the questions, rankings under the same "
        "configuration agree by tau-b = {same}, under different ones by {different}. What the "
        "second number falls short of the first is due to configurations.",
        same=Number.of(half["tau_b"]["same"], 2),
        different=Number.of(half["tau_b"]["different"], 2),
    )
    yield Paragraph(text, facets=facets)
    if half["correlation"].number is not None:
        text = Text.of(
            "With the noise taken out, labels' accuracies under two configurations correlate by "
            "{r} (one: configurations change nothing but noise).",
            r=Estimate.of(half, "correlation", 2, low="correlation_low", high="correlation_high"),
        )
        yield Paragraph(text, facets=facets)


def _said_of_parts(study: Study, model: str) -> Iterator[Paragraph]:
    """Instability of outcome as its two parts."""
    table = study.top["instability"].where(persona_set="labels", value="draws")
    row = table["rows"].where(model=model, scope="overall")
    if row["io"].number is None or row["rank_shift"].number is None:
        return
    text = Text.of(
        "Instability of outcome (IO) is {io}. It has two parts: a label moves by {shift} ranks "
        "between two configurations ({relative} of what orders dealt out at random would give), "
        "and labels spread by {spread} points within a configuration.",
        io=Number.of(row["io"], unit="ranks × points"),
        shift=Number.of(row["rank_shift"]),
        relative=Number.of(row["relative_rank_shift"], 2),
        spread=Number.of(row["spread"]),
    )
    yield Paragraph(text, facets={"model": model})


def _said_of_places(study: Study, model: str) -> Iterator[Paragraph]:
    flips = study.top["best_and_worst"]["flips"].where(model=model)
    if flips["best_flips"].number is None:
        return
    facets = {"model": model}
    text = Text.of(
        "Over {configurations} configurations, {best} labels are the best one somewhere and "
        "{worst} the worst one; {best_flips} of pairs of configurations have no best "
        "label in common, {worst_flips} no worst one.",
        configurations=Number.of(flips["configurations"], 0),
        best=Number.of(flips["distinct_best"], 0),
        worst=Number.of(flips["distinct_worst"], 0),
        best_flips=Number.of(flips["best_flips"], 0, unit="%"),
        worst_flips=Number.of(flips["worst_flips"], 0, unit="%"),
    )
    yield Paragraph(text, facets=facets)
    if flips["both"]:
        names = Names(tuple(Name(str(name)) for name in flips["both"].value[:NAMES_SAID]))
        text = Text.of("Best in one configuration and worst in another: {names}.", names=names)
        yield Paragraph(text, facets=facets)


def _bump(
    part: Cursor, ranked: Sequence[Cursor], rankings: Sequence[Cursor], study: Study, model: str
) -> Block:
    names = [str(name) for name in part["personas"].value]
    order = [label["persona"].text for label in ranked]
    marked = order if len(order) <= 2 * MARKED else [*order[:MARKED], *order[-MARKED:]]
    return bump_chart(
        rankings,
        names,
        marked,
        configurations_of(study, model),
        model,
        study.id("rank-flow", model),
        table=extremes_table(study, model),
    )


def _reasons(rows: Cursor, key: str, what: Text, model: str) -> Iterator[Paragraph]:
    figures = [
        (Name(row["name"].text) if row["name"].text else Text("all configurations"), row[key])
        for row in rows
    ]
    yield from why_not(figures, what, {"model": model})
