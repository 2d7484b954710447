"""How a text was read: what the parser saw of it, which place decided, what else it considered."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from nongrata.answers.cleaning import first_turn, plain, without_thinking
from nongrata.answers.decision import Decision
from nongrata.answers.parser import decide, declarations, offered
from nongrata.answers.reading import Page, Reading

_NEAR = 4


@dataclass(frozen=True, slots=True)
class Declaration:
    """A place that declares an option, or looks as if it did.

    Parameters
    ----------
    start, end
        The place in the cleaned text.
    rule
        The rule that found it.
    option
        Index of the option it declares, in the order shown; None if no single one.
    why_not
        Why it did not decide: ``"negated"``, ``"hypothetical"``, ``"earlier"`` (a later one
        stands) or the reason why it declares no single option; empty if it did.
    """

    start: int
    end: int
    rule: str
    option: int | None
    why_not: str


@dataclass(frozen=True, slots=True)
class Trace:
    """How a text was read.

    Parameters
    ----------
    outcome, option, rule
        As in `nongrata.answers.Parsed`.
    seen
        The text without thinking, markup and look-alike characters; empty if it ends while
        thinking.
    start, end
        The place in `seen` that decided; None where the text as a whole did.
    text_start, text_end
        The same place in the text as it was written; None where it cannot be pointed to.
    declarations
        Explicit declarations, in the order of the text.
    thinking
        Whether thinking was left out.
    """

    outcome: str
    option: int | None
    rule: str
    seen: str
    start: int | None
    end: int | None
    text_start: int | None
    text_end: int | None
    declarations: tuple[Declaration, ...]
    thinking: bool

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return asdict(self)


def trace_answer(
    text: str, labels: Sequence[str], options: Sequence[str], *, truncated: bool = False
) -> Trace:
    """Read a text as `nongrata.answers.parse_answer` does, and say how.

    Parameters
    ----------
    text, labels, options, truncated
        As in `nongrata.answers.parse_answer`.

    Examples
    --------
    >>> text = "A is tempting, but the answer is **(B)**."
    >>> trace = trace_answer(text, "ABC", ["London", "Paris", "Rome"])
    >>> trace.rule, trace.seen[trace.start:trace.end], text[trace.text_start:trace.text_end]
    ('sentence', 'answer is (B)', 'answer is **(B)**')
    """
    known_labels, known_texts = offered(labels, options)
    decision = decide(text, known_labels, known_texts, truncated)
    said = without_thinking(text)
    turn = "" if said is None else first_turn(said)
    page = Page.of(turn, known_labels, known_texts)
    at = _place_in_text(text, turn, page, decision) if decision.start >= 0 else None
    found = decision.start >= 0
    return Trace(
        outcome=decision.parsed.outcome.value,
        option=decision.parsed.option,
        rule=decision.parsed.rule,
        seen=page.shown,
        start=decision.start if found else None,
        end=decision.end if found else None,
        text_start=None if at is None else at[0],
        text_end=None if at is None else at[1],
        declarations=_declarations(page, decision),
        thinking=said != text,
    )


def _declarations(page: Page, decision: Decision) -> tuple[Declaration, ...]:
    declared, denied = declarations(page) if page.low else ([], [])
    found = [(item.reading, item.rule, str(item.why)) for item in denied]
    for reading, rule in declared:
        decided = (reading.start, _end(reading)) == (decision.start, decision.end)
        found.append((reading, rule, "" if decided else reading.undecided or "earlier"))
    found.sort(key=lambda item: item[0].start)
    return tuple(
        Declaration(reading.start, _end(reading), rule, reading.option, why)
        for reading, rule, why in found
    )


def _end(reading: Reading) -> int:
    return max(reading.end, reading.covers)


def _place_in_text(text: str, turn: str, page: Page, decision: Decision) -> tuple[int, int] | None:
    """Where in the text as written the place stands that decided; None if that is not clear.

    It is found by what cleaning does, not by undoing it: the shortest beginnings of the text that
    are cleaned to at least what stands before the place, and before its end.
    """
    offset = text.rfind(turn)
    if not turn or offset < 0:  # thinking stood in the middle of it
        return None
    lead = len(page.shown) - len(page.shown.lstrip())

    def cleaned(end: int) -> int:
        return len(plain(turn[:end])) + lead

    end = _least(len(turn), lambda size: cleaned(size) >= decision.end)
    start = _least(end, lambda size: cleaned(size) > decision.start) - 1
    found = _exactly(turn, plain(page.shown[decision.start : decision.end]), start, end)
    return None if found is None else (offset + found[0], offset + found[1])


def _exactly(turn: str, wanted: str, start: int, end: int) -> tuple[int, int] | None:
    """The stretch near another that is cleaned to exactly what is wanted.

    A beginning of a text may be cleaned otherwise than the whole: a ``$`` is taken away only with
    its second.
    """
    first = range(max(0, start - _NEAR), start + _NEAR + 1)
    last = range(max(0, end - _NEAR), min(len(turn), end + _NEAR) + 1)
    by_distance = sorted(
        ((a, b) for a in first for b in last if a < b),
        key=lambda place: abs(place[0] - start) + abs(place[1] - end),
    )
    for a, b in by_distance:
        if plain(turn[a:b]) != wanted:
            continue
        whole = b
        while whole < len(turn) and plain(turn[a : whole + 1]) == wanted:
            whole += 1  # closing marks that cleaning takes away
        return a, a + len(turn[a:whole].rstrip())
    return None


def _least(most: int, holds: Callable[[int], bool]) -> int:
    """The least number up to `most` at which something holds that holds from there on."""
    low, high = 0, most
    while low < high:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle + 1
    return low
