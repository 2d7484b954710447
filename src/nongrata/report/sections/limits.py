"""Section: what this study cannot tell, each limit only where it applies, with its numbers."""

from __future__ import annotations

from collections.abc import Iterator

from nongrata.report.document.blocks import Block, Facets, Listing, Paragraph, Section
from nongrata.report.document.cursor import Cursor
from nongrata.report.document.pieces import Name, Names, Number, Text
from nongrata.report.document.said import text_of
from nongrata.report.sections.study import Study

UNREAD_COUNT = {
    "wrong": "They count as not correct.",
    "right": "They count as correct.",
    "left_out": "They are left out.",
}
QUOTED = ("damage", "limited", "numerical_floor")
"""Notices that are limits and are said as the analysis says them."""


def limits_section(study: Study) -> Section:
    """The limits of a study in plain words.

    Parameters
    ----------
    study
        The results.
    """
    blocks: list[Block] = [
        Paragraph(
            Text.of(
                "Everything here is about {questions} questions, {configurations} configurations "
                "and {models}. Other questions, wordings and models may behave differently.",
                questions=Number.count(study.top["questions"]),
                configurations=Number.count(study.top["configurations"]),
                models=Names(tuple(Name(model) for model in study.models)),
            )
        ),
        Listing(tuple(_of_study(study))),
    ]
    for model in study.models:
        found = tuple(_of_model(study, model))
        if found:
            facets: Facets = {"model": model}
            if len(study.models) > 1:
                blocks.append(Paragraph(Text.of("{model}:", model=Name(model)), facets=facets))
            blocks.append(Listing(found, facets))
    return Section(
        id="limits",
        title=Text("Limits"),
        question=Text("What can this study not tell?"),
        blocks=tuple(blocks),
    )


def _of_study(study: Study) -> Iterator[Text]:
    """Limits of the design, which hold for every model."""
    top = study.top
    yield from _made_up(study)
    yield Text(
        "Labels are words in prompts. Where labels differ, prompts differ; it is no fact about the "
        "people whom a label names, and the design cannot say which property of the words did it."
    )
    if study.results["configurations"] > 1:
        yield Text.of(
            "Robust means robust among the {configurations} configurations that were run, and not "
            "among all prompts that one could write.",
            configurations=Number.count(top["configurations"]),
        )
    yield from _factors(study)
    yield from _noise(study)
    if study.results["clusters"] < study.results["questions"]:
        yield Text.of(
            "The {questions} questions form {clusters} clusters that share a text. Questions of a "
            "cluster are resampled together, and intervals allow for it.",
            questions=Number.count(top["questions"]),
            clusters=Number.count(top["clusters"]),
        )
    if len(study.domains) > 1:
        yield Text.of(
            "The domains ({domains}) hold different questions. A difference of accuracy between "
            "them is one between these questions, and guessing need not be equally often right.",
            domains=Names(tuple(Name(domain) for domain in study.domains)),
        )
    yield Text.of(
        "Undecided is not equal: a difference that is not shown may still be there. What is called "
        "robust or established about a model is false anywhere with a chance of at most {alpha}.",
        alpha=Number.of(top["findings"]["alpha"], 2),
    )


def _made_up(study: Study) -> Iterator[Text]:
    simulated = study.top["provenance"]["models"].all(is_model=False)
    if simulated:
        yield Text.of(
            "The answers of {models} are simulated. They show what the method does and are no "
            "finding about any language model.",
            models=Names(tuple(Name(model["id"].text) for model in simulated)),
        )
    for notice in study.top["notices"]:
        if notice["about"].text in QUOTED:
            yield Text.of("{notice}.", notice=text_of(notice["text"].value))
    if study.results["provenance"]["made_from"] == "import":
        yield Text(
            "The answers were imported from a table. Which prompts were sent, and how answers were "
            "sampled and read, is as its author says."
        )


def _factors(study: Study) -> Iterator[Text]:
    """What levels of factors change besides what their names say."""
    factors = study.top["provenance"]["factors"]
    for factor in factors:
        if len(factor["sub_factors"]):
            yield Text.of(
                "Levels of {factor} differ in {sub_factors}. A difference between them is not one "
                "of wording alone.",
                factor=Name(factor["name"].text),
                sub_factors=Names(tuple(Name(each.text) for each in factor["sub_factors"])),
            )
    sampling = study.top["provenance"]["sampling"]
    readings = list(dict.fromkeys(each["reading"].text for each in sampling))
    if len(readings) > 1:
        yield Text.of(
            "Answers are read in more than one way ({readings}), and figures over all "
            "configurations pool them. Compare levels of the factor that says how before you read "
            "anything out of the whole.",
            readings=Names(tuple(Name(reading) for reading in readings)),
        )
    heats = {each["temperature"].number for each in sampling} - {None}
    if 0 in heats and len(heats) > 1:
        yield Text.of(
            "At temperature {zero} an answer is always the same, and at a high one it is partly "
            "chance. Configurations of different temperatures therefore differ in noise too, and "
            "a stable configuration is not a better one.",
            zero=Number.of(sampling.where(temperature=0)["temperature"], 0),
        )
    yield from _duplicates(study)


