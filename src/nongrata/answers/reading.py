"""What stands at a place where an answer is declared: a label, an option's text, or both."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, NamedTuple

from nongrata.answers.cleaning import fold, plain
from nongrata.answers.offered import SEPARATOR, Labels, TextHit, Texts

Undecided = Literal[
    "ambiguous",
    "alternatives",
    "label-text-conflict",
    "none-of-the-above",
    "option-list",
    "repeated-text",
]
"""Why a declaration declares no single option."""


class Reading(NamedTuple):
    """One place of a text that declares something.

    Parameters
    ----------
    start, end
        From the cue to the end of the label, or of the option's text where there is no label.
    option
        The option declared; None where `undecided` says why there is none.
    undecided
        Empty, or why no single option is declared.
    covers
        End of all that belongs to it: closing brackets, the text beside a label, "or C".
    by_label
        Whether a label was read, and not only an option's text.
    """

    start: int
    end: int
    option: int | None
    undecided: Undecided | Literal[""] = ""
    covers: int = 0
    by_label: bool = False


_LEAD = re.compile(r"(?:[\s:|]|-+>|=+>?|-(?=\s))*")
_WORDS = re.compile(
    r"[(\[{<]{0,3}(?:the )?(?:(?:option|choice|letter|answer|alternative|number)[:#]? )?"
    r"[(\[{<]{0,3}"
)
_GAP = re.compile(r"[ .:,;)\]}|]*(?:-+>? (?=\S))?")
_CONNECTOR = (
    r"(?:because|since|as|due|for|with|by|but|so|which|where|when|here|from|that|and"
    r"|instead|rather than|over|per|though|although|therefore|thus|then|the|this|it|there|based"
    r"|according|given that|not (?=\w\b)|in (?:this|that|my)|i think|i believe|i would"
    r"|(?:explanation|reason|reasoning|rationale|justification)(?=:))(?![\w'-])"
)
_CLOSED = re.compile(rf" \(| ?(?:$|[\n;!)\]}}>|<]|[.,:]+(?!\w)|-+(?=[ \n]|$)|-+>|\\|{_CONNECTOR})")
_FULL_STOP = re.compile(r" ?(?:$|[\n.,;!)\]}>|<]|(?:because|since)\b)")
_NO_ONE = re.compile(r"(?:none|neither|all|any) of (?:the|these|them|those|my|your)\b|none\b")
_SEVERAL = re.compile(r"(?:both|either|neither) ")
_SEPARATOR = re.compile(SEPARATOR)
_GOES_ON = re.compile(r" (?:is|was|are|says|states|would|can|cannot|does|has|isn't|doesn't)\b")
_IS_DENIED = re.compile(
    r"[ .:]{0,2}(?:is|was|would be|seems|can)(?:n't|not| not| (?:also |clearly |simply )?"
    r"(?:incorrect|wrong|false|invalid|tempting))\b"
)
_LIST_ENDS = re.compile(
    r" ?(?:$|[\n.,;:!?)\]}>|/&]|(?:or|and|nor|are|only|both|as|because|if|in)\b)"
)


@dataclass(frozen=True, slots=True)
class Page:
    """A cleaned text, and what was offered with it.

    Parameters
    ----------
    shown, low
        The text, and the text folded; positions are the same in both.
    labels, texts
        What was offered.
    """

    shown: str
    low: str
    labels: Labels
    texts: Texts

    @classmethod
    def of(cls, text: str, labels: Labels, texts: Texts) -> Page:
        """The page of a text from which thinking has been taken out."""
        shown = plain(text)
        return cls(shown, fold(shown), labels, texts)

    def until(self, end: int) -> Page:
        """The page up to a position."""
        return Page(self.shown[:end], self.low[:end], self.labels, self.texts)

    def value(self, cue: int, pos: int) -> Reading | None:
        """What is declared by a cue that begins at `cue` and ends at `pos`; None if nothing."""
        at = _skip(_LEAD, self.low, pos)
        first = self.low[at : at + 1]
        if first not in self.labels.initials and first not in self.texts.initials:
            return None
        reading = self._label_or_text(cue, at)
        if reading is None:
            return self._none_or_several(cue, at)
        if "\n" in self.low[cue:at] and self._list_follows(reading):
            return reading._replace(option=None, undecided="option-list")
        return reading

    def _none_or_several(self, cue: int, at: int) -> Reading | None:
        """A declaration that uses none of the labels, or "both" or "neither" of them."""
        none = _NO_ONE.match(self.low, at)
        if none:
            return Reading(cue, none.end(), None, "none-of-the-above", none.end())
        several = _SEVERAL.match(self.low, at)
        if several is None:
            return None
        first = self._label_or_text(cue, several.end())
        return first._replace(option=None, undecided="alternatives") if first else None

    def _label_or_text(self, cue: int, at: int) -> Reading | None:
        """The label or text at a position; the longer of the two where both can be read."""
        low = self.low
        text = self.texts.at(self.shown, low, at)
        if text is None:
            inner = _skip(_WORDS, low, at)
            text = self.texts.at(self.shown, low, inner) if inner > at else None
        label = self.labels.token.match(self.shown, at)
        if label is None:
            return self._text(cue, text)
        end = label.end("label")
        after = _skip(_GAP, low, label.end())
        beside = self.texts.at(self.shown, low, after) if after > end else None
        if beside is None and low.startswith("(", after):
            beside = self.texts.at(self.shown, low, after + 1)
        option = self.labels.find(label["label"])
        own_end = beside.end if beside is not None and option in beside.options else None
        longer = text is not None and text.end > (own_end or end)
        if text is not None and longer and text.start < after:
            return self._text(cue, text)
        more = self.another(own_end or label.end(), {option})
        if more:
            return Reading(cue, end, None, "alternatives", more, by_label=True)
        if own_end is None:
            if beside is not None and self._contradicts(end, after, beside):
                return Reading(cue, end, None, "label-text-conflict", beside.end, by_label=True)
            if longer:
                return self._text(cue, text)
            marked = is_marked(label)
            if not marked and not _CLOSED.match(low, label.end()):
                return None
            if text is not None and option not in text.options and not marked:
                return Reading(cue, end, None, "ambiguous", label.end(), by_label=True)
        if low.startswith("?", label.end()) or _IS_DENIED.match(low, label.end()):
            return None
        return Reading(cue, end, option, "", own_end or label.end(), by_label=True)

    def _text(self, cue: int, text: TextHit | None) -> Reading | None:
        """The reading of an option's text, with a bracketed label after it or not."""
        if text is None:
            return None
        beside = self.labels.token.match(self.shown, text.end + 1)
        if beside and is_marked(beside) and self.low.startswith((" (", " ["), text.end):
            option = self.labels.find(beside["label"])
            if option in text.options:
                return Reading(cue, text.end, option, "", beside.end(), by_label=True)
            return Reading(cue, text.end, None, "label-text-conflict", beside.end())
        more = self.another(text.end, set(text.options))
        if more:
            return Reading(cue, text.end, None, "alternatives", more)
        if not _CLOSED.match(self.low, text.end) or _IS_DENIED.match(self.low, text.end):
            return None
        if len(text.options) > 1:
            return Reading(cue, text.end, None, "repeated-text", text.end)
        return Reading(cue, text.end, text.options[0], "", text.end)

    def _contradicts(self, end: int, after: int, beside: TextHit) -> bool:
        """Whether a label is followed by another option's text as if it were its own."""
        if not _FULL_STOP.match(self.low, beside.end):
            return False
        article = self.shown[end - 1 : after] in ("A ", "a ")
        return not article or self.shown[after].isupper()  # "A dog", but not "A London"

    def another(self, end: int, chosen: set[int]) -> int:
        """Where a list of further, different options ends that begins at `end`; 0 if none does."""
        furthest = 0
        for _ in self.labels.names:
            separator = _SEPARATOR.match(self.low, end)
            if separator is None:
                break
            end = self._one_more(end, separator.end(), chosen)
            if not end:
                break
            furthest = end
        return furthest

    def _one_more(self, end: int, after: int, chosen: set[int]) -> int:
        label = self.labels.another.match(self.shown, end)
        if label and self.labels.find(label["label"]) not in chosen:
            closed = bool(label["close"]) or _LIST_ENDS.match(self.low, label.end()) is not None
            if closed and not _GOES_ON.match(self.low, label.end()):
                return label.end()
        text = self.texts.at(self.shown, self.low, after)
        if text is None or chosen & set(text.options):
            return 0
        return text.end if _LIST_ENDS.match(self.low, text.end) else 0

    def _list_follows(self, reading: Reading) -> bool:
        """Whether the next line begins with another option, as a list of them does."""
        line = self.low.find("\n", reading.end)
        while line >= 0 and self.low.startswith("\n", line):
            line += 1
        if line < 0:
            return False
        option = self.line_label(line)
        return option is not None and option != reading.option

    def is_label_line(self, start: int) -> bool:
        """Whether what is left of a line is a label and nothing else."""
        label = self.labels.token.match(self.shown, _skip(_GAP, self.low, start))
        return label is not None and self.shown[label.end() :].split("\n", 1)[0].strip(" .") == ""

    def line_label(self, start: int) -> int | None:
        """The option whose label, set off from the rest, begins the line at `start`."""
        label = self.labels.start.match(self.shown, start)
        return self.labels.find(label["label"] or label["bare"]) if label else None


def _skip(pattern: re.Pattern[str], low: str, pos: int) -> int:
    """Where a stretch that a pattern allows ends."""
    match = pattern.match(low, pos)
    return match.end() if match else pos


def is_marked(label: re.Match[str]) -> bool:
    """Whether a label is called one, or stands in brackets: "option 4", "(4)", "4)"."""
    opened = label["outer"] + label["open"]
    return bool(label["word"]) or ")" in label["close"] or ("[" in opened and "]" in label["close"])
