"""What was offered: labels as whole tokens, and option texts as whole tokens."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from nongrata.answers.cleaning import COMBINING, fold, plain
from nongrata.errors import NongrataError

MOST_NAMED = 64
"""Texts that name options more often than this are not read further."""

_EDGE_PUNCTUATION = " .!?;:,\n"
_AROUND_LABELS = "()[]{}<>.: "
_ARTICLES = ("a ", "an ", "the ")
_ARTICLE = re.compile(r"(?:an?|the) (?!(?:and|or|nor|is|only)\b)(?!\w\b)(?=\w)")  # not "A and B"
SEPARATOR = (
    r"[ \n]?(?:[,;/&+|]|(?i:and/or|or|and|nor)\b)[ \n]?(?:(?i:or|and|nor)\b )?"
    r"(?:(?i:maybe|perhaps|possibly|even|either|also|both)\b )?"
)
"""What stands between two options of which both are meant."""

_NOT_BEFORE = rf"(?<![\w{COMBINING}'.$%+~^\\/#@&-])"
_NOT_AFTER = (
    rf"(?![\w{COMBINING}%°^+#@=~\\])"  # part of a word, a quantity or a formula
    r"(?!['-]\w)(?![.,:/]\d)"  # A's, A-level, 1.5, 1,493, 3:1, 1/2
)


@dataclass(frozen=True, slots=True)
class Labels:
    """The labels of one question, compiled.

    Parameters
    ----------
    names
        The labels in the order shown.
    initials
        Characters with which a label, a bracket or a word before it can begin.
    index
        Position of each label by its name, and by its folded name unless labels differ only in
        case.
    token
        Matches a label as a whole token, in brackets or not, after a word such as "option" or not.
    before
        Matches a label as a whole token at the end of a short stretch of text.
    another
        Matches "or", a comma, a slash and the like with a second label after it.
    marked
        Finds labels that stand in brackets or after a word such as "option".
    start
        Matches a line that begins with a label set off by a bracket, full stop or colon.
    """

    names: tuple[str, ...]
    initials: frozenset[str]
    index: dict[str, int]
    token: re.Pattern[str]
    before: re.Pattern[str]
    another: re.Pattern[str]
    marked: re.Pattern[str]
    start: re.Pattern[str]

    def find(self, written: str) -> int:
        """Position of the label that is written so."""
        option = self.index.get(written)
        return self.index[fold(written)] if option is None else option


class TextHit(NamedTuple):
    """An option's text, found: which options have it, and where it begins and ends."""

    options: tuple[int, ...]
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Texts:
    """The texts of one question's options, folded, longest first.

    Parameters
    ----------
    forms
        Pairs of a folded text and the options that have it.
    exact
        Each option's text with its case.
    without_article
        As `forms`, for texts that begin with an article which a reply may leave out.
    by_initial
        The same pairs by the first character of the text.
    initials
        Characters with which a text can begin, with its article or without.
    longest
        Length of the longest text.
    """

    forms: tuple[tuple[str, tuple[int, ...]], ...]
    exact: tuple[str, ...]
    without_article: tuple[tuple[str, tuple[int, ...]], ...]
    by_initial: dict[str, tuple[tuple[str, tuple[int, ...]], ...]]
    initials: frozenset[str]
    longest: int

    def at(self, shown: str, low: str, pos: int) -> TextHit | None:
        """The longest option text that begins at `pos`, leading articles aside."""
        forms = self.by_initial.get(low[pos : pos + 1])
        hit = self._longest(forms, shown, low, pos) if forms else None
        if hit is None and low.startswith(_ARTICLES, pos):
            pos = low.index(" ", pos) + 1
            forms = self.by_initial.get(low[pos : pos + 1])
            hit = self._longest(forms, shown, low, pos) if forms else None
        if hit is None and self.without_article:
            hit = self._longest(self.without_article, shown, low, pos)
        return hit

    def ending(self, shown: str, low: str, end: int) -> TextHit | None:
        """The longest option text that ends at `end`."""
        for form, options in self.forms:
            start = end - len(form)
            if low.endswith(form, 0, end) and start >= 0 and _whole(low, start, end):
                return TextHit(self._same_case(options, form, shown, start), start, end)
        return None

    def named(self, shown: str, low: str) -> list[TextHit]:
        """Every place where an option's text stands, but not inside a longer option's."""
        found: list[TextHit] = []
        for form, options in self.forms:
            start = low.find(form)
            while start >= 0:
                end = start + len(form)
                inside = any(hit.start <= start and end <= hit.end for hit in found)
                if not inside and _whole(low, start, end):
                    same = self._same_case(options, form, shown, start)
                    if same:
                        found.append(TextHit(same, start, end))
                start = low.find(form, end) if len(found) < MOST_NAMED else -1
        return sorted(found, key=lambda hit: hit.start)

    def _longest(
        self, forms: tuple[tuple[str, tuple[int, ...]], ...], shown: str, low: str, pos: int
    ) -> TextHit | None:
        for form, options in forms:
            if low.startswith(form, pos) and _whole(low, pos, pos + len(form)):
                same = self._same_case(options, form, shown, pos)
                if same:
                    return TextHit(same, pos, pos + len(form))
        return None

    def _same_case(
        self, options: tuple[int, ...], form: str, shown: str, pos: int
    ) -> tuple[int, ...]:
        """Of options that are alike but for case, those written as in the reply."""
        if len(options) == 1 and len(form) > 1:
            return options
        written = shown[pos : pos + len(form)]
        same = tuple(o for o in options if self.exact[o].startswith(written))
        return same if same or len(form) == 1 else options


