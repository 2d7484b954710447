"""Tables of conclusions: the few that matter most, all that are decided, and what is open."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Literal

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
    "established": "{n} established",
    "fragile": "{n} fragile",
    "undecided": "{n} undecided",
    "not_rankable": "{n} not rankable",
}
OPEN = {
    "extremes": "best and worst label ({n})",
    "controls": "label against control ({n})",
    "pairs": "label against label ({n})",
    "effects": "what makes a difference ({n})",
    "orders": "factors and domains ({n})",
}
DECIDED = ("robust", "fragile", "established")
FIRST = {"effects": 7, "extremes": 2, "controls": 2, "pairs": 2, "orders": 2}
"""How many conclusions of each family stand on the first screen."""
NAMED = 4
"""Exceptions to one conclusion that are named."""
LEGEND = {
    "robust": "{verdict}: established in at least {required} of {configurations} configurations, "
    "same direction",
    "fragile": "{verdict}: established one way in some and the other way in others",
    "established": "{verdict}: about all configurations together",
    "undecided": "{verdict}: the data cannot tell, which is not “no difference”",
    "not rankable": "{verdict}: accuracy is not shown to be above guessing and the best "
    "constant answer",
}
UNITS = {
    ("best", "points"): "points ahead of the next",
    ("worst", "points"): "points behind the next",
    ("effects", "per cent"): "points over repetition",
    ("orders", "points^2"): "points² more",
    ("orders", "per cent"): "points more over repetition",
    ("models", "points^2"): "points² more",
    ("models", "per cent"): "points more over repetition",
}
"""Units that say what a difference is one of; it is in points where there is none."""
_STATEMENT = Column("conclusion", Text("conclusion"), kind="text")
_SIZE = Column(
    "size",
    Text("difference"),
    kind="estimate",
    help=Text(
        "Mean difference over configurations with its own 95% interval, not adjusted for how many "
        "conclusions there are; for what makes a "
        "difference, the root mean square difference between two labels, levels or configurations, "
        "sampling noise removed; for the best and worst label the lead over the next one, which "
        "has no interval, since the data choose the label."
    ),
)
_AGREE = Column(
    "agree",
    Text("same direction in"),
    kind="text",
    help=Text("In how many configurations the difference points the conclusion's way."),
)
_VERDICT = Column("verdict", Text("verdict"), kind="verdict")


def first_table(part: Cursor, identity: str, caption: Text, facets: Facets) -> Table | None:
    """The conclusions that matter most of each family in which any is decided; None without any.

    Parameters
    ----------
    part
        The findings about one model: `conclusions`, `tallies`.
    identity
        Id of the table.
    caption
        Its title.
    facets
        What it is about.
    """
    rows = tuple(_first_rows(part))
    if not rows:
        return None
    return Table(
        id=identity,
        caption=caption,
        columns=(_STATEMENT, _VERDICT, _SIZE, _AGREE),
        rows=rows,
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


def legend(part: Cursor) -> Text:
    """What the verdicts mean: the two that everybody asks for, and those there are."""
    numbers = part["numbers"]
    found = [
        Text.of(
            template,
            verdict=Verdict(word),
            required=Number.count(numbers["required"]),
            configurations=Number.count(numbers["configurations"]),
        )
        for word, template in LEGEND.items()
        if word in ("robust", "fragile") or part["total"][word.replace(" ", "_")].value
    ]
    return one_after_another(found)


def one_after_another(texts: Sequence[Text]) -> Text:
    """Several texts as one."""
    if len(texts) == 1:
        return texts[0]
    return Text.of("{first}; {rest}", first=texts[0], rest=one_after_another(texts[1:]))


def _first_rows(part: Cursor) -> Iterator[Row]:
    for family, title in HEADINGS.items():
        tally = part["tallies"].where(family=family)
        found = [c for c in part["conclusions"].all(family=family) if decided(c)]
        chosen = picked(found, FIRST[family])
        template = "{heading} {counts}"
        if len(chosen) < len(found):
            template = "{heading} {counts}; the largest of each"
        for i, c in enumerate(chosen):
            heading = Text.of(template, heading=Text(title), counts=counted(tally))
            yield _row(c, None if i else heading)


def open_families(part: Cursor) -> Iterator[Text]:
    """The families in which nothing is decided, a line for each reason."""
    tallies = [t for family in HEADINGS if (t := part["tallies"].where(family=family))]
    for word in ("undecided", "not rankable"):
        key = word.replace(" ", "_")
        families = [
            Text.of(OPEN[tally["family"].text], n=Number.count(tally[key]))
            for tally in tallies
            if tally[key].value and not any(tally[name].value for name in DECIDED)
        ]
        if families:
            yield Text.of(
                "{verdict}: {families}", verdict=Verdict(word), families=Names(tuple(families))
            )


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


def estimate(c: Cursor) -> Estimate:
    """The size of a conclusion with its interval, and in its unit what it is a difference of."""
    if c["typical"].number is not None:
        low, high = "typical_low", "typical_high"
        return Estimate.of(c, "typical", low=low, high=high, unit="points typically")
    family, unit = c["family"].text, c["unit"].text
    about = family
    if family == "extremes":
        about = "worst" if "least accurately" in c["statement"].text else "best"
    directed = unit == "points" and family != "extremes"
    style: Literal["signed", "number"] = "signed" if directed else "number"
    return Estimate.of(c, style=style, unit=UNITS.get((about, unit), "points"))


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
                    "Configurations in which a robust conclusion is not established by itself, or "
                    "which oppose a fragile one."
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
        template = "the other way in {names}" if fragile else "not established in {names}"
        return Text.of(template, names=names)
    template = (
        "the other way in {n} configurations, among them {names}"
        if fragile
        else "not established in {n} configurations, among them {names}"
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
