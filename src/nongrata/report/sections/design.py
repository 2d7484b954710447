"""Section: what was asked, of whom, in how many ways; and what such a design cannot identify."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml

from nongrata.report.document.blocks import Block, Column, Listing, Paragraph, Row, Section, Table
from nongrata.report.document.cursor import Cursor
from nongrata.report.document.pieces import Name, Names, Number, Piece, Text
from nongrata.report.sections.study import Study


def design_section(study: Study) -> Section:
    """Personas, factors, questions and sizes.

    Parameters
    ----------
    study
        The results.
    """
    tables = (_factors(study), _personas(study), _sources(study), _domains(study))
    return Section(
        id="design",
        title=Text("Design"),
        question=Text("What was asked, and in how many ways?"),
        blocks=(
            *_sizes(study),
            *(table for table in tables if table is not None),
            *_not_identified(study),
        ),
    )


def _sizes(study: Study) -> Iterator[Block]:
    top = study.top
    crossed = Text.of(
        "Every one of {personas} personas ({controls} of them controls) meets every one of "
        "{configurations} configurations and {questions} questions, {replicates} times.",
        personas=Number.count(top["personas"]),
        controls=Number.count(top["controls"]),
        configurations=Number.count(top["configurations"]),
        questions=Number.count(top["questions"]),
        replicates=Number.count(top["replicates"]),
    )
    once = Text.of(
        "Every one of {personas} personas ({controls} of them controls) meets every one of "
        "{configurations} configurations and {questions} questions, once.",
        **crossed.values,
    )
    yield Paragraph(once if study.results["replicates"] == 1 else crossed)
    origin = top["provenance"]
    if origin["requests"].number is not None and origin["prompts"].number is not None:
        by_letter = bool(origin["sampling"].all(reading="first_token"))
        yield Paragraph(
            Text.of(
                "{prompts} different prompts were sent in {requests} requests. Identical requests "
                "are sent once, and where an answer is read from the probabilities of its letter, "
                "one request serves every temperature."
                if by_letter
                else "{prompts} different prompts were sent in {requests} requests. Identical "
                "requests are sent once.",
                prompts=Number.count(origin["prompts"]),
                requests=Number.count(origin["requests"]),
            )
        )
    if origin["note"].text:
        yield Paragraph(
            Text.of("The study's own note: {note}", note=Name(origin["note"].text)), "note"
        )


def _factors(study: Study) -> Table | None:
    rows = []
    for factor in study.top["provenance"]["factors"]:
        group = Text.of(
            "{factor}, {n} levels",
            factor=Name(factor["name"].text),
            n=Number.count(factor["levels"]),
        )
        for i, level in enumerate(factor["levels"]):
            rows.append(
                Row(
                    cells=(Name(level["id"].text), does(level["what"].text)),
                    facets={"factor": factor["name"].text},
                    group=None if i else group,
                )
            )
    if not rows:
        return None
    return Table(
        id="factors",
        caption=Text("Factors and their levels; a configuration takes one level of each"),
        columns=(
            Column("level", Text("level"), kind="name"),
            Column("does", Text("what it fills in or sets"), kind="text"),
        ),
        rows=tuple(rows),
    )


def does(what: str) -> Piece | None:
    r"""What a level does, as names: ``reading: free``; None where it is not known.

    Examples
    --------
    >>> does("set:\n  temperature: 0\n")
    Names(items=(Name(text='temperature: 0'),))
    """
    try:
        found = yaml.safe_load(what) if what else None
    except yaml.YAMLError:
        found = None
    if not isinstance(found, dict):
        return Name(what) if what else None
    return Names(tuple(Name(line) for line in _leaves(found, top=True)))


def _leaves(value: dict[Any, Any], top: bool = False, name: str = "") -> Iterator[str]:
    for key, item in value.items():
        path = str(key) if top or not name else f"{name}.{key}"
        if isinstance(item, dict):
            yield from _leaves(item, name="" if top else path)
        else:
            shown = "" if item is None else str(item)
            yield f"{path}: {shown}" if shown else f"{path}: –"


def _personas(study: Study) -> Table:
    rows = []
    for persona in study.top["provenance"]["personas"]:
        is_control = persona["is_control"].value
        text = persona["text"].text
        rows.append(
            Row(
                cells=(
                    Name(persona["id"].text),
                    Name(text) if text else Text("nothing: no persona is named"),
                    Text("control" if is_control else "label"),
                    Name(persona["group"].text),
                    Name(persona["source"].text),
                ),
                facets={"persona": persona["id"].text},
            )
        )
    return Table(
        id="personas",
        caption=Text("Personas"),
        columns=(
            Column("persona", Text("label"), kind="name"),
            Column("text", Text("what stands in the prompt"), kind="text"),
            Column("kind", Text("kind"), kind="text"),
            Column("group", Text("group"), kind="text"),
            Column("source", Text("published by"), kind="text"),
        ),
        rows=tuple(rows),
        folded=len(rows) > 12,
    )


def _sources(study: Study) -> Table | None:
    sources = study.top["provenance"]["sources"]
    if not len(sources):
        return None
    return Table(
        id="sources",
        caption=Text("Questions by source"),
        columns=(
            Column("source", Text("source"), kind="name"),
            Column("questions", Text("questions")),
            Column("domains", Text("domains")),
        ),
        rows=tuple(
            Row(
                cells=(
                    Name(source["id"].text),
                    Number.count(source["questions"]),
                    Number.count(source["domains"]),
                )
            )
            for source in sources
        ),
    )


def _domains(study: Study) -> Table | None:
    if not study.models:
        return None
    intervals = study.top["accuracy_intervals"]["rows"]
    chance = study.top["chance"]["rows"]
    found = intervals.all(model=study.models[0], scope="domain")
    if not found:
        return None
    return Table(
        id="domains",
        caption=Text("Questions by domain"),
        columns=(
            Column("domain", Text("domain"), kind="name"),
            Column("questions", Text("questions")),
            Column(
                "clusters",
                Text("clusters"),
                help=Text("Questions that share a text are one cluster."),
            ),
            Column("chance", Text("right by guessing"), "%"),
        ),
        rows=tuple(
            Row(
                cells=(
                    Name(row["name"].text),
                    Number.count(row["questions"]),
                    Number.count(row["clusters"]),
                    _chance(chance, study.models[0], row["name"].text),
                ),
                facets={"domain": row["name"].text},
            )
            for row in found
        ),
    )


def _chance(rows: Cursor, model: str, domain: str) -> Number:
    return Number.of(rows.where(model=model, scope="domain", name=domain)["chance"])


def _not_identified(study: Study) -> Iterator[Block]:
    """What no analysis of this design can tell apart."""
    items = [
        Text(
            "A label is one wording. What its words do and what they mean cannot be told apart, "
            "and nothing here is about the people they name."
        )
    ]
    factors = Names(tuple(Name(factor) for factor in study.factors))
    if study.results["configurations"] > 1:
        items.append(
            Text.of(
                "Each level of {factors} is one choice. The effect of a kind of prompt cannot be "
                "told from that of this wording of it.",
                factors=factors,
            )
        )
    items.extend(
        Text.of(
            "{factor} is made of {sub_factors}: its levels change more than one thing. The section "
            "on the task format takes them apart where they are crossed.",
            factor=Name(factor["name"].text),
            sub_factors=Names(tuple(Name(each.text) for each in factor["sub_factors"])),
        )
        for factor in study.top["provenance"]["factors"]
        if len(factor["sub_factors"])
    )
    yield Paragraph(Text("What this design cannot identify:"))
    yield Listing(tuple(items))
