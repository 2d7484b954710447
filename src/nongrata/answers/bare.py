"""Rules that read answers nothing announces: lines, first words, and the only option named."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from nongrata.answers.offered import TextHit
from nongrata.answers.reading import Page, Reading

_PREFIX = re.compile(
    r"(?:[#>•|]+ ?|- )*"
    r"(?:(?:definitely|certainly|clearly|probably|most likely|likely|obviously|i'd say),? (?=\S))?"
)
_LINE_END = re.compile(r"[ .:,;!)\]}>|]*(?=\n|\Z)")
_LABEL_SET_OFF = re.compile(
    r"[)\]]*(?:[.):\]]+(?=\s|$)|:(?=\w)| -+ | ?-+> ?|,? (?:because|since|as|due)\b)|[)\]]+"
)
_TEXT_SET_OFF = re.compile(r" ?(?:$|[\n.,;:!]|-+ )|,? (?:because|since)\b")
_INITIALS = re.compile(r"\. ?[A-Z]\.")
_NOT_ONE = re.compile(
    r"n't\b|\b(?:not|never|no|nor|neither|wrong|incorrect|cannot|unlikely|false|if|either)\b"
)
NONE_OF = re.compile(r"(?:none|neither|all|any) of (?:the|these|them|those)\b")
_SENTENCE_ENDS = re.compile(r"[.!?\n](?=\s|$)")
_TOO_COMMON = re.compile(
    r"(?:(?:yes|no|not|neither|either|none|both|all|any|true|false|some|others?|unknown"
    r"|more|less|same|most|one|two|never|always|maybe|good|bad|and|but|the|than|of|an?|them|it|at"
    r"|in|on|to|is) ?)+"
)
_SHORTEST_NAMED = 2
_ROOM_FOR_A_LABEL = 24
MOST_LINES = 2000
"""Of longer replies only so many lines are read one by one, from the end."""


@dataclass(frozen=True, slots=True)
class Outline:
    """The lines of a page.

    Parameters
    ----------
    alone
        Lines that are an option and nothing else, without those that only restate a list.
    begins
        Options whose label, set off from the rest, begins a line.
    is_list
        Whether lines restate a list.
    """

    alone: list[Reading]
    begins: set[int]
    is_list: bool


def outline(page: Page) -> Outline:
    """What the lines of a page are.

    Consecutive lines that each name another option are a list; a line that names one again ends
    it, and stands for itself.
    """
    runs: list[list[Reading]] = [[]]
    begins: set[int] = set()
    for line, option in _lines(page):
        run = runs[-1]
        if option is not None:
            begins.add(option)
        if line is None and run and option is not None and option > (run[-1].option or 0):
            run.append(run[-1]._replace(option=option))
        elif line is None:
            runs.append([])
        elif line.option is not None and any(line.option == r.option for r in run):
            runs.append([line])
        else:
            run.append(line)
    alone = [run[0] for run in runs if len(run) == 1]
    return Outline(alone, begins, len(begins) > 1 or any(len(run) > 1 for run in runs))


def _lines(page: Page) -> Iterator[tuple[Reading | None, int | None]]:
    """For each line that is not blank: the option it is, and the option whose label begins it."""
    start = 0
    if page.low.count("\n") > MOST_LINES:  # a model that runs on: its last lines are its last word
        start = len("\n".join(page.low.split("\n")[:-MOST_LINES])) + 1
    while start <= len(page.low):
        end = page.low.find("\n", start)
        end = len(page.low) if end < 0 else end
        at = first_word(page, start)
        if at < end:
            option = page.line_label(start)
            longest = page.texts.longest if option is None else len(page.texts.exact[option])
            short = end - at <= longest + _ROOM_FOR_A_LABEL  # else there is more than an option
            reading = page.value(at, at) if short else None
            whole = _LINE_END.match(page.low, reading.covers) if reading else None
            yield reading if whole and whole.end() >= end else None, option
        start = end + 1


def first_word(page: Page, start: int) -> int:
    """Where a line's text begins, after the mark of a heading, quotation or list."""
    prefix = _PREFIX.match(page.low, start)
    return prefix.end() if prefix else start


def first_value(page: Page) -> Reading | None:
    """The label or text that begins the reply, whatever follows."""
    at = first_word(page, 0)
    return page.value(at, at)


def leading_label(page: Page, lines: Outline, reading: Reading) -> Reading | None:
    """A label that begins the reply, set off from what follows: "B. He left because ..."."""
    if not reading.by_label:
        return None
    label = page.labels.token.match(page.shown, reading.start)
    if reading.undecided or label is None:
        return reading
    own = reading.covers > label.end()
    end = label.end("label")
    if not own:
        if not _LABEL_SET_OFF.match(page.low, end) or _INITIALS.match(page.shown, end):
            return None
        if label["label"].isdigit() and not label["close"] and page.low.startswith(".", end):
            return None  # the first point of a numbered list
    if page.is_label_line(reading.covers):
        return reading._replace(option=None, undecided="ambiguous")  # "A: B"
    return None if lines.begins - {reading.option} else reading


def leading_text(page: Page, reading: Reading) -> Reading | None:
    """An option's text that begins the reply, set off from what follows: "No, that is rude."."""
    if reading.by_label:
        return None
    if reading.undecided:
        return reading if reading.undecided in ("alternatives", "label-text-conflict") else None
    if not _TEXT_SET_OFF.match(page.low, reading.covers):
        return None
    line = page.low.find("\n")
    while line >= 0:
        other = page.texts.at(page.shown, page.low, line + 1)
        if other is not None and reading.option not in other.options:
            return None  # "London: ...", "Paris: ...", line by line
        line = page.low.find("\n", line + 1)
    return reading


def only_text(page: Page) -> Reading | None:
    """The one option whose text stands somewhere in the reply, if it is not denied there."""
    hits = [hit for hit in page.texts.named(page.shown, page.low) if _is_a_name(page, hit)]
    if not hits or all(_TOO_COMMON.fullmatch(page.low, hit.start, hit.end) for hit in hits):
        return None
    options = {option for hit in hits for option in hit.options}
    if len(options) > 1:
        repeated = all(hit.options == hits[0].options for hit in hits)
        return Reading(hits[0].start, hits[0].end, None, "repeated-text") if repeated else None
    if NONE_OF.search(page.low):
        return None
    for hit in hits:
        before = page.low[max(0, hit.start - 300) : hit.start]
        begin = max((mark.end() for mark in _SENTENCE_ENDS.finditer(before)), default=0)
        end = _SENTENCE_ENDS.search(page.low, hit.end, hit.end + 300)
        after = page.low[hit.end : end.end() if end else hit.end + 300]
        if _NOT_ONE.search(before, begin) or _NOT_ONE.search(after) or after.endswith("?"):
            return None
    (option,) = options
    last = hits[-1]
    return Reading(last.start, last.end, option, "", last.end)


def _is_a_name(page: Page, hit: TextHit) -> bool:
    """Whether a text says what it is called, and is not the beginning of a longer name."""
    text = page.low[hit.start : hit.end]
    if len(text) < _SHORTEST_NAMED or not any(char.isalpha() for char in text):
        return False
    after = page.shown[hit.end : hit.end + 2]  # "Paris Hilton"
    return not (page.shown[hit.start].isupper() and after[:1] == " " and after[1:].isupper())


def names_other_label(page: Page, option: int) -> bool:
    """Whether a marked label of another option stands anywhere: "Paris fits, not (B)"."""
    for label in page.labels.marked.finditer(page.shown):
        if page.labels.find(label["label"] or label["called"]) != option:
            return True
    return False
