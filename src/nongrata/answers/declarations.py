"""Rules that read explicit declarations: words, fields and boxes that announce an answer.

Each rule finds cues; what stands at a cue is read by `Page.value`, the same for all rules.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice

from nongrata.answers.reading import Page, Reading, is_marked


@dataclass(frozen=True, slots=True)
class Rule:
    """One way in which a text declares an answer.

    Parameters
    ----------
    name
        What is recorded as the rule that decided.
    needs
        The rule is tried only on texts that hold one of these; empty: on all.
    find
        Yields what is declared, in the order of the text.
    """

    name: str
    needs: tuple[str, ...]
    find: Callable[[Page], Iterator[Reading]]


_NOUN = r"(?:answer|option|choice|response|solution|letter|alternative|selection|pick)"
_ADVERB = (
    r"(?:most |very )?(?:likely|probably|clearly|definitely|certainly|obviously|therefore|thus"
    r"|hence|indeed|simply|actually|then|still|undoubtedly|surely|just|now|given as|as follows"
    r"|in fact|also|going to be|always|by far|perhaps the most)"
)
_COPULA = (
    r"(?:is|was|would be|should be|must be|will be|has to be|would have to be|seems to be"
    r"|appears to be|'s)"
)

_BOXED = re.compile(r"\\(?:boxed|fbox|framebox) ?\{?")
_TAG = re.compile(r"<(?:final[ _-]?)?(?:answer|choice|option|response|label|solution)>")
_FIELD = re.compile(
    r"(?:answer|ans|choice|selection|option|response|solution|decision|verdict|label|letter)"
    r"(?: (?:choice|option|letter))?"
    r"(?:(?: ?\([^()\n]{3,40}\))? ?(?:[:=|\n]|-+>|-(?= ))[:=|\n]?|(?<=answer) ?(?=[(\[]))"
)
_SENTENCE = re.compile(rf"{_NOUN}\b(?=(?P<gap>[^.!?:;\n]{{0,80}}))")
_SENTENCE_IS = re.compile(rf" ?\b{_COPULA}(?! not\b)(?:,? {_ADVERB}\b)*,?(?: that)?(?= |:|\n|\(|$)")
_MOST_COPULAS = 3
_OF_THE_NOUN = re.compile(
    r"(?:, [^,]{1,30},| \([^()]*\)| (?:here|below|above|choice|option|letter)"
    r"| (?:to|for|here|in|among|from|of|i|that|which|we|out)\b.*)?,?\Z"
)
_VERB = re.compile(
    r"(?:choos(?:e|ing)|chose|chosen|select(?:ed|ing)?|pick(?:ed|ing)?|g(?:o|oing) (?:with|for)"
    r"|opt(?:ed|ing)? for|answer(?: with)?|settle on|vote for|lean(?:ing)? towards?|say"
    r"|conclude|think|believe|guess|went with)(?: that)? "
)
_FIRST_PERSON = re.compile(
    r"(?:^|\W)(?:i|we|i'd|i'll|i'm|i've|we'd|we'll|let me|let's|let us)\b"
    r"(?: (?:not|never|(?:would|will|do|am|should|must|have)n't|would|will|am|are|have|must|should"
    r"|do|shall|to|like|going|then|personally|therefore|probably|definitely|be|inclined|want|have"
    r"|had|also|still|prefer))* \Z"
)
_PREDICATE = re.compile(
    rf" (?:is|was|would be|should be|must be|seems|seems to be|appears to be|has to be|will be"
    r"|makes|fits)"
    rf"(?: {_ADVERB})*(?: the| my| our)?(?: (?:only|single|most|very|one|best|most likely))*"
    r" (?P<what>(?:(?:correct|right|best|final|chosen|likely|appropriate|suitable|accurate|logical"
    r"|plausible) )?(?:answer|option|choice|response|solution|pick)\b"
    r"|most (?:likely|appropriate|suitable|accurate|logical|plausible)\b"
    r"|correct\b|right\b|best\b|sense\b|the most sense\b)"
)
_AFTER_ADJECTIVE = re.compile(
    r"(?: one)?(?:$|[\n.,;:!)]|-(?= )| (?:because|since|as|here|in|for|and)\b)"
)
_LABEL_MAY_FOLLOW = re.compile(
    r"(?:^|[.,;:!?\n(\[>-] ?|\b(?:so|thus|therefore|hence|that|think|believe|say|and|but|because"
    r"|why|then|only|if|whether|doubt|suppose|assume|conclude|know|overall|clearly) )\Z"
)
_JOINS = re.compile(r"(?:\b(?:and|or|nor)|[/&]) ?\Z")
_PRONOUN = re.compile(
    r"(?:it|that|this)(?:'s| is| would be| must be| should be| has to be| will be)"
    rf"(?: {_ADVERB})* (?=[(\[]?(?:option |choice |answer |letter )?[(\[]?\w)"
)
_CONCLUSION = re.compile(r"(?:therefore|thus|hence|so|in conclusion|conclusion|overall),?:? ")
_BARE_END = re.compile(r" ?(?:$|[\n.!;]|,(?! ?\w+,))")


def _boxed(page: Page) -> Iterator[Reading]:
    r"""``\boxed{B}``, ``\boxed{\text{(B) Paris}}``."""
    return _at_cues(page, _BOXED)


def _tag(page: Page) -> Iterator[Reading]:
    """``<answer>B</answer>``."""
    return _at_cues(page, _TAG)


def _field(page: Page) -> Iterator[Reading]:
    """``Answer: B``, ``Final answer (A-D) = B``, ``{"answer": "B"}``."""
    return _at_cues(page, _FIELD)


def _at_cues(page: Page, cue: re.Pattern[str]) -> Iterator[Reading]:
    for match in cue.finditer(page.low):
        start = match.start()
        if start and page.low[start - 1].isalnum():
            continue
        reading = page.value(start, match.end())
        if reading is not None:
            yield reading


def _sentence(page: Page) -> Iterator[Reading]:
    """``The correct answer is most likely (B)``."""
    for match in _SENTENCE.finditer(page.low):
        if match.start() and page.low[match.start() - 1].isalnum():
            continue
        gap = match.start("gap")
        copulas = _SENTENCE_IS.finditer(page.low, gap, match.end("gap") + 1)
        for copula in islice(copulas, _MOST_COPULAS):
            if not _OF_THE_NOUN.match(page.low[gap : copula.start()]):
                break
            reading = page.value(match.start(), copula.end())
            if reading is not None:
                between = page.low[gap : copula.start()]
                if " not " not in between and " whether " not in between:
                    yield reading
                break


def _verb(page: Page) -> Iterator[Reading]:
    """``I would choose B``, ``I'll go with (B)``."""
    for match in _VERB.finditer(page.low):
        if _FIRST_PERSON.search(page.low[max(0, match.start() - 50) : match.start()]):
            reading = page.value(match.start(), match.end())
            if reading is not None:
                yield reading


