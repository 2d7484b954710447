"""Findings on a terminal: the answer first, then conclusions with verdicts, then what is open."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from nongrata.conclusions.model import (
    FAMILIES,
    Claimed,
    Conclusion,
    Findings,
    ModelFindings,
    Verdict,
)
from nongrata.report.terminal.pieces import PEOPLE, as_name, count, new_table, shown

SHOWN = 6
"""Decided conclusions of one family that are listed; all of them are in the JSON form."""

OPEN = 6
"""Undecided conclusions that are listed."""

EXCEPTIONS = 4
"""Exceptions to one conclusion that are named."""

_STYLE: dict[Verdict, str] = {
    "robust": "green",
    "established": "green",
    "fragile": "yellow",
    "undecided": "dim",
    "not rankable": "yellow",
}
_STATUS = {
    "confirmed": "green",
    "contradicted": "yellow",
    "undecided": "dim",
    "not checkable": "dim",
}
COLUMNS = (
    "difference: mean over configurations with its own 95% interval, in points. rms: root mean "
    "square difference between two configurations (labels), sampling noise removed. pt2: one mean "
    "square above another, in points squared. %: IQ(2) above that of repetition. "
    "same way: configurations that point that way. held out: their share where one half of the "
    "questions gives the direction and the other the configurations."
)
VERDICTS = (
    "robust: established in at least 90% of the configurations, in the same direction. fragile: "
    "established one way in some and the other way in others. established: a statement about all "
    "configurations together. undecided: the data cannot tell, which is not 'no difference'. The "
    "chance of anything false among what is called robust or established about a model is at most "
    "5%."
)


def render_findings(findings: Findings) -> RenderableType:
    """All findings, for a terminal of any width.

    Parameters
    ----------
    findings
        From `nongrata.conclusions.findings`.
    """
    parts: list[RenderableType] = []
    for model in findings.models:
        parts.extend(findings_table(findings, model.model))
    if findings.between_models:
        parts.append(Text("\nBetween models", style="bold"))
        parts.extend(_conclusions(findings.between_models))
        parts.extend(_open(findings.between_models))
    parts.append(Text())
    parts.append(Text(COLUMNS, style="dim"))
    parts.append(Text(VERDICTS, style="dim"))
    parts.append(Text(PEOPLE, style="dim"))
    return Group(*parts)


def findings_table(findings: Findings, model: str) -> Iterator[RenderableType]:
    """The findings about one model.

    Parameters
    ----------
    findings
        From `nongrata.conclusions.findings`.
    model
        Which model.
    """
    part = findings.of(model)
    yield Text(f"\n{shown(part.model)}", style="bold")
    yield Text("Do conclusions survive a change of prompt and temperature?")
    yield Padding(Text(shown(part.headline), style="bold"), (0, 0, 0, 2))
    for sentence in part.answer:
        yield Padding(Text(shown(sentence)), (0, 0, 0, 2))
    yield Text(_rests_on(part), style="dim")
    yield from _conclusions(part.conclusions)
    yield from _tallies(part)
    yield from _open(part.conclusions)
    yield from _claims(part.claims)


def _rests_on(part: ModelFindings) -> str:
    text = (
        f"rests on {count(part.labels, 'label')}, {count(part.configurations, 'configuration')}, "
        f"{count(part.questions, 'question')}"
    )
    if part.clusters != part.questions:
        text += f" in {count(part.clusters, 'cluster')}"
    if part.design_effect.defined and abs(part.design_effect.value - 1) >= 0.005:
        text += f" (design effect {part.design_effect.value:.2f})"
    return text


def _conclusions(conclusions: Sequence[Conclusion]) -> Iterator[RenderableType]:
    """A table of what is decided, and the exceptions under it."""
    listed: list[Conclusion] = []
    more = 0
    table = new_table("What is established, robust or fragile")
    table.add_column("conclusion", overflow="fold", ratio=1)
    table.add_column("difference", justify="right", overflow="fold", min_width=16)
    table.add_column("same way", justify="right", no_wrap=True)
    table.add_column("held out", justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    table.expand = True
    for family in FAMILIES:
        decided = [c for c in conclusions if c.family == family and c.decided]
        if family != "effects":
            decided.sort(key=lambda c: -_size(c))
        if decided and listed:
            table.add_section()
        for c in decided[:SHOWN]:
            table.add_row(
                as_name(c.statement),
                _difference(c),
                _same_way(c),
                f"{c.held_out.value:.0f}%" if c.held_out.defined else "-",
                Text(c.verdict, style=_STYLE[c.verdict]),
            )
        listed += decided[:SHOWN]
        more += len(decided[SHOWN:])
    if not listed:
        yield Text("\nNo conclusion is robust, fragile or established.")
        return
    yield table
    if more:
        yield Text(f"{more} more like these are in the JSON output", style="dim")
    for c in listed:
        if c.exceptions:
            yield _exceptions(c)


def _size(c: Conclusion) -> float:
    return abs(c.estimate.value) if c.estimate.defined else 0.0


def _difference(c: Conclusion) -> str:
    if not c.estimate.defined:
        return "-"
    value, low, high = c.estimate.value, c.low.value, c.high.value
    if c.typical.defined:
        return f"{c.typical.value:.1f} rms [{c.typical_low.value:.1f}, {c.typical_high.value:.1f}]"
    unit = {"points": "", "points^2": " pt2", "per cent": "%"}[c.unit]
    if not c.low.defined:
        return f"{value:+.1f}{unit}"
    return f"{value:+.1f}{unit} [{low:.1f}, {high:.1f}]"


def _same_way(c: Conclusion) -> str:
    return f"{c.same_way.value:.0f} of {c.configurations}" if c.same_way.defined else "-"


def _exceptions(c: Conclusion) -> Text:
    kinds: dict[str, list[str]] = {}
    for e in c.exceptions:
        kinds.setdefault(e.what, []).append(shown(e.configuration))
    said = "; ".join(
        f"{kind} in {', '.join(names[:EXCEPTIONS])}"
        + (f" and {len(names) - EXCEPTIONS} more" if len(names) > EXCEPTIONS else "")
        for kind, names in kinds.items()
    )
    return Text(f"except: {shown(c.statement)}: {said}", style="dim")


def _tallies(part: ModelFindings) -> Iterator[RenderableType]:
    if not part.tallies:
        return
    table = new_table("How all conclusions came out")
    table.add_column("about", overflow="fold")
    for name in ("all", "robust", "established", "fragile", "undecided", "not rankable"):
        table.add_column(name, justify="right", no_wrap=True)
    for t in part.tallies:
        numbers = (t.total, t.robust, t.established, t.fragile, t.undecided, t.not_rankable)
        table.add_row(FAMILIES[t.family], *(str(n) if n else "-" for n in numbers))
    yield table


def _open(conclusions: Sequence[Conclusion]) -> Iterator[RenderableType]:
    """What is not decided, why, and what it would take; the closest to a decision first."""
    open_ = [c for c in conclusions if c.verdict == "undecided"]
    barred = [c for c in conclusions if c.verdict == "not rankable"]
    if barred:
        yield Text(f"\nNot ranked: {shown(barred[0].because)}.")
    if not open_:
        return
    open_.sort(key=lambda c: c.needed.value if c.needed.defined else math.inf)
    table = new_table("What is not decided")
    table.add_column("whether", overflow="fold", ratio=1)
    table.add_column("because", overflow="fold", ratio=1)
    table.add_column("questions", justify="right", no_wrap=True)
    table.expand = True
    for c in open_[:OPEN]:
        table.add_row(as_name(c.statement), as_name(c.because), _needed(c))
    yield table
    if len(open_) > OPEN:
        yield Text(f"{len(open_) - OPEN} more are in the JSON output", style="dim")
    yield Text(
        "questions: how many it would take were every difference as observed, a hopeful guess; "
        "-: more questions alone do not help, or there is no such number",
        style="dim",
    )


def _needed(c: Conclusion) -> str:
    return f"{c.needed.value:,.0f}" if c.needed.defined else "-"


def _claims(claims: Sequence[Claimed]) -> Iterator[RenderableType]:
    checkable = [c for c in claims if c.status != "not checkable"]
    if not checkable:
        return
    table = new_table("Statements of the preprint, in this study")
    table.add_column("statement", overflow="fold", ratio=1)
    table.add_column("this study", no_wrap=True)
    table.add_column("because", overflow="fold", ratio=1)
    table.expand = True
    for c in checkable:
        table.add_row(
            as_name(c.statement), Text(c.status, style=_STATUS[c.status]), as_name(c.because)
        )
    yield table
