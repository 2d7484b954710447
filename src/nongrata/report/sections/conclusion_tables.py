"""Tables of conclusions: the few that matter most, all that are decided, and what is open."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from nongrata.report.document.blocks import Column, Facets, Row, Table
from nongrata.report.document.cursor import Cursor
from nongrata.report.document.pieces import Estimate, Name, Names, Number, Piece, Text, Verdict
from nongrata.report.document.said import text_of
from nongrata.report.sections.sentences import sentence

HEADINGS = {
    "extremes": "Best and worst label:",
    "controls": "Label against control:",
    "pairs": "Label against label:",
    "effects": "Does anything make a difference?",
    "orders": "Factors and domains compared:",
}
"""Families, in the order in which they stand: labels first, since the answer above has the rest."""
COUNTED = {
    "robust": "{n} robust",
    "shown": "{n} shown",
    "fragile": "{n} fragile",
    "undecided": "{n} undecided",
    "not_rankable": "{n} not rankable",
}
DECIDED = ("robust", "fragile", "shown")
FIRST = {"effects": 7, "extremes": 2, "controls": 2, "pairs": 2, "orders": 2}
"""How many conclusions of each family stand on the first screen."""
NAMED = 4
"""Exceptions to one conclusion that are named."""
LEGEND = {
    "robust": "{verdict}: shown, in the same direction, in at least 90% of the configurations.",
    "fragile": "{verdict}: shown to be one way in some configurations and the other way in others.",
    "shown": "{verdict}: a statement about all configurations together is shown.",
    "undecided": "{verdict}: none of these is shown. That is no finding, and no proof of equality.",
    "not rankable": "{verdict}: accuracy is not shown to be above guessing, so nothing is ranked.",
}
_STATEMENT = Column("conclusion", Text("conclusion"), kind="text")
_SIZE = Column(
    "size",
    Text("size"),
    kind="estimate",
    help=Text(
        "Mean difference over configurations with its own 95% interval, not adjusted for how many "
        "conclusions there are; for what makes a "
        "difference, the root mean square difference between two labels, levels or configurations, "
        "noise taken off; for the best and worst label the lead over the next one, which has no "
        "interval, since the data choose the label."
    ),
)
_AGREE = Column(
    "agree",
    Text("configurations that agree"),
    kind="text",
    help=Text("In how many configurations the difference points the conclusion's way."),
)
_VERDICT = Column("verdict", Text("verdict"), kind="verdict")


def first_table(part: Cursor, identity: str, caption: Text, facets: Facets) -> Table:
    """The conclusions that matter most, family by family, with what all the others came to.

    Parameters
    ----------
    part
        The findings about one model, or those between models: `conclusions`, `tallies`.
    identity
        Id of the table.
    caption
        Its title.
    facets
        What it is about.
    """
    return Table(
        id=identity,
        caption=caption,
        columns=(_STATEMENT, _VERDICT, _SIZE, _AGREE),
        rows=tuple(_first_rows(part)),
        notes=tuple(legend(part["total"])),
        facets=facets,
    )


def models_table(conclusions: Sequence[Cursor], identity: str, caption: Text) -> Table:
    """What is concluded about pairs of models."""
    return Table(
        id=identity,
        caption=caption,
        columns=(_STATEMENT, _VERDICT, _SIZE, _AGREE),
        rows=tuple(_row(c) for c in conclusions),
    )


def legend(total: Cursor) -> Iterator[Text]:
    """What the verdicts mean, a line each: the two that everybody asks for, and those there are."""
    for word, template in LEGEND.items():
        if word in ("robust", "fragile") or total[word.replace(" ", "_")].value:
            yield Text.of(template, verdict=Verdict(word))


def _first_rows(part: Cursor) -> Iterator[Row]:
    for family, title in HEADINGS.items():
        tally = part["tallies"].where(family=family)
        if not tally:
            continue
        found = part["conclusions"].all(family=family)
        heading = Text.of("{heading} {counts}", heading=Text(title), counts=counted(tally))
        listed = found if family == "effects" else [c for c in found if decided(c)]
        chosen = picked(listed, FIRST[family])
        for i, c in enumerate(chosen):
            yield _row(c, None if i else heading)
        if not chosen:
            yield _none_decided(tally, heading)


def counted(counts: Cursor) -> Names:
    """How many conclusions came out how: those that did, in words."""
    return Names(
        tuple(
            Text.of(template, n=Number.count(counts[name]))
            for name, template in COUNTED.items()
            if counts[name].value
        )
    )


def decided(c: Cursor) -> bool:
    """Whether a conclusion has a verdict that says something."""
    return c["verdict"].text in DECIDED


def size(c: Cursor) -> float:
    """How large a conclusion is, to sort by."""
    found = c["estimate"].number
    return 0.0 if found is None else abs(found)


def picked(conclusions: Sequence[Cursor], number: int) -> list[Cursor]:
    """The largest ones, every verdict in turn, in the order of verdicts and sizes."""
    verdicts = (*DECIDED, "undecided", "not rankable")
    if len(conclusions) <= number:
        return list(conclusions)
    by_verdict = [
        sorted((c for c in conclusions if c["verdict"].text == word), key=size, reverse=True)
        for word in verdicts
    ]
    ranks = [
        (place, v, group[place])
        for v, group in enumerate(by_verdict)
        for place in range(len(group))
    ]
    first = sorted(ranks, key=lambda each: each[:2])[:number]
    return [c for _, _, c in sorted(first, key=lambda each: (each[1], each[0]))]


def _row(c: Cursor, group: Text | None = None) -> Row:
    return Row(
        cells=(text_of(c["statement"].value), Verdict(c["verdict"].text), estimate(c), agreeing(c)),
        group=group,
    )


def _none_decided(tally: Cursor, heading: Text) -> Row:
    """One row for a family of which nothing is decided."""
    barred = tally["not_rankable"].value == tally["total"].value
    statement = Text.of(
        "none of {n} statements may be ranked" if barred else "none of {n} statements is shown",
        n=Number.count(tally["total"]),
    )
    verdict = Verdict("not rankable" if barred else "undecided")
    return Row(cells=(statement, verdict, None, None), group=heading)


def estimate(c: Cursor) -> Estimate:
    """The size of a conclusion with its interval and unit."""
    if c["typical"].number is not None:
        return Estimate.of(c, "typical", low="typical_low", high="typical_high", unit="points")
    unit = {"points": "points", "points^2": "points²", "per cent": "%"}[c["unit"].text]
    directed = unit == "points" and c["family"].text != "extremes"
    return Estimate.of(c, style="signed" if directed else "number", unit=unit)


def agreeing(c: Cursor) -> Piece:
    """In how many configurations it points the conclusion's way."""
    if c["same_way"].number is None:
        return Text("all together")
    return Text.of(
        "{n} of {total}",
        n=Number.count(c["same_way"]),
        total=Number.count(c["configurations"]),
    )