def _predicate(page: Page) -> Iterator[Reading]:
    """``B is correct``, ``(B) is the best answer``, ``Paris is the right choice``."""
    only_adjectives: list[Reading] = []
    for match in _PREDICATE.finditer(page.low):
        adjective = not match["what"].endswith(("answer", "option", "choice", "response", "pick"))
        if adjective and not _AFTER_ADJECTIVE.match(page.low, match.end()):
            continue
        reading = _subject(page, match.start(), match.end())
        if reading is None:
            continue
        if adjective:
            only_adjectives.append(reading)
        else:
            yield reading
    if len({reading.option for reading in only_adjectives}) <= 1:
        yield from only_adjectives
    else:  # "A is correct. B is not. C is correct.": a discussion, not a declaration
        for reading in only_adjectives:
            yield Reading(reading.start, reading.end, None, "alternatives")


def _subject(page: Page, end: int, until: int) -> Reading | None:
    """The option that ends where a predicate begins."""
    text = page.texts.ending(page.shown, page.low, end)
    if text is not None and len(text.options) == 1:
        return Reading(text.start, until, text.options[0])
    near = max(0, end - 40)
    label = page.labels.before.search(page.shown[near:end])
    if label is None:
        return None
    start = near + label.start()
    before = page.low[max(0, start - 40) : start]
    joined = _JOINS.search(before)
    if joined and page.labels.before.search(
        page.shown[max(0, start - 40) : start - len(joined[0])].rstrip()
    ):
        return Reading(start, until, None, "alternatives")
    marked = label["word"] or label["open"]
    if not marked and not _LABEL_MAY_FOLLOW.search(before):
        return None
    return Reading(start, until, page.labels.find(label["label"]))


def _pronoun(page: Page) -> Iterator[Reading]:
    """``It is (B).``, ``That would be option B.`` Labels only, and in their own case."""
    return _labels_at_cues(page, _PRONOUN)


def _conclusion(page: Page) -> Iterator[Reading]:
    """``Therefore, B.``, ``... so B``. In their own case, and with nothing after them."""
    for reading in _labels_at_cues(page, _CONCLUSION, texts=True):
        if _BARE_END.match(page.low, reading.covers):
            yield reading


def _labels_at_cues(page: Page, cue: re.Pattern[str], *, texts: bool = False) -> Iterator[Reading]:
    for match in cue.finditer(page.low):
        if match.start() and page.low[match.start() - 1].isalnum():
            continue
        reading = page.value(match.start(), match.end())
        if reading is None:
            continue
        label = page.labels.token.match(page.shown, match.end())
        if reading.by_label and label is not None:
            written = label["label"]
            if is_marked(label) or (written in page.labels.names and not written.isdigit()):
                yield reading
        elif texts:
            yield reading


_NOUNS = (
    *("answer", "option", "choice", "response", "solution", "letter", "alternat", "select", "pick"),
)
_VERBS = (
    *("choos", "chose ", "select", "pick", "go with", "go for", "going ", "went with", "opt for"),
    *("opted", "opting", " answer with", "i answer", "settle on", "vote for", "lean", "say "),
    *("conclude", "think", "believe", "guess", "d answer", "ll answer"),
)
_PRONOUNS = ("it's", "it is", "that's", "that is", "this is", "d be", "must be", "to be", "ll be")
DECLARATIONS = (
    Rule("boxed", ("\\boxed", "\\fbox", "\\framebox"), _boxed),
    Rule("tag", ("<",), _tag),
    Rule("field", ("ans", *_NOUNS[1:6], "select", "decision", "verdict", "label"), _field),
    Rule("sentence", _NOUNS, _sentence),
    Rule("verb", _VERBS, _verb),
    Rule(
        "predicate", ("correct", "right", "best", "sense", "likely", "appropr", *_NOUNS), _predicate
    ),
    Rule("pronoun", _PRONOUNS, _pronoun),
    Rule(
        "conclusion",
        ("therefore", "thus", "hence", "so ", "so,", "conclusion", "overall"),
        _conclusion,
    ),
)
"""Explicit declarations; the last one in the text wins, whichever rule read it."""
