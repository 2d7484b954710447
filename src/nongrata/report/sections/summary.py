"""Section: the first screen. The research question answered, and conclusions with verdicts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from nongrata.conclusions.answered import ANSWER_HEADINGS
from nongrata.report.document.blocks import (
    Block,
    Column,
    Facets,
    Listing,
    Paragraph,
    Row,
    Section,
    Table,
)
from nongrata.report.document.cursor import Cursor
from nongrata.report.document.pieces import Estimate, Name, Names, Number, Piece, Text, Verdict
from nongrata.report.document.said import text_of
from nongrata.report.sections.conclusion_tables import (
    all_table,
    counted,
    decided,
    exceptions,
    first_table,
    legend,
    models_table,
    open_families,
    open_table,
    picked,
)
from nongrata.report.sections.sentences import sentence
from nongrata.report.sections.study import Study

EXCEPTIONS = 6
"""Conclusions whose exceptions are named under the table."""
LABELS_NAMED = 4
"""Labels that are named."""
MODEL_PAIRS = 6
"""Conclusions about pairs of models on the first screen."""
PEOPLE = "Labels are words in prompts: their accuracy says nothing about people."


def summary_section(study: Study) -> Section:
    """What is robust in a study and what is not.

    Parameters
    ----------
    study
        The results.
    """
    blocks: list[Block] = [*_answers(study), _set_up(study)]
    if len(study.models) > 1:
        blocks.append(_overview(study))
    for model in study.models:
        blocks += _of_model(study, model)
    between = study.top["findings"]["between_models"]
    if len(between):
        blocks += _models_compared(list(between))
    return Section(
        id="summary",
        title=Text("Do conclusions about personas survive a change of prompt?"),
        question=Text(""),
        blocks=tuple(blocks),
    )


def _models_compared(conclusions: list[Cursor]) -> Iterator[Block]:
    """The largest conclusions about pairs of models; all of them folded."""
    first = picked(conclusions, MODEL_PAIRS)
    yield models_table(first, "models-compared", Text("Models compared"))
    if len(first) < len(conclusions):
        table = models_table(conclusions, "models-compared-all", Text("All comparisons of models"))
        yield replace(table, folded=True)


def _answers(study: Study) -> Iterator[Paragraph]:
    """The answer to the question of the title, in one or two sentences for each model."""
    for model in study.models:
        part = study.of("findings", model)
        said = sentence(part["headline"].value, part["numbers"])
        if len(study.models) > 1:
            said = Text.of("{model}: {said}", model=Name(model), said=said)
        yield Paragraph(said, "answer", {"model": model})


def _set_up(study: Study) -> Paragraph:
    """What was asked, in how many ways; what a label is."""
    top = study.top
    many = len(study.models) > 1
    if study.results["configurations"] > 1:
        template = (
            "{models} models, {questions} questions; {labels}; {configurations} configurations "
            "(ways of asking): {factors}. {people}"
            if many
            else "{model}, {questions} questions; {labels}; {configurations} configurations (ways "
            "of asking): {factors}. {people}"
        )
    else:
        template = (
            "{models} models, {questions} questions; {labels}; one way of asking. {people}"
            if many
            else "{model}, {questions} questions; {labels}; one way of asking. {people}"
        )
    return Paragraph(
        Text.of(
            template,
            models=Number.count(top["models"]),
            model=Name(study.models[0]),
            questions=Number.count(top["questions"]),
            labels=_named_labels(study),
            configurations=Number.count(top["configurations"]),
            factors=_crossed(study),
            people=Text(PEOPLE),
        ),
        "note",
    )


def _crossed(study: Study) -> Piece:
    """Every factor with its number of levels."""
    known = study.top["provenance"]["factors"]
    factors = [
        Text.of("{factor} ({n})", factor=Name(name), n=Number.count(levels))
        if (levels := known.where(name=name)["levels"])
        else Text.of("{factor}", factor=Name(name))
        for name in study.factors
    ]
    crossed = factors[0]
    for factor in factors[1:]:
        crossed = Text.of("{first} × {second}", first=crossed, second=factor)
    return crossed


def _named_labels(study: Study) -> Text:
    """Labels and controls, the first of them by name."""
    controls = study.controls
    labels = [name for name in study.personas if name not in controls]
    found = study.top["findings"]["models"][0]["labels"]
    return Text.of(
        "{n} label ({names}){controls}" if found.value == 1 else "{n} labels ({names}){controls}",
        n=Number.count(found),
        names=_first_names(labels),
        controls=Text.of(
            ", {n} control ({names})" if len(controls) == 1 else ", {n} controls ({names})",
            n=Number.count(study.top["controls"]),
            names=_first_names(controls),
        )
        if controls
        else Text(""),
    )


def _first_names(names: list[str]) -> Names:
    """The first few of several names."""
    more = (Text("…"),) if len(names) > LABELS_NAMED else ()
    return Names((*(Name(name) for name in names[:LABELS_NAMED]), *more))


def labels_and_controls(study: Study) -> Text:
    """How many there are of each, as a part of a sentence."""
    labels = study.top["findings"]["models"][0]["labels"]
    found = Text.of(
        "{n} persona label" if labels.value == 1 else "{n} persona labels", n=Number.count(labels)
    )
    if not study.controls:
        return found
    controls = study.top["controls"]
    return Text.of(
        "{labels} and {controls}",
        labels=found,
        controls=Text.of(
            "{n} control" if len(controls) == 1 else "{n} controls", n=Number.count(controls)
        ),
    )


def _overview(study: Study) -> Table:
    counts = ("robust", "established", "fragile", "undecided", "not_rankable")
    rows = []
    for model in study.models:
        total = study.of("findings", model)["total"]
        overall = study.of("noise", model)["rows"].where(scope="overall")
        accuracy = study.top["accuracy_intervals"]["rows"].where(model=model, scope="model")
        two = overall["iq"].where(m=2)["iq"]
        rows.append(
            Row(
                cells=(
                    Name(model),
                    Estimate.of(accuracy, "accuracy"),
                    Number.of(overall["ia"]),
                    Estimate.of(two, "figure"),
                    *(Number.count(total[name]) for name in counts),
                )
            )
        )
    return Table(
        id="models-overview",
        caption=Text("Models at a glance"),
        columns=(
            Column("model", Text("model"), kind="name"),
            Column("accuracy", Text("accuracy"), "%", "estimate"),
            Column(
                "ia",
                Text("IA"),
                "points",
                help=Text("Mean difference of accuracy between two configurations."),
            ),
            Column(
                "iq2",
                Text("IQ(2)"),
                "%",
                "estimate",
                help=Text(
                    "Of the questions right in either of two configurations, how many are right in "
                    "only one of them."
                ),
            ),
            *(Column(name, Text(name.replace("_", " "))) for name in counts),
        ),
        rows=tuple(rows),
        notes=(Text("The last columns count conclusions by their verdict."),),
    )


def _of_model(study: Study, model: str) -> Iterator[Block]:
    part = study.of("findings", model)
    facets: Facets = {"model": model}
    if len(study.models) > 1:
        yield Paragraph(Text.of("{model}:", model=Name(model)), facets=facets)
    for remark in part["remarks"]:
        yield Paragraph(text_of(remark.value), facets=facets)
    yield from _cards(study, part, model, facets)
    if not len(part["tallies"]):
        return
    if part["configurations"].value > 1:
        yield Paragraph(legend(part), "note", facets)
    caption = Text.of(
        "Conclusions about {model}: {counts}", model=Name(model), counts=counted(part["total"])
    )
    table = first_table(part, study.id("conclusions", model), caption, facets)
    if table is not None:
        yield table
    yield from (Paragraph(line, facets=facets) for line in open_families(part))
    yield from _exceptions(part, facets)
    yield from _folded(study, part, model, facets)


def _cards(study: Study, part: Cursor, model: str, facets: Facets) -> Iterator[Block]:
    """The parts of the answer: what it is about, the verdict, and the sentences that say so."""
    for answered in part["answers"]:
        said = sentence(answered["details"].value, part["numbers"])
        if answered["about"].text == "accuracy":
            barred = not part["rankable"].value
            said = Text.of("{first} {rest}", first=said, rest=_overall(study, model, barred))
        yield Paragraph(
            said,
            "lead",
            facets,
            heading=Text(ANSWER_HEADINGS[answered["about"].value]),
            verdict=Verdict(answered["verdict"].text),
        )


def _folded(study: Study, part: Cursor, model: str, facets: Facets) -> Iterator[Block]:
    name = Name(model)
    tables = (
        all_table(
            part,
            study.id("conclusions-all", model),
            Text.of("All decided conclusions about {model}", model=name),
            facets,
        ),
        open_table(
            part,
            study.id("conclusions-open", model),
            Text.of("What is not decided about {model}, and why", model=name),
            facets,
        ),
        _claims(
            part,
            study.id("preprint", model),
            Text.of("Statements of the preprint, as this study of {model} has them", model=name),
            facets,
        ),
    )
    yield from (table for table in tables if table is not None)


def _overall(study: Study, model: str, barred: bool) -> Text:
    """Accuracy beside what needs no model."""
    rows = study.top["accuracy_intervals"]["rows"]
    overall = Estimate.of(rows.where(model=model, scope="model"), "accuracy", unit="%")
    row = study.top["chance"]["rows"].where(model=model, scope="overall")
    if row["constant"].number is None or row["chance"].number is None:
        return Text.of(
            "Overall {accuracy}; how often guessing is right is not known.", accuracy=overall
        )
    template = "Overall {accuracy}; guessing gives {chance}."
    if barred:
        template = (
            "Overall {accuracy}; guessing gives {chance}, always choosing the same place at best "
            "{constant}."
        )
    return Text.of(
        template,
        accuracy=overall,
        chance=Number.of(row["chance"], unit="%"),
        constant=Number.of(row["constant"], unit="%"),
    )


def _exceptions(part: Cursor, facets: Facets) -> Iterator[Block]:
    """The exceptions of the conclusions that stand in the first table."""
    found = [
        c
        for tally in part["tallies"]
        for c in picked(
            [c for c in part["conclusions"].all(family=tally["family"].text) if decided(c)], 2
        )
        if len(c["exceptions"])
    ]
    items = []
    for c in found[:EXCEPTIONS]:
        where = exceptions(c)
        assert where is not None
        items.append(
            Text.of(
                "{statement} ({verdict}): {where}.",
                statement=text_of(c["statement"].value),
                verdict=Text(c["verdict"].text),
                where=where,
            )
        )
    if items:
        yield Paragraph(Text("Exceptions, by configuration:"), facets=facets)
        yield Listing(tuple(items), facets)


def _claims(part: Cursor, identity: str, caption: Text, facets: Facets) -> Table | None:
    found = [c for c in part["claims"] if c["status"].text != "not checkable"]
    if not found:
        return None
    return Table(
        id=identity,
        caption=caption,
        columns=(
            Column("statement", Text("statement"), kind="text"),
            Column("status", Text("this study"), kind="text"),
            Column("because", Text("because"), kind="text"),
        ),
        rows=tuple(
            Row(
                cells=(
                    text_of(c["statement"].value),
                    Text(c["status"].text),
                    text_of(c["because"].value),
                )
            )
            for c in found
        ),
        notes=(
            Text(
                "The preprint is arXiv 2607.00937. A statement is confirmed or contradicted for "
                "this study only, and only by a conclusion with a verdict."
            ),
        ),
        facets=facets,
        folded=True,
    )