def _duplicates(study: Study) -> Iterator[Text]:
    """Controls that send the same prompt in several configurations."""
    models = study.top["contrasts"]["models"]
    for control in models[0]["controls"]:
        distinct = control["distinct_cells"]
        if distinct.number is not None and distinct.number < study.results["configurations"]:
            yield Text.of(
                "{control} sends only {distinct} different prompts a question in {configurations} "
                "configurations. It is stable by construction, and is left out of every figure of "
                "instability.",
                control=Name(control["control"].text),
                distinct=Number.count(distinct),
                configurations=Number.count(study.top["configurations"]),
            )


def _noise(study: Study) -> Iterator[Text]:
    if study.results["replicates"] != 1:
        return
    drawn_once = any(
        each["rows"].where(scope="overall")["rerun_floor"].number is None
        for each in study.top["noise"]["models"]
    )
    if drawn_once:
        yield Text.of(
            "There is {replicates} answer to each prompt. Where its probability is not known as "
            "well, nobody can tell how much it would move if it were drawn again, so the floor of "
            "a re-run is not estimable; replicates would give it.",
            replicates=Number.count(study.top["replicates"]),
        )


def _of_model(study: Study, model: str) -> Iterator[Text]:
    """Limits of one model's answers."""
    yield from _chance(study, model)
    yield from _unread(study, model)
    overall = study.top["accuracy_intervals"]["rows"].where(model=model, scope="model")
    if overall["doubtful"].value:
        yield Text.of(
            "Intervals rest on {clusters} independent questions or clusters only: take them as "
            "rough.",
            clusters=Number.count(overall["clusters"]),
        )
    total = study.of("findings", model)["total"]
    if total["undecided"].value:
        yield Text.of(
            "{undecided} of {total} conclusions are undecided with {questions} questions.",
            undecided=Number.count(total["undecided"]),
            total=Number.count(total["total"]),
            questions=Number.count(study.of("findings", model)["questions"]),
        )


def _chance(study: Study, model: str) -> Iterator[Text]:
    row = study.top["chance"]["rows"].where(model=model, scope="overall")
    if row["chance"].number is None:
        yield Text(
            "How often guessing is right is not known, so whether accuracy is above it cannot be "
            "said."
        )
    elif not row["rankable"].value:
        yield Text.of(
            "Accuracy ({accuracy}) is not shown to be above guessing ({chance}) and above always "
            "choosing the same place ({constant}). Labels must not be ranked.",
            accuracy=Number.of(row["accuracy"], unit="%"),
            chance=Number.of(row["chance"], unit="%"),
            constant=Number.of(row["constant"], unit="%"),
        )
    if row["position_dominates"].value:
        yield Text.of(
            "One place among the options is chosen in {share} of the answers and right in {gold}: "
            "position moves the answers more than the questions do.",
            share=Number.of(row["favourite_share"], unit="%"),
            gold=Number.of(row["favourite_gold"], unit="%"),
        )


def _unread(study: Study, model: str) -> Iterator[Text]:
    row = study.top["outcomes"]["rows"].where(model=model, scope="model")
    if row["unparsed"].value or row["refused"].value or row["truncated"].value:
        yield Text.of(
            "{unparsed} of the answers could not be read, {refused} are refusals and {truncated} "
            "were cut off. {counted} Accuracy would be {wrong} if all of them were wrong, {right} "
            "if all were right.",
            unparsed=Number.of(row["rates"]["unparsed"], unit="%"),
            refused=Number.of(row["rates"]["refused"], unit="%"),
            truncated=Number.of(row["rates"]["truncated"], unit="%"),
            counted=Text(UNREAD_COUNT[study.results["unread"]]),
            wrong=_accuracy_if(study.top["unread_bounds"]["rows"], model, "wrong"),
            right=_accuracy_if(study.top["unread_bounds"]["rows"], model, "right"),
        )
    if row["error"].value or row["not_obtained"].value:
        yield Text.of(
            "{error} answers ended in an error and {not_obtained} were not obtained. They are "
            "missing, and count neither as right nor as wrong.",
            error=Number.count(row["error"]),
            not_obtained=Number.count(row["not_obtained"]),
        )


def _accuracy_if(rows: Cursor, model: str, unread: str) -> Number:
    return Number.of(rows.where(model=model, unread=unread)["accuracy"], unit="%")