def all_table(part: Cursor, identity: str, caption: Text, facets: Facets) -> Table | None:
    """Every decided conclusion with its exceptions, folded; None where there is none."""
    rows = []
    for family, heading in HEADINGS.items():
        found = [c for c in part["conclusions"].all(family=family) if decided(c)]
        if family != "effects":
            found.sort(key=lambda c: (DECIDED.index(c["verdict"].text), -size(c)))
        for i, c in enumerate(found):
            cells = (
                text_of(c["statement"].value),
                Verdict(c["verdict"].text),
                estimate(c),
                agreeing(c),
                Number.of(c["held_out"], 0),
                Number.p(c["p_fragile"] if c["verdict"].text == "fragile" else c["p"]),
                exceptions(c),
            )
            rows.append(Row(cells=cells, group=None if i else Text(heading)))
    if not rows:
        return None
    return Table(
        id=identity,
        caption=caption,
        columns=(
            _STATEMENT,
            _VERDICT,
            _SIZE,
            _AGREE,
            Column(
                "held_out",
                Text("held out"),
                "%",
                help=Text(
                    "Configurations that agree where one half of the questions gives the direction "
                    "and the other half the configurations."
                ),
            ),
            Column("p", Text("p"), help=Text("Adjusted for all conclusions about the model.")),
            Column(
                "exceptions",
                Text("exceptions"),
                kind="text",
                help=Text(
                    "Configurations in which a robust conclusion is not shown by itself, or which "
                    "oppose a fragile one."
                ),
            ),
        ),
        rows=tuple(rows),
        facets=facets,
        folded=True,
    )


def exceptions(c: Cursor) -> Piece | None:
    """The configurations that are exceptions: their number, and the first of them by name."""
    found = c["exceptions"]
    if not len(found):
        return None
    names = Names(tuple(Name(e["configuration"].text) for e in found)[:NAMED])
    fragile = c["verdict"].text == "fragile"
    if len(found) <= NAMED:
        template = "the other way in {names}" if fragile else "not shown in {names}"
        return Text.of(template, names=names)
    template = (
        "the other way in {n} configurations, among them {names}"
        if fragile
        else "not shown in {n} configurations, among them {names}"
    )
    return Text.of(template, n=Number.count(found), names=names)


def open_table(part: Cursor, identity: str, caption: Text, facets: Facets) -> Table | None:
    """What is not decided, why, and what it would take, folded; None where nothing is listed."""
    found = part["conclusions"].all(verdict="undecided")
    if not found:
        return None
    found.sort(key=lambda c: math.inf if c["needed"].number is None else c["needed"].number)
    return Table(
        id=identity,
        caption=caption,
        columns=(
            Column("whether", Text("whether"), kind="text"),
            _SIZE,
            Column("because", Text("because"), kind="text"),
            Column(
                "questions",
                Text("questions it would take"),
                help=Text(
                    "Were every difference as observed, which is hopeful; none where more "
                    "questions alone would not help."
                ),
            ),
        ),
        rows=tuple(
            Row(
                cells=(
                    text_of(c["statement"].value),
                    estimate(c),
                    sentence(c["because"].value, c),
                    Number.count(c["needed"]),
                )
            )
            for c in found
        ),
        notes=(Text("Pairs of labels that are not decided are counted and not listed."),),
        facets=facets,
        folded=True,
    )
