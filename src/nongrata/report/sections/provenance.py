"""Section: where the answers come from: revisions, hashes, seeds, versions, sessions."""

from __future__ import annotations

from collections.abc import Iterator

from nongrata.report.document.blocks import (
    Block,
    Code,
    Column,
    Facets,
    Paragraph,
    Row,
    Section,
    Table,
)
from nongrata.report.document.cursor import Cursor
from nongrata.report.document.pieces import Name, Number, Piece, Text
from nongrata.report.document.said import text_of
from nongrata.report.sections.study import Study

PARAMETERS = ("temperature", "top_k", "top_p", "min_p", "max_tokens")
DIGITS = {"temperature": 2, "top_k": 0, "top_p": 2, "min_p": 2, "max_tokens": 0}


def provenance_section(study: Study) -> Section:
    """Everything that is needed to find the answers again, and to compute the same numbers.

    Parameters
    ----------
    study
        The results.
    """
    origin = study.top["provenance"]
    blocks: list[Block] = [Paragraph(_made(origin))]
    blocks += [Paragraph(text_of(each.value), "warning") for each in origin["warnings"]]
    blocks += [
        Paragraph(
            Text.of(
                "Seed {seed}, {draws} resamples, {splits} random halves. The same answers give the "
                "same numbers, to the last bit of:",
                seed=Number.of(study.top["seed"], style="text"),
                draws=Number.count(study.top["draws"]),
                splits=Number.count(study.top["splits"]),
            )
        ),
        Code(command(study)),
    ]
    tables = (_sampling(origin), *_models(study), _sessions(origin), *_software(origin))
    blocks += [table for table in (*tables, _hashes(origin)) if table is not None]
    return Section(
        id="provenance",
        title=Text("Provenance"),
        question=Text("Where do the answers come from, and how are the numbers had again?"),
        blocks=tuple(blocks),
    )


def _made(origin: Cursor) -> Text:
    values: dict[str, Piece] = {
        "study": Name(origin["study"].text),
        "created": Name(origin["created"].text),
        "version": Name(origin["nongrata"].text),
        "computed": Name(origin["computed_with"].text),
    }
    if origin["made_from"].text == "import":
        return Text.of(
            "Answers imported from {study} on {created} with nongrata {version}; numbers computed "
            "with nongrata {computed}.",
            **values,
        )
    return Text.of(
        "Answers of the study {study}, seed {seed}, begun on {created} with nongrata {version}; "
        "numbers computed with nongrata {computed}.",
        seed=Number.of(origin["seed"], style="text"),
        **values,
    )


def command(study: Study) -> str:
    """The command that computes the numbers again; RUN is the folder."""
    found = study.results
    return (
        f"nongrata analyze RUN --json --unread {found['unread']} --value "
        f"{found['noise']['value']} --smallest-effect {found['contrasts']['smallest_effect']} "
        f"--draws {found['draws']} --splits {found['splits']} --seed {found['seed']}"
    )


def _sampling(origin: Cursor) -> Table | None:
    if not len(origin["sampling"]):
        return None
    return Table(
        id="sampling",
        caption=Text("How answers were read and sampled"),
        columns=(
            Column("reading", Text("reading"), kind="name"),
            *(Column(name, Text(name.replace("_", " "))) for name in PARAMETERS),
        ),
        rows=tuple(
            Row(
                cells=(
                    Name(each["reading"].text),
                    *(
                        Number.of(each[name], DIGITS[name]) if each[name].number is not None
                        else None
                        for name in PARAMETERS
                    ),
                )
            )
            for each in origin["sampling"]
        ),
        notes=(
            Text(
                "Everything else that could act on an answer is switched off and recorded with the "
                "model."
            ),
        ),
    )  # fmt: skip


def _models(study: Study) -> Iterator[Table]:
    for model in study.top["provenance"]["models"]:
        if not len(model["facts"]):
            continue
        name = model["id"].text
        facets: Facets = {"model": name}
        yield _facts(
            study.id("model-facts", name),
            Text.of("What is known about {model}", model=Name(name)),
            [("digest", model["digest"].text), *_pairs(model["facts"])],
            facets,
        )


def _sessions(origin: Cursor) -> Table | None:
    if not len(origin["sessions"]):
        return None
    return Table(
        id="sessions",
        caption=Text("Sessions that worked on the run"),
        columns=(
            Column("started", Text("started"), kind="name"),
            Column("ended", Text("ended"), kind="text"),
            Column("requests", Text("requests")),
            Column("answers", Text("answers")),
            Column("seconds", Text("seconds"), "s"),
        ),
        rows=tuple(
            Row(
                cells=(
                    Name(session["started"].text),
                    Name(session["ended"].text) if session["ended"].text else Text("did not end"),
                    Number.count(session["requests"]),
                    Number.count(session["answers"]),
                    Number.count(session["seconds"]),
                )
            )
            for session in origin["sessions"]
        ),
    )


def _software(origin: Cursor) -> Iterator[Table]:
    """Machine and packages, once for each session whose are not those of the one before."""
    before: list[tuple[str, str]] = []
    for i, session in enumerate(origin["sessions"], 1):
        facts = _pairs(session["facts"])
        if facts and facts != before:
            yield _facts(
                f"software-{i}",
                Text.of(
                    "Machine and packages of the session of {started}",
                    started=Name(session["started"].text),
                ),
                facts,
            )
        before = facts


def _hashes(origin: Cursor) -> Table | None:
    found = _pairs(origin["hashes"])
    return _facts("hashes", Text("Hashes"), found) if found else None


def _pairs(place: Cursor) -> list[tuple[str, str]]:
    return [(pair[0].text, pair[1].text) for pair in place]


def _facts(
    identity: str, caption: Text, facts: list[tuple[str, str]], facets: Facets | None = None
) -> Table:
    """Names and values, folded."""
    return Table(
        id=identity,
        caption=caption,
        columns=(
            Column("what", Text("what"), kind="name"),
            Column("value", Text("value"), kind="text"),
        ),
        rows=tuple(Row(cells=(Name(what), Name(value))) for what, value in facts),
        facets=facets or {},
        folded=True,
    )