def _whole(low: str, start: int, end: int) -> bool:
    """Whether a stretch is not part of a longer word or number."""
    if start and _wordlike(low[start]) and (_wordlike(low[start - 1]) or low[start - 1] in "'~-"):
        return False
    if start and low[start - 1] in ".," and start > 1 and low[start - 2].isdigit():
        return not low[start].isdigit()
    if end >= len(low) or not _wordlike(low[end - 1]):
        return True
    after = low[end]
    if _wordlike(after) or after in "%°^":
        return False
    beyond = low[end + 1 : end + 2]
    if after == "/":
        return not beyond.isdigit()
    return not (after in "'-.," and beyond.isalnum())


_COMBINING_MARK = re.compile(f"[{COMBINING}]")


def _wordlike(char: str) -> bool:
    return char.isalnum() or (not char.isascii() and _COMBINING_MARK.match(char) is not None)


@lru_cache(maxsize=512)
def compile_labels(labels: tuple[str, ...]) -> Labels:
    """Labels, ready to be found.

    Examples
    --------
    >>> compile_labels(("A", "B")).find("b")
    1
    """
    names = tuple(plain(label).strip(_AROUND_LABELS) for label in labels)
    if not labels or not all(names) or len(set(names)) < len(names):
        raise NongrataError(
            f"labels {list(labels)!r} do not tell the options apart",
            fix="give each option its own label of at least one letter or digit",
        )
    any_case = len({fold(name) for name in names}) == len(names)
    index = {name: i for i, name in enumerate(names)}
    if any_case:
        index |= {fold(name): i for i, name in enumerate(names)}
    one = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    flags = re.IGNORECASE if any_case else re.NOFLAG
    word = "(?i:option|choice|letter|answer|alternative|number|label)"
    label = rf"{_NOT_BEFORE}(?P<label>{one}){_NOT_AFTER}"
    return Labels(
        names=names,
        initials=frozenset("([{<tocalnbe" + "".join(name[0] + fold(name[0]) for name in names)),
        index=index,
        token=re.compile(
            rf"(?P<outer>[(\[{{<]{{0,3}}) ?(?:(?i:the )?(?P<word>{word})[ ]?[:#]? ?)?"
            rf"(?P<open>[(\[{{<]{{0,3}}) ?{label} ?(?P<close>[)\]}}>]{{0,3}})",
            flags,
        ),
        before=re.compile(
            rf"(?:(?<!\w)(?P<word>{word}) )?(?P<open>[(\[]?){label}(?P<close>[)\].:,]*)\Z", flags
        ),
        another=re.compile(
            rf"{SEPARATOR}(?:(?i:the )?{word} )?[(\[{{<]{{0,3}}"
            rf"(?P<label>{one}){_NOT_AFTER}(?P<close>[)\]}}>]{{0,3}})",
            flags,
        ),
        marked=re.compile(
            rf"[(\[]{label}[)\]]|(?i:option|choice|letter) (?P<called>{one}){_NOT_AFTER}", flags
        ),
        start=re.compile(
            rf"[#>\-• ]*(?:(?P<word>{word}) )?(?:[(\[]{label}[)\]]|(?P<bare>{one})(?P<mark>[).:]))"
            r"[).:\]-]*(?=\s|$)",
            flags,
        ),
    )


@lru_cache(maxsize=16384)
def compile_texts(options: tuple[str, ...]) -> Texts:
    """Option texts, ready to be found.

    Examples
    --------
    >>> compile_texts(("less", "less than")).at("less than", "less than", 0)
    TextHit(options=(1,), start=0, end=9)
    """
    exact = tuple(plain(o).replace("\n", " ").strip(_EDGE_PUNCTUATION) for o in options)
    by_form: dict[str, tuple[int, ...]] = {}
    for i, text in enumerate(exact):
        if text:
            form = fold(text)
            by_form[form] = (*by_form.get(form, ()), i)
    bare: dict[str, tuple[int, ...]] = {}
    for form, which in by_form.items():
        article = _ARTICLE.match(form)
        if article and form[article.end() :] not in by_form:
            short = form[article.end() :]
            bare[short] = (*bare.get(short, ()), *which)

    def longest_first(forms: dict[str, tuple[int, ...]]) -> tuple[tuple[str, tuple[int, ...]], ...]:
        return tuple(sorted(forms.items(), key=lambda f: -len(f[0])))

    forms = longest_first(by_form)
    return Texts(
        forms=forms,
        exact=exact,
        without_article=longest_first(bare),
        by_initial={f[0]: tuple(g for g in forms if g[0][0] == f[0]) for f, _ in forms},
        initials=frozenset(form[0] for form in (*by_form, *bare)),
        longest=max(map(len, exact), default=0),
    )
