"""Rules that read answers nothing announces: lines, first words, and the only option named."""

from __future__ import annotations

import re
from dataclasses import replace
from collections.abc import Iterator

from nongrata.answers.reading import Page, Reading

_PREFIX = re.compile(r"(?:[#>•|]+ ?|- )*")
_LINE_END = re.compile(r"[ .:,;!)\]}>|]*(?=\n|\Z)")
_LABEL_SET_OFF = re.compile(
    r"[)\]]*(?:[.):\]]+(?=\s|$)|:(?=\w)| -+ | ?-+> ?|,? (?:because|since|as|due)\b)|[)\]]+"
)
_TEXT_SET_OFF = re.compile(r" ?(?:$|[\n.,;:!]|-+ )|,? (?:because|since)\b")
_INITIALS = re.compile(r"\. ?[A-Z]\.")
_NOT_ONE = re.compile(
    r"n't\b|\b(?:not|never|no|nor|neither|wrong|incorrect|cannot|unlikely|false|if|either)\b"
)
NONE_OF = re.compile(r"\b(?:none|neither|all|any) of (?:the|these|them|those)\b")
_SENTENCE_ENDS = re.compile(r"[.!?\n](?=\s|$)")
_TOO_COMMON = frozenset(
    "yes no not neutral neither either none both all any true false some other others unknown more"
    " less same most one two never always maybe good bad and but the than of a an them it at in on to is".split()
)
_SHORTEST_NAMED = 3


def lines(page: Page) -> list[Reading]:
    """Lines that are an option and nothing else, without those that only restate a list.

    Consecutive lines that each name another option are a list; a line that names one again ends
    it, and stands for itself.
    """
    kept: list[Reading] = []
    run: list[Reading] = []
    for line, begins_with in _option_lines(page):
        if line is None and run and begins_with is not None and begins_with > (run[-1].option or 0):
            run.append(replace(run[-1], option=begins_with))
            continue
        again = line is not None and line.option is not None and line.option in _options(run)
        if line is None or again:
            kept += run if len(run) == 1 else []
            run = []
        if line is not None:
            run.append(line)
    return kept + (run if len(run) == 1 else [])


def is_list(page: Page) -> bool:
    """Whether at least two lines begin with different options."""
    options = {page.line_label(start) for start, _ in _spans(page.low)}
    options |= {line.option for line, _ in _option_lines(page) if line is not None}
    return len(options - {None}) > 1


def _options(readings: list[Reading]) -> set[int | None]:
    return {reading.option for reading in readings}


def _option_lines(page: Page) -> Iterator[tuple[Reading | None, int | None]]:
    """For each line that is not blank: the option it is, and the option whose label begins it."""
    for start, end in _spans(page.low):
        prefix = _PREFIX.match(page.low, start, end)
        at = prefix.end() if prefix else start
        if at < end:
            reading = page.value(at, at)
            whole = _LINE_END.match(page.low, reading.covers) if reading else None
            yield reading if whole and whole.end() >= end else None, page.line_label(start)


def _spans(low: str) -> Iterator[tuple[int, int]]:
    start = 0
    while start <= len(low):
        end = low.find("\n", start)
        end = len(low) if end < 0 else end
        yield start, end
        start = end + 1


def leading_label(page: Page) -> Reading | None:
    """A label that begins the reply, set off from what follows: "B. He left because ..."."""
    prefix = _PREFIX.match(page.low)
    at = prefix.end() if prefix else 0
    label = page.labels.token.match(page.shown, at)
    reading = page.value(at, at)
    if reading is None or not reading.by_label:
        return None
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
        return replace(reading, option=None, undecided="ambiguous")  # "A: B"
    others = {page.line_label(start) for start, _ in _spans(page.low)} - {None, reading.option}
    return None if others else reading


def leading_text(page: Page) -> Reading | None:
    """An option's text that begins the reply, set off from what follows: "No, that is rude."."""
    prefix = _PREFIX.match(page.low)
    at = prefix.end() if prefix else 0
    reading = page.value(at, at)
    if reading is None or reading.by_label:
        return None
    if reading.undecided:
        return reading if reading.undecided in ("alternatives", "label-text-conflict") else None
    if not _TEXT_SET_OFF.match(page.low, reading.covers):
        return None
    for start, _ in _spans(page.low):
        other = page.texts.at(page.shown, page.low, start) if start else None
        if other is not None and reading.option not in other.options:
            return None
    return reading


def only_text(page: Page) -> Reading | None:
    """The one option whose text stands somewhere in the reply, if it is not denied there."""
    hits = [
        hit
        for hit in page.texts.named(page.shown, page.low)
        if hit.end - hit.start >= _SHORTEST_NAMED
        and any(char.isalpha() for char in page.low[hit.start : hit.end])
        and not _TOO_COMMON.issuperset(page.low[hit.start : hit.end].split())
        and not _goes_on_as_a_name(page.shown, hit.start, hit.end)
    ]
    options = {option for hit in hits for option in hit.options}
    if not hits:
        return None
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


def _goes_on_as_a_name(shown: str, start: int, end: int) -> bool:
    """Whether an option's text is the beginning of a longer name: "Paris Hilton"."""
    return shown[start].isupper() and shown[end : end + 1] == " " and shown[end + 1].isupper()


def names_other_label(page: Page, option: int) -> bool:
    """Whether a marked label of another option stands anywhere: "Paris fits, not (B)"."""
    for label in page.labels.marked.finditer(page.shown):
        if page.labels.find(label["label"] or label["called"]) != option:
            return True
    return False
